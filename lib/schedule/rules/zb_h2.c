/* SPDX-License-Identifier: Apache-2.0 */
/* ZB-H2 (arXiv 2401.10241): twice the warm-up and twice the delay of ZB-H1. No device is idle between its first and
 * last operation when F = B = W; the devices end one after another, so that it gains only where the optimizer's step is
 * not synchronised. */
#include "schedule/rules/zero_bubble.h"

static void device(struct builder *b, int32_t i) { zero_bubble_device(b, i, 2 * (b->p - i) - 1, 2 * i); }

const struct rule rule_zb_h2 = {
    .shown =
        {
            .name = "zb_h2",
            .summary = "no bubble within a device, at twice the memory",
            .bubble = "(p-1) (F+B-2W) of the span, m >= 2p",
            .memory = "min(2p-1, m)",
            .source = "Zero Bubble, arXiv 2401.10241",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .device = device,
};
