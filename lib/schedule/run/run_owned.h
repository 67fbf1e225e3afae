/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind a kerf_run, and which operation makes what another needs. */
#ifndef KERF_SCHEDULE_RUN_OWNED_H
#define KERF_SCHEDULE_RUN_OWNED_H

#include "base/arena.h"
#include "kerf/run.h"

/* A message as its receiver saw it; NAN where nothing recorded it. */
struct run_receive {
    double posted_s, arrived_s;
};

/* An operation's place; device -1: there is none. */
struct run_place {
    int32_t device, at;
};

struct owned_run {
    struct kerf_run run;
    struct arena arena;
    struct kerf_schedule schedule;
    struct kerf_timeline timeline;
    double **start, **end;         /* [devices][num_ops] */
    struct run_receive **receives; /* [devices][2 * num_ops] of the forward and the backward part; NULL: none */
    struct run_place *maker;       /* [2 * stages * microbatches] by order_output */
};

/* What an operation needs from another device. */
struct run_input {
    struct run_place from;
    struct run_receive receive;
    int32_t boundary; /* between this stage and the next */
    int backward;
};

/* The inputs of an operation from other devices whose makers are in the run, two at most. */
int run_inputs(const struct owned_run *owned, int32_t device, int32_t at, struct run_input ret_inputs[2]);

/* Subtracts from all times of a device. */
void run_shift(struct owned_run *owned, int32_t device, double by_s);

/* Shifts clocks or cuts waits off where operations start before their inputs; sets run.clocks and run.offset_s. Tells
 * in notes what it did. 0 when memory runs out. */
int run_align_clocks(struct owned_run *owned, struct kerf_text *notes);

#endif
