/* SPDX-License-Identifier: Apache-2.0 */
/* Interleaved 1F1B with one more warm-up forward, each steady forward fused with the backward after it
 * (Victarry/PP-Schedule-Visualization, strategies.py; Megatron-LM, combined_1f1b.py). */
#include "schedule/rules/virtual_microbatch.h"

static void device(struct builder *b, int32_t i) {
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
            .bubble = "makespan of a chunk's times: p v (f+b+w) + (m v - 1 - p (v-1)) fb",
            .memory = "((v-1) group + 2p) / v",
            .source = "Victarry/PP-Schedule-Visualization; Megatron-LM",
        },
    .default_chunks = 1,
    .grouped = 1,
    .refused_elsewhere = refused_by_megatron,
    .device = device,
};
