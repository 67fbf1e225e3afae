/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds on the makespan of every order of the same operations.
 *
 * For any placement:
 *   load        a device cannot start before the shortest way of a micro-batch to it, entry_d, nor stop before it has
 *               done all its operations
 *   chain       a micro-batch goes through every stage forward and back
 *
 * For one stage on each device; F, I and W of device d, S_d the time of a micro-batch from F on device d to I on device
 * d through all devices behind it, latencies included; no device holds more than cap micro-batches from the start of F
 * to the end of W:
 *   round trip  device d does at most k = min(cap, m) forwards before the first I comes back to it, and is idle for the
 *               rest of that time: entry_d + m (F + I + W) + max(0, S_d - k F - I)
 *   residence   a micro-batch occupies one of the cap places of device d for at least S_d + W, and m of them must pass
 *               through: entry_d + m (S_d + W) / cap   (Little's law)
 *   way back    the last I of device d, after m F and I there, has to go back to device 0, whose W follows:
 *               entry_d + m (F + I) + return_d + W_0
 * With full backwards B stands for I and W is 0; where activations are freed by I, W is left out of the residence. A
 * slice takes its share of a micro-batch's times and places. Blocking sends and shared links only add to all this.
 */
#include <math.h>
#include "schedule/memory.h"
#include "schedule/order.h"

/* What the operations are, and how long one takes of each stage. */
struct work {
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    int whole, split, fused; /* whether there are B, W, FB */
};

static struct work look(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times) {
    struct work work = {.schedule = schedule, .times = times};
    for (int32_t i = 0; i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            work.whole |= schedule->ops[i][k].kind == KERF_OP_B;
            work.split |= schedule->ops[i][k].kind == KERF_OP_W;
            work.fused |= schedule->ops[i][k].kind == KERF_OP_FB;
        }
    return work;
}

static double one(const struct work *work, double whole_s) {
    return whole_s / work->schedule->slices + work->times->overhead_s;
}
static double forward(const struct work *work, int32_t stage) { return one(work, work->times->forward_s[stage]); }

/* With both kinds of backward in one schedule the shorter one bounds both, and no W is certain. */
static double backward(const struct work *work, int32_t stage) {
    double whole = work->times->backward_s[stage], input = work->times->backward_input_s[stage];
    return one(work, !work->split ? whole : !work->whole ? input : fmin(whole, input));
}
static double weight(const struct work *work, int32_t stage) {
    return work->split && !work->whole ? one(work, work->times->backward_weight_s[stage]) : 0;
}

static double latency(const struct work *work, int32_t from, int32_t to) {
    if (from == to) return 0;
    return work->times->p2p_of_s ? work->times->p2p_of_s[from * work->schedule->devices + to] : work->times->p2p_s;
}

/* The least time from a micro-batch's first F until it can be at a device's first stage. */
static double entry(const struct work *work, int32_t device, int32_t replica) {
    const struct kerf_schedule *schedule = work->schedule;
    const int32_t *device_of = schedule->device_of + replica * schedule->stages;
    double sum = 0;
    for (int32_t k = 0; k < schedule->stages && device_of[k] != device; k++) {
        sum += forward(work, k);
        if (k + 1 < schedule->stages) sum += latency(work, device_of[k], device_of[k + 1]);
    }
    return sum;
}

/* From F on a stage to I on it, through all stages behind it. */
static double round_trip(const struct work *work, int32_t from_stage, int32_t replica) {
    const struct kerf_schedule *schedule = work->schedule;
    const int32_t *device_of = schedule->device_of + replica * schedule->stages;
    double sum = 0;
    for (int32_t k = from_stage; k < schedule->stages; k++) {
        sum += forward(work, k) + backward(work, k);
        if (k + 1 < schedule->stages)
            sum += latency(work, device_of[k], device_of[k + 1]) + latency(work, device_of[k + 1], device_of[k]);
    }
    return sum;
}

static double one_stage_bound(const struct work *work, double peak) {
    const struct kerf_schedule *schedule = work->schedule;
    const double units = (double)order_units(schedule);
    double there = 0, back = 0, trip = round_trip(work, 0, 0), bound = 0;
    for (int32_t d = 0; d < schedule->devices; d++) {
        double f = forward(work, d), b = backward(work, d), w = weight(work, d);
        double cap = work->times->cap ? memory_cap_of_stage(work->times, d, d) : peak;
        double places = fmax(1, floor(cap * schedule->slices * (1 + 1e-12)));
        double idle = trip - fmin(places, units) * f - b;
        bound = fmax(bound, there + units * (f + b + w) + fmax(0, idle));
        bound = fmax(bound, there + units * (trip + (work->times->free_at_input ? 0 : w)) / places);
        bound = fmax(bound, there + units * (f + b) + back + weight(work, 0));
        if (d + 1 == schedule->devices) break;
        there += f + latency(work, d, d + 1);
        back += b + latency(work, d + 1, d);
        trip -= f + b + latency(work, d, d + 1) + latency(work, d + 1, d);
    }
    return bound;
}

double kerf_schedule_lower_bound(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                                 const struct kerf_timeline *timeline) {
    const struct work work = look(schedule, times);
    double bound = 0, peak = 0;
    if (schedule->proved_s > 0 &&
        schedule->proved_for == kerf_schedule_times_fingerprint(times, schedule->devices, schedule->stages))
        bound = schedule->proved_s;
    for (int32_t i = 0; i < schedule->devices; i++) {
        double load = 0, begin = INFINITY;
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) load += timeline->end_s[i][k] - timeline->start_s[i][k];
        for (int32_t r = 0; r < schedule->replicas; r++) begin = fmin(begin, entry(&work, i, r));
        bound = fmax(bound, begin + load);
        peak = fmax(peak, timeline->peak_activations[i]);
    }
    /* a fused pair may be shorter than its parts */
    for (int32_t r = 0; r < schedule->replicas && !work.fused; r++) bound = fmax(bound, round_trip(&work, 0, r));
    if (!work.fused && schedule->chunks == 1 && schedule->replicas == 1 && schedule->stages == schedule->devices)
        bound = fmax(bound, one_stage_bound(&work, peak));
    /* the same sum in another order may round up */
    return bound <= timeline->makespan_s * (1 + 1e-12) ? fmin(bound, timeline->makespan_s) : bound;
}
