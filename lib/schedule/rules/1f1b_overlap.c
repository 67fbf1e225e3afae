/* SPDX-License-Identifier: Apache-2.0 */
/* 1F1B whose steady forward and backward run as one fused operation, so that one's communication hides behind the
 * other's arithmetic (Victarry/PP-Schedule-Visualization, strategies.py). */
#include "schedule/rules/rule.h"

static int32_t check(const struct kerf_schedule_request *request, struct kerf_error *err) {
    int32_t least = 2 * request->devices - 1;
    if (request->microbatches >= least) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "1f1b_overlap needs at least 2p-1 = %d micro-batches on %d devices, not %d", least,
                          request->devices, request->microbatches);
}

static void device(struct builder *b, int32_t i) {
    int32_t warm_up = 2 * (b->p - 1 - i) + 1;
    for (int32_t j = 0; j < warm_up; j++) add(b, i, KERF_OP_F, i, j);
    for (int32_t j = 0; j < b->m - warm_up; j++) add_fused(b, i, i, warm_up + j, i, j);
    for (int32_t j = b->m - warm_up; j < b->m; j++) add(b, i, KERF_OP_B, i, j);
}

const struct rule rule_1f1b_overlap = {
    .shown =
        {
            .name = "1f1b_overlap",
            .summary = "1f1b with fused forward and backward",
            .constraint = "m >= 2p-1",
            .bubble = "makespan p F + (m-1) FB + p (B+W)",
            .memory = "2p",
            .source = "Victarry/PP-Schedule-Visualization",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .check = check,
    .device = device,
};
