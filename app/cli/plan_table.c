/* SPDX-License-Identifier: Apache-2.0 */
/* Plans for a person at a terminal: the answer in words first, where its time and memory go as bars, then how far
 * the others are and what each trades. */
#include <math.h>
#include <string.h>
#include "cli/plan_print.h"
#include "cli/terminal.h"

static const char *bold(const struct print_style *style) { return style->colour ? "\033[1m" : ""; }
static const char *faint(const struct print_style *style) { return style->colour ? "\033[2m" : ""; }
static const char *plain(const struct print_style *style) { return style->colour ? "\033[0m" : ""; }

/* Bytes of the first `columns` code points of the text, or of all of it. */
static size_t prefix_bytes(const char *text, size_t length, int32_t columns) {
    size_t bytes = 0;
    for (; bytes < length && (columns > 0 || ((unsigned char)text[bytes] & 0xC0) == 0x80); bytes++)
        columns -= ((unsigned char)text[bytes + 1] & 0xC0) != 0x80;
    return bytes;
}

static int32_t columns_of(const char *text, size_t length) {
    int32_t columns = 0;
    for (size_t i = 0; i < length; i++) columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

/* Words broken between columns `indent` and the right edge, one that is wider than a line within; ends the line. */
static void wrapped(struct kerf_text *out, const struct kerf_text *words, int32_t indent,
                    const struct print_style *style) {
    int32_t width = style->columns < 110 ? style->columns : 110, at = indent;
    if (words->failed) out->failed = 1;
    kerf_text_repeat(out, " ", indent);
    for (const char *word = words->data ? words->data : ""; *word;) {
        size_t length = strcspn(word, " ");
        int32_t columns = columns_of(word, length);
        if (at > indent && at + 1 + columns > width) {
            kerf_text_add(out, "\n");
            kerf_text_repeat(out, " ", indent);
            at = indent;
        }
        if (at > indent) kerf_text_add(out, " "), at++;
        if (at + columns > width) {
            length = prefix_bytes(word, length, width - at);
            columns = width - at;
        }
        kerf_text_write(out, word, length);
        at += columns;
        word += length;
        while (*word == ' ') word++;
    }
    kerf_text_add(out, "\n");
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
static void bar_key(struct kerf_text *out, const double *values, const char *const *names, int32_t count,
                    int32_t indent, void (*print)(struct kerf_text *, double), const struct print_style *style) {
    enum { GAP = 3 };
    double total = 0;
    int32_t at = 0;
    for (int32_t i = 0; i < count; i++) total += values[i];
    for (int32_t i = 0; i < count; i++) {
        if (!(values[i] > 0)) continue;
        struct kerf_text part = {0};
        kerf_text_printf(&part, "%s ", names[i]);
        print(&part, values[i]);
        double percent = 100 * values[i] / total;
        kerf_text_printf(&part, percent < 0.5 ? " (<1 %%)" : " (%.0f %%)", percent);
        int32_t columns = part.failed ? 0 : kerf_text_columns(part.data) + 2;
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
static void bar(struct kerf_text *out, const char *title, const double *values, const char *const *names, int32_t count,
                double full, const char *sum, void (*print)(struct kerf_text *, double),
                const struct print_style *style) {
    enum { NARROW = 64, WIDEST = 60, INDENT = 10 };
    int narrow = style->columns < NARROW;
    int32_t width = narrow ? style->columns - 4 : style->columns - INDENT - 1 - kerf_text_columns(sum);
    if (width > WIDEST) width = WIDEST;
    struct kerf_text painted = {0};
    kerf_bar_terminal(&painted, values, count, full, width, style->colour);
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
    bar_key(out, values, names, count, narrow ? 2 : INDENT, print, style);
}

static void memory_words(struct kerf_text *out, double bytes, double capacity) {
    kerf_text_bytes(out, bytes);
    kerf_text_add(out, " of ");
    kerf_text_bytes(out, capacity);
    kerf_text_printf(out, " (%.0f %%)", 100 * bytes / capacity);
}

static void estimate_words(struct kerf_text *out, const struct kerf_problem *problem,
                           const struct kerf_estimate *estimate, const struct print_style *style) {
    struct kerf_text words = {0};
    double seconds[TIME_PARTS], bytes[MEMORY_PARTS], capacity = problem->system.memory_capacity_bytes;
    words_layout(&words, problem, &estimate->layout);
    wrapped(out, &words, 2, style);

    kerf_text_add(out, "\n");
    time_parts(estimate, seconds);
    memory_parts(estimate, bytes);
    kerf_text_clear(&words);
    kerf_text_seconds(&words, estimate->step_time_s);
    bar(out, "time", seconds, time_part_names, TIME_PARTS, estimate->step_time_s, words.failed ? "" : words.data,
        kerf_text_seconds, style);
    kerf_text_clear(&words);
    memory_words(&words, estimate->memory_bytes, capacity);
    bar(out, "memory", bytes, memory_part_names, MEMORY_PARTS, fmax(capacity, estimate->memory_bytes),
        words.failed ? "" : words.data, kerf_text_bytes, style);
    kerf_text_free(&words);
}

/* Words that stand out; given back. */
static void emphasised(struct kerf_text *out, struct kerf_text *words, const struct print_style *style) {
    kerf_text_add(out, bold(style));
    wrapped(out, words, 0, style);
    kerf_text_add(out, plain(style));
    kerf_text_free(words);
}

static void heading(struct kerf_text *out, const struct kerf_problem *problem, const struct print_style *style) {
    struct kerf_text words = {0};
    words_problem(&words, problem);
    emphasised(out, &words, style);
}

static void rate_words(struct kerf_text *out, const struct kerf_problem *problem,
                       const struct kerf_estimate *estimate) {
    kerf_text_seconds(out, estimate->step_time_s);
    kerf_text_add(out, " a step, ");
    words_rate(out, estimate->throughput);
    kerf_text_add(out, " samples/s, ");
    words_rate(out, estimate->throughput * (double)problem->seq_length);
    double tflops = estimate->flops_per_gpu / estimate->step_time_s / 1e12;
    kerf_text_printf(
        out, tflops < 0.95 ? " tokens/s, %.2g TFLOP/s an accelerator." : " tokens/s, %.1f TFLOP/s an accelerator.",
        tflops);
}

/* ---- One search ------------------------------------------------------------------------------------------- */

/* The rows of the runners-up with `trades` parts of the time in which they differ from the best. */
static void runners_up_cells(struct kerf_text *cells, const struct kerf_search *search, int32_t trades) {
    kerf_text_clear(cells);
    kerf_text_printf(cells, "rank\tlayout\tstep\tslower\tmemory\tin a domain%s\n", trades ? "\tagainst the best" : "");
    for (int32_t i = 0; i < search->num_plans; i++) {
        const struct kerf_estimate *estimate = &search->plans[i];
        kerf_text_printf(cells, "%d\t", i + 1);
        words_layout_short(cells, &search->problem, &estimate->layout);
        kerf_text_add(cells, "\t");
        kerf_text_seconds(cells, estimate->step_time_s);
        kerf_text_add(cells, "\t");
        if (i > 0)
            kerf_text_printf(cells, "+%.1f %%", 100 * (estimate->step_time_s / search->plans[0].step_time_s - 1));
        kerf_text_add(cells, "\t");
        kerf_text_bytes(cells, estimate->memory_bytes);
        kerf_text_add(cells, "\t");
        words_placement_short(cells, &search->problem, &estimate->layout);
        if (trades) kerf_text_add(cells, "\t");
        if (trades && i > 0) words_trade(cells, &search->plans[0], estimate, trades);
        kerf_text_add(cells, "\n");
    }
}

static void runners_up(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{1, 0}, {0, 0}, {1, 0}, {1, 1},
                                                                   {1, 2}, {0, 3}, {0, 4}};
    struct kerf_text cells = {0};
    int32_t trades = 3;
    do runners_up_cells(&cells, search, --trades);
    while (trades > 0 && terminal_table_width(&cells) > style->columns);
    kerf_text_add(out, "\n");
    terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    kerf_text_free(&cells);
}

static void considered(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    struct kerf_text words = {0};
    kerf_text_count(&words, search->candidates);
    kerf_text_printf(&words, " layout%s%s, ", search->candidates == 1 ? "" : "s",
                     search->complete ? "" : " before the interruption");
    if (search->feasible) kerf_text_count(&words, search->feasible);
    kerf_text_printf(&words, "%s of them fit%s (cost model: %s).", search->feasible ? "" : "none",
                     search->feasible <= 1 ? "s" : "", style->cost_model);
    wrapped(out, &words, 0, style);
    kerf_text_free(&words);
}

static void nothing_fits(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    const struct kerf_problem *problem = &search->problem;
    double capacity = problem->system.memory_capacity_bytes;
    struct kerf_text words = {0};
    if (!search->complete) {
        kerf_text_add(&words, search->candidates ? "Nothing that was considered before the interruption fits."
                                                 : "Interrupted before any layout was considered.");
    } else if (search->nearest == NULL) {
        kerf_text_add(&words,
                      "No layout: no way to cut this model divides over these accelerators and this global batch.");
    } else {
        kerf_text_add(&words, "Nothing fits. The least memory that any layout needs is ");
        kerf_text_bytes(&words, search->nearest->memory_bytes);
        kerf_text_add(&words, ", ");
        kerf_text_bytes(&words, search->nearest->memory_bytes - capacity);
        kerf_text_add(&words, " more than there is.");
    }
    if (search->least_gpus) {
        kerf_text_add(&words, " Doubling from here, ");
        kerf_text_count(&words, search->least_gpus);
        kerf_text_add(&words, " accelerators are the fewest on which something fits.");
    } else if (search->complete && problem->gpus * 2 <= KERF_LEAST_GPUS_MAX) {
        kerf_text_add(&words, " Doubling the accelerators does not help, up to ");
        kerf_text_count(&words, KERF_LEAST_GPUS_MAX);
        kerf_text_add(&words, " of them.");
    }
    wrapped(out, &words, 0, style);
    kerf_text_free(&words);
    if (search->nearest) {
        kerf_text_add(out, "\n");
        estimate_words(out, problem, search->nearest, style);
    }
}

static void search_table(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    heading(out, &search->problem, style);
    if (search->candidates) considered(out, search, style);
    kerf_text_add(out, "\n");
    if (search->num_plans == 0) {
        nothing_fits(out, search, style);
        return;
    }
    struct kerf_text words = {0};
    kerf_text_add(&words, "Best: ");
    rate_words(&words, &search->problem, &search->plans[0]);
    emphasised(out, &words, style);
    estimate_words(out, &search->problem, &search->plans[0], style);
    if (search->num_plans > 1) runners_up(out, search, style);
}

/* ---- A sweep ---------------------------------------------------------------------------------------------- */

/* What the searches of a sweep differ in; the rest is said once, above the table. */
struct variety {
    int model, system, domain, strategy, gpus, seq_length;
};

static struct variety variety_of(const struct kerf_plan *plan) {
    struct variety varies = {0};
    const struct kerf_problem *first = &plan->searches[0].problem;
    for (size_t i = 1; i < plan->num_searches; i++) {
        const struct kerf_problem *one = &plan->searches[i].problem;
        varies.model |= strcmp(one->model.name, first->model.name) != 0;
        varies.system |= strcmp(one->system.name, first->system.name) != 0;
        varies.domain |= one->system.scale_up.size != first->system.scale_up.size;
        varies.strategy |= one->strategy != first->strategy;
        varies.gpus |= one->gpus != first->gpus;
        varies.seq_length |= one->seq_length != first->seq_length;
    }
    return varies;
}

static void sweep_heading(struct kerf_text *out, const struct kerf_plan *plan, const struct variety *varies,
                          const struct print_style *style) {
    const struct kerf_problem *first = &plan->searches[0].problem;
    struct kerf_text words = {0};
    kerf_text_printf(&words, "%s on ", varies->model ? "Several models" : first->model.name);
    if (!varies->gpus) kerf_text_count(&words, first->gpus), kerf_text_add(&words, " x ");
    kerf_text_add(&words, varies->system ? "several systems" : first->system.name);
    if (!varies->domain) kerf_text_add(&words, " in domains of "), kerf_text_count(&words, first->system.scale_up.size);
    if (!varies->strategy) kerf_text_printf(&words, ", %s", kerf_strategy_name(first->strategy));
    kerf_text_add(&words, ": a global batch of ");
    kerf_text_count(&words, first->global_batch);
    kerf_text_printf(&words, " sample%s", first->global_batch == 1 ? "" : "s");
    if (!varies->seq_length) {
        kerf_text_add(&words, " of ");
        kerf_text_count(&words, first->seq_length);
        kerf_text_add(&words, " tokens");
    }
    if (first->attention != KERF_ATTENTION_FUSED)
        kerf_text_printf(&words, ", attention %s", kerf_attention_name(first->attention));
    emphasised(out, &words, style);
}

/* The share of an accelerator's throughput that is left against the smallest size of the same row of sizes. */
static double scaling(const struct kerf_plan *plan, size_t index) {
    const struct kerf_search *here = &plan->searches[index], *least = here;
    for (size_t i = index; i-- > 0;) {
        const struct kerf_problem *one = &plan->searches[i].problem;
        if (strcmp(one->model.name, here->problem.model.name) != 0 ||
            strcmp(one->system.name, here->problem.system.name) != 0 ||
            one->system.scale_up.size != here->problem.system.scale_up.size ||
            one->strategy != here->problem.strategy || one->gpus >= least->problem.gpus)
            break;
        if (plan->searches[i].num_plans) least = &plan->searches[i];
    }
    return here->plans[0].throughput / (double)here->problem.gpus * (double)least->problem.gpus /
           least->plans[0].throughput;
}

static void sweep_row(struct kerf_text *cells, const struct kerf_plan *plan, size_t index, const struct variety *varies,
                      int is_best) {
    const struct kerf_search *search = &plan->searches[index];
    const struct kerf_problem *problem = &search->problem;
    const struct kerf_estimate *estimate = search->num_plans ? &search->plans[0] : search->nearest;
    if (varies->model) kerf_text_printf(cells, "%s\t", problem->model.name);
    if (varies->system) kerf_text_printf(cells, "%s\t", problem->system.name);
    if (varies->domain) kerf_text_count(cells, problem->system.scale_up.size), kerf_text_add(cells, "\t");
    if (varies->strategy) kerf_text_printf(cells, "%s\t", kerf_strategy_name(problem->strategy));
    if (varies->gpus) kerf_text_count(cells, problem->gpus), kerf_text_add(cells, "\t");
    if (search->num_plans) {
        kerf_text_seconds(cells, estimate->step_time_s);
        kerf_text_add(cells, "\t");
        if (estimate->throughput < 999.95) /* as many digits in every row */
            kerf_text_printf(cells, "%#.4g", estimate->throughput);
        else
            words_rate(cells, estimate->throughput);
        if (varies->gpus) kerf_text_printf(cells, "\t%.0f %%", 100 * scaling(plan, index));
    } else {
        kerf_text_add(cells, varies->gpus ? "-\t-\t-" : "-\t-");
    }
    kerf_text_add(cells, "\t");
    if (estimate)
        kerf_text_bytes(cells, estimate->memory_bytes);
    else
        kerf_text_add(cells, "-");
    kerf_text_add(cells, "\t");
    if (search->num_plans) {
        words_layout_short(cells, problem, &estimate->layout);
        kerf_text_add(cells, search->complete ? "" : " (so far)");
        kerf_text_add(cells, is_best ? "  <- best" : "");
    } else if (!search->complete) {
        kerf_text_add(cells, "not known yet");
    } else {
        kerf_text_add(cells, estimate ? "nothing fits" : "no layout divides");
        if (search->least_gpus) {
            kerf_text_add(cells, "; on ");
            kerf_text_count(cells, search->least_gpus);
            kerf_text_add(cells, " it would");
        }
    }
    kerf_text_add(cells, "\n");
}

/* Searches of one model stand together. */
static int begins_model(const struct kerf_plan *plan, size_t index) {
    return index == 0 ||
           strcmp(plan->searches[index].problem.model.name, plan->searches[index - 1].problem.model.name) != 0;
}

static void sweep_table(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style) {
    const struct kerf_search *best = NULL;
    const struct variety varies = variety_of(plan);
    const struct {
        int shown;
        const char *title;
        struct table_column how;
    } all[] = {
        {varies.model, "model", {0, 0}},
        {varies.system, "system", {0, 0}},
        {varies.domain, "domain", {1, 0}},
        {varies.strategy, "strategy", {0, 0}},
        {varies.gpus, "gpus", {1, 0}},
        {1, "step", {1, 0}},
        {1, "samples/s", {1, 4}},
        {varies.gpus, "scaling", {1, 3}},
        {1, "memory", {1, 2}},
        {1, "best layout", {0, 1}},
    };
    struct table_column columns[TABLE_COLUMNS_MAX];
    struct kerf_text cells = {0};
    int32_t count = 0, best_row = -1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].shown) continue;
        kerf_text_printf(&cells, "%s%s", count ? "\t" : "", all[i].title);
        columns[count++] = all[i].how;
    }
    kerf_text_add(&cells, "\n");
    size_t rows = 0;
    for (size_t i = 0; i < plan->num_searches; i++) {
        if (!plan->searches[i].complete && plan->searches[i].candidates == 0) continue; /* not begun */
        if (begins_model(plan, i)) best = kerf_plan_best(plan, &plan->searches[i].problem.model);
        sweep_row(&cells, plan, i, &varies, &plan->searches[i] == best);
        rows++;
        if (&plan->searches[i] == best) best_row = varies.model ? -1 : (int32_t)rows;
    }
    sweep_heading(out, plan, &varies, style);
    kerf_text_add(out, "\n");
    if (rows) {
        terminal_table(out, &cells, columns, style->columns, style->colour, best_row);
        kerf_text_add(out, "\n");
    }
    kerf_text_free(&cells);
    if (rows < plan->num_searches) {
        kerf_text_add(&cells, "Interrupted: ");
        kerf_text_count(&cells, (int64_t)(plan->num_searches - rows));
        kerf_text_printf(&cells, " of the searches w%s not begun.", plan->num_searches - rows == 1 ? "as" : "ere");
        wrapped(out, &cells, 0, style);
        kerf_text_free(&cells);
        kerf_text_add(out, kerf_plan_best(plan, NULL) ? "\n" : "");
    }
    int told = 0;
    for (size_t i = 0; i < plan->num_searches; i++) { /* the best of each model in full */
        best = begins_model(plan, i) ? kerf_plan_best(plan, &plan->searches[i].problem.model) : NULL;
        if (best == NULL) continue;
        kerf_text_add(out, told++ ? "\n" : "");
        search_table(out, best, style);
    }
    if (!told) {
        kerf_text_add(&cells,
                      plan->complete
                          ? "Nothing fits anywhere in this sweep; the memory is that of the layout nearest to it."
                          : "Nothing was found before the interruption.");
        wrapped(out, &cells, 0, style);
        kerf_text_free(&cells);
    }
}

void print_plan_table(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style) {
    if (plan->num_searches == 1)
        search_table(out, &plan->searches[0], style);
    else
        sweep_table(out, plan, style);
}

/* ---- One layout ------------------------------------------------------------------------------------------- */

static void duration_cell(struct kerf_text *cells, double seconds) {
    kerf_text_add(cells, "\t");
    if (seconds == 0)
        kerf_text_add(cells, "-");
    else
        kerf_text_seconds(cells, seconds);
}

static void bytes_cell(struct kerf_text *cells, double bytes) {
    kerf_text_add(cells, "\t");
    if (bytes == 0)
        kerf_text_add(cells, "-");
    else
        kerf_text_bytes(cells, bytes);
}

static void layers_table(struct kerf_text *out, const struct kerf_layer *layers, int32_t count,
                         const struct print_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 4}, {1, 3}, {1, 0}, {1, 6},
                                                                   {1, 2}, {1, 0}, {1, 5}, {1, 1}};
    struct kerf_text words = {0}, cells = {0};
    kerf_text_add(out, "\n");
    kerf_text_add(&words, "One micro-batch through one layer, on one accelerator:");
    emphasised(out, &words, style);
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
    wrapped(out, &words, 0, style);
    kerf_text_free(&words);
}

void print_estimate_table(struct kerf_text *out, const struct kerf_problem *problem,
                          const struct kerf_estimate *estimate, const struct kerf_layer *layers, int32_t num_layers,
                          const struct print_style *style) {
    struct kerf_text words = {0};
    heading(out, problem, style);
    kerf_text_add(out, "\n");
    rate_words(&words, problem, estimate);
    emphasised(out, &words, style);
    estimate_words(out, problem, estimate, style);
    double capacity = problem->system.memory_capacity_bytes;
    kerf_text_add(&words, estimate->fits ? "It fits: " : "It does not fit: ");
    kerf_text_bytes(&words, fabs(capacity - estimate->memory_bytes));
    kerf_text_printf(&words, " %s on each accelerator (cost model: %s).", estimate->fits ? "to spare" : "too much",
                     style->cost_model);
    kerf_text_add(out, "\n");
    wrapped(out, &words, 0, style);
    kerf_text_free(&words);
    if (num_layers) layers_table(out, layers, num_layers, style);
}
