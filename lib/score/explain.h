/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measured run beside its prediction, part by part where what was measured has parts: what takes longer than it should, by
 * how much, and what usually makes it so.
 */
#ifndef KERF_SCORE_EXPLAIN_H
#define KERF_SCORE_EXPLAIN_H

#include "kerf/cost.h"
#include "kerf/trace.h"
#include "score/timer_log.h"

enum { EXPLAIN_ROWS_MAX = 12 };

struct explain_row {
    const char *name;  /* "gradient reduction" */
    const char *from;  /* which timers, or what of the trace */
    double measured_s; /* of a step */
    double predicted_s;
    const char *cause; /* what usually makes it longer; NULL: nothing is known */
};

struct explanation {
    double measured_s, predicted_s, low_s, high_s; /* of a step, and the 90 % interval */
    int32_t comparable_runs, count;
    struct explain_row rows[EXPLAIN_ROWS_MAX]; /* of a step; they need not add up */
};

/* From a step's time and Megatron's timers (count 0: none). */
void explain_timers(const struct kerf_estimate *estimate, double measured_s, const struct timer_log *timers,
                    struct explanation *ret_explanation);

/* From a trace of a pipeline, whose step is its makespan: KERF_EINVALID where its devices, stages or micro-batches are not
 * those of the estimate. */
int32_t explain_trace(const struct kerf_estimate *estimate, const struct kerf_trace *trace,
                      const struct kerf_trace_fit *fit, struct explanation *ret_explanation, struct kerf_error *err);

/* The row that exceeds its prediction by most seconds, and by more than 2 % of the step; NULL: none does. */
const struct explain_row *explain_worst(const struct explanation *explanation);

#endif
