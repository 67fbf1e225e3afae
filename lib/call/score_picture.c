/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted step times against measured ones, a series for each line of the table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "call/score_question.h"
#include "kerf/version.h"

enum { SERIES_MAX = 16 }; /* the rest is "others" */

struct point {
    double measured, predicted;
    int32_t series;
    const char *name;
};

static int compare_points(const void *a, const void *b) {
    const struct point *left = a, *right = b;
    return (left->measured > right->measured) - (left->measured < right->measured);
}

static int compare_lines(const void *a, const void *b) {
    const struct score_line *const *left = a, *const *right = b;
    if ((*left)->figures.timed != (*right)->figures.timed)
        return (*left)->figures.timed < (*right)->figures.timed ? 1 : -1;
    return strcmp((*left)->name, (*right)->name);
}

/* The lines with the most runs; returns how many have one of their own. */
static int32_t choose_series(const struct score_answer *answer, const struct score_line **order) {
    int32_t count = 0;
    for (size_t i = 0; i < answer->num_lines; i++)
        if (answer->lines[i].figures.timed) order[count++] = &answer->lines[i];
    qsort(order, (size_t)count, sizeof *order, compare_lines);
    return count > SERIES_MAX ? SERIES_MAX - 1 : count;
}

int32_t score_picture(struct kerf_text *out, const struct score_answer *answer, enum kerf_picture_format format,
                      struct kerf_error *err) {
    struct sketch sketch = {.failed = 0};
    const struct score_line **order = sketch_alloc(&sketch, answer->num_lines + 1, sizeof *order);
    int32_t own = order ? choose_series(answer, order) : 0, num_rows = own, count = 0;
    struct kerf_chart_row rows[SERIES_MAX + 1] = {{.label = NULL}};
    struct point *points = sketch_alloc(&sketch, answer->runs->count + 1, sizeof *points);
    for (size_t i = 0; points && i < answer->runs->count; i++) {
        const struct run *run = &answer->runs->rows[i];
        const struct prediction *prediction = &answer->predictions[i];
        if (prediction->why || !figures_is_timed(run)) continue;
        int32_t series = 0;
        while (series < own && strcmp(order[series]->name, score_line_of(answer, i)) != 0) series++;
        if (series == own) num_rows = own + 1;
        points[count++] = (struct point){run->measured.step_s, prediction->step_s, series, run->id};
    }
    double *xs = sketch_alloc(&sketch, (size_t)count + 1, sizeof *xs);
    const char **names = sketch_alloc(&sketch, (size_t)count + 1, sizeof *names);
    double *values = sketch_alloc(&sketch, ((size_t)count + 1) * (SERIES_MAX + 1), sizeof *values);
    int good = points && xs && names && values && !sketch.failed;
    if (good) qsort(points, (size_t)count, sizeof *points, compare_points);
    for (int32_t k = 0; good && k < count; k++) {
        xs[k] = points[k].measured, names[k] = points[k].name;
        for (int32_t r = 0; r < num_rows; r++)
            values[(size_t)r * (size_t)count + (size_t)k] = points[k].series == r ? points[k].predicted : NAN;
    }
    for (int32_t r = 0; good && r < num_rows; r++) {
        rows[r].label =
            r < own ? sketch_printf(&sketch, "%s %.1f %%", order[r]->name, 100 * order[r]->figures.mean) : "others";
        rows[r].values = values + (size_t)r * (size_t)count;
    }
    struct kerf_panel panel = {.kind = KERF_PANEL_SCATTER,
                               .title = "Time of a step, predicted against measured",
                               .x_label = "measured",
                               .y_label = "predicted",
                               .unit = KERF_UNIT_SECONDS,
                               .x_unit = KERF_UNIT_SECONDS,
                               .rows = rows,
                               .num_rows = num_rows,
                               .xs = xs,
                               .num_xs = count,
                               .x_names = names,
                               .logarithmic = 1};
    const char *title =
        sketch_printf(&sketch, "%zu runs, %.1f %% off on average", answer->all.timed, 100 * answer->all.mean);
    const char *subtitle = sketch_printf(
        &sketch, "Behind each name is its mean error. %.0f %% of the runs lie in the stated 90 %% interval.",
        100 * answer->all.within);
    const struct kerf_figure figure = {answer->all.timed ? title : "No run has a measured step time",
                                       answer->all.timed ? subtitle : NULL, &panel, 1,
                                       sketch_printf(&sketch, "kerf %s", kerf_version())};
    good = good && !sketch.failed;
    int32_t code = good ? kerf_figure_draw(&figure, format, out, err) : error_no_memory(err, "the picture");
    sketch_free(&sketch);
    return code;
}
