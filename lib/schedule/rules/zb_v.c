/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZB-V made by hand (Qi et al., arXiv 2401.10241, Figure 6; PyTorch ScheduleZBVZeroBubble): two chunks on each device
 * in a V, so that the last stage is on device 0. No bubble within a device when F = B = W, in the memory of 1F1B.
 */
#include "schedule/rules/rule.h"

struct hand {
    struct builder *b;
    int32_t device, stage[2];
    int32_t f[2], i[2], w[2]; /* next micro-batch by chunk */
};

/* The next operation of the kind; micro-batches beyond m, which keep the pattern whole, are left out. */
static void step(struct hand *hand, enum kerf_op_kind kind, int chunk) {
    int32_t *next = kind == KERF_OP_F ? hand->f : kind == KERF_OP_I ? hand->i : hand->w;
    int32_t microbatch = next[chunk]++;
    if (microbatch < hand->b->m) add(hand->b, hand->device, kind, hand->stage[chunk], microbatch);
}

static void device(struct builder *b, int32_t i) {
    int32_t p = b->p, n = b->m > 2 * p - 1 ? b->m : 2 * p - 1;
    struct hand hand = {.b = b, .device = i, .stage = {i, 2 * p - 1 - i}};
    for (int32_t j = 0; j < 2 * (p - i) - 1; j++) step(&hand, KERF_OP_F, 0);
    for (int32_t j = 0; j < i; j++) step(&hand, KERF_OP_F, 1), step(&hand, KERF_OP_F, 0);
    for (int32_t j = 0; j < p - i; j++) step(&hand, KERF_OP_F, 1), step(&hand, KERF_OP_I, 1), step(&hand, KERF_OP_W, 1);
    while (hand.f[1] < hand.f[0] || hand.f[0] < n) {
        if (hand.f[0] < n) step(&hand, KERF_OP_F, 0);
        step(&hand, KERF_OP_I, 0), step(&hand, KERF_OP_W, 0);
        step(&hand, KERF_OP_F, 1), step(&hand, KERF_OP_I, 1), step(&hand, KERF_OP_W, 1);
    }
    for (int32_t j = 0; j < i; j++) step(&hand, KERF_OP_I, 0), step(&hand, KERF_OP_I, 1);
    for (int32_t j = 0; j < p - i; j++) step(&hand, KERF_OP_I, 0), step(&hand, KERF_OP_W, 0);
    while (hand.w[1] < hand.i[1]) step(&hand, KERF_OP_W, 1);
    while (hand.w[0] < hand.i[0]) step(&hand, KERF_OP_W, 0);
}

const struct rule rule_zb_v = {
    .shown =
        {
            .name = "zb_v",
            .summary = "no bubble within a device in 1f1b's memory, two chunks in a V",
            .bubble = "(p-1) (B-W) of the span where W <= F <= B, m >= 2p-1",
            .memory = "p",
            .source = "Zero Bubble, arXiv 2401.10241; PyTorch ScheduleZBVZeroBubble",
        },
    .placement = KERF_PLACE_V,
    .default_chunks = 2,
    .fixed_chunks = 1,
    .device = device,
};
