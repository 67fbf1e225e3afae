/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_TUNE_ORDER_STATISTIC_H
#define KERF_TUNE_ORDER_STATISTIC_H

#include <stdint.h>

/* Of n > 0 numbers, none of them NAN, the one that would be at index k, 0 <= k < n, if they were sorted, ascending.
 * Changes their order: what comes before k is at most that, what comes after it at least that. About 3 n steps. */
double order_statistic(double *values, int32_t n, int32_t k);

#endif
