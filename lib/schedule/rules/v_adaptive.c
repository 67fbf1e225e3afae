/* SPDX-License-Identifier: Apache-2.0 */
/*
 * V schedules for any memory cap (Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, whose
 * adaptive search this follows): patterns of six slots for the four passes of a micro-batch, F down and up and I down
 * and up, are enumerated: one to five slots from one device to the next on the way down, another number behind some
 * device, and a pause at each turn, so that no two passes of a device share a slot of the period. Each that holds no
 * more than the cap becomes an order as v_half does (v_pattern.c), which is timed with the real times; the shortest is
 * the answer. Where none keeps the cap, a list schedule does.
 */
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "schedule/rules/slot_list.h"
#include "schedule/rules/v_pattern.h"

enum { PASSES = 4, PERIOD = 6, PACES = 5, SWITCHES = 4, TRIED = 512 };
enum pass { F_DOWN, F_UP, I_DOWN, I_UP };

struct pattern {
    int32_t pace[2], at;       /* slots from one device to the next on the way down, before and behind device at */
    int32_t pause[PASSES - 1]; /* behind each turn */
    int64_t held;              /* slots that activations wait, of all devices */
};

/* How many slots behind the pass's first one a device has it. */
static int32_t delay_of(const struct pattern *pattern, int32_t p, int pass, int32_t d) {
    if (pass == F_UP || pass == I_UP) return p - 1 - d;
    return d <= pattern->at ? pattern->pace[0] * d
                            : pattern->pace[0] * pattern->at + pattern->pace[1] * (d - pattern->at);
}

/* The slots of micro-batch 0 on a device. */
static void slots_of(const void *context, int32_t p, int32_t d, int32_t slots[PASSES]) {
    const struct pattern *pattern = context;
    int32_t first = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        const int32_t last = pass == F_DOWN || pass == I_DOWN ? p - 1 : 0;
        slots[pass] = first + delay_of(pattern, p, pass, d);
        if (pass + 1 < PASSES) first += delay_of(pattern, p, pass, last) + 1 + pattern->pause[pass];
    }
}

/* Whether no two passes of a device share a slot of the period; and what they hold. */
static int fits(struct pattern *pattern, int32_t p) {
    pattern->held = 0;
    for (int32_t d = 0; d < p; d++) {
        int32_t taken = 0, slots[PASSES];
        slots_of(pattern, p, d, slots);
        for (int pass = 0; pass < PASSES; pass++) {
            if (taken >> slots[pass] % PERIOD & 1) return 0;
            taken |= 1 << slots[pass] % PERIOD;
        }
        pattern->held += slots[I_UP] - slots[F_DOWN] + slots[I_DOWN] - slots[F_UP];
    }
    return 1;
}

/* The patterns that hold least, in order; how many. */
static int32_t list_patterns(int32_t p, struct pattern *patterns) {
    int32_t count = 0;
    for (int32_t k = 0; k < PACES * PACES * SWITCHES * PERIOD * PERIOD * PERIOD; k++) {
        struct pattern pattern;
        int32_t rest = k / (PACES * PACES * SWITCHES), at = k / (PACES * PACES) % SWITCHES;
        pattern.pace[0] = 1 + k % PACES, pattern.pace[1] = 1 + k / PACES % PACES;
        pattern.at = (at + 1) * p / (SWITCHES + 1);
        for (int turn = 0; turn + 1 < PASSES; turn++, rest /= PERIOD) pattern.pause[turn] = rest % PERIOD;
        if (pattern.pace[0] == pattern.pace[1] && at > 0) continue;
        if (!fits(&pattern, p)) continue;
        int32_t place = count < TRIED ? count++ : TRIED;
        while (place > 0 && patterns[place - 1].held > pattern.held) {
            if (place < TRIED) patterns[place] = patterns[place - 1];
            place--;
        }
        if (place < TRIED) patterns[place] = pattern;
    }
    return count;
}

/* What the order takes that the builder has. */
static double time_order(const struct builder *builder, const struct kerf_schedule_request *request,
                         const int32_t *device_of) {
    const struct kerf_schedule schedule = {.name = "v_adaptive",
                                           .devices = builder->p,
                                           .stages = 2 * builder->p,
                                           .microbatches = builder->m,
                                           .chunks = 2,
                                           .replicas = 1,
                                           .slices = 1,
                                           .device_of = device_of,
                                           .ops = (const struct kerf_op *const *)builder->ops,
                                           .num_ops = builder->num_ops};
    struct kerf_timeline *timeline = NULL;
    double takes = INFINITY;
    if (kerf_schedule_simulate(&schedule, request->times, &timeline, NULL) == KERF_OK)
        takes = request->times->unsynchronised ? timeline->span_s : timeline->makespan_s;
    kerf_timeline_free(timeline);
    return takes;
}

/* Chunks that the fullest device holds. */
static int32_t held_by(const struct builder *builder) {
    int32_t most = 0;
    for (int32_t d = 0; d < builder->p; d++) {
        int32_t held = 0;
        for (int32_t k = 0; k < builder->num_ops[d]; k++) {
            held += builder->ops[d][k].kind == KERF_OP_F;
            if (held > most) most = held;
            held -= builder->ops[d][k].kind == KERF_OP_W;
        }
    }
    return most;
}

/* Chunks that every device may hold. */
static int32_t cap_of(const struct builder *builder, const struct kerf_schedule_times *times) {
    double cap = builder->p;
    for (int32_t d = 0; times->cap && d < builder->p; d++) {
        double of = times->cap[d];
        if (times->cap_in_bytes) {
            const double a = times->activation_bytes[d], b = times->activation_bytes[2 * builder->p - 1 - d];
            of /= 2 * fmax(a, b);
        }
        cap = d == 0 ? of : fmin(cap, of);
    }
    return (int32_t)fmin(2 * cap * (1 + 1e-12), 2. * builder->m + 2);
}

/* Where no pattern keeps the cap: backwards first, then the F of the deeper chunk, W where nothing else can run. */
static int64_t priority(const void *context, const struct slot_op *op) {
    const int64_t far = (int64_t)1 << 40;
    (void)context;
    return op->unit + (op->back == 1 ? 0 : op->back == 0 ? far - ((int64_t)op->stage << 21) : 2 * far);
}

static int32_t search(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err) {
    struct arena arena = {NULL};
    struct pattern patterns[TRIED];
    const double looks_max = 2e7, looks = (double)builder->p * (8. * builder->m + 6. * builder->p) * 6;
    const int32_t cap = cap_of(builder, request->times), count = list_patterns(builder->p, patterns);
    const size_t ops = 6 * (size_t)builder->m;
    int32_t *device_of = arena_alloc(&arena, 2 * (size_t)builder->p, sizeof *device_of);
    struct kerf_op *best = arena_alloc(&arena, ops * (size_t)builder->p, sizeof *best);
    double least = INFINITY;
    int32_t code = KERF_OK;
    if (cap < 2)
        code = kerf_error_set(err, KERF_EINFEASIBLE,
                              "no order of two chunks keeps the cap; the least cap that works is 1");
    else if (device_of == NULL || best == NULL)
        code = error_no_memory(err, "the search");
    if (code == KERF_OK) placement_fill(KERF_PLACE_V, builder->p, 2, 1, device_of);
    for (int32_t k = 0; code == KERF_OK && k < count && (k < 4 || k * looks < looks_max); k++) {
        if ((double)patterns[k].held > (double)PERIOD * builder->p * cap) break;
        for (int32_t d = 0; d < builder->p; d++) builder->num_ops[d] = 0;
        code = v_pattern_search(builder, slots_of, &patterns[k], err);
        if (code != KERF_OK || held_by(builder) > cap) continue;
        const double takes = time_order(builder, request, device_of);
        if (!(takes < least)) continue;
        least = takes;
        for (int32_t d = 0; d < builder->p; d++) memcpy(best + (size_t)d * ops, builder->ops[d], ops * sizeof *best);
    }
    for (int32_t d = 0; code == KERF_OK && isfinite(least) && d < builder->p; d++) {
        memcpy(builder->ops[d], best + (size_t)d * ops, ops * sizeof *best);
        builder->num_ops[d] = (int32_t)ops;
    }
    arena_free(&arena);
    if (code != KERF_OK || isfinite(least)) return code;
    const struct slot_list list = {.split = 1, .cap = cap, .priority = priority};
    return slot_list_run(builder, KERF_PLACE_V, &list, err);
}

const struct rule rule_v_adaptive = {
    .shown =
        {
            .name = "v_adaptive",
            .summary = "the shortest of many V patterns within --memory-cap",
            .bubble = "the least found",
            .memory = "within --memory-cap; without one p",
            .source = "arXiv 2405.15362",
        },
    .placement = KERF_PLACE_V,
    .default_chunks = 2,
    .fixed_chunks = 1,
    .search = search,
};
