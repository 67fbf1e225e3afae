/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An order is evaluated by the simulator's rules (simulate.c) for split operations alone, without an allocation: linear
 * in the operations.
 */
#include "schedule/best/best_problem.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- The problem ------------------------------------------------------------------------------------------ */

static int take_arrays(struct best_problem *problem, const struct kerf_schedule *frame) {
    size_t devices = (size_t)frame->devices, streams = (size_t)(frame->replicas * frame->stages);
    size_t lanes = LANE_KINDS * streams;
    struct arena *arena = &problem->arena;
    problem->stage = arena_alloc(arena, streams, sizeof *problem->stage);
    problem->replica = arena_alloc(arena, streams, sizeof *problem->replica);
    problem->first = arena_alloc(arena, streams, sizeof *problem->first);
    problem->units = arena_alloc(arena, streams, sizeof *problem->units);
    problem->device = arena_alloc(arena, streams, sizeof *problem->device);
    problem->on = arena_alloc(arena, streams, sizeof *problem->on);
    problem->on_begin = arena_alloc(arena, devices + 1, sizeof *problem->on_begin);
    problem->amount = arena_alloc(arena, streams, sizeof *problem->amount);
    problem->cap = arena_alloc(arena, devices, sizeof *problem->cap);
    problem->begin = arena_alloc(arena, devices + 1, sizeof *problem->begin);
    problem->time = arena_alloc(arena, lanes, sizeof *problem->time);
    problem->hold = arena_alloc(arena, lanes, sizeof *problem->hold);
    problem->come = arena_alloc(arena, lanes, sizeof *problem->come);
    problem->from = arena_alloc(arena, lanes, sizeof *problem->from);
    problem->to = arena_alloc(arena, lanes, sizeof *problem->to);
    problem->output = arena_alloc(arena, lanes, sizeof *problem->output);
    return problem->stage && problem->replica && problem->first && problem->units && problem->device && problem->on &&
           problem->on_begin && problem->amount && problem->cap && problem->begin && problem->time && problem->hold &&
           problem->come && problem->from && problem->to && problem->output;
}

/* Which streams there are and where. */
static void lay_out(struct best_problem *problem, const struct kerf_schedule *frame) {
    int32_t at = 0, half = frame->replicas == 2 ? frame->microbatches / 2 : frame->microbatches;
    for (int32_t s = 0; s < problem->streams; s++) {
        int32_t second = s >= frame->stages;
        problem->stage[s] = s - second * frame->stages;
        problem->replica[s] = second;
        problem->device[s] = frame->device_of[s];
        problem->first[s] = second ? half : 0;
        problem->units[s] = second ? frame->microbatches - half : half;
    }
    for (int32_t d = 0; d < problem->devices; d++) {
        problem->on_begin[d] = at;
        problem->begin[d] = problem->ops;
        for (int32_t s = 0; s < problem->streams; s++) {
            if (problem->device[s] != d) continue;
            problem->on[at++] = s;
            for (int32_t kind = 0; kind < LANE_KINDS; kind++) {
                problem->output[lane_of(s, kind)] = problem->ops;
                problem->ops += problem->units[s];
            }
        }
    }
    problem->on_begin[problem->devices] = at;
    problem->begin[problem->devices] = problem->ops;
    assert(at == problem->streams);
}

static void set_memory(struct best_problem *problem, const struct kerf_schedule *frame,
                       const struct kerf_schedule_times *times) {
    for (int32_t s = 0; s < problem->streams; s++)
        problem->amount[s] =
            times->cap_in_bytes && times->activation_bytes ? times->activation_bytes[problem->stage[s]] : 1;
    for (int32_t d = 0; d < problem->devices; d++) {
        double chunks = times->cap_in_bytes ? 1 : frame->chunks;
        problem->cap[d] = times->cap ? times->cap[d] * chunks * (1 + 1e-12) : INFINITY;
    }
    problem->free_kind = times->free_at_input ? LANE_I : LANE_W;
}

static void set_times(struct best_problem *problem, const struct kerf_schedule *frame,
                      const struct kerf_schedule_times *times) {
    for (int32_t s = 0; s < problem->streams; s++) {
        int32_t k = problem->stage[s], ends[2] = {k == 0, k + 1 == frame->stages};
        const double whole[LANE_KINDS] = {times->forward_s[k], times->backward_input_s[k], times->backward_weight_s[k]};
        for (int32_t kind = 0; kind < LANE_KINDS; kind++) {
            int32_t lane = lane_of(s, kind);
            problem->time[lane] = whole[kind] + times->overhead_s;
            int32_t before = kind == LANE_F && !ends[0] ? s - 1 : kind == LANE_I && !ends[1] ? s + 1 : -1;
            int32_t after = kind == LANE_F && !ends[1] ? s + 1 : kind == LANE_I && !ends[0] ? s - 1 : -1;
            problem->from[lane] = before < 0 ? -1 : lane_of(before, kind);
            problem->to[lane] = after < 0 ? -1 : lane_of(after, kind);
            for (int way = 0; way < 2; way++) {
                int32_t other = way ? after : before, here = problem->device[s];
                if (other < 0 || problem->device[other] == here) continue;
                int32_t there = problem->device[other], source = way ? here : there, target = way ? there : here;
                double wait = times->p2p_of_s ? times->p2p_of_s[source * frame->devices + target] : times->p2p_s;
                if (way == 0) problem->come[lane] = wait;
                if (way == 1 && times->blocking) problem->hold[lane] = wait;
            }
        }
    }
}

int32_t best_problem_make(struct best_problem *problem, const struct kerf_schedule *frame,
                          const struct kerf_schedule_times *times, enum kerf_objective objective) {
    assert(objective == KERF_OBJECTIVE_MAKESPAN || objective == KERF_OBJECTIVE_SPAN);
    assert(frame->slices == 1);
    *problem = (struct best_problem){.devices = frame->devices,
                                     .streams = frame->replicas * frame->stages,
                                     .replicas = frame->replicas,
                                     .objective = objective,
                                     .shared_link = times->shared_link};
    if (!take_arrays(problem, frame)) return KERF_ENOMEM;
    lay_out(problem, frame);
    set_memory(problem, frame, times);
    set_times(problem, frame, times);
    return KERF_OK;
}

/* ---- Memory ----------------------------------------------------------------------------------------------- */

double best_held(const struct best_problem *problem, const int32_t *order) {
    double most = 0;
    for (int32_t d = 0; d < problem->devices; d++) {
        double held = 0;
        for (int64_t k = problem->begin[d]; k < problem->begin[d + 1]; k++) {
            const int32_t kind = lane_kind(order[k]);
            if (kind == LANE_F) held += problem->amount[lane_stream(order[k])];
            if (held > problem->cap[d]) return INFINITY;
            if (kind == LANE_F && held > most) most = held;
            if (kind == problem->free_kind) held -= problem->amount[lane_stream(order[k])];
        }
    }
    return most;
}

/* ---- What an order takes ---------------------------------------------------------------------------------- */

int32_t best_run_make(struct best_run *run, const struct best_problem *problem, struct arena *arena) {
    size_t devices = (size_t)problem->devices, ops = (size_t)problem->ops;
    run->end = arena_alloc(arena, ops, sizeof *run->end);
    run->sent = problem->shared_link ? arena_alloc(arena, ops, sizeof *run->sent) : run->end;
    run->free_s = arena_alloc(arena, devices, sizeof *run->free_s);
    run->link_s = arena_alloc(arena, devices, sizeof *run->link_s);
    run->first_s = arena_alloc(arena, devices, sizeof *run->first_s);
    run->last_s = arena_alloc(arena, devices, sizeof *run->last_s);
    run->done = arena_alloc(arena, LANE_KINDS * (size_t)problem->streams, sizeof *run->done);
    run->at = arena_alloc(arena, devices, sizeof *run->at);
    run->waits = arena_alloc(arena, devices, sizeof *run->waits);
    run->turns = arena_alloc(arena, 2 * devices, sizeof *run->turns);
    int good = run->end && run->sent && run->free_s && run->link_s && run->first_s && run->last_s && run->done &&
               run->at && run->waits && run->turns;
    return good ? KERF_OK : KERF_ENOMEM;
}

/* Hands an output of the lane over to the next stage. Returns how long its device is kept. */
static inline double hand_over(const struct best_problem *problem, struct best_run *run, int32_t device, int32_t lane,
                               int64_t output, double end, int32_t *num_turns) {
    int32_t to = problem->to[lane], there = to < 0 ? device : problem->device[lane_stream(to)];
    if (there == device) return 0;
    if (problem->shared_link) {
        double leaves = end > run->link_s[device] ? end : run->link_s[device];
        run->sent[output] = leaves;
        run->link_s[device] = leaves + problem->come[to];
    }
    if (run->waits[there] == output) {
        run->waits[there] = -1;
        run->turns[(*num_turns)++] = there;
    }
    return problem->hold[lane];
}

/* Runs a device until an input is missing or nothing is left. */
static void run_device(const struct best_problem *problem, struct best_run *run, const int32_t *order, int32_t device,
                       int32_t *num_turns) {
    double free_s = run->free_s[device];
    int64_t at = run->at[device], last = problem->begin[device + 1];
    for (; at < last; at++) {
        int32_t lane = order[at], kind = lane_kind(lane), unit = run->done[lane], from = problem->from[lane];
        double start = free_s;
        if (kind != LANE_F && run->done[lane - 1] <= unit) break; /* no later turn helps: a deadlock */
        if (from >= 0) {
            if (run->done[from] <= unit) {
                run->waits[device] = problem->output[from] + unit;
                break;
            }
            double there = run->sent[problem->output[from] + unit] + problem->come[lane];
            if (problem->device[lane_stream(from)] != device && there > start) start = there;
        }
        double end = start + problem->time[lane];
        int64_t output = problem->output[lane] + unit;
        run->end[output] = run->sent[output] = end;
        run->done[lane]++;
        if (at == problem->begin[device]) run->first_s[device] = start;
        run->last_s[device] = end;
        free_s = end + hand_over(problem, run, device, lane, output, end, num_turns);
    }
    run->free_s[device] = free_s;
    run->at[device] = at;
}

double best_evaluate(const struct best_problem *problem, struct best_run *run, const int32_t *order) {
    size_t devices = (size_t)problem->devices;
    int32_t num_turns = 0;
    memset(run->done, 0, LANE_KINDS * (size_t)problem->streams * sizeof *run->done);
    for (size_t d = 0; d < devices; d++) {
        run->free_s[d] = run->link_s[d] = 0;
        run->at[d] = problem->begin[d];
        run->waits[d] = -1;
        run->turns[num_turns++] = (int32_t)(devices - 1 - d);
    }
    while (num_turns > 0) {
        int32_t device = run->turns[--num_turns];
        run_device(problem, run, order, device, &num_turns);
    }
    double first = INFINITY, last = 0;
    run->span = 0;
    for (size_t d = 0; d < devices; d++) {
        if (run->at[d] < problem->begin[d + 1]) return run->makespan = run->span = INFINITY;
        if (problem->begin[d] == problem->begin[d + 1]) continue;
        run->span = fmax(run->span, run->last_s[d] - run->first_s[d]);
        first = fmin(first, run->first_s[d]);
        last = fmax(last, run->last_s[d]);
    }
    run->makespan = last > first ? last - first : 0;
    return problem->objective == KERF_OBJECTIVE_SPAN ? run->span : run->makespan;
}
