/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix as a study of two parameters leaves it: times that fall with the larger batch and rise again, of which some
 * were measured, most are expected, some were stopped early, one has failed, and those with ubatch > batch are none. */
#ifndef KERF_TESTS_MATRIX_SAMPLE_H
#define KERF_TESTS_MATRIX_SAMPLE_H

#include <math.h>
#include <stdio.h>

#include "kerf/draw.h"

enum { MATRIX_SAMPLE_MAX = 64 };

struct matrix_sample {
    double values[MATRIX_SAMPLE_MAX][MATRIX_SAMPLE_MAX];
    struct kerf_matrix_cell cells[MATRIX_SAMPLE_MAX * MATRIX_SAMPLE_MAX];
    struct kerf_chart_row rows[MATRIX_SAMPLE_MAX];
    const char *x_names[MATRIX_SAMPLE_MAX];
    char names[2 * MATRIX_SAMPLE_MAX][16];
    struct kerf_panel panel;
};

/* The first row is the highest value. `each`: from one value to the next, a factor of two or a step of two. */
static inline void matrix_sample_make(struct matrix_sample *sample, int32_t num_rows, int32_t num_xs,
                                      int32_t doubling) {
    double best = 1;
    for (int32_t i = 0; i < num_rows; i++) {
        int32_t n = num_rows - 1 - i; /* of the value: 2, 4, 8 ... */
        long value = doubling ? 2L << n : 2L * n + 2;
        snprintf(sample->names[i], sizeof sample->names[i], "%ld", value);
        sample->rows[i] = (struct kerf_chart_row){.label = sample->names[i], .values = sample->values[i]};
        for (int32_t k = 0; k < num_xs; k++) {
            long other = doubling ? 16L << k : 2L * k + 2;
            snprintf(sample->names[MATRIX_SAMPLE_MAX + k], sizeof sample->names[0], "%ld", other);
            sample->x_names[k] = sample->names[MATRIX_SAMPLE_MAX + k];
            double from_best = (n - 0.72 * num_rows) / num_rows, across = (k - 0.62 * num_xs) / num_xs;
            sample->values[i][k] = exp(3.2 * from_best * from_best + 1.1 * across * across);
            struct kerf_matrix_cell *cell = &sample->cells[i * num_xs + k];
            uint32_t any = (uint32_t)(i * 31 + k * 17 + i * k) % 12;
            *cell = (struct kerf_matrix_cell){.state = any < 5 ? KERF_CELL_MEASURED : KERF_CELL_EXPECTED};
            if (sample->values[i][k] > 2 && any < 6) cell->state = KERF_CELL_STOPPED;
            if (i == 0 && k == num_xs - 1) cell->state = KERF_CELL_FAILED, cell->tip = "out of memory";
            if (i == 1 && k == num_xs - 1) cell->state = KERF_CELL_UNKNOWN;
            if (value > other) cell->state = KERF_CELL_OUTSIDE;
            if (cell->state == KERF_CELL_MEASURED && (best == 1 || sample->values[i][k] < best))
                best = sample->values[i][k];
        }
    }
    for (int32_t i = 0; i < num_rows; i++)
        for (int32_t k = 0; k < num_xs; k++) {
            struct kerf_matrix_cell *cell = &sample->cells[i * num_xs + k];
            sample->values[i][k] /= best;
            if (cell->state == KERF_CELL_MEASURED && sample->values[i][k] == 1) cell->marks = KERF_CELL_BEST;
            if (i == num_rows / 2 && k == num_xs / 2) cell->marks |= KERF_CELL_RECOMMENDED;
            if (i == num_rows / 4 && k == num_xs - 1) cell->marks |= KERF_CELL_DEFAULT;
        }
    sample->panel = (struct kerf_panel){.kind = KERF_PANEL_MATRIX,
                                        .title = "What each setting takes",
                                        .x_label = "batch",
                                        .y_label = "ubatch",
                                        .rows = sample->rows,
                                        .num_rows = num_rows,
                                        .x_names = sample->x_names,
                                        .num_xs = num_xs,
                                        .cells = sample->cells};
}

#endif
