/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The activations that a device holds: those of a micro-batch and stage from the start of its F to the end of its W, of
 * its full B, or where activations are freed early of its I. A device does one thing after another, so that its
 * operations in their order are its changes of memory in their order. Amounts are summed as whole slices of one stage
 * and divided at the end, so that what is exact stays so.
 */
#include "schedule/memory.h"

#include <math.h>

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

/* One slice of a micro-batch of a stage, times the unit. */
static double amount(const struct kerf_schedule_times *times, int32_t stage, int in_bytes) {
    return in_bytes ? times->activation_bytes[stage] : 1;
}

static double freed_amount(const struct kerf_schedule_times *times, const struct kerf_op *op, int in_bytes) {
    return amount(times, op->kind == KERF_OP_FB ? op->with_stage : op->stage, in_bytes);
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

double memory_peak(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times, int32_t device,
                   int in_bytes) {
    double held = 0, most = 0;
    const struct kerf_op *ops = schedule->ops[device];
    if (!in_bytes) return peak_passes(ops, schedule->num_ops[device], times->free_at_input) / unit(schedule, device, 0);
    for (int32_t k = 0; k < schedule->num_ops[device]; k++) {
        if (takes(&ops[k])) held += amount(times, ops[k].stage, in_bytes);
        if (held > most) most = held;
        if (frees(&ops[k], times->free_at_input)) held -= freed_amount(times, &ops[k], in_bytes);
    }
    return most / unit(schedule, device, in_bytes);
}

/* What was measured may begin before the operation in front of it has ended, where clocks round: steps stay in order. */
static double not_before(const double *times_s, int32_t count, double time_s) {
    return count > 0 ? fmax(times_s[count - 1], time_s) : time_s;
}

int32_t kerf_timeline_memory(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                             const struct kerf_timeline *timeline, int32_t device, int32_t in_bytes, double *times_s,
                             double *held) {
    const struct kerf_op *ops = schedule->ops[device];
    double sum = 0, whole = unit(schedule, device, in_bytes);
    int32_t count = 0;
    for (int32_t k = 0; k < schedule->num_ops[device]; k++) {
        if (takes(&ops[k])) {
            sum += amount(times, ops[k].stage, in_bytes);
            times_s[count] = not_before(times_s, count, timeline->start_s[device][k]);
            held[count++] = sum / whole;
        }
        if (frees(&ops[k], times->free_at_input)) {
            sum -= freed_amount(times, &ops[k], in_bytes);
            times_s[count] = not_before(times_s, count, timeline->end_s[device][k]);
            held[count++] = sum / whole;
        }
    }
    return count;
}

double memory_cap_of_stage(const struct kerf_schedule_times *times, int32_t device, int32_t stage) {
    if (times->cap == NULL) return INFINITY;
    if (!times->cap_in_bytes) return times->cap[device];
    return times->activation_bytes[stage] > 0 ? times->cap[device] / times->activation_bytes[stage] : INFINITY;
}
