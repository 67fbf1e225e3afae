/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_TUNE_CHOLESKY_H
#define KERF_TUNE_CHOLESKY_H

#include <stdint.h>

/* matrix [n][n], of which the upper triangle is read, becomes U with U' U = matrix in its upper triangle; what lies
 * below the diagonal stays. A pivot that rounding has made less than `least` becomes `least`. */
void cholesky(double *matrix, int32_t n, double least);

/* ret [n][count] = U' columns [n][count]: as many vectors at once */
void cholesky_times(const double *factor, int32_t n, const double *const *columns, int32_t count, double *ret);

#endif
