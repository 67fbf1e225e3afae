/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_TUNE_CHOLESKY_H
#define KERF_TUNE_CHOLESKY_H

#include <stdint.h>

enum { CHOLESKY_LANES = 8 };

/* How long a row of n numbers has to be: the next multiple of CHOLESKY_LANES. */
int32_t cholesky_stride(int32_t n);

/* matrix [n][cholesky_stride(n)], of which the upper triangle is read, becomes U with U' U = matrix in its upper
 * triangle; what else there is in its rows is undefined. A pivot that rounding has made less than `least` becomes
 * `least`. */
void cholesky(double *matrix, int32_t n, double least);

/* ret [n][count] = U' columns [n][count]: as many vectors at once, a multiple of CHOLESKY_LANES */
void cholesky_times(const double *factor, int32_t n, const double *const *columns, int32_t count, double *ret);

#endif
