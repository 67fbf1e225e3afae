/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace while it is read: its files, what each rank's file says happened, whatever its format, and its steps. To add a
 * format, write a file like trace_megatron.c and put it into the list in trace.c.
 */
#ifndef KERF_TRACE_TRACE_EVENTS_H
#define KERF_TRACE_TRACE_EVENTS_H

#include "base/arena.h"
#include "kerf/text.h"
#include "kerf/trace.h"

/* ---- Files (trace.c) ------------------------------------------------------------------------------------------- */

struct trace_file {
    const char *path;
    const char *name; /* without folders, and without the .gz of a compressed file */
    int32_t selected;
    const char *text; /* [length] what is in it; NULL: on the disk */
    size_t length;
};

/* Reads a file into text, decompressed where its name ends with .gz; of more than limit bytes it is refused. */
int32_t trace_file_read(const struct trace_file *file, size_t limit, struct kerf_text *text, struct kerf_error *err);

/* ---- Events (trace_events.c) ----------------------------------------------------------------------------------- */

#define TRACE_SECONDS_MAX 1e9 /* from the first time that is read to any other, so that all keep 0.1 us */
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

/* ---- Steps, and which of their micro-batches are complete (trace_events.c) ------------------------------------- */

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

/* The complete step of this number, or for -1 of median makespan; where none is complete the fullest. The trace's
 * steps, steps_left_out and step are set. NULL with err. */
const struct trace_step *trace_steps_take(struct trace_steps *steps, int32_t number, struct kerf_trace *trace,
                                          struct kerf_error *err);

/* Sets complete[microbatch] of a step and returns how many are. */
int32_t trace_steps_complete(struct trace_steps *steps, const struct trace_step *step, int32_t *complete);

/* "3B7 is missing": the first that makes a step incomplete. */
void trace_steps_missing(struct trace_steps *steps, const struct trace_step *step, struct kerf_text *out);

/* ---- From what was read to the trace --------------------------------------------------------------------------- */

/* trace_torch_ranks.c: chooses between GPU and CPU, streams and letters, and finds devices and steps. */
int32_t torch_finish(struct trace_reading *reading, struct kerf_error *err);

/* trace_build.c: makes the trace of what was read. */
int32_t trace_build(struct trace_reading *reading, int32_t step, struct kerf_trace **ret_trace, struct kerf_error *err);

#endif
