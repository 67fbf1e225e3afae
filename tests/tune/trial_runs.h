/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of trials share: a space, commands of the programs beside them, and that no process is left. */
#ifndef KERF_TEST_TRIAL_RUNS_H
#define KERF_TEST_TRIAL_RUNS_H

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "kerf/trial.h"
#include "trial/process_family.h"

/* n is 1 to 4 and fast is off or on; setting 2 * (n - 1) + fast. */
static const int64_t n_values[] = {1, 2, 3, 4};
static const char *const n_texts[] = {"1", "2", "3", "4"}, *const fast_texts[] = {"", "--fast --more"};
static const struct kerf_tune_param params[] = {{"n", KERF_TUNE_INTEGER, 4, n_values, n_texts, NULL},
                                                {"fast", KERF_TUNE_FLAG, 2, NULL, fast_texts, NULL}};
static const int32_t setting_values[] = {0, 0, 0, 1, 1, 0, 1, 1, 2, 0, 2, 1, 3, 0, 3, 1};
static const struct kerf_tune_space n_space = {params, setting_values, 2, 8, -1, 0};

static inline int32_t setting_of(int n) { return 2 * (n - 1); }

/* A command of one of the programs; its words live until the next call. But for a worker
 * the setting is behind them, so that every parameter is used. */
static inline struct kerf_trial_command command_of(const char *protocol, const char *program, const char *first,
                                                   const char *second) {
    static const char *words[8];
    static char path[512];
    int32_t count = 0;
    snprintf(path, sizeof path, "%s/%s", KERF_PROGRAMS, program);
    words[count++] = path;
    if (first) words[count++] = first;
    if (second) words[count++] = second;
    if (protocol[0] != 'w') words[count++] = "{setting}"; /* a worker hears it */
    return (struct kerf_trial_command){
        .words = words, .num_words = count, .protocol = protocol, .grace_s = 0.3, .watch_machine = 1};
}

static inline struct kerf_trial_runner *runner_of(const struct kerf_trial_command *command) {
    struct kerf_trial_runner *runner = NULL;
    struct kerf_error err = {0};
    if (kerf_trial_runner_create(&n_space, command, &runner, &err) != KERF_OK) fail_msg("%s", err.message);
    return runner;
}

static inline struct kerf_trial_result trial_of(struct kerf_trial_runner *runner, int32_t setting, double limit) {
    static int32_t id;
    struct kerf_trial_result result;
    struct kerf_error err = {0};
    int32_t ended = 0;
    id++;
    if (kerf_trial_start(runner, 0, id, setting, limit, &err) != KERF_OK) fail_msg("%s", err.message);
    if (kerf_trial_wait(runner, -1, -1, &result, &ended, &err) != KERF_OK) fail_msg("%s", err.message);
    assert_int_equal(ended, 1);
    assert_int_equal(result.id, id);
    assert_int_equal(result.observation.setting, setting);
    assert_int_equal(result.observation.slot, 0);
    assert_true(result.observation.end_s >= result.observation.start_s);
    return result;
}

static inline void is_value(const struct kerf_trial_result *result, double least, double most) {
    double value = result->observation.value;
    if (result->observation.outcome != KERF_TUNE_VALUE) fail_msg("it failed: %s", result->message);
    if (!(value >= least && value <= most)) fail_msg("%g is not within %g and %g", value, least, most);
    assert_int_equal(result->observation.failure, KERF_TUNE_FAILURE_NONE);
    assert_string_equal(result->message, "");
}

static inline void is_censored(const struct kerf_trial_result *result, double value) {
    if (result->observation.outcome != KERF_TUNE_CENSORED)
        fail_msg("outcome %d: %s", result->observation.outcome, result->message);
    assert_true(result->observation.value == value);
}

static inline void is_failed(const struct kerf_trial_result *result, int32_t failure, const char *words) {
    assert_int_equal(result->observation.outcome, KERF_TUNE_FAILED);
    if (result->observation.failure != failure)
        fail_msg("failure %d, not %d: %s", result->observation.failure, failure, result->message);
    assert_true(isnan(result->observation.value));
    if (!strstr(result->message, words)) fail_msg("'%s' lacks '%s'", result->message, words);
}

/* How many processes are below this one. */
static inline size_t processes(void) {
    struct descendants all = {0};
    descendants_read(&all);
    size_t count = all.count;
    descendants_free(&all);
    return count;
}

static inline void free_and_check(struct kerf_trial_runner *runner) {
    assert_null(kerf_trial_runner_free(runner));
    assert_int_equal(processes(), 0);
}

#endif
