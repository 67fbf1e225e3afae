/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans as pictures, from libkerf's charts.
 *
 *   one search          its best layouts as stacked bars, the time above and the memory below
 *   several sizes       the step time of each series over the number of accelerators, and where the time of the
 *                       series with the best layout goes at each size (as the figures of arXiv 2410.00273)
 *   several, one size   the best layout of each search as stacked bars
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli/plan_print.h"
#include "cli/sketch.h"

enum { BARS_MAX = 40, SERIES_MAX = 12 };

static double *keep_numbers(struct sketch *sketch, size_t count) {
    static double nothing[TIME_PARTS];
    double *numbers = sketch_alloc(sketch, count, sizeof *numbers);
    return numbers ? numbers : nothing;
}

static const char *layout_label(struct sketch *sketch, const struct kerf_search *search,
                                const struct kerf_estimate *estimate) {
    struct kerf_text text = {0};
    words_layout_short(&text, &search->problem, &estimate->layout);
    return sketch_text(sketch, &text);
}

static const char *placement_label(struct sketch *sketch, const struct kerf_search *search,
                                   const struct kerf_estimate *estimate) {
    struct kerf_text text = {0};
    kerf_text_add(&text, "in a domain: ");
    words_placement_short(&text, &search->problem, &estimate->layout);
    return sketch_text(sketch, &text);
}

/* The model that all searches are about, or NULL. */
static const char *common_model(const struct kerf_plan *plan) {
    for (size_t i = 1; i < plan->num_searches; i++)
        if (strcmp(plan->searches[i].problem.model.name, plan->searches[0].problem.model.name) != 0) return NULL;
    return plan->searches[0].problem.model.name;
}

static const char *series_label(struct sketch *sketch, const struct kerf_plan *plan,
                                const struct kerf_problem *problem) {
    struct kerf_text text = {0};
    if (common_model(plan) == NULL) kerf_text_printf(&text, "%s, ", problem->model.name);
    kerf_text_printf(&text, "%s domain %lld, %s", problem->system.name, (long long)problem->system.scale_up.size,
                     kerf_strategy_name(problem->strategy));
    return sketch_text(sketch, &text);
}

/* "gpt3_1t: WORDS", where all searches are about one model. */
static const char *sweep_title(struct sketch *sketch, const struct kerf_plan *plan, const char *words) {
    struct kerf_text text = {0};
    if (common_model(plan)) kerf_text_printf(&text, "%s: ", common_model(plan));
    kerf_text_add(&text, words);
    return sketch_text(sketch, &text);
}

/* What all searches have in common. */
static void workload_words(struct kerf_text *out, const struct kerf_search *searches, size_t num_searches) {
    const struct kerf_problem *problem = &searches[0].problem;
    kerf_text_add(out, "global batch ");
    kerf_text_count(out, problem->global_batch);
    for (size_t i = 1; i < num_searches; i++)
        if (searches[i].problem.seq_length != problem->seq_length) return;
    kerf_text_add(out, ", ");
    kerf_text_count(out, problem->seq_length);
    kerf_text_add(out, " tokens a sample");
}

static const char *seconds_label(struct sketch *sketch, double seconds) {
    struct kerf_text text = {0};
    kerf_text_seconds(&text, seconds);
    return sketch_text(sketch, &text);
}

static const char *capacity_label(struct sketch *sketch, double bytes) {
    struct kerf_text text = {0};
    kerf_text_bytes(&text, bytes);
    kerf_text_add(&text, " of memory");
    return sketch_text(sketch, &text);
}

static const char *footer(struct sketch *sketch, const struct print_style *style) {
    struct kerf_text text = {0};
    kerf_text_printf(&text, "kerf %s, cost model: %s", kerf_version(), style->cost_model);
    return sketch_text(sketch, &text);
}

static int32_t draw(struct kerf_text *out, const struct kerf_figure *figure, enum kerf_picture_format format,
                    const struct sketch *sketch, struct kerf_error *err) {
    if (sketch->failed) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the picture");
    return kerf_figure_draw(figure, format, out, err);
}

/* ---- Layouts as bars -------------------------------------------------------------------------------------- */

struct bar {
    const struct kerf_search *search;
    const struct kerf_estimate *estimate;
    const char *label, *detail;
};

static int32_t draw_bars(struct kerf_text *out, struct sketch *sketch, const char *title, const char *subtitle,
                         const struct bar *bars, int32_t num_bars, enum kerf_picture_format format,
                         const struct print_style *style, struct kerf_error *err) {
    struct kerf_chart_row time_rows[BARS_MAX], memory_rows[BARS_MAX];
    double capacity = num_bars ? bars[0].search->problem.system.memory_capacity_bytes : 0;
    for (int32_t i = 0; i < num_bars; i++) {
        double *seconds = keep_numbers(sketch, TIME_PARTS), *bytes = keep_numbers(sketch, MEMORY_PARTS);
        time_parts(bars[i].estimate, seconds);
        memory_parts(bars[i].estimate, bytes);
        time_rows[i] = (struct kerf_chart_row){bars[i].label, bars[i].detail, seconds,
                                               seconds_label(sketch, bars[i].estimate->step_time_s)};
        memory_rows[i] = (struct kerf_chart_row){bars[i].label, NULL, bytes, NULL};
        if (bars[i].search->problem.system.memory_capacity_bytes != capacity) capacity = 0; /* no common line */
    }
    const struct kerf_panel panels[] = {
        {.kind = KERF_PANEL_BARS,
         .title = "Time of a step",
         .unit = KERF_UNIT_SECONDS,
         .rows = time_rows,
         .num_rows = num_bars,
         .parts = time_part_names,
         .num_parts = TIME_PARTS},
        {.kind = KERF_PANEL_BARS,
         .title = "Memory of an accelerator",
         .unit = KERF_UNIT_BYTES,
         .rows = memory_rows,
         .num_rows = num_bars,
         .parts = memory_part_names,
         .num_parts = MEMORY_PARTS,
         .limit = capacity,
         .limit_label = capacity > 0 ? capacity_label(sketch, capacity) : NULL},
    };
    const struct kerf_figure figure = {title, subtitle, panels, 2, footer(sketch, style)};
    return draw(out, &figure, format, sketch, err);
}

static int32_t draw_search(struct kerf_text *out, struct sketch *sketch, const struct kerf_search *search,
                           enum kerf_picture_format format, const struct print_style *style, struct kerf_error *err) {
    struct bar bars[BARS_MAX];
    int32_t count = search->num_plans < BARS_MAX ? search->num_plans : BARS_MAX;
    struct kerf_text title = {0}, subtitle = {0};
    for (int32_t i = 0; i < count; i++)
        bars[i] = (struct bar){search, &search->plans[i], layout_label(sketch, search, &search->plans[i]),
                               placement_label(sketch, search, &search->plans[i])};
    if (count == 0 && search->nearest) /* what comes nearest to fitting */
        bars[count++] = (struct bar){search, search->nearest, layout_label(sketch, search, search->nearest),
                                     placement_label(sketch, search, search->nearest)};
    kerf_text_printf(&title, "%s on ", search->problem.model.name);
    kerf_text_count(&title, search->problem.gpus);
    kerf_text_printf(&title, " x %s, %s", search->problem.system.name, kerf_strategy_name(search->problem.strategy));
    kerf_text_printf(&subtitle, "scale-up domain %lld, ", (long long)search->problem.system.scale_up.size);
    workload_words(&subtitle, search, 1);
    kerf_text_add(&subtitle, "; ");
    kerf_text_count(&subtitle, search->candidates);
    kerf_text_add(&subtitle, " layouts, ");
    kerf_text_count(&subtitle, search->feasible);
    kerf_text_add(&subtitle, search->num_plans ? " fit; the best:" : search->nearest ? " fit; the nearest:" : " fit");
    return draw_bars(out, sketch, sketch_text(sketch, &title), sketch_text(sketch, &subtitle), bars, count, format,
                     style, err);
}

static int32_t draw_winners(struct kerf_text *out, struct sketch *sketch, const struct kerf_plan *plan,
                            enum kerf_picture_format format, const struct print_style *style, struct kerf_error *err) {
    struct bar bars[BARS_MAX];
    int32_t count = 0;
    int more = 0;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        if (search->num_plans == 0) continue;
        if ((more = count == BARS_MAX)) break;
        bars[count++] = (struct bar){search, &search->plans[0], series_label(sketch, plan, &search->problem),
                                     layout_label(sketch, search, &search->plans[0])};
    }
    struct kerf_text subtitle = {0};
    workload_words(&subtitle, plan->searches, plan->num_searches);
    if (more) kerf_text_printf(&subtitle, "; the first %d searches with an answer", count);
    return draw_bars(out, sketch, sweep_title(sketch, plan, "the best layout of each search"),
                     sketch_text(sketch, &subtitle), bars, count, format, style, err);
}

/* ---- A sweep over sizes ----------------------------------------------------------------------------------- */

static int same_series(const struct kerf_problem *a, const struct kerf_problem *b) {
    return strcmp(a->model.name, b->model.name) == 0 && strcmp(a->system.name, b->system.name) == 0 &&
           a->system.scale_up.size == b->system.scale_up.size && a->strategy == b->strategy;
}

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

/* The fastest search of a series that is not listed yet, or NULL. */
static const struct kerf_search *fastest_other(const struct kerf_plan *plan, const struct kerf_search *const *series,
                                               int32_t count) {
    const struct kerf_search *fastest = NULL;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        int32_t at = 0;
        if (search->num_plans == 0 || (fastest && search->plans[0].throughput <= fastest->plans[0].throughput))
            continue;
        while (at < count && !same_series(&series[at]->problem, &search->problem)) at++;
        if (at == count) fastest = search;
    }
    return fastest;
}

/* The series to draw, in the order of the searches: all, or where they are too many the fastest. */
static int32_t list_series(const struct kerf_plan *plan, const struct kerf_search *series[SERIES_MAX], int *ret_more) {
    const struct kerf_search *next;
    int32_t count = 0;
    while ((next = fastest_other(plan, series, count)) && count < SERIES_MAX) {
        int32_t at = count++;
        for (; at > 0 && series[at - 1] > next; at--) series[at] = series[at - 1];
        series[at] = next;
    }
    *ret_more = next != NULL;
    return count;
}

/* One curve: the step time of a series at each size. */
static struct kerf_chart_row curve(struct sketch *sketch, const struct kerf_plan *plan,
                                   const struct kerf_problem *series, const double *sizes, int32_t num_sizes) {
    double *values = keep_numbers(sketch, (size_t)num_sizes);
    for (int32_t x = 0; x < num_sizes && !sketch->failed; x++) values[x] = NAN;
    for (size_t i = 0; i < plan->num_searches && !sketch->failed; i++) {
        const struct kerf_search *search = &plan->searches[i];
        if (search->num_plans == 0 || !same_series(&search->problem, series)) continue;
        double gpus = (double)search->problem.gpus;
        const double *size = bsearch(&gpus, sizes, (size_t)num_sizes, sizeof *sizes, compare_sizes);
        values[size - sizes] = search->plans[0].step_time_s;
    }
    return (struct kerf_chart_row){series_label(sketch, plan, series), NULL, values, NULL};
}

/* Columns of the parts of the time of a series, one for each size; returns how many. */
static int32_t parts_columns(struct sketch *sketch, const struct kerf_plan *plan, const struct kerf_problem *series,
                             struct kerf_chart_row *columns) {
    int32_t count = 0;
    for (size_t i = 0; i < plan->num_searches && !sketch->failed; i++) {
        const struct kerf_search *search = &plan->searches[i];
        if (search->num_plans == 0 || !same_series(&search->problem, series)) continue;
        struct kerf_text label = {0};
        double *seconds = keep_numbers(sketch, TIME_PARTS);
        time_parts(&search->plans[0], seconds);
        kerf_text_count(&label, search->problem.gpus);
        columns[count++] = (struct kerf_chart_row){sketch_text(sketch, &label), NULL, seconds,
                                                   seconds_label(sketch, search->plans[0].step_time_s)};
    }
    return count;
}

static int32_t draw_scaling(struct kerf_text *out, struct sketch *sketch, const struct kerf_plan *plan,
                            enum kerf_picture_format format, const struct print_style *style, struct kerf_error *err) {
    const struct kerf_search *series[SERIES_MAX], *best = kerf_plan_best(plan, &plan->searches[0].problem.model);
    struct kerf_chart_row curves[SERIES_MAX], *columns = calloc(plan->num_searches, sizeof *columns);
    double *sizes = keep_numbers(sketch, plan->num_searches + 1);
    if (columns == NULL || sketch->failed) {
        free(columns);
        return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the picture");
    }
    if (best == NULL) best = kerf_plan_best(plan, NULL);
    int more;
    int32_t num_sizes = list_sizes(plan, sizes), num_series = list_series(plan, series, &more);
    for (int32_t s = 0; s < num_series; s++) curves[s] = curve(sketch, plan, &series[s]->problem, sizes, num_sizes);
    int32_t num_columns = best ? parts_columns(sketch, plan, &best->problem, columns) : 0;
    struct kerf_text shares = {0}, subtitle = {0};
    kerf_text_add(&shares, "Where the time goes: ");
    if (best) kerf_text_add(&shares, series_label(sketch, plan, &best->problem));
    workload_words(&subtitle, plan->searches, plan->num_searches);
    if (more) kerf_text_printf(&subtitle, "; the %d fastest series", num_series);
    const struct kerf_panel panels[] = {
        {.kind = KERF_PANEL_CURVES,
         .title = "Time of a step with the best layout",
         .x_label = "accelerators",
         .unit = KERF_UNIT_SECONDS,
         .rows = curves,
         .num_rows = num_series,
         .xs = sizes,
         .num_xs = num_sizes},
        {.kind = KERF_PANEL_COLUMNS,
         .title = sketch_text(sketch, &shares),
         .x_label = "accelerators",
         .unit = KERF_UNIT_SECONDS,
         .rows = columns,
         .num_rows = num_columns,
         .parts = time_part_names,
         .num_parts = TIME_PARTS},
    };
    const struct kerf_figure figure = {sweep_title(sketch, plan, "scaling"), sketch_text(sketch, &subtitle), panels, 2,
                                       footer(sketch, style)};
    int32_t code = draw(out, &figure, format, sketch, err);
    free(columns);
    return code;
}

int32_t print_plan_picture(struct kerf_text *out, const struct kerf_plan *plan, enum kerf_picture_format format,
                           const struct print_style *style, struct kerf_error *err) {
    struct sketch sketch = {.failed = 0};
    int several_sizes = 0;
    for (size_t i = 1; i < plan->num_searches; i++)
        several_sizes |= plan->searches[i].problem.gpus != plan->searches[0].problem.gpus;
    int32_t code = plan->num_searches == 1 ? draw_search(out, &sketch, &plan->searches[0], format, style, err)
                   : several_sizes         ? draw_scaling(out, &sketch, plan, format, style, err)
                                           : draw_winners(out, &sketch, plan, format, style, err);
    sketch_free(&sketch);
    return code;
}
