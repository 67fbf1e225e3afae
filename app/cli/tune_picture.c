/* SPDX-License-Identifier: Apache-2.0 */
/* A study as a picture: the surface of its settings as a heat map, and the best of them with their intervals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "cli/tune_print.h"

/* ---- The surface ----------------------------------------------------------------------------------------------- */

enum { VALUES_MAX = 64, PARAMS_MAX = 64 };

/* The first two parameters with ordered values, else those with more than one value; -1: there is none. */
static void choose_axes(const struct kerf_tune_space *space, int32_t *across, int32_t *down) {
    int32_t axes[2] = {-1, -1}, count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t p = 0; p < space->num_params && count < 2; p++) {
            int is_ordered = space->params[p].kind == KERF_TUNE_INTEGER || space->params[p].numbers;
            if (is_ordered == (pass == 0) && space->params[p].num_values > 1) axes[count++] = p;
        }
    *across = axes[0];
    *down = axes[1];
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
    choose_axes(space, &across, &down);
    if (report->answer.best < 0 || across < 0 || space->num_params > PARAMS_MAX) return 0;
    int32_t columns = space->params[across].num_values, rows_count = down < 0 ? 1 : space->params[down].num_values;
    if (columns > VALUES_MAX || rows_count > VALUES_MAX) return 0;
    size_t cells_count = (size_t)columns * (size_t)rows_count;
    struct kerf_chart_row *rows = sketch_alloc(sketch, (size_t)rows_count, sizeof *rows);
    struct kerf_matrix_cell *cells = sketch_alloc(sketch, cells_count, sizeof *cells);
    double *ratios = sketch_alloc(sketch, cells_count, sizeof *ratios);
    const char **names = sketch_alloc(sketch, (size_t)columns, sizeof *names);
    if (sketch->failed || !has_ratios(report)) return 0;
    memcpy(values, space->values + (size_t)report->answer.recommended * (size_t)space->num_params,
           (size_t)space->num_params * sizeof *values);
    double most = FAR * largest_ratio(report);
    for (int32_t c = 0; c < columns; c++) names[c] = kerf_tune_value_word(&space->params[across], c);
    for (int32_t r = 0; r < rows_count; r++) {
        rows[r] = (struct kerf_chart_row){.label = down < 0 ? "" : kerf_tune_value_word(&space->params[down], r),
                                          .values = ratios + (size_t)r * (size_t)columns};
        for (int32_t c = 0; c < columns; c++) {
            size_t at = (size_t)r * (size_t)columns + (size_t)c;
            values[across] = c;
            if (down >= 0) values[down] = r;
            int32_t setting = kerf_tune_space_find(space, values);
            ratios[at] = NAN;
            cells[at].state = KERF_CELL_OUTSIDE;
            if (setting >= 0) fill_cell(report, sketch, setting, most, &ratios[at], &cells[at]);
        }
    }
    *ret_panel = (struct kerf_panel){.kind = KERF_PANEL_MATRIX,
                                     .x_label = space->params[across].name,
                                     .y_label = down < 0 ? NULL : space->params[down].name,
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

/* ---- The picture ----------------------------------------------------------------------------------------------- */

enum { BARS = 8 };

static struct kerf_chart_row bar(const struct tune_report *report, struct sketch *sketch, int32_t setting) {
    const struct kerf_tune_estimate *estimate = &report->answer.settings[setting];
    const struct kerf_study_request *request = report->state->request;
    struct kerf_text label = {0}, note = {0};
    double *value = sketch_alloc(sketch, 1, sizeof *value);
    kerf_tune_setting_write(report->state->space, setting, &label);
    words_objective(&note, request, estimate->mean);
    if (tune_is_interval(estimate->interval)) {
        kerf_text_add(&note, " (");
        words_interval(&note, request, estimate->interval, " to ");
        kerf_text_add(&note, ")");
    }
    if (!isnan(estimate->probability_within)) {
        kerf_text_add(&note, ", ");
        words_chance(&note, estimate->probability_within);
    }
    if (value) *value = fmax(estimate->mean, 0);
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
    static const char *const part = "mean";
    const char *unit = kerf_study_request_unit(report->state->request);
    struct sketch sketch = {.failed = 0};
    struct kerf_chart_row bars[BARS];
    struct kerf_panel panels[2];
    int32_t num_panels = tune_surface(report, &sketch, &panels[0]);
    struct kerf_text heading = {0};
    kerf_text_add(&heading, "The best, and how likely each is within ");
    words_share(&heading, report->state->request->within);
    kerf_text_add(&heading, " of the best of all");
    if (num_panels) panels[0].title = "All settings, as multiples of the best";
    panels[num_panels++] = (struct kerf_panel){.kind = KERF_PANEL_BARS,
                                               .title = sketch_text(&sketch, &heading),
                                               .unit = unit[0] == 's'   ? KERF_UNIT_SECONDS
                                                       : unit[0] == 'B' ? KERF_UNIT_BYTES
                                                                        : KERF_UNIT_NONE,
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
