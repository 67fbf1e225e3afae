/* SPDX-License-Identifier: Apache-2.0 */
/* GPipe (Huang et al., 2019): all forward passes, then all backward passes. */
#include "schedule/rules/rule.h"

static void device(struct builder *b, int32_t i) {
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
    .device = device,
};
