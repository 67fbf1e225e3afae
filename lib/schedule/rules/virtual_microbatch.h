/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which looped schedules go through chunks and micro-batches: groups of micro-batches, and in each group
 * chunk 0 of them all, then chunk 1, and so on; the last group may be short. Backward passes go through the chunks from
 * the last to the first. (Megatron-LM, schedules.py: get_schedule_table.)
 */
#ifndef KERF_SCHEDULE_RULES_VIRTUAL_MICROBATCH_H
#define KERF_SCHEDULE_RULES_VIRTUAL_MICROBATCH_H

#include "schedule/rules/rule.h"

/* Walks that order: starts as all zeros, `next` moves it on. */
struct virtual_microbatch {
    int32_t group_start, chunk, in_group;
};

static inline int32_t virtual_id(const struct virtual_microbatch *at) { return at->group_start + at->in_group; }

static inline void virtual_next(const struct builder *b, struct virtual_microbatch *at) {
    int32_t size = smaller(b->group, b->m - at->group_start);
    if (++at->in_group < size) return;
    at->in_group = 0;
    if (++at->chunk < b->v) return;
    at->chunk = 0;
    at->group_start += size;
}

static inline int32_t forward_stage(const struct builder *b, int32_t device, const struct virtual_microbatch *at) {
    return at->chunk * b->p + device;
}

static inline int32_t backward_stage(const struct builder *b, int32_t device, const struct virtual_microbatch *at) {
    return (b->v - 1 - at->chunk) * b->p + device;
}

/* Adds the next forward or backward operation of the device. */
static inline void add_forward(struct builder *b, int32_t i, struct virtual_microbatch *at) {
    add(b, i, KERF_OP_F, forward_stage(b, i, at), virtual_id(at));
    virtual_next(b, at);
}

static inline void add_backward(struct builder *b, int32_t i, enum kerf_op_kind kind, struct virtual_microbatch *at) {
    add(b, i, kind, backward_stage(b, i, at), virtual_id(at));
    virtual_next(b, at);
}

/* Megatron-LM, schedules.py: p <= group <= m, and a last group of none or at least p. */
static inline int refused_by_megatron(const struct kerf_schedule_request *request) {
    int32_t p = request->devices, m = request->microbatches, group = request->group ? request->group : p;
    return group < p || group > m || (m % group != 0 && m % group < p);
}

/* PyTorch goes through the micro-batches in rounds of p or some more, all of the same size. */
static inline int refused_by_pytorch_rounds(const struct kerf_schedule_request *request) {
    int32_t rounds = request->microbatches / request->devices;
    return rounds > 1 && request->microbatches % rounds != 0;
}

#endif
