/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a step takes when operations do not always take the same time: many simulations of one order, in each of which
 * every operation draws its own factor, of mean 1, from a log-normal distribution or from measured ones.
 *
 * The operations are brought once into an order in which each comes behind what it needs; a simulation is then one pass
 * over them, LANES simulations at a time. Factors are drawn from a table of QUANTILES equally likely ones. The numbers
 * depend on the seed alone. Cost: operations * samples, about 2 ns each.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "schedule/order.h"

enum { LANES = 16, BITS = 12, QUANTILES = 1 << BITS, DRAWS = 64 / BITS, SAMPLES = 10000 };

/* An operation and what it waits for, all as places in the order; -1: nothing. */
struct node {
    int32_t before, input[2]; /* of its device; of other stages, of an FB two */
    double latency[2], time;
    int32_t device, first; /* 1: the device's first */
};

struct study {
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    const struct kerf_timeline *timeline;
    const struct kerf_schedule_noise *noise;
    struct arena arena;
    struct node *nodes;
    int64_t count;
    int32_t *place_of;                                     /* [outputs] of what makes it, -1: not yet */
    float *factors;                                        /* [QUANTILES] */
    double (*end)[LANES], (*first)[LANES], (*last)[LANES]; /* [count]; [devices] */
    double *steps;                                         /* [samples] */
};

/* ---- The order -------------------------------------------------------------------------------------------- */

static double latency(const struct study *study, int32_t from, int32_t to) {
    const struct kerf_schedule_times *times = study->times;
    double factor = 1;
    if (from == to) return 0;
    if (study->noise->slow_link) factor = study->noise->slow_link[from] * study->noise->slow_link[to];
    return factor * (times->p2p_of_s ? times->p2p_of_s[from * study->schedule->devices + to] : times->p2p_s);
}

/* The number of the output that a part of an operation needs; -1: none. */
static int64_t needed(const struct kerf_schedule *schedule, int back, int32_t stage, int32_t microbatch, int32_t slice,
                      int32_t *ret_stage) {
    *ret_stage = back ? stage + 1 : stage - 1;
    if (*ret_stage < 0 || *ret_stage >= schedule->stages) return -1;
    return order_output(schedule, back, *ret_stage, microbatch, slice);
}

/* The next operation of a device as a node; 0: an input is not there yet. */
static int make_node(const struct study *study, int32_t d, int32_t k, struct node *ret_node) {
    const struct kerf_schedule *schedule = study->schedule;
    const struct kerf_op *op = &schedule->ops[d][k];
    struct node node = {.before = -1, .input = {-1, -1}, .device = d, .first = k == 0};
    const double slow = study->noise->slow ? study->noise->slow[d] : 1;
    for (int part = 0; part < (op->kind == KERF_OP_FB ? 2 : 1); part++) {
        const int back = part || op->kind == KERF_OP_B || op->kind == KERF_OP_I;
        const int32_t microbatch = part ? op->with_microbatch : op->microbatch;
        int32_t other = 0;
        if (op->kind == KERF_OP_W || op->kind == KERF_OP_R) break;
        const int64_t output = needed(schedule, back, part ? op->with_stage : op->stage, microbatch, op->slice, &other);
        if (output < 0) continue;
        if (study->place_of[output] < 0) return 0;
        node.input[part] = study->place_of[output];
        node.latency[part] = latency(study, order_device(schedule, other, microbatch), d);
    }
    node.time = slow * (study->timeline->end_s[d][k] - study->timeline->start_s[d][k]);
    *ret_node = node;
    return 1;
}

static void take_output(struct study *study, const struct kerf_op *op) {
    const int32_t place = (int32_t)study->count;
    if (op->kind == KERF_OP_W || op->kind == KERF_OP_R) return;
    const int back = op->kind == KERF_OP_B || op->kind == KERF_OP_I;
    study->place_of[order_output(study->schedule, back, op->stage, op->microbatch, op->slice)] = place;
    if (op->kind == KERF_OP_FB)
        study->place_of[order_output(study->schedule, 1, op->with_stage, op->with_microbatch, 0)] = place;
}

static void line_up(struct study *study, int32_t *at, int32_t *before) {
    const struct kerf_schedule *schedule = study->schedule;
    int64_t last = -1;
    for (int32_t d = 0; d < schedule->devices; d++) at[d] = 0, before[d] = -1;
    while (study->count > last) { /* forwards come down in one round, backwards go up in the next */
        last = study->count;
        for (int32_t k = 0; k < 2 * schedule->devices; k++) {
            const int32_t d = k < schedule->devices ? k : 2 * schedule->devices - 1 - k;
            for (; at[d] < schedule->num_ops[d]; at[d]++) {
                struct node node;
                if (!make_node(study, d, at[d], &node)) break;
                node.before = before[d];
                before[d] = (int32_t)study->count;
                take_output(study, &schedule->ops[d][at[d]]);
                study->nodes[study->count++] = node;
            }
        }
    }
}

/* ---- Factors ---------------------------------------------------------------------------------------------- */

/* z with this share of the normal distribution below it. */
static double normal_quantile(double share) {
    double low = -9, high = 9;
    for (int k = 0; k < 50; k++) {
        const double middle = (low + high) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < share)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void make_factors(const struct study *study, double *sorted) {
    const struct kerf_schedule_noise *noise = study->noise;
    const double sigma = sqrt(log1p(noise->relative * noise->relative));
    double sum = 0;
    if (sorted) qsort(sorted, (size_t)noise->num_factors, sizeof *sorted, ascending);
    for (int32_t k = 0; k < QUANTILES; k++) {
        const double share = (k + 0.5) / QUANTILES;
        const double factor =
            sorted ? sorted[(int64_t)(share * (double)noise->num_factors)] : exp(sigma * normal_quantile(share));
        study->factors[k] = (float)factor;
        sum += factor;
    }
    for (int32_t k = 0; k < QUANTILES; k++) study->factors[k] = (float)(study->factors[k] * QUANTILES / sum);
}

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static inline uint64_t next_bits(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* ---- Simulations ------------------------------------------------------------------------------------------ */

static void run_lanes(struct study *study, uint64_t *state) {
    for (int64_t k = 0; k < study->count; k++) {
        const struct node *node = &study->nodes[k];
        uint64_t bits = 0;
        double *end = study->end[k];
        for (int lane = 0; lane < LANES; lane++) {
            double start = node->before >= 0 ? study->end[node->before][lane] : 0;
            for (int part = 0; part < 2; part++) {
                if (node->input[part] < 0) continue;
                const double there = study->end[node->input[part]][lane] + node->latency[part];
                start = there > start ? there : start;
            }
            if (lane % DRAWS == 0) bits = next_bits(state);
            end[lane] = start + node->time * (double)study->factors[bits & (QUANTILES - 1)];
            bits >>= BITS;
            if (node->first) study->first[node->device][lane] = start;
            study->last[node->device][lane] = end[lane];
        }
    }
}

static double step_of(const struct study *study, int lane) {
    double begin = INFINITY, end = 0, span = 0;
    for (int32_t d = 0; d < study->schedule->devices; d++) {
        if (study->schedule->num_ops[d] == 0) continue;
        begin = fmin(begin, study->first[d][lane]);
        end = fmax(end, study->last[d][lane]);
        span = fmax(span, study->last[d][lane] - study->first[d][lane]);
    }
    return (study->times->unsynchronised ? span : fmax(end - begin, 0)) + study->times->optimizer_s;
}

static void sum_up(double *steps, int32_t samples, struct kerf_schedule_steps *ret) {
    double sum = 0;
    qsort(steps, (size_t)samples, sizeof *steps, ascending);
    for (int32_t k = 0; k < samples; k++) sum += steps[k];
    *ret = (struct kerf_schedule_steps){.samples = samples,
                                        .mean_s = sum / samples,
                                        .p50_s = steps[samples / 2],
                                        .p95_s = steps[(int32_t)(0.95 * samples)],
                                        .p99_s = steps[(int32_t)(0.99 * samples)],
                                        .most_s = steps[samples - 1]};
}

static int32_t check(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                     const struct kerf_schedule_noise *noise, struct kerf_error *err) {
    if (times->blocking || times->shared_link || times->host_link_shared)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "noise is not simulated with blocking sends or shared links");
    for (int32_t d = 0; schedule->moves && d < schedule->devices; d++)
        for (int32_t k = 0; k < schedule->num_ops[d]; k++)
            if (schedule->ops[d][k].kind == KERF_OP_O)
                return kerf_error_set(err, KERF_EUNSUPPORTED, "noise is not simulated with offload");
    if (!(noise->relative >= 0 && noise->relative <= 1)) /* more is in tails that QUANTILES do not have */
        return kerf_error_set(err, KERF_EINVALID, "the jitter must lie between 0 and 1 (100 %%), not %g",
                              noise->relative);
    if (noise->samples < 0)
        return kerf_error_set(err, KERF_EINVALID, "samples must be 1 or more, or 0 for %d, not %d", SAMPLES,
                              noise->samples);
    if (noise->factors && noise->num_factors < 1)
        return kerf_error_set(err, KERF_EINVALID, "measured factors must be 1 or more, not %lld",
                              (long long)noise->num_factors);
    for (int64_t k = 0; noise->factors && k < noise->num_factors; k++)
        if (!(noise->factors[k] > 0 && isfinite(noise->factors[k])))
            return kerf_error_set(err, KERF_EINVALID, "measured factors must be finite and above 0, not %g",
                                  noise->factors[k]);
    for (int32_t d = 0; d < schedule->devices; d++)
        if ((noise->slow && !(noise->slow[d] > 0 && isfinite(noise->slow[d]))) ||
            (noise->slow_link && !(noise->slow_link[d] >= 0 && isfinite(noise->slow_link[d]))))
            return kerf_error_set(err, KERF_EINVALID, "the factor of a slow device or link must be finite and above 0");
    return KERF_OK;
}

int32_t kerf_schedule_under_noise(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                                  const struct kerf_timeline *timeline, const struct kerf_schedule_noise *noise,
                                  struct kerf_schedule_steps *ret_steps, struct kerf_error *err) {
    const int32_t samples = noise->samples > 0 ? noise->samples : SAMPLES, p = schedule->devices;
    struct study study = {.schedule = schedule, .times = times, .timeline = timeline, .noise = noise};
    struct arena *arena = &study.arena;
    uint64_t state = noise->seed;
    size_t ops = 0;
    int32_t code = check(schedule, times, noise, err);
    if (code != KERF_OK) return code;
    for (int32_t d = 0; d < p; d++) ops += (size_t)schedule->num_ops[d];
    study.nodes = arena_take(arena, ops + 1, sizeof *study.nodes);
    study.place_of = arena_take(arena, order_outputs(schedule), sizeof *study.place_of);
    study.factors = arena_take(arena, QUANTILES, sizeof *study.factors);
    study.end = arena_take(arena, ops + 1, sizeof *study.end);
    study.first = arena_take(arena, (size_t)p, sizeof *study.first);
    study.last = arena_take(arena, (size_t)p, sizeof *study.last);
    study.steps = arena_take(arena, (size_t)samples, sizeof *study.steps);
    int32_t *at = arena_take(arena, 2 * (size_t)p, sizeof *at);
    double *sorted = noise->factors ? arena_take(arena, (size_t)noise->num_factors, sizeof *sorted) : NULL;
    if (study.nodes && study.place_of && study.factors && study.end && study.first && study.last && study.steps && at &&
        (sorted || !noise->factors)) {
        memset(study.place_of, -1, order_outputs(schedule) * sizeof *study.place_of);
        if (sorted) memcpy(sorted, noise->factors, (size_t)noise->num_factors * sizeof *sorted);
        line_up(&study, at, at + p);
        make_factors(&study, sorted);
        if (study.count < (int64_t)ops) code = kerf_error_set(err, KERF_EINVALID, "operations wait for each other");
        for (int32_t done = 0; code == KERF_OK && done < samples; done += LANES) {
            run_lanes(&study, &state);
            for (int lane = 0; lane < LANES && done + lane < samples; lane++)
                study.steps[done + lane] = step_of(&study, lane);
        }
        if (code == KERF_OK) sum_up(study.steps, samples, ret_steps);
    } else {
        code = error_no_memory(err, "the simulations");
    }
    arena_free(arena);
    return code;
}
