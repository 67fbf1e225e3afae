/* SPDX-License-Identifier: Apache-2.0 */
/* The Cholesky factor of a covariance, n^3 / 6 multiplications, row by row of U so that the inner loops are over what
 * lies side by side. */
#include "tune/cholesky.h"

#include <math.h>

void cholesky(double *matrix, int32_t n, double least) {
    for (int32_t k = 0; k < n; k++) {
        double *restrict row = matrix + (int64_t)k * n;
        double root = sqrt(row[k] > least ? row[k] : least);
        row[k] = root;
        for (int32_t j = k + 1; j < n; j++) row[j] /= root;
        for (int32_t i = k + 1; i < n; i++) {
            double *restrict below = matrix + (int64_t)i * n;
            double factor = row[i];
            for (int32_t j = i; j < n; j++) below[j] -= factor * row[j];
        }
    }
}

void cholesky_times(const double *factor, int32_t n, const double *const *columns, int32_t count, double *ret) {
    for (int64_t i = 0; i < (int64_t)n * count; i++) ret[i] = 0;
    for (int32_t k = 0; k < n; k++) {
        const double *restrict from = columns[k];
        for (int32_t i = k; i < n; i++) {
            double *restrict to = ret + (int64_t)i * count, weight = factor[(int64_t)k * n + i];
            for (int32_t j = 0; j < count; j++) to[j] += weight * from[j];
        }
    }
}
