/* SPDX-License-Identifier: Apache-2.0 */
/* Leases: trials whose client died, late reports, trials that were given up, and clocks that step. */
#include "job_steps.h"

#include <math.h>

static void a_lease_is_learnt_from_three_trials(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    struct kerf_job *job = create(&spec, 0);
    double now = 0;
    for (int i = 0; i < 3; i++) {
        assert_true(kerf_job_lease_s(job) == 24 * 3600);
        struct kerf_trial trial = predict(job, now);
        report(job, &trial, 1, 0, 1, now + 100);
        finish(job, &trial, 100, now += 500); /* 400 s of silence at most */
    }
    assert_true(kerf_job_lease_s(job) == 5 * 400);
    kerf_job_free(job);

    job = explored(spec, 0);
    assert_true(kerf_job_lease_s(job) == 600); /* gaps of a second */
    kerf_job_free(job);

    spec.lease_s = 20;
    job = explored(spec, 0);
    assert_true(kerf_job_lease_s(job) == 20);
    kerf_job_free(job);
    job = explored(spec, KERF_JOB_COMPAT);
    assert_true(isinf(kerf_job_lease_s(job)));
    kerf_job_free(job);
}

static void exploration_goes_on_when_a_client_died(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    struct kerf_job *job = create(&spec, 0);
    is_next(job, 0, 16, KERF_TRIAL_EXPLORATION);
    is_next(job, 24 * 3600, 16, KERF_TRIAL_CONCURRENT); /* still waiting */
    struct kerf_decision decision = decide(job, 24 * 3600 + 1);
    assert_int_equal(decision.trial.type, KERF_TRIAL_EXPLORATION);
    assert_int_equal(decision.trial.number, 3);
    assert_int_equal(decision.num_expired, 1);
    assert_int_equal(decision.expired[0].number, 1);
    assert_int_equal(decision.expired[0].batch_size, 16);
    assert_int_equal(decision.expired[0].status, KERF_TRIAL_FAILED);
    assert_int_equal(decision.expired[0].lease_ended, 1);
    kerf_job_free(job);

    job = create(&spec, KERF_JOB_COMPAT);
    is_next(job, 0, 16, KERF_TRIAL_EXPLORATION);
    is_next(job, 1e9, 16, KERF_TRIAL_CONCURRENT);
    kerf_job_free(job);
}

static void every_report_renews_the_lease(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    spec.lease_s = 10;
    struct kerf_job *job = create(&spec, 0);
    struct kerf_trial trial = predict(job, 0);
    for (int i = 1; i < 5; i++) {
        struct kerf_answer answer = report(job, &trial, 1, 0, 1, 9 * i);
        assert_int_equal(answer.changes, KERF_JOB_CHANGED_SEEN);
        assert_int_equal(answer.stop_train, 0);
        is_next(job, 9 * i + 5, 16, KERF_TRIAL_CONCURRENT);
    }
    assert_int_equal(kerf_job_expire(job, &trial, 46), 0);
    assert_int_equal(kerf_job_expire(job, &trial, 47), KERF_JOB_CHANGED_TRIAL);
    assert_int_equal(kerf_job_expire(job, &trial, 47), 0);
    is_next(job, 47, 16, KERF_TRIAL_EXPLORATION);
    kerf_job_free(job);
}

static void a_late_report_is_answered_like_one_in_time(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    spec.lease_s = 10;
    struct kerf_job *job = create(&spec, 0);
    struct kerf_trial late = predict(job, 0);
    struct kerf_answer answer = report(job, &late, 50, 0, 1, 20); /* its lease ended, nobody had asked */
    assert_int_equal(answer.stop_train, 0);
    assert_int_equal(answer.end, KERF_END_NONE);
    assert_int_equal(late.status, KERF_TRIAL_FAILED);
    answer = finish(job, &late, 50, 40);
    assert_int_equal(answer.stop_train && answer.converged, 1);
    assert_int_equal(answer.end, KERF_END_CONVERGED);
    assert_int_equal(late.status, KERF_TRIAL_SUCCEEDED);
    assert_int_equal(late.lease_ended, 1);
    assert_true(kerf_job_row_of(job)->min_cost == 50);
    answer = finish(job, &late, 60, 41);
    assert_int_equal(answer.changes, 0);
    assert_int_equal(answer.end, KERF_END_BEFORE);
    is_next(job, 41, 16, KERF_TRIAL_EXPLORATION); /* it was no exploration */
    kerf_job_free(job);
}

static void a_late_report_counts_for_its_arm(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    spec.lease_s = 10;
    struct kerf_job *job = create(&spec, 0);
    struct kerf_trial late = predict(job, 0);
    for (int i = 0; i < 3; i++) {
        struct kerf_trial trial = predict(job, 100 * (i + 1));
        assert_int_equal(trial.type, KERF_TRIAL_EXPLORATION);
        finish(job, &trial, 100 + 10 * i, 100 * (i + 1) + 1);
    }
    predict(job, 1000);
    assert_int_equal(arm_of(job, 16)->num_observations, 1);
    struct kerf_answer answer = finish(job, &late, 90, 1001);
    assert_int_equal(answer.changes & KERF_JOB_CHANGED_ARM, KERF_JOB_CHANGED_ARM);
    assert_int_equal(arm_of(job, 16)->num_observations, 2);
    assert_true(arm_of(job, 16)->param_mean == -95);
    assert_true(kerf_job_row_of(job)->min_cost == 90);
    kerf_job_free(job);
}

static void a_trial_that_was_given_up_stays_so(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    spec.lease_s = 10;
    struct kerf_job *job = create(&spec, 0);
    for (int late = 0; late < 2; late++) { /* before and after its lease ended */
        struct kerf_trial trial = predict(job, 100 * late);
        if (late) assert_int_equal(kerf_job_expire(job, &trial, 150), KERF_JOB_CHANGED_TRIAL);
        assert_true(give_up(job, &trial, 151).changes != 0);
        assert_int_equal(give_up(job, &trial, 151).changes, 0);
        assert_int_equal(finish(job, &trial, 100, 152).status, KERF_JOB_TRIAL_FAILED);
        assert_int_equal(trial.status, KERF_TRIAL_FAILED);
        assert_false(kerf_job_row_of(job)->has_min_cost);
    }
    kerf_job_free(job);
}

static void a_clock_set_back_does_no_harm(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    struct kerf_job *job = create(&spec, 0);
    struct kerf_trial trial = predict(job, 1e9);
    assert_int_equal(report(job, &trial, 1, 0, 1, 1e9 - 7200).stop_train, 0);
    assert_int_equal(finish(job, &trial, 100, 1e9 - 7100).converged, 1);
    assert_true(kerf_job_row_of(job)->longest_gap_s == 100);
    is_next(job, 5, 8, KERF_TRIAL_EXPLORATION);
    kerf_job_free(job);
}

/* As where a machine begins in 1970 and then learns the date. */
static void a_clock_set_forward_does_no_lasting_harm(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    struct kerf_job *job = create(&spec, 0);
    for (int i = 0; i < 3; i++) {
        struct kerf_trial trial = predict(job, i > 0 ? 1.8e9 : 0);
        finish(job, &trial, 100, 1.8e9 + 1);
    }
    assert_true(kerf_job_row_of(job)->longest_gap_s == 1.8e9 + 1);
    assert_true(kerf_job_lease_s(job) == 30 * 24 * 3600);
    kerf_job_free(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_is_learnt_from_three_trials),
        cmocka_unit_test(exploration_goes_on_when_a_client_died),
        cmocka_unit_test(every_report_renews_the_lease),
        cmocka_unit_test(a_late_report_is_answered_like_one_in_time),
        cmocka_unit_test(a_late_report_counts_for_its_arm),
        cmocka_unit_test(a_trial_that_was_given_up_stays_so),
        cmocka_unit_test(a_clock_set_back_does_no_harm),
        cmocka_unit_test(a_clock_set_forward_does_no_lasting_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
