/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which NumPy adds up a contiguous array (numpy/_core/src/umath/loops_utils.h.src, pairwise summation):
 * buffers of 8192 one after the other; each halved, at a multiple of eight, until 128 or less are left; those in eight
 * sums side by side. The error grows with log n. The eight sums are four SSE2 registers: about half a nanosecond a
 * value.
 */
#include "base/pairwise_sum.h"

enum { BUFFER = 8192, BLOCK = 128, LANES = 8 };

static inline double term(double value, double center, int squared) {
    if (!squared) return value;
    double difference = value - center;
    return difference * difference;
}

static inline __attribute__((always_inline)) double sum_block(const double *a, int64_t n, double center, int squared) {
    double lane[LANES], sum = 0;
    if (n < LANES) {
        for (int64_t i = 0; i < n; i++) sum += term(a[i], center, squared);
        return sum;
    }
    for (int k = 0; k < LANES; k++) lane[k] = term(a[k], center, squared);
    int64_t i = LANES;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += term(a[i + k], center, squared);
    sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    for (; i < n; i++) sum += term(a[i], center, squared);
    return sum;
}

static double sum_halves(const double *a, int64_t n, double center, int squared) {
    if (n <= BLOCK) return squared ? sum_block(a, n, center, 1) : sum_block(a, n, center, 0);
    int64_t half = n / 2 - n / 2 % LANES;
    return sum_halves(a, half, center, squared) + sum_halves(a + half, n - half, center, squared);
}

static double sum_buffers(const double *a, int64_t n, double center, int squared) {
    double sum = 0;
    for (int64_t i = 0; i < n; i += BUFFER) sum += sum_halves(a + i, n - i < BUFFER ? n - i : BUFFER, center, squared);
    return sum;
}

double pairwise_sum(const double *values, int64_t n) { return sum_buffers(values, n, 0, 0); }

double pairwise_sum_squares(const double *values, int64_t n, double center) {
    return sum_buffers(values, n, center, 1);
}
