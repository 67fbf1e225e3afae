/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as tables. For a person at a terminal: the answer in words first, where its time and memory go as bars, then
 * how far the others are and what each trades. For programs and spreadsheets: CSV. For reports: Markdown. */
#include "cli/plan_print.h"

#include <math.h>
#include <string.h>
#include "base/quantity.h"
#include "cli/cells.h"

/* ---- One search ------------------------------------------------------------------------------------------- */

static int is_hybrid(const struct kerf_problem *problem) { return problem->strategy == KERF_STRATEGY_HYBRID; }

/* What a row of the best layouts tells beside its rank, its time and the text to be pasted, the most at first. */
struct best_columns {
    int32_t trades;   /* parts of the time in which it differs from the first */
    int32_t rates;    /* 1: tokens and MFU, which hybrid layouts alone have */
    int32_t distance; /* 1: how much slower it is, and its memory */
};
static const struct best_columns best_columns[] = {{2, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 0, 1}, {0, 0, 0}};
static const struct best_columns plain_columns[] = {{2, 0, 1}, {1, 0, 1}, {0, 0, 1}, {0, 0, 0}};

static void percent(struct kerf_text *out, double share) { kerf_text_printf(out, "%.1f %%", 100 * share); }

/* Whether an order was searched for: how far it may be from the shortest is told then. */
static int has_gaps(const struct kerf_search *search) {
    for (int32_t i = 0; i < search->num_plans; i++)
        if (kerf_estimate_gap(&search->plans[i]) >= 0) return 1;
    return 0;
}

static void gap_cell(struct kerf_text *cells, const struct kerf_estimate *estimate) {
    const double gap = kerf_estimate_gap(estimate);
    if (gap >= 0) kerf_text_add(cells, gap > 0 ? "<= " : "optimal");
    if (gap > 0) quantity_at_most(cells, gap, 1);
    kerf_text_add(cells, "\t");
}

static void best_cells(struct kerf_text *cells, const struct kerf_search *search, const struct best_columns *shown) {
    const int gaps = shown->distance && has_gaps(search);
    kerf_text_clear(cells);
    kerf_text_printf(cells, "rank\tstep%s%s%s%s%s\tlayout\n", shown->distance ? "\tslower" : "",
                     shown->rates ? "\ttokens/s each\tMFU" : "", shown->distance ? "\tmemory" : "",
                     gaps ? "\tabove optimum" : "", shown->trades ? "\tagainst the best" : "");
    for (int32_t i = 0; i < search->num_plans; i++) {
        const struct kerf_estimate *estimate = &search->plans[i];
        kerf_text_printf(cells, "%d\t", i + 1);
        quantity_seconds(cells, estimate->step_time_s);
        kerf_text_add(cells, "\t");
        if (shown->distance && i > 0)
            kerf_text_printf(cells, "+%.1f %%", 100 * (estimate->step_time_s / search->plans[0].step_time_s - 1));
        if (shown->distance) kerf_text_add(cells, "\t");
        if (shown->rates) {
            words_rate(cells, kerf_estimate_tokens_per_s(&search->problem, estimate));
            kerf_text_add(cells, "\t");
            percent(cells, estimate->mfu);
            kerf_text_add(cells, "\t");
        }
        if (shown->distance) quantity_bytes(cells, estimate->memory_bytes), kerf_text_add(cells, "\t");
        if (gaps) gap_cell(cells, estimate);
        if (shown->trades && i > 0) words_trade(cells, &search->plans[0], estimate, shown->trades);
        if (shown->trades) kerf_text_add(cells, "\t");
        kerf_layout_text(cells, &search->problem, &estimate->layout);
        kerf_text_add(cells, "\n");
    }
}

static void table_left_out(struct kerf_text *words, const struct best_columns *shown, int has_rates, int has_gaps) {
    const struct {
        int is_hidden;
        const char *name;
    } columns[] = {{!shown->distance, "slower"},
                   {has_rates && !shown->rates, "tokens/s each, MFU"},
                   {!shown->distance, "memory"},
                   {!shown->distance && has_gaps, "above optimum"},
                   {!shown->trades, "against the best"}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i].is_hidden)
            kerf_text_printf(words, "%s%s", words->length ? ", " : "not shown, for lack of room: ", columns[i].name);
}

/* A layout is there to be pasted: it is never cut, even where it is wider than the terminal. */
static void best_layouts(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    const struct best_columns *shown = is_hybrid(&search->problem) ? best_columns : plain_columns;
    struct table_column columns[TABLE_COLUMNS_MAX] = {{1, 0}, {1, 0}};
    struct kerf_text cells = {0};
    int32_t width, numbers = 2;
    int has_rates = shown->rates;
    for (;; shown++) {
        best_cells(&cells, search, shown);
        width = terminal_table_width(&cells);
        if (width <= style->columns || !shown->distance) break;
    }
    numbers += 2 * shown->distance + 2 * shown->rates + (shown->distance && has_gaps(search));
    for (int32_t i = 2; i < numbers; i++) columns[i].right = 1;
    kerf_text_add(out, "\n");
    terminal_table(out, &cells, columns, width, style->colour, -1);
    kerf_text_clear(&cells);
    if (shown->distance && has_gaps(search)) {
        kerf_text_add(
            &cells,
            "above optimum: how much longer the pipeline takes, at most, than in the shortest order within its memory");
        table_words(out, &cells, 0, style);
        kerf_text_clear(&cells);
    }
    table_left_out(&cells, shown, has_rates, has_gaps(search));
    if (cells.length) table_words(out, &cells, 0, style);
    kerf_text_free(&cells);
}

/* Of a search that proves its answer. */
static void proof(struct kerf_text *words, const struct kerf_search *search) {
    quantity_count(words, search->candidates);
    kerf_text_printf(words, " layout%s, ", search->candidates == 1 ? "" : "s");
    if (search->priced == 0) {
        kerf_text_add(words, "priced by bounds alone; ");
    } else if (search->priced < search->candidates) {
        quantity_count(words, search->priced);
        kerf_text_add(words, " of them priced in full, the others by bounds; ");
    } else {
        kerf_text_printf(words, "%spriced in full; ", search->candidates > 1 ? "all " : "");
    }
    if (search->proved)
        kerf_text_add(words, search->num_plans              ? "none is better"
                             : words_is_only_unsafe(search) ? "none is safe"
                                                            : "none fits");
    else if (search->num_plans && search->bound_s >= search->plans[0].step_time_s * (1 - 1e-12))
        kerf_text_add(words, "none is better than the first; the others may not be the next best");
    else if (search->bound_s > 0)
        kerf_text_add(words, "none takes less than "), quantity_seconds(words, search->bound_s);
    else
        kerf_text_add(words, "nothing is proved yet");
    kerf_text_printf(words, " (cost model: %s)%s.", search->cost_model, search->proved ? "" : ". Interrupted");
}

static void considered(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    struct kerf_text words = {0};
    if (is_hybrid(&search->problem)) {
        proof(&words, search);
    } else {
        quantity_count(&words, search->candidates);
        kerf_text_printf(&words, " layout%s%s, ", search->candidates == 1 ? "" : "s",
                         search->complete ? "" : " before the interruption");
        if (search->feasible) quantity_count(&words, search->feasible);
        kerf_text_printf(&words, "%s of them fit%s (cost model: %s).", search->feasible ? "" : "none",
                         search->feasible <= 1 ? "s" : "", search->cost_model);
    }
    table_words(out, &words, 0, style);
    kerf_text_free(&words);
}

static void no_answer(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    struct kerf_text words = {0};
    words_no_answer(&words, search);
    table_words(out, &words, 0, style);
    kerf_text_free(&words);
    if (search->num_mends) kerf_text_add(out, "\n"), table_mends(out, search, style);
    if (search->nearest) {
        kerf_text_add(out, "\n");
        table_estimate(out, &search->problem, search->nearest, style);
    }
}

/* Predictions of memory are some per cent off, so that a layout that just fits may not. */
static void room_left(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    static const double SAFE = 0.05;
    const double capacity = search->problem.system.memory_capacity_bytes, bytes = search->plans[0].memory_bytes;
    struct kerf_text words = {0};
    if (!is_hybrid(&search->problem) || search->plans[0].p_oom <= SAFE) return;
    kerf_text_add(&words, "It leaves ");
    quantity_bytes(&words, capacity - bytes);
    kerf_text_add(&words, " of the memory, and predictions of memory are some per cent off: --safe keeps to layouts "
                          "that run out of memory with a chance of at most 5 %.");
    kerf_text_add(out, "\n");
    table_words(out, &words, 0, style);
    kerf_text_free(&words);
}

/* Layouts whose order is not known, and what would tell it. */
static void alike_words(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    struct kerf_alike alike;
    struct kerf_text words = {0};
    if (!kerf_search_alike(search, &alike)) return;
    kerf_text_printf(&words,
                     "Ranks 1 to %d are within error: the model cannot tell layouts apart that are within %.0f %%. "
                     "To decide, run ranks 1 and %d for %d steps each, about ",
                     alike.count, 100 * alike.within, alike.other, alike.steps);
    if (alike.seconds >= 90)
        kerf_text_printf(&words, "%.0f minutes.", alike.seconds / 60);
    else
        kerf_text_printf(&words, "%.0f seconds.", alike.seconds);
    kerf_text_add(out, "\n");
    table_words(out, &words, 0, style);
    kerf_text_free(&words);
}

/* told: 1 where what stands above has told the dimensions. */
static void search_table(struct kerf_text *out, const struct kerf_search *search, int told,
                         const struct print_style *style) {
    table_problem(out, &search->problem, style);
    if (!told) table_dimensions(out, &search->problem, style);
    if (search->candidates) considered(out, search, style);
    kerf_text_add(out, "\n");
    if (search->num_plans == 0) {
        no_answer(out, search, style);
        return;
    }
    struct kerf_text words = {0};
    kerf_text_add(&words, "Best: ");
    table_rate(&words, &search->problem, &search->plans[0]);
    table_headline(out, &words, style);
    table_training(out, &search->problem, &search->plans[0], style);
    table_interval(out, &search->problem, &search->plans[0], style);
    table_estimate(out, &search->problem, &search->plans[0], style);
    room_left(out, search, style);
    if (search->num_plans > 1) best_layouts(out, search, style);
    alike_words(out, search, style);
    if (search->why) table_why(out, search, style);
}

/* ---- A sweep ---------------------------------------------------------------------------------------------- */

/* What all searches have in common; the rest is in the table. */
static void sweep_heading(struct kerf_text *out, const struct kerf_plan *plan, const struct variety *varies,
                          const struct print_style *style) {
    const struct kerf_problem *first = &plan->searches[0].problem;
    struct kerf_text words = {0};
    kerf_text_printf(&words, "%s on ", varies->model ? "Several models" : first->model.name);
    if (!varies->gpus) quantity_count(&words, first->gpus), kerf_text_add(&words, " x ");
    kerf_text_add(&words, varies->system ? "several systems" : first->system.name);
    if (!varies->domain) kerf_text_add(&words, " in domains of "), quantity_count(&words, first->system.scale_up.size);
    if (!varies->strategy && !is_hybrid(first)) kerf_text_printf(&words, ", %s", kerf_strategy_name(first->strategy));
    if (is_hybrid(first)) words_training(&words, first);
    kerf_text_add(&words, ": a global batch of ");
    quantity_count(&words, first->global_batch);
    kerf_text_printf(&words, " sample%s", first->global_batch == 1 ? "" : "s");
    if (!varies->seq_length) {
        kerf_text_add(&words, " of ");
        quantity_count(&words, first->seq_length);
        kerf_text_add(&words, " tokens");
    }
    if (first->attention != KERF_ATTENTION_FUSED)
        kerf_text_printf(&words, ", attention %s", kerf_attention_name(first->attention));
    table_headline(out, &words, style);
    if (!varies->model) words_model(&words, &first->model);
    if (!varies->system) {
        kerf_text_add(&words, varies->model ? "" : "; ");
        quantity_bytes(&words, first->system.memory_capacity_bytes);
        kerf_text_add(&words, " on each accelerator");
    }
    if (first->model.overridden || first->system.overridden) {
        kerf_text_add(&words, words.length ? "; set: " : "Set: ");
        kerf_problem_set_text(&words, &first->model, &first->system);
    }
    kerf_text_printf(&words, "%scost model: %s", words.length ? "; " : "", plan->searches[0].cost_model);
    table_words(out, &words, 0, style);
    kerf_text_free(&words);
}

/* The share of an accelerator's throughput that is left against the smallest size of the same series. */
static double scaling(const struct kerf_plan *plan, const struct kerf_search *here) {
    const struct kerf_search *least = here;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *other = &plan->searches[i];
        if (other->problem.gpus >= least->problem.gpus || other->num_plans == 0) continue;
        if (plan_same_series(&other->problem, &here->problem)) least = other;
    }
    return here->plans[0].throughput / (double)here->problem.gpus * (double)least->problem.gpus /
           least->plans[0].throughput;
}

static void sweep_row(struct kerf_text *cells, const struct kerf_plan *plan, size_t index, const struct variety *varies,
                      int is_best) {
    const struct kerf_search *search = &plan->searches[index];
    const struct kerf_problem *problem = &search->problem;
    const struct kerf_estimate *estimate = search->num_plans ? &search->plans[0] : search->nearest;
    if (varies->model) words_model_name(cells, plan, &problem->model), kerf_text_add(cells, "\t");
    if (varies->system) words_system_name(cells, plan, &problem->system), kerf_text_add(cells, "\t");
    if (varies->domain) quantity_count(cells, problem->system.scale_up.size), kerf_text_add(cells, "\t");
    if (varies->strategy) kerf_text_printf(cells, "%s\t", kerf_strategy_name(problem->strategy));
    if (varies->gpus) quantity_count(cells, problem->gpus), kerf_text_add(cells, "\t");
    if (search->num_plans) {
        quantity_seconds(cells, estimate->step_time_s);
        kerf_text_add(cells, "\t");
        if (estimate->throughput < 999.95) /* as many digits in every row */
            kerf_text_printf(cells, "%#.4g", estimate->throughput);
        else
            words_rate(cells, estimate->throughput);
        if (is_hybrid(problem)) kerf_text_add(cells, "\t"), percent(cells, estimate->mfu);
        if (varies->gpus) kerf_text_printf(cells, "\t%.0f %%", 100 * scaling(plan, search));
    } else {
        kerf_text_printf(cells, "-\t-%s%s", is_hybrid(problem) ? "\t-" : "", varies->gpus ? "\t-" : "");
    }
    kerf_text_add(cells, "\t");
    if (estimate)
        quantity_bytes(cells, estimate->memory_bytes);
    else
        kerf_text_add(cells, "-");
    kerf_text_add(cells, "\t");
    if (search->num_plans) {
        kerf_layout_text(cells, problem, &estimate->layout);
        kerf_text_add(cells, search->complete ? "" : " (so far)");
        kerf_text_add(cells, is_best ? "  <- best" : "");
    } else if (!search->complete) {
        kerf_text_add(cells, "not known yet");
    } else {
        kerf_text_add(cells, estimate ? "nothing fits" : "no layout");
        if (search->gpus_that_work[0] || search->gpus_that_work[1]) {
            kerf_text_add(cells, "; on ");
            quantity_count(cells, search->gpus_that_work[search->gpus_that_work[0] ? 0 : 1]);
            if (search->gpus_that_work[0] && search->gpus_that_work[1]) {
                kerf_text_add(cells, " or ");
                quantity_count(cells, search->gpus_that_work[1]);
            }
            kerf_text_add(cells, " there is one");
        }
        if (estimate && search->least_gpus) {
            kerf_text_add(cells, "; on ");
            quantity_count(cells, search->least_gpus);
            kerf_text_add(cells, " it would");
        }
    }
    kerf_text_add(cells, "\n");
}

/* Searches of one model stand together. */
static int begins_model(const struct kerf_plan *plan, size_t index) {
    return index == 0 ||
           !kerf_model_equal(&plan->searches[index].problem.model, &plan->searches[index - 1].problem.model);
}

static void sweep_table(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style) {
    const struct kerf_search *best = NULL;
    const struct variety varies = plan_variety(plan);
    const struct {
        int shown;
        const char *title;
        struct table_column how;
    } all[] = {
        {varies.model, "model", {0, 0}},   {varies.system, "system", {0, 0}},
        {varies.domain, "domain", {1, 0}}, {varies.strategy, "strategy", {0, 0}},
        {varies.gpus, "gpus", {1, 0}},     {1, "step", {1, 0}},
        {1, "samples/s", {1, 4}},          {is_hybrid(&plan->searches[0].problem), "MFU", {1, 5}},
        {varies.gpus, "scaling", {1, 3}},  {1, "memory", {1, 2}},
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
        quantity_count(&cells, (int64_t)(plan->num_searches - rows));
        kerf_text_printf(&cells, " of the searches w%s not begun.", plan->num_searches - rows == 1 ? "as" : "ere");
        table_words(out, &cells, 0, style);
        kerf_text_free(&cells);
        kerf_text_add(out, kerf_plan_best(plan, NULL) ? "\n" : "");
    }
    int told = 0;
    for (size_t i = 0; i < plan->num_searches; i++) { /* the best of each model in full */
        best = begins_model(plan, i) ? kerf_plan_best(plan, &plan->searches[i].problem.model) : NULL;
        if (best == NULL) continue;
        kerf_text_add(out, told++ ? "\n" : "");
        search_table(out, best, !varies.model && !varies.system, style);
    }
    if (!told) {
        kerf_text_add(&cells,
                      plan->complete
                          ? "Nothing fits anywhere in this sweep; the memory is that of the layout nearest to it."
                          : "Nothing was found before the interruption.");
        table_words(out, &cells, 0, style);
        kerf_text_free(&cells);
    }
}

void print_plan_table(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style) {
    if (plan->num_searches == 1)
        search_table(out, &plan->searches[0], 0, style);
    else
        sweep_table(out, plan, style);
}

/* ---- Rows for programs and reports ----------------------------------------------------------------------------- */

static void integer(struct kerf_text *out, int64_t value) { kerf_text_printf(out, ",%lld", (long long)value); }

static void boolean(struct kerf_text *out, int value) { kerf_text_add(out, value ? ",true" : ",false"); }

/* What identifies a search, and how far it went. */
static void csv_search(struct kerf_text *out, const struct kerf_search *search) {
    const struct kerf_problem *problem = &search->problem;
    csv_text(out, problem->model.name);
    kerf_text_add(out, ",");
    csv_text(out, problem->system.name);
    integer(out, problem->system.scale_up.size);
    kerf_text_printf(out, ",%s", kerf_strategy_name(problem->strategy));
    const int64_t counts[] = {problem->gpus, problem->global_batch, problem->seq_length, search->candidates,
                              search->feasible};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) integer(out, counts[k]);
}

static const char *const hybrid_keys[] = {"dp",       "tp",    "cp",      "pp",          "vpp",
                                          "ep",       "etp",   "zero",    "micro_batch", "recompute",
                                          "schedule", "order", "cp_comm", "stage_layers"};
enum { HYBRID_KEYS = sizeof hybrid_keys / sizeof *hybrid_keys };

/* The numbers of a layout's own, which depend on the strategy. */
static void csv_layout(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout) {
    const int64_t parts[] = {layout->dp,          layout->tp1,          layout->tp2,          layout->pp,
                             layout->micro_batch, layout->summa_blocks, layout->scale_up.tp1, layout->scale_up.tp2,
                             layout->scale_up.dp, layout->scale_up.pp};
    if (!is_hybrid(problem)) {
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) integer(out, parts[k]);
        return;
    }
    for (size_t k = 0; k < HYBRID_KEYS; k++) {
        kerf_text_add(out, ",");
        kerf_layout_value(out, layout, hybrid_keys[k]);
    }
}

static void csv_hybrid(struct kerf_text *out, const struct kerf_search *search, const struct kerf_estimate *estimate) {
    const struct kerf_problem *problem = &search->problem;
    integer(out, search->priced);
    boolean(out, search->proved);
    csv_number(out, search->bound_s > 0 ? search->bound_s : NAN);
    csv_number(out, estimate->pipeline_s);
    csv_number(out, kerf_estimate_tokens_per_s(problem, estimate));
    csv_number(out, estimate->mfu);
    csv_number(out, estimate->model_flops);
    csv_number(out, estimate->parameters_per_device);
    kerf_text_printf(out, ",%s", kerf_precision_name(problem->precision));
}

/* What came after the first columns: readers by position have those where they were. */
static void csv_later(struct kerf_text *out, const struct kerf_search *search, const struct kerf_estimate *estimate) {
    const struct kerf_problem *problem = &search->problem;
    kerf_text_printf(out, ",%s", kerf_attention_name(problem->attention));
    if (!is_hybrid(problem)) return;
    const double gap = kerf_estimate_gap(estimate);
    const struct kerf_space *space = problem->space;
    kerf_text_printf(out, ",%s", problem->has_bf16_gradients ? "bf16" : "fp32");
    integer(out, problem->mtp_layers);
    kerf_text_add(out, ",");
    csv_text(out, kerf_stack_name(problem->stack));
    kerf_text_printf(out, ",%s,%s", space && space->is_wide ? "wide" : "default",
                     space && space->runner ? space->runner->name : "");
    csv_number(out, problem->memory_share > 0 ? problem->memory_share : NAN);
    csv_number(out, estimate->step_low_s);
    csv_number(out, estimate->step_high_s);
    integer(out, estimate->comparable_runs);
    csv_number(out, estimate->p_oom);
    csv_number(out, gap >= 0 ? estimate->pipeline->bound_s : NAN);
    csv_number(out, gap >= 0 ? gap : NAN);
}

/* One layout of a search; rank 0: it does not fit and is the nearest to it. */
static void csv_row(struct kerf_text *out, const struct kerf_search *search, const struct kerf_estimate *estimate,
                    int32_t rank) {
    const struct kerf_problem *problem = &search->problem;
    csv_search(out, search);
    if (rank)
        integer(out, rank);
    else
        kerf_text_add(out, ",");
    csv_number(out, estimate->throughput);
    csv_number(out, estimate->step_time_s);
    csv_number(out, estimate->memory_bytes);
    boolean(out, estimate->fits);
    csv_layout(out, problem, &estimate->layout);
    for (int32_t k = 0; k < estimate->time_s.count; k++) csv_number(out, estimate->time_s.of[k].value);
    for (int32_t k = 0; k < estimate->memory.count; k++) csv_number(out, estimate->memory.of[k].value);
    csv_number(out, estimate->flops_per_gpu);
    if (search->least_gpus)
        integer(out, search->least_gpus);
    else
        kerf_text_add(out, ",");
    kerf_text_printf(out, ",%s", search->cost_model);
    csv_number(out, problem->system.memory_capacity_bytes);
    if (is_hybrid(problem)) csv_hybrid(out, search, estimate);
    if (problem->training_tokens > 0) csv_number(out, kerf_estimate_days(problem, estimate));
    if (problem->device_hour_price > 0) csv_number(out, kerf_estimate_price(problem, estimate));
    struct kerf_text words = {0};
    kerf_problem_set_text(&words, &problem->model, &problem->system);
    kerf_text_add(out, ",");
    csv_text(out, words.data ? words.data : "");
    kerf_text_clear(&words);
    kerf_layout_text(&words, problem, &estimate->layout);
    kerf_text_add(out, ",");
    csv_text(out, words.data ? words.data : "");
    kerf_text_free(&words);
    csv_later(out, search, estimate);
    kerf_text_add(out, "\n");
}

/* The columns of the parts are those of the cost model, which all searches share. */
static void part_titles(struct kerf_text *out, const struct kerf_parts *parts, const char *ending) {
    for (int32_t i = 0; i < parts->count; i++) kerf_text_printf(out, ",%s_%s", parts->of[i].name, ending);
}

static const struct kerf_estimate *any_estimate(const struct kerf_plan *plan) {
    for (size_t i = 0; i < plan->num_searches; i++)
        if (plan->searches[i].num_plans || plan->searches[i].nearest)
            return plan->searches[i].num_plans ? plan->searches[i].plans : plan->searches[i].nearest;
    return NULL;
}

void print_plan_csv(struct kerf_text *out, const struct kerf_plan *plan) {
    const struct kerf_estimate *any = any_estimate(plan);
    const struct kerf_problem *first = &plan->searches[0].problem;
    kerf_text_add(out, "model,system,scale_up_size,strategy,gpus,global_batch,seq_length,candidates,feasible,rank,"
                       "throughput,step_time_s,memory_bytes,fits");
    if (!is_hybrid(first))
        kerf_text_add(out, ",dp,tp1,tp2,pp,micro_batch,summa_blocks,scale_up_tp1,scale_up_tp2,scale_up_dp,scale_up_pp");
    for (size_t k = 0; is_hybrid(first) && k < HYBRID_KEYS; k++) kerf_text_printf(out, ",%s", hybrid_keys[k]);
    if (any) part_titles(out, &any->time_s, "s"), part_titles(out, &any->memory, "bytes");
    kerf_text_add(out, ",flops_per_gpu,least_gpus,cost_model,memory_capacity_bytes");
    if (is_hybrid(first))
        kerf_text_add(out, ",priced,proved,bound_s,pipeline_s,tokens_per_s_per_device,mfu,model_flops,"
                           "parameters_per_device,precision");
    if (first->training_tokens > 0) kerf_text_add(out, ",days");
    if (first->device_hour_price > 0) kerf_text_add(out, ",cost");
    kerf_text_add(out, ",set,layout,attention");
    if (is_hybrid(first))
        kerf_text_add(out, ",gradients,mtp_layers,stack,space,for,memory_share,step_low_s,step_high_s,comparable_runs,"
                           "p_oom,pipeline_lower_bound_s,pipeline_above_optimum");
    kerf_text_add(out, "\n");
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        for (int32_t p = 0; p < search->num_plans; p++) csv_row(out, search, &search->plans[p], p + 1);
        if (search->nearest) csv_row(out, search, search->nearest, 0);
    }
}

static void markdown_rows(struct kerf_text *out, const struct kerf_search *search) {
    struct part_list parts;
    words_time_parts(&search->plans[0], &parts);
    int has_rates = is_hybrid(&search->problem);
    if (search->problem.training_tokens > 0) {
        kerf_text_add(out, "\nRank 1: ");
        words_days(out, &search->problem, &search->plans[0]);
        kerf_text_add(out, "\n");
    }
    kerf_text_printf(out, "\n| rank | layout | step | samples/s |%s memory |",
                     has_rates ? " tokens/s each | MFU |" : "");
    for (int32_t k = 0; k < parts.count; k++) kerf_text_printf(out, " %s |", parts.names[k]);
    kerf_text_printf(out, "\n|---:|---|---:|---:|---:|%s", has_rates ? "---:|---:|" : "");
    kerf_text_repeat(out, "---:|", parts.count);
    kerf_text_add(out, "\n");
    for (int32_t p = 0; p < search->num_plans; p++) {
        const struct kerf_estimate *estimate = &search->plans[p];
        words_time_parts(estimate, &parts);
        kerf_text_printf(out, "| %d | ", p + 1);
        kerf_layout_text(out, &search->problem, &estimate->layout);
        kerf_text_add(out, " | ");
        quantity_seconds(out, estimate->step_time_s);
        kerf_text_printf(out, " | %.4g | ", estimate->throughput);
        if (has_rates) {
            words_rate(out, kerf_estimate_tokens_per_s(&search->problem, estimate));
            kerf_text_add(out, " | ");
            percent(out, estimate->mfu);
            kerf_text_add(out, " | ");
        }
        quantity_bytes(out, estimate->memory_bytes);
        kerf_text_add(out, " |");
        for (int32_t k = 0; k < parts.count; k++)
            kerf_text_printf(out, " %.1f %% |", 100 * parts.values[k] / estimate->step_time_s);
        kerf_text_add(out, "\n");
    }
}

void print_plan_markdown(struct kerf_text *out, const struct kerf_plan *plan) {
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        kerf_text_printf(out, "%s### ", i ? "\n" : "");
        words_problem(out, &search->problem);
        kerf_text_add(out, "\n\n");
        words_dimensions(out, &search->problem);
        kerf_text_add(out, ". ");
        quantity_count(out, search->candidates);
        kerf_text_add(out, " layouts considered, ");
        quantity_count(out, is_hybrid(&search->problem) ? search->priced : search->feasible);
        kerf_text_printf(out, " %s%s (cost model: %s).\n", is_hybrid(&search->problem) ? "priced" : "fit",
                         search->complete ? "" : " before the interruption", search->cost_model);
        if (search->num_plans) {
            markdown_rows(out, search);
            continue;
        }
        kerf_text_add(out, "\n");
        words_no_answer(out, search);
        kerf_text_add(out, "\n");
    }
}

void print_layers_csv(struct kerf_text *out, const struct kerf_layer *layers, int32_t num_layers) {
    kerf_text_add(
        out, "module,name,flops_fwd,flops_bwd,weights_bytes,activation_bytes,t_fwd_s,t_bwd_s,t_fwd_comp_s,t_fwd_mem_s,"
             "t_fwd_comm_s,t_bwd_comp_s,t_bwd_mem_s,t_bwd_comm_s\n");
    for (int32_t i = 0; i < num_layers; i++) {
        const struct kerf_layer *layer = &layers[i];
        const double values[] = {layer->flops_fwd,        layer->flops_bwd,   layer->weights_bytes,
                                 layer->activation_bytes, layer->t_fwd_s,     layer->t_bwd_s,
                                 layer->t_fwd_comp_s,     layer->t_fwd_mem_s, layer->t_fwd_comm_s,
                                 layer->t_bwd_comp_s,     layer->t_bwd_mem_s, layer->t_bwd_comm_s};
        kerf_text_printf(out, "%s,%s", layer->module == KERF_MODULE_MLP ? "mlp" : "sa", layer->name);
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) csv_number(out, values[k]);
        kerf_text_add(out, "\n");
    }
}
