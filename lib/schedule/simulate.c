/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator: every operation starts as soon as its device is free and its inputs are there.
 *
 *   F(s, j)  needs F(s-1, j)                      B, I(s, j)  needs F(s, j) and B or I(s+1, j)
 *   W(s, j)  needs I(s, j)                        FB          needs what its parts need
 *   R(s, j)  needs F(s, j)                        B, I(s, j)  need the end of L(s, j), where there is one
 *
 * O and L are copies beside the device's operations. One starts when the operations before it in the order have ended
 * and its link is free, and the device goes on at once.
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
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "base/error_fill.h"
#include "schedule/build.h"
#include "schedule/memory.h"
#include "schedule/move_shares.h"
#include "schedule/order.h"
#include "schedule/slices.h"

enum { CACHE_LINE = 8 }; /* doubles */

struct device_state {
    double free_s; /* when the device is done with what it has */
    double link_s; /* when its link is, where messages share it */
    double host_s; /* when its link to the host is */
    double busy_s; /* its operations so far */
    int64_t messages;
    struct order_stand stand;
};

struct simulation {
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    const double *durations[KERF_OP_KINDS];    /* [stages] of each kind */
    const struct kerf_schedule_slices *slices; /* NULL: equal ones */
    const double *shares[KERF_OP_KINDS];       /* [slices] of each kind, of durations; FB has none */
    double *loaded;  /* [stages * units] by order_output / 2: when L has ended; NULL: moves are none */
    double *arrives; /* [2 * stages * units] by order_output: when an output is at the next stage's device, or the stage
                        before's; below 0: not made yet */
    double **start, **end;        /* [devices][num_ops] */
    struct device_state *devices; /* [devices] */
    int32_t *turns;               /* devices to take up; a stack */
    int32_t num_turns;
    int64_t row; /* order_row */
};

/* Most schedules have one replica, whole micro-batches, and one latency for messages that nobody waits for: the same
 * code is compiled for them alone, where `simple` is 1, and for all others. */
#define SPECIALISED static inline __attribute__((always_inline))

static int is_simple(const struct simulation *sim) {
    const struct kerf_schedule_times *times = sim->times;
    return sim->schedule->replicas == 1 && sim->schedule->slices == 1 && !sim->schedule->moves && !times->p2p_of_s &&
           !sim->slices && !times->shared_link && !times->host_link_shared && !times->blocking;
}

SPECIALISED int32_t home(const struct simulation *sim, int simple, int32_t stage, int32_t microbatch) {
    return simple ? sim->schedule->device_of[stage] : order_device(sim->schedule, stage, microbatch);
}

SPECIALISED int64_t output_of(const struct simulation *sim, int simple, int backward, int32_t stage, int32_t microbatch,
                              int32_t slice) {
    if (simple) return (stage * sim->row + microbatch) * 2 + backward;
    return order_output(sim->schedule, backward, stage, microbatch, slice);
}

/* When an output is there; below 0 when it is not made, which the device then waits for. One of the same stage, and so
 * of the same device, is asked for its presence alone: the device has done it before. */
SPECIALISED double when(const struct simulation *sim, struct device_state *state, int64_t output) {
    double arrives = sim->arrives[output];
    if (arrives < 0) state->stand.waits_for = output;
    return arrives;
}

/* When the inputs of a part are there; below 0 when one is missing. */
SPECIALISED double inputs_ready(const struct simulation *sim, int simple, struct device_state *state, int kind,
                                int32_t stage, int32_t microbatch, int32_t slice) {
    int64_t row = 2 * sim->row, here = output_of(sim, simple, 0, stage, microbatch, slice);
    if (kind == KERF_OP_F) {
        if (!simple && slice > 0 && when(sim, state, here - 2) < 0) return -1;
        return stage == 0 ? 0 : when(sim, state, here - row);
    }
    if (kind == KERF_OP_W) return when(sim, state, here + 1) < 0 ? -1 : 0;
    if (when(sim, state, here) < 0) return -1;
    if (!simple && kind == KERF_OP_R) return 0;
    if (!simple && slice + 1 < sim->schedule->slices && when(sim, state, here + 3) < 0) return -1;
    double ready = stage + 1 == sim->schedule->stages ? 0 : when(sim, state, here + 1 + row);
    if (!simple && sim->loaded && ready >= 0) return fmax(ready, sim->loaded[here / 2]);
    return ready;
}

/* Hands an output over; the time that the sender is kept by a blocking message. */
SPECIALISED double deliver(struct simulation *sim, int simple, struct device_state *state, int32_t device, int backward,
                           int32_t stage, int32_t microbatch, int32_t slice, double end) {
    int64_t output = output_of(sim, simple, backward, stage, microbatch, slice);
    int32_t to_stage = backward ? stage - 1 : stage + 1;
    sim->arrives[output] = end;
    if (to_stage < 0 || to_stage >= sim->schedule->stages) return 0;
    int32_t to = home(sim, simple, to_stage, microbatch);
    if (to == device) return 0;
    double takes = sim->times->p2p_s, leaves = end;
    if (!simple && sim->times->p2p_of_s) takes = sim->times->p2p_of_s[device * sim->schedule->devices + to];
    if (!simple && (sim->times->shared_link || sim->times->host_link_shared)) {
        if (state->link_s > end) leaves = state->link_s;
        state->link_s = leaves + takes;
    }
    sim->arrives[output] = leaves + takes;
    state->messages++;
    if (sim->devices[to].stand.waits_for == output) {
        sim->devices[to].stand.waits_for = -1;
        sim->turns[sim->num_turns++] = to;
    }
    return !simple && sim->times->blocking ? leaves + takes - end : 0;
}

static double fused_duration(const struct kerf_schedule_times *times, const struct kerf_op *op) {
    return times->fused_s ? times->fused_s[op->stage] : times->forward_s[op->stage] + times->backward_s[op->with_stage];
}

/* What slices of unequal times take. A fused pair's backward is of slice 0. */
static double sliced_duration(const struct simulation *sim, const struct kerf_op *op) {
    const struct kerf_schedule_times *times = sim->times;
    if (op->kind != KERF_OP_FB) return sim->durations[op->kind][op->stage] * sim->shares[op->kind][op->slice];
    const double forward = sim->slices->forward[op->slice], backward = sim->slices->backward[0];
    if (times->fused_s) return times->fused_s[op->stage] * (forward + backward) / 2;
    return times->forward_s[op->stage] * forward + times->backward_s[op->with_stage] * backward;
}

/* An O or L, which no other device waits for. 0 when its F is not there. */
static int copy(const struct simulation *sim, struct device_state *state, int32_t device, int32_t at,
                const struct kerf_op *op, double free_s) {
    const struct kerf_schedule_times *times = sim->times;
    const double *all_s = op->kind == KERF_OP_L && times->load_s ? times->load_s : times->offload_s;
    const double took = all_s[op->stage] / sim->schedule->slices * slices_tokens(sim->slices, op->slice);
    const int64_t unit = order_output(sim->schedule, 0, op->stage, op->microbatch, op->slice);
    double *link_s = times->host_link_shared ? &state->link_s : &state->host_s;
    if (when(sim, state, unit) < 0) return 0;
    sim->start[device][at] = fmax(free_s, *link_s);
    sim->end[device][at] = *link_s = sim->start[device][at] + took;
    if (op->kind == KERF_OP_L) sim->loaded[unit / 2] = *link_s;
    return 1;
}

/* Runs a device until an input is missing or nothing is left. */
SPECIALISED void run_device(struct simulation *sim, int simple, int32_t device) {
    const struct kerf_op *ops = sim->schedule->ops[device];
    const double slices = sim->schedule->slices, overhead_s = sim->times->overhead_s;
    struct device_state *state = &sim->devices[device];
    double *starts = sim->start[device], *ends = sim->end[device], free_s = state->free_s, busy_s = state->busy_s;
    int32_t at = state->stand.next, count = sim->schedule->num_ops[device];
    for (; at < count; at++) {
        const struct kerf_op op = ops[at];
        assert(!simple || op.kind <= KERF_OP_FB);
        if (!simple && (op.kind == KERF_OP_O || op.kind == KERF_OP_L)) {
            if (!copy(sim, state, device, at, &op, free_s)) break;
            continue;
        }
        int fused = op.kind == KERF_OP_FB, kind = fused ? KERF_OP_F : op.kind;
        double ready = inputs_ready(sim, simple, state, kind, op.stage, op.microbatch, op.slice);
        if (ready < 0) break;
        if (fused) {
            double other = inputs_ready(sim, simple, state, KERF_OP_B, op.with_stage, op.with_microbatch, 0);
            if (other < 0) break;
            if (other > ready) ready = other;
        }
        double took = fused ? fused_duration(sim->times, &op) : sim->durations[op.kind][op.stage];
        if (!simple) took = sim->slices ? sliced_duration(sim, &op) : took / slices;
        took += overhead_s;
        double start = ready > free_s ? ready : free_s, end = start + took;
        starts[at] = start;
        ends[at] = end;
        busy_s += took;
        free_s = end;
        double kept = 0; /* by the later one of two messages that leave together */
        if (kind == KERF_OP_F) kept = deliver(sim, simple, state, device, 0, op.stage, op.microbatch, op.slice, end);
        if (fused)
            kept = fmax(kept, deliver(sim, simple, state, device, 1, op.with_stage, op.with_microbatch, 0, end));
        else if (kind == KERF_OP_B || kind == KERF_OP_I)
            kept = deliver(sim, simple, state, device, 1, op.stage, op.microbatch, op.slice, end);
        free_s += kept;
    }
    state->free_s = free_s;
    state->busy_s = busy_s;
    state->stand.next = at;
}

/* 0 when operations wait for each other. */
static int run(struct simulation *sim) {
    int32_t p = sim->schedule->devices;
    for (int32_t i = p; i-- > 0;) sim->turns[sim->num_turns++] = i; /* device 0 first */
    if (is_simple(sim))
        while (sim->num_turns > 0) run_device(sim, 1, sim->turns[--sim->num_turns]);
    else
        while (sim->num_turns > 0) run_device(sim, 0, sim->turns[--sim->num_turns]);
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
        if (count == 0) continue;
        double begin = sim->start[i][0], end = sim->end[i][count - 1], busy = sim->devices[i].busy_s;
        assert(begin >= 0 && end >= begin && sim->devices[i].stand.next == count);
        busy_sum += busy;
        timeline->messages += sim->devices[i].messages;
        timeline->busy_max_s = fmax(timeline->busy_max_s, busy);
        timeline->span_s = fmax(timeline->span_s, end - begin);
        first = fmin(first, begin);
        last = fmax(last, end);
    }
    timeline->busy_mean_s = busy_sum / schedule->devices;
    timeline->makespan_s = last > first ? last - first : 0;
    assert(timeline->busy_max_s <= timeline->span_s * (1 + 1e-9));
    assert(timeline->span_s <= timeline->makespan_s * (1 + 1e-9));
    timeline->step_s = (times->unsynchronised ? timeline->span_s : timeline->makespan_s) + times->optimizer_s;
}

/* 0 without enough memory. */
static int sum_up_memory(const struct simulation *sim, struct kerf_timeline *timeline, double *activations,
                         double *bytes) {
    const struct kerf_schedule_times *times = sim->times;
    timeline->peak_activations = activations;
    timeline->peak_bytes = bytes;
    timeline->over_cap = -1;
    for (int32_t i = sim->schedule->devices; i-- > 0;) {
        activations[i] = memory_peak(sim->schedule, times, timeline, i, 0);
        if (bytes) bytes[i] = memory_peak(sim->schedule, times, timeline, i, 1);
        double held = times->cap_in_bytes && bytes ? bytes[i] : activations[i];
        if (isnan(held)) return 0;
        if (times->cap && held > times->cap[i] * (1 + 1e-12)) timeline->over_cap = i;
    }
    return 1;
}

static double *new_times(struct arena *scratch, size_t count, double value) {
    double *times = arena_take(scratch, count, sizeof *times);
    for (size_t i = 0; times && i < count; i++) times[i] = value;
    return times;
}

/* What R takes where nobody says it. */
static const double *recomputation(struct arena *scratch, const struct kerf_schedule *schedule,
                                   const struct kerf_schedule_times *times) {
    double *takes = arena_alloc(scratch, (size_t)schedule->stages, sizeof *takes);
    for (int32_t k = 0; takes && k < schedule->stages; k++) takes[k] = move_shares_recompute_s(times, k);
    return takes;
}

/* An O or L needs a time. */
static int32_t check_copies(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                            struct kerf_error *err) {
    for (int32_t i = 0; schedule->moves && times->offload_s == NULL && i < schedule->devices; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++)
            if (schedule->ops[i][k].kind == KERF_OP_O || schedule->ops[i][k].kind == KERF_OP_L)
                return kerf_error_set(err, KERF_EINVALID,
                                      "the schedule offloads activations: it needs --offload-time, how long those of "
                                      "one micro-batch and stage take to the host");
    return KERF_OK;
}

/* Slices as many as there are. */
static int32_t check_slices(const struct kerf_schedule *schedule, const struct kerf_schedule_slices *slices,
                            struct kerf_error *err) {
    if (slices == NULL || slices->count == schedule->slices) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s cuts micro-batches into %d slices, not %d", schedule->name,
                          schedule->slices, slices->count);
}

int32_t kerf_schedule_simulate_slices(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                                      const struct kerf_schedule_slices *slices, struct kerf_timeline **ret_timeline,
                                      struct kerf_error *err) {
    size_t p = (size_t)schedule->devices;
    if (check_copies(schedule, times, err) != KERF_OK) return KERF_EINVALID;
    if (check_slices(schedule, slices, err) != KERF_OK) return KERF_EINVALID;
    struct owned_timeline *owned = calloc(1, sizeof *owned);
    struct arena scratch = {NULL}, *kept = &owned->arena;
    struct simulation sim = {.schedule = schedule,
                             .times = times,
                             .row = order_row(schedule),
                             .durations = {[KERF_OP_F] = times->forward_s,
                                           [KERF_OP_B] = times->backward_s,
                                           [KERF_OP_I] = times->backward_input_s,
                                           [KERF_OP_W] = times->backward_weight_s,
                                           [KERF_OP_R] = times->recompute_s}};
    double *activations = owned ? arena_alloc(kept, p, sizeof *activations) : NULL, *bytes = NULL;
    sim.arrives = new_times(&scratch, order_outputs(schedule), -1);
    sim.devices = arena_alloc(&scratch, p, sizeof *sim.devices);
    sim.turns = arena_alloc(&scratch, 2 * p, sizeof *sim.turns); /* a device stands in it at most twice */
    int good = activations && sim.arrives && sim.devices && sim.turns;
    if (good && slices) {
        sim.slices = owned->timeline.slices = slices_copy(slices, kept);
        good = sim.slices != NULL;
        for (int kind = 0; good && kind < KERF_OP_KINDS; kind++)
            sim.shares[kind] = slices_shares(sim.slices, (enum kerf_op_kind)kind);
    }
    if (schedule->moves) {
        sim.loaded = arena_alloc(&scratch, order_outputs(schedule) / 2, sizeof *sim.loaded);
        if (times->recompute_s == NULL) sim.durations[KERF_OP_R] = recomputation(&scratch, schedule, times);
        good = good && sim.loaded && sim.durations[KERF_OP_R];
    }
    if (good) {
        sim.start = arena_alloc(kept, p, sizeof *sim.start);
        sim.end = arena_alloc(kept, p, sizeof *sim.end);
        if (times->activation_bytes) bytes = arena_alloc(kept, p, sizeof *bytes);
        good = sim.start && sim.end && (bytes || times->activation_bytes == NULL);
    }
    for (size_t i = 0; i < p && good; i++) {
        size_t count = (size_t)schedule->num_ops[i];
        sim.start[i] = arena_take(kept, count + CACHE_LINE, sizeof(double)); /* see order_row */
        sim.end[i] = arena_take(kept, count + CACHE_LINE, sizeof(double));
        sim.devices[i].stand.waits_for = -1;
        good = sim.start[i] && sim.end[i];
    }
    int32_t code = KERF_OK;
    if (!good) {
        code = error_no_memory(err, "the timeline");
    } else if (!run(&sim)) {
        struct order_stand *stands = arena_alloc(&scratch, p, sizeof *stands);
        for (size_t i = 0; stands && i < p; i++) stands[i] = sim.devices[i].stand;
        code = stands ? order_explain_cycle(schedule, stands, err)
                      : kerf_error_set(err, KERF_ENOMEM, "not enough memory to explain the deadlock");
    } else {
        owned->timeline.start_s = (const double *const *)sim.start;
        owned->timeline.end_s = (const double *const *)sim.end;
        sum_up_times(&sim, &owned->timeline);
        if (!sum_up_memory(&sim, &owned->timeline, activations, bytes)) code = error_no_memory(err, "the timeline");
    }
    arena_free(&scratch);
    if (code != KERF_OK) {
        if (owned) kerf_timeline_free(&owned->timeline);
        return code;
    }
    *ret_timeline = &owned->timeline;
    return KERF_OK;
}

int32_t kerf_schedule_simulate(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                               struct kerf_timeline **ret_timeline, struct kerf_error *err) {
    return kerf_schedule_simulate_slices(schedule, times, NULL, ret_timeline, err);
}
