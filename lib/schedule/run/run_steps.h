/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a run, and which of its micro-batches are complete. */
#ifndef KERF_SCHEDULE_RUN_STEPS_H
#define KERF_SCHEDULE_RUN_STEPS_H

#include "schedule/run/run_events.h"

struct run_step {
    size_t first, count; /* operations among the events */
    int64_t complete;    /* cells */
    double makespan_s;   /* by unaligned clocks */
};

/* A cell is one micro-batch on one stage; it is complete with F and either B or I and W. */
struct run_steps {
    struct run_reading *reading; /* its events sorted: operations by step, device and start, then receives */
    int64_t cells;
    unsigned char *seen; /* [cells] zeros between calls */
    struct run_step *steps;
    size_t num_steps, num_complete, num_operations;
};

/* 0 when memory runs out; run_steps_free after it, too. */
int run_steps_find(struct run_steps *steps, struct run_reading *reading);
void run_steps_free(struct run_steps *steps);

/* The complete step of this number, or for -1 of median makespan; where none is complete the fullest. The run's steps,
 * steps_left_out and step are set. NULL with err. */
const struct run_step *run_steps_take(struct run_steps *steps, int32_t number, struct kerf_run *run,
                                      struct kerf_error *err);

/* Sets complete[microbatch] of a step and returns how many are. */
int32_t run_steps_complete(struct run_steps *steps, const struct run_step *step, int32_t *complete);

/* "3B7 is missing": the first that makes a step incomplete. */
void run_steps_missing(struct run_steps *steps, const struct run_step *step, struct kerf_text *out);

#endif
