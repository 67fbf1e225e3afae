/* SPDX-License-Identifier: Apache-2.0 */
/* 1F1B (PipeDream-Flush, as Megatron and PyTorch have it): device i starts min(p-1-i, m) micro-batches, then takes
 * turns between one forward and one backward. And two variants of it, with a longer warm-up and with fused passes. */
#include "schedule/rules/rule.h"

/* ---- 1f1b ------------------------------------------------------------------------------------------------------ */

static void plain_device(struct builder *b, int32_t i) {
    int32_t warm_up = smaller(b->p - 1 - i, b->m);
    for (int32_t j = 0; j < warm_up; j++) add(b, i, KERF_OP_F, i, j);
    for (int32_t j = 0; j < b->m; j++) {
        if (warm_up + j < b->m) add(b, i, KERF_OP_F, i, warm_up + j);
        add(b, i, KERF_OP_B, i, j);
    }
}

static int plain_refused_elsewhere(const struct kerf_schedule_request *request) {
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
    .refused_elsewhere = plain_refused_elsewhere,
    .device = plain_device,
};

/* ---- eager_1f1b ------------------------------------------------------------------------------------------------ */

/* 1F1B with twice the warm-up, so that messages have time to travel: the bubble does not grow with the latency of every
 * micro-batch, the memory nearly doubles. */
static void eager_device(struct builder *b, int32_t i) {
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
    .device = eager_device,
};

/* ---- 1f1b_overlap ---------------------------------------------------------------------------------------------- */

/* 1F1B whose steady forward and backward run as one fused operation, so that one's communication hides behind the
 * other's arithmetic (Victarry/PP-Schedule-Visualization, strategies.py). */
static int32_t overlap_check(const struct kerf_schedule_request *request, struct kerf_error *err) {
    int32_t least = 2 * request->devices - 1;
    if (request->microbatches >= least) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "1f1b_overlap needs at least 2p-1 = %d micro-batches on %d devices, not %d", least,
                          request->devices, request->microbatches);
}

static void overlap_device(struct builder *b, int32_t i) {
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
    .check = overlap_check,
    .device = overlap_device,
};
