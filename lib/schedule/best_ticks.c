/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times in whole ticks, rounded down, so that a goal that is refuted in ticks is refuted. Where all times are multiples
 * of one number, as when they are whole, that is the tick and nothing is lost but rounding; else a tick is 2^-44 of the
 * time of the order known, so that refuting "1e-9 less" is a proof.
 *
 * And of an order in ticks: when each operation starts, and how long before the goal it has to. Both linear.
 */
#include "schedule/best_model.h"

#include <math.h>
#include <string.h>

/* ---- Ticks ------------------------------------------------------------------------------------------------ */

/* The largest number that all times are multiples of but for rounding, or 0. */
static double common_divisor(const struct best_problem *problem, double scale) {
    double divisor = 0;
    for (int32_t l = 0; l < LANE_KINDS * problem->streams; l++) {
        const double times[] = {problem->time[l], problem->hold[l], problem->come[l]};
        for (int k = 0; k < 3; k++) {
            double a = times[k], b = divisor;
            if (a <= 0) continue;
            while (b > 1e-7 * scale) { /* Euclid's algorithm, where rounding errors count as nothing */
                double rest = fmod(a, b);
                if (rest < 1e-7 * scale || b - rest < 1e-7 * scale) rest = 0;
                a = b, b = rest;
            }
            divisor = a;
        }
    }
    return divisor;
}

static int64_t whole_ticks(const struct ticks *ticks, double time) {
    const double most = 0x1p46; /* so that no sum overflows; more than any goal */
    double whole = floor(time / ticks->tick_s * (1 + 1e-13) + (ticks->exact ? 0.5 : 0));
    return (int64_t)(whole < most ? whole : most);
}

/* Rounds all times. 0: some are not the ticks that they were taken for. */
static int round_times(struct ticks *ticks, const struct best_problem *problem, double value) {
    double least = INFINITY;
    for (int32_t l = 0; l < LANE_KINDS * problem->streams; l++) {
        const double times[] = {problem->time[l], problem->hold[l], problem->come[l]};
        int64_t *whole[] = {&ticks->time[l], &ticks->hold[l], &ticks->come[l]};
        for (int k = 0; k < 3; k++) {
            *whole[k] = whole_ticks(ticks, times[k]);
            if (*whole[k] > 0) least = fmin(least, times[k] / (double)*whole[k]);
            if (ticks->exact && fabs(times[k] - (double)*whole[k] * ticks->tick_s) > 1e-12 * value) return 0;
        }
    }
    if (isfinite(least)) ticks->tick_s = least; /* the most with which no time is shorter than its ticks */
    return 1;
}

/* When each device begins. With one replica that is the same in every order: the first F of its first stage comes as
 * soon as it can. With two it may be later, so that orders of the goal are orders of that span, but not all of them. */
static int make_begins(struct model *model) {
    const struct best_problem *problem = model->problem;
    model->begin = arena_alloc(&model->arena, (size_t)problem->devices, sizeof *model->begin);
    if (model->begin == NULL) return 0;
    if (model->objective != KERF_OBJECTIVE_SPAN) return 1;
    for (int32_t d = 0; d < problem->devices; d++) {
        double least = INFINITY;
        for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++) {
            if (problem->units[problem->on[k]] == 0) continue;
            int64_t begin = 0;
            double begin_s = 0;
            for (int32_t lane = lane_of(problem->on[k], LANE_F); problem->from[lane] >= 0; lane = problem->from[lane]) {
                begin += model->ticks.time[problem->from[lane]] + model->ticks.come[lane];
                begin_s += problem->time[problem->from[lane]] + problem->come[lane];
            }
            if (begin_s < least) {
                least = begin_s;
                model->begin[d] = begin;
            }
        }
        if (isfinite(least)) model->loss_s = fmax(model->loss_s, least - (double)model->begin[d] * model->ticks.tick_s);
    }
    return 1;
}

int32_t model_make_ticks(struct model *model, double value) {
    const struct best_problem *problem = model->problem;
    struct ticks *ticks = &model->ticks;
    size_t lanes = LANE_KINDS * (size_t)problem->streams;
    double scale = 0;
    ticks->time = arena_alloc(&model->arena, lanes, sizeof *ticks->time);
    ticks->hold = arena_alloc(&model->arena, lanes, sizeof *ticks->hold);
    ticks->come = arena_alloc(&model->arena, lanes, sizeof *ticks->come);
    if (!ticks->time || !ticks->hold || !ticks->come) return 0;
    for (size_t l = 0; l < lanes; l++) scale = fmax(scale, fmax(problem->time[l], problem->come[l]));
    ticks->tick_s = common_divisor(problem, scale);
    ticks->exact = ticks->tick_s > 0 && value / ticks->tick_s < 1e6;
    if (ticks->exact && !round_times(ticks, problem, value)) ticks->exact = 0;
    if (!ticks->exact) {
        ticks->tick_s = ldexp(value, -44);
        if (!(ticks->tick_s > 0)) return 0;
        round_times(ticks, problem, value);
    }
    return ticks->tick_s > 0 && isfinite(ticks->tick_s) && make_begins(model);
}

/* ---- An order in ticks ------------------------------------------------------------------------------------ */

/* Runs a device until an input is missing; returns how many it ran, and lists them. */
static int64_t run_device(struct model *model, const int32_t *order, int32_t device, int64_t count) {
    const struct best_problem *problem = model->problem;
    const struct ticks *ticks = &model->ticks;
    int64_t ran = 0;
    for (; model->at[device] < problem->begin[device + 1]; model->at[device]++, ran++) {
        int32_t lane = order[model->at[device]], unit = model->done[lane], from = problem->from[lane];
        int64_t start = model->free[device];
        if (from >= 0) {
            if (model->done[from] <= unit) break;
            int64_t there = model->start[problem->output[from] + unit] + ticks->time[from] + ticks->come[lane];
            if (there > start) start = there;
        }
        if (lane_kind(lane) != LANE_F && model->done[lane - 1] <= unit) break;
        model->start[problem->output[lane] + unit] = start;
        model->sequence[count + ran] = model->at[device];
        model->unit[model->at[device]] = unit;
        model->done[lane]++;
        model->free[device] = start + ticks->time[lane] + ticks->hold[lane];
    }
    return ran;
}

/* How long before the goal an operation has to start, given those that run after it. */
static int64_t tail_of(const struct model *model, const int32_t *order, int64_t at, int32_t device) {
    const struct best_problem *problem = model->problem;
    const struct ticks *ticks = &model->ticks;
    int32_t lane = order[at], unit = model->unit[at], to = problem->to[lane];
    int64_t tail = ticks->time[lane] - model->begin[device];
    if (at + 1 < problem->begin[device + 1]) {
        int64_t next = problem->output[order[at + 1]] + model->unit[at + 1];
        int64_t other = ticks->time[lane] + ticks->hold[lane] + model->tail[next];
        if (other > tail) tail = other;
    }
    if (to >= 0) {
        int64_t other = ticks->time[lane] + ticks->come[to] + model->tail[problem->output[to] + unit];
        if (other > tail) tail = other;
    }
    return tail;
}

int32_t model_time(struct model *model, const int32_t *order) {
    const struct best_problem *problem = model->problem;
    int64_t count = 0, before;
    memset(model->done, 0, LANE_KINDS * (size_t)problem->streams * sizeof *model->done);
    for (int32_t d = 0; d < problem->devices; d++) {
        model->at[d] = problem->begin[d];
        model->free[d] = 0;
    }
    do { /* forwards come down in one round, backwards go up in one */
        before = count;
        for (int32_t d = 0; d < problem->devices; d++) count += run_device(model, order, d, count);
        for (int32_t d = problem->devices; d-- > 0;) count += run_device(model, order, d, count);
    } while (count > before);
    if (count < problem->ops) return 0;
    for (int64_t k = count; k-- > 0;) {
        int64_t at = model->sequence[k];
        int32_t lane = order[at];
        model->tail[problem->output[lane] + model->unit[at]] =
            tail_of(model, order, at, problem->device[lane_stream(lane)]);
    }
    return 1;
}
