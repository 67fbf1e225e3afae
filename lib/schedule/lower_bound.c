/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds on the makespan of every order of the same operations.
 *
 * For any placement:
 *   load       a device cannot start before the shortest way of a micro-batch to it, nor stop before it has done all
 * its operations: the least entry + its load chain      a micro-batch goes through every stage forward and back, and
 * its last weights follow
 *
 * For one stage on each device, with S = the time of a micro-batch from F at device 0 to I at device 0, latencies
 * included, s0 = F + I + W of device 0, and no device holding more than cap micro-batches from the start of F to the
 * end of W: round trip   device 0 does at most k = min(cap, m) forwards before the first I comes back to it, and is
 * idle for the rest of that time: m s0 + max(0, S - k F0 - I0) residence    a micro-batch occupies one of the cap
 * places of device 0 for at least S + W0, and m of them must pass through: m (S + W0) / cap   (Little's law) way back
 * the last I of device d, after m F and I there, has to go back to device 0, whose W follows: entry_d + m (F_d + I_d) +
 * return_d + W0 With full backwards B stands for I and W is 0.
 */
#include <math.h>
#include "schedule/order.h"

/* The operations of a schedule by stage, and whether the weights' backward is split off anywhere. */
struct work {
    int split, fused;
};

static struct work look(const struct kerf_schedule *schedule) {
    struct work work = {0, 0};
    for (int32_t i = 0; i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            work.split |= schedule->ops[i][k].kind == KERF_OP_W;
            work.fused |= schedule->ops[i][k].kind == KERF_OP_FB;
        }
    return work;
}

static double latency(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times, int32_t from,
                      int32_t to) {
    if (from == to) return 0;
    return times->p2p_of_s ? times->p2p_of_s[from * schedule->devices + to] : times->p2p_s;
}

/* The least time from a micro-batch's first F until it can be at a device's first stage. */
static double entry(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times, int32_t device,
                    int32_t replica) {
    const int32_t *device_of = schedule->device_of + replica * schedule->stages;
    double sum = 0;
    for (int32_t k = 0; k < schedule->stages && device_of[k] != device; k++) {
        sum += times->forward_s[k];
        if (k + 1 < schedule->stages) sum += latency(schedule, times, device_of[k], device_of[k + 1]);
    }
    return sum;
}

static double chain(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                    const double *backward, int32_t replica) {
    const int32_t *device_of = schedule->device_of + replica * schedule->stages;
    double sum = 0;
    for (int32_t k = 0; k < schedule->stages; k++) {
        sum += times->forward_s[k] + backward[k];
        if (k + 1 < schedule->stages)
            sum += latency(schedule, times, device_of[k], device_of[k + 1]) +
                   latency(schedule, times, device_of[k + 1], device_of[k]);
    }
    return sum;
}

static double one_stage_bound(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                              const double *input, const double *weight, double cap) {
    double m = schedule->microbatches, S = chain(schedule, times, input, 0), bound = 0, there = 0, back = 0;
    double w0 = weight ? weight[0] : 0, s0 = times->forward_s[0] + input[0] + w0, k = fmin(floor(cap), m);
    bound = m * s0 + fmax(0, S - k * times->forward_s[0] - input[0]);
    if (cap > 0) bound = fmax(bound, m * (S + w0) / cap);
    for (int32_t d = 0; d < schedule->devices; d++) {
        bound = fmax(bound, there + m * (times->forward_s[d] + input[d]) + back + w0);
        if (d + 1 == schedule->devices) break;
        there += times->forward_s[d] + latency(schedule, times, d, d + 1);
        back += input[d] + latency(schedule, times, d + 1, d);
    }
    return bound;
}

double kerf_schedule_lower_bound(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                                 const struct kerf_timeline *timeline, double cap) {
    struct work work = look(schedule);
    const double *input = work.split ? times->backward_input_s : times->backward_s;
    double bound = 0, peak = 0;
    for (int32_t i = 0; i < schedule->devices; i++) {
        double load = 0, begin = INFINITY;
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) load += timeline->end_s[i][k] - timeline->start_s[i][k];
        for (int32_t r = 0; r < schedule->replicas; r++) begin = fmin(begin, entry(schedule, times, i, r));
        bound = fmax(bound, begin + load);
        peak = fmax(peak, timeline->peak_activations[i]);
    }
    if (work.fused || times->blocking) return bound; /* a fused pair may be shorter than its parts */
    /* with both kinds of backward in one schedule the shorter one bounds the chain */
    for (int32_t r = 0; r < schedule->replicas; r++)
        bound = fmax(bound, chain(schedule, times, work.split ? times->backward_input_s : times->backward_s, r));
    if (schedule->chunks == 1 && schedule->replicas == 1 && schedule->stages == schedule->devices &&
        !times->free_at_input)
        bound = fmax(bound, one_stage_bound(schedule, times, input, work.split ? times->backward_weight_s : NULL,
                                            cap > 0 ? cap : peak));
    return bound;
}
