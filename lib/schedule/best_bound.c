/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds below every order of split operations that keeps the caps, for any placement; linear in the stages. In the
 * letters of lower_bound.c, which proves them for one stage on each device:
 *
 *   load        entry_d + the device's operations; of the span the operations alone
 *   chain       a micro-batch through all stages and back, and W of the first
 *   residence   a unit of stream k takes its place for at least S_k + W_k (free_at_input: S_k); so many units times
 *               amounts times residences must pass through the device's cap: entry_d + sum / cap_d
 *   round trip  one stream on the device: entry_d + load + max(0, S - k F - I), k = min(cap, units) forwards at most
 *               being there to do before the first I comes back
 *   way back    one stream on the device: entry_d + units (F + I) + return_d + W of the first stage
 *
 * Residence and round trip bound the span as well without their entry_d, since they are of the time from the device's
 * first start to its last end.
 */
#include "schedule/best.h"

#include <math.h>

/* From F of a stream to I of it, through all stages behind it. */
static double round_trip(const struct best_problem *problem, int32_t stream) {
    double sum = 0;
    for (int32_t s = stream; s >= 0;) {
        int32_t forward = lane_of(s, LANE_F), input = lane_of(s, LANE_I), next = problem->to[forward];
        sum += problem->time[forward] + problem->time[input];
        if (next >= 0) sum += problem->come[next] + problem->come[input];
        s = next < 0 ? -1 : lane_stream(next);
    }
    return sum;
}

/* The least time before F, kind LANE_F, or after I, LANE_I, of a stream in the stages before it; with I the last W too.
 */
static double way(const struct best_problem *problem, int32_t stream, int32_t kind) {
    double sum = 0;
    int32_t s = stream;
    for (;;) {
        int32_t before = problem->from[lane_of(s, LANE_F)];
        if (before < 0) break;
        int32_t other = lane_stream(before);
        sum += problem->time[lane_of(other, kind)];
        sum += problem->come[kind == LANE_F ? lane_of(s, LANE_F) : lane_of(other, LANE_I)];
        s = other;
    }
    return kind == LANE_F ? sum : sum + problem->time[lane_of(s, LANE_W)];
}

void best_bounds(const struct best_problem *problem, double *ret_makespan, double *ret_span) {
    double makespan = 0, span = 0;
    for (int32_t d = 0; d < problem->devices; d++) {
        double entry = INFINITY, load = 0, residence = 0;
        int32_t streams = 0, only = -1;
        for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++) {
            int32_t s = problem->on[k];
            double units = problem->units[s], trip = round_trip(problem, s);
            const double *time = &problem->time[lane_of(s, LANE_F)];
            if (problem->units[s] == 0) continue;
            streams++;
            only = s;
            entry = fmin(entry, way(problem, s, LANE_F));
            load += units * (time[LANE_F] + time[LANE_I] + time[LANE_W]);
            residence += units * problem->amount[s] * (trip + (problem->free_kind == LANE_W ? time[LANE_W] : 0));
            makespan = fmax(makespan, way(problem, s, LANE_F) + trip + way(problem, s, LANE_I));
        }
        if (streams == 0) continue;
        double within = fmax(load, problem->cap[d] > 0 ? residence / problem->cap[d] : 0);
        if (streams == 1) {
            const double *time = &problem->time[lane_of(only, LANE_F)];
            double places = problem->amount[only] > 0 ? floor(problem->cap[d] / problem->amount[only]) : INFINITY;
            double early = fmin(places, problem->units[only]);
            within = fmax(within, load + round_trip(problem, only) - early * time[LANE_F] - time[LANE_I]);
            makespan = fmax(makespan,
                            entry + problem->units[only] * (time[LANE_F] + time[LANE_I]) + way(problem, only, LANE_I));
        }
        span = fmax(span, within);
        makespan = fmax(makespan, entry + within);
    }
    *ret_makespan = fmax(makespan, span);
    *ret_span = span;
}
