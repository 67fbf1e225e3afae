/* SPDX-License-Identifier: Apache-2.0 */
/* What kerf says of a run before it is measured: lib/cost's analytic model for the run's model, system, stack and layout. */
#ifndef KERF_SCORE_PREDICT_H
#define KERF_SCORE_PREDICT_H

#include "score/price.h"
#include "score/runs.h"

struct prediction {
    const char *why;                        /* it was refused because; NULL: the rest is filled */
    const char *unknown;                    /* the name in the row that the reason is about; NULL: none */
    double step_s, step_low_s, step_high_s; /* the central 90 % */
    double memory_bytes;                    /* of the fullest accelerator */
    double p_oom;
    int32_t comparable; /* measured runs that the interval rests on; 0: nothing like it was measured */
    const char *system, *stack;
    struct kerf_parts time_s; /* they add up to step_s */
};

/* One prediction for each row. What was measured is not read. stack: that all rows are priced with; NULL: each its own. */
int32_t predict_runs(const struct score_constants *constants, const struct runs *runs, const char *stack,
                     struct prediction *ret_predictions, struct kerf_error *err);

/* The same of jobs that were made before, `which` [count]. 0 when memory ran out. */
int predict_jobs(const struct score_constants *constants, const struct job *jobs, const int32_t *which, size_t count,
                 struct prediction *predictions);

#endif
