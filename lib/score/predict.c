/* SPDX-License-Identifier: Apache-2.0 */
#include "score/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

/* 0 when memory ran out. */
static int predict(const struct score_constants *constants, const struct job *job, struct arena *scratch,
                   struct prediction *ret_prediction) {
    struct kerf_estimate estimate;
    int32_t system, stack;
    struct prediction prediction = {
        .why = job->why, .unknown = job->unknown, .system = job->system, .stack = job->stack};
    *ret_prediction = prediction;
    if (prediction.why) return 1;
    if (!price_find(constants, job, &system, &stack)) {
        ret_prediction->why = "there are no constants for its system or stack";
        return 1;
    }
    arena_reset(scratch);
    if (!price_job(constants, job, scratch, &estimate)) return 0;
    if (!(estimate.step_time_s > 0 && isfinite(estimate.step_time_s) && isfinite(estimate.memory_bytes))) {
        ret_prediction->why = "its time is beyond all numbers";
        return 1;
    }
    prediction.step_s = estimate.step_time_s;
    prediction.step_low_s = estimate.step_low_s;
    prediction.step_high_s = estimate.step_high_s;
    prediction.comparable = estimate.comparable_runs;
    prediction.memory_bytes = estimate.memory_bytes;
    double least = estimate.memory_bytes;
    if (job->recompute_is_open) { /* it would have been run with what fits */
        struct job full = *job;
        struct kerf_estimate other;
        full.layout.recompute = KERF_RECOMPUTE_FULL;
        arena_reset(scratch);
        if (!price_job(constants, &full, scratch, &other)) return 0;
        if (other.memory_bytes < least) least = other.memory_bytes;
    }
    prediction.p_oom = stack_p_oom(least, constants->systems[system].memory_capacity_bytes);
    prediction.time_s = estimate.time_s;
    *ret_prediction = prediction;
    return 1;
}

int predict_jobs(const struct score_constants *constants, const struct job *jobs, const int32_t *which, size_t count,
                 struct prediction *predictions) {
    struct arena scratch = {NULL};
    int good = 1;
    for (size_t i = 0; good && i < count; i++)
        good = predict(constants, &jobs[which[i]], &scratch, &predictions[which[i]]);
    arena_free(&scratch);
    return good;
}

int32_t predict_runs(const struct score_constants *constants, const struct runs *runs, const char *stack,
                     struct prediction *ret_predictions, struct kerf_error *err) {
    struct arena arena = {NULL}, scratch = {NULL};
    int good = 1;
    int32_t code = stack ? price_check_stack(constants, stack, err) : KERF_OK;
    if (code != KERF_OK) return code;
    for (size_t i = 0; good && i < runs->count; i++) {
        struct job job;
        arena_reset(&arena);
        good = job_of_run(&runs->rows[i], &arena, &job);
        if (good && stack && job.why == NULL) job.stack = stack;
        good = good && predict(constants, &job, &scratch, &ret_predictions[i]);
    }
    arena_free(&arena);
    arena_free(&scratch);
    return good ? KERF_OK : error_no_memory(err, "the predictions");
}
