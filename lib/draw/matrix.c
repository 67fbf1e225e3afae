/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cells of a matrix. A ratio r to the best is log r / log limit of the way along the scale of colours, so that
 * equal factors look equally far apart; what is better than the best is the best, what is above the limit the limit.
 */
#include "draw/matrix.h"

#include <math.h>

const char *const matrix_state_names[MATRIX_STATES] = {"measured", "expected",     "stopped there",
                                                       "failed",   "not measured", "no such setting"};
const char *const matrix_mark_names[MATRIX_MARKS] = {"best", "recommended", "default"};

struct kerf_matrix_cell matrix_cell(const struct kerf_panel *panel, int32_t row, int32_t column) {
    struct kerf_matrix_cell cell = {0};
    if (panel->cells) cell = panel->cells[(int64_t)row * panel->num_xs + column];
    if (matrix_has_value(cell.state) && isnan(panel->rows[row].values[column])) cell.state = KERF_CELL_OUTSIDE;
    if (cell.state == KERF_CELL_OUTSIDE) cell.marks = 0;
    return cell;
}

static int is_cell(const struct kerf_matrix_cell *cell) {
    return (uint32_t)cell->state < MATRIX_STATES && (uint32_t)cell->marks < 1 << MATRIX_MARKS;
}

/* What is wrong with a cell, NULL: nothing. */
static const char *fault_of(const struct kerf_panel *panel, int32_t row, int32_t column) {
    const struct kerf_matrix_cell *cell = panel->cells ? &panel->cells[(int64_t)row * panel->num_xs + column] : NULL;
    if (cell && (uint32_t)cell->state >= MATRIX_STATES) return "its state is unknown";
    if (cell && (uint32_t)cell->marks >= 1 << MATRIX_MARKS) return "its marks are unknown";
    if (cell && !matrix_has_value(cell->state)) return NULL;
    double ratio = panel->rows[row].values[column];
    return isnan(ratio) || (ratio > 0 && !isinf(ratio)) ? NULL : "its ratio has to be finite and above 0, or NAN";
}

int32_t matrix_check(const struct kerf_panel *panel, int32_t number, struct kerf_error *err) {
    if (panel->num_rows < 0 || panel->num_xs < 0 || (panel->num_rows > 0 && panel->rows == NULL) ||
        (panel->num_xs > 0 && panel->x_names == NULL))
        return kerf_error_set(err, KERF_EINVALID, "panel %d: its rows or the names of its columns are not there",
                              number);
    if (panel->num_rows > MATRIX_MAX || panel->num_xs > MATRIX_MAX)
        return kerf_error_set(err, KERF_EINVALID, "panel %d: a matrix has at most %d x %d cells, not %d x %d", number,
                              MATRIX_MAX, MATRIX_MAX, panel->num_rows, panel->num_xs);
    if (panel->limit != 0 && !(panel->limit > 1 && isfinite(panel->limit)))
        return kerf_error_set(err, KERF_EINVALID, "panel %d: the limit of a matrix has to be above 1, or 0", number);
    for (int32_t i = 0; i < panel->num_rows; i++) {
        if (panel->num_xs > 0 && panel->rows[i].values == NULL)
            return kerf_error_set(err, KERF_EINVALID, "panel %d: row %d has no values", number, i + 1);
        for (int32_t k = 0; k < panel->num_xs; k++) {
            const char *fault = fault_of(panel, i, k);
            if (fault)
                return kerf_error_set(err, KERF_EINVALID, "panel %d, row %d, cell %d: %s", number, i + 1, k + 1, fault);
        }
    }
    return KERF_OK;
}

struct matrix_seen matrix_look(const struct kerf_panel *panel) {
    const double least = 1.2, most = 3; /* the limit where none is set */
    struct matrix_seen seen = {.highest = 1};
    for (int32_t i = 0; i < panel->num_rows; i++)
        for (int32_t k = 0; k < panel->num_xs; k++) {
            struct kerf_matrix_cell cell = matrix_cell(panel, i, k);
            seen.states |= 1 << cell.state;
            seen.marks |= cell.marks;
            if (matrix_has_value(cell.state)) seen.highest = fmax(seen.highest, panel->rows[i].values[k]);
        }
    seen.limit = panel->limit > 0 ? panel->limit : fmin(fmax(seen.highest, least), most);
    return seen;
}

double matrix_share(double ratio, double limit) { return ratio > 1 ? ratio < limit ? log(ratio) / log(limit) : 1 : 0; }

void matrix_number(char text[CHART_NUMBER], double ratio, int32_t decimals) {
    int32_t most = ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0;
    if (decimals > most) decimals = most;
    if (ratio >= 9999.5)
        chart_number(text, ratio, KERF_UNIT_NONE);
    else
        chart_number_like(text, ratio, KERF_UNIT_NONE, fmax(ratio, 1), decimals == 2 ? 0.01 : decimals == 1 ? 0.1 : 1);
}

void matrix_cell_words(struct kerf_text *out, const struct kerf_panel *panel, int32_t row, int32_t column) {
    struct kerf_matrix_cell cell = matrix_cell(panel, row, column);
    if (*words(panel->y_label)) kerf_text_printf(out, "%s ", panel->y_label);
    kerf_text_printf(out, "%s, ", words(panel->rows[row].label));
    if (*words(panel->x_label)) kerf_text_printf(out, "%s ", panel->x_label);
    kerf_text_printf(out, "%s: ", words(panel->x_names[column]));
    if (matrix_has_value(cell.state)) {
        char number[CHART_NUMBER];
        matrix_number(number, panel->rows[row].values[column], 2);
        kerf_text_printf(out, "%s%s, ", cell.state == KERF_CELL_STOPPED ? "more than " : "", number);
    }
    kerf_text_add(out, matrix_state_names[cell.state]);
    for (int32_t m = 0; m < MATRIX_MARKS; m++)
        if (cell.marks >> m & 1) kerf_text_printf(out, ", %s", matrix_mark_names[m]);
}

void matrix_describe(struct kerf_text *out, const struct kerf_panel *panel) {
    int32_t count[MATRIX_STATES] = {0};
    for (int32_t i = 0; i < panel->num_rows; i++)
        for (int32_t k = 0; k < panel->num_xs; k++) count[matrix_cell(panel, i, k).state]++;
    kerf_text_add(out, " Cells:");
    for (int32_t s = 0; s < KERF_CELL_OUTSIDE; s++)
        if (count[s] > 0) kerf_text_printf(out, " %d %s,", count[s], matrix_state_names[s]);
    kerf_text_printf(out, " %d empty.", count[KERF_CELL_OUTSIDE]);
    for (int32_t i = 0; i < panel->num_rows; i++)
        for (int32_t k = 0; k < panel->num_xs; k++) {
            if (matrix_cell(panel, i, k).marks == 0) continue;
            kerf_text_add(out, " ");
            matrix_cell_words(out, panel, i, k);
            kerf_text_add(out, ".");
        }
}

/* ---- Whiskers ---------------------------------------------------------------------------------------------------- */

int32_t whiskers_check(const struct kerf_panel *panel, int32_t number, struct kerf_error *err) {
    if (panel->num_rows < 0 || (panel->num_rows > 0 && panel->rows == NULL) || panel->num_parts != 1 || !panel->parts)
        return kerf_error_set(err, KERF_EINVALID, "panel %d: its bars or its one part are not there", number);
    for (int32_t i = 0; i < panel->num_rows; i++) {
        const double *of = panel->rows[i].values;
        int good = of && isfinite(of[0]) && of[0] >= 0;
        if (good && !(isnan(of[1]) && isnan(of[2]))) good = of[1] >= 0 && of[1] <= of[2] && isfinite(of[2]);
        if (good && panel->cells) good = is_cell(&panel->cells[i]);
        if (!good)
            return kerf_error_set(
                err, KERF_EINVALID,
                "panel %d, bar %d: its value has to be finite and not negative, and so its interval, or "
                "that NAN",
                number, i + 1);
    }
    return KERF_OK;
}
