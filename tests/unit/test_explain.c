/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM's timers, and what is said of a run that is slower than predicted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "score/explain.h"

static struct timer_log read_timers(const char *text) {
    struct timer_log log;
    struct kerf_error err;
    assert_int_equal(timer_log_read(text, strlen(text), &log, &err), KERF_OK);
    return log;
}

static void the_slowest_rank_counts(void **state) {
    (void)state;
    struct timer_log log = read_timers("(min, max) time across ranks (ms):\n"
                                       "    forward-backward ...............................: (5012.31, 9040.77)\n"
                                       "    optimizer ......................................: 99.5\n"
                                       "    forward-backward ...............................: (5012.31, 9040.77)\n"
                                       "    optimizer ......................................: 30.5\n"
                                       "    forward-backward ...............................: (10.00, 20.00)\r\n"
                                       "    optimizer ......................................: 40.5\n"
                                       "    forward-backward ...............................: (10.00, 40.00)");
    assert_int_equal(log.count, 2);
    assert_true(fabs(timer_log_find(&log, "forward-backward") - 0.030) < 1e-12); /* without the first two */
    assert_true(fabs(timer_log_find(&log, "optimizer") - 0.0405) < 1e-12);
    assert_true(isnan(timer_log_find(&log, "batch-generator")));
}

static void other_lines_are_passed_over(void **state) {
    static const char *const texts[] = {"",
                                        "optimizer ....: 3.0\n",
                                        "    optimizer: 3.0\n",
                                        "    optimizer .....: \n",
                                        "    optimizer .....: (3.0\n",
                                        "    optimizer .....: (3.0, \n",
                                        "    OPTIMIZER .....: 3.0\n",
                                        "    optimizer .....: -3.0\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct timer_log log = read_timers(texts[i]);
        if (log.count) fail_msg("taken: '%s'", texts[i]);
    }
}

static struct kerf_estimate estimate_of(void) {
    static const double forward[] = {0.1, 0.1}, backward[] = {0.15, 0.15}, weight[] = {0.05, 0.05};
    static const struct kerf_pipeline pipeline = {.devices = 2,
                                                  .chunks = 1,
                                                  .microbatches = 10,
                                                  .num_stages = 2,
                                                  .forward_s = forward,
                                                  .backward_input_s = backward,
                                                  .backward_weight_s = weight};
    struct kerf_estimate estimate = {.step_time_s = 4, .step_low_s = 3.6, .step_high_s = 4.4, .pipeline_s = 3.5};
    estimate.pipeline = &pipeline;
    estimate.comparable_runs = 50;
    estimate.time_s = (struct kerf_parts){.of = {{"gemm", 3}, {"dp", 0.3}, {"optimizer", 0.2}}, .count = 3};
    return estimate;
}

static void what_exceeds_most_is_named(void **state) {
    struct explanation explanation;
    struct kerf_estimate estimate = estimate_of();
    (void)state;
    struct timer_log log = read_timers("    forward-compute .....: 1000.0\n    backward-compute ....: 2000.0\n"
                                       "    forward-backward ....: 3500.0\n    all-grads-sync ......: 1200.0\n"
                                       "    optimizer ...........: 250.0\n");
    explain_timers(&estimate, 5, &log, &explanation);
    assert_int_equal(explanation.count, 5);
    assert_true(explanation.rows[0].predicted_s == 1 && explanation.rows[1].predicted_s == 2);
    const struct explain_row *worst = explain_worst(&explanation);
    assert_non_null(worst);
    assert_string_equal(worst->name, "gradient reduction");
    assert_true(fabs(worst->measured_s - worst->predicted_s - 1) < 1e-12);
    log = read_timers("    forward-compute .....: 1010.0\n");
    explain_timers(&estimate, 4, &log, &explanation);
    assert_null(explain_worst(&explanation)); /* less than 2 % of the step */
    log.count = 0;
    explain_timers(&estimate, 5, &log, &explanation);
    assert_int_equal(explanation.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_slowest_rank_counts),
                                       cmocka_unit_test(other_lines_are_passed_over),
                                       cmocka_unit_test(what_exceeds_most_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
