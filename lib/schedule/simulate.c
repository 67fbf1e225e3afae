/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator: every operation starts as soon as its device is free and its inputs are there.
 *
 *   F(s, j)  needs F(s-1, j)                      B, I(s, j)  needs F(s, j) and B or I(s+1, j)
 *   W(s, j)  needs I(s, j)                        FB          needs what its parts need
 *
 * A message between two devices takes the latency; nothing travels within one, where an input is there as soon as it is
 * made. A blocking send keeps the device until the message has arrived; on a shared link a message leaves when the one
 * before it from the same device has arrived. With slices F(s, j, k) also needs F(s, j, k-1), whose keys and values it
 * attends to, and B(s, j, k) needs B(s, j, k+1), which adds to their gradients.
 *
 * Devices take turns: one runs until its next operation lacks an input, and is taken up again when that input is made.
 * Each operation is looked at once when it runs and at most once for each input that it waits for, so that the work is
 * linear in the operations.
 */
#include <math.h>
#include <stdlib.h>
#include "schedule/memory.h"
#include "schedule/order.h"
#include "schedule/owned.h"

struct kerf_timeline *kerf_timeline_free(struct kerf_timeline *timeline) {
    if (timeline == NULL) return NULL;
    struct owned_timeline *owned = (struct owned_timeline *)(void *)timeline;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

struct device_state {
    double free_s; /* when the device is done with what it has */
    double link_s; /* when its link is, where messages share it */
    struct order_stand stand;
};

struct simulation {
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    double *sent; /* [2 * stages * units] by order_output: when an output leaves its device; below 0: not yet */
    double **start, **end;        /* [devices][num_ops] */
    struct device_state *devices; /* [devices] */
    int32_t *turns;               /* devices to take up; a stack */
    int32_t num_turns;
    int64_t messages;
};

static double latency(const struct simulation *sim, int32_t from, int32_t to) {
    return sim->times->p2p_of_s ? sim->times->p2p_of_s[from * sim->schedule->devices + to] : sim->times->p2p_s;
}

/* Whether an output of the same stage, and so of the same device, is there; else waits_for names it. */
static inline int is_made(const struct simulation *sim, struct device_state *state, int64_t output) {
    if (sim->sent[output] >= 0) return 1;
    state->stand.waits_for = output;
    return 0;
}

/* When an output of another stage arrives; below 0 when it is not made, which waits_for then names. */
static inline double arrival(const struct simulation *sim, struct device_state *state, int32_t device, int32_t stage,
                             int32_t microbatch, int64_t output) {
    double sent = sim->sent[output];
    if (sent < 0) {
        state->stand.waits_for = output;
        return sent;
    }
    int32_t from = order_device(sim->schedule, stage, microbatch);
    return from == device ? 0 : sent + latency(sim, from, device);
}

/* When the inputs of a part from other devices are there; below 0 when one is missing. */
static inline double inputs_ready(const struct simulation *sim, struct device_state *state, int32_t device, int kind,
                                  int32_t stage, int32_t microbatch, int32_t slice) {
    const struct kerf_schedule *schedule = sim->schedule;
    int64_t row = 2 * order_units(schedule), here = order_output(schedule, 0, stage, microbatch, slice);
    if (kind == KERF_OP_F) {
        if (slice > 0 && !is_made(sim, state, here - 2)) return -1;
        return stage == 0 ? 0 : arrival(sim, state, device, stage - 1, microbatch, here - row);
    }
    if (kind == KERF_OP_W) return is_made(sim, state, here + 1) ? 0 : -1;
    if (!is_made(sim, state, here)) return -1;
    if (slice + 1 < schedule->slices && !is_made(sim, state, here + 3)) return -1;
    if (stage + 1 == schedule->stages) return 0;
    return arrival(sim, state, device, stage + 1, microbatch, here + 1 + row);
}

/* Hands an output over; the time that the sender is kept by a blocking message. */
static inline double deliver(struct simulation *sim, struct device_state *state, int32_t device, int backward,
                             int32_t stage, int32_t microbatch, int32_t slice, double end) {
    const struct kerf_schedule *schedule = sim->schedule;
    int64_t output = order_output(schedule, backward, stage, microbatch, slice);
    int32_t to_stage = backward ? stage - 1 : stage + 1;
    sim->sent[output] = end;
    if (to_stage < 0 || to_stage >= schedule->stages) return 0;
    int32_t to = order_device(schedule, to_stage, microbatch);
    if (to == device) return 0;
    sim->messages++;
    double kept = 0;
    if (sim->times->shared_link) {
        double leaves = end > state->link_s ? end : state->link_s;
        sim->sent[output] = leaves;
        state->link_s = leaves + latency(sim, device, to);
    }
    if (sim->times->blocking) kept = sim->sent[output] + latency(sim, device, to) - end;
    if (sim->devices[to].stand.waits_for == output) {
        sim->devices[to].stand.waits_for = -1;
        sim->turns[sim->num_turns++] = to;
    }
    return kept;
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

/* Runs a device until an input is missing or nothing is left. */
static void run_device(struct simulation *sim, int32_t device) {
    const struct kerf_schedule *schedule = sim->schedule;
    const struct kerf_op *ops = schedule->ops[device];
    const double slices = schedule->slices, overhead_s = sim->times->overhead_s;
    struct device_state *state = &sim->devices[device];
    double *starts = sim->start[device], *ends = sim->end[device], free_s = state->free_s;
    int32_t at = state->stand.next, count = schedule->num_ops[device];
    for (; at < count; at++) {
        const struct kerf_op *op = &ops[at];
        int kind = op->kind == KERF_OP_FB ? KERF_OP_F : op->kind;
        double ready = inputs_ready(sim, state, device, kind, op->stage, op->microbatch, op->slice);
        if (ready < 0) break;
        if (op->kind == KERF_OP_FB) {
            double other = inputs_ready(sim, state, device, KERF_OP_B, op->with_stage, op->with_microbatch, 0);
            if (other < 0) break;
            if (other > ready) ready = other;
        }
        double took = duration(sim->times, op), start = ready > free_s ? ready : free_s, kept = 0;
        double end = start + (schedule->slices == 1 ? took : took / slices) + overhead_s;
        starts[at] = start;
        ends[at] = end;
        if (kind == KERF_OP_F) kept += deliver(sim, state, device, 0, op->stage, op->microbatch, op->slice, end);
        if (op->kind == KERF_OP_FB)
            kept += deliver(sim, state, device, 1, op->with_stage, op->with_microbatch, 0, end);
        else if (kind == KERF_OP_B || kind == KERF_OP_I)
            kept += deliver(sim, state, device, 1, op->stage, op->microbatch, op->slice, end);
        free_s = end + kept;
    }
    state->free_s = free_s;
    state->stand.next = at;
}

/* 0 when operations wait for each other. */
static int run(struct simulation *sim) {
    int32_t p = sim->schedule->devices;
    for (int32_t i = p; i-- > 0;) sim->turns[sim->num_turns++] = i; /* device 0 first */
    while (sim->num_turns > 0) run_device(sim, sim->turns[--sim->num_turns]);
    for (int32_t i = 0; i < p; i++)
        if (sim->devices[i].stand.next < sim->schedule->num_ops[i]) return 0;
    return 1;
}

static void sum_up_times(const struct simulation *sim, struct kerf_timeline *timeline) {
    const struct kerf_schedule *schedule = sim->schedule;
    const struct kerf_schedule_times *times = sim->times;
    double first = INFINITY, last = -INFINITY, busy_sum = 0;
    for (int32_t i = 0; i < schedule->devices; i++) {
        int32_t count = schedule->num_ops[i];
        double busy = 0;
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
    timeline->step_s = (times->unsynchronised ? timeline->span_s : timeline->makespan_s) + times->optimizer_s;
    timeline->messages = sim->messages;
}

static void sum_up_memory(const struct simulation *sim, struct kerf_timeline *timeline, double *activations,
                          double *bytes) {
    const struct kerf_schedule_times *times = sim->times;
    timeline->peak_activations = activations;
    timeline->peak_bytes = bytes;
    timeline->over_cap = -1;
    for (int32_t i = sim->schedule->devices; i-- > 0;) {
        activations[i] = memory_peak(sim->schedule, times, i, 0);
        if (bytes) bytes[i] = memory_peak(sim->schedule, times, i, 1);
        double held = times->cap_in_bytes && bytes ? bytes[i] : activations[i];
        if (times->cap && held > times->cap[i] * (1 + 1e-12)) timeline->over_cap = i;
    }
}

static double *new_times(struct arena *scratch, size_t count, double value) {
    double *times = arena_take(scratch, count, sizeof *times);
    for (size_t i = 0; times && i < count; i++) times[i] = value;
    return times;
}

int32_t kerf_schedule_simulate(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                               struct kerf_timeline **ret_timeline, struct kerf_error *err) {
    size_t p = (size_t)schedule->devices;
    struct owned_timeline *owned = calloc(1, sizeof *owned);
    struct arena scratch = {NULL}, *kept = &owned->arena;
    struct simulation sim = {.schedule = schedule, .times = times};
    double *activations = owned ? arena_alloc(kept, p, sizeof *activations) : NULL, *bytes = NULL;
    sim.sent = new_times(&scratch, 2 * (size_t)schedule->stages * (size_t)order_units(schedule), -1);
    sim.devices = arena_alloc(&scratch, p, sizeof *sim.devices);
    sim.turns = arena_alloc(&scratch, 2 * p, sizeof *sim.turns); /* a device stands in it at most twice */
    int good = activations && sim.sent && sim.devices && sim.turns;
    if (good) {
        sim.start = arena_alloc(kept, p, sizeof *sim.start);
        sim.end = arena_alloc(kept, p, sizeof *sim.end);
        if (times->activation_bytes) bytes = arena_alloc(kept, p, sizeof *bytes);
        good = sim.start && sim.end && (bytes || times->activation_bytes == NULL);
    }
    for (size_t i = 0; i < p && good; i++) {
        size_t count = (size_t)schedule->num_ops[i];
        sim.start[i] = arena_take(kept, count, sizeof(double));
        sim.end[i] = arena_take(kept, count, sizeof(double));
        sim.devices[i].stand.waits_for = -1;
        good = sim.start[i] && sim.end[i];
    }
    int32_t code = KERF_OK;
    if (!good) {
        code = kerf_error_set(err, KERF_ENOMEM, "not enough memory for the timeline");
    } else if (!run(&sim)) {
        struct order_stand *stands = arena_alloc(&scratch, p, sizeof *stands);
        for (size_t i = 0; stands && i < p; i++) stands[i] = sim.devices[i].stand;
        code = stands ? order_explain_cycle(schedule, stands, err)
                      : kerf_error_set(err, KERF_ENOMEM, "not enough memory to explain the deadlock");
    } else {
        sum_up_times(&sim, &owned->timeline);
        sum_up_memory(&sim, &owned->timeline, activations, bytes);
    }
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
