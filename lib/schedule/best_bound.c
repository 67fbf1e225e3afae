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

/* Of each stream: the least time before its first F; from F to I through all stages behind it; and after its I until W
 * of the first stage has ended. */
struct ways {
    double *entry, *trip, *back; /* [streams] */
};

/* The streams of a replica follow each other by stage. */
static void measure(const struct best_problem *problem, struct ways *ways) {
    for (int32_t s = 0; s < problem->streams; s++) {
        int32_t forward = lane_of(s, LANE_F), before = problem->from[forward];
        if (before < 0) {
            ways->entry[s] = 0;
            ways->back[s] = problem->time[lane_of(s, LANE_W)];
            continue;
        }
        int32_t other = lane_stream(before), input = lane_of(other, LANE_I);
        ways->entry[s] = ways->entry[other] + problem->time[before] + problem->come[forward];
        ways->back[s] = ways->back[other] + problem->time[input] + problem->come[input];
    }
    for (int32_t s = problem->streams; s-- > 0;) {
        int32_t forward = lane_of(s, LANE_F), input = lane_of(s, LANE_I), next = problem->to[forward];
        ways->trip[s] = problem->time[forward] + problem->time[input];
        if (next >= 0) ways->trip[s] += problem->come[next] + problem->come[input] + ways->trip[lane_stream(next)];
    }
}

static void bound_device(const struct best_problem *problem, const struct ways *ways, int32_t d, double *makespan,
                         double *span) {
    double entry = INFINITY, load = 0, residence = 0, cap = problem->cap[d];
    int32_t streams = 0, only = -1;
    for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++) {
        int32_t s = problem->on[k];
        double units = problem->units[s];
        const double *time = &problem->time[lane_of(s, LANE_F)];
        if (problem->units[s] == 0) continue;
        streams++;
        only = s;
        entry = fmin(entry, ways->entry[s]);
        load += units * (time[LANE_F] + time[LANE_I] + time[LANE_W]);
        residence += units * problem->amount[s] * (ways->trip[s] + (problem->free_kind == LANE_W ? time[LANE_W] : 0));
        *makespan = fmax(*makespan, ways->entry[s] + ways->trip[s] + ways->back[s]);
    }
    if (streams == 0) return;
    double within = fmax(load, cap > 0 ? residence / cap : 0);
    if (streams == 1) {
        const double *time = &problem->time[lane_of(only, LANE_F)];
        double places = problem->amount[only] > 0 ? floor(cap / problem->amount[only]) : INFINITY;
        double early = fmin(places, problem->units[only]);
        within = fmax(within, load + ways->trip[only] - early * time[LANE_F] - time[LANE_I]);
        *makespan = fmax(*makespan, entry + problem->units[only] * (time[LANE_F] + time[LANE_I]) + ways->back[only]);
    }
    *span = fmax(*span, within);
    *makespan = fmax(*makespan, entry + within);
}

int32_t best_bounds(const struct best_problem *problem, double *ret_makespan, double *ret_span) {
    struct arena arena = {NULL};
    size_t streams = (size_t)problem->streams;
    struct ways ways = {.entry = arena_alloc(&arena, streams, sizeof(double)),
                        .trip = arena_alloc(&arena, streams, sizeof(double)),
                        .back = arena_alloc(&arena, streams, sizeof(double))};
    int good = ways.entry && ways.trip && ways.back;
    if (good) {
        *ret_makespan = *ret_span = 0;
        measure(problem, &ways);
        for (int32_t d = 0; d < problem->devices; d++) bound_device(problem, &ways, d, ret_makespan, ret_span);
        /* the same sums in another order may round up */
        *ret_makespan *= 1 - 1e-12;
        *ret_span *= 1 - 1e-12;
    }
    arena_free(&arena);
    return good ? KERF_OK : KERF_ENOMEM;
}
