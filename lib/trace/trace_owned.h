/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind a kerf_trace, and which operation makes what another needs. */
#ifndef KERF_TRACE_TRACE_OWNED_H
#define KERF_TRACE_TRACE_OWNED_H

#include "base/arena.h"
#include "kerf/trace.h"

/* A message as its receiver saw it; NAN where nothing recorded it. */
struct trace_receive {
    double posted_s, arrived_s;
};

/* An operation's place; device -1: there is none. */
struct trace_place {
    int32_t device, at;
};

struct owned_trace {
    struct kerf_trace trace;
    struct arena arena;
    struct kerf_schedule schedule;
    struct kerf_timeline timeline;
    double **start, **end;           /* [devices][num_ops] */
    struct trace_receive **receives; /* [devices][2 * num_ops] of the forward and the backward part; NULL: none */
    struct trace_place *maker;       /* [2 * stages * microbatches] by order_output */
};

/* What an operation needs from another device. */
struct trace_input {
    struct trace_place from;
    struct trace_receive receive;
    int32_t boundary; /* between this stage and the next */
    int backward;
};

/* The inputs of an operation from other devices whose makers are in the trace, two at most. */
int trace_inputs(const struct owned_trace *owned, int32_t device, int32_t at, struct trace_input ret_inputs[2]);

/* Subtracts from all times of a device. */
void trace_shift(struct owned_trace *owned, int32_t device, double by_s);

/* trace_clock.c: shifts clocks or cuts waits off where operations start before their inputs; sets trace.clocks and
 * trace.offset_s. Tells in notes what it did. 0 when memory runs out. */
int trace_align_clocks(struct owned_trace *owned, struct kerf_text *notes);

#endif
