/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of a micro-batch as the simulator, memory and bounds use them; slice_cut.c makes them. */
#include "schedule/slices.h"

#include <assert.h>
#include <string.h>

const double *slices_shares(const struct kerf_schedule_slices *slices, enum kerf_op_kind kind) {
    switch (kind) {
    case KERF_OP_F:
    case KERF_OP_R: return slices->forward;
    case KERF_OP_B: return slices->backward;
    case KERF_OP_I: return slices->backward_input;
    case KERF_OP_W: return slices->backward_weight;
    case KERF_OP_O:
    case KERF_OP_L: return slices->tokens;
    case KERF_OP_FB:
    case KERF_OP_KINDS: break;
    }
    return NULL;
}

double slices_least(const struct kerf_schedule_slices *slices, enum kerf_op_kind kind) {
    const double *shares = slices_shares(slices, kind);
    double least = 1;
    assert(shares);
    for (int32_t j = 0; j < slices->count; j++) least = fmin(least, shares[j]);
    return least;
}

static const double *copied(const double *shares, int32_t count, struct arena *arena) {
    double *copy = arena_alloc(arena, (size_t)count, sizeof *copy);
    if (copy) memcpy(copy, shares, (size_t)count * sizeof *copy);
    return copy;
}

const struct kerf_schedule_slices *slices_copy(const struct kerf_schedule_slices *slices, struct arena *arena) {
    const int32_t count = slices->count;
    struct kerf_schedule_slices *copy = arena_alloc(arena, 1, sizeof *copy);
    if (copy == NULL) return NULL;
    *copy = (struct kerf_schedule_slices){.count = count,
                                          .tokens = copied(slices->tokens, count, arena),
                                          .forward = copied(slices->forward, count, arena),
                                          .backward = copied(slices->backward, count, arena),
                                          .backward_input = copied(slices->backward_input, count, arena),
                                          .backward_weight = copied(slices->backward_weight, count, arena)};
    const int whole = copy->tokens && copy->forward && copy->backward && copy->backward_input && copy->backward_weight;
    return whole ? copy : NULL;
}
