/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BitPipe (Wu et al., BitPipe: Bidirectional Interleaved Pipeline Parallelism for Accelerating Large Models Training,
 * arXiv 2410.19367; wuhouming/BitPipe): two V pipelines in opposite directions, four chunks a device, in units of p
 * micro-batches, half of them down. A device of the first half goes through a unit so, with h = p / 2 and n = h - i
 * (the other half is the mirror): n F of its own first chunk; then h - n times one of the other pipeline's first chunk
 * and one of its own; n times the other's first chunk and the other's second; h - n times its own second and the
 * other's second; n of its own second. Backwards go the same way, second chunks for first ones. Forwards and backwards
 * alternate behind p + h + min(i, p - 1 - i) forwards.
 */
#include "base/error_fill.h"
#include "schedule/rules/rule.h"

/* Where a device is in its list of forwards or backwards. */
struct walk {
    int32_t unit, at; /* of 2 p in a unit */
};

/* The pass of a walk: own 1: of the pipeline that begins on the device's half; later 1: its second chunk; which of the
 * unit's h micro-batches. */
struct pass {
    int32_t own, later, microbatch;
};

static struct pass pass_at(int32_t h, int32_t n, int32_t at) {
    const int32_t rest = h - n;
    if (at < n) return (struct pass){1, 0, at};
    at -= n;
    if (at < 2 * rest) return at % 2 == 0 ? (struct pass){0, 0, at / 2} : (struct pass){1, 0, at / 2 + n};
    at -= 2 * rest;
    if (at < 2 * n) return at % 2 == 0 ? (struct pass){0, 0, at / 2 + rest} : (struct pass){0, 1, at / 2};
    at -= 2 * n;
    if (at < 2 * rest) return at % 2 == 0 ? (struct pass){1, 1, at / 2} : (struct pass){0, 1, at / 2 + n};
    return (struct pass){1, 1, at - 2 * rest + rest};
}

static void add_next(struct builder *b, int32_t i, enum kerf_op_kind kind, struct walk *walk) {
    const int32_t h = b->p / 2, n = i < h ? h - i : i - h + 1;
    const struct pass pass = pass_at(h, n, walk->at);
    const int32_t replica = pass.own == (i < h) ? 0 : 1, place = replica ? b->p - 1 - i : i;
    const int32_t later = kind == KERF_OP_F ? pass.later : !pass.later;
    const int32_t stage = later ? 2 * b->p - 1 - place : place;
    add(b, i, kind, stage, replica * (b->m / 2) + walk->unit * h + pass.microbatch);
    if (++walk->at == 2 * b->p) walk->at = 0, walk->unit++;
}

static int32_t check(const struct kerf_schedule_request *request, struct kerf_error *err) {
    const int32_t p = request->devices, m = request->microbatches;
    if (p % 2 == 1) return kerf_error_set(err, KERF_EINVALID, "bitpipe needs an even number of devices, not %d", p);
    if (m % p == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "bitpipe needs a multiple of p = %d micro-batches, not %d; %d is the next", p, m,
                          m / p * p + p);
}

static void device(struct builder *b, int32_t i) {
    struct walk forward = {0, 0}, backward = {0, 0};
    const int32_t own = smaller(i, b->p - 1 - i), warm_up = b->p + b->p / 2 + own, rest = 2 * b->p - warm_up;
    for (int32_t k = 0; k < warm_up; k++) add_next(b, i, KERF_OP_F, &forward);
    for (int32_t unit = 0; unit < b->m / b->p; unit++) {
        const int last = unit + 1 == b->m / b->p;
        for (int32_t k = 0; k < rest; k++) {
            add_next(b, i, KERF_OP_F, &forward);
            add_next(b, i, KERF_OP_B, &backward);
        }
        for (int32_t k = 0; k < (last ? warm_up : warm_up - rest + 1); k++) add_next(b, i, KERF_OP_B, &backward);
        for (int32_t k = 0; k < rest - 1 && !last; k++) { /* into the next unit */
            add_next(b, i, KERF_OP_F, &forward);
            add_next(b, i, KERF_OP_B, &backward);
        }
        for (int32_t k = 0; k < warm_up - rest + 1 && !last; k++) add_next(b, i, KERF_OP_F, &forward);
    }
}

const struct rule rule_bitpipe = {
    .shown =
        {
            .name = "bitpipe",
            .summary = "two V pipelines in opposite directions",
            .constraint = "p even, m a multiple of p",
            .bubble = "(p-2) (max(F, B_full) + (m/p-1) |B_full-F|) / 2",
            .memory = "up to p",
            .source = "BitPipe, arXiv 2410.19367",
        },
    .placement = KERF_PLACE_BOTH_V,
    .default_chunks = 2,
    .fixed_chunks = 1,
    .check = check,
    .device = device,
};
