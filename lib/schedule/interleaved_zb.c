/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's InterleavedZeroBubble (torch/distributed/pipelining/schedules.py): interleaved 1F1B with a shorter warm-up
 * and the weights' backward i operations behind on device i. */
#include "schedule/virtual_microbatch.h"

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
    .shown = {"interleaved_zb", "interleaved_1f1b with the weights' backward split off", "", "(p-1) (F+B-W) / v",
              "((v-1) group + p) / v", "PyTorch ScheduleInterleavedZeroBubble"},
    .default_chunks = 2,
    .grouped = 1,
    .device = device,
};
