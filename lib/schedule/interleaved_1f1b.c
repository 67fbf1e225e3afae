/* SPDX-License-Identifier: Apache-2.0 */
/* Interleaved 1F1B (Narayanan et al., Megatron-LM, arXiv 2104.04473): v chunks on each device make the bubble v times
 * shorter, for v times the messages. */
#include "schedule/virtual_microbatch.h"

static void device(struct builder *b, int32_t i) {
    struct virtual_microbatch forward = {0, 0, 0}, backward = {0, 0, 0};
    int64_t all = (int64_t)b->m * b->v, warm_up = 2 * (int64_t)(b->p - 1 - i) + (int64_t)(b->v - 1) * b->group;
    if (warm_up > all) warm_up = all;
    for (int64_t j = 0; j < warm_up; j++) add_forward(b, i, &forward);
    for (int64_t j = 0; j < all; j++) {
        if (warm_up + j < all) add_forward(b, i, &forward);
        add_backward(b, i, KERF_OP_B, &backward);
    }
}

const struct rule rule_interleaved_1f1b = {
    .shown = {"interleaved_1f1b", "1f1b over v chunks a device", "", "(p-1) s / v", "((v-1) group + 2p - 1) / v",
              "Megatron-LM, arXiv 2104.04473"},
    .default_chunks = 1,
    .grouped = 1,
    .device = device,
};
