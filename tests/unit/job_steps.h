/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a recurring job, for tests: each fails the test when the library refuses it. */
#ifndef KERF_TESTS_JOB_STEPS_H
#define KERF_TESTS_JOB_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "kerf/jobs.h"

static const int64_t three[] = {8, 16, 32};

static inline struct kerf_job_spec usual(void) {
    struct kerf_job_spec spec;
    kerf_job_spec_defaults(&spec);
    spec.job_id = "job";
    spec.gpu_model = "V100";
    spec.number_of_gpus = 1;
    spec.max_power = 300;
    spec.batch_sizes = three;
    spec.num_batch_sizes = 3;
    spec.default_batch_size = 16;
    spec.eta_knob = 1; /* the cost is the energy */
    spec.num_pruning_rounds = 1;
    spec.mab_num_explorations = 1;
    spec.has_mab_seed = 1;
    spec.mab_seed = 7;
    return spec;
}

static inline struct kerf_job *create(const struct kerf_job_spec *spec, int32_t flags) {
    struct kerf_job *job;
    assert_int_equal(kerf_job_create(spec, flags, &job, NULL), KERF_OK);
    return job;
}

static inline struct kerf_decision decide(struct kerf_job *job, double now) {
    struct kerf_decision decision;
    assert_int_equal(kerf_job_predict(job, now, &decision, NULL), KERF_OK);
    return decision;
}

static inline struct kerf_trial predict(struct kerf_job *job, double now) {
    struct kerf_decision decision = decide(job, now);
    assert_int_equal(decision.status, KERF_JOB_ANSWERED);
    return decision.trial;
}

static inline struct kerf_answer report(struct kerf_job *job, struct kerf_trial *trial, double energy, double metric,
                                        int64_t epoch, double now) {
    struct kerf_report said = {trial->batch_size, trial->number, 1, energy, metric, epoch};
    struct kerf_answer answer;
    assert_int_equal(kerf_job_report(job, trial, &said, now, &answer, NULL), KERF_OK);
    return answer;
}

static inline struct kerf_answer finish(struct kerf_job *job, struct kerf_trial *trial, double energy, double now) {
    return report(job, trial, energy, 1, 1, now);
}

static inline struct kerf_answer give_up(struct kerf_job *job, struct kerf_trial *trial, double now) {
    return kerf_job_end(job, trial, now);
}

static inline void is_next(struct kerf_job *job, double now, int64_t batch_size, int32_t type) {
    struct kerf_trial trial = predict(job, now);
    assert_int_equal(trial.batch_size, batch_size);
    assert_int_equal(trial.type, type);
}

/* Three sizes explored at costs 100, 110, 120; the next request begins the stage MAB. */
static inline struct kerf_job *explored(struct kerf_job_spec spec, int32_t flags) {
    struct kerf_job *job = create(&spec, flags);
    for (int i = 0; i < 3; i++) {
        struct kerf_trial trial = predict(job, 0);
        finish(job, &trial, 100 + 10 * i, 1);
    }
    return job;
}

static inline const struct kerf_arm *arm_of(const struct kerf_job *job, int64_t batch_size) {
    int32_t count;
    const struct kerf_arm *arms = kerf_job_arms(job, &count);
    for (int32_t i = 0; i < count; i++)
        if (arms[i].batch_size == batch_size) return &arms[i];
    return NULL;
}

#endif
