/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a trace, and which of its micro-batches are complete. */
#ifndef KERF_TRACE_TRACE_STEPS_H
#define KERF_TRACE_TRACE_STEPS_H

#include "trace/trace_events.h"

struct trace_step {
    size_t first, count; /* operations among the events */
    int64_t complete;    /* cells */
    double makespan_s;   /* by unaligned clocks */
};

/* A cell is one micro-batch on one stage; it is complete with F and either B or I and W. */
struct trace_steps {
    struct trace_reading *reading; /* its events sorted: operations by step, device and start, then receives */
    int64_t cells;
    unsigned char *seen; /* [cells] zeros between calls */
    struct trace_step *steps;
    size_t num_steps, num_complete, num_operations;
};

/* 0 when memory runs out; trace_steps_free after it, too. */
int trace_steps_find(struct trace_steps *steps, struct trace_reading *reading);
void trace_steps_free(struct trace_steps *steps);

/* The complete step of this number, or for -1 of median makespan; where none is complete the fullest. The trace's steps,
 * steps_left_out and step are set. NULL with err. */
const struct trace_step *trace_steps_take(struct trace_steps *steps, int32_t number, struct kerf_trace *trace,
                                          struct kerf_error *err);

/* Sets complete[microbatch] of a step and returns how many are. */
int32_t trace_steps_complete(struct trace_steps *steps, const struct trace_step *step, int32_t *complete);

/* "3B7 is missing": the first that makes a step incomplete. */
void trace_steps_missing(struct trace_steps *steps, const struct trace_step *step, struct kerf_text *out);

#endif
