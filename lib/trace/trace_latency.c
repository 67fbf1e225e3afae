/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency and overhead from the pauses of a run.
 *
 * A message that was made after its user's device had nothing left to do was waited for: the pause from its maker's end
 * to its user's start is what the message took, and what starting the user took. Other messages were there before their
 * user could start, and say no more than that they took no longer. An operation that follows another on its device,
 * with its messages long there, starts after the overhead of an operation; the simulator counts that with the maker, so
 * that the latency is the rest of the pause. Receives that the GPU recorded tell every message that was made after its
 * receive was posted.
 */
#include "trace/trace_fit.h"

#include <math.h>
#include <stdlib.h>

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
    const struct owned_run *run;
    struct sample *samples;
    struct pair *pairs;
    size_t num_samples, num_pairs;
    double least_s; /* from any maker to its user */
};

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

struct kerf_trace_spread trace_spread(double *values, size_t count) {
    if (count == 0) return (struct kerf_trace_spread){.count = 0};
    qsort(values, count, sizeof *values, by_value);
    return (struct kerf_trace_spread){(int32_t)count, quantile(values, count, 0.25), quantile(values, count, 0.5),
                                    quantile(values, count, 0.75)};
}

/* ---- Samples ---------------------------------------------------------------------------------------------- */

/* The message that was made last is the one that was waited for. */
static void add_sample(struct latency *latency, int32_t device, int32_t at) {
    const struct owned_run *run = latency->run;
    struct trace_input inputs[2];
    int count = trace_inputs(run, device, at, inputs), last = -1;
    double start_s = run->start[device][at], free_s = at ? run->end[device][at - 1] : -INFINITY, made_s = -INFINITY;
    for (int i = 0; i < count; i++) {
        double end_s = run->end[inputs[i].from.device][inputs[i].from.at];
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
    struct kerf_trace_spread spread = trace_spread(scratch, count);
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
static double find_overhead(const struct owned_run *run, double latency_s, double *scratch) {
    struct trace_input inputs[2];
    size_t found = 0;
    double shortest_s = INFINITY;
    for (int32_t d = 0; d < run->schedule.devices; d++)
        for (int32_t k = 1; k < run->schedule.num_ops[d]; k++) {
            double free_s = run->end[d][k - 1];
            int there = 1;
            for (int i = trace_inputs(run, d, k, inputs); i-- > 0;)
                there &= run->end[inputs[i].from.device][inputs[i].from.at] + latency_s <= free_s;
            shortest_s = fmin(shortest_s, run->end[d][k] - run->start[d][k]);
            if (there) scratch[found++] = run->start[d][k] - free_s;
        }
    double overhead_s = trace_spread(scratch, found).median_s;
    return overhead_s > 1e-6 * shortest_s && isfinite(overhead_s) ? overhead_s : 0; /* below, it is rounding */
}

static int differs(const struct pair *pair, double common_s) {
    double difference_s = fabs(pair->latency_s - common_s);
    return pair->count >= 3 && difference_s > 0.05 * common_s && difference_s > 4 * pair->error_s &&
           difference_s > 1e-9 * common_s;
}

/* A matrix where one number does not do. */
static int set_matrix(struct owned_fit *owned, const struct latency *latency, double common_s) {
    size_t p = (size_t)latency->run->schedule.devices, odd = 0;
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
        common_s = trace_spread(scratch, latency->num_pairs).median_s;
    else if (isfinite(latency->least_s))
        common_s = latency->least_s;
    common_s = fmax(0, common_s);
    for (size_t i = 0; i < latency->num_samples; i++) scratch[i] = latency->samples[i].latency_s;
    owned->fit.p2p = trace_spread(scratch, latency->num_samples);
    double overhead_s = find_overhead(latency->run, common_s, scratch);
    owned->times.overhead_s = latency->num_samples ? fmin(overhead_s, common_s) : overhead_s;
    owned->times.p2p_s = fmax(0, common_s - owned->times.overhead_s);
    return set_matrix(owned, latency, common_s);
}

int trace_fit_latency(struct owned_fit *owned, const struct owned_run *run) {
    size_t ops = 0;
    for (int32_t d = 0; d < run->schedule.devices; d++) ops += (size_t)run->schedule.num_ops[d];
    struct latency latency = {.run = run, .least_s = INFINITY};
    double *scratch = calloc(ops + 1, sizeof *scratch);
    latency.samples = calloc(ops + 1, sizeof *latency.samples);
    latency.pairs = calloc(ops + 1, sizeof *latency.pairs);
    int good = scratch && latency.samples && latency.pairs;
    if (good) {
        for (int32_t d = 0; d < run->schedule.devices; d++)
            for (int32_t k = 0; k < run->schedule.num_ops[d]; k++) add_sample(&latency, d, k);
        find_pairs(&latency, scratch);
        good = conclude(owned, &latency, scratch);
    }
    free(scratch);
    free(latency.samples);
    free(latency.pairs);
    return good;
}
