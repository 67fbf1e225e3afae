/* SPDX-License-Identifier: Apache-2.0 */
/* Interleaved 1F1B (Narayanan et al., Megatron-LM, arXiv 2104.04473): v chunks on each device make the bubble v times
 * shorter, for v times the messages. */
#include "schedule/rules/virtual_microbatch.h"

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

static int refused_elsewhere(const struct kerf_schedule_request *request) {
    return refused_by_megatron(request) || refused_by_pytorch_rounds(request);
}

const struct rule rule_interleaved_1f1b = {
    .shown =
        {
            .name = "interleaved_1f1b",
            .summary = "1f1b over v chunks a device",
            .elsewhere = "Megatron-LM: a group below p or above m, or a last group below p; PyTorch: its rounds, m / p "
                         "rounded down, do not divide m",
            .bubble = "(p-1) s / v",
            .memory = "((v-1) group + 2p - 1) / v",
            .source = "Megatron-LM, arXiv 2104.04473",
        },
    .default_chunks = 1,
    .grouped = 1,
    .refused_elsewhere = refused_elsewhere,
    .device = device,
};
