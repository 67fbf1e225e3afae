/* SPDX-License-Identifier: Apache-2.0 */
/* The distribution of a step: without noise the step itself, with noise what a sum of independent times has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "kerf/schedule.h"

struct made {
    struct kerf_schedule *schedule;
    struct kerf_schedule_times *times;
    struct kerf_timeline *timeline;
};

static int make(struct made *made, const char *rule, int32_t p, int32_t m, double p2p_s) {
    const struct kerf_schedule_request request = {
        .rule = rule, .devices = p, .microbatches = m, .search_steps = 100000};
    struct kerf_schedule_times_request said;
    kerf_schedule_times_unsaid(&said);
    said.p2p_s = p2p_s;
    said.fused_s = 2.5;
    memset(made, 0, sizeof *made);
    if (kerf_schedule_make_timed(&request, &said, &made->schedule, &made->times, NULL) != KERF_OK) return 0;
    assert_int_equal(kerf_schedule_simulate(made->schedule, made->times, &made->timeline, NULL), KERF_OK);
    return 1;
}

static void give_back(struct made *made) {
    kerf_timeline_free(made->timeline);
    kerf_schedule_times_free(made->times);
    kerf_schedule_free(made->schedule);
}

static struct kerf_schedule_steps under(const struct made *made, const struct kerf_schedule_noise *noise) {
    struct kerf_schedule_steps steps;
    struct kerf_error err;
    if (kerf_schedule_under_noise(made->schedule, made->times, made->timeline, noise, &steps, &err) != KERF_OK)
        fail_msg("%s", err.message);
    return steps;
}

static void test_without_noise(void **unused) {
    (void)unused;
    const struct kerf_schedule_rule *rule;
    const struct kerf_schedule_noise none = {.samples = 20};
    struct made made;
    for (size_t k = 0; (rule = kerf_schedule_rule_at(k)); k++) {
        if (!make(&made, rule->name, 4, 8, 0.25)) continue;
        for (int unsynchronised = 0; unsynchronised < 2; unsynchronised++) {
            const double expected = unsynchronised ? made.timeline->span_s : made.timeline->makespan_s;
            made.times->unsynchronised = unsynchronised;
            const struct kerf_schedule_steps steps = under(&made, &none);
            if (fabs(steps.mean_s - expected) > 1e-6 * expected || fabs(steps.most_s - expected) > 1e-6 * expected)
                fail_msg("%s: %.12g without noise, not %.12g", rule->name, steps.mean_s, expected);
        }
        give_back(&made);
    }
}

/* 300 operations of 1 s and 10 %: a sum of mean 300 and standard deviation 0.1 sqrt(300). */
static void test_a_sum(void **unused) {
    (void)unused;
    const struct kerf_schedule_noise noise = {.relative = 0.1, .seed = 3};
    struct made made;
    assert_true(make(&made, "zb_h1", 1, 100, 0));
    const struct kerf_schedule_steps steps = under(&made, &noise), again = under(&made, &noise);
    assert_int_equal(steps.samples, 10000);
    assert_true(fabs(steps.mean_s - 300) < 0.1);
    assert_true(fabs(steps.p95_s - (300 + 1.645 * 0.1 * sqrt(300))) < 0.15);
    assert_true(fabs(steps.p99_s - (300 + 2.326 * 0.1 * sqrt(300))) < 0.3);
    assert_memory_equal(&steps, &again, sizeof steps); /* one seed, one answer */
    give_back(&made);
}

/* Factors of 1 and 3 are scaled to 0.5 and 1.5: a sum of standard deviation 0.5 sqrt(300). */
static void test_measured(void **unused) {
    (void)unused;
    const double factors[] = {3, 1};
    const struct kerf_schedule_noise noise = {.factors = factors, .num_factors = 2};
    struct made made;
    assert_true(make(&made, "zb_h1", 1, 100, 0));
    const struct kerf_schedule_steps steps = under(&made, &noise);
    assert_true(fabs(steps.mean_s - 300) < 0.5);
    assert_true(fabs(steps.p95_s - (300 + 1.645 * 0.5 * sqrt(300))) < 0.8);
    give_back(&made);
}

static void test_slow(void **unused) {
    (void)unused;
    const double slow[] = {1, 2};
    const struct kerf_schedule_noise straggler = {.slow = slow, .samples = 4}, link = {.slow_link = slow, .samples = 4};
    struct made made;
    assert_true(make(&made, "gpipe", 2, 3, 0.5));
    /* 3 F on device 1 of 2 s, 3 B of 4 s behind the first F's 1 s and 0.5 s, then the last B of device 0 */
    assert_true(fabs(under(&made, &straggler).mean_s - (1 + 0.5 + 6 + 12 + 0.5 + 2)) < 1e-5);
    assert_true(fabs(under(&made, &link).mean_s - (made.timeline->makespan_s + 1)) < 1e-5);
    give_back(&made);
}

/* More noise, longer steps: what waits for several others waits for the slowest. */
static void test_more_is_longer(void **unused) {
    (void)unused;
    struct made made;
    double before = 0;
    assert_true(make(&made, "1f1b", 4, 16, 0.1));
    for (int k = 0; k < 5; k++) {
        const struct kerf_schedule_noise noise = {.relative = 0.1 * k, .samples = 2000};
        const double mean = under(&made, &noise).mean_s;
        assert_true(mean > before);
        before = mean;
    }
    give_back(&made);
}

static void test_refused(void **unused) {
    (void)unused;
    const struct kerf_schedule_noise none = {.samples = 1}, wrong = {.relative = -1};
    struct kerf_schedule_steps steps;
    struct made made;
    assert_true(make(&made, "1f1b", 2, 2, 0.1));
    assert_int_equal(kerf_schedule_under_noise(made.schedule, made.times, made.timeline, &wrong, &steps, NULL),
                     KERF_EINVALID);
    static const double none_above_0[] = {1, 0}, infinite[] = {1, INFINITY};
    const struct kerf_schedule_noise bad[] = {{.samples = -1},
                                              {.relative = 1.5},
                                              {.factors = none_above_0, .num_factors = 2},
                                              {.factors = infinite, .num_factors = 2},
                                              {.factors = infinite, .num_factors = 0},
                                              {.slow = infinite},
                                              {.slow = none_above_0},
                                              {.slow_link = infinite}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(kerf_schedule_under_noise(made.schedule, made.times, made.timeline, &bad[i], &steps, NULL),
                         KERF_EINVALID);
    made.times->blocking = 1;
    assert_int_equal(kerf_schedule_under_noise(made.schedule, made.times, made.timeline, &none, &steps, NULL),
                     KERF_EUNSUPPORTED);
    give_back(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_noise), cmocka_unit_test(test_a_sum),          cmocka_unit_test(test_measured),
        cmocka_unit_test(test_slow),          cmocka_unit_test(test_more_is_longer), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
