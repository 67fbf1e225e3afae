/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether what a study says is true as often as it says: valleys with a kink and steps between neighbours, noise from
 * 0.5 % to 5 %, with and without drift, each with seeds of its own. All is decided by the seeds; the bounds leave room
 * for the chance of so few studies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "kerf/tune.h"

enum { SURFACES = 24, UBATCHES = 9, SETTINGS_MOST = 64 };

struct family {
    double truth[SETTINGS_MOST], best, noise, drift;
};

static struct kerf_tune_space *grid(void) {
    const char *params[] = {"batch=16..512:x2", "ubatch=2..512:x2"}, *where = "ubatch <= batch";
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 2, &where, 1, "batch=512,ubatch=512", &space, NULL), KERF_OK);
    return space;
}

static void make(struct family *family, const struct kerf_tune_space *space, uint64_t seed) {
    struct pcg64 rng = random_seed(seed);
    double bottom = 3 + 5 * random_double(&rng), steep = 0.1 + 0.3 * random_double(&rng), step[UBATCHES];
    double kink = 2 + 4 * random_double(&rng);
    family->noise = 0.005 * pow(10, random_double(&rng));
    family->drift = seed % 2 ? 0.15 : 0;
    family->best = INFINITY;
    for (int u = 0; u < UBATCHES; u++) step[u] = random_normal(&rng, 0, 0.015);
    for (int32_t i = 0; i < space->num_settings; i++) {
        int32_t u = space->values[2 * (int64_t)i + 1];
        double y = u < bottom ? steep * (bottom - u) : 0.05 * (u - bottom);
        if (u < kink) y += 0.3;
        family->truth[i] = exp(y + step[u]);
        family->best = fmin(family->best, family->truth[i]);
    }
}

struct tally {
    double right, said, runs;
};

static void study_one(const struct kerf_tune_space *space, const struct family *family, int64_t seed,
                      const char *prefer, struct tally *tally) {
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_decision decision;
    struct kerf_tune_answer answer;
    struct pcg64 rng = random_seed((uint64_t)seed + 1000);
    double clock = 0;
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.is_time = 1;
    question.seed = seed;
    question.prefer = prefer;
    assert_int_equal(kerf_tune_study_create(&question, &study, NULL), KERF_OK);
    for (;;) {
        assert_int_equal(kerf_tune_study_next(study, NULL, 0, 0, &decision, NULL), KERF_OK);
        if (decision.action == KERF_TUNE_STOP) break;
        double value = family->truth[decision.setting] * exp(random_normal(&rng, 0, family->noise));
        value *= 1 + family->drift * (1 - exp(-clock / 60));
        int32_t stopped = decision.limit > 0 && value > decision.limit;
        struct kerf_tune_observation o = {.setting = decision.setting,
                                          .outcome = stopped ? KERF_TUNE_CENSORED : KERF_TUNE_VALUE,
                                          .value = stopped ? decision.limit : value,
                                          .start_s = clock};
        o.end_s = clock = clock + o.value;
        assert_int_equal(kerf_tune_study_observe(study, &o, NULL), KERF_OK);
        tally->runs++;
    }
    assert_int_equal(kerf_tune_study_answer(study, &answer, NULL), KERF_OK);
    int32_t setting = prefer ? answer.recommended : answer.best;
    const struct kerf_tune_estimate *of = &answer.settings[setting];
    tally->right += family->truth[setting] <= family->best * (1 + (prefer ? question.margin : question.within));
    tally->said += prefer ? of->probability_within_margin : of->probability_within;
    kerf_tune_study_free(study);
}

static struct tally study_all(const char *prefer) {
    struct kerf_tune_space *space = grid();
    struct tally tally = {0, 0, 0};
    for (uint64_t k = 0; k < SURFACES; k++) {
        struct family family;
        make(&family, space, k);
        study_one(space, &family, (int64_t)k, prefer, &tally);
    }
    kerf_tune_space_free(space);
    return (struct tally){tally.right / SURFACES, tally.said / SURFACES, tally.runs / SURFACES};
}

static void answers_are_as_right_as_they_say(void **state) {
    (void)state;
    struct tally tally = study_all(NULL);
    if (!(tally.right > 0.9 && tally.said > 0.93 && tally.runs < 40))
        fail_msg("right in %.3f, said %.3f, %.1f runs", tally.right, tally.said, tally.runs);
}

static void recommendations_are_within_the_margin(void **state) {
    (void)state;
    struct tally tally = study_all("smaller:ubatch,batch");
    if (!(tally.right > 0.9 && tally.said > 0.93 && tally.runs < 60))
        fail_msg("right in %.3f, said %.3f, %.1f runs", tally.right, tally.said, tally.runs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_as_right_as_they_say),
        cmocka_unit_test(recommendations_are_within_the_margin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
