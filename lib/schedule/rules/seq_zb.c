/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zero bubble at the level of tokens: seq1f1b (Sun et al., Seq1F1B, arXiv 2406.03488) with the weights' backward split
 * off and i slices late on device i, as zb_h1 does with micro-batches (Qi et al., arXiv 2401.10241). A micro-batch's
 * slices go forward in order and back in reverse, because a slice attends to those before it.
 */
#include "schedule/rules/rule.h"

static void add_unit(struct builder *b, int32_t i, enum kerf_op_kind kind, int64_t unit) {
    const int32_t slice = (int32_t)(unit % b->slices), microbatch = (int32_t)(unit / b->slices);
    add_slice(b, i, kind, i, microbatch, kind == KERF_OP_F ? slice : b->slices - 1 - slice);
}

static void device(struct builder *b, int32_t i) {
    const int64_t all = (int64_t)b->m * b->slices;
    int64_t warm_up = b->p - i - 1 + b->slices, weights = 0;
    if (warm_up > all) warm_up = all;
    for (int64_t j = 0; j < warm_up; j++) add_unit(b, i, KERF_OP_F, j);
    for (int64_t j = 0; j < all; j++) {
        add_unit(b, i, KERF_OP_I, j);
        if (j >= i) add_unit(b, i, KERF_OP_W, weights++);
        if (warm_up + j < all) add_unit(b, i, KERF_OP_F, warm_up + j);
    }
    while (weights < all) add_unit(b, i, KERF_OP_W, weights++);
}

const struct rule rule_seq_zb = {
    .shown =
        {
            .name = "seq_zb",
            .summary = "seq1f1b with the weights' backward split off",
            .bubble = "(p-1) (F + B - min(F, B, W)) / k where m >= p",
            .memory = "(p + k - 1) / k",
            .source = "arXiv 2406.03488 and 2401.10241",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .default_slices = 4,
    .device = device,
};
