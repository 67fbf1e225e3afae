/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of the surface: how settings are correlated, and the grid of its hyperparameters. */
#ifndef KERF_TUNE_KERNEL_H
#define KERF_TUNE_KERNEL_H

#include "base/arena.h"
#include "kerf/tune.h"

/* 1 where a parameter has several values, and so is an axis of the surface. */
int kernel_is_axis(const struct kerf_tune_param *param);

/* 1 where near values behave alike: integers, and choices of ascending numbers. */
int kernel_is_ordered(const struct kerf_tune_param *param);

/* The place of an ordered parameter's value on its axis: integers and numbers by their logarithm to base 2 where all are above 0. */
double kernel_position(const struct kerf_tune_param *param, int32_t value);

/* Coordinates of a parameter's values, [num_values], ascending from 0 to 1, by their positions. Words have none: all 0. NULL: no memory. */
double *kernel_coordinates(const struct kerf_tune_param *param, struct arena *arena);

/* Correlation of the values a and b of a parameter at a length scale, in widths of the axis. From 0 to 1. */
double kernel_correlation(const struct kerf_tune_param *param, const double *coordinates, int32_t a, int32_t b,
                          double length);

/* 1 where a value tells little of the ones beside it at a length scale: on average they are correlated by less than this. */
int kernel_is_loose(const struct kerf_tune_param *param, double length, double least);

/* 1 where the divisors of a parameter's values are structure of their own: 1, 2, 3, .. 64, but not 2, 4, 8, .. 64,
 * where each value has all divisors of the one before. */
int kernel_is_divided(const struct kerf_tune_param *param);

/* 1 where a parameter is. */
int kernel_has_divided(const struct kerf_tune_space *space);

/* Correlation of the values a and b of such a parameter by their divisors, from 0 to 1. */
double kernel_divisibility(const struct kerf_tune_param *param, int32_t a, int32_t b);

/* How far apart two settings are: the sum over parameters of the difference of their coordinates, 1 for words that
 * differ. For comparisons of a few settings. */
double kernel_distance(const struct kerf_tune_space *space, int32_t a, int32_t b);

/* ---- Hyperparameters --------------------------------------------------------------------------------------- */

enum { KERNEL_LENGTHS = 4, KERNEL_AMPLITUDES = 5, KERNEL_DRIFTS = 4, KERNEL_TEXTURES = 3, KERNEL_POINTS_MAX = 512 };

extern const double kernel_lengths[KERNEL_LENGTHS]; /* in widths of an axis, ascending */

/* Standard deviations are in units of the noise's. */
struct hyperparameters {
    const int8_t *lengths;    /* [num_axes], indexes into kernel_lengths */
    double amplitude;         /* of the surface */
    double texture;           /* variance of the structure of each divided axis, in variances of the surface */
    double drift, drift_runs; /* of the drift, and over how many runs it forgets */
    int32_t with_prior;       /* 1: around what was expected, 0: around a constant */
    double log_prior;
};

/* What there is to choose. */
struct kernel_choices {
    int32_t num_axes;
    int32_t is_divided; /* 1: an axis is divided */
    int32_t has_prior;  /* 1: something was expected of the surface */
};

/* All points of the grid; where they are more than max_points, so many drawn from it. NULL: no memory. */
struct hyperparameters *kernel_grid(const struct kernel_choices *choices, int32_t max_points, struct arena *arena,
                                    int32_t *ret_count);

#endif
