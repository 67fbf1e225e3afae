/* SPDX-License-Identifier: Apache-2.0 */
/* A study as a picture: the surface of its settings as a heat map, and the best of them with their intervals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "cli/tune_print.h"

/* ---- The surface ----------------------------------------------------------------------------------------------- */

enum { VALUES_MAX = 64, PARAMS_MAX = 64 };

/* The first two parameters with ordered values that the slice leaves free, else those with more than one value; -1: there is
 * none. */
static void choose_axes(const struct tune_report *report, int32_t *across, int32_t *down) {
    const struct kerf_tune_space *space = report->state->space;
    int32_t axes[2] = {-1, -1}, count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t p = 0; p < space->num_params && count < 2; p++) {
            int is_ordered = space->params[p].kind == KERF_TUNE_INTEGER || space->params[p].numbers;
            if (report->slice && report->slice[p] >= 0) continue;
            if (is_ordered == (pass == 0) && space->params[p].num_values > 1) axes[count++] = p;
        }
    *across = axes[0];
    *down = axes[1];
}

static int32_t value_of(const struct kerf_tune_space *space, int32_t setting, int32_t param) {
    return space->values[(int64_t)setting * space->num_params + param];
}

/* Whether the setting has the values that the slice names, with an effect. */
static int is_in_slice(const struct kerf_tune_space *space, const int32_t *slice, int32_t setting) {
    for (int32_t p = 0; p < space->num_params; p++)
        if (slice[p] >= 0 && (value_of(space, setting, p) != slice[p] || !kerf_tune_setting_uses(space, setting, p)))
            return 0;
    return 1;
}

/* Whether the setting is on the surface with these values of the parameters that are not its axes. */
static int is_on_surface(const struct tune_report *report, const int32_t values[PARAMS_MAX], int32_t setting) {
    const struct kerf_tune_space *space = report->state->space;
    int32_t across, down;
    choose_axes(report, &across, &down);
    for (int32_t p = 0; p < space->num_params; p++)
        if (p != across && p != down && value_of(space, setting, p) != values[p]) return 0;
    return report->slice == NULL || is_in_slice(space, report->slice, setting);
}

/* The value of every parameter: the slice's, else the setting's. */
static void values_beside(const struct tune_report *report, int32_t setting, int32_t values[PARAMS_MAX]) {
    const struct kerf_tune_space *space = report->state->space;
    for (int32_t p = 0; p < space->num_params; p++)
        values[p] = report->slice && report->slice[p] >= 0 ? report->slice[p] : value_of(space, setting, p);
}

/* Beside the slice's values those of the recommendation. If no setting has them together, those of the best setting in
 * the slice. */
static void slice_values(const struct tune_report *report, int32_t values[PARAMS_MAX]) {
    const struct kerf_tune_space *space = report->state->space;
    values_beside(report, report->answer.recommended, values);
    if (report->slice == NULL || space->has_unused == KERF_TUNE_GROWS) return;
    int32_t *order = tune_order(report), best = -1;
    for (int32_t i = 0; order && i < space->num_settings; i++) {
        if (is_on_surface(report, values, order[i])) best = report->answer.recommended;
        if (best == report->answer.recommended) break;
        if (best < 0 && is_in_slice(space, report->slice, order[i])) best = order[i];
    }
    if (best >= 0) values_beside(report, best, values);
    free(order);
}

/* Whether the parameter has an effect in a setting of the surface. */
static int has_effect(const struct tune_report *report, const int32_t values[PARAMS_MAX], int32_t param) {
    const struct kerf_tune_space *space = report->state->space;
    if (space->has_unused != KERF_TUNE_HAS_UNUSED) return 1;
    for (int32_t i = 0; i < space->num_settings; i++)
        if (kerf_tune_setting_uses(space, i, param) && is_on_surface(report, values, i)) return 1;
    return 0;
}

/* "with threads=4,kv=f16", of the parameters that are neither across nor down; 0: there are none. */
static int words_slice(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_tune_space *space = report->state->space;
    int32_t across, down, values[PARAMS_MAX], count = 0;
    if (report->answer.best < 0 || space->num_params > PARAMS_MAX) return 0;
    choose_axes(report, &across, &down);
    slice_values(report, values);
    for (int32_t p = 0; p < space->num_params; p++) {
        if (p == across || p == down || space->params[p].num_values < 2 || !has_effect(report, values, p)) continue;
        kerf_text_printf(out, "%s%s=%s", count++ ? "," : "with ", space->params[p].name,
                         kerf_tune_value_word(&space->params[p], values[p]));
    }
    return count > 0;
}

void words_shown(struct kerf_text *out, const struct tune_report *report) {
    struct kerf_text slice = {0};
    if (words_slice(&slice, report))
        kerf_text_printf(out, "Shown %s%s; --slice %s shows others.\n", slice.data ? slice.data : "",
                         report->slice ? "" : ", as recommended", report->slice ? "with other values" : "NAME=VALUE");
    if (slice.failed) out->failed = 1;
    kerf_text_free(&slice);
}

/* A slice leaves a parameter to draw over, and has a setting. */
static int32_t check_slice(const struct kerf_tune_space *space, const int32_t *slice, const char *text,
                           struct kerf_error *err) {
    int32_t left = 0, setting = 0;
    for (int32_t p = 0; p < space->num_params; p++) left += slice[p] < 0 && space->params[p].num_values > 1;
    if (left == 0)
        return kerf_error_set(err, KERF_EINVALID, "--slice leaves no parameter to draw the surface over; name fewer");
    if (space->has_unused == KERF_TUNE_GROWS) return KERF_OK; /* most of its settings are not listed */
    while (setting < space->num_settings && !is_in_slice(space, slice, setting)) setting++;
    if (setting < space->num_settings) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "--slice '%.64s': no setting has these values (a condition, --where or of a parameter, "
                          "excludes them)",
                          text);
}

int32_t tune_slice_read(const char *text, const struct kerf_tune_space *space, const struct render *render,
                        int32_t **ret_slice, struct kerf_error *err) {
    const char *whole = text;
    int32_t *slice = malloc((size_t)space->num_params * sizeof *slice), code = KERF_OK;
    if (slice == NULL) return error_no_memory(err, "a slice");
    for (int32_t p = 0; p < space->num_params; p++) slice[p] = -1;
    if (*text == 0)
        code = kerf_error_set(err, KERF_EINVALID, "--slice needs NAME=VALUE, such as --slice %s=%s",
                              space->params[0].name, kerf_tune_value_word(&space->params[0], 0));
    else if (!render_writes(render, "picture") && !render_writes(render, "table"))
        code = kerf_error_set(err, KERF_EINVALID,
                              "--slice says what a picture or the table shows: also give -o surface.svg");
    while (*text && code == KERF_OK) {
        size_t length = strcspn(text, ","), name = strcspn(text, "="), p = 0;
        while (p < (size_t)space->num_params &&
               !(strlen(space->params[p].name) == name && strncmp(space->params[p].name, text, name) == 0))
            p++;
        if (name >= length)
            code = kerf_error_set(err, KERF_ESYNTAX, "--slice '%.*s' must be NAME=VALUE, such as --slice %s=%s",
                                  (int)length, text, space->params[0].name, kerf_tune_value_word(&space->params[0], 0));
        else if (p == (size_t)space->num_params)
            code = kerf_error_set(err, KERF_EUNKNOWN, "--slice: no parameter is called '%.*s'", (int)name, text);
        else if (slice[p] >= 0)
            code = kerf_error_set(err, KERF_EINVALID, "--slice gives %s twice", space->params[p].name);
        if (code != KERF_OK) break;
        const struct kerf_tune_param *param = &space->params[p];
        for (int32_t v = 0; v < param->num_values; v++) {
            const char *word = kerf_tune_value_word(param, v);
            if (strlen(word) == length - name - 1 && strncmp(word, text + name + 1, length - name - 1) == 0)
                slice[p] = v;
        }
        if (slice[p] < 0)
            code = kerf_error_set(err, KERF_EUNKNOWN, "--slice '%.*s': %s has no such value", (int)length, text,
                                  param->name);
        text += length + (text[length] == ',');
    }
    if (code == KERF_OK) code = check_slice(space, slice, whole, err);
    if (code == KERF_OK)
        *ret_slice = slice;
    else
        free(slice);
    return code;
}

/* Its mean; for a setting whose runs were all stopped, the longest time after which one was stopped. */
static double shown(const struct kerf_tune_estimate *estimate) {
    return estimate->status == KERF_TUNE_ALL_CENSORED ? estimate->bound : estimate->mean;
}

static double ratio(const struct tune_report *report, int32_t setting) {
    const struct kerf_tune_answer *answer = &report->answer;
    double best = answer->settings[answer->best].mean, mean = shown(&answer->settings[setting]);
    double value = report->state->request->maximize ? best / mean : mean / best;
    return value > 0 && isfinite(value) ? value : NAN;
}

/* Far from all measurements the model may expect anything: expected ratios above FAR times the largest measured one are
 * not shown. */
static const double FAR = 2;

static double largest_ratio(const struct tune_report *report) {
    double largest = 1;
    for (int32_t i = 0; i < report->state->space->num_settings; i++) {
        int32_t status = report->answer.settings[i].status;
        if (status == KERF_TUNE_MEASURED || status == KERF_TUNE_ALL_CENSORED) largest = fmax(largest, ratio(report, i));
    }
    return largest;
}

/* A program's own numbers may be 0 or below: then there are no ratios. */
static int has_ratios(const struct tune_report *report) {
    for (int32_t i = 0; i < report->state->space->num_settings; i++)
        if (report->answer.settings[i].status == KERF_TUNE_MEASURED && !(report->answer.settings[i].mean > 0)) return 0;
    return 1;
}

static int32_t cell_state(int32_t status) {
    switch (status) {
    case KERF_TUNE_MEASURED: return KERF_CELL_MEASURED;
    case KERF_TUNE_ALL_CENSORED: return KERF_CELL_STOPPED;
    case KERF_TUNE_NOT_MEASURED: return KERF_CELL_EXPECTED;
    default: return KERF_CELL_FAILED;
    }
}

static const char *tip(const struct tune_report *report, struct sketch *sketch, int32_t setting, int32_t state) {
    const struct kerf_tune_estimate *estimate = &report->answer.settings[setting];
    const struct kerf_study_request *request = report->state->request;
    struct kerf_text text = {0};
    kerf_tune_setting_write(report->state->space, setting, &text);
    kerf_text_printf(&text, ": %s", kerf_tune_status_word(estimate->status));
    if (state == KERF_CELL_MEASURED || state == KERF_CELL_STOPPED || state == KERF_CELL_EXPECTED) {
        kerf_text_add(&text, state == KERF_CELL_STOPPED    ? ", more than "
                             : state == KERF_CELL_EXPECTED ? ", expected: "
                                                           : ", ");
        words_objective(&text, request, shown(estimate));
    }
    if (tune_is_interval(estimate->interval) && estimate->status == KERF_TUNE_MEASURED) {
        kerf_text_add(&text, " (");
        words_interval(&text, request, estimate->interval, " to ");
        kerf_text_add(&text, ")");
    }
    if (estimate->observations)
        kerf_text_printf(&text, ", %d run%s", estimate->observations, estimate->observations == 1 ? "" : "s");
    const char *reason = kerf_study_reason(report->state, report->answer.settings, setting);
    if (reason[0]) kerf_text_printf(&text, ": %s", reason);
    return sketch_text(sketch, &text);
}

static void fill_cell(const struct tune_report *report, struct sketch *sketch, int32_t setting, double most,
                      double *value, struct kerf_matrix_cell *cell) {
    const struct kerf_tune_answer *answer = &report->answer;
    *value = ratio(report, setting);
    cell->state = cell_state(answer->settings[setting].status);
    if (cell->state == KERF_CELL_EXPECTED && !(*value <= most)) cell->state = KERF_CELL_UNKNOWN;
    cell->marks = (setting == answer->best ? KERF_CELL_BEST : 0) |
                  (setting == answer->recommended && setting != answer->best ? KERF_CELL_RECOMMENDED : 0) |
                  (setting == report->state->space->default_setting ? KERF_CELL_DEFAULT : 0);
    cell->tip = tip(report, sketch, setting, cell->state);
}

int tune_surface(const struct tune_report *report, struct sketch *sketch, struct kerf_panel *ret_panel) {
    const struct kerf_tune_space *space = report->state->space;
    int32_t across, down, values[PARAMS_MAX];
    choose_axes(report, &across, &down);
    if (report->answer.best < 0 || down < 0 || space->num_params > PARAMS_MAX) return 0;
    int32_t columns = space->params[across].num_values, rows_count = space->params[down].num_values;
    if (columns > VALUES_MAX || rows_count > VALUES_MAX) return 0;
    size_t cells_count = (size_t)columns * (size_t)rows_count;
    struct kerf_chart_row *rows = sketch_alloc(sketch, (size_t)rows_count, sizeof *rows);
    struct kerf_matrix_cell *cells = sketch_alloc(sketch, cells_count, sizeof *cells);
    double *ratios = sketch_alloc(sketch, cells_count, sizeof *ratios);
    const char **names = sketch_alloc(sketch, (size_t)columns, sizeof *names);
    if (sketch->failed || !has_ratios(report)) return 0;
    slice_values(report, values);
    double most = FAR * largest_ratio(report);
    for (int32_t c = 0; c < columns; c++) names[c] = kerf_tune_value_word(&space->params[across], c);
    for (int32_t r = 0; r < rows_count; r++) {
        rows[r] = (struct kerf_chart_row){.label = kerf_tune_value_word(&space->params[down], r),
                                          .values = ratios + (size_t)r * (size_t)columns};
        for (int32_t c = 0; c < columns; c++) {
            size_t at = (size_t)r * (size_t)columns + (size_t)c;
            values[across] = c;
            values[down] = r;
            int32_t setting = kerf_tune_space_find(space, values);
            ratios[at] = NAN;
            cells[at].state = setting == KERF_TUNE_NOT_MET ? KERF_CELL_UNKNOWN : KERF_CELL_OUTSIDE;
            if (setting >= 0) fill_cell(report, sketch, setting, most, &ratios[at], &cells[at]);
        }
    }
    *ret_panel = (struct kerf_panel){.kind = KERF_PANEL_MATRIX,
                                     .x_label = space->params[across].name,
                                     .y_label = space->params[down].name,
                                     .rows = rows,
                                     .num_rows = rows_count,
                                     .x_names = names,
                                     .num_xs = columns,
                                     .cells = cells,
                                     .limit = 2.5,
                                     .limit_label = report->state->request->maximize ? "times less than the best"
                                                                                     : "times the best"};
    return !sketch->failed;
}

static const char *const part = "mean"; /* of bars */

/* ---- One parameter -------------------------------------------------------------------------------------------- */

static enum kerf_unit unit_of(const struct tune_report *report) {
    const char *unit = kerf_study_request_unit(report->state->request);
    return unit[0] == 's' ? KERF_UNIT_SECONDS : unit[0] == 'B' ? KERF_UNIT_BYTES : KERF_UNIT_NONE;
}

/* Whether there is an interval, and it is not a point, as of runs that all agree. */
static int has_width(const struct kerf_tune_estimate *estimate) {
    return tune_is_interval(estimate->interval) && estimate->interval[0] < estimate->interval[1];
}

/* "470 ms (461 ms to 480 ms)" */
static const char *note_of(const struct tune_report *report, struct sketch *sketch, int32_t setting, int32_t state) {
    const struct kerf_tune_estimate *estimate = &report->answer.settings[setting];
    const struct kerf_study_request *request = report->state->request;
    struct kerf_text note = {0};
    if (state == KERF_CELL_FAILED || state == KERF_CELL_UNKNOWN) return "";
    words_objective(&note, request, shown(estimate));
    if (state != KERF_CELL_STOPPED && has_width(estimate)) {
        kerf_text_add(&note, " (");
        words_interval(&note, request, estimate->interval, " to ");
        kerf_text_add(&note, ")");
    }
    return sketch_text(sketch, &note);
}

/* The settings along the only axis, [values of the axis], -1 where there is none; NULL: there are two axes, or none. */
static int32_t *only_axis(const struct tune_report *report, struct sketch *sketch, int32_t *ret_axis) {
    const struct kerf_tune_space *space = report->state->space;
    int32_t down, values[PARAMS_MAX];
    if (report->answer.best < 0 || space->num_params > PARAMS_MAX || !has_ratios(report)) return NULL;
    choose_axes(report, ret_axis, &down);
    if (*ret_axis < 0 || down >= 0) return NULL;
    int32_t count = space->params[*ret_axis].num_values;
    int32_t *settings = sketch_alloc(sketch, (size_t)count, sizeof *settings);
    slice_values(report, values);
    for (int32_t v = 0; settings && v < count; v++) {
        values[*ret_axis] = v;
        settings[v] = kerf_tune_space_find(space, values);
    }
    return settings;
}

int tune_whiskers(const struct tune_report *report, struct sketch *sketch, struct kerf_panel *ret_panel) {
    int32_t axis, *settings = only_axis(report, sketch, &axis), count = 0;
    if (settings == NULL || report->state->space->params[axis].num_values > VALUES_MAX) return 0;
    const struct kerf_tune_param *param = &report->state->space->params[axis];
    size_t most_rows = (size_t)param->num_values;
    struct kerf_chart_row *rows = sketch_alloc(sketch, most_rows, sizeof *rows);
    struct kerf_matrix_cell *cells = sketch_alloc(sketch, most_rows, sizeof *cells);
    double *values = sketch_alloc(sketch, 3 * most_rows, sizeof *values), most = FAR * largest_ratio(report), ratio_of;
    for (int32_t v = 0; !sketch->failed && v < param->num_values; v++) {
        if (settings[v] < 0) continue;
        const struct kerf_tune_estimate *estimate = &report->answer.settings[settings[v]];
        double *of = values + 3 * (size_t)count;
        fill_cell(report, sketch, settings[v], most, &ratio_of, &cells[count]);
        int32_t state = cells[count].state;
        int has_value = state == KERF_CELL_MEASURED || state == KERF_CELL_EXPECTED || state == KERF_CELL_STOPPED;
        int has_interval = has_value && state != KERF_CELL_STOPPED && has_width(estimate);
        of[0] = has_value ? fmax(shown(estimate), 0) : 0;
        of[1] = has_interval ? fmax(estimate->interval[0], 0) : NAN;
        of[2] = has_interval ? fmax(estimate->interval[1], 0) : NAN;
        rows[count++] = (struct kerf_chart_row){
            .label = kerf_tune_value_word(param, v), .values = of, .note = note_of(report, sketch, settings[v], state)};
    }
    *ret_panel = (struct kerf_panel){.kind = KERF_PANEL_WHISKERS,
                                     .y_label = param->name,
                                     .unit = unit_of(report),
                                     .rows = rows,
                                     .num_rows = count,
                                     .parts = &part,
                                     .num_parts = 1,
                                     .cells = cells};
    return !sketch->failed && count > 1;
}

/* One parameter of ordered values as a curve: what was measured, what is expected, where runs were stopped. */
static int curve(const struct tune_report *report, struct sketch *sketch, struct kerf_panel *ret_panel) {
    enum { CURVES = 3 };
    static const char *const names[CURVES] = {"measured", "expected", "stopped there"};
    static const int32_t states[CURVES] = {KERF_CELL_MEASURED, KERF_CELL_EXPECTED, KERF_CELL_STOPPED};
    int32_t axis, *settings = only_axis(report, sketch, &axis), num_rows = 0;
    if (settings == NULL) return 0;
    const struct kerf_tune_param *param = &report->state->space->params[axis];
    size_t count = (size_t)param->num_values;
    double first = param->numbers ? param->numbers[0] : param->integers ? (double)param->integers[0] : -1;
    if (first < 0) return 0; /* words, or places below 0 */
    double *xs = sketch_alloc(sketch, count, sizeof *xs), most = FAR * largest_ratio(report), unused;
    double *values = sketch_alloc(sketch, 3 * CURVES * count, sizeof *values);
    struct kerf_chart_row *rows = sketch_alloc(sketch, 3 * CURVES, sizeof *rows);
    for (size_t i = 0; values && i < 3 * CURVES * count; i++) values[i] = NAN;
    for (int32_t c = 0; !sketch->failed && c < CURVES; c++) {
        double *of = values + (size_t)num_rows * count;
        int32_t points = 0;
        for (size_t v = 0; v < count; v++) {
            struct kerf_matrix_cell cell = {.state = KERF_CELL_OUTSIDE};
            xs[v] = param->numbers ? param->numbers[v] : (double)param->integers[v];
            if (settings[v] >= 0) fill_cell(report, sketch, settings[v], most, &unused, &cell);
            if (cell.state != states[c]) continue;
            const struct kerf_tune_estimate *estimate = &report->answer.settings[settings[v]];
            of[v] = shown(estimate);
            points++;
            if (cell.state == KERF_CELL_STOPPED || !has_width(estimate)) continue;
            of[count + v] = fmax(estimate->interval[0], 0);
            of[2 * count + v] = estimate->interval[1];
        }
        if (points == 0) continue;
        for (int k = 0; k < 3; k++)
            rows[num_rows + k] = (struct kerf_chart_row){names[c], NULL, of + (size_t)k * count, NULL};
        num_rows += 3;
    }
    *ret_panel = (struct kerf_panel){.kind = KERF_PANEL_INTERVALS,
                                     .x_label = param->name,
                                     .unit = unit_of(report),
                                     .rows = rows,
                                     .num_rows = num_rows,
                                     .xs = xs,
                                     .num_xs = (int32_t)count,
                                     .linear = !(first > 0 && xs && xs[count - 1] / first >= 16)};
    return !sketch->failed && num_rows > 0;
}

/* ---- The picture ----------------------------------------------------------------------------------------------- */

enum { BARS = 8 };

static struct kerf_chart_row bar(const struct tune_report *report, struct sketch *sketch, int32_t setting) {
    const struct kerf_tune_estimate *estimate = &report->answer.settings[setting];
    const struct kerf_study_request *request = report->state->request;
    struct kerf_text label = {0}, note = {0};
    double *value = sketch_alloc(sketch, 3, sizeof *value);
    kerf_tune_setting_write(report->state->space, setting, &label);
    words_objective(&note, request, estimate->mean);
    int known = has_width(estimate);
    if (known) {
        kerf_text_add(&note, " (");
        words_interval(&note, request, estimate->interval, " to ");
        kerf_text_add(&note, ")");
    }
    if (!isnan(estimate->probability_within)) {
        kerf_text_add(&note, ", ");
        words_chance(&note, estimate->probability_within);
    }
    if (value) {
        value[0] = fmax(estimate->mean, 0);
        value[1] = known ? fmax(estimate->interval[0], 0) : NAN;
        value[2] = known ? fmax(estimate->interval[1], 0) : NAN;
    }
    return (struct kerf_chart_row){sketch_text(sketch, &label), NULL, value, sketch_text(sketch, &note)};
}

static int32_t fill_bars(const struct tune_report *report, struct sketch *sketch, struct kerf_chart_row bars[BARS]) {
    int32_t *order = tune_order(report), count = 0;
    if (order == NULL) sketch->failed = 1;
    for (int32_t i = 0; order && i < report->state->space->num_settings && count < BARS; i++) {
        if (report->answer.settings[order[i]].status != KERF_TUNE_MEASURED) break;
        bars[count++] = bar(report, sketch, order[i]);
    }
    free(order);
    return count;
}

static const char *title(const struct tune_report *report, struct sketch *sketch) {
    struct kerf_text text = {0};
    if (report->answer.best < 0)
        kerf_text_add(&text, "Nothing was measured");
    else if (report->has_front)
        kerf_text_printf(&text, "%d settings that no other beats in both", (int)report->front.num);
    else
        kerf_tune_setting_write(report->state->space, report->answer.recommended, &text);
    return sketch_text(sketch, &text);
}

/* The sentences as one paragraph, up to the third: more has no room. */
static const char *subtitle(const struct tune_report *report, struct sketch *sketch) {
    enum { SENTENCES = 3 };
    struct kerf_text words = {0};
    int32_t sentences = 0;
    words_study(&words, report, 0);
    for (char *c = words.data; c && *c; c++)
        if (*c == '\n') *c = ++sentences < SENTENCES && c[1] ? ' ' : 0;
    return sketch_text(sketch, &words);
}

static const char *footer(const struct tune_report *report, struct sketch *sketch) {
    struct kerf_text text = {0};
    kerf_text_printf(&text, "kerf %s", kerf_version());
    if (report->state->id[0]) kerf_text_printf(&text, ", study %s", report->state->id);
    return sketch_text(sketch, &text);
}

int32_t print_tune_picture(struct kerf_text *out, const struct tune_report *report, enum kerf_picture_format format,
                           struct kerf_error *err) {
    struct sketch sketch = {.failed = 0};
    struct kerf_chart_row bars[BARS];
    struct kerf_panel panels[2];
    struct kerf_text heading = {0}, slice = {0};
    const char *with = words_slice(&slice, report) ? " " : "";
    int32_t num_panels = 1;
    if (report->has_front)
        num_panels = tune_front_scatter(report, &sketch, &panels[0]);
    else if (tune_surface(report, &sketch, &panels[0]))
        panels[0].title =
            sketch_printf(&sketch, "All settings%s%s, as multiples of the best", with, slice.data ? slice.data : "");
    else if (curve(report, &sketch, &panels[0]) || tune_whiskers(report, &sketch, &panels[0]))
        panels[0].title = sketch_printf(&sketch, "All settings%s%s, with intervals of %.14g %%", with,
                                        slice.data ? slice.data : "", 100 * report->state->request->confidence);
    else
        num_panels = 0;
    if (slice.failed) sketch.failed = 1;
    kerf_text_free(&slice);
    kerf_text_add(&heading, "The best, and how likely each is within ");
    words_share(&heading, report->state->request->within);
    kerf_text_add(&heading, " of the best of all");
    const char *bars_title = sketch_text(&sketch, &heading);
    if (!report->has_front)
        panels[num_panels++] = (struct kerf_panel){.kind = KERF_PANEL_WHISKERS,
                                                   .title = bars_title,
                                                   .unit = unit_of(report),
                                                   .rows = bars,
                                                   .num_rows = fill_bars(report, &sketch, bars),
                                                   .parts = &part,
                                                   .num_parts = 1};
    const struct kerf_figure figure = {title(report, &sketch), subtitle(report, &sketch), panels, num_panels,
                                       footer(report, &sketch)};
    int32_t code = sketch.failed ? error_no_memory(err, "the picture") : kerf_figure_draw(&figure, format, out, err);
    sketch_free(&sketch);
    return code;
}
