/* SPDX-License-Identifier: Apache-2.0 */
/* Time against memory: for each search the least time within each memory, and the layouts that come near. */
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "base/quantity.h"
#include "call/pictures.h"
#include "call/plan_words.h"

enum { SERIES_MAX = 8 };

struct point {
    double x, y;
    int32_t row;
    const char *name;
};

static int compare_points(const void *left, const void *right) {
    const struct point *a = left, *b = right;
    return (a->x > b->x) - (a->x < b->x);
}

static const char *short_name(struct sketch *sketch, const struct kerf_problem *problem,
                              const struct kerf_layout *layout) {
    struct kerf_text text = {0};
    words_layout_short(&text, problem, layout);
    return sketch_text(sketch, &text);
}

static int32_t add_points(struct sketch *sketch, const struct kerf_problem *problem,
                          const struct kerf_estimate *estimates, int32_t count, int32_t row, struct point *points) {
    for (int32_t i = 0; i < count; i++)
        points[i] = (struct point){estimates[i].memory_bytes, estimates[i].step_time_s, row,
                                   short_name(sketch, problem, &estimates[i].layout)};
    return count;
}

static const char *label_of(struct sketch *sketch, const struct kerf_plan *plan, const struct kerf_search *search) {
    const struct variety varies = plan_variety(plan);
    const struct kerf_problem *problem = &search->problem;
    struct kerf_text text = {0};
    if (plan->num_searches == 1) {
        kerf_text_add(&text, "the least time within a memory");
        return sketch_text(sketch, &text);
    }
    if (varies.model) words_model_name(&text, plan, &problem->model), kerf_text_add(&text, ", ");
    if (varies.gpus) quantity_count(&text, problem->gpus), kerf_text_add(&text, " x ");
    words_system_name(&text, plan, &problem->system);
    if (varies.domain) kerf_text_printf(&text, ", domain %lld", (long long)problem->system.scale_up.size);
    if (varies.strategy) kerf_text_printf(&text, ", %s", kerf_strategy_name(problem->strategy));
    return sketch_text(sketch, &text);
}

/* The searches that have a front, at most SERIES_MAX. */
static int32_t list_fronts(const struct kerf_plan *plan, const struct kerf_search *series[SERIES_MAX]) {
    int32_t count = 0;
    for (size_t i = 0; i < plan->num_searches && count < SERIES_MAX; i++)
        if (plan->searches[i].front && plan->searches[i].front->num_best) series[count++] = &plan->searches[i];
    return count;
}

/* A panel's rows hold a value, or none, at each place of the x axis. */
static int32_t fill_panel(struct sketch *sketch, struct point *points, int32_t num_points, struct kerf_chart_row *rows,
                          int32_t num_rows, struct kerf_panel *panel) {
    double *xs = sketch_alloc(sketch, (size_t)num_points, sizeof *xs);
    const char **names = sketch_alloc(sketch, (size_t)num_points, sizeof *names);
    double *values = sketch_alloc(sketch, (size_t)num_points * (size_t)num_rows, sizeof *values);
    if (xs == NULL || names == NULL || values == NULL) return 0;
    qsort(points, (size_t)num_points, sizeof *points, compare_points);
    for (int32_t k = 0; k < num_points; k++) {
        xs[k] = points[k].x, names[k] = points[k].name;
        for (int32_t row = 0; row < num_rows; row++)
            values[row * num_points + k] = points[k].row == row ? points[k].y : NAN;
    }
    for (int32_t row = 0; row < num_rows; row++) rows[row].values = values + row * num_points;
    panel->rows = rows, panel->num_rows = num_rows;
    panel->xs = xs, panel->num_xs = num_points, panel->x_names = names;
    return 1;
}

int32_t front_picture(struct kerf_text *out, const struct kerf_plan *plan, enum kerf_picture_format format,
                      struct kerf_error *err) {
    const struct kerf_search *series[SERIES_MAX];
    struct sketch sketch = {.failed = 0};
    struct kerf_chart_row rows[SERIES_MAX + 1] = {{.label = NULL}};
    struct kerf_text title = {0}, subtitle = {0}, limit = {0};
    int32_t count = list_fronts(plan, series), num_points = 0, added = 0, num_rows = count;
    const struct kerf_problem *first = count ? &series[0]->problem : &plan->searches[0].problem;
    double capacity = first->system.memory_capacity_bytes;
    for (int32_t i = 0; i < count; i++) {
        num_points += series[i]->front->num_best + (count == 1 ? series[i]->front->num_near : 0);
        if (series[i]->problem.system.memory_capacity_bytes != capacity) capacity = 0; /* no common line */
    }
    struct kerf_panel panel = {.kind = KERF_PANEL_SCATTER,
                               .title = "Time of a step against memory",
                               .x_label = "memory of an accelerator",
                               .unit = KERF_UNIT_SECONDS,
                               .x_unit = KERF_UNIT_BYTES,
                               .num_joined = count,
                               .limit = capacity};
    struct point *points = sketch_alloc(&sketch, (size_t)num_points + 1, sizeof *points);
    for (int32_t i = 0; points && i < count; i++) {
        const struct kerf_front *front = series[i]->front;
        rows[i].label = label_of(&sketch, plan, series[i]);
        added += add_points(&sketch, &series[i]->problem, front->best, front->num_best, i, points + added);
        if (count > 1) continue; /* one search has room for the others too */
        rows[1].label = "other layouts";
        added += add_points(&sketch, &series[i]->problem, front->near, front->num_near, 1, points + added);
        num_rows = front->num_near ? 2 : 1;
    }
    words_problem(&title, first);
    kerf_text_add(&subtitle, "Each point of the front is the fastest of all layouts that need no more memory.");
    if (count < (int32_t)plan->num_searches)
        kerf_text_printf(&subtitle, " %d of %zu searches are shown.", count, plan->num_searches);
    quantity_bytes(&limit, capacity);
    kerf_text_add(&limit, " of memory");
    panel.limit_label = sketch_text(&sketch, &limit);
    const char *footer =
        sketch_printf(&sketch, "kerf %s, cost model: %s", kerf_version(), plan->searches[0].cost_model);
    const struct kerf_figure figure = {plan->num_searches == 1 ? sketch_text(&sketch, &title) : "Time against memory",
                                       sketch_text(&sketch, &subtitle), &panel, 1, footer};
    kerf_text_free(&title);
    int good = points && (num_points == 0 || fill_panel(&sketch, points, num_points, rows, num_rows, &panel));
    int32_t code =
        good && !sketch.failed ? kerf_figure_draw(&figure, format, out, err) : error_no_memory(err, "the picture");
    sketch_free(&sketch);
    return code;
}
