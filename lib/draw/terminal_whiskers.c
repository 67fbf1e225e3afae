/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals for a terminal, one below the other on one scale: "512  |---o--|   470 ms". The scale spans what was measured
 * with its intervals, and what is expected without, unless nothing was measured: an interval that leaves it ends in an arrow.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "draw/matrix.h"

enum { LEAST_COLUMNS = 24, LEAST_PLOT = 8, MOST_LABEL = 24 };

static const char state_signs[MATRIX_STATES] = {'o', '~', '>', 'x', '.', ' '},
                  mark_signs[MATRIX_MARKS] = {'*', '+', '='};

struct whiskers {
    struct kerf_text *out;
    const struct kerf_panel *panel;
    int32_t label, plot, note; /* columns of each; 0: no notes */
    double low, high;
};

static struct kerf_matrix_cell cell_of(const struct kerf_panel *panel, int32_t row) {
    return panel->cells ? panel->cells[row] : (struct kerf_matrix_cell){0};
}

static const char *note_of(const struct kerf_panel *panel, int32_t row, char number[CHART_NUMBER]) {
    if (panel->rows[row].note) return panel->rows[row].note;
    chart_number(number, panel->rows[row].values[0], panel->unit);
    return number;
}

static void find_scale(struct whiskers *whiskers) {
    const struct kerf_panel *panel = whiskers->panel;
    int measured = 0;
    whiskers->low = INFINITY;
    whiskers->high = -INFINITY;
    for (int32_t i = 0; i < panel->num_rows; i++) measured |= cell_of(panel, i).state == KERF_CELL_MEASURED;
    for (int32_t i = 0; i < panel->num_rows; i++) {
        const double *of = panel->rows[i].values;
        int32_t state = cell_of(panel, i).state, wide = (state == KERF_CELL_MEASURED || !measured) && !isnan(of[1]);
        if (!matrix_has_value(state)) continue;
        whiskers->low = fmin(whiskers->low, wide ? fmin(of[0], of[1]) : of[0]);
        whiskers->high = fmax(whiskers->high, wide ? fmax(of[0], of[2]) : of[0]);
    }
    if (!(whiskers->low < whiskers->high)) { /* one value, which stands in the middle, or none */
        double value = isfinite(whiskers->low) ? whiskers->low : 0;
        whiskers->low = 0.9 * value;
        whiskers->high = value > 0 ? 1.1 * value : 1;
    }
}

static void place(struct whiskers *whiskers, int32_t columns) {
    const struct kerf_panel *panel = whiskers->panel;
    char number[CHART_NUMBER];
    int32_t most = columns / 3 < MOST_LABEL ? columns / 3 : MOST_LABEL;
    for (int32_t i = 0; i < panel->num_rows; i++) {
        int32_t label = utf8_columns(words(panel->rows[i].label)), note = utf8_columns(note_of(panel, i, number));
        if (label > whiskers->label) whiskers->label = label < most ? label : most;
        if (note > whiskers->note) whiskers->note = note;
    }
    whiskers->plot = columns - whiskers->label - whiskers->note - 4;
    if (whiskers->plot >= LEAST_PLOT) return;
    whiskers->plot = columns - whiskers->label - 2;
    whiskers->note = 0;
}

static int32_t column_of(const struct whiskers *whiskers, double value) {
    double share = (value - whiskers->low) / (whiskers->high - whiskers->low);
    return (int32_t)(fmin(fmax(share, 0), 1) * (whiskers->plot - 1) + 0.5);
}

/* Fills plot [whiskers->plot]. */
static void draw_plot(const struct whiskers *whiskers, int32_t row, char *plot) {
    const double *of = whiskers->panel->rows[row].values;
    struct kerf_matrix_cell cell = cell_of(whiskers->panel, row);
    memset(plot, ' ', (size_t)whiskers->plot);
    if (cell.state == KERF_CELL_OUTSIDE) return;
    if (!matrix_has_value(cell.state)) {
        plot[0] = state_signs[cell.state];
        return;
    }
    if (!isnan(of[1]) && of[1] < of[2] && of[1] <= whiskers->high && of[2] >= whiskers->low) {
        int32_t from = column_of(whiskers, of[1]), to = column_of(whiskers, of[2]);
        memset(plot + from, '-', (size_t)(to - from + 1));
        plot[from] = of[1] < whiskers->low ? '<' : '|';
        plot[to] = of[2] > whiskers->high ? '>' : '|';
    }
    char sign = state_signs[cell.state];
    for (int m = MATRIX_MARKS; m-- > 0;)
        if (cell.marks >> m & 1) sign = mark_signs[m];
    int32_t at = column_of(whiskers, of[0]), last = whiskers->plot - 1; /* beside an arrow, not on it */
    if (at == 0 && plot[at] == '<') at = 1;
    if (at == last && plot[at] == '>') at = last - 1;
    plot[at] = sign;
}

static void draw_row(const struct whiskers *whiskers, int32_t row, char *plot, int32_t colour) {
    struct kerf_text *out = whiskers->out, label = {0};
    char number[CHART_NUMBER];
    int bold = colour && (cell_of(whiskers->panel, row).marks & KERF_CELL_BEST);
    int32_t width = terminal_word(&label, words(whiskers->panel->rows[row].label), whiskers->label), length;
    draw_plot(whiskers, row, plot);
    kerf_text_add(out, bold ? "\033[1m" : "");
    kerf_text_repeat(out, " ", whiskers->label - width);
    kerf_text_add(out, words(label.data));
    out->failed |= label.failed;
    kerf_text_free(&label);
    const char *note = whiskers->note ? note_of(whiskers->panel, row, number) : "";
    for (length = whiskers->plot; *note == 0 && length > 0 && plot[length - 1] == ' ';) length--;
    if (length > 0) kerf_text_add(out, "  ");
    kerf_text_write(out, plot, (size_t)length);
    if (*note) {
        kerf_text_add(out, "  ");
        terminal_word(out, note, whiskers->note);
    }
    kerf_text_add(out, bold ? "\033[0m\n" : "\n");
}

/* The ends of the scale below its first and last column. */
static void draw_scale(const struct whiskers *whiskers) {
    char low[CHART_NUMBER], high[CHART_NUMBER];
    chart_number(low, whiskers->low, whiskers->panel->unit);
    chart_number(high, whiskers->high, whiskers->panel->unit);
    int32_t gap = whiskers->plot - utf8_columns(low) - utf8_columns(high);
    if (gap < 1) return;
    kerf_text_repeat(whiskers->out, " ", whiskers->label + 2);
    kerf_text_add(whiskers->out, low);
    kerf_text_repeat(whiskers->out, " ", gap);
    kerf_text_printf(whiskers->out, "%s\n", high);
}

static void draw_legend(const struct whiskers *whiskers, int32_t columns) {
    const struct kerf_panel *panel = whiskers->panel;
    int32_t states = 0, marks = 0, at = 0;
    for (int32_t i = 0; i < panel->num_rows; i++) {
        states |= 1 << cell_of(panel, i).state;
        marks |= cell_of(panel, i).marks;
    }
    for (int32_t k = 0; k < MATRIX_STATES - 1 + MATRIX_MARKS; k++) {
        int is_state = k < MATRIX_STATES - 1, m = k - (MATRIX_STATES - 1);
        if (!((is_state ? states >> k : marks >> m) & 1)) continue;
        char sign = is_state ? state_signs[k] : mark_signs[m];
        const char *name = is_state ? matrix_state_names[k] : matrix_mark_names[m];
        int32_t width = 2 + utf8_columns(name);
        if (at > 0 && at + 2 + width > columns) kerf_text_add(whiskers->out, "\n"), at = 0;
        kerf_text_printf(whiskers->out, "%s%c %s", at > 0 ? "  " : "", sign, name);
        at += width + (at > 0 ? 2 : 0);
    }
    kerf_text_add(whiskers->out, "\n");
}

void kerf_whiskers_terminal(struct kerf_text *out, const struct kerf_panel *panel, int32_t columns, int32_t colour) {
    struct whiskers whiskers = {.out = out, .panel = panel};
    if (columns < LEAST_COLUMNS || panel->kind != KERF_PANEL_WHISKERS || panel->num_rows == 0 ||
        whiskers_check(panel, 1, NULL) != KERF_OK)
        return;
    find_scale(&whiskers);
    place(&whiskers, columns);
    char *plot = malloc((size_t)whiskers.plot);
    if (plot == NULL) {
        out->failed = 1;
        return;
    }
    if (*words(panel->y_label)) {
        terminal_word(out, panel->y_label, columns);
        kerf_text_add(out, "\n");
    }
    for (int32_t i = 0; i < panel->num_rows; i++) draw_row(&whiskers, i, plot, colour);
    draw_scale(&whiskers);
    draw_legend(&whiskers, columns);
    free(plot);
}
