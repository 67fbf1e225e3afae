/* SPDX-License-Identifier: Apache-2.0 */
/* Studies of more settings than are modelled together, up to a billion: what is looked at, and that it can be replayed. */
#include "tune_bed.h"

/* In a space of more settings than can be drawn together what was measured has a probability as long as all are open. */
static void measured_settings_of_large_spaces(void **state) {
    (void)state;
    const char *params[] = {"x=1..100", "y=1..100"};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct kerf_tune_space *space;
        assert_int_equal(kerf_tune_space_create(params, 2, NULL, 0, NULL, &space, NULL), KERF_OK);
        struct kerf_tune_question question = ask(space, NULL);
        question.seed = seed;
        struct kerf_tune_study *study = begin(&question);
        struct pcg64 rng = random_seed(seed);
        for (int run = 0; run < 26; run++) {
            struct kerf_tune_decision decision = next_of(study);
            if (decision.action != KERF_TUNE_MEASURE) break;
            double a = log((1 + value_of(space, decision.setting, 0)) / 20.0) / 3;
            double b = log((1 + value_of(space, decision.setting, 1)) / 100.0) / 3;
            double value = (1 + 0.3 * a * a) * (1 + 0.2 * b * b) * (1 + random_normal(&rng, 0, 0.003));
            struct kerf_tune_observation o = {.setting = decision.setting, .value = value};
            o.start_s = run;
            o.end_s = run + 1;
            observe(study, &o);
            if (run < 12) continue;
            struct kerf_tune_answer answer = answer_of(study);
            const struct kerf_tune_estimate *best = &answer.settings[answer.best];
            for (int32_t i = 0; i < space->num_settings; i++) {
                const struct kerf_tune_estimate *of = &answer.settings[i];
                if (!isnan(of->observed_mean) && of->mean < 1.005 * best->mean)
                    assert_true(of->probability_within > 0.3 * best->probability_within);
            }
        }
        kerf_tune_study_free(study);
        kerf_tune_space_free(space);
    }
}

/* Of a space that is too large to be modelled as a whole, a run that nobody proposed. */
static void a_run_of_any_setting_counts_at_once(void **state) {
    enum { RUNS = 10, PLACES = 5 };
    const char *params[] = {"a=1..64", "b=1..64"};
    struct kerf_tune_space *space;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_answer answer;
    (void)state;
    assert_int_equal(kerf_tune_space_create(params, 2, NULL, 0, NULL, &space, NULL), KERF_OK);
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.is_time = 1;
    for (int32_t place = 0; place < PLACES; place++) {
        int32_t fastest = 77 + 800 * place;
        assert_int_equal(kerf_tune_study_create(&question, &study, NULL), KERF_OK);
        for (int32_t run = 0; run < RUNS; run++) {
            int32_t last = run + 1 == RUNS;
            struct kerf_tune_observation o = {.setting = last ? fastest : (run * 1021 + 40) % 4096,
                                              .value = last ? 0.5 : 1 + 0.01 * run,
                                              .start_s = 2 * run,
                                              .end_s = 2 * run + 1};
            assert_int_equal(kerf_tune_study_observe(study, &o, NULL), KERF_OK);
        }
        assert_int_equal(kerf_tune_study_answer(study, &answer, NULL), KERF_OK);
        assert_int_equal(answer.best, fastest);
        kerf_tune_study_free(study);
    }
    kerf_tune_space_free(space);
}

/* A million settings: looked at in part, and far better than the default in a few dozen runs. */
static void a_large_space(void **state) {
    (void)state;
    const char *params[] = {"a=1..100", "b=1..100", "c=1..100"};
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 3, NULL, 0, "a=1,b=1,c=1", &space, NULL), KERF_OK);
    assert_int_equal(space->num_settings, 1000000);
    struct kerf_tune_question question = ask(space, NULL);
    question.max_observations = 40;
    struct kerf_tune_study *study = begin(&question);
    struct kerf_tune_decision last;
    struct kerf_tune_observation seen[50];
    int32_t runs = 0;
    double least = INFINITY, first = 0;
    for (; runs < 50 && (last = next_of(study)).action == KERF_TUNE_MEASURE; runs++) {
        const int32_t *v = space->values + 3 * (int64_t)last.setting;
        double y = fabs(log((v[0] + 1) / 30.0)) + fabs(log((v[1] + 1) / 20.0)) + 0.1 * fabs(log((v[2] + 1) / 50.0));
        struct kerf_tune_observation o = {.setting = last.setting, .value = exp(y), .start_s = runs, .end_s = runs + 1};
        seen[runs] = o;
        if (runs == 0) first = y;
        least = fmin(least, y);
        observe(study, &o);
    }
    assert_in_range(runs, 10, 40);
    assert_true(least < 0.15 * first);
    struct kerf_tune_study *restored = begin(&question);
    for (int32_t i = 0; i < runs; i++) {
        if (i == 13 || i == 37) assert_int_equal(next_of(restored).setting, seen[i].setting);
        observe(restored, &seen[i]);
    }
    kerf_tune_study_free(restored);
    assert_true(answer_of(study).best >= 0);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

static double of_billion(const struct kerf_tune_space *space, int32_t setting) {
    const int32_t *v = space->values + 3 * (int64_t)setting;
    double bowl = 0.05 * pow(log((v[0] + 1) / 300.0), 2) + 0.04 * pow(log((v[1] + 1) / 70.0), 2);
    return exp(bowl + 0.03 * pow(log((v[2] + 1) / 500.0), 2)) * ((v[0] + 1) % 16 ? 1.1 : 1);
}

/* A billion settings with a tooth at every 16th of one parameter: a study that is read back, in which settings get their numbers in
 * another order, decides the same. */
static void a_billion_settings(void **state) {
    (void)state;
    const char *params[] = {"a=1..1000", "b=1..1000", "c=1..1000"};
    struct kerf_tune_space *space, *again;
    assert_int_equal(kerf_tune_space_create(params, 3, NULL, 0, "a=1,b=1,c=1", &space, NULL), KERF_OK);
    assert_int_equal(kerf_tune_space_create(params, 3, NULL, 0, "a=1,b=1,c=1", &again, NULL), KERF_OK);
    struct kerf_tune_question question = ask(space, NULL), other = ask(again, NULL);
    question.max_observations = other.max_observations = 80;
    struct kerf_tune_study *study = begin(&question);
    struct kerf_tune_decision last;
    struct kerf_tune_observation seen[200];
    int32_t runs = 0;
    for (; runs < 200 && (last = next_of(study)).action == KERF_TUNE_MEASURE; runs++) {
        struct kerf_tune_observation o = {.setting = last.setting, .start_s = runs, .end_s = runs + 1};
        o.value = of_billion(space, last.setting);
        seen[runs] = o;
        observe(study, &o);
    }
    struct kerf_tune_answer answer = answer_of(study);
    assert_true(of_billion(space, answer.best) < 1.03);
    assert_int_equal(answer.looked_at, 200);
    assert_true(answer.chance_unseen > 0 && answer.chance_unseen <= 1);
    assert_true(answer.settings[answer.best].probability_within <= 1 - answer.chance_unseen);
    assert_true(space->num_settings > 10000 && space->num_settings <= KERF_TUNE_GROWN_MAX);
    for (int32_t i = runs; i-- > 0;) { /* the last ones have the smallest numbers */
        struct kerf_text text = {0};
        kerf_tune_setting_write(space, seen[i].setting, &text);
        assert_int_equal(kerf_tune_setting_read(again, text.data, &seen[i].setting, NULL), KERF_OK);
        kerf_text_free(&text);
    }
    struct kerf_tune_study *restored = begin(&other);
    for (int32_t i = 0; i < runs; i++) {
        if (i % 8 == 5) assert_int_equal(next_of(restored).setting, seen[i].setting);
        observe(restored, &seen[i]);
    }
    assert_float_equal(answer_of(restored).settings[seen[0].setting].mean, answer.settings[space->default_setting].mean,
                       1e-9);
    kerf_tune_study_free(restored);
    kerf_tune_study_free(study);
    kerf_tune_space_free(again);
    kerf_tune_space_free(space);
}

/* What ran out of memory rules out all that needs as much, also what is met later; a word that always fails likewise. */
static void failures_rule_out_in_a_large_grid(void **state) {
    (void)state;
    const char *params[] = {"a=1..1000", "b=1..1000", "kind=good,bad,fine"};
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 3, NULL, 0, "a=10,b=10,kind=good", &space, NULL), KERF_OK);
    struct kerf_tune_question question = ask(space, NULL);
    question.max_observations = 80;
    struct kerf_tune_study *study = begin(&question);
    struct kerf_tune_decision last;
    int32_t lacked[80], num_lacked = 0, bad = 0;
    for (int32_t run = 0; run < 80 && (last = next_of(study)).action == KERF_TUNE_MEASURE; run++) {
        const int32_t *v = space->values + 3 * (int64_t)last.setting;
        struct kerf_tune_observation o = {.setting = last.setting, .start_s = run, .end_s = run + 1};
        for (int32_t i = 0; i < num_lacked; i++) {
            const int32_t *w = space->values + 3 * (int64_t)lacked[i];
            if (v[0] >= w[0] && v[1] >= w[1] && v[2] == w[2]) fail_msg("%d of %d needs as much memory", run, lacked[i]);
        }
        bad += v[2] == 1;
        o.value = 1 + 300.0 / (1 + v[0]) + 300.0 / (1 + v[1]); /* the larger the better, until memory lacks */
        if (v[2] == 1) {
            o.outcome = KERF_TUNE_FAILED;
            o.failure = KERF_TUNE_FAILURE_CRASH;
        } else if ((int64_t)v[0] * v[1] > 100000) {
            o.outcome = KERF_TUNE_FAILED;
            o.failure = KERF_TUNE_FAILURE_MEMORY;
            lacked[num_lacked++] = last.setting;
        }
        observe(study, &o);
    }
    assert_in_range(num_lacked, 1, 60);
    assert_in_range(bad, 0, 20);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

static void policies_of_a_large_grid(void **state) {
    (void)state;
    const char *params[] = {"a=1..1000", "b=1..1000", "c=1..1000"};
    static const char *const refused[] = {"race", "exhaustive", "halving", "best_bub"};
    struct kerf_tune_space *space;
    struct kerf_tune_study *study = NULL;
    struct kerf_error err;
    assert_int_equal(kerf_tune_space_create(params, 3, NULL, 0, NULL, &space, NULL), KERF_OK);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct kerf_tune_question question = ask(space, refused[i]);
        assert_int_equal(kerf_tune_study_create(&question, &study, &err), KERF_EINVALID);
        assert_non_null(strstr(err.message, "looks at every setting; a grid of 1e+09 settings is for kerf and random"));
    }
    struct kerf_tune_question question = ask(space, "random");
    struct kerf_tune_decision last;
    study = begin(&question);
    for (int32_t run = 0; (last = next_of(study)).action == KERF_TUNE_MEASURE; run++) {
        struct kerf_tune_observation o = {
            .setting = last.setting, .value = 1 + last.setting % 7, .start_s = run, .end_s = run + 1};
        assert_in_range(run, 0, 27 * 5 - 1);
        observe(study, &o);
    }
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_settings_of_large_spaces),
        cmocka_unit_test(a_run_of_any_setting_counts_at_once),
        cmocka_unit_test(a_large_space),
        cmocka_unit_test(a_billion_settings),
        cmocka_unit_test(failures_rule_out_in_a_large_grid),
        cmocka_unit_test(policies_of_a_large_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
