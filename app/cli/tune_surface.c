/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tune_surface.h"

#include <math.h>
#include <string.h>

enum { VALUES_MAX = 64, PARAMS_MAX = 64 };

/* The first two parameters whose values have an order, else whatever has more than one value. across: -1: none. */
static void choose_axes(const struct kerf_tune_space *space, int32_t *across, int32_t *down) {
    int32_t axes[2] = {-1, -1}, count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t p = 0; p < space->num_params && count < 2; p++) {
            int is_ordered = space->params[p].kind == KERF_TUNE_INTEGER;
            if (is_ordered == (pass == 0) && space->params[p].num_values > 1) axes[count++] = p;
        }
    *across = axes[0];
    *down = axes[1];
}

/* What it takes; of a setting whose runs were all stopped, what it takes more than. */
static double shown(const struct kerf_tune_estimate *estimate) {
    return estimate->status == KERF_TUNE_ALL_CENSORED ? estimate->bound : estimate->mean;
}

static double ratio(const struct tune_report *report, int32_t setting) {
    const struct kerf_tune_answer *answer = &report->answer;
    double best = answer->settings[answer->best].mean, mean = shown(&answer->settings[setting]);
    double value = report->state->request->maximize ? best / mean : mean / best;
    return value > 0 && isfinite(value) ? value : NAN;
}

/* Of a setting far from all that was measured a model may expect anything: over so many times the largest ratio that
 * runs have shown is no number to tell. */
static const double FAR = 2;

static double largest_ratio(const struct tune_report *report) {
    double largest = 1;
    for (int32_t i = 0; i < report->state->space->num_settings; i++) {
        int32_t status = report->answer.settings[i].status;
        if (status == KERF_TUNE_MEASURED || status == KERF_TUNE_ALL_CENSORED) largest = fmax(largest, ratio(report, i));
    }
    return largest;
}

/* Of a program's own numbers, which may be 0 or below, there are no ratios. */
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
    if (estimate->reason[0]) kerf_text_printf(&text, ": %s", estimate->reason);
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
