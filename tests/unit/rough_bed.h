/* SPDX-License-Identifier: Apache-2.0 */
/* Whole studies of surfaces that are not smooth: whether the answer is right, and what was said. All is decided by the seed.
 */
#ifndef KERF_TESTS_ROUGH_BED_H
#define KERF_TESTS_ROUGH_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "kerf/tune.h"

enum { ROUGH_PARAMS_MAX = 4 };

struct rough {
    const char *params[ROUGH_PARAMS_MAX + 1];
    double (*truth)(const int64_t *of);
    double noise, slow;                      /* slow: the share of runs that take a quarter longer */
    int32_t studies, right_least, runs_most; /* of the studies; and each */
};

static inline double truth_of(const struct rough *rough, const struct kerf_tune_space *space, int32_t setting) {
    int64_t of[ROUGH_PARAMS_MAX] = {0};
    for (int32_t k = 0; k < space->num_params; k++) {
        int32_t at = space->values[(int64_t)setting * space->num_params + k];
        of[k] = space->params[k].kind == KERF_TUNE_INTEGER ? space->params[k].integers[at] : at;
    }
    return rough->truth(of);
}

struct rough_result {
    int32_t right, runs;
    double said;
    struct kerf_tune_answer answer; /* without its settings */
    struct kerf_tune_modes modes;
};

/* size: of the machine; 0: none is known. */
static inline struct rough_result study_machine(const struct rough *rough, int64_t seed, int32_t max_observations,
                                                int64_t size) {
    struct kerf_tune_space *space;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_decision decision;
    struct pcg64 rng = random_seed((uint64_t)seed + 4000);
    struct rough_result result = {0};
    double best = INFINITY, clock = 0;
    int32_t num_params = 0;
    while (rough->params[num_params]) num_params++;
    assert_int_equal(kerf_tune_space_create(rough->params, num_params, NULL, 0, NULL, &space, NULL), KERF_OK);
    for (int32_t i = 0; i < space->num_settings; i++) best = fmin(best, truth_of(rough, space, i));
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.is_time = 1;
    question.seed = seed;
    question.max_observations = max_observations;
    assert_int_equal(kerf_tune_study_create(&question, &study, NULL), KERF_OK);
    assert_int_equal(kerf_tune_study_sizes(study, &size, size > 0, NULL), KERF_OK);
    for (;;) {
        assert_int_equal(kerf_tune_study_next(study, NULL, 0, 0, &decision, NULL), KERF_OK);
        if (decision.action == KERF_TUNE_STOP) break;
        double value = truth_of(rough, space, decision.setting) * exp(random_normal(&rng, 0, rough->noise));
        if (rough->slow > 0 && random_double(&rng) < rough->slow) value *= 1.25;
        int32_t stopped = decision.limit > 0 && value > decision.limit;
        struct kerf_tune_observation o = {.setting = decision.setting,
                                          .outcome = stopped ? KERF_TUNE_CENSORED : KERF_TUNE_VALUE,
                                          .value = stopped ? decision.limit : value,
                                          .start_s = clock};
        o.end_s = clock = clock + o.value;
        assert_int_equal(kerf_tune_study_observe(study, &o, NULL), KERF_OK);
        result.runs++;
    }
    assert_int_equal(kerf_tune_study_answer(study, &result.answer, NULL), KERF_OK);
    result.right = truth_of(rough, space, result.answer.best) <= 1.03 * best + 1e-12;
    result.said = result.answer.settings[result.answer.best].probability_within;
    result.answer.settings = NULL;
    result.modes.size = sizeof result.modes;
    assert_int_equal(kerf_tune_study_modes(study, &result.modes, NULL), KERF_OK);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
    return result;
}

static inline struct rough_result study_rough(const struct rough *rough, int64_t seed, int32_t max_observations) {
    return study_machine(rough, seed, max_observations, 0);
}

#endif
