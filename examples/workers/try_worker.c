/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries a worker as `kerf tune` would, with libkerf: every setting once, then the slowest again with a limit, and a
 * setting that the worker must refuse. Ends with status 0 when all answers are what they must be.
 *
 *     try_worker ./worker          try_worker python3 worker.py
 */
#include <stdio.h>
#include "kerf/trial.h"

/* What `--param block=0,16,64` makes: kerf_tune_space_create reads it from text. */
static const int64_t integers[] = {0, 16, 64};
static const char *const texts[] = {"0", "16", "64"};
static const struct kerf_tune_param block = {"block", KERF_TUNE_INTEGER, 3, integers, texts, NULL};
static const int32_t values[] = {0, 1, 2};
static const struct kerf_tune_space space = {&block, values, 1, 3, -1, 0};

static int trial(struct kerf_trial_runner *runner, int32_t setting, double limit, int32_t expected) {
    static const char *const words[] = {"value", "censored", "failed"};
    struct kerf_trial_result result;
    struct kerf_error err;
    int32_t ended;
    if (kerf_trial_start(runner, 0, setting, setting, limit, &err) != KERF_OK ||
        kerf_trial_wait(runner, -1, -1, &result, &ended, &err) != KERF_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 0;
    }
    printf("block=%s limit=%g: %s %g %s\n", texts[setting], limit, words[result.observation.outcome],
           result.observation.value, result.message);
    return result.observation.outcome == expected;
}

int main(int argc, char **argv) {
    struct kerf_trial_command command = {
        .words = (const char *const *)argv + 1, .num_words = argc - 1, .protocol = "worker", .trial_timeout_s = 60};
    struct kerf_trial_runner *runner;
    struct kerf_error err;
    if (kerf_trial_runner_create(&space, &command, &runner, &err) != KERF_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 2;
    }
    int is_good = trial(runner, 1, 0, KERF_TUNE_VALUE) && trial(runner, 2, 0, KERF_TUNE_VALUE) &&
                  trial(runner, 2, 1e-6, KERF_TUNE_CENSORED) && trial(runner, 0, 0, KERF_TUNE_FAILED) &&
                  trial(runner, 1, 0, KERF_TUNE_VALUE) && kerf_trial_loads(runner) == 1;
    kerf_trial_runner_free(runner);
    puts(is_good ? "all answers are what they must be" : "an answer is not what it must be");
    return !is_good;
}
