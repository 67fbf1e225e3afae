/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of measured times, by nearest rank: a time that was measured, and not one between two. */
#ifndef KERF_LLAMA_QUANTILE_H
#define KERF_LLAMA_QUANTILE_H

#include <stdint.h>

/* The smallest of times[count], count 1 or more, that at least the share of them do not exceed. Sorts them. */
double quantile_of(double *times, int32_t count, double share);

#endif
