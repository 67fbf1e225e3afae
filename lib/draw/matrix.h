/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both drawings of a matrix - pictures and terminals - need: whether it is as the header asks, what is known of a
 * cell, and how pale its ratio is.
 */
#ifndef KERF_DRAW_MATRIX_H
#define KERF_DRAW_MATRIX_H

#include "draw/panel.h"

enum { MATRIX_MAX = 256 /* rows, and cells in a row */, MATRIX_STATES = KERF_CELL_OUTSIDE + 1, MATRIX_MARKS = 3 };

extern const char *const matrix_state_names[MATRIX_STATES], *const matrix_mark_names[MATRIX_MARKS];

struct matrix_seen {
    int32_t states, marks; /* those of all cells: 1 << state; marks, joined */
    double highest;        /* of the ratios, 1 or more */
    double limit;          /* above 1: where the scale of colours ends */
};

int32_t matrix_check(const struct kerf_panel *panel, int32_t number, struct kerf_error *err);
struct matrix_seen matrix_look(const struct kerf_panel *panel);

/* The cell; one without a value that should have one is outside, and what is outside has no marks. */
struct kerf_matrix_cell matrix_cell(const struct kerf_panel *panel, int32_t row, int32_t column);
static inline int matrix_has_value(int32_t state) { return state <= KERF_CELL_STOPPED; }

/* How far from the best to the limit, in logarithms: 0 to 1. */
double matrix_share(double ratio, double limit);

/* Whether a panel of whiskers, whose rows have the states and marks of cells, is as the header asks. */
int32_t whiskers_check(const struct kerf_panel *panel, int32_t number, struct kerf_error *err);

/* "1.00", "12.3", "123": with `decimals`, 0 to 2, at most. */
void matrix_number(char text[CHART_NUMBER], double ratio, int32_t decimals);

/* "ubatch 512, batch 2048: 1.23, expected, recommended" */
void matrix_cell_words(struct kerf_text *out, const struct kerf_panel *panel, int32_t row, int32_t column);
void matrix_describe(struct kerf_text *out, const struct kerf_panel *panel); /* how many of what, and the marked ones */

#endif
