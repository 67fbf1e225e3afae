/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chimera (Li and Hoefler, arXiv 2107.06925): two replicas in opposite directions, each with half of the micro-batches,
 * in units of p. Micro-batch k of a unit's downward half has F on its stage d in slot 2k + d and B in slot 2k + 2p - 1 -
 * d, the upward half is the mirror; parity keeps the halves apart. Units follow each other after 2p slots (the paper's
 * direct concatenation). With more replicas (--replicas) each pair begins p / pairs devices behind the one before (the
 * paper's section 3.6).
 */
#include "schedule/rules/slot_list.h"

enum { HALVES = 2 };

/* The micro-batch of a unit's half whose pass is in a slot, counted from the unit's first one; -1: none. */
static int32_t in_slot(int32_t slot, int32_t offset, int32_t per_unit) {
    int32_t twice = slot - offset;
    return twice >= 0 && twice % 2 == 0 && twice / 2 < per_unit ? twice / 2 : -1;
}

static void add_slot(struct builder *b, int32_t i, int32_t unit, int32_t slot) {
    const int32_t down = b->m / 2, counts[HALVES] = {down, b->m - down}, first[HALVES] = {0, down};
    const int32_t per_unit = (b->p + 1) / 2;
    for (int half = 0; half < HALVES; half++) {
        int32_t stage = half == 0 ? i : b->p - 1 - i;
        int32_t forward = in_slot(slot, stage, per_unit), backward = in_slot(slot, 2 * b->p - 1 - stage, per_unit);
        int32_t begin = unit * per_unit;
        if (forward >= 0 && begin + forward < counts[half]) add(b, i, KERF_OP_F, stage, first[half] + begin + forward);
        if (backward >= 0 && begin + backward < counts[half])
            add(b, i, KERF_OP_B, stage, first[half] + begin + backward);
    }
}

static void device(struct builder *b, int32_t i) {
    int32_t per_unit = (b->p + 1) / 2, most = b->m - b->m / 2, units = (most + per_unit - 1) / per_unit;
    for (int32_t unit = 0; unit <= units; unit++)
        for (int32_t slot = 0; slot < 2 * b->p; slot++) {
            if (unit > 0) add_slot(b, i, unit - 1, slot + 2 * b->p); /* what the unit before still has to do */
            if (unit < units) add_slot(b, i, unit, slot);
        }
}

/* Several pairs of replicas, each with its part of the micro-batches: list scheduling, backwards first, with as many
 * micro-batches of a replica under way as fill the devices together. */
static int64_t priority(const void *context, const struct slot_op *op) {
    const int64_t far = (int64_t)1 << 40;
    (void)context;
    return op->back ? op->unit : far + 2 * (int64_t)op->unit + op->stage; /* its slot */
}

static int32_t search(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err) {
    const struct slot_list list = {.in_flight = (builder->p + builder->replicas - 1) / builder->replicas,
                                   .priority = priority};
    (void)request;
    if (builder->replicas > 2) return slot_list_run(builder, KERF_PLACE_RING, &list, err);
    for (int32_t i = 0; i < builder->p; i++) device(builder, i);
    return KERF_OK;
}

const struct rule rule_chimera = {
    .shown =
        {
            .name = "chimera",
            .summary = "1f1b from both ends at once, in two or more replicas",
            .constraint = "an even number of replicas, and p a multiple of half of it",
            .bubble = "(p-2) (max(F, B_full) + (m/p-1) |B_full-F|) of two replicas where 2 divides p, p divides m",
            .memory = "up to p",
            .source = "Chimera, arXiv 2107.06925",
        },
    .placement = KERF_PLACE_BOTH,
    .any_replicas = 1,
    .default_chunks = 1,
    .fixed_chunks = 1,
    .search = search,
};
