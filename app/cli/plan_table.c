/* SPDX-License-Identifier: Apache-2.0 */
/* Plans for a person at a terminal: the answer in words first, where its time and memory go as bars, then how far
 * the others are and what each trades. */
#include "cli/plan_table.h"

#include <string.h>
#include "base/quantity.h"
#include "cli/estimate_table.h"
#include "cli/terminal.h"

/* ---- One search ------------------------------------------------------------------------------------------- */

/* The rows of the best layouts. trades: so many parts of the time in which they differ from the first; below 0: nothing
 * but what a layout needs to be pasted. */
enum { BARE = -1 };
static void best_cells(struct kerf_text *cells, const struct kerf_search *search, int32_t trades) {
    kerf_text_clear(cells);
    kerf_text_add(cells, "rank\tstep\t");
    if (trades != BARE) kerf_text_add(cells, "slower\tmemory\t");
    kerf_text_add(cells, trades > 0 ? "against the best\tlayout\n" : "layout\n");
    for (int32_t i = 0; i < search->num_plans; i++) {
        const struct kerf_estimate *estimate = &search->plans[i];
        double slower = estimate->step_time_s / search->plans[0].step_time_s - 1;
        kerf_text_printf(cells, "%d\t", i + 1);
        quantity_seconds(cells, estimate->step_time_s);
        kerf_text_add(cells, "\t");
        if (trades != BARE && i > 0) kerf_text_printf(cells, "+%.1f %%", 100 * slower);
        if (trades != BARE) kerf_text_add(cells, "\t"), quantity_bytes(cells, estimate->memory_bytes);
        if (trades != BARE) kerf_text_add(cells, "\t");
        if (trades > 0 && i > 0) words_trade(cells, &search->plans[0], estimate, trades);
        if (trades > 0) kerf_text_add(cells, "\t");
        kerf_layout_text(cells, &search->problem, &estimate->layout);
        kerf_text_add(cells, "\n");
    }
}

/* A layout is there to be pasted: it is never cut, even where it is wider than the terminal. */
static void best_layouts(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    static const struct table_column with_trades[TABLE_COLUMNS_MAX] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {0, 0}, {0, 0}};
    static const struct table_column without[TABLE_COLUMNS_MAX] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {0, 0}};
    static const struct table_column bare[TABLE_COLUMNS_MAX] = {{1, 0}, {1, 0}, {0, 0}};
    struct kerf_text cells = {0};
    int32_t trades = 3, width;
    do best_cells(&cells, search, --trades);
    while ((width = terminal_table_width(&cells)) > style->columns && trades != BARE);
    kerf_text_add(out, "\n");
    terminal_table(out, &cells, trades > 0 ? with_trades : trades == 0 ? without : bare, width, style->colour, -1);
    kerf_text_clear(&cells);
    if (trades == BARE) {
        kerf_text_add(&cells, "not shown, for lack of room: slower, memory");
        table_words(out, &cells, 0, style);
    }
    kerf_text_free(&cells);
}

static void considered(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    struct kerf_text words = {0};
    quantity_count(&words, search->candidates);
    kerf_text_printf(&words, " layout%s%s, ", search->candidates == 1 ? "" : "s",
                     search->complete ? "" : " before the interruption");
    if (search->feasible) quantity_count(&words, search->feasible);
    kerf_text_printf(&words, "%s of them fit%s (cost model: %s).", search->feasible ? "" : "none",
                     search->feasible <= 1 ? "s" : "", search->cost_model);
    table_words(out, &words, 0, style);
    kerf_text_free(&words);
}

static void no_answer(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style) {
    struct kerf_text words = {0};
    words_no_answer(&words, search);
    table_words(out, &words, 0, style);
    kerf_text_free(&words);
    if (search->nearest) {
        kerf_text_add(out, "\n");
        table_estimate(out, &search->problem, search->nearest, style);
    }
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
    table_estimate(out, &search->problem, &search->plans[0], style);
    if (search->num_plans > 1) best_layouts(out, search, style);
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
    if (!varies->strategy) kerf_text_printf(&words, ", %s", kerf_strategy_name(first->strategy));
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

/* The share of an accelerator's throughput that is left against the smallest size of the same row of sizes. */
static double scaling(const struct kerf_plan *plan, size_t index) {
    const struct kerf_search *here = &plan->searches[index], *least = here;
    for (size_t i = index; i-- > 0;) {
        const struct kerf_problem *one = &plan->searches[i].problem;
        if (!plan_same_series(one, &here->problem) || one->gpus >= least->problem.gpus) break;
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
        if (varies->gpus) kerf_text_printf(cells, "\t%.0f %%", 100 * scaling(plan, index));
    } else {
        kerf_text_add(cells, varies->gpus ? "-\t-\t-" : "-\t-");
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
