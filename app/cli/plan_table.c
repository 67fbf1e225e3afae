/* SPDX-License-Identifier: Apache-2.0 */
/* Plans for a person at a terminal: the answer in words first, where its time and memory go as bars, then how far
 * the others are and what each trades. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cli/plan_print.h"

static const char *bold(const struct print_style *style) { return style->colour ? "\033[1m" : ""; }
static const char *faint(const struct print_style *style) { return style->colour ? "\033[2m" : ""; }
static const char *plain(const struct print_style *style) { return style->colour ? "\033[0m" : ""; }

/* Words broken between columns `indent` and the right edge; ends the line. */
static void wrapped(struct kerf_text *out, const char *words, int32_t indent, const struct print_style *style) {
    int32_t width = style->columns < 110 ? style->columns : 110, at = indent;
    kerf_text_repeat(out, " ", indent);
    for (const char *word = words; *word;) {
        size_t length = strcspn(word, " ");
        char one[256];
        snprintf(one, sizeof one, "%.*s", (int)length, word);
        int32_t columns = kerf_text_columns(one);
        if (at > indent && at + 1 + columns > width) {
            kerf_text_add(out, "\n");
            kerf_text_repeat(out, " ", indent);
            at = indent;
        }
        if (at > indent) kerf_text_add(out, " "), at++;
        kerf_text_add(out, one);
        at += columns;
        word += length;
        while (*word == ' ') word++;
    }
    kerf_text_add(out, "\n");
}

/* A bar, and below it what its parts are. */
static void bar(struct kerf_text *out, const char *title, const double *values, const char *const *names, int32_t count, double full,
                const char *sum, void (*print)(struct kerf_text *, double), const struct print_style *style) {
    int32_t width = style->columns - 12 - kerf_text_columns(sum);
    if (width > 60) width = 60;
    if (width < 4) width = 4;
    double total = 0;
    for (int32_t i = 0; i < count; i++) total += values[i];
    kerf_text_printf(out, "  %-7s ", title);
    struct kerf_text painted = {0};
    kerf_bar_terminal(&painted, values, count, full, width, style->colour);
    kerf_text_add(out, painted.length ? painted.data : "");
    kerf_text_printf(out, " %s\n", sum);
    kerf_text_free(&painted);

    int32_t at = 0;
    for (int32_t i = 0; i < count; i++) {
        if (values[i] <= 0) continue;
        struct kerf_text part = {0};
        kerf_text_printf(&part, "%s ", names[i]);
        print(&part, values[i]);
        kerf_text_printf(&part, " (%.0f %%)", 100 * values[i] / total);
        int32_t columns = part.failed ? 0 : kerf_text_columns(part.data) + 2;
        if (at == 0 || at + 3 + columns > style->columns) {
            kerf_text_add(out, at ? "\n          " : "          ");
            at = 10;
        } else {
            kerf_text_add(out, "   ");
            at += 3;
        }
        kerf_bar_terminal_key(out, i, style->colour);
        kerf_text_printf(out, " %s", part.failed ? "" : part.data);
        at += columns;
        kerf_text_free(&part);
    }
    kerf_text_add(out, "\n");
}

static void memory_words(struct kerf_text *out, double bytes, double capacity) {
    kerf_text_bytes(out, bytes);
    kerf_text_add(out, " of ");
    kerf_text_bytes(out, capacity);
    kerf_text_printf(out, " (%.0f %%)", 100 * bytes / capacity);
}

static void estimate_words(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate,
                           const struct print_style *style) {
    struct kerf_text words = {0};
    double seconds[TIME_PARTS], bytes[MEMORY_PARTS], capacity = problem->system.memory_capacity_bytes;
    words_layout(&words, problem, &estimate->layout);
    wrapped(out, words.failed ? "" : words.data, 2, style);

    kerf_text_add(out, "\n");
    time_parts(estimate, seconds);
    memory_parts(estimate, bytes);
    kerf_text_clear(&words);
    kerf_text_seconds(&words, estimate->step_time_s);
    bar(out, "time", seconds, time_part_names, TIME_PARTS, estimate->step_time_s, words.failed ? "" : words.data, kerf_text_seconds,
        style);
    kerf_text_clear(&words);
    memory_words(&words, estimate->memory_bytes, capacity);
    bar(out, "memory", bytes, memory_part_names, MEMORY_PARTS, fmax(capacity, estimate->memory_bytes),
        words.failed ? "" : words.data, kerf_text_bytes, style);
    kerf_text_free(&words);
}

static void heading(struct kerf_text *out, const struct kerf_problem *problem, const struct print_style *style) {
    struct kerf_text words = {0};
    words_problem(&words, problem);
    kerf_text_printf(&words, " (cost model: %s)", style->cost_model);
    kerf_text_add(out, bold(style));
    wrapped(out, words.failed ? "" : words.data, 0, style);
    kerf_text_add(out, plain(style));
    kerf_text_free(&words);
}

static void rate_words(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate) {
    kerf_text_seconds(out, estimate->step_time_s);
    kerf_text_printf(out, " a step, %.4g samples/s, ", estimate->throughput);
    kerf_text_count(out, (int64_t)(estimate->throughput * (double)problem->seq_length));
    kerf_text_printf(out, " tokens/s, %.1f TFLOP/s an accelerator", estimate->flops_per_gpu / estimate->step_time_s / 1e12);
}

/* ---- One search ------------------------------------------------------------------------------------------- */

static void runners_up(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    int32_t layout_columns = 6, placement_columns = 11;
    struct kerf_text words = {0};
    for (int32_t i = 0; i < search->num_plans; i++) {
        kerf_text_clear(&words);
        words_layout_short(&words, &search->problem, &search->plans[i].layout);
        if (!words.failed && kerf_text_columns(words.data) > layout_columns) layout_columns = kerf_text_columns(words.data);
        kerf_text_clear(&words);
        words_placement_short(&words, &search->problem, &search->plans[i].layout);
        if (!words.failed && kerf_text_columns(words.data) > placement_columns) placement_columns = kerf_text_columns(words.data);
    }
    int32_t narrow = 4 + 2 + layout_columns + 2 + 9 + 2 + 8 + 2 + 8, with_placement = narrow + 2 + placement_columns;
    int show_placement = with_placement <= style->columns, show_trade = with_placement + 2 + 36 <= style->columns;

    kerf_text_printf(out, "\n%s%4s  %-*s  %9s  %8s  %8s", faint(style), "rank", layout_columns, "layout", "step", "slower", "memory");
    if (show_placement) kerf_text_printf(out, "  %-*s", placement_columns, "in a domain");
    if (show_trade) kerf_text_add(out, "  against the best");
    kerf_text_printf(out, "%s\n", plain(style));
    for (int32_t i = 0; i < search->num_plans; i++) {
        const struct kerf_estimate *estimate = &search->plans[i];
        struct kerf_text step = {0}, memory = {0};
        char slower[32] = "";
        kerf_text_clear(&words);
        words_layout_short(&words, &search->problem, &estimate->layout);
        kerf_text_seconds(&step, estimate->step_time_s);
        kerf_text_bytes(&memory, estimate->memory_bytes);
        if (i > 0) snprintf(slower, sizeof slower, "+%.1f %%", 100 * (estimate->step_time_s / search->plans[0].step_time_s - 1));
        if (step.failed || memory.failed || words.failed) out->failed = 1;
        kerf_text_printf(out, "%4d  %-*s  %9s  %8s  %8s", i + 1, layout_columns, words.failed ? "" : words.data,
                         step.failed ? "" : step.data, slower, memory.failed ? "" : memory.data);
        if (show_placement) {
            kerf_text_clear(&words);
            words_placement_short(&words, &search->problem, &estimate->layout);
            kerf_text_printf(out, show_trade && i > 0 ? "  %-*s" : "  %.*s%s", show_trade && i > 0 ? placement_columns : 4096,
                             words.failed ? "" : words.data, "");
        }
        if (show_trade && i > 0) {
            kerf_text_add(out, "  ");
            words_trade(out, &search->plans[0], estimate);
        }
        kerf_text_add(out, "\n");
        kerf_text_free(&step);
        kerf_text_free(&memory);
    }
    kerf_text_free(&words);
}

static void considered(struct kerf_text *out, const struct kerf_search *search) {
    kerf_text_count(out, search->candidates);
    kerf_text_add(out, search->complete ? " layouts, " : " layouts before the interruption, ");
    kerf_text_count(out, search->feasible);
    kerf_text_printf(out, " of them fit");
}

static void nothing_fits(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    const struct kerf_problem *problem = &search->problem;
    double capacity = problem->system.memory_capacity_bytes;
    struct kerf_text words = {0};
    if (search->candidates == 0) {
        kerf_text_add(&words, search->complete ? "No layout: no way to cut this model divides over these accelerators and this global batch."
                                               : "Interrupted before any layout was considered.");
    } else if (search->nearest == NULL) {
        kerf_text_add(&words, "Nothing that was considered before the interruption fits.");
    } else {
        kerf_text_add(&words, "Nothing fits. The least memory that any layout needs is ");
        kerf_text_bytes(&words, search->nearest->memory_bytes);
        kerf_text_add(&words, ", ");
        kerf_text_bytes(&words, search->nearest->memory_bytes - capacity);
        kerf_text_add(&words, " more than there is.");
    }
    if (search->least_gpus) {
        kerf_text_add(&words, " Something fits on ");
        kerf_text_count(&words, search->least_gpus);
        kerf_text_add(&words, " accelerators: doubling from here, the fewest.");
    } else if (search->complete) {
        kerf_text_add(&words, " Doubling the accelerators does not help, up to 1,048,576 of them.");
    }
    wrapped(out, words.failed ? "" : words.data, 0, style);
    kerf_text_free(&words);
    if (search->nearest) {
        kerf_text_add(out, "\n");
        estimate_words(out, problem, search->nearest, style);
    }
}

static void search_table(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    heading(out, &search->problem, style);
    considered(out, search);
    kerf_text_add(out, ".\n\n");
    if (search->num_plans == 0) {
        nothing_fits(out, search, style);
        return;
    }
    struct kerf_text words = {0};
    kerf_text_add(&words, "Best: ");
    rate_words(&words, &search->problem, &search->plans[0]);
    kerf_text_add(&words, ".");
    kerf_text_add(out, bold(style));
    wrapped(out, words.failed ? "" : words.data, 0, style);
    kerf_text_add(out, plain(style));
    kerf_text_free(&words);
    estimate_words(out, &search->problem, &search->plans[0], style);
    if (search->num_plans > 1) runners_up(out, search, style);
}

/* ---- A sweep ---------------------------------------------------------------------------------------------- */

/* The share of an accelerator's throughput that is left against the smallest size of the same row of sizes. */
static double scaling(const struct kerf_plan *plan, size_t index) {
    const struct kerf_search *search = &plan->searches[index];
    for (size_t i = index; i-- > 0;) {
        const struct kerf_search *other = &plan->searches[i];
        if (strcmp(other->problem.model.name, search->problem.model.name) != 0 ||
            strcmp(other->problem.system.name, search->problem.system.name) != 0 ||
            other->problem.system.scale_up.size != search->problem.system.scale_up.size ||
            other->problem.strategy != search->problem.strategy || other->problem.gpus >= search->problem.gpus)
            break;
        if (other->num_plans) search = other;
    }
    const struct kerf_search *here = &plan->searches[index];
    return here->plans[0].throughput / (double)here->problem.gpus * (double)search->problem.gpus / search->plans[0].throughput;
}

static void sweep_table(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style) {
    const struct kerf_search *best = kerf_plan_best(plan);
    kerf_text_printf(out, "%s%-10s %-9s %6s %-8s %9s  %9s  %9s  %7s  %8s  %s%s\n", faint(style), "model", "system", "domain",
                     "strategy", "gpus", "step", "samples/s", "scaling", "memory", "best layout", plain(style));
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        const struct kerf_problem *problem = &search->problem;
        struct kerf_text line = {0}, cell = {0};
        kerf_text_count(&cell, problem->gpus);
        kerf_text_printf(&line, "%-10s %-9s %6lld %-8s %9s  ", problem->model.name, problem->system.name,
                         (long long)problem->system.scale_up.size, kerf_strategy_name(problem->strategy), cell.failed ? "" : cell.data);
        kerf_text_clear(&cell);
        if (search->num_plans) {
            kerf_text_seconds(&cell, search->plans[0].step_time_s);
            kerf_text_printf(&line, "%9s  %9.4g  %5.0f %%  ", cell.failed ? "" : cell.data, search->plans[0].throughput,
                             100 * scaling(plan, i));
            kerf_text_clear(&cell);
            kerf_text_bytes(&cell, search->plans[0].memory_bytes);
            kerf_text_printf(&line, "%8s  ", cell.failed ? "" : cell.data);
            words_layout_short(&line, problem, &search->plans[0].layout);
        } else if (!search->complete) {
            kerf_text_add(&line, "not known yet");
        } else if (search->nearest) {
            kerf_text_add(&line, "nothing fits: needs ");
            kerf_text_bytes(&line, search->nearest->memory_bytes);
        } else {
            kerf_text_add(&line, "no layout divides");
        }
        int winner = search == best;
        kerf_text_printf(out, "%s%s%s%s\n", winner ? bold(style) : "", line.failed ? "" : line.data, winner && plan->num_searches > 1 ? "  <- best" : "",
                         winner ? plain(style) : "");
        kerf_text_free(&line);
        kerf_text_free(&cell);
    }
    kerf_text_add(out, "\n");
    if (best)
        search_table(out, best, style);
    else
        wrapped(out, "Nothing fits anywhere in this sweep; each line says what its nearest layout needs.", 0, style);
}

void print_plan_table(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style) {
    if (plan->num_searches == 1)
        search_table(out, &plan->searches[0], style);
    else
        sweep_table(out, plan, style);
}

/* ---- One layout ------------------------------------------------------------------------------------------- */

static void layers_table(struct kerf_text *out, const struct kerf_layer *layers, int32_t count, const struct print_style *style) {
    kerf_text_printf(out, "\n%sOne micro-batch through one layer, on one accelerator:%s\n", bold(style), plain(style));
    kerf_text_printf(out, "%s  %-11s %10s %10s %9s %9s %9s %9s %9s %9s%s\n", faint(style), "operation", "weights", "kept", "forward",
                     "compute", "exposed", "backward", "compute", "exposed", plain(style));
    for (int32_t i = 0; i < count; i++) {
        const struct kerf_layer *layer = &layers[i];
        const double seconds[] = {layer->t_fwd_s, layer->t_fwd_comp_s, layer->t_fwd_mem_s + layer->t_fwd_comm_s,
                                  layer->t_bwd_s, layer->t_bwd_comp_s, layer->t_bwd_mem_s + layer->t_bwd_comm_s};
        struct kerf_text cell = {0};
        kerf_text_bytes(&cell, layer->weights_bytes);
        kerf_text_printf(out, "  %-11s %10s", layer->name, cell.failed ? "" : cell.data);
        kerf_text_clear(&cell);
        kerf_text_bytes(&cell, layer->activation_bytes);
        kerf_text_printf(out, " %10s", cell.failed ? "" : cell.data);
        for (size_t k = 0; k < sizeof seconds / sizeof *seconds; k++) {
            kerf_text_clear(&cell);
            kerf_text_seconds(&cell, seconds[k]);
            kerf_text_printf(out, " %9s", cell.failed ? "" : cell.data);
        }
        kerf_text_add(out, "\n");
        kerf_text_free(&cell);
    }
    wrapped(out, "exposed: memory traffic that arithmetic does not hide, and communication that nothing hides.", 2, style);
}

void print_estimate_table(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate,
                          const struct kerf_layer *layers, int32_t num_layers, const struct print_style *style) {
    struct kerf_text words = {0};
    heading(out, problem, style);
    rate_words(&words, problem, estimate);
    kerf_text_add(&words, ".");
    kerf_text_printf(out, "\n%s", bold(style));
    wrapped(out, words.failed ? "" : words.data, 0, style);
    kerf_text_add(out, plain(style));
    estimate_words(out, problem, estimate, style);
    kerf_text_clear(&words);
    double capacity = problem->system.memory_capacity_bytes;
    kerf_text_add(&words, estimate->fits ? "It fits: " : "It does not fit: ");
    kerf_text_bytes(&words, fabs(capacity - estimate->memory_bytes));
    kerf_text_add(&words, estimate->fits ? " to spare on each accelerator." : " too much on each accelerator.");
    kerf_text_add(out, "\n");
    wrapped(out, words.failed ? "" : words.data, 0, style);
    if (num_layers) layers_table(out, layers, num_layers, style);
    kerf_text_free(&words);
}
