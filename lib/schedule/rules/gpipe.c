/* SPDX-License-Identifier: Apache-2.0 */
/* All forward passes, then all backward passes: GPipe (Huang et al., 2019), and the same over chunks. */
#include "schedule/rules/rule.h"

/* ---- gpipe ----------------------------------------------------------------------------------------------------- */

static void gpipe_device(struct builder *b, int32_t i) {
    for (int32_t j = 0; j < b->m; j++) add(b, i, KERF_OP_F, i, j);
    for (int32_t j = 0; j < b->m; j++) add(b, i, KERF_OP_B, i, j);
}

const struct rule rule_gpipe = {
    .shown =
        {
            .name = "gpipe",
            .summary = "all forwards, then all backwards",
            .bubble = "(p-1) s",
            .memory = "m",
            .source = "GPipe, arXiv 1811.06965",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .device = gpipe_device,
};

/* ---- looped_bfs ------------------------------------------------------------------------------------------------ */

/* Breadth-first over the chunks (Lamy-Poirier, arXiv 2211.05953; PyTorch ScheduleLoopedBFS): every micro-batch through
 * chunk 0, then chunk 1; backward passes in the opposite order. */
static void looped_device(struct builder *b, int32_t i) {
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
            .bubble = "(p-1) s / v where m >= p",
            .memory = "m",
            .source = "Breadth-First Pipeline Parallelism, arXiv 2211.05953",
        },
    .default_chunks = 2,
    .device = looped_device,
};
