/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of doubles that are those of NumPy's np.sum and np.var, bit for bit. */
#ifndef KERF_BASE_PAIRWISE_SUM_H
#define KERF_BASE_PAIRWISE_SUM_H

#include <stdint.h>

double pairwise_sum(const double *values, int64_t n);
double pairwise_sum_squares(const double *values, int64_t n, double center); /* of (values - center)^2 */

#endif
