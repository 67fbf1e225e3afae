/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics against sorting, of numbers with and without ties, sorted, reversed and by chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tune/order_statistic.h"

enum { MOST = 70 };

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void each_is_as_sorted(const double *of, int32_t n) {
    double sorted[MOST], work[MOST];
    memcpy(sorted, of, (size_t)n * sizeof *of);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    for (int32_t k = 0; k < n; k++) {
        memcpy(work, of, (size_t)n * sizeof *of);
        assert_true(order_statistic(work, n, k) == sorted[k]);
        for (int32_t i = 0; i < n; i++) assert_true(i < k ? work[i] <= sorted[k] : work[i] >= sorted[k]);
        qsort(work, (size_t)n, sizeof *work, by_value);
        assert_memory_equal(work, sorted, (size_t)n * sizeof *work);
    }
}

static void as_if_sorted(void **state) {
    (void)state;
    double up[MOST], down[MOST], chance[MOST], tied[MOST], same[MOST], peak[MOST];
    struct pcg64 rng = random_seed(1);
    for (int32_t n = 1; n <= MOST; n++) {
        for (int32_t i = 0; i < n; i++) {
            up[i] = i;
            down[i] = -i;
            chance[i] = random_normal(&rng, 0, 1);
            tied[i] = random_to(&rng, 2);
            same[i] = 4;
            peak[i] = i < n / 2 ? i : n - i;
        }
        each_is_as_sorted(up, n);
        each_is_as_sorted(down, n);
        each_is_as_sorted(chance, n);
        each_is_as_sorted(tied, n);
        each_is_as_sorted(same, n);
        each_is_as_sorted(peak, n);
    }
    double far[] = {INFINITY, 1, -INFINITY, INFINITY, 0};
    each_is_as_sorted(far, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_if_sorted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
