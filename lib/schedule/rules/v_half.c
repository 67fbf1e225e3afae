/* SPDX-License-Identifier: Apache-2.0 */
/* V-Half (Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362): two chunks in a V whose passes
 * are placed so that a micro-batch's activations live half as long as in zb_v. The pattern is that of
 * sail-sg/zero-bubble-pipeline-parallelism, zbv_greedy.py: F goes down at half speed and up at full speed, and so does
 * I. */
#include "schedule/rules/v_pattern.h"

static void half(int32_t p, int32_t i, int32_t slots[4]) {
    int32_t gap = p % 2 == 0 ? 3 : 0; /* with an even p the slots of I would be those of F */
    slots[0] = 2 * i;
    slots[1] = 3 * p - 2 - i;
    slots[2] = 3 * p - 1 + gap + 2 * i;
    slots[3] = 6 * p - 2 + gap - i;
}

static int32_t search(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err) {
    (void)request; /* the order does not depend on the times */
    return v_pattern_search(builder, half, err);
}

const struct rule rule_v_half = {
    .shown =
        {
            .name = "v_half",
            .summary = "half of 1f1b's memory and less of its bubble, two chunks in a V",
            .bubble = "about (p-2) s / 2 when F = B = W",
            .memory = "floor((p+2)/2)",
            .source = "Controllable Memory, arXiv 2405.15362; sail-sg/zero-bubble-pipeline-parallelism zbv_greedy.py",
        },
    .placement = KERF_PLACE_V,
    .default_chunks = 2,
    .fixed_chunks = 1,
    .search = search,
};
