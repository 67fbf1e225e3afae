/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seq1F1B (Sun et al., arXiv 2406.03488): 1F1B over slices of each micro-batch's sequence. Forwards go through the
 * slices in order, since a slice attends to those before it; backwards through those of a micro-batch in reverse.
 */
#include "schedule/rules/rule.h"

static void device(struct builder *b, int32_t i) {
    int64_t all = (int64_t)b->m * b->slices, warm_up = b->p - 2 - i + b->slices;
    if (warm_up > all) warm_up = all;
    for (int64_t next = 0, back = 0; back < all;) {
        if (next < all) add_slice(b, i, KERF_OP_F, i, (int32_t)(next / b->slices), (int32_t)(next % b->slices)), next++;
        if (next <= warm_up && next < all) continue;
        add_slice(b, i, KERF_OP_B, i, (int32_t)(back / b->slices), b->slices - 1 - (int32_t)(back % b->slices));
        back++;
    }
}

const struct rule rule_seq1f1b = {
    .shown =
        {
            .name = "seq1f1b",
            .summary = "1f1b over slices of the sequence",
            .bubble = "(p-1) s / k",
            .memory = "(p + k - 1) / k",
            .source = "Seq1F1B, arXiv 2406.03488",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .default_slices = 4,
    .device = device,
};
