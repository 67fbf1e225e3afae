/* SPDX-License-Identifier: Apache-2.0 */
/* ZB-H1 (Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241): 1F1B with the weights' backward split off and
 * delayed by i micro-batches on device i, which fills a third of the bubble in the memory of 1F1B. "zb1p" is the name
 * that Victarry/PP-Schedule-Visualization has for it. */
#include "schedule/rules/zero_bubble.h"

static void device(struct builder *b, int32_t i) { zero_bubble_device(b, i, b->p - i, i); }

const struct rule rule_zb_h1 = {
    .shown =
        {
            .name = "zb_h1",
            .summary = "1f1b's memory, a third of its bubble",
            .bubble = "(p-1) (F+B-W)",
            .memory = "min(p, m)",
            .source = "Zero Bubble, arXiv 2401.10241",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .device = device,
};

const struct rule rule_zb1p = {
    .shown =
        {
            .name = "zb1p",
            .summary = "another name for zb_h1",
            .bubble = "(p-1) (F+B-W)",
            .memory = "min(p, m)",
            .source = "Victarry/PP-Schedule-Visualization",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .device = device,
};
