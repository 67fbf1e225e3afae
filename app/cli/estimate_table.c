/* SPDX-License-Identifier: Apache-2.0 */
/* One layout for a person at a terminal: in words, and its time and memory as bars. */
#include "cli/plan_print.h"

#include <math.h>
#include <string.h>
#include "base/characters.h"
#include "base/quantity.h"
#include "cli/cells.h"

static const char *bold(const struct print_style *style) { return style->colour ? "\033[1m" : ""; }
static const char *faint(const struct print_style *style) { return style->colour ? "\033[2m" : ""; }
static const char *plain(const struct print_style *style) { return style->colour ? "\033[0m" : ""; }

void table_words(struct kerf_text *out, const struct kerf_text *words, int32_t indent,
                 const struct print_style *style) {
    terminal_words(out, "", words, indent, style->columns);
}

/* Columns that the text takes, escape sequences apart. */
static int32_t visible_columns(const char *text) {
    int32_t columns = 0;
    for (; *text; text++) {
        if (*text == '\033')
            text = strchr(text, 'm');
        else
            columns += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return columns;
}

/* What the parts of a bar are, as many on a line as there is room for. */
static void bar_key(struct kerf_text *out, const struct part_list *parts, int32_t indent,
                    void (*print)(struct kerf_text *, double), const struct print_style *style) {
    enum { GAP = 3 };
    double total = 0;
    int32_t at = 0;
    for (int32_t i = 0; i < parts->count; i++) total += parts->values[i];
    for (int32_t i = 0; i < parts->count; i++) {
        if (!(parts->values[i] > 0)) continue;
        struct kerf_text part = {0};
        kerf_text_printf(&part, "%s ", parts->names[i]);
        print(&part, parts->values[i]);
        double percent = 100 * parts->values[i] / total;
        kerf_text_printf(&part, percent < 0.5 ? " (<1 %%)" : " (%.0f %%)", percent);
        int32_t columns = part.failed ? 0 : utf8_columns(part.data) + 2;
        if (at == 0 || at + GAP + columns > style->columns) {
            kerf_text_add(out, at ? "\n" : "");
            kerf_text_repeat(out, " ", at = indent);
        } else {
            kerf_text_repeat(out, " ", GAP);
            at += GAP;
        }
        kerf_bar_terminal_key(out, i, style->colour);
        kerf_text_printf(out, " %s", part.failed ? "" : part.data);
        at += columns;
        kerf_text_free(&part);
    }
    kerf_text_add(out, "\n");
}

/* A bar that is `full` long and shows what of it is empty, with its sum, and below it what its parts are. On a narrow
 * terminal the bar has a line of its own. */
static void bar(struct kerf_text *out, const char *title, const struct part_list *parts, double full, const char *sum,
                void (*print)(struct kerf_text *, double), const struct print_style *style) {
    enum { NARROW = 64, WIDEST = 60, INDENT = 10 };
    int narrow = style->columns < NARROW;
    int32_t width = narrow ? style->columns - 4 : style->columns - INDENT - 1 - utf8_columns(sum);
    if (width > WIDEST) width = WIDEST;
    struct kerf_text painted = {0};
    kerf_bar_terminal(&painted, parts->values, parts->count, full, width, style->colour);
    int32_t empty = width - (painted.length ? visible_columns(painted.data) : 0);
    if (narrow)
        kerf_text_printf(out, "  %s %s\n  ", title, sum);
    else
        kerf_text_printf(out, "  %-*s", INDENT - 2, title);
    kerf_text_add(out, painted.length ? painted.data : "");
    kerf_text_add(out, empty > 0 ? faint(style) : "");
    kerf_text_repeat(out, "\u00B7", empty);
    kerf_text_add(out, empty > 0 ? plain(style) : "");
    if (!narrow) kerf_text_printf(out, " %s", sum);
    kerf_text_add(out, "\n");
    kerf_text_free(&painted);
    bar_key(out, parts, narrow ? 2 : INDENT, print, style);
}

static void memory_words(struct kerf_text *out, double bytes, double capacity) {
    quantity_bytes(out, bytes);
    kerf_text_add(out, " of ");
    quantity_bytes(out, capacity);
    kerf_text_printf(out, " (%.0f %%)", 100 * bytes / capacity);
}

/* How far an order that was searched for is from the shortest one. */
static void order_words(struct kerf_text *words, const struct kerf_estimate *estimate) {
    const double gap = kerf_estimate_gap(estimate);
    kerf_text_clear(words);
    if (gap < 0) return;
    kerf_text_add(words, "The pipeline takes ");
    quantity_seconds(words, estimate->pipeline->makespan_s);
    kerf_text_add(words, gap > 0 ? ", at most " : "; no order of these operations within this memory is shorter.");
    if (gap > 0) quantity_at_most(words, gap, 1);
    if (gap > 0) kerf_text_add(words, " above any order of these operations within this memory.");
}

void table_estimate(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate,
                    const struct print_style *style) {
    struct kerf_text words = {0};
    struct part_list seconds, bytes;
    double capacity = problem->system.memory_capacity_bytes;
    words_layout(&words, problem, &estimate->layout);
    table_words(out, &words, 2, style);
    kerf_text_add(out, "  --layout "); /* to be pasted: never broken */
    kerf_layout_text(out, problem, &estimate->layout);
    kerf_text_add(out, "\n\n");
    words_time_parts(estimate, &seconds);
    words_memory_parts(estimate, &bytes);
    kerf_text_clear(&words);
    quantity_seconds(&words, estimate->step_time_s);
    bar(out, "time", &seconds, estimate->step_time_s, words.failed ? "" : words.data, quantity_seconds, style);
    kerf_text_clear(&words);
    memory_words(&words, estimate->memory_bytes, capacity);
    bar(out, "memory", &bytes, fmax(capacity, estimate->memory_bytes), words.failed ? "" : words.data, quantity_bytes,
        style);
    order_words(&words, estimate);
    if (words.length) table_words(out, &words, 2, style);
    kerf_text_free(&words);
}

void table_headline(struct kerf_text *out, struct kerf_text *words, const struct print_style *style) {
    kerf_text_add(out, bold(style));
    table_words(out, words, 0, style);
    kerf_text_add(out, plain(style));
    kerf_text_free(words);
}

void table_problem(struct kerf_text *out, const struct kerf_problem *problem, const struct print_style *style) {
    struct kerf_text words = {0};
    words_problem(&words, problem);
    table_headline(out, &words, style);
}

void table_dimensions(struct kerf_text *out, const struct kerf_problem *problem, const struct print_style *style) {
    struct kerf_text words = {0};
    words_dimensions(&words, problem);
    table_words(out, &words, 0, style);
    kerf_text_free(&words);
}

/* Then Megatron-LM's count is of more work than there is, and MFU may exceed 100 %. */
static int has_windows(const struct kerf_problem *problem) {
    const struct kerf_model *model = &problem->model;
    for (int32_t i = 0; i < model->num_kinds; i++) {
        const int64_t window = model->kinds[i].attention.window;
        if (window > 0 && window < problem->seq_length) return 1;
    }
    return 0;
}

void table_rate(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate) {
    quantity_seconds(out, estimate->step_time_s);
    kerf_text_add(out, " a step, ");
    words_rate(out, estimate->throughput);
    kerf_text_add(out, " samples/s, ");
    words_rate(out, estimate->throughput * (double)problem->seq_length);
    if (problem->strategy == KERF_STRATEGY_HYBRID) {
        kerf_text_add(out, " tokens/s, ");
        words_rate(out, kerf_estimate_tokens_per_s(problem, estimate));
        kerf_text_printf(out, " on each accelerator, MFU %.1f %%%s.", 100 * estimate->mfu,
                         has_windows(problem) ? " (which counts attention as if it had no windows)" : "");
        return;
    }
    double tflops = estimate->flops_per_gpu / estimate->step_time_s / 1e12;
    kerf_text_printf(
        out, tflops < 0.95 ? " tokens/s, %.2g TFLOP/s an accelerator." : " tokens/s, %.1f TFLOP/s an accelerator.",
        tflops);
}

void words_days(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate) {
    const double days = kerf_estimate_days(problem, estimate), price = kerf_estimate_price(problem, estimate);
    const double tokens = problem->training_tokens;
    if (tokens >= 1e9)
        kerf_text_printf(out, "%.4g %s tokens take ", tokens / (tokens >= 1e12 ? 1e12 : 1e9),
                         tokens >= 1e12 ? "trillion" : "billion");
    else
        quantity_count(out, (int64_t)tokens), kerf_text_add(out, " tokens take ");
    words_rate(out, days);
    kerf_text_add(out, " days");
    if (price > 0) {
        kerf_text_add(out, " and cost ");
        words_rate(out, price);
        kerf_text_printf(out, ", at %g an hour for each accelerator", problem->device_hour_price);
    }
    kerf_text_add(out, ".");
}

void table_training(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate,
                    const struct print_style *style) {
    struct kerf_text words = {0};
    if (!(problem->training_tokens > 0)) return;
    words_days(&words, problem, estimate);
    table_words(out, &words, 2, style);
    kerf_text_free(&words);
}

void table_interval(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate,
                    const struct print_style *style) {
    struct kerf_text words = {0};
    if (!(estimate->step_high_s > 0)) return;
    kerf_text_add(&words, "90 % interval of the step: ");
    quantity_seconds(&words, estimate->step_low_s);
    kerf_text_add(&words, " to ");
    quantity_seconds(&words, estimate->step_high_s);
    if (estimate->comparable_runs) /* of the family of the system, as its accelerators are */
        kerf_text_printf(&words, ", from %d measured runs of %s on %.*s%s.", estimate->comparable_runs,
                         kerf_stack_name(problem->stack), (int)strcspn(problem->system.name, "-"), problem->system.name,
                         problem->system.overridden ? ", without what is set" : "");
    else
        kerf_text_printf(&words, "; nothing like this was measured (%s on %s).", kerf_stack_name(problem->stack),
                         problem->system.name);
    if (estimate->p_oom >= 0.005)
        kerf_text_printf(&words, " It runs out of memory with a chance of %.0f %%.", 100 * estimate->p_oom);
    table_words(out, &words, 2, style);
    kerf_text_free(&words);
}

/* ---- One layout ------------------------------------------------------------------------------------------- */

static void duration_cell(struct kerf_text *cells, double seconds) {
    kerf_text_add(cells, "\t");
    if (seconds == 0)
        kerf_text_add(cells, "-");
    else
        quantity_seconds(cells, seconds);
}

static void bytes_cell(struct kerf_text *cells, double bytes) {
    kerf_text_add(cells, "\t");
    if (bytes == 0)
        kerf_text_add(cells, "-");
    else
        quantity_bytes(cells, bytes);
}

static void layers_table(struct kerf_text *out, const struct kerf_layer *layers, int32_t count,
                         const struct print_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 4}, {1, 3}, {1, 0}, {1, 6},
                                                                   {1, 2}, {1, 0}, {1, 5}, {1, 1}};
    struct kerf_text words = {0}, cells = {0};
    kerf_text_add(out, "\n");
    kerf_text_add(&words, "One micro-batch through one layer, on one accelerator:");
    table_headline(out, &words, style);
    kerf_text_add(&cells, "operation\tweights\tkept\tforward\tcompute\texposed\tbackward\tcompute\texposed\n");
    for (int32_t i = 0; i < count; i++) {
        const struct kerf_layer *layer = &layers[i];
        kerf_text_add(&cells, layer->name);
        bytes_cell(&cells, layer->weights_bytes);
        bytes_cell(&cells, layer->activation_bytes);
        duration_cell(&cells, layer->t_fwd_s);
        duration_cell(&cells, layer->t_fwd_comp_s);
        duration_cell(&cells, layer->t_fwd_mem_s + layer->t_fwd_comm_s);
        duration_cell(&cells, layer->t_bwd_s);
        duration_cell(&cells, layer->t_bwd_comp_s);
        duration_cell(&cells, layer->t_bwd_mem_s + layer->t_bwd_comm_s);
        kerf_text_add(&cells, "\n");
    }
    terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    kerf_text_free(&cells);
    kerf_text_add(
        &words,
        "kept: activations, until the backward pass. exposed: memory traffic that arithmetic does not hide, and "
        "communication that nothing hides.");
    table_words(out, &words, 0, style);
    kerf_text_free(&words);
}

/* Which placement was taken where none was named. */
static void placement_words(struct kerf_text *out, const struct kerf_problem *problem,
                            const struct kerf_layout *layout) {
    struct kerf_text text = {0};
    kerf_layout_text(&text, problem, layout);
    const char *placement = text.failed ? NULL : strstr(text.data, "scale_up.");
    kerf_text_printf(out, "The placement in a domain is not named in full; this is the fastest%s%s.",
                     placement ? ": " : "", placement ? placement : "");
    kerf_text_free(&text);
}

void print_estimate_table(struct kerf_text *out, const struct kerf_problem *problem,
                          const struct kerf_estimate *estimate, int was_placed, const struct kerf_layer *layers,
                          int32_t num_layers, const char *cost_model, const struct print_style *style) {
    struct kerf_text words = {0};
    table_problem(out, problem, style);
    table_dimensions(out, problem, style);
    kerf_text_add(out, "\n");
    table_rate(&words, problem, estimate);
    table_headline(out, &words, style);
    table_training(out, problem, estimate, style);
    table_interval(out, problem, estimate, style);
    table_estimate(out, problem, estimate, style);
    double capacity = problem->system.memory_capacity_bytes;
    kerf_text_add(&words, estimate->fits ? "It fits: " : "It does not fit: ");
    quantity_bytes(&words, fabs(capacity - estimate->memory_bytes));
    kerf_text_printf(&words, " %s on each accelerator (cost model: %s).", estimate->fits ? "to spare" : "too much",
                     cost_model);
    kerf_text_add(out, "\n");
    table_words(out, &words, 0, style);
    kerf_text_clear(&words);
    if (was_placed && problem->strategy != KERF_STRATEGY_HYBRID && problem->gpus > problem->system.scale_up.size) {
        placement_words(&words, problem, &estimate->layout);
        table_words(out, &words, 0, style);
    }
    kerf_text_free(&words);
    if (num_layers) layers_table(out, layers, num_layers, style);
}
