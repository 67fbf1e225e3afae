/* SPDX-License-Identifier: Apache-2.0 */
/* The hyperparameters that are averaged over. */
#ifndef KERF_TUNE_HYPER_GRID_H
#define KERF_TUNE_HYPER_GRID_H

#include <stdint.h>
#include "base/arena.h"

enum { HYPER_LENGTHS = 4, HYPER_AMPLITUDES = 4, HYPER_DRIFTS = 4, HYPER_MOST = 512 };

extern const double hyper_lengths[HYPER_LENGTHS]; /* in widths of an axis */

/* What is a standard deviation is in units of the noise's. */
struct hyper {
    const int8_t *lengths;    /* [num_axes], indexes */
    double amplitude;         /* of the surface */
    double drift, drift_runs; /* of the drift, and over how many runs it forgets */
    int32_t with_prior;       /* 1: around what was expected, 0: around a constant */
    double log_prior;
};

/* All points of the grid, or, where they are more than `most`, as many drawn from it. NULL: no memory. */
struct hyper *hyper_grid(int32_t num_axes, int32_t has_prior, int32_t most, struct arena *arena, int32_t *ret_count);

#endif
