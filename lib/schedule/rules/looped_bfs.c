/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first over the chunks (Lamy-Poirier, arXiv 2211.05953; PyTorch ScheduleLoopedBFS): every micro-batch through
 * chunk 0, then chunk 1; backward passes in the opposite order. */
#include "schedule/rules/rule.h"

static void device(struct builder *b, int32_t i) {
    for (int32_t chunk = 0; chunk < b->v; chunk++)
        for (int32_t j = 0; j < b->m; j++) add(b, i, KERF_OP_F, chunk * b->p + i, j);
    for (int32_t chunk = b->v; chunk-- > 0;)
        for (int32_t j = b->m; j-- > 0;) add(b, i, KERF_OP_B, chunk * b->p + i, j);
}

const struct rule rule_looped_bfs = {
    .shown =
        {
            .name = "looped_bfs",
            .summary = "all micro-batches through one chunk, then the next",
            .bubble = "(p-1) s / v",
            .memory = "m",
            .source = "Breadth-First Pipeline Parallelism, arXiv 2211.05953",
        },
    .default_chunks = 2,
    .device = device,
};
