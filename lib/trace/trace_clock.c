/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of devices, from cause and effect. x[d] is how far the clock of device d is ahead of device 0's. A message of
 * device a, made at end by a's clock, is used on b at start by b's, which in truth is later:
 *
 *     (start - x[b]) - (end - x[a]) >= 0,   x[b] - x[a] <= w(a, b), the least start - end of all such messages.
 *
 * So x[b] is at most D(0, b), the shortest path over w, and at least -D(b, 0), and the middle of these two obeys every
 * bound, for half of D(0, b) <= D(0, a) + w and half of D(a, 0) <= w + D(b, 0) add up to it. Two neighbours alone get
 * what NTP computes, from the fastest message of each way. Bounds that contradict each other are a cycle of negative
 * length. Bellman-Ford finds both paths and it; there are two edges for each boundary between stages.
 */
#include "trace/trace_owned.h"

#include <math.h>
#include <stdlib.h>
#include "base/quantity.h"

/* The least time from maker to user over a boundary between stages, one way. */
struct edge {
    int32_t from, to; /* devices; from -1: no message */
    double least_s;
};

struct clocks {
    struct owned_trace *owned;
    struct edge *edges; /* [2 * stages] */
    int32_t num_edges;
    double *after, *before;   /* [devices] D(0, d), D(d, 0) */
    double tolerance_s;       /* of what times are rounded to */
    struct trace_place worst; /* the user that starts the most before its input */
    struct trace_place worst_maker;
    double worst_s;
};

/* The latest that an operation's input can have been there. */
static double used_s(const struct owned_trace *owned, int32_t device, int32_t at, const struct trace_input *input) {
    double start_s = owned->start[device][at];
    return isnan(input->receive.arrived_s) ? start_s : fmin(start_s, input->receive.arrived_s);
}

static void measure(struct clocks *clocks) {
    struct owned_trace *owned = clocks->owned;
    struct trace_input inputs[2];
    double longest_s = 0;
    for (int32_t d = 0; d < owned->schedule.devices; d++)
        for (int32_t k = 0; k < owned->schedule.num_ops[d]; k++) {
            int count = trace_inputs(owned, d, k, inputs);
            longest_s = fmax(longest_s, owned->end[d][k] - owned->start[d][0]);
            for (int i = 0; i < count; i++) {
                struct trace_place from = inputs[i].from;
                struct edge *edge = &clocks->edges[2 * inputs[i].boundary + inputs[i].backward];
                double least_s = used_s(owned, d, k, &inputs[i]) - owned->end[from.device][from.at];
                if (edge->from < 0) *edge = (struct edge){from.device, d, least_s};
                if (least_s < edge->least_s) edge->least_s = least_s;
                if (least_s >= clocks->worst_s) continue;
                clocks->worst_s = least_s;
                clocks->worst = (struct trace_place){d, k};
                clocks->worst_maker = from;
            }
        }
    clocks->tolerance_s = 1e-9 * longest_s + 5e-7;
}

/* Shortest paths from device 0, or to it; as many rounds as there are devices end with a negative cycle in them. */
static void find_paths(const struct clocks *clocks, int reversed, double *path) {
    int32_t p = clocks->owned->schedule.devices;
    for (int32_t d = 0; d < p; d++) path[d] = d ? INFINITY : 0;
    for (int32_t round = 0, changed = 1; round < p && changed; round++) {
        changed = 0;
        for (int32_t e = 0; e < clocks->num_edges; e++) {
            const struct edge *edge = &clocks->edges[e];
            if (edge->from < 0) continue;
            int32_t from = reversed ? edge->to : edge->from, to = reversed ? edge->from : edge->to;
            if (path[from] + edge->least_s >= path[to]) continue;
            path[to] = path[from] + edge->least_s;
            changed = 1;
        }
    }
}

/* A device that no path joins with device 0 keeps its clock. */
static int align(struct clocks *clocks, double *offset_s) {
    find_paths(clocks, 0, clocks->after);
    find_paths(clocks, 1, clocks->before);
    for (int32_t d = 0; d < clocks->owned->schedule.devices; d++) {
        double middle = (clocks->after[d] - clocks->before[d]) / 2;
        offset_s[d] = isfinite(middle) ? middle : 0;
    }
    for (int32_t e = 0; e < clocks->num_edges; e++) {
        const struct edge *edge = &clocks->edges[e];
        if (edge->from >= 0 && offset_s[edge->to] - offset_s[edge->from] > edge->least_s + clocks->tolerance_s)
            return 0;
    }
    return 1;
}

/* Whether every operation ends after its inputs were made, as it does when it was recorded with its wait for them. */
static int could_be_waits(const struct clocks *clocks) {
    const struct owned_trace *owned = clocks->owned;
    struct trace_input inputs[2];
    for (int32_t d = 0; d < owned->schedule.devices; d++)
        for (int32_t k = 0; k < owned->schedule.num_ops[d]; k++)
            for (int i = trace_inputs(owned, d, k, inputs); i-- > 0;) {
                struct trace_place from = inputs[i].from;
                if (owned->end[d][k] < owned->end[from.device][from.at] - clocks->tolerance_s) return 0;
            }
    return 1;
}

/* Operations keep the order of their starts. */
static void cut_waits(struct clocks *clocks) {
    struct owned_trace *owned = clocks->owned;
    struct trace_input inputs[2];
    for (int32_t d = 0; d < owned->schedule.devices; d++)
        for (int32_t k = owned->schedule.num_ops[d]; k-- > 0;) {
            double start_s = owned->start[d][k];
            for (int i = trace_inputs(owned, d, k, inputs); i-- > 0;)
                start_s = fmax(start_s, owned->end[inputs[i].from.device][inputs[i].from.at]);
            start_s = fmin(start_s, owned->end[d][k]);
            if (k + 1 < owned->schedule.num_ops[d]) start_s = fmin(start_s, owned->start[d][k + 1]);
            owned->start[d][k] = start_s;
        }
}

static void tell(const struct clocks *clocks, const double *offset_s, struct kerf_text *notes) {
    const struct kerf_schedule *schedule = &clocks->owned->schedule;
    int32_t furthest = 0;
    for (int32_t d = 0; d < schedule->devices; d++)
        if (fabs(offset_s[d]) > fabs(offset_s[furthest])) furthest = d;
    if (clocks->owned->trace.clocks == KERF_CLOCKS_ALIGNED) {
        kerf_text_add(notes, "clocks differ and were aligned, device ");
        kerf_text_printf(notes, "%d's by ", furthest);
        quantity_seconds(notes, fabs(offset_s[furthest]));
    } else if (clocks->owned->trace.clocks == KERF_CLOCKS_WAITS) {
        kerf_text_add(notes, "operations were recorded with the wait for their inputs; kerf removed this wait");
    } else {
        kerf_text_add(notes, "no clock offsets put every operation after its inputs; times are used as measured");
    }
    kerf_text_add(notes, ": ");
    kerf_op_text(notes, &schedule->ops[clocks->worst.device][clocks->worst.at]);
    kerf_text_printf(notes, " on device %d starts ", clocks->worst.device);
    quantity_seconds(notes, -clocks->worst_s);
    kerf_text_add(notes, " before ");
    kerf_op_text(notes, &schedule->ops[clocks->worst_maker.device][clocks->worst_maker.at]);
    kerf_text_printf(notes, " on device %d ends\n", clocks->worst_maker.device);
}

int trace_align_clocks(struct owned_trace *owned, struct kerf_text *notes) {
    size_t p = (size_t)owned->schedule.devices;
    struct clocks clocks = {.owned = owned, .num_edges = 2 * owned->schedule.stages};
    double *offset_s = arena_alloc(&owned->arena, p, sizeof *offset_s);
    clocks.edges = calloc((size_t)clocks.num_edges, sizeof *clocks.edges);
    clocks.after = calloc(2 * p, sizeof *clocks.after);
    int good = offset_s && clocks.edges && clocks.after;
    if (good) {
        clocks.before = clocks.after + p;
        for (int32_t e = 0; e < clocks.num_edges; e++) clocks.edges[e].from = -1;
        measure(&clocks);
        owned->trace.clocks = clocks.worst_s >= -clocks.tolerance_s ? KERF_CLOCKS_AGREE
                              : align(&clocks, offset_s)            ? KERF_CLOCKS_ALIGNED
                              : could_be_waits(&clocks)             ? KERF_CLOCKS_WAITS
                                                                    : KERF_CLOCKS_CONTRADICT;
        int aligned = owned->trace.clocks == KERF_CLOCKS_ALIGNED;
        for (size_t d = 0; d < p && !aligned; d++) offset_s[d] = 0;
        if (owned->trace.clocks != KERF_CLOCKS_AGREE) tell(&clocks, offset_s, notes);
        for (int32_t d = 0; d < owned->schedule.devices && aligned; d++) trace_shift(owned, d, offset_s[d]);
        if (owned->trace.clocks == KERF_CLOCKS_WAITS) cut_waits(&clocks);
    }
    owned->trace.offset_s = offset_s;
    free(clocks.edges);
    free(clocks.after);
    return good;
}
