/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace while it is read: what each rank's file says happened, whatever its format. To add a format, write a file like
 * trace_megatron.c and put it into the list in trace.c.
 */
#ifndef KERF_TRACE_TRACE_EVENTS_H
#define KERF_TRACE_TRACE_EVENTS_H

#include "base/arena.h"
#include "kerf/trace.h"
#include "trace/trace_files.h"

enum { TRACE_DEVICES_MAX = 4096, TRACE_STAGES_MAX = 32767, TRACE_MICROBATCHES_MAX = 1 << 20 };

/* Beside enum kerf_op_kind. */
enum trace_kind {
    TRACE_RECEIVE_F = KERF_OP_KINDS, /* from when it was posted to when the message was there */
    TRACE_RECEIVE_B,
    TRACE_OLD_WHOLE, /* BW of PyTorch's older letters */
    TRACE_STEP,      /* ProfilerStep#N, N as microbatch */
    TRACE_NOTHING    /* left out */
};

struct trace_event {
    double start_s, end_s; /* by the rank's clock */
    int64_t step;          /* steps in ascending order */
    struct kerf_op op;     /* kind: enum kerf_op_kind or enum trace_kind */
    int32_t rank;          /* index into ranks */
    int32_t lane;          /* stream or thread */
    int32_t on_gpu;
};

struct trace_rank {
    const char *file;
    int32_t number;     /* in the whole job, -1: not said */
    int32_t device;     /* -1: a replica, or without operations */
    double process;     /* which the file names, where it holds several ranks */
    int32_t file_index; /* files in the order in which they are read */
};

struct trace_reading {
    struct arena arena; /* names */
    struct trace_event *events;
    size_t num_events, events_room;
    struct trace_rank *ranks;
    size_t num_ranks, ranks_room;
    struct kerf_text notes;
    const char *source;
    int32_t devices, stages, microbatches; /* what finish finds */
    int32_t ranks_left_out;
    int32_t files;   /* read so far */
    int32_t traces;  /* of these, how many are of the format */
    double first_us; /* what times are counted from, so that they keep their digits */
    int64_t first_ns;
    int32_t has_first;
    int32_t unpaired;   /* starts without an end, and the other way round */
    int32_t next_stage; /* a stage that somebody sends to, which must exist; 0: none */
};

struct trace_format {
    const char *source;
    const char *expected; /* file names, for errors */
    int (*recognises)(const char *name);
    /* Marks the files to read. */
    int32_t (*select)(struct trace_file *files, size_t count, const char *folder, struct kerf_error *err);
    /* Adds what a file says. The text need not end with a NUL. */
    int32_t (*read)(struct trace_reading *reading, const struct trace_file *file, const char *text, size_t length,
                    struct kerf_error *err);
    /* Gives each rank its device and each event its step, and sets the sizes. */
    int32_t (*finish)(struct trace_reading *reading, struct kerf_error *err);
};

extern const struct trace_format trace_megatron, trace_torch;

static inline int trace_is_operation(const struct trace_event *event) { return event->op.kind < KERF_OP_KINDS; }

/* For trace_event.step: the ProfilerStep's number, -1 without, and how often operations have come again in it. */
static inline int64_t trace_step_key(int32_t number, int32_t repetition) {
    return (int64_t)number * ((int64_t)1 << 32) + repetition;
}

/* 0 when memory runs out. */
int trace_add_event(struct trace_reading *reading, const struct trace_event *event);
/* The index of the rank, -1 when memory runs out. */
int32_t trace_add_rank(struct trace_reading *reading, const struct trace_rank *rank);
void trace_reading_free(struct trace_reading *reading);

/* Sets stages (at least as many as are set) and microbatches to what the operations name; KERF_EINVALID when they name
 * far more than there are operations. */
int32_t trace_measure(struct trace_reading *reading, struct kerf_error *err);

#endif
