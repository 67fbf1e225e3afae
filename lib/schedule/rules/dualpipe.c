/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DualPipe (DeepSeek-V3, arXiv 2412.19437; deepseek-ai/DualPipe, dualpipe.py): micro-batches enter from both ends of
 * the pipeline, and forwards of one direction run together with backwards of the other. Every device holds two stages'
 * weights. DualPipeV (dualpipev.py) is DualPipe folded in the middle, so that one replica in a V does for two.
 *
 * They share eight phases: a device takes turns between two passes, 0 and 1, which are the two directions of DualPipe
 * and the two chunks of DualPipeV.
 */
#include "schedule/rules/rule.h"

/* ---- The phases of both ---------------------------------------------------------------------------------------- */

struct dual_pass {
    struct builder *b;
    int32_t device;
    int32_t ranks, rank;     /* on this side: p and i of DualPipeV, p/2 and the distance to the near end of DualPipe */
    int32_t count;           /* micro-batches of each pass */
    int32_t stage[2];        /* of pass 0 and 1 on this device */
    int32_t first[2];        /* their first micro-batches */
    int32_t f[2], back[2];   /* how many forwards and backwards were added */
    struct kerf_op *pending; /* [2 * count] backwards of the input whose weights are still to come, oldest first */
    int32_t pending_begin, pending_end;
};

static int32_t next_microbatch(const struct dual_pass *d, const int32_t *counter, int pass) {
    return d->first[pass] + counter[pass];
}

static void forward(struct dual_pass *d, int pass) {
    if (d->f[pass] >= d->count) return;
    add(d->b, d->device, KERF_OP_F, d->stage[pass], next_microbatch(d, d->f, pass));
    d->f[pass]++;
}

/* A backward pass; split: of the input alone, its weights wait. */
static void backward(struct dual_pass *d, int pass, int split) {
    if (d->back[pass] >= d->count) return;
    int32_t microbatch = next_microbatch(d, d->back, pass);
    add(d->b, d->device, split ? KERF_OP_I : KERF_OP_B, d->stage[pass], microbatch);
    if (split)
        d->pending[d->pending_end++] = (struct kerf_op){microbatch, -1, (int16_t)d->stage[pass], -1, KERF_OP_W, 0};
    d->back[pass]++;
}

static void weight(struct dual_pass *d) {
    if (d->pending_begin == d->pending_end) return;
    const struct kerf_op *op = &d->pending[d->pending_begin++];
    add(d->b, d->device, KERF_OP_W, op->stage, op->microbatch);
}

static void fused(struct dual_pass *d, int forward_pass, int backward_pass) {
    if (d->f[forward_pass] >= d->count) {
        backward(d, backward_pass, 0);
    } else if (d->back[backward_pass] >= d->count) {
        forward(d, forward_pass);
    } else {
        add_fused(d->b, d->device, d->stage[forward_pass], next_microbatch(d, d->f, forward_pass),
                  d->stage[backward_pass], next_microbatch(d, d->back, backward_pass));
        d->f[forward_pass]++;
        d->back[backward_pass]++;
    }
}

static void dual_pass_device(struct dual_pass *d) {
    int32_t after = d->ranks - d->rank - 1; /* ranks between this one and the turn */
    for (int32_t j = 0; j < 2 * after; j++) forward(d, 0);
    for (int32_t j = 0; j < d->rank + 1; j++) forward(d, 0), forward(d, 1);
    for (int32_t j = 0; j < after; j++) backward(d, 1, 1), weight(d), forward(d, 1);
    for (int32_t j = 0; j < d->count - 2 * d->ranks + d->rank + 1; j++) {
        if (j == 0 && after == 0)
            forward(d, 0),
                backward(d, 1, 0); /* at the turn the forward's output is the backward's input: not together */
        else
            fused(d, 0, 1);
        fused(d, 1, 0);
    }
    for (int32_t j = 0; j < after; j++) backward(d, 1, 0), fused(d, 1, 0);
    int split = 0; /* from the middle of this phase on, to have weights left for the end */
    for (int32_t j = 0; j < d->rank + 1; j++) {
        if (j == (d->rank + 1) / 2 && d->rank % 2 == 1) split = 1;
        backward(d, 1, split);
        if (j == (d->rank + 1) / 2 && d->rank % 2 == 0) split = 1;
        backward(d, 0, split);
    }
    for (int32_t j = 0; j < after; j++) weight(d), backward(d, 0, 1);
    while (d->pending_begin < d->pending_end) weight(d);
}

/* ---- dualpipe -------------------------------------------------------------------------------------------------- */

static int32_t dualpipe_check(const struct kerf_schedule_request *request, struct kerf_error *err) {
    int32_t p = request->devices, m = request->microbatches, least = 2 * p - 2 > 2 ? 2 * p - 2 : 2;
    if (p == 1) return kerf_error_set(err, KERF_EINVALID, "dualpipe needs an even number of devices, such as 2, not 1");
    if (p % 2 != 0)
        return kerf_error_set(err, KERF_EINVALID, "dualpipe needs an even number of devices, such as %d or %d, not %d",
                              p - 1, p + 1, p);
    if (m % 2 != 0)
        return kerf_error_set(err, KERF_EINVALID, "dualpipe needs an even number of micro-batches, such as %d, not %d",
                              m < least ? least : m + 1, m);
    if (m < least)
        return kerf_error_set(err, KERF_EINVALID,
                              "dualpipe needs at least 2p-2 = %d micro-batches on %d devices, not %d", least, p, m);
    return KERF_OK;
}

static void dualpipe_device(struct builder *b, int32_t i) {
    int32_t half = b->m / 2, last = b->p - 1, lower = i >= b->p / 2; /* pass 0 enters at the near end */
    struct dual_pass dual = {.b = b,
                             .device = i,
                             .ranks = b->p / 2,
                             .rank = smaller(i, last - i),
                             .count = half,
                             .stage = {lower ? last - i : i, lower ? i : last - i},
                             .first = {lower ? half : 0, lower ? 0 : half},
                             .pending = b->scratch};
    dual_pass_device(&dual);
}

static int dualpipe_refused_elsewhere(const struct kerf_schedule_request *request) {
    return request->microbatches < 2 * request->devices;
}

const struct rule rule_dualpipe = {
    .shown =
        {
            .name = "dualpipe",
            .summary = "from both ends at once, forward and backward together",
            .constraint = "p even, m even, m >= 2p-2",
            .elsewhere = "DualPipe: m < 2p",
            .bubble =
                "n (FB + B_full - 3W) - min(F, n (B-F)) where n = p/2-1, W <= B, FB = s; a shorter FB shortens the "
                "makespan by max(0, m-n-3) (s-FB)",
            .memory = "p + 1",
            .source = "DeepSeek-V3, arXiv 2412.19437; deepseek-ai/DualPipe",
        },
    .placement = KERF_PLACE_BOTH,
    .default_chunks = 1,
    .fixed_chunks = 1,
    .check = dualpipe_check,
    .refused_elsewhere = dualpipe_refused_elsewhere,
    .device = dualpipe_device,
};

/* ---- dualpipe_v ------------------------------------------------------------------------------------------------ */

static int32_t dualpipe_v_check(const struct kerf_schedule_request *request, struct kerf_error *err) {
    int32_t least = 2 * request->devices - 1;
    if (request->microbatches >= least) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "dualpipe_v needs at least 2p-1 = %d micro-batches on %d devices, not %d",
                          least, request->devices, request->microbatches);
}

static void dualpipe_v_device(struct builder *b, int32_t i) {
    struct dual_pass dual = {.b = b,
                             .device = i,
                             .ranks = b->p,
                             .rank = i,
                             .count = b->m,
                             .stage = {i, 2 * b->p - 1 - i},
                             .pending = b->scratch};
    dual_pass_device(&dual);
}

static int dualpipe_v_refused_elsewhere(const struct kerf_schedule_request *request) {
    return request->microbatches < 2 * request->devices;
}

const struct rule rule_dualpipe_v = {
    .shown =
        {
            .name = "dualpipe_v",
            .summary = "DualPipe in a V, one replica",
            .constraint = "m >= 2p-1",
            .elsewhere = "DualPipe: m < 2p",
            .bubble =
                "(n (FB + B_full - 3W) - min(F, n (B-F))) / 2 where n = p-1, W <= B, FB = s; a shorter FB shortens "
                "the makespan by (2m-n-3) (s-FB) / 2",
            .memory = "p + 1/2",
            .source = "deepseek-ai/DualPipe",
        },
    .placement = KERF_PLACE_V,
    .default_chunks = 2,
    .fixed_chunks = 1,
    .check = dualpipe_v_check,
    .refused_elsewhere = dualpipe_v_refused_elsewhere,
    .device = dualpipe_v_device,
};
