/* SPDX-License-Identifier: Apache-2.0 */
/* Conditioning on one observation after another against the textbook's inverse of the whole covariance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "tune/gaussian_process.h"
#include "tune/statistics.h"

enum { SETTINGS = 6, KEPT = SETTINGS + 1, DIMS, RUNS = 12 };

static double prior(int i, int j) { return 9 * exp(-0.4 * fabs((double)(i - j))) + 4; }

static void start(struct gp *gp, double *mean, double *cov, double drift) {
    memset(mean, 0, DIMS * sizeof *mean);
    memset(cov, 0, sizeof(double) * DIMS * DIMS);
    for (int i = 0; i < SETTINGS; i++)
        for (int j = 0; j < SETTINGS; j++) cov[i * DIMS + j] = prior(i, j);
    cov[SETTINGS * DIMS + SETTINGS] = drift * drift;
    *gp = (struct gp){.mean = mean, .cov = cov, .alpha = 1.5, .beta = 0.7};
}

/* x of matrix x = right by Gauss's elimination with pivots; returns log |matrix|. Both are overwritten. */
static double solve(int n, double matrix[RUNS][RUNS], double *right) {
    double log_det = 0;
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k; i < n; i++)
            if (fabs(matrix[i][k]) > fabs(matrix[pivot][k])) pivot = i;
        for (int j = 0; j < n; j++) {
            double kept = matrix[k][j];
            matrix[k][j] = matrix[pivot][j];
            matrix[pivot][j] = kept;
        }
        double kept = right[k];
        right[k] = right[pivot];
        right[pivot] = kept;
        log_det += log(fabs(matrix[k][k]));
        for (int i = k + 1; i < n; i++) {
            double factor = matrix[i][k] / matrix[k][k];
            for (int j = k; j < n; j++) matrix[i][j] -= factor * matrix[k][j];
            right[i] -= factor * right[k];
        }
    }
    for (int i = n; i-- > 0;) {
        for (int j = i + 1; j < n; j++) right[i] -= matrix[i][j] * right[j];
        right[i] /= matrix[i][i];
    }
    return log_det;
}

static void one_by_one_is_all_at_once(void **state) {
    (void)state;
    const double drift = 2, forget = 5;
    struct pcg64 rng = random_seed(3);
    double mean[DIMS], cov[DIMS * DIMS], work[DIMS], y[RUNS], time[RUNS], all[RUNS][RUNS], copy[RUNS][RUNS],
        weights[RUNS];
    int at[RUNS];
    struct gp gp;
    start(&gp, mean, cov, drift);
    for (int i = 0; i < RUNS; i++) {
        at[i] = (int)random_to(&rng, SETTINGS - 1);
        y[i] = random_normal(&rng, 1, 2);
        time[i] = (i ? time[i - 1] : 0) + random_double(&rng);
        if (i) gp_drift(&gp, DIMS, SETTINGS, exp(-(time[i] - time[i - 1]) / forget), drift * drift);
        if (i == 0) gp_keep(&gp, DIMS, SETTINGS, KEPT);
        struct gp_datum datum = {.at = {at[i], SETTINGS}, .num_at = 2, .y = y[i]};
        gp_condition(&gp, DIMS, &datum, work);
    }
    for (int i = 0; i < RUNS; i++)
        for (int j = 0; j < RUNS; j++)
            all[i][j] = prior(at[i], at[j]) + drift * drift * exp(-fabs(time[i] - time[j]) / forget) + (i == j);
    memcpy(copy, all, sizeof all);
    memcpy(weights, y, sizeof y);
    double log_det = solve(RUNS, copy, weights), fit = 0;
    for (int i = 0; i < RUNS; i++) fit += y[i] * weights[i];
    for (int s = 0; s < SETTINGS; s++) {
        double expected = 0, right[RUNS], less = 0;
        for (int i = 0; i < RUNS; i++) expected += prior(s, at[i]) * weights[i];
        assert_true(fabs(expected - mean[s]) < 1e-9);
        memcpy(copy, all, sizeof all);
        for (int i = 0; i < RUNS; i++) right[i] = prior(s, at[i]);
        solve(RUNS, copy, right);
        for (int other = 0; other < SETTINGS; other++) {
            less = 0;
            for (int i = 0; i < RUNS; i++) less += prior(other, at[i]) * right[i];
            assert_true(fabs(prior(s, other) - less - cov[s * DIMS + other]) < 1e-9);
        }
    }
    double first = 0, last = 0, together = 0; /* the drift at the first run and at the last */
    for (int i = 0; i < RUNS; i++) first += drift * drift * exp(-fabs(time[i] - time[0]) / forget) * weights[i];
    for (int i = 0; i < RUNS; i++) last += drift * drift * exp(-fabs(time[i] - time[RUNS - 1]) / forget) * weights[i];
    assert_true(fabs(first - mean[KEPT]) < 1e-9 && fabs(last - mean[SETTINGS]) < 1e-9);
    double right[RUNS];
    memcpy(copy, all, sizeof all);
    for (int i = 0; i < RUNS; i++) right[i] = drift * drift * exp(-fabs(time[i] - time[0]) / forget);
    solve(RUNS, copy, right);
    for (int i = 0; i < RUNS; i++) together += drift * drift * exp(-fabs(time[i] - time[RUNS - 1]) / forget) * right[i];
    double prior_together = drift * drift * exp(-(time[RUNS - 1] - time[0]) / forget);
    assert_true(fabs(prior_together - together - cov[KEPT * DIMS + SETTINGS]) < 1e-9);
    /* the evidence is a multivariate t density */
    double alpha = 1.5, beta = 0.7, half = 0.5 * RUNS;
    double evidence = lgamma(alpha + half) - lgamma(alpha) - half * log(2 * M_PI * beta) - 0.5 * log_det -
                      (alpha + half) * log1p(fit / (2 * beta));
    assert_true(fabs(gp.alpha - alpha - half) < 1e-12);
    assert_true(fabs(gp.beta - beta - 0.5 * fit) < 1e-9);
    assert_true(fabs(gp.log_evidence - evidence) < 1e-9);
}

/* The moments of a truncated normal by summing over it. */
static void a_bound_is_a_truncated_normal(void **state) {
    (void)state;
    double mean[DIMS], cov[DIMS * DIMS], work[DIMS];
    struct gp gp;
    start(&gp, mean, cov, 0);
    double s2 = gp.beta / gp.alpha, var = prior(2, 2) * s2, bound = 2.5, whole = 0, first = 0, second = 0;
    for (double f = -30; f < 60; f += 0.001) {
        double weight = exp(-0.5 * f * f / var) * normal_cdf((f - bound) / sqrt(s2));
        whole += weight;
        first += f * weight;
        second += f * f * weight;
    }
    struct gp_datum datum = {.at = {2, SETTINGS}, .num_at = 2, .above = 1, .y = bound};
    gp_condition(&gp, DIMS, &datum, work);
    assert_true(fabs(mean[2] - first / whole) < 1e-5);
    assert_true(fabs(cov[2 * DIMS + 2] * s2 - (second / whole - mean[2] * mean[2])) < 1e-5);
    assert_true(fabs(gp.log_evidence - log(whole * 0.001 / sqrt(2 * M_PI * var))) < 1e-5);
    assert_true(gp.alpha == 1.5 && gp.beta == 0.7);
}

/* A run of a setting that is known to be fast that is stopped far above is a spike, and says next to nothing; of one
 * that is not known it is a bound as any other. */
static void a_bound_far_off_is_a_spike(void **state) {
    (void)state;
    for (int known = 0; known < 2; known++) {
        double mean[DIMS], cov[DIMS * DIMS], work[DIMS], before = 0;
        struct gp gp;
        start(&gp, mean, cov, 0);
        gp.spikes = 0.02;
        for (int run = 0; known && run < 9; run++) {
            struct gp_datum datum = {.at = {1, SETTINGS}, .num_at = 2, .y = 0.3 * (run % 2), .spike = 1};
            gp_condition(&gp, DIMS, &datum, work);
            assert_true(gp.spike == 0);
        }
        before = mean[1];
        struct gp_datum datum = {.at = {1, SETTINGS}, .num_at = 2, .above = 1, .y = known ? 8 : 1.5, .spike = 1};
        gp_condition(&gp, DIMS, &datum, work);
        assert_true(known ? gp.spike > 0.99 : gp.spike < 0.05);
        assert_true(known ? mean[1] - before < 0.1 : mean[1] - before > 1.5);
        for (int i = 0; i < DIMS; i++) assert_true(cov[i * DIMS + i] >= 0);
    }
}

/* What is far off moves the mean less when noise may be wide. */
static void an_outlier_counts_less(void **state) {
    (void)state;
    double mean[2][DIMS], cov[2][DIMS * DIMS], work[DIMS];
    for (int k = 0; k < 2; k++) {
        struct gp gp;
        start(&gp, mean[k], cov[k], 0);
        gp.rare = k ? 0.1 : 0;
        for (int run = 0; run < 10; run++) {
            struct gp_datum datum = {.at = {1, SETTINGS}, .num_at = 2, .y = run < 9 ? 0.3 * (run % 2) : 8};
            gp_condition(&gp, DIMS, &datum, work);
        }
        for (int i = 0; i < DIMS * DIMS; i++) assert_true(isfinite(cov[k][i]));
        assert_true(cov[k][1 * DIMS + 1] > 0);
    }
    assert_true(mean[1][1] < mean[0][1] - 0.2);
}

/* A run that is known to be of the slow mode counts as one that much faster, whatever came before; the fast mode rules the
 * slow one out; and of an unknown one the mean lies between. */
static void a_slow_run_is_taken_for_what_it_is(void **state) {
    (void)state;
    double mean[4][DIMS], cov[4][DIMS * DIMS], work[DIMS];
    for (int k = 0; k < 4; k++) {
        static const int modes[] = {GP_MODE_SLOW, GP_MODE_FAST, GP_MODE_UNKNOWN, GP_MODE_UNKNOWN};
        struct gp gp;
        start(&gp, mean[k], cov[k], 0);
        gp.slow = k < 3 ? 0.3 : 0;
        gp.slower = 5;
        struct gp_datum datum = {.at = {1, SETTINGS}, .num_at = 2, .mode = modes[k], .y = 5.5, .spike = INFINITY};
        gp_condition(&gp, DIMS, &datum, work);
    }
    assert_true(fabs(mean[0][1] - 0.5 * mean[3][1] / 5.5) < 1e-9);
    assert_true(fabs(mean[1][1] - mean[3][1]) < 1e-9);
    assert_true(mean[2][1] > mean[0][1] + 0.1 && mean[2][1] < mean[1][1] - 0.1);
    assert_true(cov[2][DIMS + 1] > cov[3][DIMS + 1]); /* two places, not one */
}

static void pretending_leaves_means(void **state) {
    (void)state;
    double mean[DIMS], cov[DIMS * DIMS], work[DIMS], before = prior(4, 4);
    struct gp gp;
    start(&gp, mean, cov, 1);
    struct gp_datum datum = {.at = {4, SETTINGS}, .num_at = 2};
    gp_fantasize(&gp, DIMS, &datum, work);
    for (int i = 0; i < DIMS; i++) assert_true(mean[i] == 0);
    assert_true(fabs(cov[4 * DIMS + 4] - (before - before * before / (before + 1 + 1))) < 1e-12);
    assert_true(gp.log_evidence == 0);
}

/* Of every order up to two tiles and one more. */
static void factor_times_its_transpose(void **state) {
    (void)state;
    enum { MOST = 2 * CHOLESKY_LANES + 1, LONG = 3 * CHOLESKY_LANES };
    for (int n = 1; n <= MOST; n++) {
        double matrix[MOST * LONG] = {0}, unit[MOST][LONG] = {{0}}, back[MOST * LONG];
        const double *columns[MOST];
        int stride = cholesky_stride(n);
        assert_true(stride >= n && stride <= LONG && stride % CHOLESKY_LANES == 0);
        for (int i = 0; i < n; i++) {
            unit[i][i] = 1;
            columns[i] = unit[i];
            for (int j = i; j < n; j++) matrix[i * stride + j] = prior(i, j);
        }
        cholesky(matrix, n, 1e-12);
        cholesky_times(matrix, n, columns, stride, back); /* U' */
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < n; k++) sum += back[i * stride + k] * back[j * stride + k];
                assert_true(fabs(sum - prior(i, j)) < 1e-12);
                assert_true(j <= i || back[i * stride + j] == 0);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_by_one_is_all_at_once),          cmocka_unit_test(a_bound_is_a_truncated_normal),
        cmocka_unit_test(a_bound_far_off_is_a_spike),         cmocka_unit_test(an_outlier_counts_less),
        cmocka_unit_test(a_slow_run_is_taken_for_what_it_is), cmocka_unit_test(pretending_leaves_means),
        cmocka_unit_test(factor_times_its_transpose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
