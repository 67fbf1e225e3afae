/* SPDX-License-Identifier: Apache-2.0 */
/* A study of two objectives: its Pareto front as a table, as JSON, and as a picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/quantity.h"
#include "cli/cells.h"
#include "cli/tune_print.h"

static const struct kerf_tune_estimate *second_of(const struct tune_report *report, int32_t setting) {
    return &report->front.second[setting];
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static void words_range(struct kerf_text *out, const struct tune_report *report, const double interval[2]) {
    if (!tune_is_interval(interval)) return;
    words_second(out, report, interval[0]);
    kerf_text_add(out, " - ");
    words_second(out, report, interval[1]);
}

static void titles(struct kerf_text *cells, const struct tune_report *report) {
    const struct kerf_tune_space *space = report->state->space;
    for (int32_t p = 0; p < space->num_params; p++) kerf_text_printf(cells, "%s\t", space->params[p].name);
    words_first(cells, report);
    kerf_text_printf(cells, "\tinterval\t%s\tinterval\truns\tunbeaten\t\n", report->second);
}

static void row(struct kerf_text *cells, const struct tune_report *report, int32_t setting, double unbeaten) {
    const struct kerf_tune_space *space = report->state->space;
    const struct kerf_tune_estimate *first = &report->answer.settings[setting], *second = second_of(report, setting);
    int is_measured = first->status == KERF_TUNE_MEASURED;
    for (int32_t p = 0; p < space->num_params; p++)
        kerf_text_printf(cells, "%s\t", kerf_tune_setting_word(space, setting, p));
    words_objective(cells, report->state->request, first->mean);
    kerf_text_add(cells, "\t");
    if (is_measured) words_interval(cells, report->state->request, first->interval, " - ");
    kerf_text_add(cells, "\t");
    words_second(cells, report, second->mean);
    kerf_text_add(cells, "\t");
    if (is_measured) words_range(cells, report, second->interval);
    kerf_text_printf(cells, "\t%d\t", first->observations);
    if (!isnan(unbeaten)) words_chance(cells, unbeaten);
    const char *note = !isnan(unbeaten) ? "front" : setting == space->default_setting ? "default" : "";
    const char *reason = kerf_study_reason(report->state, report->answer.settings, setting);
    kerf_text_printf(cells, "\t%s", note);
    if (first->status == KERF_TUNE_ALL_FAILED || first->status == KERF_TUNE_SKIPPED)
        kerf_text_printf(cells, "%s%s: %s", note[0] ? ", " : "", kerf_tune_status_word(first->status), reason);
    kerf_text_add(cells, "\n");
}

int32_t front_rows(struct kerf_text *cells, const struct tune_report *report, int32_t most, int32_t *ret_cut) {
    int32_t *order = tune_order(report), hidden = 0, count = 0;
    *ret_cut = 0;
    titles(cells, report);
    if (order == NULL) cells->failed = 1;
    for (int32_t m = 0; m < report->front.num; m++, count++)
        row(cells, report, report->front.settings[m], report->front.unbeaten[m]);
    for (int32_t i = 0; order && i < report->state->space->num_settings; i++) {
        if (tune_is_on_front(report, order[i])) continue;
        if (report->answer.settings[order[i]].status == KERF_TUNE_NOT_MEASURED)
            hidden++;
        else if (count++ < most)
            row(cells, report, order[i], NAN);
        else
            ++*ret_cut;
    }
    free(order);
    return hidden;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

void json_front(struct kerf_json *json, const struct tune_report *report) {
    const struct kerf_tune_front *front = &report->front;
    if (!report->has_front) {
        kerf_json_null(json, "pareto");
        return;
    }
    kerf_json_open(json, "pareto", '{');
    kerf_json_string(json, "objective", report->second);
    kerf_json_boolean(json, "maximize", report->maximizes_second);
    kerf_json_number(json, "probability", front->probability);
    kerf_json_number(json, "noise", front->noise);
    kerf_json_open(json, "front", '[');
    for (int32_t m = 0; m < front->num; m++) {
        int32_t setting = front->settings[m];
        kerf_json_open(json, NULL, '{');
        kerf_tune_setting_json(json, "setting", report->state->space, setting);
        kerf_json_number(json, "mean", report->answer.settings[setting].mean);
        kerf_json_number(json, "second", second_of(report, setting)->mean);
        kerf_json_number(json, "unbeaten", front->unbeaten[m]);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    kerf_json_close(json, '}');
}

/* ---- The picture ------------------------------------------------------------------------------------------------- */

struct point {
    double x, y;
    int32_t setting, is_member;
};

static int by_x(const void *a, const void *b) {
    const struct point *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->setting > q->setting) - (p->setting < q->setting);
}

static enum kerf_unit unit_of(const char *unit) {
    return unit[0] == 's' ? KERF_UNIT_SECONDS : unit[0] == 'B' ? KERF_UNIT_BYTES : KERF_UNIT_NONE;
}

int tune_front_scatter(const struct tune_report *report, struct sketch *sketch, struct kerf_panel *ret_panel) {
    const struct kerf_tune_space *space = report->state->space;
    const struct kerf_study_request *request = report->state->request;
    size_t all = (size_t)space->num_settings, count = 0;
    struct point *points = sketch_alloc(sketch, all, sizeof *points);
    double *xs = sketch_alloc(sketch, all, sizeof *xs), *ys = sketch_alloc(sketch, 2 * all, sizeof *ys);
    const char **names = sketch_alloc(sketch, all, sizeof *names);
    struct kerf_chart_row *rows = sketch_alloc(sketch, 2, sizeof *rows);
    struct kerf_text first = {0};
    /* where more of the first is better, what it costs is on the x axis, so that the front rises in steps */
    int is_turned = request->maximize && !report->maximizes_second;
    for (int32_t i = 0; !sketch->failed && i < space->num_settings; i++) {
        const struct kerf_tune_estimate *one = &report->answer.settings[i], *other = second_of(report, i);
        if (one->status != KERF_TUNE_MEASURED || !(one->mean >= 0) || !(other->mean >= 0)) continue;
        points[count++] = (struct point){is_turned ? other->mean : one->mean, is_turned ? one->mean : other->mean, i,
                                         tune_is_on_front(report, i)};
    }
    if (sketch->failed || count == 0) return 0;
    qsort(points, count, sizeof *points, by_x);
    for (size_t i = 0; i < count; i++) {
        struct kerf_text name = {0};
        kerf_tune_setting_write(space, points[i].setting, &name);
        names[i] = sketch_text(sketch, &name);
        xs[i] = points[i].x;
        ys[i] = points[i].is_member ? points[i].y : NAN;
        ys[count + i] = points[i].is_member ? NAN : points[i].y;
    }
    rows[0] = (struct kerf_chart_row){"Pareto front", NULL, ys, NULL};
    rows[1] = (struct kerf_chart_row){"other settings", NULL, ys + count, NULL};
    words_first(&first, report);
    const char *one = sketch_text(sketch, &first), *unit = kerf_study_request_unit(request);
    *ret_panel = (struct kerf_panel){
        .kind = KERF_PANEL_SCATTER,
        .title = sketch_printf(sketch, "%s and %s of the settings that were measured", one, report->second),
        .x_label = is_turned ? report->second : one,
        .y_label = is_turned ? one : report->second,
        .x_unit = unit_of(is_turned ? kerf_study_second_unit(report->second) : unit),
        .unit = unit_of(is_turned ? unit : kerf_study_second_unit(report->second)),
        .rows = rows,
        .num_rows = count > (size_t)report->front.num ? 2 : 1,
        .num_joined = !(request->maximize && report->maximizes_second),
        .xs = xs,
        .num_xs = (int32_t)count,
        .x_names = names};
    return !sketch->failed;
}
