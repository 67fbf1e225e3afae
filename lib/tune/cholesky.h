/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_TUNE_CHOLESKY_H
#define KERF_TUNE_CHOLESKY_H

#include <stdint.h>

/* matrix [n][n], of which the lower triangle is read, becomes L with L L' = matrix in its lower triangle; what lies above
 * the diagonal stays. A pivot that rounding has made less than `least` becomes `least`. */
void cholesky(double *matrix, int32_t n, double least);

/* ret [n] = L x */
void cholesky_times(const double *factor, int32_t n, const double *x, double *ret);

#endif
