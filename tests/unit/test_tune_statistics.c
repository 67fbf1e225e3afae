/* SPDX-License-Identifier: Apache-2.0 */
/* The normal distribution and Student's t against published values and closed forms; order statistics against sorting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tune/statistics.h"

#define assert_near(a, b, relative)                                                                                    \
    do {                                                                                                               \
        double a_ = (a), b_ = (b);                                                                                     \
        if (!(fabs(a_ - b_) <= (relative)*fabs(b_))) fail_msg("%s is %.17g, not %.17g", #a, a_, b_);                   \
    } while (0)

static void normal_is_as_published(void **state) {
    (void)state;
    assert_near(normal_cdf(1.959963984540054), 0.975, 1e-15);
    assert_near(normal_cdf(-6.361340902404056), 1e-10, 1e-12);
    assert_near(normal_quantile(0.975), 1.959963984540054, 1e-14);
    assert_near(normal_quantile(0.95), 1.6448536269514722, 1e-14);
    assert_near(normal_quantile(1e-10), -6.361340902404056, 1e-13);
    assert_near(normal_log_above(40), -804.6084420137538, 1e-12);
    assert_near(normal_log_above(-40), 0, 1e-12);
    assert_near(normal_density(0), 0.3989422804014327, 1e-15);
    assert_true(normal_quantile(0.5) == 0);
    assert_true(isinf(normal_quantile(0)) && isinf(normal_quantile(1)) && isnan(normal_quantile(NAN)));
}

static void quantile_undoes_cdf(void **state) {
    (void)state;
    for (double x = -36; x < 8; x += 0.37) assert_near(normal_quantile(normal_cdf(x)), x, x < 0 ? 1e-12 : 1e-2);
    for (double p = 1e-300; p < 1e-3; p *= 31) assert_near(normal_cdf(normal_quantile(p)), p, 1e-10);
}

/* The two formulas of the hazard meet, and it is the slope of the logarithm. */
static void hazard_is_smooth(void **state) {
    (void)state;
    assert_near(normal_hazard(36 * (1 + 1e-15)), normal_hazard(36), 1e-12);
    for (double x = -8; x < 60; x += 0.61) {
        double h = 1e-4, slope = (normal_log_above(x - h) - normal_log_above(x + h)) / (2 * h);
        assert_near(normal_hazard(x) + 1, slope + 1, 1e-6);
    }
}

static void student_has_its_closed_forms(void **state) {
    (void)state;
    for (double x = -50; x < 50; x += 1.7) {
        assert_near(student_cdf(x, 1), 0.5 + atan(x) / M_PI, 1e-11);
        assert_near(student_cdf(x, 2), 0.5 + x / (2 * sqrt(2 + x * x)), 1e-11);
        assert_near(student_cdf(x, 1e12), normal_cdf(x), 1e-15);
    }
    assert_near(student_cdf(1.3, 0.9999e10), normal_cdf(1.3), 1e-9);
    assert_near(student_cdf(-2, 401), student_cdf(-2, 399), 1e-4); /* both ways to the front factor */
}

static void student_quantiles_are_as_published(void **state) {
    (void)state;
    assert_near(student_quantile(0.975, 1), tan(M_PI * 0.475), 1e-12);
    assert_near(student_quantile(0.975, 2), 0.95 * sqrt(2 / (1 - 0.95 * 0.95)), 1e-12);
    assert_near(student_quantile(0.975, 5), 2.570581836, 1e-9);
    assert_near(student_quantile(0.95, 10), 1.812461123, 1e-9);
    assert_near(student_quantile(0.975, 30), 2.042272456, 1e-9);
    for (double p = 0.001; p < 1; p += 0.0437) assert_near(student_cdf(student_quantile(p, 3.5), 3.5), p, 1e-11);
    assert_near(student_cdf(-2, 200.0000001), student_cdf(-2, 199.9999999), 1e-10);
    assert_true(student_quantile(0.5, 4) == 0);
}

/* ---- Order statistics: with and without ties, sorted, reversed and by chance ------------------------------------ */

enum { NUMBERS = 70 };

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void each_is_as_sorted(const double *of, int32_t n) {
    double sorted[NUMBERS], work[NUMBERS];
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

static void order_statistics_are_as_sorted(void **state) {
    (void)state;
    double up[NUMBERS], down[NUMBERS], random[NUMBERS], tied[NUMBERS], same[NUMBERS], peak[NUMBERS];
    struct pcg64 rng = random_seed(1);
    for (int32_t n = 1; n <= NUMBERS; n++) {
        for (int32_t i = 0; i < n; i++) {
            up[i] = i;
            down[i] = -i;
            random[i] = random_normal(&rng, 0, 1);
            tied[i] = random_to(&rng, 2);
            same[i] = 4;
            peak[i] = i < n / 2 ? i : n - i;
        }
        each_is_as_sorted(up, n);
        each_is_as_sorted(down, n);
        each_is_as_sorted(random, n);
        each_is_as_sorted(tied, n);
        each_is_as_sorted(same, n);
        each_is_as_sorted(peak, n);
    }
    double far[] = {INFINITY, 1, -INFINITY, INFINITY, 0};
    each_is_as_sorted(far, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_is_as_published),
        cmocka_unit_test(quantile_undoes_cdf),
        cmocka_unit_test(hazard_is_smooth),
        cmocka_unit_test(student_has_its_closed_forms),
        cmocka_unit_test(student_quantiles_are_as_published),
        cmocka_unit_test(order_statistics_are_as_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
