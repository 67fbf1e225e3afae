/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans as pictures, from libkerf's charts.
 *
 *   one problem         its best layouts, over all strategies that were searched, as stacked bars: time and memory of a
 *                       layout in one row
 *   several sizes       the step time of each series over the number of accelerators, and for each model where the time
 *                       of its fastest series goes at each size (as the figures of arXiv 2410.00273)
 *   several, one size   the best layout of each search as stacked bars
 */
#include "call/pictures.h"
#include "call/plan_words.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "base/quantity.h"

enum { BARS_MAX = 40, SERIES_MAX = 12, MODELS_MAX = 6 };

/* ---- Words ------------------------------------------------------------------------------------------------- */

static const char *series_label(struct sketch *sketch, const struct kerf_plan *plan,
                                const struct kerf_problem *problem) {
    struct variety varies = plan_variety(plan);
    struct kerf_text text = {0};
    if (varies.model) words_model_name(&text, plan, &problem->model), kerf_text_add(&text, ", ");
    words_system_name(&text, plan, &problem->system);
    kerf_text_printf(&text, " domain %lld", (long long)problem->system.scale_up.size);
    if (problem->strategy != KERF_STRATEGY_HYBRID)
        kerf_text_printf(&text, ", %s", kerf_strategy_name(problem->strategy));
    return sketch_text(sketch, &text);
}

/* The models of the sweep, in their order; the first MODELS_MAX of them. */
static int32_t list_models(const struct kerf_plan *plan, const struct kerf_model *models[MODELS_MAX]) {
    int32_t count = 0;
    for (size_t i = 0; i < plan->num_searches && count < MODELS_MAX; i++) {
        const struct kerf_model *model = &plan->searches[i].problem.model;
        int32_t at = 0;
        while (at < count && !kerf_model_equal(models[at], model)) at++;
        if (at == count) models[count++] = model;
    }
    return count;
}

/* "gpt3_1t, vit_era5: WORDS" */
static const char *sweep_title(struct sketch *sketch, const struct kerf_plan *plan,
                               const struct kerf_model *const *models, int32_t num_models, const char *words) {
    struct kerf_text text = {0};
    for (int32_t m = 0; m < num_models; m++) {
        kerf_text_add(&text, m ? ", " : "");
        words_model_name(&text, plan, models[m]);
    }
    kerf_text_printf(&text, ": %s", words);
    return sketch_text(sketch, &text);
}

/* What all searches have in common. */
static void workload_words(struct kerf_text *out, const struct kerf_plan *plan, int with_gpus) {
    const struct kerf_problem *problem = &plan->searches[0].problem;
    struct variety varies = plan_variety(plan);
    if (with_gpus && !varies.gpus) {
        quantity_count(out, problem->gpus);
        kerf_text_printf(out, " accelerator%s, ", problem->gpus == 1 ? "" : "s");
    }
    kerf_text_add(out, "global batch ");
    quantity_count(out, problem->global_batch);
    if (!varies.seq_length) {
        kerf_text_add(out, ", ");
        quantity_count(out, problem->seq_length);
        kerf_text_add(out, " tokens a sample");
    }
    if (problem->attention != KERF_ATTENTION_FUSED)
        kerf_text_printf(out, ", attention %s", kerf_attention_name(problem->attention));
    if (problem->strategy == KERF_STRATEGY_HYBRID) words_training(out, problem);
    if (!varies.model) kerf_text_add(out, "; "), words_model(out, &problem->model);
    if (!varies.system) {
        kerf_text_add(out, "; ");
        quantity_bytes(out, problem->system.memory_capacity_bytes);
        kerf_text_add(out, " on each accelerator");
    }
    if (problem->model.overridden || problem->system.overridden) {
        kerf_text_add(out, "; set: ");
        kerf_problem_set_text(out, &problem->model, &problem->system);
    }
}

static const char *seconds_label(struct sketch *sketch, double seconds) {
    struct kerf_text text = {0};
    quantity_seconds(&text, seconds);
    return sketch_text(sketch, &text);
}

static const char *capacity_label(struct sketch *sketch, double bytes) {
    struct kerf_text text = {0};
    quantity_bytes(&text, bytes);
    kerf_text_add(&text, " of memory");
    return sketch_text(sketch, &text);
}

static const char *footer(struct sketch *sketch, const struct kerf_plan *plan) {
    return sketch_printf(sketch, "kerf %s, cost model: %s", kerf_version(), plan->searches[0].cost_model);
}

static int32_t draw(struct kerf_text *out, const struct kerf_figure *figure, enum kerf_picture_format format,
                    const struct sketch *sketch, struct kerf_error *err) {
    if (sketch->failed) return error_no_memory(err, "the picture");
    return kerf_figure_draw(figure, format, out, err);
}

/* The values of the parts, kept as long as the sketch. */
static const double *keep_values(struct sketch *sketch, const struct part_list *parts) {
    static const double nothing[KERF_PARTS_MAX];
    double *values = sketch_alloc(sketch, KERF_PARTS_MAX, sizeof *values);
    if (values == NULL) return nothing;
    memcpy(values, parts->values, (size_t)parts->count * sizeof *values);
    return values;
}

/* ---- Layouts as bars --------------------------------------------------------------------------------------- */

struct bar {
    const struct kerf_search *search;
    const struct kerf_estimate *estimate;
    const char *label, *detail;
};

/* Leaves out the parts that are 0 in all bars, where a legend of all would be long. */
static void drop_parts(struct part_list *parts, struct kerf_chart_row *rows, int32_t num_rows) {
    enum { MANY = 7 };
    int32_t kept = 0;
    if (parts->count < MANY) return;
    for (int32_t k = 0; k < parts->count; k++) {
        int any = 0;
        for (int32_t i = 0; i < num_rows; i++) any |= rows[i].values[k] != 0;
        if (!any) continue;
        for (int32_t i = 0; i < num_rows; i++) ((double *)(uintptr_t)rows[i].values)[kept] = rows[i].values[k];
        parts->names[kept++] = parts->names[k];
    }
    parts->count = kept;
}

static int32_t draw_bars(struct kerf_text *out, struct sketch *sketch, const struct kerf_plan *plan, const char *title,
                         const char *subtitle, const struct bar *bars, int32_t num_bars,
                         enum kerf_picture_format format, struct kerf_error *err) {
    struct kerf_chart_row time_rows[BARS_MAX], memory_rows[BARS_MAX];
    struct part_list seconds = {.count = 0}, bytes = {.count = 0};
    double capacity = num_bars ? bars[0].search->problem.system.memory_capacity_bytes : 0;
    assert(num_bars <= BARS_MAX);
    for (int32_t i = 0; i < num_bars; i++) {
        words_time_parts(bars[i].estimate, &seconds);
        words_memory_parts(bars[i].estimate, &bytes);
        time_rows[i] = (struct kerf_chart_row){bars[i].label, bars[i].detail, keep_values(sketch, &seconds),
                                               seconds_label(sketch, bars[i].estimate->step_time_s)};
        memory_rows[i] = (struct kerf_chart_row){bars[i].label, NULL, keep_values(sketch, &bytes), NULL};
        if (bars[i].search->problem.system.memory_capacity_bytes != capacity) capacity = 0; /* no common line */
    }
    drop_parts(&seconds, time_rows, num_bars);
    drop_parts(&bytes, memory_rows, num_bars);
    const struct kerf_panel panels[] = {
        {.kind = KERF_PANEL_BARS,
         .title = "Time of a step",
         .unit = KERF_UNIT_SECONDS,
         .rows = time_rows,
         .num_rows = num_bars,
         .parts = seconds.names,
         .num_parts = seconds.count},
        {.kind = KERF_PANEL_BARS,
         .title = "Memory of an accelerator",
         .unit = KERF_UNIT_BYTES,
         .rows = memory_rows,
         .num_rows = num_bars,
         .parts = bytes.names,
         .num_parts = bytes.count,
         .beside = 1,
         .limit = capacity,
         .limit_label = capacity > 0 ? capacity_label(sketch, capacity) : NULL},
    };
    const struct kerf_figure figure = {title, subtitle, panels, num_bars ? 2 : 0, footer(sketch, plan)};
    return draw(out, &figure, format, sketch, err);
}

/* ---- One problem ------------------------------------------------------------------------------------------- */

static int is_faster(const struct bar *a, const struct bar *b) {
    return a->estimate->throughput > b->estimate->throughput;
}

/* The best layouts of all strategies together, as many as were kept of one. Layouts of summa and seqp that 1d has as
 * well are left out where 1d was searched. */
static int32_t merge_best(const struct kerf_plan *plan, struct bar bars[BARS_MAX]) {
    int32_t count = 0, most = 0;
    for (size_t i = 0; i < plan->num_searches; i++)
        if (plan->searches[i].num_plans > most) most = plan->searches[i].num_plans;
    if (most > BARS_MAX) most = BARS_MAX;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        for (int32_t p = 0; p < search->num_plans; p++) {
            const struct bar one = {.search = search, .estimate = &search->plans[p]};
            if (kerf_plan_has_twin(plan, search, one.estimate)) continue;
            int32_t at = count < most ? count++ : most;
            for (; at > 0 && is_faster(&one, &bars[at - 1]); at--)
                if (at < most) bars[at] = bars[at - 1];
            if (at < most) bars[at] = one;
        }
    }
    return count;
}

/* What comes nearest to fitting, of all strategies. */
static const struct kerf_search *nearest_of(const struct kerf_plan *plan) {
    const struct kerf_search *nearest = NULL;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *one = &plan->searches[i];
        if (one->nearest && (nearest == NULL || one->nearest->memory_bytes < nearest->nearest->memory_bytes))
            nearest = one;
    }
    return nearest;
}

static void label_bar(struct sketch *sketch, const struct kerf_plan *plan, struct bar *bar, int32_t rank) {
    const struct kerf_problem *problem = &bar->search->problem;
    struct kerf_text label = {0}, detail = {0};
    if (rank) kerf_text_printf(&label, "%d.  ", rank);
    words_layout_short(&label, problem, &bar->estimate->layout);
    if (plan->num_searches > 1) kerf_text_printf(&detail, "%s, ", kerf_strategy_name(problem->strategy));
    words_layout_detail(&detail, problem, &bar->estimate->layout);
    bar->label = sketch_text(sketch, &label);
    bar->detail = sketch_text(sketch, &detail);
}

static int32_t draw_problem(struct kerf_text *out, struct sketch *sketch, const struct kerf_plan *plan,
                            enum kerf_picture_format format, struct kerf_error *err) {
    const struct kerf_search *first = &plan->searches[0], *nearest = nearest_of(plan);
    struct bar bars[BARS_MAX];
    struct kerf_text title = {0}, subtitle = {0};
    int64_t candidates = 0, feasible = 0;
    int32_t count = merge_best(plan, bars);
    int has_answer = count > 0;
    if (!has_answer && nearest) bars[count++] = (struct bar){.search = nearest, .estimate = nearest->nearest};
    for (int32_t i = 0; i < count; i++) label_bar(sketch, plan, &bars[i], has_answer ? i + 1 : 0);
    kerf_text_printf(&title, "%s on ", first->problem.model.name);
    quantity_count(&title, first->problem.gpus);
    kerf_text_printf(&title, " x %s", first->problem.system.name);
    int is_hybrid = first->problem.strategy == KERF_STRATEGY_HYBRID;
    for (size_t i = 0; i < plan->num_searches; i++) {
        if (!is_hybrid) kerf_text_printf(&title, ", %s", kerf_strategy_name(plan->searches[i].problem.strategy));
        candidates += plan->searches[i].candidates;
        feasible += plan->searches[i].feasible;
    }
    kerf_text_printf(&subtitle, "scale-up domain %lld, ", (long long)first->problem.system.scale_up.size);
    workload_words(&subtitle, plan, 0);
    kerf_text_add(&subtitle, ". ");
    if (has_answer) {
        quantity_count(&subtitle, candidates);
        kerf_text_add(&subtitle, " layouts, ");
        if (is_hybrid) {
            kerf_text_add(&subtitle, first->proved ? "proved; the best:" : "interrupted; the best so far:");
        } else {
            quantity_count(&subtitle, feasible);
            kerf_text_printf(&subtitle, " fit%s; the best:", feasible == 1 ? "s" : "");
        }
    } else {
        words_no_answer(&subtitle, nearest ? nearest : first);
    }
    return draw_bars(out, sketch, plan, sketch_text(sketch, &title), sketch_text(sketch, &subtitle), bars, count,
                     format, err);
}

/* ---- Several searches of one size -------------------------------------------------------------------------- */

static int32_t draw_winners(struct kerf_text *out, struct sketch *sketch, const struct kerf_plan *plan,
                            enum kerf_picture_format format, struct kerf_error *err) {
    struct bar bars[BARS_MAX];
    int32_t count = 0, left_out = 0;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        const struct kerf_estimate *estimate = search->num_plans ? &search->plans[0] : search->nearest;
        if (estimate == NULL || count == BARS_MAX) {
            left_out++;
            continue;
        }
        struct kerf_text detail = {0};
        if (!search->num_plans) kerf_text_add(&detail, "does not fit: ");
        words_layout_short(&detail, &search->problem, &estimate->layout);
        bars[count++] =
            (struct bar){search, estimate, series_label(sketch, plan, &search->problem), sketch_text(sketch, &detail)};
    }
    struct kerf_text subtitle = {0};
    workload_words(&subtitle, plan, 1);
    if (left_out)
        kerf_text_printf(&subtitle, "; %d more search%s not shown", left_out, left_out == 1 ? " is" : "es are");
    const struct kerf_model *models[MODELS_MAX];
    int32_t num_models = list_models(plan, models);
    const char *title = sweep_title(sketch, plan, models, num_models, "the best layout of each search");
    return draw_bars(out, sketch, plan, title, sketch_text(sketch, &subtitle), bars, count, format, err);
}

/* ---- A sweep over sizes ------------------------------------------------------------------------------------ */

static int compare_sizes(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The different numbers of accelerators, rising. */
static int32_t list_sizes(const struct kerf_plan *plan, double *sizes) {
    int32_t count = 0;
    for (size_t i = 0; i < plan->num_searches; i++) sizes[i] = (double)plan->searches[i].problem.gpus;
    qsort(sizes, plan->num_searches, sizeof *sizes, compare_sizes);
    for (size_t i = 0; i < plan->num_searches; i++)
        if (count == 0 || sizes[i] != sizes[count - 1]) sizes[count++] = sizes[i];
    return count;
}

/* The fastest search of the model, of those whose series is not listed yet, or NULL. */
static const struct kerf_search *fastest_other(const struct kerf_plan *plan, const struct kerf_model *model,
                                               const struct kerf_search *const *series, int32_t count) {
    const struct kerf_search *fastest = NULL;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        int32_t at = 0;
        if (search->num_plans == 0 || !kerf_model_equal(&search->problem.model, model)) continue;
        if (fastest && search->plans[0].throughput <= fastest->plans[0].throughput) continue;
        while (at < count && !plan_same_series(&series[at]->problem, &search->problem)) at++;
        if (at == count) fastest = search;
    }
    return fastest;
}

/* The series to draw, in the order of the searches: all, or where they are too many the fastest of each model in
 * turn. */
static int32_t list_series(const struct kerf_plan *plan, const struct kerf_model *const *models, int32_t num_models,
                           const struct kerf_search *series[SERIES_MAX], int *ret_more) {
    int32_t count = 0, found = 1;
    *ret_more = 0;
    while (found) {
        found = 0;
        for (int32_t m = 0; m < num_models; m++) {
            const struct kerf_search *next = fastest_other(plan, models[m], series, count);
            if (next == NULL) continue;
            if (count == SERIES_MAX) {
                *ret_more = 1;
                return count;
            }
            int32_t at = count++;
            for (; at > 0 && series[at - 1] > next; at--) series[at] = series[at - 1];
            series[at] = next;
            found = 1;
        }
    }
    return count;
}

/* One curve: the step time of a series at each size. */
static struct kerf_chart_row curve(struct sketch *sketch, const struct kerf_plan *plan,
                                   const struct kerf_problem *series, const double *sizes, int32_t num_sizes) {
    double *values = sketch_alloc(sketch, (size_t)num_sizes, sizeof *values);
    for (int32_t x = 0; values && x < num_sizes; x++) values[x] = NAN;
    for (size_t i = 0; values && i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        if (search->num_plans == 0 || !plan_same_series(&search->problem, series)) continue;
        double gpus = (double)search->problem.gpus;
        const double *size = bsearch(&gpus, sizes, (size_t)num_sizes, sizeof *sizes, compare_sizes);
        assert(size);
        values[size - sizes] = search->plans[0].step_time_s;
    }
    return (struct kerf_chart_row){series_label(sketch, plan, series), NULL, values, NULL};
}

/* Where the time of a series goes: a column for each size. */
static struct kerf_panel shares(struct sketch *sketch, const struct kerf_plan *plan, const struct kerf_problem *series,
                                struct part_list *parts) {
    struct kerf_chart_row *columns = sketch_alloc(sketch, plan->num_searches, sizeof *columns);
    int32_t count = 0;
    for (size_t i = 0; columns && i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        if (search->num_plans == 0 || !plan_same_series(&search->problem, series)) continue;
        struct kerf_text label = {0};
        words_time_parts(&search->plans[0], parts);
        quantity_count(&label, search->problem.gpus);
        columns[count++] = (struct kerf_chart_row){sketch_text(sketch, &label), NULL, keep_values(sketch, parts),
                                                   seconds_label(sketch, search->plans[0].step_time_s)};
    }
    return (struct kerf_panel){.kind = KERF_PANEL_COLUMNS,
                               .title =
                                   sketch_printf(sketch, "Where the time goes: %s", series_label(sketch, plan, series)),
                               .x_label = "accelerators",
                               .unit = KERF_UNIT_SECONDS,
                               .rows = columns,
                               .num_rows = count,
                               .parts = parts->names,
                               .num_parts = parts->count};
}

static const char *scaling_subtitle(struct sketch *sketch, const struct kerf_plan *plan, const double *sizes,
                                    int32_t num_sizes, int32_t num_series, int more) {
    struct kerf_text text = {0};
    int32_t without = 0;
    for (size_t i = 0; i < plan->num_searches; i++) without += plan->searches[i].num_plans == 0;
    quantity_count(&text, (int64_t)sizes[0]);
    kerf_text_add(&text, " to ");
    quantity_count(&text, (int64_t)sizes[num_sizes - 1]);
    kerf_text_add(&text, " accelerators, ");
    workload_words(&text, plan, 0);
    if (more) kerf_text_printf(&text, "; the %d fastest series", num_series);
    if (without) kerf_text_printf(&text, "; nothing fits in %d of the %zu searches", without, plan->num_searches);
    return sketch_text(sketch, &text);
}

static int32_t draw_scaling(struct kerf_text *out, struct sketch *sketch, const struct kerf_plan *plan,
                            enum kerf_picture_format format, struct kerf_error *err) {
    const struct kerf_search *series[SERIES_MAX];
    const struct kerf_model *models[MODELS_MAX];
    struct kerf_chart_row curves[SERIES_MAX];
    struct part_list parts[MODELS_MAX] = {0};
    struct kerf_panel panels[1 + MODELS_MAX];
    double *sizes = sketch_alloc(sketch, plan->num_searches, sizeof *sizes);
    if (sizes == NULL) return error_no_memory(err, "the picture");
    int more;
    int32_t num_sizes = list_sizes(plan, sizes), num_models = list_models(plan, models), num_panels = 0;
    int32_t num_series = list_series(plan, models, num_models, series, &more);
    for (int32_t s = 0; s < num_series; s++) curves[s] = curve(sketch, plan, &series[s]->problem, sizes, num_sizes);
    panels[num_panels++] = (struct kerf_panel){.kind = KERF_PANEL_CURVES,
                                               .title = "Time of a step with the best layout",
                                               .x_label = "accelerators",
                                               .unit = KERF_UNIT_SECONDS,
                                               .rows = curves,
                                               .num_rows = num_series,
                                               .xs = sizes,
                                               .num_xs = num_sizes};
    for (int32_t m = 0; m < num_models; m++) {
        const struct kerf_search *best = kerf_plan_best(plan, models[m]);
        if (best) panels[num_panels++] = shares(sketch, plan, &best->problem, &parts[m]);
    }
    const struct kerf_figure figure = {sweep_title(sketch, plan, models, num_models, "scaling"),
                                       scaling_subtitle(sketch, plan, sizes, num_sizes, num_series, more), panels,
                                       num_panels, footer(sketch, plan)};
    return draw(out, &figure, format, sketch, err);
}

int32_t plan_picture(struct kerf_text *out, const struct kerf_plan *plan, enum kerf_picture_format format,
                     struct kerf_error *err) {
    struct sketch sketch = {.failed = 0};
    struct variety varies = plan_variety(plan);
    int one_problem = !varies.model && !varies.system && !varies.domain && !varies.gpus && !varies.seq_length;
    int32_t code = one_problem   ? draw_problem(out, &sketch, plan, format, err)
                   : varies.gpus ? draw_scaling(out, &sketch, plan, format, err)
                                 : draw_winners(out, &sketch, plan, format, err);
    sketch_free(&sketch);
    return code;
}
