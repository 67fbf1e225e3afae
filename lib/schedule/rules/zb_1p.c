/* SPDX-License-Identifier: Apache-2.0 */
/* ZB-1p and ZB-2p (Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 3): the order that the
 * heuristic of zero_bubble.c finds for given times, where each device may hold p or 2p micro-batches. A memory
 * cap takes the place of either number, and then both names mean the same. */
#include "schedule/rules/zero_bubble.h"

static int32_t search_1p(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err) {
    return zero_bubble_search(builder, request, builder->p, err);
}

static int32_t search_2p(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err) {
    return zero_bubble_search(builder, request, 2 * builder->p, err);
}

static const char source[] = "Zero Bubble, arXiv 2401.10241; sail-sg/zero-bubble-pipeline-parallelism zb.py";

const struct rule rule_zb_1p = {
    .shown =
        {
            .name = "zb_1p",
            .summary = "searched for given times, in 1f1b's memory or --memory-cap",
            .bubble = "(p-1) (F+B-W) for equal stages",
            .memory = "min(p, m), or the cap",
            .source = source,
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .search = search_1p,
};

const struct rule rule_zb_2p = {
    .shown =
        {
            .name = "zb_2p",
            .summary = "searched for given times, in twice 1f1b's memory or --memory-cap",
            .bubble = "at most (p-1) (F+B-2W) of the span for equal stages",
            .memory = "min(2p, m), or the cap",
            .source = source,
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .search = search_2p,
};
