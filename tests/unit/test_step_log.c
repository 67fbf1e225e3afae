/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of training runs: the four forms, warm-up, and what is no log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "kerf/text.h"
#include "score/step_log.h"

static struct step_log read_log(const char *text) {
    struct step_log log;
    struct kerf_error err;
    if (step_log_read(text, strlen(text), "x.log", &log, &err) != KERF_OK) fail_msg("%s", err.message);
    return log;
}

static void megatron(void **state) {
    struct kerf_text text = {0};
    (void)state;
    for (int i = 1; i <= 30; i++)
        kerf_text_printf(
            &text,
            " [2026-01-02 03:04:05] iteration %8d/     100 | consumed samples:        %d | elapsed time per "
            "iteration (ms): %.1f | throughput per GPU (TFLOP/s/GPU): 400.0 | learning rate: 1.5E-04 |\n",
            i, i * 512,
            i <= 3    ? 60000.0
            : i == 20 ? 9000.0
                      : 5000.0 + i % 3);
    struct step_log log = read_log(text.data);
    assert_string_equal(log.framework, "Megatron-LM");
    assert_int_equal(log.steps, 27);
    assert_true(fabs(log.step_s - 5.001) < 1e-9 && isnan(log.tokens_per_s));
    assert_true(log.deviation < 0.001);
    kerf_text_free(&text);
}

static void the_others(void **state) {
    (void)state;
    struct step_log log = read_log("Training epoch 0, iteration 0/99 | lr: 1e-6 | train_step_timing in s: 40.1\n"
                                   "Training epoch 0, iteration 1/99 | lr: 1e-6 | train_step_timing in s: 4.2\n"
                                   "Training epoch 0, iteration 2/99 | lr: 1e-6 | train_step_timing in s: 3.4\n"
                                   "Training epoch 0, iteration 3/99 | lr: 1e-6 | train_step_timing in s: 3.5\r\n"
                                   "Training epoch 0, iteration 4/99 | lr: 1e-6 | train_step_timing in s: 3.6");
    assert_string_equal(log.framework, "NeMo");
    assert_true(log.step_s == 3.5 && log.steps == 3);
    log =
        read_log("[rank0]:\033[31mstep:  1  \033[32mloss: 12.2\033[33m  memory: 41.9GiB(52%)  \033[34mtps: 212\n"
                 "step: 2 tps: 3,000\nstep: 3 tps: 3,100\nstep: 4 tps: \033[34m3,212\nstep: 5 tps: 3,300  mfu: 40%\n");
    assert_string_equal(log.framework, "torchtitan");
    assert_true(isnan(log.step_s) && log.tokens_per_s == 3212);
    log =
        read_log("iteration: 1 / 100 | elapsed_time_per_iteration_ms: 90K | lm_loss: 9\n"
                 "iteration: 2 / 100 | elapsed_time_per_iteration_ms: 12K |\niteration: 3 / 100 | "
                 "elapsed_time_per_iteration_ms: 11.3K |\niteration: 4 / 100 | elapsed_time_per_iteration_ms: 11.2K |\n"
                 "iteration: 5 / 100 | elapsed_time_per_iteration_ms: 987 |\n");
    assert_string_equal(log.framework, "nanotron");
    assert_true(fabs(log.step_s - 11.2) < 1e-9);
}

static void what_is_no_log(void **state) {
    static const char *const texts[] = {"",
                                        "nothing here\n",
                                        "iteration 1 elapsed time per iteration (ms):",
                                        "iteration 1 | elapsed time per iteration (ms): 12 |\n",
                                        "iteration 1 | elapsed time per iteration (ms): nan |\n",
                                        "iteration 1 | elapsed time per iteration (ms): -5 |\n",
                                        "iteration | elapsed time per iteration (ms): 99999999999999999999 |\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct step_log log;
        struct kerf_error err;
        assert_int_equal(step_log_read(texts[i], strlen(texts[i]), "x.log", &log, &err), KERF_EINVALID);
        assert_non_null(strstr(err.message, "x.log"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(megatron), cmocka_unit_test(the_others),
                                       cmocka_unit_test(what_is_no_log)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
