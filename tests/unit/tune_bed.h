/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of studies share: a small space, a question of it, and a bed on which settings take what they truly take.
 */
#ifndef KERF_TESTS_TUNE_BED_H
#define KERF_TESTS_TUNE_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "kerf/tune.h"

static inline struct kerf_tune_space *grid(const char *defaults) {
    const char *params[] = {"batch=16..256:x2", "ubatch=2..256:x2"}, *where = "ubatch <= batch";
    struct kerf_tune_space *space;
    assert_int_equal(kerf_tune_space_create(params, 2, &where, 1, defaults, &space, NULL), KERF_OK);
    return space;
}

static inline struct kerf_tune_question ask(const struct kerf_tune_space *space, const char *policy) {
    struct kerf_tune_question question;
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.policy = policy;
    question.is_time = 1;
    question.seed = 5;
    return question;
}

static inline struct kerf_tune_study *begin(const struct kerf_tune_question *question) {
    struct kerf_tune_study *study;
    struct kerf_error err;
    if (kerf_tune_study_create(question, &study, &err) != KERF_OK) fail_msg("%s", err.message);
    return study;
}

static inline struct kerf_tune_decision next_of(struct kerf_tune_study *study) {
    struct kerf_tune_decision decision;
    struct kerf_error err;
    if (kerf_tune_study_next(study, NULL, 0, 0, &decision, &err) != KERF_OK) fail_msg("%s", err.message);
    assert_true(strlen(decision.reason) > 0);
    return decision;
}

static inline struct kerf_tune_answer answer_of(struct kerf_tune_study *study) {
    struct kerf_tune_answer answer;
    assert_int_equal(kerf_tune_study_answer(study, &answer, NULL), KERF_OK);
    return answer;
}

/* A valley at ubatch 32 of a second, with noise of 1 %. */
static inline double truth(const struct kerf_tune_space *space, int32_t setting) {
    const int32_t *values = space->values + (int64_t)setting * space->num_params;
    return exp(0.2 * fabs(values[1] - 4.0));
}

struct bed {
    const struct kerf_tune_space *space;
    struct pcg64 rng;
    double clock;
};

static inline struct kerf_tune_observation run(struct bed *bed, const struct kerf_tune_decision *decision) {
    double value = truth(bed->space, decision->setting) * exp(random_normal(&bed->rng, 0, 0.01));
    struct kerf_tune_observation o = {.setting = decision->setting, .value = value, .start_s = bed->clock};
    if (decision->limit > 0 && value > decision->limit) {
        o.value = decision->limit;
        o.outcome = KERF_TUNE_CENSORED;
    }
    bed->clock = o.end_s = bed->clock + o.value;
    return o;
}

static inline void observe(struct kerf_tune_study *study, const struct kerf_tune_observation *o) {
    assert_int_equal(kerf_tune_study_observe(study, o, NULL), KERF_OK);
}

/* Runs to the end; returns the number of observations, which are kept in ret [300] unless that is NULL. */
static inline int32_t run_all(struct kerf_tune_study *study, struct bed *bed, struct kerf_tune_observation *ret,
                              struct kerf_tune_decision *ret_last) {
    for (int32_t count = 0; count < 1200; count++) {
        *ret_last = next_of(study);
        if (ret_last->action == KERF_TUNE_STOP) return count;
        assert_in_range(ret_last->setting, 0, bed->space->num_settings - 1);
        struct kerf_tune_observation o = run(bed, ret_last);
        if (ret) ret[count] = o;
        observe(study, &o);
    }
    fail_msg("it does not end");
    return 0;
}

static inline int32_t value_of(const struct kerf_tune_space *space, int32_t setting, int32_t param) {
    return space->values[(int64_t)setting * space->num_params + param];
}

#endif
