/* SPDX-License-Identifier: Apache-2.0 */
/* DualPipe (DeepSeek-V3, arXiv 2412.19437; deepseek-ai/DualPipe, dualpipe.py): micro-batches enter from both ends of
 * the pipeline, and forwards of one direction run together with backwards of the other. Every device holds two stages'
 * weights. */
#include "schedule/rules/dual_pass.h"

static int32_t check(const struct kerf_schedule_request *request, struct kerf_error *err) {
    int32_t p = request->devices, m = request->microbatches, least = 2 * p - 2 > 2 ? 2 * p - 2 : 2;
    if (p == 1) return kerf_error_set(err, KERF_EINVALID, "dualpipe needs an even number of devices, such as 2, not 1");
    if (p % 2 != 0)
        return kerf_error_set(err, KERF_EINVALID, "dualpipe needs an even number of devices, such as %d or %d, not %d",
                              p - 1, p + 1, p);
    if (m % 2 != 0)
        return kerf_error_set(err, KERF_EINVALID, "dualpipe needs an even number of micro-batches, such as %d, not %d",
                              m < least ? least : m + 1, m);
    if (m < least)
        return kerf_error_set(err, KERF_EINVALID,
                              "dualpipe needs at least 2p-2 = %d micro-batches on %d devices, not %d", least, p, m);
    return KERF_OK;
}

static void device(struct builder *b, int32_t i) {
    int32_t half = b->m / 2, last = b->p - 1, lower = i >= b->p / 2; /* pass 0 enters at the near end */
    struct dual_pass dual = {.b = b,
                             .device = i,
                             .ranks = b->p / 2,
                             .rank = smaller(i, last - i),
                             .count = half,
                             .stage = {lower ? last - i : i, lower ? i : last - i},
                             .first = {lower ? half : 0, lower ? 0 : half},
                             .pending = b->scratch};
    dual_pass_device(&dual);
}

static int refused_elsewhere(const struct kerf_schedule_request *request) {
    return request->microbatches < 2 * request->devices;
}

const struct rule rule_dualpipe = {
    .shown =
        {
            .name = "dualpipe",
            .summary = "from both ends at once, forward and backward together",
            .constraint = "p even, m even, m >= 2p-2",
            .elsewhere = "DualPipe: m < 2p",
            .bubble = "(p/2-1) (FB + B_full - 3W)",
            .memory = "p + 1",
            .source = "DeepSeek-V3, arXiv 2412.19437; deepseek-ai/DualPipe",
        },
    .placement = KERF_PLACE_BOTH,
    .default_chunks = 1,
    .fixed_chunks = 1,
    .check = check,
    .refused_elsewhere = refused_elsewhere,
    .device = device,
};
