/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Cholesky factor of a covariance, n^3 / 6 multiplications, and its product with vectors. Both are sums over the
 * rows above: two rows of CHOLESKY_LANES columns at once, so that all of them stay in registers while everything above
 * is read (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008).
 */
#include "tune/cholesky.h"

#include <math.h>
#include <string.h>

/* Two numbers at once, wherever they lie: what every x86-64 and every 64-bit ARM has. */
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));
enum { PAIRS = CHOLESKY_LANES / 2 };

struct tile {
    pair of[2][PAIRS]; /* of rows i and i + 1 */
};

static inline void add(struct tile *tile, double weight, double next_weight, const double *column) {
    for (int j = 0; j < PAIRS; j++) {
        pair of = ((const pair *)column)[j];
        tile->of[0][j] += weight * of;
        tile->of[1][j] += next_weight * of;
    }
}

int32_t cholesky_stride(int32_t n) { return (n + CHOLESKY_LANES - 1) / CHOLESKY_LANES * CHOLESKY_LANES; }

static void subtract(double *restrict row, const double *restrict other, double factor, int32_t from, int32_t to) {
    for (int32_t j = from; j < to; j++) row[j] -= factor * other[j];
}

/* The rest of row k, when the rows above are taken off it. */
static void finish_row(double *row, int32_t k, int32_t n, double least) {
    double root = sqrt(row[k] > least ? row[k] : least), over = 1 / root;
    row[k] = root;
    for (int32_t j = k + 1; j < n; j++) row[j] *= over;
}

void cholesky(double *matrix, int32_t n, double least) {
    int32_t stride = cholesky_stride(n);
    for (int32_t i = 0; i < n; i += 2) {
        double *row = matrix + (int64_t)i * stride, *next = i + 1 < n ? row + stride : NULL;
        for (int32_t from = i / CHOLESKY_LANES * CHOLESKY_LANES; from < n; from += CHOLESKY_LANES) {
            struct tile tile = {0};
            for (int32_t k = 0; k < i; k++) {
                const double *above = matrix + (int64_t)k * stride;
                add(&tile, above[i], above[i + 1], above + from);
            }
            for (int j = 0; j < PAIRS; j++) ((pair *)(row + from))[j] -= tile.of[0][j];
            for (int j = 0; next && j < PAIRS; j++) ((pair *)(next + from))[j] -= tile.of[1][j];
        }
        finish_row(row, i, n, least);
        if (next == NULL) return;
        subtract(next, row, row[i + 1], i + 1, n);
        finish_row(next, i + 1, n, least);
    }
}

void cholesky_times(const double *factor, int32_t n, const double *const *columns, int32_t count, double *ret) {
    int32_t stride = cholesky_stride(n);
    for (int32_t i = 0; i < n; i += 2) {
        const double *row = factor + (int64_t)i * stride;
        for (int32_t from = 0; from < count; from += CHOLESKY_LANES) {
            struct tile tile = {0};
            for (int32_t k = 0; k <= i; k++) {
                const double *above = factor + (int64_t)k * stride;
                add(&tile, above[i], i + 1 < n ? above[i + 1] : 0, columns[k] + from);
            }
            if (i + 1 < n) add(&tile, 0, row[stride + i + 1], columns[i + 1] + from);
            memcpy(ret + (int64_t)i * count + from, tile.of[0], sizeof tile.of[0]);
            if (i + 1 < n) memcpy(ret + (int64_t)(i + 1) * count + from, tile.of[1], sizeof tile.of[1]);
        }
    }
}
