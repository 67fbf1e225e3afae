/* SPDX-License-Identifier: Apache-2.0 */
/* Recurring jobs: where kerf departs from the reference, and specs. What equals the reference is in
 * tests/reference/test_jobs_golden.c, what always holds in tests/fuzz/fuzz_jobs.c. */
#include "job_steps.h"

#include <math.h>

/* ---- differences -------------------------------------------------------------------------------------- */

static void a_result_from_pruning_counts_while_exploiting(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    for (int32_t flags = 0; flags <= KERF_JOB_COMPAT; flags++) {
        struct kerf_job *job = create(&spec, flags);
        struct kerf_trial first = predict(job, 0), concurrent = predict(job, 0);
        assert_int_equal(concurrent.type, KERF_TRIAL_CONCURRENT);
        finish(job, &first, 100, 1);
        for (int i = 0; i < 2; i++) {
            struct kerf_trial trial = predict(job, 1);
            finish(job, &trial, 110, 1);
        }
        predict(job, 2);
        struct kerf_answer answer = finish(job, &concurrent, 80, 3);
        assert_int_equal(answer.status, flags ? KERF_JOB_NOT_FROM_MAB : KERF_JOB_ANSWERED);
        assert_int_equal(arm_of(job, 16)->num_observations, flags ? 1 : 2);
        assert_true(kerf_job_row_of(job)->min_cost == (flags ? 100 : 80));
        kerf_job_free(job);
    }
}

static void a_pruned_size_has_no_arm_but_its_result_counts(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    struct kerf_job *job = create(&spec, 0);
    struct kerf_trial first = predict(job, 0), concurrent = predict(job, 0);
    finish(job, &first, 100, 1);
    struct kerf_trial down = predict(job, 1), up;
    finish(job, &down, 50, 1); /* now everything else is twice as dear */
    up = predict(job, 1);
    assert_int_equal(up.batch_size, 32);
    assert_int_equal(finish(job, &up, 500, 1).converged, 0);
    struct kerf_trial trial = predict(job, 2);
    assert_int_equal(trial.type, KERF_TRIAL_MAB);
    assert_null(arm_of(job, 32));
    up.status = KERF_TRIAL_DISPATCHED; /* another one of the same size */
    up.number = 99, up.type = KERF_TRIAL_CONCURRENT, up.converged = -1;
    struct kerf_answer answer = finish(job, &up, 40, 3);
    assert_int_equal(answer.status, KERF_JOB_ANSWERED);
    assert_int_equal(answer.changes & KERF_JOB_CHANGED_ARM, 0);
    assert_true(kerf_job_row_of(job)->min_cost == 40);
    (void)concurrent;
    kerf_job_free(job);
}

static void without_rounds_every_size_is_an_arm_and_tried(void **state) {
    (void)state;
    static const char *const policies[] = {"zeus", "kerf"};
    for (int i = 0; i < 2; i++) {
        struct kerf_job_spec spec = usual();
        spec.num_pruning_rounds = 0;
        spec.mab_num_explorations = 0;
        spec.policy = policies[i];
        struct kerf_job *job = create(&spec, 0);
        int tried = 0;
        for (int k = 0; k < 3; k++) {
            struct kerf_trial trial = predict(job, 0);
            assert_int_equal(trial.type, KERF_TRIAL_MAB);
            tried |= (int)trial.batch_size;
            finish(job, &trial, 100, 1);
        }
        assert_int_equal(tried, 8 + 16 + 32);
        kerf_job_free(job);
    }
    struct kerf_job_spec spec = usual();
    spec.num_pruning_rounds = 0;
    struct kerf_job *job = create(&spec, KERF_JOB_COMPAT);
    struct kerf_decision decision = decide(job, 0);
    assert_int_equal(decision.status, KERF_JOB_WEDGED);
    assert_int_equal(decision.fault, KERF_FAULT_NO_ROUNDS);
    kerf_job_free(job);
}

/* Three arms that cost the same: how many of them 40 requests within a second get. */
static int sizes_drawn(int32_t flags) {
    struct kerf_job_spec spec = usual();
    spec.has_mab_seed = 0;
    spec.num_pruning_rounds = 1;
    spec.mab_num_explorations = 2;
    struct kerf_job *job = explored(spec, flags);
    int seen = 0, count = 0;
    for (int k = 0; k < 46; k++) {
        struct kerf_trial trial = predict(job, 7);
        if (k < 6)
            finish(job, &trial, k % 2 ? 100 : 110, 1);
        else
            seen |= (int)trial.batch_size;
    }
    for (; seen; seen &= seen - 1) count++;
    kerf_job_free(job);
    return count;
}

static void arms_without_a_seed_are_drawn_apart(void **state) {
    (void)state;
    assert_int_equal(sizes_drawn(KERF_JOB_COMPAT), 1);
    assert_true(sizes_drawn(0) >= 2);
}

/* The second round begins with the best, whose run then costs more than beta allows. */
static struct kerf_decision prune_everything(int32_t flags, struct kerf_job **ret_job) {
    struct kerf_job_spec spec = usual();
    spec.num_pruning_rounds = 2;
    struct kerf_job *job = *ret_job = explored(spec, flags);
    for (int i = 0; i < 2; i++) { /* the best, and the one above it */
        struct kerf_decision decision = decide(job, 2);
        if (decision.trial.type != KERF_TRIAL_EXPLORATION) return decision;
        assert_int_equal(finish(job, &decision.trial, 1000, 3).converged, 0);
    }
    return decide(job, 4);
}

static void a_round_that_prunes_everything_keeps_the_survivors(void **state) {
    (void)state;
    struct kerf_job *job;
    struct kerf_decision decision = prune_everything(0, &job);
    assert_int_equal(decision.status, KERF_JOB_ANSWERED);
    assert_int_equal(decision.trial.type, KERF_TRIAL_MAB);
    assert_non_null(arm_of(job, 8));
    assert_non_null(arm_of(job, 16));
    assert_non_null(arm_of(job, 32));
    kerf_job_free(job);

    decision = prune_everything(KERF_JOB_COMPAT, &job);
    assert_int_equal(decision.status, KERF_JOB_NOTHING_CONVERGED);
    kerf_job_free(job);
}

static void nothing_converged_in_the_first_round(void **state) {
    (void)state;
    static const char *const policies[] = {"zeus", "kerf"};
    for (int i = 0; i < 2; i++) {
        struct kerf_job_spec spec = usual();
        spec.policy = policies[i];
        struct kerf_job *job = create(&spec, 0);
        struct kerf_decision decision;
        while ((decision = decide(job, 0)).status == KERF_JOB_ANSWERED) report(job, &decision.trial, 100, 0, 100, 1);
        assert_int_equal(decision.status, KERF_JOB_NOTHING_CONVERGED);
        assert_int_equal(decision.changes, 0);
        kerf_job_free(job);
    }
}

static void invalid_numbers_are_refused(void **state) {
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY, -1};
    struct kerf_job_spec spec = usual();
    struct kerf_job *job = create(&spec, 0);
    struct kerf_trial trial = predict(job, 0);
    for (int i = 0; i < 4; i++) {
        struct kerf_answer answer = finish(job, &trial, bad[i], 1);
        assert_int_equal(answer.status, KERF_JOB_INVALID_RESULT);
        assert_int_equal(answer.invalid, KERF_REPORT_ENERGY);
        assert_int_equal(report(job, &trial, bad[i], 0, 1, 1).status, KERF_JOB_INVALID_RESULT);
        if (i == 3) continue;
        answer = report(job, &trial, 1, bad[i], 1, 1);
        assert_int_equal(answer.status, KERF_JOB_INVALID_RESULT);
        assert_int_equal(answer.invalid, KERF_REPORT_METRIC);
    }
    assert_int_equal(trial.status, KERF_TRIAL_DISPATCHED);
    assert_int_equal(finish(job, &trial, 1, 2).status, KERF_JOB_ANSWERED);
    kerf_job_free(job);
}

/* Finite energies whose cost is none: the reference looks for batch size 0 for ever. */
static void a_cost_that_overflows_wedges_nothing(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    spec.eta_knob = 0;
    spec.max_power = 1e308;
    spec.num_pruning_rounds = 2;
    for (int32_t flags = 0; flags <= KERF_JOB_COMPAT; flags++) {
        struct kerf_job *job = create(&spec, flags);
        struct kerf_decision decision = {.status = KERF_JOB_ANSWERED};
        for (int i = 0; i < 6 && decision.status == KERF_JOB_ANSWERED; i++) {
            decision = decide(job, 0);
            if (decision.status != KERF_JOB_ANSWERED) break;
            struct kerf_report said = {decision.trial.batch_size, decision.trial.number, 1e10, 1, 1, 1};
            struct kerf_answer answer;
            kerf_job_report(job, &decision.trial, &said, 1, &answer, NULL);
        }
        decision = decide(job, 2);
        assert_int_equal(decision.status, flags ? KERF_JOB_WEDGED : KERF_JOB_ANSWERED);
        assert_int_equal(decision.fault, flags ? KERF_FAULT_NO_START : KERF_FAULT_NONE);
        kerf_job_free(job);
    }
}

/* A posterior that is no number: the reference's database refuses it each time, and nothing changes. */
static void an_invalid_posterior_wedges_compat_alone(void **state) {
    (void)state;
    static const int64_t one[] = {16};
    struct kerf_job_spec spec = usual();
    spec.batch_sizes = one;
    spec.num_batch_sizes = 1;
    spec.num_pruning_rounds = 1;
    spec.eta_knob = 0;
    spec.max_power = 1e300;
    for (int32_t flags = 0; flags <= KERF_JOB_COMPAT; flags++) {
        struct kerf_job *job = create(&spec, flags);
        struct kerf_trial trial = predict(job, 0);
        struct kerf_report overflows = {16, trial.number, 1e10, 1, 1, 1};
        struct kerf_answer answer;
        assert_int_equal(kerf_job_report(job, &trial, &overflows, 1, &answer, NULL), KERF_OK);
        for (int i = 0; i < 2; i++) {
            struct kerf_decision decision = decide(job, 2);
            assert_int_equal(decision.status, flags ? KERF_JOB_WEDGED : KERF_JOB_ANSWERED);
            assert_int_equal(decision.fault, flags ? KERF_FAULT_PARAM_MEAN : KERF_FAULT_NONE);
            assert_true((decision.changes == 0) == (flags != 0));
            assert_int_equal(kerf_job_row_of(job)->stage, flags ? KERF_JOB_PRUNING : KERF_JOB_MAB);
        }
        kerf_job_free(job);
        job = create(&spec, flags);
        trial = predict(job, 0);
        finish(job, &trial, 0, 1);
        trial = predict(job, 2);
        overflows.trial_number = trial.number;
        for (int i = 0; i < 2; i++) { /* without compat the second one is a repeat */
            assert_int_equal(kerf_job_report(job, &trial, &overflows, 3, &answer, NULL), KERF_OK);
            assert_int_equal(answer.status, flags ? KERF_JOB_WEDGED : KERF_JOB_ANSWERED);
            assert_int_equal(trial.status, flags ? KERF_TRIAL_DISPATCHED : KERF_TRIAL_SUCCEEDED);
        }
        assert_int_equal(finish(job, &trial, 1, 3).status, KERF_JOB_ANSWERED);
        kerf_job_free(job);
    }
}

static void arms_are_in_order_however_they_are_stored(void **state) {
    (void)state;
    struct kerf_job *job = explored(usual(), 0), *again[2];
    predict(job, 2);
    struct kerf_job_spec spec = usual();
    int32_t count;
    const struct kerf_arm *arms = kerf_job_arms(job, &count);
    assert_int_equal(count, 3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kerf_job_restore(&spec, kerf_job_row_of(job), 0, &again[i], NULL), KERF_OK);
        for (int k = 0; k < 3; k++)
            assert_int_equal(kerf_job_restore_arm(again[i], &arms[i ? 2 - k : k], NULL), KERF_OK);
        assert_int_equal(kerf_job_restore_arm(again[i], &arms[0], NULL), KERF_EINVALID);
    }
    for (int k = 0; k < 50; k++) {
        int64_t batch_size = predict(job, 3).batch_size;
        assert_int_equal(predict(again[0], 3).batch_size, batch_size);
        assert_int_equal(predict(again[1], 3).batch_size, batch_size);
    }
    kerf_job_free(job);
    kerf_job_free(again[0]);
    kerf_job_free(again[1]);
}

/* ---- the policy kerf ---------------------------------------------------------------------------------------- */

static void kerf_climbs_down_the_valley(void **state) {
    (void)state;
    static const int64_t sizes[] = {8, 16, 32, 64, 128, 256};
    static const double costs[] = {400, 220, 150, 110, 100, 170};
    static const int64_t expected[] = {32, 64, 128, 256}; /* up; 32 is on the slope, so never down */
    struct kerf_job_spec spec = usual();
    spec.batch_sizes = sizes;
    spec.num_batch_sizes = 6;
    spec.default_batch_size = 32;
    spec.policy = "kerf";
    struct kerf_job *job = create(&spec, 0);
    for (int i = 0; i < 4; i++) {
        struct kerf_trial trial = predict(job, 0);
        assert_int_equal(trial.batch_size, expected[i]);
        assert_int_equal(trial.type, KERF_TRIAL_EXPLORATION);
        int at = 0;
        while (sizes[at] != trial.batch_size) at++;
        finish(job, &trial, costs[at], 1);
    }
    struct kerf_trial trial = predict(job, 0);
    assert_int_equal(trial.type, KERF_TRIAL_MAB);
    int32_t count;
    kerf_job_arms(job, &count);
    assert_int_equal(count, 3); /* 256 costs more than 1.5 times the best */
    int best = trial.batch_size == 128;
    for (int i = 0; i < 99; i++) {
        finish(job, &trial, trial.batch_size == 128 ? 100 : trial.batch_size == 64 ? 110 : 150, 1);
        trial = predict(job, 0);
        best += trial.batch_size == 128;
    }
    assert_true(best > 80);
    assert_int_equal(kerf_job_costs_wanted(job, 128), 0);
    kerf_job_free(job);
}

/* n / s^2 of every arm, also of those that ran long ago, and after a restart whatever the row says. */
static void kerf_knows_one_variance(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    spec.policy = "kerf";
    struct kerf_job *job = create(&spec, 0), *again;
    for (int i = 0; i < 40; i++) {
        struct kerf_trial trial = predict(job, 0);
        finish(job, &trial, (trial.batch_size == 16 ? 100 : 115) + i % 7, 1);
    }
    int32_t count;
    const struct kerf_arm *arms = kerf_job_arms(job, &count);
    double sum = 4 * 0.05 * 0.05, freedom = 4;
    for (int32_t i = 0; i < count; i++) {
        if (arms[i].num_observations > 1) sum += (double)arms[i].num_observations / arms[i].reward_precision;
        freedom += (double)arms[i].num_observations - 1;
    }
    assert_true(count > 1 && arms[0].num_observations != arms[1].num_observations);
    assert_int_equal(kerf_job_restore(&spec, kerf_job_row_of(job), 0, &again, NULL), KERF_OK);
    for (int32_t i = 0; i < count; i++) {
        struct kerf_arm stored = arms[i];
        assert_true(fabs(stored.param_precision / ((double)stored.num_observations * freedom / sum) - 1) < 1e-12);
        stored.param_precision = 1;
        assert_int_equal(kerf_job_restore_arm(again, &stored, NULL), KERF_OK);
    }
    for (int32_t i = 0; i < count; i++)
        assert_true(fabs(kerf_job_arms(again, &count)[i].param_precision / arms[i].param_precision - 1) < 1e-12);
    kerf_job_free(again);
    kerf_job_free(job);
}

/* Arms of one policy mean nothing to another: e to the cost is no cost. */
static void a_job_keeps_its_policy_with_compat(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    spec.policy = "kerf";
    struct kerf_job *job = create(&spec, 0);
    for (int32_t flags = 0; flags <= 2 * KERF_JOB_COMPAT; flags++) { /* without, with, without */
        struct kerf_job *next;
        int32_t count;
        for (int i = 0; i < 20; i++) {
            struct kerf_trial trial = predict(job, 0);
            finish(job, &trial, 100 + (double)trial.batch_size / 16, 1);
        }
        const struct kerf_arm *arms = kerf_job_arms(job, &count);
        assert_int_equal(kerf_job_restore(&spec, kerf_job_row_of(job), flags & KERF_JOB_COMPAT, &next, NULL), KERF_OK);
        assert_int_equal(count, 3);
        for (int32_t i = 0; i < count; i++) {
            assert_true(exp(-arms[i].param_mean) > 100 && exp(-arms[i].param_mean) < 110);
            assert_int_equal(kerf_job_restore_arm(next, &arms[i], NULL), KERF_OK);
        }
        kerf_job_free(job);
        job = next;
    }
    kerf_job_free(job);
}

static void policies_have_names(void **state) {
    (void)state;
    assert_string_equal(kerf_job_policy_at(0)->name, "zeus");
    assert_string_equal(kerf_job_policy_at(1)->name, "kerf");
    assert_null(kerf_job_policy_at(2));
}

/* ---- specs --------------------------------------------------------------------------------------------------- */

static void a_spec_is_refused_with_its_field(void **state) {
    (void)state;
    static const int64_t zero[] = {0, 16}, twice[] = {16, 16}, below[] = {-8, 16};
    const struct {
        const char *field;
        struct kerf_job_spec spec;
    } cases[] = {
#define CASE(name, member, value)                                                                                      \
    {name, ({                                                                                                          \
         struct kerf_job_spec s = usual();                                                                             \
         s.member = value;                                                                                             \
         s;                                                                                                            \
     })}
        CASE("max_power", max_power, INFINITY),
        CASE("max_power", max_power, 0),
        CASE("number_of_gpus", number_of_gpus, 0),
        CASE("gpu_model", gpu_model, ""),
        CASE("job_id", job_id_prefix, "other"),
        CASE("batch_sizes", num_batch_sizes, 0),
        {"batch_sizes", ({
             struct kerf_job_spec s = usual();
             s.batch_sizes = zero;
             s.num_batch_sizes = 2;
             s;
         })},
        {"batch_sizes", ({
             struct kerf_job_spec s = usual();
             s.batch_sizes = twice;
             s.num_batch_sizes = 2;
             s;
         })},
        {"batch_sizes", ({
             struct kerf_job_spec s = usual();
             s.batch_sizes = below;
             s.num_batch_sizes = 2;
             s;
         })},
        CASE("default_batch_size", default_batch_size, 64),
        CASE("eta_knob", eta_knob, NAN),
        CASE("beta_knob", beta_knob, INFINITY),
        CASE("target_metric", target_metric, NAN),
        CASE("max_epochs", max_epochs, 0),
        CASE("num_pruning_rounds", num_pruning_rounds, -1),
        CASE("mab_prior_mean", mab_prior_mean, -INFINITY),
        CASE("mab_prior_precision", mab_prior_precision, NAN),
        CASE("mab_prior_precision", mab_prior_precision, -1),
        CASE("mab_num_explorations", mab_num_explorations, -1),
        CASE("mab_seed", mab_seed, -1),
        CASE("policy", policy, "other"),
        CASE("lease_s", lease_s, -1),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kerf_job *job = NULL;
        struct kerf_error err;
        const char *field = "";
        assert_int_equal(kerf_job_spec_check(&cases[i].spec, &field, &err), KERF_EINVALID);
        assert_string_equal(field, cases[i].field);
        assert_int_equal(kerf_job_create(&cases[i].spec, 0, &job, &err), KERF_EINVALID);
        assert_null(job);
    }
    struct kerf_job_spec spec = usual();
    assert_int_equal(kerf_job_spec_check(&spec, NULL, NULL), KERF_OK);
}

static void a_spec_is_the_same_or_not(void **state) {
    (void)state;
    static const int64_t others[] = {8, 16, 64};
    struct kerf_job_spec known = usual(), again = usual();
    assert_true(kerf_job_spec_same(&known, &again));
    again.batch_sizes = others;
    assert_false(kerf_job_spec_same(&known, &again));
    again = usual();
    again.job_id_prefix = ""; /* as NULL */
    assert_true(kerf_job_spec_same(&known, &again));
    again.job_id_prefix = "j";
    assert_false(kerf_job_spec_same(&known, &again));
    again = usual();
    again.has_beta_knob = 0;
    assert_false(kerf_job_spec_same(&known, &again));
    again = usual();
    again.policy = "zeus"; /* the default, now said */
    assert_true(kerf_job_spec_same(&known, &again));
    again.policy = "kerf";
    assert_false(kerf_job_spec_same(&known, &again));
    again = usual();
    again.lease_s = 5;
    assert_false(kerf_job_spec_same(&known, &again));
    assert_true(kerf_job_spec_same(&again, &known)); /* said once, then not */
}

static void costs_are_wanted_once(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    spec.window_size = 3;
    struct kerf_job *job = explored(spec, 0);
    struct kerf_trial trial = predict(job, 2);
    assert_int_equal(kerf_job_costs_wanted(job, trial.batch_size), 0);
    kerf_job_forget_costs(job);
    assert_int_equal(kerf_job_costs_wanted(job, trial.batch_size), 3);
    assert_int_equal(kerf_job_costs_wanted(job, 7), 0);
    struct kerf_report said = {trial.batch_size, trial.number, 1, 100, 1, 1};
    struct kerf_answer answer;
    assert_int_equal(kerf_job_report(job, &trial, &said, 3, &answer, NULL), KERF_EINVALID);
    assert_int_equal(trial.status, KERF_TRIAL_DISPATCHED);
    static const int64_t numbers[] = {2, 3};
    static const double costs[] = {100, 120};
    assert_int_equal(kerf_job_restore_costs(job, trial.batch_size, numbers, costs, 2, NULL), KERF_EINVALID);
    assert_int_equal(kerf_job_restore_costs(job, trial.batch_size, numbers, costs, 1, NULL), KERF_OK);
    assert_int_equal(finish(job, &trial, 110, 3).status, KERF_JOB_ANSWERED);
    assert_int_equal(arm_of(job, trial.batch_size)->num_observations, 2);
    assert_true(kerf_job_memory(job) > 0);
    kerf_job_free(job);
}

static void what_is_needed_of_a_trial(void **state) {
    (void)state;
    struct kerf_job_spec spec = usual();
    spec.window_size = 3;
    struct kerf_job *job = create(&spec, 0);
    struct kerf_trial first = predict(job, 0), second, given_up, late;
    assert_int_equal(kerf_job_need(job, &first), KERF_NEED_TRIAL); /* it runs */
    finish(job, &first, 100, 1);
    assert_int_equal(kerf_job_need(job, &first), KERF_NEED_TRIAL); /* an exploration, while pruning */
    assert_int_equal(kerf_job_costs_counted(job, first.batch_size), 3);
    assert_int_equal(kerf_job_costs_counted(job, 7), 0);
    given_up = predict(job, 1);
    give_up(job, &given_up, 2);
    assert_int_equal(kerf_job_need(job, &given_up), KERF_NEED_NOTHING);
    second = predict(job, 2);
    assert_int_equal(report(job, &second, 1000, 0, spec.max_epochs, 3).status, KERF_JOB_ANSWERED); /* no arm */
    for (struct kerf_trial next = predict(job, 4); next.type != KERF_TRIAL_MAB; next = predict(job, 4))
        finish(job, &next, 110, 5);
    assert_int_equal(kerf_job_need(job, &first), KERF_NEED_COST);
    assert_int_equal(kerf_job_need(job, &second), KERF_NEED_NOTHING);
    late = first;
    late.status = KERF_TRIAL_FAILED;
    late.lease_ended = 1;
    assert_int_equal(kerf_job_need(job, &late), KERF_NEED_TRIAL); /* its result is welcome */
    kerf_job_free(job);
    spec.window_size = 0;
    job = create(&spec, 0);
    assert_true(kerf_job_costs_counted(job, 8) == INT64_MAX);
    kerf_job_free(job);
    spec.policy = "kerf";
    job = create(&spec, 0);
    assert_int_equal(kerf_job_costs_counted(job, 8), 0);
    kerf_job_free(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_from_pruning_counts_while_exploiting),
        cmocka_unit_test(arms_without_a_seed_are_drawn_apart),
        cmocka_unit_test(a_pruned_size_has_no_arm_but_its_result_counts),
        cmocka_unit_test(without_rounds_every_size_is_an_arm_and_tried),
        cmocka_unit_test(a_round_that_prunes_everything_keeps_the_survivors),
        cmocka_unit_test(nothing_converged_in_the_first_round),
        cmocka_unit_test(invalid_numbers_are_refused),
        cmocka_unit_test(a_cost_that_overflows_wedges_nothing),
        cmocka_unit_test(an_invalid_posterior_wedges_compat_alone),
        cmocka_unit_test(arms_are_in_order_however_they_are_stored),
        cmocka_unit_test(kerf_climbs_down_the_valley),
        cmocka_unit_test(kerf_knows_one_variance),
        cmocka_unit_test(a_job_keeps_its_policy_with_compat),
        cmocka_unit_test(policies_have_names),
        cmocka_unit_test(a_spec_is_refused_with_its_field),
        cmocka_unit_test(a_spec_is_the_same_or_not),
        cmocka_unit_test(costs_are_wanted_once),
        cmocka_unit_test(what_is_needed_of_a_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
