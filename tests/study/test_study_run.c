/* SPDX-License-Identifier: Apache-2.0 */
/* A study while it runs: what was skipped when it began stays skipped, and an error in the middle loses nothing. The
 * program is the simulated worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/study.h"

enum { SETTINGS = 6 }; /* batch 64, 128, 256 with ubatch 64 and 128, the last one fastest */

static char folder[64];
static int32_t starts_left; /* then no trial can be started */
int32_t __real_kerf_trial_start(struct kerf_trial_runner *runner, int32_t slot, int32_t id, int32_t setting,
                                double limit, struct kerf_error *err);
int32_t __wrap_kerf_trial_start(struct kerf_trial_runner *runner, int32_t slot, int32_t id, int32_t setting,
                                double limit, struct kerf_error *err);

/* What the study calls for kerf_trial_start (the linker's --wrap). */
int32_t __wrap_kerf_trial_start(struct kerf_trial_runner *runner, int32_t slot, int32_t id, int32_t setting,
                                double limit, struct kerf_error *err) {
    if (starts_left-- > 0) return __real_kerf_trial_start(runner, slot, id, setting, limit, err);
    return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a trial");
}

static struct kerf_study_request usual(void) {
    static const char *params[] = {"batch=64..256:x2", "ubatch=64..128:x2"},
                      *words[] = {KERF_PROGRAMS "/simulated_worker"};
    struct kerf_study_request request;
    kerf_study_request_defaults(&request);
    request.params = (struct kerf_study_strings){params, 2};
    request.words = (struct kerf_study_strings){words, 1};
    request.protocol = "worker";
    request.ignore_interference = 1;
    return request;
}

static struct kerf_study_record *read_back(const char *id) {
    struct kerf_study_record *record = NULL;
    struct kerf_error err = {.message = ""};
    if (kerf_study_record_read(id, &record, &err) != KERF_OK) fail_msg("%s", err.message);
    return record;
}

/* Runs it for so many measurements, and gives back whether study_run did. */
static int32_t run(const char *id, const struct kerf_study_record *resumed, const char *const *skipped, int32_t starts,
                   struct kerf_study_state **ret_run, struct kerf_error *err) {
    struct kerf_study_request request = usual();
    struct kerf_study_plan plan = {.request = resumed ? &resumed->request : &request,
                                   .resumed = resumed,
                                   .skipped = skipped,
                                   .keep_journal = 1,
                                   .wake_fd = -1};
    snprintf(plan.id, sizeof plan.id, "%s", id);
    starts_left = starts;
    return kerf_study_run(&plan, ret_run, err);
}

/* ---- An error in the middle ----------------------------------------------------------------------------------- */

static void an_error_loses_nothing(void **state) {
    (void)state;
    struct kerf_study_state *study = NULL;
    struct kerf_error err;
    struct kerf_tune_answer answer;
    assert_int_equal(run("broken", NULL, NULL, 3, &study, &err), KERF_OK);
    const struct kerf_study_state *known = study;
    assert_int_equal(known->num_entries, 3);
    assert_int_equal(known->stop, KERF_STUDY_INTERRUPTED);
    assert_int_equal(known->broke_off, 1);
    assert_string_equal(known->reason, "not enough memory for a trial");
    assert_int_equal(kerf_tune_study_answer(known->study, &answer, &err), KERF_OK);
    assert_true(answer.best >= 0);
    kerf_study_state_free(study);

    struct kerf_study_record *record = read_back("broken");
    assert_int_equal(record->num_entries, 3);
    assert_string_equal(record->stopped, "interrupted");
    assert_string_equal(record->reason, "not enough memory for a trial");
    assert_int_equal(run("", record, NULL, 1000, &study, &err), KERF_OK); /* and on it goes */
    assert_int_equal(study->stop, KERF_STUDY_CONFIDENT);
    assert_int_equal(study->broke_off, 0);
    kerf_study_state_free(study);
    kerf_study_record_free(record);
}

/* Where nothing was measured there is nothing to tell. */
static void an_error_at_once_is_one(void **state) {
    (void)state;
    struct kerf_study_state *study = NULL;
    struct kerf_error err;
    assert_int_equal(run("nothing", NULL, NULL, 0, &study, &err), KERF_ENOMEM);
    assert_null(study);
    assert_string_equal(err.message, "not enough memory for a trial");
}

/* ---- What was skipped ----------------------------------------------------------------------------------------- */

static int32_t times_measured(const struct kerf_study_state *known, int32_t setting) {
    int32_t times = 0;
    for (int32_t i = 0; i < known->num_entries; i++) times += known->entries[i].result.observation.setting == setting;
    return times;
}

static void is_skipped(struct kerf_study_state *study, int32_t setting, const char *reason) {
    struct kerf_tune_answer answer;
    const struct kerf_study_state *known = study;
    assert_int_equal(kerf_tune_study_answer(known->study, &answer, NULL), KERF_OK);
    assert_int_equal(times_measured(known, setting), 0);
    assert_int_equal(answer.settings[setting].status, KERF_TUNE_SKIPPED);
    assert_string_equal(answer.settings[setting].reason, reason);
}

/* Of the machine as it was when the study began, and not as it is when it goes on or is shown. */
static void skipped_stays_skipped(void **state) {
    (void)state;
    const char *then[SETTINGS] = {[3] = "needs 2 GiB, of \"1 GiB\"", [5] = "needs 3 GiB, of 1 GiB"},
               *now[SETTINGS] = {[1] = "needs 1 GiB, of 0.5 GiB"};
    struct kerf_study_state *study = NULL;
    struct kerf_error err;
    assert_int_equal(run("skips", NULL, then, 2, &study, &err), KERF_OK);
    kerf_study_state_free(study);
    struct kerf_study_record *record = read_back("skips");
    assert_int_equal(record->space->num_settings, SETTINGS);
    for (int32_t i = 0; i < SETTINGS; i++)
        if (then[i])
            assert_string_equal(record->skipped[i], then[i]);
        else
            assert_null(record->skipped[i]);
    assert_int_equal(run("", record, now, 1000, &study, &err), KERF_OK);
    is_skipped(study, 3, then[3]);
    is_skipped(study, 5, then[5]);
    assert_true(times_measured(study, 1) > 0); /* by now the fastest */
    kerf_study_state_free(study);
    kerf_study_record_free(record);

    record = read_back("skips");
    assert_int_equal(kerf_study_replay(record, NULL, &study, &err), KERF_OK);
    is_skipped(study, 3, then[3]);
    is_skipped(study, 5, then[5]);
    kerf_study_state_free(study);
    kerf_study_record_free(record);
}

/* None was skipped, and that is said. */
static void none_skipped_is_said(void **state) {
    (void)state;
    const char *none[SETTINGS] = {NULL}, *now[SETTINGS] = {[5] = "needs 3 GiB, of 1 GiB"};
    struct kerf_study_state *study = NULL;
    struct kerf_error err;
    assert_int_equal(run("none", NULL, none, 2, &study, &err), KERF_OK);
    kerf_study_state_free(study);
    struct kerf_study_record *record = read_back("none");
    assert_non_null(record->skipped);
    assert_int_equal(run("", record, now, 1000, &study, &err), KERF_OK);
    assert_true(times_measured(study, 5) > 0);
    kerf_study_state_free(study);
    kerf_study_record_free(record);
}

/* An older journal says nothing: what is skipped now counts, and is said from then on. */
static void older_journals_learn_it(void **state) {
    (void)state;
    const char *now[SETTINGS] = {[5] = "needs 3 GiB, of 1 GiB"};
    struct kerf_study_state *study = NULL;
    struct kerf_error err;
    assert_int_equal(run("old", NULL, NULL, 1, &study, &err), KERF_OK);
    kerf_study_state_free(study);
    struct kerf_study_record *record = read_back("old");
    assert_null(record->skipped);
    assert_int_equal(run("", record, now, 1000, &study, &err), KERF_OK);
    is_skipped(study, 5, now[5]);
    kerf_study_state_free(study);
    kerf_study_record_free(record);
    record = read_back("old");
    assert_string_equal(record->skipped[5], now[5]);
    kerf_study_record_free(record);
}

/* ---- The study's clock ---------------------------------------------------------------------------------------- */

/* The simulated worker's clock begins at 0 and runs ahead of kerf's: when the study goes on, it goes on. */
static void time_goes_on(void **state) {
    (void)state;
    struct kerf_study_state *study = NULL;
    struct kerf_error err;
    assert_int_equal(run("time", NULL, NULL, 3, &study, &err), KERF_OK);
    kerf_study_state_free(study);
    struct kerf_study_record *record = read_back("time");
    assert_int_equal(run("", record, NULL, 1000, &study, &err), KERF_OK);
    const struct kerf_study_state *known = study;
    assert_true(known->num_entries > 3);
    for (int32_t i = 0; i < known->num_entries; i++) {
        const struct kerf_tune_observation *seen = &known->entries[i].result.observation;
        if (i > 0) assert_true(seen->start_s >= known->entries[i - 1].result.observation.end_s);
        assert_true(seen->end_s - seen->start_s > 0.2); /* by its own clock, of which kerf's takes a millisecond */
    }
    kerf_study_state_free(study);
    kerf_study_record_free(record);
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/kerf-studies-XXXXXX");
    return mkdtemp(folder) && setenv("KERF_STUDIES", folder, 1) == 0 && setenv("KERF_FSROOT", folder, 1) == 0 ? 0 : -1;
}

static int empty_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_loses_nothing),  cmocka_unit_test(an_error_at_once_is_one),
        cmocka_unit_test(skipped_stays_skipped),   cmocka_unit_test(none_skipped_is_said),
        cmocka_unit_test(older_journals_learn_it), cmocka_unit_test(time_goes_on)};
    return cmocka_run_group_tests(tests, make_folder, empty_folder);
}
