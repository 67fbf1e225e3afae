/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List scheduling in slots, for rules that say what comes first and leave the order to that: F takes a slot, B two, or I
 * and W one each. An output is there in the next slot. A device never takes in so much that a later chunk of what it
 * holds would find no place.
 *
 * The cost is that of slots * devices * stages of a device.
 */
#include "schedule/rules/slot_list.h"

#include "base/arena.h"
#include "base/error_fill.h"

enum { KINDS = 3 };

struct state {
    struct builder *builder;
    const struct slot_list *list;
    int32_t stages, replicas;
    int32_t *device_of;     /* [replicas][stages] */
    int32_t *done;          /* [replicas][stages][KINDS] */
    int32_t *on, *on_begin; /* streams, replica * stages + stage, by device */
    int32_t *free, *held;   /* [devices] the next slot; activations */
    int32_t *ends;          /* [replicas][stages][2][units] the slot behind an operation */
    int64_t units_max;
};

static int32_t first_of(const struct state *state, int32_t replica) {
    return (int32_t)((int64_t)replica * state->builder->m / state->replicas);
}

static int32_t *done_of(const struct state *state, int32_t stream, int32_t kind) {
    return &state->done[stream * KINDS + kind];
}

static int32_t *end_of(const struct state *state, int32_t stream, int32_t back, int32_t unit) {
    return &state->ends[((int64_t)stream * 2 + back) * state->units_max + unit];
}

/* Stages of the replica behind this one on the same device. */
static int32_t later(const struct state *state, int32_t stream) {
    const int32_t device = state->device_of[stream], replica = stream / state->stages;
    int32_t count = 0;
    for (int32_t k = state->on_begin[device]; k < state->on_begin[device + 1]; k++)
        count += state->on[k] / state->stages == replica && state->on[k] > stream;
    return count;
}

static int may_take_in(const struct state *state, int32_t stream) {
    const struct slot_list *list = state->list;
    const int32_t replica = stream / state->stages;
    if (list->cap && state->held[state->device_of[stream]] + 1 + later(state, stream) > list->cap) return 0;
    if (list->in_flight == 0 || stream % state->stages > 0) return 1;
    const int32_t first = replica * state->stages;
    return *done_of(state, first, 0) - *done_of(state, first, 1) < list->in_flight;
}

/* Whether the next operation of a kind can run in a slot. */
static int is_ready(const struct state *state, int32_t stream, int32_t kind, int32_t slot) {
    const int32_t replica = stream / state->stages, stage = stream % state->stages;
    const int32_t unit = *done_of(state, stream, kind);
    if (unit >= first_of(state, replica + 1) - first_of(state, replica)) return 0;
    if (kind == 2) return state->list->split && unit < *done_of(state, stream, 1);
    const int32_t input = kind == 0 ? (stage > 0 ? stream - 1 : -1) : stage + 1 < state->stages ? stream + 1 : -1;
    if (kind == 1 && unit >= *done_of(state, stream, 0)) return 0;
    if (input >= 0 && (unit >= *done_of(state, input, kind) || *end_of(state, input, kind, unit) > slot)) return 0;
    return kind == 1 || may_take_in(state, stream);
}

static void run_one(struct state *state, int32_t device, int32_t stream, int32_t kind, int32_t slot) {
    static const enum kerf_op_kind split[KINDS] = {KERF_OP_F, KERF_OP_I, KERF_OP_W};
    const int32_t unit = (*done_of(state, stream, kind))++, replica = stream / state->stages;
    const int is_split = state->list->split, whole = kind == 1 && !is_split;
    add(state->builder, device, whole ? KERF_OP_B : split[kind], stream % state->stages,
        first_of(state, replica) + unit);
    state->free[device] = slot + 1 + whole;
    if (kind < 2) *end_of(state, stream, kind, unit) = slot + 1 + whole;
    if (kind == 0) state->held[device]++;
    if (whole || kind == 2) state->held[device]--;
}

/* Runs what comes first on a device; 0: nothing can. */
static int run_device(struct state *state, int32_t device, int32_t slot) {
    int32_t stream = -1, of_kind = 0;
    int64_t least = 0;
    for (int32_t k = state->on_begin[device]; k < state->on_begin[device + 1]; k++)
        for (int32_t kind = 0; kind < KINDS; kind++) {
            if (!is_ready(state, state->on[k], kind, slot)) continue;
            const struct slot_op op = {device, state->on[k] / state->stages, state->on[k] % state->stages,
                                       *done_of(state, state->on[k], kind), kind};
            const int64_t priority = state->list->priority(state->list->context, &op);
            if (stream >= 0 && priority >= least) continue;
            stream = state->on[k], of_kind = kind, least = priority;
        }
    if (stream < 0) return 0;
    run_one(state, device, stream, of_kind, slot);
    return 1;
}

static int32_t run_all(struct state *state, struct kerf_error *err) {
    const struct builder *builder = state->builder;
    int64_t left = (int64_t)builder->m * state->stages * (state->list->split ? 3 : 2);
    for (int32_t slot = 0, quiet = 0; left > 0; slot++) {
        int ran = 0;
        for (int32_t d = 0; d < builder->p; d++) {
            if (state->free[d] > slot || !run_device(state, d, slot)) continue;
            left--;
            ran = 1;
        }
        quiet = ran ? 0 : quiet + 1;
        if (quiet > 2)
            return kerf_error_set(err, KERF_EINFEASIBLE, "the memory cap leaves no room for the way of a micro-batch");
    }
    return KERF_OK;
}

int32_t slot_list_run(struct builder *builder, enum kerf_placement placement, const struct slot_list *list,
                      struct kerf_error *err) {
    struct arena arena = {NULL};
    struct state state = {.builder = builder,
                          .list = list,
                          .stages = builder->p * builder->v,
                          .replicas = builder->replicas,
                          .units_max = (builder->m + builder->replicas - 1) / builder->replicas};
    const size_t streams = (size_t)(state.stages * state.replicas), p = (size_t)builder->p;
    int32_t at = 0;
    state.device_of = arena_alloc(&arena, streams, sizeof *state.device_of);
    state.done = arena_alloc(&arena, streams * KINDS, sizeof *state.done);
    state.on = arena_alloc(&arena, streams, sizeof *state.on);
    state.on_begin = arena_alloc(&arena, p + 1, sizeof *state.on_begin);
    state.free = arena_alloc(&arena, p, sizeof *state.free);
    state.held = arena_alloc(&arena, p, sizeof *state.held);
    state.ends = arena_alloc(&arena, streams * 2 * (size_t)state.units_max, sizeof *state.ends);
    int32_t code = state.device_of && state.done && state.on && state.on_begin && state.free && state.held && state.ends
                       ? KERF_OK
                       : error_no_memory(err, "the schedule");
    if (code == KERF_OK) {
        placement_fill(placement, builder->p, builder->v, state.replicas, state.device_of);
        for (int32_t d = 0; d < builder->p; d++) {
            state.on_begin[d] = at;
            builder->num_ops[d] = 0;
            for (int32_t s = 0; s < (int32_t)streams; s++)
                if (state.device_of[s] == d) state.on[at++] = s;
        }
        state.on_begin[builder->p] = at;
        code = run_all(&state, err);
    }
    arena_free(&arena);
    return code;
}
