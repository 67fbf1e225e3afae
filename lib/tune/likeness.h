/* SPDX-License-Identifier: Apache-2.0 */
/* How alike the settings of a space are, a parameter at a time. */
#ifndef KERF_TUNE_LIKENESS_H
#define KERF_TUNE_LIKENESS_H

#include "base/arena.h"
#include "kerf/tune.h"

/* 1 where a value was chosen among several. */
int likeness_matters(const struct kerf_tune_param *param);

/* Where the values of a parameter lie, [num_values], from 0 to 1: integers by their logarithm where all are above 0;
 * of choices and flags all are 1 apart, and places mean nothing. NULL: no memory. */
double *likeness_places(const struct kerf_tune_param *param, struct arena *arena);

/* Correlation of the values a and b of a parameter with these places, at a length (in widths of the whole axis). */
double likeness(const struct kerf_tune_param *param, const double *places, int32_t a, int32_t b, double length);

#endif
