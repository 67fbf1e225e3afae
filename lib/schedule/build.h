/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building schedules: how large they may be, where the stages are, the memory behind the public structures, and the
 * lists of operations while a rule or a search fills them.
 */
#ifndef KERF_SCHEDULE_BUILD_H
#define KERF_SCHEDULE_BUILD_H

#include <assert.h>
#include "base/arena.h"
#include "kerf/schedule.h"
#include "schedule/search_how.h"

enum {
    DEVICES_MAX = 4096,
    MICROBATCHES_MAX = 1 << 20,
    OPS_MAX = 1 << 27, /* of a kind */
    STAGES_MAX = 32767,
    SLICES_MAX = 4096,
    HOMES_MAX = 1 << 22,          /* stages of all replicas, of a file */
    SCHEDULE_FILE_MAX = 256 << 20 /* bytes */
};

/* ---- Placement -------------------------------------------------------------------------------------------- */

/* Who holds which stage: a placement is a row of a table, and rules, files and the search all use it. */
struct placement {
    const char *word;       /* in files; NULL: a request for several */
    int32_t zigzag;         /* odd chunks go back */
    int32_t replicas;       /* odd ones are upside down; 0: any even number, the pairs evenly around the devices */
    int32_t default_chunks; /* of each replica */
    int32_t fixed_chunks;   /* 1: no others */
};
extern const struct placement placements[KERF_PLACEMENTS];

/* Replicas of a placement, asked of those that have any number; 0: the least. */
static inline int32_t placement_replicas(enum kerf_placement placement, int32_t asked) {
    const int32_t own = placements[placement].replicas;
    return own ? own : asked ? asked : 2;
}

/* The device of a replica's stage, of so many replicas. */
int32_t placement_device(enum kerf_placement placement, int32_t devices, int32_t replicas, int32_t replica,
                         int32_t stage);

/* The device of each stage: device_of[replicas * devices * chunks]. */
void placement_fill(enum kerf_placement placement, int32_t devices, int32_t chunks, int32_t replicas,
                    int32_t *device_of);

/* ---- What stands behind the public structures ------------------------------------------------------------- */

struct owned_schedule {
    struct kerf_schedule schedule;
    struct kerf_text certificate;
    struct arena arena;
};

struct owned_timeline {
    struct kerf_timeline timeline;
    struct arena arena;
};

/* ---- Operations, added one after the other ---------------------------------------------------------------- */

struct builder {
    int32_t p, m, v, group, slices, replicas;
    int64_t room;         /* operations that a device may have */
    struct kerf_op **ops; /* [p][room] */
    int32_t *num_ops;
    struct kerf_op *scratch;          /* [2 m] for one device at a time */
    int32_t *scratch_count;           /* [2 v] */
    struct kerf_schedule_proof proof; /* what a search has proved, */
    struct kerf_text certificate;     /* and its certificate, where that was asked for */
    const struct search_how *how;     /* NULL: on one thread, and nobody is told */
};

static inline struct kerf_op *add(struct builder *builder, int32_t device, enum kerf_op_kind kind, int32_t stage,
                                  int32_t microbatch) {
    assert(builder->num_ops[device] < builder->room);
    struct kerf_op *op = &builder->ops[device][builder->num_ops[device]++];
    *op = (struct kerf_op){microbatch, -1, (int16_t)stage, -1, (int16_t)kind, 0};
    return op;
}

static inline void add_fused(struct builder *builder, int32_t device, int32_t stage, int32_t microbatch,
                             int32_t with_stage, int32_t with_microbatch) {
    struct kerf_op *op = add(builder, device, KERF_OP_FB, stage, microbatch);
    op->with_stage = (int16_t)with_stage;
    op->with_microbatch = with_microbatch;
}

static inline void add_slice(struct builder *builder, int32_t device, enum kerf_op_kind kind, int32_t stage,
                             int32_t microbatch, int32_t slice) {
    add(builder, device, kind, stage, microbatch)->slice = (int16_t)slice;
}

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

#endif
