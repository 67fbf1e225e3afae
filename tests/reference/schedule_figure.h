/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of recorded schedules share: rows of a table, and one schedule of equal stages. */
#ifndef KERF_TESTS_SCHEDULE_FIGURE_H
#define KERF_TESTS_SCHEDULE_FIGURE_H

#include <stdio.h>
#include "kerf/kerf.h"

enum { CELLS_MAX = 16 };

struct row {
    char line[1024];
    char *cells[CELLS_MAX];
};

/* The next row that is no comment, cut at its commas: the first `count` cells, the rest with the last. 0 at the end. */
int next_row(FILE *file, struct row *row, int count);
double number_in(const struct row *row, int cell);
int32_t integer_in(const struct row *row, int cell);

struct figure {
    const char *rule;
    int32_t devices, microbatches, chunks;
    double forward, input, weight, fused, p2p; /* fused NAN: none */
    int free_at_input;
};

struct outcome {
    double makespan, span, peak, least_peak; /* peaks in activations of a chunk */
    struct kerf_bubble bubble;
};

/* Makes, checks and simulates it; fails the test where that fails. */
struct outcome simulate_figure(const struct figure *figure);

#endif
