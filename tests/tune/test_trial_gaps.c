/* SPDX-License-Identifier: Apache-2.0 */
/* Others that are busy while trials run: a neighbour, who is busy between them too, or the trial's own server, which is
 * not. What the machine tells is scripted, so that it does not matter what else this one does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "trial/trial_slot.h"
#include "trial_runs.h"

/* What others use, in processors. */
static struct world {
    double in_trials, in_gaps;
    const struct kerf_trial_runner *runner;
    struct machine_load now;
} world;

/* Replaces the library's: others used as much of the time since the last reading as the world says. */
struct machine_load __wrap_machine_load_read(const char *root, const cpu_set_t *set, double now_s);
struct machine_load __wrap_machine_load_read(const char *root, const cpu_set_t *set, double now_s) {
    (void)root;
    (void)set;
    enum trial_phase phase = world.runner->slots[0].trial.phase;
    int in_trial = phase == PHASE_RUN || phase == PHASE_ENDING;
    world.now.busy_s += (now_s - world.now.at_s) * (in_trial ? world.in_trials : world.in_gaps);
    world.now.at_s = now_s;
    return world.now;
}

static void begin(struct kerf_trial_runner *runner) {
    world = (struct world){.runner = runner, .now = {.processors = 4}};
}

/* A trial of a quarter of a second or more, however slow the machine is, has a gap of half a second behind it. */
static struct kerf_trial_runner *sleeper(int watch) {
    static const char *const words[] = {"sh", "-c", "sleep 0.25; : {setting}"};
    const struct kerf_trial_command command = {.words = words, .num_words = 3, .watch_machine = watch};
    struct kerf_trial_runner *runner = runner_of(&command);
    begin(runner);
    return runner;
}

/* One trial with others as busy as that. NULL: it counts. */
static const char *one(struct kerf_trial_runner *runner, double in_trials, double in_gaps, double *ret_between) {
    static char reason[100];
    world.in_trials = in_trials;
    world.in_gaps = in_gaps;
    struct kerf_trial_result result = trial_of(runner, 0, 0);
    assert_int_equal(result.observation.outcome, KERF_TUNE_VALUE);
    *ret_between = result.machine.between;
    return kerf_trial_disturbed(&result, reason, sizeof reason) ? reason : NULL;
}

/* It needs one trial, made again, to be told from a neighbour who has just come; after that it is known. */
static void own_server(void **state) {
    (void)state;
    struct kerf_trial_runner *runner = sleeper(1);
    double between;
    const char *reason = one(runner, 3, 0, &between);
    assert_non_null(reason);
    assert_non_null(strstr(reason, "of 4 processors"));
    assert_true(isnan(between)); /* the gap before the first trial was not looked at */
    assert_null(one(runner, 3, 0, &between));
    assert_true(between < 0.1);
    assert_null(one(runner, 0, 0, &between)); /* a setting that asks nothing of it, and back */
    assert_null(one(runner, 3, 0, &between));
    assert_null(one(runner, 3, 0.05, &between));  /* a server that is never quite idle */
    assert_non_null(one(runner, 3, 3, &between)); /* a neighbour comes: he is not forgiven for the server's sake */
    assert_true(between > 1);
    assert_non_null(one(runner, 3, 0, &between)); /* and goes while the trial runs */
    assert_null(one(runner, 3, 0, &between));
    free_and_check(runner);
}

static void neighbour(void **state) {
    (void)state;
    struct kerf_trial_runner *runner = sleeper(1);
    double between;
    for (int i = 0; i < 3; i++) {
        assert_non_null(one(runner, 3, 3, &between));
        assert_true(i == 0 ? isnan(between) : between > 1);
    }
    assert_null(one(runner, 0, 0, &between));     /* he went away */
    assert_non_null(one(runner, 3, 0, &between)); /* once in one trial is no server: it is made again */
    free_and_check(runner);
}

/* Where nothing looks busy no gap is looked at, and no time is spent on one. */
static void quiet(void **state) {
    (void)state;
    struct kerf_trial_runner *runner = sleeper(1);
    double between;
    for (int i = 0; i < 2; i++) {
        assert_null(one(runner, 0, 3, &between));
        assert_true(isnan(between));
        assert_false(runner->slots[0].gap.is_open);
    }
    free_and_check(runner);
    runner = sleeper(0); /* nor where nobody asked */
    assert_null(one(runner, 3, 3, &between));
    assert_true(isnan(between));
    free_and_check(runner);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(own_server), cmocka_unit_test(neighbour),
                                       cmocka_unit_test(quiet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
