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

enum {
    DEVICES_MAX = 4096,
    MICROBATCHES_MAX = 1 << 20,
    OPS_MAX = 1 << 27, /* of a kind */
    STAGES_MAX = 32767,
    SLICES_MAX = 4096,
    SCHEDULE_FILE_MAX = 256 << 20 /* bytes */
};

/* ---- Placement -------------------------------------------------------------------------------------------- */

/* 2 where the second replica runs from the last device to the first, else 1. */
static inline int32_t placement_replicas(enum kerf_placement placement) { return placement == KERF_PLACE_BOTH ? 2 : 1; }

/* The device of a replica's stage; odd chunks of a V go back. */
static inline int32_t placement_device(enum kerf_placement placement, int32_t devices, int32_t replica, int32_t stage) {
    const int32_t back = replica || (placement == KERF_PLACE_V && stage / devices % 2 == 1);
    return back ? devices - 1 - stage % devices : stage % devices;
}

/* The device of each stage: device_of[replicas * devices * chunks]. */
void placement_fill(enum kerf_placement placement, int32_t devices, int32_t chunks, int32_t *device_of);

/* ---- What stands behind the public structures ------------------------------------------------------------- */

struct owned_schedule {
    struct kerf_schedule schedule;
    struct arena arena;
};

struct owned_timeline {
    struct kerf_timeline timeline;
    struct arena arena;
};

/* ---- Operations, added one after the other ---------------------------------------------------------------- */

struct builder {
    int32_t p, m, v, group, slices;
    int64_t room;         /* operations that a device may have */
    struct kerf_op **ops; /* [p][room] */
    int32_t *num_ops;
    struct kerf_op *scratch;          /* [2 m] for one device at a time */
    struct kerf_schedule_proof proof; /* what a search has proved */
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
