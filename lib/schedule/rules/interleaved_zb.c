/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's InterleavedZeroBubble (torch/distributed/pipelining/schedules.py): interleaved 1F1B with a shorter warm-up
 * and the weights' backward i operations behind on device i. */
#include "schedule/rules/virtual_microbatch.h"

static void device(struct builder *b, int32_t i) {
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
            .bubble = "(p-1) (F+B-W) / v",
            .memory = "((v-1) group + p) / v",
            .source = "PyTorch ScheduleInterleavedZeroBubble",
        },
    .default_chunks = 2,
    .grouped = 1,
    .refused_elsewhere = refused_by_pytorch_rounds,
    .device = device,
};
