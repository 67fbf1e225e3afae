/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recomputation and offload, put into a schedule that has neither.
 *
 * R stands right before the backward pass of its micro-batch, O right after the F. L stands as late as it can and still
 * end before the backward pass began when nothing was moved: earlier it would hold memory for nothing, later the device
 * would wait. Where less time than both copies take lay between F and backward pass, the activations would never be
 * away: that micro-batch stays on the device.
 */
#include "schedule/moves.h"

#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "schedule/build.h"
#include "schedule/move_shares.h"
#include "schedule/order.h"

static double at_stage(const double *values, int32_t stage) { return values ? values[stage] : 0; }

/* An operation that is put before that of the old order at `before`. */
struct added {
    int32_t before, rank; /* of those at one place: O, L, R, and each in the order of the backward passes */
    struct kerf_op op;
};

static int in_order(const void *left, const void *right) {
    const struct added *a = left, *b = right;
    if (a->before != b->before) return a->before < b->before ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

struct mover {
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    int32_t *forward_at;                  /* [stages * units] by order_output / 2, in the device's order */
    const struct kerf_timeline *timeline; /* with nothing moved */
    int32_t device;
    struct added *added; /* [3 * most ops] */
    int32_t num_added;
    int weights_first; /* 1: every W right behind its I */
};

static void add_at(struct mover *mover, int32_t before, int rank, enum kerf_op_kind kind, const struct kerf_op *unit) {
    struct kerf_op op = *unit;
    op.kind = (int16_t)kind;
    mover->added[mover->num_added] = (struct added){before, rank * (1 << 28) + mover->num_added, op};
    mover->num_added++;
}

/* What the backward pass at `at` of a unit needs before. */
static void move_unit(struct mover *mover, int32_t at, const struct kerf_op *unit) {
    const struct kerf_schedule_times *times = mover->times;
    const double slices = mover->schedule->slices, *end_s = mover->timeline->end_s[mover->device];
    const double begins_s = mover->timeline->start_s[mover->device][at];
    const double out_s = at_stage(times->offload_s, unit->stage) / slices;
    const double in_s = at_stage(times->load_s ? times->load_s : times->offload_s, unit->stage) / slices;
    const int32_t forward_at =
        mover->forward_at[order_output(mover->schedule, 0, unit->stage, unit->microbatch, unit->slice) / 2];
    const double again = at_stage(times->recompute_share, unit->stage);
    if (at_stage(times->offload_share, unit->stage) > 0 && again < 1 && forward_at < at &&
        begins_s - end_s[forward_at] >= (out_s + in_s) * (1 - 1e-12)) {
        int32_t load_at = at;
        while (load_at > forward_at + 1 && begins_s - end_s[load_at - 1] < in_s * (1 - 1e-12)) load_at--;
        add_at(mover, forward_at + 1, 0, KERF_OP_O, unit);
        add_at(mover, load_at, 1, KERF_OP_L, unit);
    }
    if (again > 0) add_at(mover, at, 2, KERF_OP_R, unit);
}

static void move_device(struct mover *mover, int32_t device) {
    const struct kerf_op *ops = mover->schedule->ops[device];
    const int32_t count = mover->schedule->num_ops[device];
    mover->num_added = 0;
    mover->device = device;
    for (int32_t k = 0; k < count; k++) {
        const struct kerf_op *op = &ops[k];
        if (op->kind == KERF_OP_F || op->kind == KERF_OP_FB)
            mover->forward_at[order_output(mover->schedule, 0, op->stage, op->microbatch, op->slice) / 2] = k;
        if (op->kind == KERF_OP_B || op->kind == KERF_OP_I)
            move_unit(mover, k, &(struct kerf_op){op->microbatch, -1, op->stage, -1, 0, op->slice});
        if (op->kind == KERF_OP_FB)
            move_unit(mover, k, &(struct kerf_op){op->with_microbatch, -1, op->with_stage, -1, 0, 0});
    }
    qsort(mover->added, (size_t)mover->num_added, sizeof *mover->added, in_order);
}

/* The device's operations with those added between them; NULL without enough memory. */
static const struct kerf_op *merge(const struct mover *mover, int32_t device, struct arena *arena, int32_t *ret_count) {
    const int32_t count = mover->schedule->num_ops[device];
    struct kerf_op *ops = arena_alloc(arena, (size_t)count + (size_t)mover->num_added + 4, sizeof *ops);
    int32_t next = 0, at = 0;
    for (int32_t k = 0; ops && k <= count; k++) {
        while (next < mover->num_added && mover->added[next].before == k) ops[at++] = mover->added[next++].op;
        if (k == count) break;
        const struct kerf_op *op = &mover->schedule->ops[device][k];
        if (mover->weights_first && op->kind == KERF_OP_W) continue;
        ops[at++] = *op;
        if (!mover->weights_first || op->kind != KERF_OP_I) continue;
        ops[at] = *op;
        ops[at++].kind = KERF_OP_W;
    }
    *ret_count = at;
    return ops;
}

static int fill(struct mover *mover, struct owned_schedule *owned, int moved) {
    const struct kerf_schedule *old = mover->schedule;
    struct arena *arena = &owned->arena;
    const size_t p = (size_t)old->devices, places = (size_t)old->stages * (size_t)old->replicas;
    const size_t name = strlen(old->name) + 1;
    const struct kerf_op **ops = arena_alloc(arena, p, sizeof *ops);
    int32_t *num_ops = arena_alloc(arena, p, sizeof *num_ops);
    int32_t *device_of = arena_alloc(arena, places, sizeof *device_of);
    char *own_name = arena_alloc(arena, name, 1);
    if (!ops || !num_ops || !device_of || !own_name) return 0;
    memcpy(device_of, old->device_of, places * sizeof *device_of);
    memcpy(own_name, old->name, name);
    for (int32_t i = 0; i < old->devices; i++) {
        mover->num_added = 0;
        if (!moved) move_device(mover, i);
        ops[i] = merge(mover, i, arena, &num_ops[i]);
        if (ops[i] == NULL) return 0;
    }
    owned->schedule = *old;
    owned->schedule.name = own_name;
    owned->schedule.device_of = device_of;
    owned->schedule.ops = ops;
    owned->schedule.num_ops = num_ops;
    owned->schedule.proof = (struct kerf_schedule_proof){0};
    owned->schedule.certificate = NULL;
    owned->schedule.moves = moved || move_shares_asked(mover->times, old->stages);
    return 1;
}

int32_t moves_make(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times, int weights_first,
                   struct kerf_schedule **ret_schedule, struct kerf_error *err) {
    struct arena scratch = {NULL};
    struct mover mover = {.schedule = schedule, .times = times, .weights_first = weights_first};
    struct kerf_timeline *timeline = NULL;
    size_t most = 1;
    for (int32_t i = 0; i < schedule->devices; i++)
        if ((size_t)schedule->num_ops[i] > most) most = (size_t)schedule->num_ops[i];
    struct owned_schedule *owned = calloc(1, sizeof *owned);
    mover.forward_at = arena_alloc(&scratch, order_outputs(schedule) / 2, sizeof *mover.forward_at);
    mover.added = arena_alloc(&scratch, 3 * most, sizeof *mover.added);
    int32_t code = schedule->moves ? KERF_OK : kerf_schedule_simulate(schedule, times, &timeline, err);
    mover.timeline = timeline;
    if (code == KERF_OK && !(owned && mover.forward_at && mover.added && fill(&mover, owned, schedule->moves)))
        code = error_no_memory(err, "the schedule");
    arena_free(&scratch);
    kerf_timeline_free(timeline);
    if (code != KERF_OK) {
        if (owned) kerf_schedule_free(&owned->schedule);
        return code;
    }
    *ret_schedule = &owned->schedule;
    return KERF_OK;
}

int32_t kerf_schedule_move(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                           struct kerf_schedule **ret_schedule, struct kerf_error *err) {
    return moves_make(schedule, times, 0, ret_schedule, err);
}
