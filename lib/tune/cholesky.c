/* SPDX-License-Identifier: Apache-2.0 */
/* The Cholesky factor of a covariance, row by row: n^3 / 6 multiplications. */
#include "tune/cholesky.h"

#include <math.h>

void cholesky(double *matrix, int32_t n, double least) {
    for (int32_t i = 0; i < n; i++) {
        double *row = matrix + (int64_t)i * n;
        for (int32_t j = 0; j <= i; j++) {
            const double *other = matrix + (int64_t)j * n;
            double sum = row[j];
            for (int32_t k = 0; k < j; k++) sum -= row[k] * other[k];
            row[j] = j < i ? sum / other[j] : sqrt(sum > least ? sum : least);
        }
    }
}

void cholesky_times(const double *factor, int32_t n, const double *x, double *ret) {
    for (int32_t i = 0; i < n; i++) {
        const double *row = factor + (int64_t)i * n;
        double sum = 0;
        for (int32_t k = 0; k <= i; k++) sum += row[k] * x[k];
        ret[i] = sum;
    }
}
