/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace says of times: for each stage and kind of operation the median of what was measured, then latency and
 * overhead, then what these make of the trace's own order. Medians are not moved by a few stragglers;
 * a step is made longer by them, and that is the residual.
 *
 * A message that was made after its user's device had nothing left to do was waited for: the pause from its maker's end
 * to its user's start is what the message took, and what starting the user took. Other messages were there before their
 * user could start, and say no more than that they took no longer. An operation that follows another on its device,
 * with its messages long there, starts after the overhead of an operation; the simulator counts that with the maker, so
 * that the latency is the rest of the pause. Receives that the GPU recorded tell every message that was made after its
 * receive was posted.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "base/error_fill.h"
#include "trace/trace_owned.h"

struct owned_fit {
    struct kerf_trace_fit fit;
    struct arena arena;
    struct kerf_schedule_times times;
};

struct kerf_trace_fit *kerf_trace_fit_free(struct kerf_trace_fit *fit) {
    if (fit == NULL) return NULL;
    struct owned_fit *owned = (struct owned_fit *)(void *)fit;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

/* ---- Spreads ---------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, size_t count, double q) {
    double at = q * (double)(count - 1);
    size_t below = (size_t)at;
    if (below + 1 >= count) return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* Quartiles; sorts the values. */
static struct kerf_trace_spread spread_of(double *values, size_t count) {
    if (count == 0) return (struct kerf_trace_spread){.count = 0};
    qsort(values, count, sizeof *values, by_value);
    assert(values[0] <= values[count - 1]);
    return (struct kerf_trace_spread){(int32_t)count, quantile(values, count, 0.25), quantile(values, count, 0.5),
                                      quantile(values, count, 0.75)};
}

/* ---- Durations -------------------------------------------------------------------------------------------- */

/* Values by kind and stage, one group behind the other. */
static int find_spreads(struct owned_fit *owned, const struct owned_trace *trace) {
    const struct kerf_schedule *schedule = &trace->schedule;
    size_t stages = (size_t)schedule->stages, groups = KERF_OP_MEASURED * stages, total = 0;
    size_t *first = calloc(groups + 1, sizeof *first);
    struct kerf_trace_spread *spreads = arena_alloc(&owned->arena, groups, sizeof *spreads);
    for (int32_t d = 0; first && d < schedule->devices; d++)
        for (int32_t k = 0; k < schedule->num_ops[d]; k++)
            first[(size_t)schedule->ops[d][k].kind * stages + (size_t)schedule->ops[d][k].stage]++, total++;
    double *values = calloc(total + 1, sizeof *values);
    int good = first && spreads && values;
    if (good) {
        for (size_t g = 0, before = 0, count; g <= groups; g++) count = first[g], first[g] = before, before += count;
        for (int32_t d = 0; d < schedule->devices; d++)
            for (int32_t k = 0; k < schedule->num_ops[d]; k++) {
                const struct kerf_op *op = &schedule->ops[d][k];
                values[first[(size_t)op->kind * stages + (size_t)op->stage]++] = trace->end[d][k] - trace->start[d][k];
            }
        for (size_t g = 0; g < groups; g++) { /* first[g] is now where the next group begins */
            size_t begin = g ? first[g - 1] : 0;
            spreads[g] = spread_of(values + begin, first[g] - begin);
        }
        for (size_t kind = 0; kind < KERF_OP_MEASURED; kind++) owned->fit.of_kind[kind] = spreads + kind * stages;
    }
    free(first);
    free(values);
    return good;
}

static double or_else(const struct kerf_trace_spread *spread, double other) {
    return spread->count ? spread->median_s : other;
}

/* Each time of a stage, from what it ran. */
static int set_durations(struct owned_fit *owned, int32_t stages) {
    const struct kerf_trace_spread *const *of = owned->fit.of_kind;
    double *all = arena_alloc(&owned->arena, KERF_OP_MEASURED * (size_t)stages, sizeof *all);
    int any_fused = 0;
    if (all == NULL) return 0;
    double *f = all, *b = f + stages, *i = b + stages, *w = i + stages, *fb = w + stages;
    for (int32_t s = 0; s < stages; s++) {
        double fused = of[KERF_OP_FB][s].median_s;
        int split = of[KERF_OP_I][s].count && of[KERF_OP_W][s].count;
        any_fused |= of[KERF_OP_FB][s].count > 0;
        f[s] = or_else(&of[KERF_OP_F][s], fused / 3);
        b[s] =
            or_else(&of[KERF_OP_B][s], split ? of[KERF_OP_I][s].median_s + of[KERF_OP_W][s].median_s : 2 * fused / 3);
        i[s] = or_else(&of[KERF_OP_I][s], b[s] / 2);
        w[s] = or_else(&of[KERF_OP_W][s], b[s] / 2);
        fb[s] = or_else(&of[KERF_OP_FB][s], f[s] + b[s]);
    }
    owned->times.forward_s = f;
    owned->times.backward_s = b;
    owned->times.backward_input_s = i;
    owned->times.backward_weight_s = w;
    owned->times.fused_s = any_fused ? fb : NULL;
    return 1;
}

/* ---- Latency and overhead --------------------------------------------------------------------------------- */

/* A message that was waited for. */
struct sample {
    int32_t low, high; /* devices */
    int32_t upward;    /* from low to high */
    double latency_s;
};

struct pair {
    int32_t low, high, count;
    double latency_s;
    double error_s; /* standard error of the median */
};

struct latency {
    const struct owned_trace *trace;
    struct sample *samples;
    struct pair *pairs;
    size_t num_samples, num_pairs;
    double least_s; /* from any maker to its user */
};

/* ---- Samples ---------------------------------------------------------------------------------------------- */

/* The message that was made last is the one that was waited for. */
static void add_sample(struct latency *latency, int32_t device, int32_t at) {
    const struct owned_trace *trace = latency->trace;
    struct trace_input inputs[2];
    int count = trace_inputs(trace, device, at, inputs), last = -1;
    double start_s = trace->start[device][at], free_s = at ? trace->end[device][at - 1] : -INFINITY, made_s = -INFINITY;
    for (int i = 0; i < count; i++) {
        double end_s = trace->end[inputs[i].from.device][inputs[i].from.at];
        latency->least_s = fmin(latency->least_s, start_s - end_s);
        if (end_s > made_s) made_s = end_s, last = i;
    }
    if (last < 0) return;
    const struct trace_input *input = &inputs[last];
    double took_s = start_s - made_s;
    if (input->receive.posted_s <= made_s && input->receive.arrived_s >= made_s)
        took_s = input->receive.arrived_s - made_s;
    else if (made_s < free_s)
        return;
    int upward = input->from.device < device;
    latency->samples[latency->num_samples++] =
        (struct sample){upward ? input->from.device : device, upward ? device : input->from.device, upward, took_s};
}

static int by_pair(const void *a, const void *b) {
    const struct sample *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    if (x->upward != y->upward) return x->upward - y->upward;
    return x->latency_s < y->latency_s ? -1 : x->latency_s > y->latency_s;
}

/* The median of samples of one direction, sorted, and its standard error: 1.25 sigma / sqrt(n), sigma from the
 * quartiles of a normal distribution, which are 1.35 sigma apart. */
static double median_of(const struct sample *samples, size_t count, double *scratch, double *ret_error_s) {
    for (size_t i = 0; i < count; i++) scratch[i] = samples[i].latency_s;
    struct kerf_trace_spread spread = spread_of(scratch, count);
    *ret_error_s = 1.25 * (spread.high_s - spread.low_s) / 1.35 / sqrt((double)(count ? count : 1));
    return spread.median_s;
}

/* Both ways of a pair; a clock that is ahead makes one longer by as much as the other shorter. */
static void add_pair(struct latency *latency, size_t first, size_t count, double *scratch) {
    const struct sample *samples = latency->samples + first;
    double down_error_s, up_error_s;
    size_t down = 0;
    while (down < count && !samples[down].upward) down++;
    double down_s = median_of(samples, down, scratch, &down_error_s);
    double up_s = median_of(samples + down, count - down, scratch, &up_error_s);
    struct pair pair = {samples->low, samples->high, (int32_t)count, down ? down_s : up_s,
                        down ? down_error_s : up_error_s};
    if (down && down < count) {
        pair.latency_s = (down_s + up_s) / 2;
        pair.error_s = hypot(down_error_s, up_error_s) / 2;
    }
    latency->pairs[latency->num_pairs++] = pair;
}

static void find_pairs(struct latency *latency, double *scratch) {
    const struct sample *samples = latency->samples;
    qsort(latency->samples, latency->num_samples, sizeof *samples, by_pair);
    for (size_t first = 0, i = 1; i <= latency->num_samples; i++) {
        if (i < latency->num_samples && samples[i].low == samples[first].low && samples[i].high == samples[first].high)
            continue;
        add_pair(latency, first, i - first, scratch);
        first = i;
    }
}

/* ---- What they say ---------------------------------------------------------------------------------------- */

/* The pause between an operation and the next on its device whose messages had been there before. */
static double find_overhead(const struct owned_trace *trace, double latency_s, double *scratch) {
    struct trace_input inputs[2];
    size_t found = 0;
    double shortest_s = INFINITY;
    for (int32_t d = 0; d < trace->schedule.devices; d++)
        for (int32_t k = 1; k < trace->schedule.num_ops[d]; k++) {
            double free_s = trace->end[d][k - 1];
            int there = 1;
            for (int i = trace_inputs(trace, d, k, inputs); i-- > 0;)
                there &= trace->end[inputs[i].from.device][inputs[i].from.at] + latency_s <= free_s;
            shortest_s = fmin(shortest_s, trace->end[d][k] - trace->start[d][k]);
            if (there) scratch[found++] = trace->start[d][k] - free_s;
        }
    double overhead_s = spread_of(scratch, found).median_s;
    return overhead_s > 1e-6 * shortest_s && isfinite(overhead_s) ? overhead_s : 0; /* below, it is rounding */
}

static int differs(const struct pair *pair, double common_s) {
    double difference_s = fabs(pair->latency_s - common_s);
    return pair->count >= 3 && difference_s > 0.05 * common_s && difference_s > 4 * pair->error_s &&
           difference_s > 1e-9 * common_s;
}

/* A matrix where one number does not do. */
static int set_matrix(struct owned_fit *owned, const struct latency *latency, double common_s) {
    size_t p = (size_t)latency->trace->schedule.devices, odd = 0;
    for (size_t i = 0; i < latency->num_pairs; i++) odd += (size_t)differs(&latency->pairs[i], common_s);
    if (odd == 0) return 1;
    double *matrix = arena_alloc(&owned->arena, p * p, sizeof *matrix);
    if (matrix == NULL) return 0;
    for (size_t i = 0; i < p * p; i++) matrix[i] = i % (p + 1) ? owned->times.p2p_s : 0;
    for (size_t i = 0; i < latency->num_pairs; i++) {
        const struct pair *pair = &latency->pairs[i];
        double latency_s = fmax(0, pair->latency_s - owned->times.overhead_s);
        matrix[(size_t)pair->low * p + (size_t)pair->high] = latency_s;
        matrix[(size_t)pair->high * p + (size_t)pair->low] = latency_s;
    }
    owned->times.p2p_of_s = matrix;
    return 1;
}

static int conclude(struct owned_fit *owned, const struct latency *latency, double *scratch) {
    double common_s = 0;
    for (size_t i = 0; i < latency->num_pairs; i++) scratch[i] = latency->pairs[i].latency_s;
    if (latency->num_pairs)
        common_s = spread_of(scratch, latency->num_pairs).median_s;
    else if (isfinite(latency->least_s))
        common_s = latency->least_s;
    common_s = fmax(0, common_s);
    for (size_t i = 0; i < latency->num_samples; i++) scratch[i] = latency->samples[i].latency_s;
    owned->fit.p2p = spread_of(scratch, latency->num_samples);
    double overhead_s = find_overhead(latency->trace, common_s, scratch);
    owned->times.overhead_s = latency->num_samples ? fmin(overhead_s, common_s) : overhead_s;
    owned->times.p2p_s = fmax(0, common_s - owned->times.overhead_s);
    return set_matrix(owned, latency, common_s);
}

/* Sets p2p and the latencies and overhead of times. 0 when memory runs out. */
static int fit_latency(struct owned_fit *owned, const struct owned_trace *trace) {
    size_t ops = 0;
    for (int32_t d = 0; d < trace->schedule.devices; d++) ops += (size_t)trace->schedule.num_ops[d];
    struct latency latency = {.trace = trace, .least_s = INFINITY};
    double *scratch = calloc(ops + 1, sizeof *scratch);
    latency.samples = calloc(ops + 1, sizeof *latency.samples);
    latency.pairs = calloc(ops + 1, sizeof *latency.pairs);
    int good = scratch && latency.samples && latency.pairs;
    if (good) {
        for (int32_t d = 0; d < trace->schedule.devices; d++)
            for (int32_t k = 0; k < trace->schedule.num_ops[d]; k++) add_sample(&latency, d, k);
        find_pairs(&latency, scratch);
        good = conclude(owned, &latency, scratch);
    }
    free(scratch);
    free(latency.samples);
    free(latency.pairs);
    return good;
}

/* ---- The whole -------------------------------------------------------------------------------------------- */

/* A trace whose operations, as recorded, wait for each other has no simulation either. */
static int simulate(struct owned_fit *owned, const struct owned_trace *trace) {
    struct kerf_trace_fit *fit = &owned->fit;
    struct kerf_timeline *timeline;
    struct kerf_error err;
    fit->measured_s = trace->timeline.makespan_s;
    fit->simulated_s = fit->residual = NAN;
    if (trace->trace.microbatches_complete < trace->schedule.microbatches) return 1;
    int32_t code = kerf_schedule_simulate(&trace->schedule, &owned->times, &timeline, &err);
    if (code != KERF_OK) return code != KERF_ENOMEM;
    fit->simulated_s = timeline->makespan_s;
    if (fit->measured_s > 0) fit->residual = fit->simulated_s / fit->measured_s - 1;
    kerf_timeline_free(timeline);
    return 1;
}

int32_t kerf_trace_fit_make(const struct kerf_trace *trace, struct kerf_trace_fit **ret_fit, struct kerf_error *err) {
    const struct owned_trace *owned_trace = (const struct owned_trace *)(const void *)trace;
    struct owned_fit *owned = calloc(1, sizeof *owned);
    int good = owned != NULL;
    if (good) {
        owned->fit.times = &owned->times;
        owned->fit.devices = trace->schedule->devices;
        owned->fit.stages = trace->schedule->stages;
        good = find_spreads(owned, owned_trace) && set_durations(owned, trace->schedule->stages) &&
               fit_latency(owned, owned_trace) && simulate(owned, owned_trace);
    }
    if (!good) {
        if (owned) kerf_trace_fit_free(&owned->fit);
        return error_no_memory(err, "the fit");
    }
    *ret_fit = &owned->fit;
    return KERF_OK;
}
