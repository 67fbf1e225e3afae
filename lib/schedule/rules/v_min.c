/* SPDX-License-Identifier: Apache-2.0 */
/* V-Min (Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362): two chunks in a V that a
 * micro-batch passes as fast as it can, which holds the least of all V patterns. The pattern is that of
 * sail-sg/zero-bubble-pipeline-parallelism, zbv_greedy.py. Its bubble grows with m where F, B and W differ. */
#include "schedule/rules/v_pattern.h"

static void least(int32_t p, int32_t i, int32_t slots[4]) {
    int32_t gap = p % 3 == 0 ? 2 : 0; /* with 3 | p the slots of I would be those of F */
    slots[0] = i;
    slots[1] = 2 * p - 1 - i;
    slots[2] = 2 * p + gap + i;
    slots[3] = 4 * p + gap - 1 - i;
}

static int32_t search(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err) {
    (void)request; /* the order does not depend on the times */
    return v_pattern_search(builder, least, err);
}

const struct rule rule_v_min = {
    .shown =
        {
            .name = "v_min",
            .summary = "a third of 1f1b's memory, two chunks in a V",
            .bubble = "about 2 (p-1) s / 3 when F = B = W, grows with m otherwise",
            .memory = "floor((p+4)/3)",
            .source = "Controllable Memory, arXiv 2405.15362; sail-sg/zero-bubble-pipeline-parallelism zbv_greedy.py",
        },
    .placement = KERF_PLACE_V,
    .default_chunks = 2,
    .fixed_chunks = 1,
    .search = search,
};
