/* SPDX-License-Identifier: Apache-2.0 */
/* DualPipeV (deepseek-ai/DualPipe, dualpipev.py): DualPipe folded in the middle, so that one replica in a V does for
 * two. */
#include "schedule/rules/dual_pass.h"

static int32_t check(const struct kerf_schedule_request *request, struct kerf_error *err) {
    int32_t least = 2 * request->devices - 1;
    if (request->microbatches >= least) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "dualpipe_v needs at least 2p-1 = %d micro-batches on %d devices, not %d",
                          least, request->devices, request->microbatches);
}

static void device(struct builder *b, int32_t i) {
    struct dual_pass dual = {.b = b,
                             .device = i,
                             .ranks = b->p,
                             .rank = i,
                             .count = b->m,
                             .stage = {i, 2 * b->p - 1 - i},
                             .pending = b->scratch};
    dual_pass_device(&dual);
}

static int refused_elsewhere(const struct kerf_schedule_request *request) {
    return request->microbatches < 2 * request->devices;
}

const struct rule rule_dualpipe_v = {
    .shown =
        {
            .name = "dualpipe_v",
            .summary = "DualPipe in a V, one replica",
            .constraint = "m >= 2p-1",
            .elsewhere = "DualPipe: m < 2p",
            .bubble = "(p-1) (fb + b_full - 3w) of a chunk's times, F = B",
            .memory = "p + 1/2",
            .source = "deepseek-ai/DualPipe",
        },
    .placement = KERF_PLACE_V,
    .default_chunks = 2,
    .fixed_chunks = 1,
    .check = check,
    .refused_elsewhere = refused_elsewhere,
    .device = device,
};
