/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts that cannot be told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include "kerf/plan.h"

static struct kerf_estimate plans[4];

static struct kerf_search search_of(double second_s, double third_s) {
    struct kerf_search search = {.plans = plans, .num_plans = 4};
    search.problem.strategy = KERF_STRATEGY_HYBRID;
    plans[0] = (struct kerf_estimate){.step_time_s = 10, .layout = {.tp1 = 8, .pp = 2, .dp = 4}};
    plans[1] = (struct kerf_estimate){.step_time_s = second_s, .layout = {.tp1 = 8, .pp = 2, .dp = 4, .vpp = 2}};
    plans[2] = (struct kerf_estimate){.step_time_s = third_s, .layout = {.tp1 = 4, .pp = 4, .dp = 4}};
    plans[3] = (struct kerf_estimate){.step_time_s = 20, .layout = {.tp1 = 1, .pp = 1, .dp = 64}};
    return search;
}

static void those_within_error_are_alike(void **state) {
    struct kerf_alike alike;
    (void)state;
    struct kerf_search search = search_of(10.1, 10.4);
    assert_int_equal(kerf_search_alike(&search, &alike), 1);
    assert_int_equal(alike.count, 3);
    assert_int_equal(alike.other, 3); /* differs in more than the second */
    assert_true(alike.seconds == 25 * 20.4 && alike.within == 0.05);
    search = search_of(10.1, 10.6);
    assert_int_equal(kerf_search_alike(&search, &alike), 1);
    assert_int_equal(alike.count, 2);
    assert_int_equal(alike.other, 2);
}

static void a_clear_best_has_none(void **state) {
    struct kerf_alike alike;
    (void)state;
    struct kerf_search search = search_of(10.51, 10.6);
    assert_int_equal(kerf_search_alike(&search, &alike), 0);
    search.num_plans = 1;
    assert_int_equal(kerf_search_alike(&search, &alike), 0);
    search = search_of(10, 10);
    search.problem.strategy = KERF_STRATEGY_1D;
    assert_int_equal(kerf_search_alike(&search, &alike), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(those_within_error_are_alike),
                                       cmocka_unit_test(a_clear_best_has_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
