/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a few runs, counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "score/figures.h"

enum { ROWS = 8 };

static struct run rows[ROWS];
static struct prediction predictions[ROWS];
static const size_t all[ROWS] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Five runs of one group that end well, one recalled from memory, one out of memory, one in a group of its own. */
static struct runs make(void) {
    static const char *const ids[ROWS] = {"s-1", "s-2", "s-3", "s-4", "s-5", "s-6", "s-7", "t-1"};
    for (int i = 0; i < ROWS; i++) {
        rows[i] = (struct run){.line = i + 2, .id = ids[i], .provenance = "repo-file", .model = "m", .gpus = 8};
        rows[i].measured.step_s = 10 + i;
        rows[i].measured.mem_gib = NAN;
        predictions[i] = (struct prediction){
            .step_s = 10 + i, .step_low_s = 9 + i, .step_high_s = 18 + 2 * i, .memory_bytes = 0x1p30};
    }
    rows[5].provenance = "memory of a talk";
    rows[6].measured.status = RUN_OOM;
    rows[6].measured.step_s = NAN;
    return (struct runs){.rows = rows, .count = ROWS};
}

static struct figures compute(const struct runs *runs, size_t count) {
    struct figures figures;
    struct kerf_error err;
    assert_int_equal(figures_compute(runs, predictions, all, count, &figures, &err), KERF_OK);
    return figures;
}

static void exact_predictions(void **state) {
    (void)state;
    const struct runs runs = make();
    const struct figures figures = compute(&runs, ROWS);
    assert_int_equal(figures.timed, 6);
    assert_true(figures.mean == 0 && figures.median == 0 && figures.p90 == 0 && figures.bias == 0);
    assert_true(figures.tau == 1 && figures.regret == 1 && figures.within == 1 && figures.width == 1);
    assert_int_equal(figures.oom, 1);
    assert_true(figures.recall == 0 && isnan(figures.precision));
    assert_int_equal(figures.memory_runs, 0);
}

static void wrong_predictions(void **state) {
    (void)state;
    const struct runs runs = make();
    predictions[0].step_s = 15; /* measured 10, predicted the slowest: 4 of 10 pairs disagree, 11 is chosen */
    predictions[0].step_low_s = 14;
    predictions[6].p_oom = 0.75;
    predictions[7].p_oom = 0.5;
    predictions[1].why = NULL;
    rows[1].measured.mem_gib = 2;
    const struct figures figures = compute(&runs, ROWS);
    assert_float_equal(figures.mean, 0.5 / 6, 1e-12);
    assert_true(figures.median == 0);
    assert_float_equal(figures.tau, 0.2, 1e-12);
    assert_float_equal(figures.regret, 1.1, 1e-12);
    assert_float_equal(figures.within, 5. / 6, 1e-12);
    assert_true(figures.recall == 1 && figures.precision == 0.5);
    assert_float_equal(figures.brier, (0.25 * 0.25 + 0.25) / 8, 1e-12);
    assert_int_equal(figures.memory_runs, 1);
    assert_float_equal(figures.memory_error, 0.5, 1e-12);
}

static void refused_and_none(void **state) {
    (void)state;
    const struct runs runs = make();
    predictions[2].why = "no such model";
    predictions[6].why = "no such model";
    struct figures figures = compute(&runs, ROWS);
    assert_int_equal(figures.refused, 2);
    assert_int_equal(figures.timed, 5);
    assert_true(isnan(figures.tau)); /* four rows are no group */
    assert_true(figures.recall == 0);
    figures = compute(&runs, 0);
    assert_true(isnan(figures.mean) && isnan(figures.recall) && figures.timed == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_predictions), cmocka_unit_test(wrong_predictions),
                                       cmocka_unit_test(refused_and_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
