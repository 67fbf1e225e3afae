/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/rules/dual_pass.h"

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

void dual_pass_device(struct dual_pass *d) {
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
