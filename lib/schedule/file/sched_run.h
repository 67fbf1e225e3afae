/* SPDX-License-Identifier: Apache-2.0 */
/* What evaluates the text form of schedules: its state, between expressions (sched_eval.c) and operations. */
#ifndef KERF_SCHEDULE_FILE_SCHED_RUN_H
#define KERF_SCHEDULE_FILE_SCHED_RUN_H

#include "schedule/file/sched_program.h"

/* One chunk of the device at hand. */
struct chunk {
    int32_t stage;
    int32_t first, count;        /* its micro-batches: those of its replica */
    int64_t forwards, backwards; /* taken so far, those left out too */
    int64_t weights, waiting;    /* W run; I whose W is still to come */
    int32_t oldest, newest;      /* of those in pending, -1: none */
};

/* An I whose W waits, or has waited. */
struct pending {
    int32_t chunk, microbatch, slice;
    int32_t next; /* of the chunk */
    int taken;
};

struct run {
    const struct program *program;
    struct kerf_error *err;
    int32_t code; /* of the first error */
    int64_t values[BUILTINS];
    int32_t devices, microbatches, slices, stages, replicas;
    int32_t chunks; /* of a device, at most, in one replica */
    int32_t *device_of;
    int64_t steps; /* that are left */

    /* of the device at hand */
    struct chunk *chunk; /* [num_chunks] */
    int32_t num_chunks;
    struct pending *pending; /* in the order of their I */
    int32_t num_pending, pending_capacity, oldest_pending;
    struct kerf_op *ops;
    int64_t num_ops, ops_capacity, ops_most;
};

void run_fail(struct run *run, struct place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
void run_no_memory(struct run *run);
int run_step(struct run *run, struct place place); /* 0 after an error, or when there have been too many */

/* The value, 0 after an error; slots are those of the names in scope. */
int64_t run_eval(struct run *run, const struct expr *expr, const int64_t *slots);
/* The device's chunk that an operation names; NULL after an error. */
struct chunk *run_chunk(struct run *run, const struct op_name *name, const int64_t *slots);

/* Adds the operation of a statement. */
void run_op(struct run *run, const struct statement *statement, const int64_t *slots);

#endif
