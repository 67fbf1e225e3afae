/* SPDX-License-Identifier: Apache-2.0 */
/* 1F1B (PipeDream-Flush, as Megatron and PyTorch have it): device i starts min(p-1-i, m) micro-batches, then takes
 * turns between one forward and one backward. */
#include "schedule/rules/rule.h"

static void device(struct builder *b, int32_t i) {
    int32_t warm_up = smaller(b->p - 1 - i, b->m);
    for (int32_t j = 0; j < warm_up; j++) add(b, i, KERF_OP_F, i, j);
    for (int32_t j = 0; j < b->m; j++) {
        if (warm_up + j < b->m) add(b, i, KERF_OP_F, i, warm_up + j);
        add(b, i, KERF_OP_B, i, j);
    }
}

static int refused_elsewhere(const struct kerf_schedule_request *request) {
    return request->microbatches < request->devices;
}

const struct rule rule_1f1b = {
    .shown =
        {
            .name = "1f1b",
            .summary = "one forward, one backward",
            .elsewhere = "PyTorch: m < p",
            .bubble = "(p-1) s",
            .memory = "min(p, m)",
            .source = "PipeDream-Flush, arXiv 2006.09503; Megatron-LM",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .refused_elsewhere = refused_elsewhere,
    .device = device,
};
