/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interleaved 1F1B (Narayanan et al., Megatron-LM, arXiv 2104.04473): v chunks on each device make the bubble v times
 * shorter, for v times the messages. And two variants of it, with fused passes and with the weights' backward apart.
 *
 * All go through chunks and micro-batches in one order: groups of micro-batches, and in each group chunk 0 of them all,
 * then chunk 1, and so on; the last group may be short. Backward passes go through the chunks from the last to the
 * first. (Megatron-LM, schedules.py: get_schedule_table.)
 */
#include "schedule/rules/rule.h"

/* ---- The order ------------------------------------------------------------------------------------------------- */

/* Walks it: starts as all zeros, `virtual_next` moves it on. */
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

/* ---- interleaved_1f1b ------------------------------------------------------------------------------------------ */

static void interleaved_device(struct builder *b, int32_t i) {
    struct virtual_microbatch forward = {0, 0, 0}, backward = {0, 0, 0};
    int64_t all = (int64_t)b->m * b->v, warm_up = 2 * (int64_t)(b->p - 1 - i) + (int64_t)(b->v - 1) * b->group;
    if (warm_up > all) warm_up = all;
    for (int64_t j = 0; j < warm_up; j++) add_forward(b, i, &forward);
    for (int64_t j = 0; j < all; j++) {
        if (warm_up + j < all) add_forward(b, i, &forward);
        add_backward(b, i, KERF_OP_B, &backward);
    }
}

static int interleaved_refused_elsewhere(const struct kerf_schedule_request *request) {
    return refused_by_megatron(request) || refused_by_pytorch_rounds(request);
}

const struct rule rule_interleaved_1f1b = {
    .shown =
        {
            .name = "interleaved_1f1b",
            .summary = "1f1b over v chunks a device",
            .elsewhere = "Megatron-LM: a group below p or above m, or a last group below p; PyTorch: its rounds, m / p "
                         "rounded down, do not divide m",
            .bubble = "(p-1) s / v where group divides m",
            .memory = "((v-1) group + 2p - 1) / v",
            .source = "Megatron-LM, arXiv 2104.04473",
        },
    .default_chunks = 1,
    .grouped = 1,
    .refused_elsewhere = interleaved_refused_elsewhere,
    .device = interleaved_device,
};

/* ---- interleaved_1f1b_overlap ---------------------------------------------------------------------------------- */

/* Interleaved 1F1B with one more warm-up forward, each steady forward fused with the backward after it
 * (Victarry/PP-Schedule-Visualization, strategies.py; Megatron-LM, combined_1f1b.py). */
static void overlap_device(struct builder *b, int32_t i) {
    struct virtual_microbatch forward = {0, 0, 0}, backward = {0, 0, 0};
    int64_t all = (int64_t)b->m * b->v, warm_up = 2 * (int64_t)(b->p - 1 - i) + (int64_t)(b->v - 1) * b->group + 1;
    if (warm_up > all) warm_up = all;
    for (int64_t j = 0; j < warm_up; j++) add_forward(b, i, &forward);
    for (int64_t j = 0; j < all - warm_up; j++) {
        add_fused(b, i, forward_stage(b, i, &forward), virtual_id(&forward), backward_stage(b, i, &backward),
                  virtual_id(&backward));
        virtual_next(b, &forward);
        virtual_next(b, &backward);
    }
    for (int64_t j = all - warm_up; j < all; j++) add_backward(b, i, KERF_OP_B, &backward);
}

const struct rule rule_interleaved_1f1b_overlap = {
    .shown =
        {
            .name = "interleaved_1f1b_overlap",
            .summary = "interleaved_1f1b with fused forward and backward",
            .elsewhere = "Megatron-LM: a group below p or above m, or a last group below p",
            .bubble = "makespan ((p+n) s + (m v - 1 - n) FB) / v where n = group (v-1), group divides m",
            .memory = "((v-1) group + 2p) / v",
            .source = "Victarry/PP-Schedule-Visualization; Megatron-LM",
        },
    .default_chunks = 1,
    .grouped = 1,
    .refused_elsewhere = refused_by_megatron,
    .device = overlap_device,
};

/* ---- interleaved_zb -------------------------------------------------------------------------------------------- */

/* PyTorch's InterleavedZeroBubble (torch/distributed/pipelining/schedules.py): interleaved 1F1B with a shorter warm-up
 * and the weights' backward i operations behind on device i. */
static void zb_device(struct builder *b, int32_t i) {
    struct virtual_microbatch forward = {0, 0, 0}, backward = {0, 0, 0}, weight = {0, 0, 0};
    int64_t all = (int64_t)b->m * b->v, warm_up = (int64_t)(b->v - 1) * b->group + b->p - 1 - i;
    if (warm_up > all) warm_up = all;
    for (int64_t j = 0; j < warm_up; j++) add_forward(b, i, &forward);
    for (int64_t j = 0; j < all; j++) {
        if (warm_up + j < all) add_forward(b, i, &forward);
        add_backward(b, i, KERF_OP_I, &backward);
        if (j >= i) add_backward(b, i, KERF_OP_W, &weight);
    }
    for (int64_t j = all > i ? all - i : 0; j < all; j++) add_backward(b, i, KERF_OP_W, &weight);
}

const struct rule rule_interleaved_zb = {
    .shown =
        {
            .name = "interleaved_zb",
            .summary = "interleaved_1f1b with the weights' backward split off",
            .elsewhere = "PyTorch: its rounds, m / p rounded down, do not divide m",
            .bubble = "(p-1) (F + B - min(F, B, W)) / v where group divides m",
            .memory = "((v-1) group + p) / v",
            .source = "PyTorch ScheduleInterleavedZeroBubble",
        },
    .default_chunks = 2,
    .grouped = 1,
    .refused_elsewhere = refused_by_pytorch_rounds,
    .device = zb_device,
};
