/* SPDX-License-Identifier: Apache-2.0 */
/* 1F1B with twice the warm-up, so that messages have time to travel: the bubble does not grow with the latency of every
 * micro-batch, the memory nearly doubles. */
#include "schedule/rules/rule.h"

static void device(struct builder *b, int32_t i) {
    int32_t warm_up = smaller(2 * (b->p - 1 - i), b->m);
    for (int32_t j = 0; j < warm_up; j++) add(b, i, KERF_OP_F, i, j);
    for (int32_t j = 0; j < b->m; j++) {
        if (warm_up + j < b->m) add(b, i, KERF_OP_F, i, warm_up + j);
        add(b, i, KERF_OP_B, i, j);
    }
}

const struct rule rule_eager_1f1b = {
    .shown =
        {
            .name = "eager_1f1b",
            .summary = "1f1b with twice the warm-up, to hide latency",
            .bubble = "(p-1) s",
            .memory = "min(2p-1, m)",
            .source = "overlapped warm-up of 1F1B; arXiv 2211.05322",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .device = device,
};
