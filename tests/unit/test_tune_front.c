/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Studies of two objectives: whether the front is what it says as often as it says, and what is refused. Each setting has a
 * time and a memory of its own; all is decided by the seeds, and the bounds leave room for the chance of so few studies.
 */
#include "tune_bed.h"

enum { STUDIES = 20, SETTINGS_MAX = 64 };

struct pair {
    double first[SETTINGS_MAX], second[SETTINGS_MAX];
    double noise[2];
    int32_t maximize[2];
};

/* Time falls with batch and ubatch and rises where both are large; memory rises with both, in steps. */
static void make(struct pair *pair, const struct kerf_tune_space *space, uint64_t seed) {
    struct pcg64 rng = random_seed(seed);
    double bottom = 2 + 4 * random_double(&rng), slope = 0.1 + 0.3 * random_double(&rng),
           grows = 0.3 * random_double(&rng);
    *pair = (struct pair){.noise = {0.005 + 0.015 * random_double(&rng), 0.002 + 0.01 * random_double(&rng)}};
    for (int32_t i = 0; i < space->num_settings; i++) {
        double b = space->values[2 * (int64_t)i], u = space->values[2 * (int64_t)i + 1];
        double y = slope * fabs(u - bottom) + 0.04 * (4 - b);
        pair->first[i] = exp(y + random_normal(&rng, 0, 0.01));
        pair->second[i] = exp(grows * u + 0.05 * b + 0.4 * (u > 5));
    }
}

struct outcome {
    int32_t right, runs, members;
    double said;
};

static int is_within(double one, double other, int32_t maximize) {
    return maximize ? one * 1.03 >= other * (1 - 1e-12) : one <= 1.03 * other * (1 + 1e-12);
}

/* Whether for each setting one of the front is at most 3 % worse in both, in truth. */
static int is_front(const struct pair *pair, const struct kerf_tune_space *space, const struct kerf_tune_front *front) {
    for (int32_t i = 0; i < space->num_settings; i++) {
        int32_t covered = 0;
        for (int32_t m = 0; m < front->num && !covered; m++) {
            int32_t of = front->settings[m];
            covered = is_within(pair->first[of], pair->first[i], pair->maximize[0]) &&
                      is_within(pair->second[of], pair->second[i], pair->maximize[1]);
        }
        if (!covered) return 0;
    }
    return 1;
}

static struct kerf_tune_front front_of(struct kerf_tune_study *study) {
    struct kerf_tune_front front = {.size = sizeof front};
    struct kerf_error err;
    if (kerf_tune_study_front(study, &front, &err) != KERF_OK) fail_msg("%s", err.message);
    return front;
}

static struct kerf_tune_study *begin_pair(const struct kerf_tune_space *space, const struct pair *pair,
                                          const char *policy, int64_t seed) {
    struct kerf_tune_question question = ask(space, policy);
    struct kerf_error err;
    question.seed = seed;
    question.is_time = !pair->maximize[0];
    question.maximize = pair->maximize[0];
    struct kerf_tune_study *study = begin(&question);
    if (kerf_tune_study_trade(study, pair->maximize[1], &err) != KERF_OK) fail_msg("%s", err.message);
    return study;
}

/* One run: both values of it. */
static void run_once(struct kerf_tune_study *study, const struct pair *pair, int32_t setting, double *clock,
                     struct pcg64 *rng) {
    struct kerf_error err;
    double first = pair->first[setting] * exp(random_normal(rng, 0, pair->noise[0]));
    double second = pair->second[setting] * exp(random_normal(rng, 0, pair->noise[1]));
    struct kerf_tune_observation o = {.setting = setting, .value = first, .start_s = *clock, .end_s = *clock + first};
    *clock += first;
    if (kerf_tune_study_observe_both(study, &o, second, &err) != KERF_OK) fail_msg("%s", err.message);
}

static struct outcome study_pair(const struct kerf_tune_space *space, const struct pair *pair, const char *policy,
                                 int64_t seed) {
    struct kerf_tune_study *study = begin_pair(space, pair, policy, seed);
    struct pcg64 rng = random_seed((uint64_t)seed + 9000);
    struct outcome outcome = {0};
    double clock = 0;
    for (;; outcome.runs++) {
        struct kerf_tune_decision decision = next_of(study);
        if (decision.action == KERF_TUNE_STOP) break;
        assert_true(decision.limit == 0); /* a slow run may be the best by the other objective */
        run_once(study, pair, decision.setting, &clock, &rng);
    }
    struct kerf_tune_front front = front_of(study);
    outcome.right = is_front(pair, space, &front);
    outcome.said = front.probability;
    outcome.members = front.num;
    for (int32_t m = 1; m < front.num; m++) { /* each is worse in the one and better in the other */
        const struct kerf_tune_estimate *first = answer_of(study).settings;
        int32_t one = front.settings[m - 1], next = front.settings[m];
        assert_true(pair->maximize[0] ? first[one].mean > first[next].mean : first[one].mean < first[next].mean);
        assert_true(front.unbeaten[m] >= 0 && front.unbeaten[m] <= 1);
    }
    kerf_tune_study_free(study);
    return outcome;
}

static void fronts_are_as_right_as_they_say(void **state) {
    struct kerf_tune_space *space = grid("batch=256,ubatch=256");
    double right = 0, said = 0, runs = 0;
    int32_t members = 0;
    (void)state;
    for (uint64_t k = 0; k < STUDIES; k++) {
        struct pair pair;
        make(&pair, space, k);
        struct outcome outcome = study_pair(space, &pair, NULL, (int64_t)k);
        right += outcome.right / (double)STUDIES;
        said += outcome.said / STUDIES;
        runs += outcome.runs / (double)STUDIES;
        members += outcome.members;
    }
    kerf_tune_space_free(space);
    if (!(right >= 0.9 && said > 0.9 && runs < 80)) fail_msg("right in %.2f, said %.3f, %.1f runs", right, said, runs);
    assert_true(members > 2 * STUDIES); /* the fronts are no points */
}

/* Rates: of both more is better, which turns every comparison around. */
static void more_may_be_better(void **state) {
    struct kerf_tune_space *space = grid(NULL);
    int32_t right = 0;
    (void)state;
    for (uint64_t k = 0; k < 6; k++) {
        struct pair pair;
        make(&pair, space, k);
        for (int32_t i = 0; i < space->num_settings; i++) {
            pair.first[i] = 1 / pair.first[i];
            pair.second[i] = k % 2 ? 1 / pair.second[i] : pair.second[i];
        }
        pair.maximize[0] = 1;
        pair.maximize[1] = k % 2;
        right += study_pair(space, &pair, NULL, (int64_t)k).right;
    }
    kerf_tune_space_free(space);
    if (right < 5) fail_msg("%d right", (int)right);
}

static void an_exhaustive_run_has_a_front(void **state) {
    struct kerf_tune_space *space = grid(NULL);
    struct pair pair;
    (void)state;
    make(&pair, space, 3);
    struct outcome outcome = study_pair(space, &pair, "exhaustive", 3);
    assert_int_equal(outcome.runs, 5 * space->num_settings);
    assert_true(outcome.right);
    kerf_tune_space_free(space);
}

/* A second objective that is the same for all settings leaves one answer: the best by the first. */
/* Four settings, each run once: how much runs of one differ is not known, and no front is sure before three are repeated. */
static void few_settings_are_repeated(void **state) {
    const char *param = "x=1..4";
    struct kerf_tune_space *space;
    struct pair pair = {.first = {1, 1.2, 1.4, 1.6}, .second = {4, 3, 2, 1}, .noise = {0.002, 0.002}};
    struct pcg64 rng = random_seed(1);
    double clock = 0;
    (void)state;
    assert_int_equal(kerf_tune_space_create(&param, 1, NULL, 0, NULL, &space, NULL), KERF_OK);
    struct kerf_tune_study *study = begin_pair(space, &pair, "kerf", 1);
    for (int32_t run = 0; run < 8; run++) {
        run_once(study, &pair, run % 4, &clock, &rng);
        const double most = run < 4 ? 0.7 : run == 4 ? 0.8 : run == 5 ? 0.9 : 1;
        assert_true(front_of(study).probability <= most);
    }
    assert_true(front_of(study).probability > 0.95);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

static void one_objective_that_does_not_matter(void **state) {
    struct kerf_tune_space *space = grid(NULL);
    struct pair pair;
    (void)state;
    make(&pair, space, 4);
    for (int32_t i = 0; i < space->num_settings; i++) pair.second[i] = 7;
    pair.noise[1] = 0;
    struct outcome outcome = study_pair(space, &pair, NULL, 4);
    assert_int_equal(outcome.members, 1);
    assert_true(outcome.right && outcome.said >= 0.95);
    kerf_tune_space_free(space);
}

/* Several runs at a time, failures and settings that are skipped: what is asked for may be measured, and the same observations
 * give the same decisions. */
static void fronts_hold_together(void **state) {
    struct kerf_tune_space *space = grid(NULL);
    struct pair pair;
    (void)state;
    make(&pair, space, 5);
    struct kerf_tune_study *study = begin_pair(space, &pair, NULL, 5), *twin = begin_pair(space, &pair, NULL, 5);
    struct pcg64 rng = random_seed(1), same = rng;
    double clock = 0, other_clock = 0;
    kerf_tune_study_skip(study, 3, "too large");
    kerf_tune_study_skip(twin, 3, "too large");
    for (int step = 0; step < 40; step++) {
        struct kerf_tune_decision one, two, alone;
        assert_int_equal(kerf_tune_study_next(study, NULL, 0, 0, &one, NULL), KERF_OK);
        if (one.action == KERF_TUNE_STOP) break;
        assert_int_equal(kerf_tune_study_next(study, &one.setting, 1, 0, &two, NULL), KERF_OK);
        assert_int_equal(kerf_tune_study_next(twin, NULL, 0, 0, &alone, NULL), KERF_OK);
        assert_true(alone.action == one.action && alone.setting == one.setting);
        assert_true(one.setting != 3 && (two.action == KERF_TUNE_STOP || two.setting != 3));
        if (one.setting % 7 == 2) { /* fails each time */
            struct kerf_tune_observation failed = {
                .setting = one.setting, .outcome = KERF_TUNE_FAILED, .failure = KERF_TUNE_FAILURE_CRASH};
            assert_int_equal(kerf_tune_study_observe_both(study, &failed, NAN, NULL), KERF_OK);
            assert_int_equal(kerf_tune_study_observe_both(twin, &failed, NAN, NULL), KERF_OK);
            continue;
        }
        run_once(study, &pair, one.setting, &clock, &rng);
        run_once(twin, &pair, one.setting, &other_clock, &same);
    }
    struct kerf_tune_front front = front_of(study);
    for (int32_t m = 0; m < front.num; m++) assert_true(front.settings[m] != 3 && front.settings[m] % 7 != 2);
    assert_true(front.num > 0);
    kerf_tune_study_free(study);
    kerf_tune_study_free(twin);
    kerf_tune_space_free(space);
}

static void what_is_refused(void **state) {
    struct kerf_tune_space *space = grid(NULL), *large;
    const char *params[] = {"n=1..300"};
    struct kerf_tune_question question = ask(space, NULL);
    struct kerf_tune_front front = {.size = sizeof front};
    struct kerf_tune_observation o = {.setting = 1, .value = 1, .end_s = 1}, stopped = o;
    struct kerf_error err;
    (void)state;
    struct kerf_tune_study *study = begin(&question);
    assert_int_equal(kerf_tune_study_front(study, &front, &err), KERF_EINVALID);
    assert_int_equal(kerf_tune_study_observe_both(study, &o, 1, &err), KERF_EINVALID);
    assert_int_equal(kerf_tune_study_observe(study, &o, &err), KERF_OK);
    assert_int_equal(kerf_tune_study_trade(study, 0, &err), KERF_EINVALID); /* too late */
    kerf_tune_study_free(study);
    question.policy = "race";
    study = begin(&question);
    assert_int_equal(kerf_tune_study_trade(study, 0, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "race"));
    kerf_tune_study_free(study);
    question.policy = NULL;
    question.prefer = "smaller:batch";
    study = begin(&question);
    assert_int_equal(kerf_tune_study_trade(study, 0, &err), KERF_EINVALID);
    kerf_tune_study_free(study);
    question.prefer = NULL;
    study = begin(&question);
    assert_int_equal(kerf_tune_study_trade(study, 0, &err), KERF_OK);
    assert_int_equal(kerf_tune_study_trade(study, 0, &err), KERF_EINVALID);
    assert_int_equal(kerf_tune_study_observe(study, &o, &err), KERF_EINVALID);
    assert_int_equal(kerf_tune_study_observe_both(study, &o, NAN, &err), KERF_EINVALID);
    stopped.outcome = KERF_TUNE_CENSORED;
    assert_int_equal(kerf_tune_study_observe_both(study, &stopped, 1, &err), KERF_EINVALID);
    assert_int_equal(kerf_tune_study_front(study, &front, &err), KERF_OK); /* nothing is known yet */
    assert_int_equal(front.num, 0);
    front.size = 0;
    assert_int_equal(kerf_tune_study_front(study, &front, &err), KERF_EINVALID);
    kerf_tune_study_free(study);
    assert_int_equal(kerf_tune_space_create(params, 1, NULL, 0, NULL, &large, NULL), KERF_OK);
    question.space = large;
    study = begin(&question);
    assert_int_equal(kerf_tune_study_trade(study, 0, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "200"));
    kerf_tune_study_free(study);
    kerf_tune_space_free(large);
    kerf_tune_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fronts_are_as_right_as_they_say),
        cmocka_unit_test(more_may_be_better),
        cmocka_unit_test(an_exhaustive_run_has_a_front),
        cmocka_unit_test(few_settings_are_repeated),
        cmocka_unit_test(one_objective_that_does_not_matter),
        cmocka_unit_test(fronts_hold_together),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
