/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a surface's variance that belong to parameters and to pairs of them. */
#ifndef KERF_TUNE_IMPORTANCE_H
#define KERF_TUNE_IMPORTANCE_H

#include "base/arena.h"
#include "kerf/tune.h"

struct variance_parts {
    int32_t num;                    /* settings */
    int32_t num_axes, *axes;        /* [num_axes] parameters with several values among the settings, ascending */
    int32_t *num_levels, **levels;  /* [num_axes][num] which value, 0 ..; -1: the setting does not use the parameter */
    int32_t num_pairs, (*pairs)[2]; /* [num_pairs] of axes */
    int32_t *num_cells, **cells;    /* [num_pairs][num] which pair of values, 0 ..; -1: it does not use both */
    int32_t *fitted, num_fitted;    /* settings from which effects are estimated */
    int32_t *counted, num_counted;  /* settings by which their shares are counted */
    double *matrix, *solved, *rest; /* [num][cholesky_stride(num)], [num], [num] */
    double **weights, *effects, *sums; /* [num_axes][num_levels], [num], [num] */
    int32_t *tallies;                  /* [num] */
};

/* Of the settings [num], all different. groups: where an ordered parameter has more values among them they are taken
 * together, as so many groups of neighbours; 0: never. Everything is the arena's. 0: no memory. */
int variance_parts_make(const struct kerf_tune_space *space, const int32_t *settings, int32_t num, int32_t groups,
                        struct arena *arena, struct variance_parts *ret_parts);

/* fit [num]: effects are estimated from the settings with 1 and counted by those with 0; NULL: all settings serve for both. */
void variance_parts_fit(struct variance_parts *parts, const unsigned char *fit);

/* The variance of a surface y [num] over the settings, and of this the share of each axis, then of each pair: ret_shares
 * [num_axes + num_pairs]. NAN: the settings do not tell it. */
double variance_parts_of(const struct variance_parts *parts, const double *y, double *ret_shares);

#endif
