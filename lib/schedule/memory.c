/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The activations that a device holds: those of a micro-batch and stage from the start of its F to the end of its W, of
 * its full B, or where activations are freed early of its I. A device does one thing after another, so that its
 * operations in their order are its changes of memory in their order. Amounts are summed as whole slices of one stage
 * and divided at the end, so that what is exact stays so.
 *
 * With moves the share that R makes again is not held from the end of F to the start of R, and what O takes away not
 * from the end of O to the start of L. Copies end between operations, so that these changes are put in the order of
 * their times, and at one time in the order of the operations.
 */
#include "schedule/memory.h"

#include <math.h>
#include <stdlib.h>
#include "schedule/order.h"
#include "schedule/slices.h"

static int takes(const struct kerf_op *op) { return op->kind == KERF_OP_F || op->kind == KERF_OP_FB; }

static int frees(const struct kerf_op *op, int free_at_input) {
    return op->kind == KERF_OP_B || op->kind == KERF_OP_FB || op->kind == (free_at_input ? KERF_OP_I : KERF_OP_W);
}

/* Stages of one replica on a device, at least 1. */
static int32_t chunks_on(const struct kerf_schedule *schedule, int32_t device) {
    int32_t most = 1;
    for (int32_t r = 0; r < schedule->replicas; r++) {
        int32_t count = 0;
        for (int32_t k = 0; k < schedule->stages; k++) count += schedule->device_of[r * schedule->stages + k] == device;
        if (count > most) most = count;
    }
    return most;
}

/* What the sums of amounts are divided by. */
static double unit(const struct kerf_schedule *schedule, int32_t device, int in_bytes) {
    return (double)schedule->slices * (in_bytes ? 1 : chunks_on(schedule, device));
}

/* One slice of a micro-batch of a stage, times the unit; slices NULL: equal ones. */
static double amount(const struct kerf_schedule_times *times, const struct kerf_schedule_slices *slices, int32_t stage,
                     int32_t slice, int in_bytes) {
    const double tokens = slices_tokens(slices, slice);
    return in_bytes ? times->activation_bytes[stage] * tokens : tokens;
}

static double freed_amount(const struct kerf_schedule_times *times, const struct kerf_schedule_slices *slices,
                           const struct kerf_op *op, int in_bytes) {
    if (op->kind == KERF_OP_FB) return amount(times, slices, op->with_stage, 0, in_bytes);
    return amount(times, slices, op->stage, op->slice, in_bytes);
}

/* Of equal amounts, which need no stage: on the way of every simulation. */
static double peak_passes(const struct kerf_op *ops, int32_t count, int free_at_input) {
    int64_t held = 0, most = 0;
    for (int32_t k = 0; k < count; k++) {
        held += takes(&ops[k]);
        if (held > most) most = held;
        held -= frees(&ops[k], free_at_input);
    }
    return (double)most;
}

/* ---- With moves ------------------------------------------------------------------------------------------- */

struct change {
    double time_s, amount;
    int32_t place; /* 2 * operation + 1 at its end */
};

static int in_order(const void *left, const void *right) {
    const struct change *a = left, *b = right;
    if (a->time_s < b->time_s || b->time_s < a->time_s) return a->time_s < b->time_s ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Which units have an R, and which an O. */
enum moved { RECOMPUTED = 1, OFFLOADED = 2 };

static int64_t unit_of(const struct kerf_schedule *schedule, const struct kerf_op *op) {
    return order_output(schedule, 0, op->stage, op->microbatch, op->slice) / 2;
}

/* What R, or O and L, move of a stage's activations. */
static double share_of(const struct kerf_schedule_times *times, int32_t stage, enum moved moved) {
    const double again = times->recompute_share ? times->recompute_share[stage] : 1;
    if (moved == RECOMPUTED) return again;
    return times->offload_share ? times->offload_share[stage] : 1;
}

/* The changes of a device in their order, at most twice num_ops; NULL without enough memory. */
static struct change *list_changes(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                                   const struct kerf_timeline *timeline, int32_t device, int in_bytes,
                                   int32_t *ret_count) {
    const struct kerf_schedule_slices *slices = timeline->slices;
    const struct kerf_op *ops = schedule->ops[device];
    const int32_t num_ops = schedule->num_ops[device];
    struct change *changes = malloc((2 * (size_t)num_ops + 1) * sizeof *changes);
    unsigned char *moved = calloc(order_outputs(schedule) / 2, 1);
    int32_t count = 0;
    for (int32_t k = 0; changes && moved && k < num_ops; k++)
        if (ops[k].kind == KERF_OP_R || ops[k].kind == KERF_OP_O)
            moved[unit_of(schedule, &ops[k])] |= ops[k].kind == KERF_OP_R ? RECOMPUTED : OFFLOADED;
    for (int32_t k = 0; changes && moved && k < num_ops; k++) {
        const struct kerf_op *op = &ops[k];
        const double all = amount(times, slices, op->stage, op->slice, in_bytes), start = timeline->start_s[device][k];
        const double end = timeline->end_s[device][k];
        const unsigned char how = moved[unit_of(schedule, op)];
        const double again = how & RECOMPUTED ? all * share_of(times, op->stage, RECOMPUTED) : 0;
        const double away = (all - again) * share_of(times, op->stage, OFFLOADED);
        double after = 0; /* at the operation's end */
        if (takes(op)) changes[count++] = (struct change){start, all, 2 * k};
        if (op->kind == KERF_OP_R) changes[count++] = (struct change){start, again, 2 * k};
        if (op->kind == KERF_OP_L) changes[count++] = (struct change){start, away, 2 * k};
        if (takes(op)) after -= again;
        if (op->kind == KERF_OP_O) after -= away;
        if (frees(op, times->free_at_input)) after -= freed_amount(times, slices, op, in_bytes);
        if (after < 0) changes[count++] = (struct change){end, after, 2 * k + 1};
    }
    if (moved == NULL) {
        free(changes);
        changes = NULL;
    }
    if (changes) qsort(changes, (size_t)count, sizeof *changes, in_order);
    free(moved);
    *ret_count = count;
    return changes;
}

static double peak_with_moves(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                              const struct kerf_timeline *timeline, int32_t device, int in_bytes) {
    int32_t count = 0;
    double held = 0, most = 0;
    struct change *changes = list_changes(schedule, times, timeline, device, in_bytes, &count);
    for (int32_t k = 0; changes && k < count; k++) {
        held += changes[k].amount;
        most = fmax(most, held);
    }
    if (changes == NULL) return NAN;
    free(changes);
    return most / unit(schedule, device, in_bytes);
}

/* ---- Peak and course -------------------------------------------------------------------------------------- */

double memory_peak(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                   const struct kerf_timeline *timeline, int32_t device, int in_bytes) {
    double held = 0, most = 0;
    const struct kerf_schedule_slices *slices = timeline ? timeline->slices : NULL;
    const struct kerf_op *ops = schedule->ops[device];
    if (schedule->moves) return peak_with_moves(schedule, times, timeline, device, in_bytes);
    if (!in_bytes && slices == NULL)
        return peak_passes(ops, schedule->num_ops[device], times->free_at_input) / unit(schedule, device, 0);
    for (int32_t k = 0; k < schedule->num_ops[device]; k++) {
        if (takes(&ops[k])) held += amount(times, slices, ops[k].stage, ops[k].slice, in_bytes);
        if (held > most) most = held;
        if (frees(&ops[k], times->free_at_input)) held -= freed_amount(times, slices, &ops[k], in_bytes);
    }
    return most / unit(schedule, device, in_bytes);
}

/* What was measured may begin before the operation in front of it has ended, where clocks round: steps stay in order.
 */
static double not_before(const double *times_s, int32_t count, double time_s) {
    return count > 0 ? fmax(times_s[count - 1], time_s) : time_s;
}

/* What is taken in parts and freed in others leaves a rounding error where nothing is held. */
static double share_held(double sum, double whole) { return sum > 0 ? sum / whole : 0; }

int32_t kerf_timeline_memory(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                             const struct kerf_timeline *timeline, int32_t device, int32_t in_bytes, double *times_s,
                             double *held) {
    const struct kerf_schedule_slices *slices = timeline->slices;
    const struct kerf_op *ops = schedule->ops[device];
    double sum = 0, whole = unit(schedule, device, in_bytes);
    int32_t count = 0;
    struct change *changes = schedule->moves ? list_changes(schedule, times, timeline, device, in_bytes, &count) : NULL;
    for (int32_t k = 0; changes && k < count; k++) {
        sum += changes[k].amount;
        times_s[k] = changes[k].time_s;
        held[k] = share_held(sum, whole);
    }
    if (schedule->moves) {
        count = changes ? count : 0;
        free(changes);
        return count;
    }
    for (int32_t k = 0; k < schedule->num_ops[device]; k++) {
        if (takes(&ops[k])) {
            sum += amount(times, slices, ops[k].stage, ops[k].slice, in_bytes);
            times_s[count] = not_before(times_s, count, timeline->start_s[device][k]);
            held[count++] = share_held(sum, whole);
        }
        if (frees(&ops[k], times->free_at_input)) {
            sum -= freed_amount(times, slices, &ops[k], in_bytes);
            times_s[count] = not_before(times_s, count, timeline->end_s[device][k]);
            held[count++] = share_held(sum, whole);
        }
    }
    return count;
}

double memory_cap_of_stage(const struct kerf_schedule_times *times, int32_t device, int32_t stage) {
    if (times->cap == NULL) return INFINITY;
    if (!times->cap_in_bytes) return times->cap[device];
    return times->activation_bytes[stage] > 0 ? times->cap[device] / times->activation_bytes[stage] : INFINITY;
}
