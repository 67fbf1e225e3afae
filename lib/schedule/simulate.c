/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator: every operation starts as soon as its device is free and its inputs are there.
 *
 *   F(s, j)  needs F(s-1, j)                      B, I(s, j)  needs F(s, j) and B or I(s+1, j)
 *   W(s, j)  needs I(s, j)                        FB          needs what its parts need
 *
 * A message between two devices takes the latency; nothing travels within one. Devices take turns: one runs until its
 * next operation lacks an input, and is taken up again when that input is made. Each operation is looked at once when
 * it runs and at most once for each input that it waits for, so that the work is linear in the operations.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "schedule/order.h"

struct owned_timeline {
    struct kerf_timeline timeline;
    struct arena arena;
};

struct kerf_timeline *kerf_timeline_free(struct kerf_timeline *timeline) {
    if (timeline == NULL) return NULL;
    struct owned_timeline *owned = (struct owned_timeline *)(void *)timeline;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

struct simulation {
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    double *forward_end, *backward_end; /* [stages * microbatches], NAN until made */
    double **start, **end;              /* [devices][num_ops] */
    int32_t *next;                      /* [devices] the operation at hand */
    int64_t *waits_for;                 /* [devices] the output that a device waits for, -1: none (order.h) */
    int32_t *turns;                     /* devices to take up; a stack */
    int32_t num_turns;
    double *peak; /* [devices] in chunks */
};

static double latency(const struct simulation *sim, int32_t from, int32_t to) {
    if (from == to) return 0;
    return sim->times->p2p_of_s ? sim->times->p2p_of_s[from * sim->schedule->devices + to] : sim->times->p2p_s;
}

static int32_t device_of(const struct simulation *sim, int32_t stage, int32_t microbatch) {
    return order_device(sim->schedule, stage, microbatch);
}

/* When the inputs of a part are there; NAN when one is missing, which waits_for then names. */
static double inputs_ready(struct simulation *sim, int32_t device, int kind, int32_t stage, int32_t microbatch) {
    const struct kerf_schedule *schedule = sim->schedule;
    int64_t m = schedule->microbatches, here = stage * m + microbatch;
    double ready = 0;
    if (kind == KERF_OP_F) {
        if (stage == 0) return 0;
        ready = sim->forward_end[here - m];
        if (ready != ready) sim->waits_for[device] = order_output(schedule, 0, stage - 1, microbatch);
        return ready + latency(sim, device_of(sim, stage - 1, microbatch), device);
    }
    if (kind == KERF_OP_W) {
        if (sim->backward_end[here] != sim->backward_end[here])
            sim->waits_for[device] = order_output(schedule, 1, stage, microbatch);
        return sim->backward_end[here];
    }
    ready = sim->forward_end[here];
    if (ready != ready) {
        sim->waits_for[device] = order_output(schedule, 0, stage, microbatch);
        return ready;
    }
    if (stage + 1 == schedule->stages) return ready;
    double gradient = sim->backward_end[here + m];
    if (gradient != gradient) {
        sim->waits_for[device] = order_output(schedule, 1, stage + 1, microbatch);
        return gradient;
    }
    gradient += latency(sim, device_of(sim, stage + 1, microbatch), device);
    return gradient > ready ? gradient : ready;
}

/* Hands an output over; the time that the sender is kept by a blocking message. */
static double deliver(struct simulation *sim, int32_t device, int backward, int32_t stage, int32_t microbatch,
                      double end) {
    const struct kerf_schedule *schedule = sim->schedule;
    int32_t to_stage = backward ? stage - 1 : stage + 1;
    (backward ? sim->backward_end : sim->forward_end)[(int64_t)stage * schedule->microbatches + microbatch] = end;
    if (to_stage < 0 || to_stage >= schedule->stages) return 0;
    int32_t to = device_of(sim, to_stage, microbatch);
    if (to == device) return 0;
    if (sim->waits_for[to] == order_output(schedule, backward, stage, microbatch)) {
        sim->waits_for[to] = -1;
        sim->turns[sim->num_turns++] = to;
    }
    return sim->times->blocking ? latency(sim, device, to) : 0;
}

static double duration(const struct kerf_schedule_times *times, const struct kerf_op *op) {
    switch (op->kind) {
    case KERF_OP_F: return times->forward_s[op->stage];
    case KERF_OP_B: return times->backward_s[op->stage];
    case KERF_OP_I: return times->backward_input_s[op->stage];
    case KERF_OP_W: return times->backward_weight_s[op->stage];
    default:
        return times->fused_s ? times->fused_s[op->stage]
                              : times->forward_s[op->stage] + times->backward_s[op->with_stage];
    }
}

struct device_state {
    double free_s; /* when the device is done with what it has */
    int32_t held, most;
};

/* Runs a device until an input is missing or nothing is left. */
static void run_device(struct simulation *sim, int32_t device, struct device_state *state) {
    const struct kerf_schedule *schedule = sim->schedule;
    const struct kerf_op *ops = schedule->ops[device];
    const int free_at_input = sim->times->free_at_input;
    double *starts = sim->start[device], *ends = sim->end[device];
    int32_t at = sim->next[device], count = schedule->num_ops[device];
    for (; at < count; at++) {
        const struct kerf_op *op = &ops[at];
        int kind = op->kind == KERF_OP_FB ? KERF_OP_F : op->kind;
        double ready = inputs_ready(sim, device, kind, op->stage, op->microbatch);
        if (ready != ready) break;
        if (op->kind == KERF_OP_FB) {
            double other = inputs_ready(sim, device, KERF_OP_B, op->with_stage, op->with_microbatch);
            if (other != other) break;
            if (other > ready) ready = other;
        }
        double start = ready > state->free_s ? ready : state->free_s, end = start + duration(sim->times, op), kept = 0;
        starts[at] = start;
        ends[at] = end;
        if (kind == KERF_OP_F) {
            if (++state->held > state->most) state->most = state->held;
            kept += deliver(sim, device, 0, op->stage, op->microbatch, end);
        }
        if (op->kind == KERF_OP_FB)
            kept += deliver(sim, device, 1, op->with_stage, op->with_microbatch, end);
        else if (kind == KERF_OP_B || kind == KERF_OP_I)
            kept += deliver(sim, device, 1, op->stage, op->microbatch, end);
        if (op->kind == KERF_OP_B || op->kind == KERF_OP_FB || op->kind == (free_at_input ? KERF_OP_I : KERF_OP_W))
            state->held--;
        state->free_s = end + kept;
    }
    sim->next[device] = at;
}

/* 0 when operations wait for each other. */
static int run(struct simulation *sim, struct device_state *states) {
    int32_t p = sim->schedule->devices;
    for (int32_t i = p; i-- > 0;) sim->turns[sim->num_turns++] = i; /* device 0 first */
    while (sim->num_turns > 0) {
        int32_t device = sim->turns[--sim->num_turns];
        run_device(sim, device, &states[device]);
    }
    for (int32_t i = 0; i < p; i++)
        if (sim->next[i] < sim->schedule->num_ops[i]) return 0;
    return 1;
}

static void sum_up(const struct simulation *sim, const struct device_state *states, struct kerf_timeline *timeline,
                   double *peaks) {
    const struct kerf_schedule *schedule = sim->schedule;
    double first = INFINITY, last = -INFINITY, busy_sum = 0;
    for (int32_t i = 0; i < schedule->devices; i++) {
        int32_t count = schedule->num_ops[i];
        double busy = 0;
        peaks[i] = (double)states[i].most / schedule->chunks;
        if (count == 0) continue;
        double begin = sim->start[i][0], end = sim->end[i][count - 1];
        for (int32_t k = 0; k < count; k++) busy += sim->end[i][k] - sim->start[i][k];
        busy_sum += busy;
        timeline->busy_max_s = fmax(timeline->busy_max_s, busy);
        timeline->span_s = fmax(timeline->span_s, end - begin);
        first = fmin(first, begin);
        last = fmax(last, end);
    }
    timeline->busy_mean_s = busy_sum / schedule->devices;
    timeline->makespan_s = last > first ? last - first : 0;
    timeline->peak_activations = peaks;
}

static double *new_times(struct arena *arena, size_t count) {
    double *times = arena_alloc(arena, count, sizeof *times);
    if (times) memset(times, 0xFF, count * sizeof *times); /* all bits set is a NAN */
    return times;
}

int32_t kerf_schedule_simulate(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                               struct kerf_timeline **ret_timeline, struct kerf_error *err) {
    size_t p = (size_t)schedule->devices, outputs = (size_t)schedule->stages * (size_t)schedule->microbatches;
    struct owned_timeline *owned = calloc(1, sizeof *owned);
    struct arena scratch = {NULL};
    struct simulation sim = {.schedule = schedule, .times = times};
    double *peaks = owned ? arena_alloc(&owned->arena, p, sizeof *peaks) : NULL;
    struct device_state *states = arena_alloc(&scratch, p, sizeof *states);
    sim.forward_end = new_times(&scratch, outputs);
    sim.backward_end = new_times(&scratch, outputs);
    sim.next = arena_alloc(&scratch, p, sizeof *sim.next);
    sim.waits_for = arena_alloc(&scratch, p, sizeof *sim.waits_for);
    sim.turns = arena_alloc(&scratch, 2 * p, sizeof *sim.turns); /* a device stands in it at most twice */
    int good = peaks && states && sim.forward_end && sim.backward_end && sim.next && sim.waits_for && sim.turns;
    if (good) {
        sim.start = arena_alloc(&owned->arena, p, sizeof *sim.start);
        sim.end = arena_alloc(&owned->arena, p, sizeof *sim.end);
        good = sim.start && sim.end;
    }
    for (size_t i = 0; i < p && good; i++) {
        size_t count = (size_t)schedule->num_ops[i];
        sim.start[i] = arena_alloc(&owned->arena, count, sizeof(double));
        sim.end[i] = arena_alloc(&owned->arena, count, sizeof(double));
        sim.waits_for[i] = -1;
        good = sim.start[i] && sim.end[i];
    }
    int32_t code = KERF_OK;
    if (!good)
        code = kerf_error_set(err, KERF_ENOMEM, "not enough memory for the timeline");
    else if (!run(&sim, states))
        code = order_explain_cycle(schedule, sim.next, sim.waits_for, err);
    else
        sum_up(&sim, states, &owned->timeline, peaks);
    arena_free(&scratch);
    if (code != KERF_OK) {
        if (owned) kerf_timeline_free(&owned->timeline);
        return code;
    }
    owned->timeline.start_s = (const double *const *)sim.start;
    owned->timeline.end_s = (const double *const *)sim.end;
    *ret_timeline = &owned->timeline;
    return KERF_OK;
}
