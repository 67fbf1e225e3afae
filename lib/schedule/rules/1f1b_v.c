/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1F1B-V (Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362; v1f1b.py in
 * sail-sg/zero-bubble-pipeline-parallelism): the V of two chunks with whole backward passes of two slots. A
 * micro-batch's way is a pattern that repeats every six slots: F down and up without a pause, then B down and up, with a
 * pause of three slots behind every third device so that all four passes fit on each. The order is that of the slots; at
 * both ends, where slots are free, operations go earlier as long as no device holds more than in the middle.
 */
#include <string.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "schedule/rules/rule.h"

enum { PASSES = 4, PERIOD = 6 };
enum pass { F_DOWN, F_UP, B_DOWN, B_UP };

struct pattern {
    int32_t p;
    int32_t *slot; /* [p][PASSES] of micro-batch 0 */
};

static void make(struct pattern *pattern) {
    const int32_t p = pattern->p;
    int32_t now = 0, cycle = (3 - (p + 2) % 3) % 3;
    for (int32_t i = 0; i < p; i++) pattern->slot[i * PASSES + F_DOWN] = now++;
    for (int32_t i = p; i-- > 0;) pattern->slot[i * PASSES + F_UP] = now++;
    if (p % 3 == 0) now += 3;
    for (int32_t k = 0; k < 2 * p; k++) {
        const int32_t device = k < p ? k : 2 * p - 1 - k;
        pattern->slot[device * PASSES + (k < p ? B_DOWN : B_UP)] = now;
        now += 2;
        if (++cycle < 3) continue;
        cycle = 0;
        now += 3;
    }
}

/* The slots of all devices while operations move. */
struct plan {
    int32_t p, m, slots;
    signed char *content; /* [p][slots] a pass, or FREE, or BUSY: the second slot of B */
    int32_t *held;        /* [p][slots] behind a slot */
    int32_t *at;          /* [p][PASSES][m] where an operation begins */
    int32_t most;         /* that any device holds */
};

enum { FREE = -1, BUSY = -2 };

static int is_back(int pass) { return pass >= B_DOWN; }

static int32_t *at_of(const struct plan *plan, int32_t d, int pass, int32_t microbatch) {
    return &plan->at[((int64_t)d * PASSES + pass) * plan->m + microbatch];
}

static void fill(struct plan *plan, const struct pattern *pattern) {
    memset(plan->content, FREE, (size_t)plan->p * (size_t)plan->slots);
    for (int32_t d = 0; d < plan->p; d++) {
        signed char *content = plan->content + (int64_t)d * plan->slots;
        for (int pass = 0; pass < PASSES; pass++)
            for (int32_t k = 0; k < plan->m; k++) {
                const int32_t slot = pattern->slot[d * PASSES + pass] + PERIOD * k;
                content[slot] = (signed char)pass;
                if (is_back(pass)) content[slot + 1] = BUSY;
            }
        for (int32_t t = 0, held = 0; t < plan->slots; t++) {
            held += content[t] == F_DOWN || content[t] == F_UP;
            held -= content[t] == BUSY;
            plan->held[(int64_t)d * plan->slots + t] = held;
            if (held > plan->most) plan->most = held;
        }
    }
}

/* The first slot behind what an operation needs. */
static int32_t earliest(const struct plan *plan, int32_t d, int pass, int32_t k) {
    const int down = pass == F_DOWN || pass == B_DOWN;
    const int32_t from = down ? d - 1 : d + 1;
    int32_t slot = k > 0 ? *at_of(plan, d, pass, k - 1) + 1 : 0, needed = 0;
    if (from >= 0 && from < plan->p)
        needed = *at_of(plan, from, pass, k) + 1 + is_back(pass);
    else if (pass > F_DOWN)
        needed = *at_of(plan, d, pass - 1, k) + 1 + is_back(pass - 1);
    return slot > needed ? slot : needed;
}

/* Where an operation of slot t goes to: the earliest free place, F not before there is room for what it holds. */
static int32_t place_of(const struct plan *plan, int32_t d, int pass, int32_t k, int32_t t) {
    const signed char *content = plan->content + (int64_t)d * plan->slots;
    const int32_t *held = plan->held + (int64_t)d * plan->slots;
    int32_t first = earliest(plan, d, pass, k), place = t;
    if (is_back(pass)) {
        while (first < t && (content[first] != FREE || content[first + 1] != FREE)) first++;
        return first;
    }
    while (place > first && held[place - 1] < plan->most) place--;
    while (place < t && content[place] != FREE) place++;
    return place;
}

static void move(struct plan *plan, int32_t d, int pass, int32_t t, int32_t to) {
    signed char *content = plan->content + (int64_t)d * plan->slots;
    int32_t *held = plan->held + (int64_t)d * plan->slots;
    content[t] = FREE;
    if (is_back(pass)) content[t + 1] = FREE;
    content[to] = (signed char)pass;
    if (is_back(pass)) content[to + 1] = BUSY;
    for (int32_t j = to + is_back(pass); j < t + is_back(pass); j++) held[j] += is_back(pass) ? -1 : 1;
}

static void pull(struct plan *plan, int32_t *done) {
    for (int32_t t = 0; t < plan->slots; t++)
        for (int32_t d = 0; d < plan->p; d++) {
            const int pass = plan->content[(int64_t)d * plan->slots + t];
            if (pass < 0) continue;
            const int32_t k = done[d * PASSES + pass]++, to = place_of(plan, d, pass, k, t);
            *at_of(plan, d, pass, k) = to;
            if (to < t) move(plan, d, pass, t, to);
        }
}

static void write_order(const struct plan *plan, struct builder *builder) {
    for (int32_t d = 0; d < plan->p; d++) {
        int32_t done[PASSES] = {0};
        for (int32_t t = 0; t < plan->slots; t++) {
            const int pass = plan->content[(int64_t)d * plan->slots + t];
            if (pass < 0) continue;
            const int later = pass == F_UP || pass == B_DOWN;
            add(builder, d, is_back(pass) ? KERF_OP_B : KERF_OP_F, later ? 2 * plan->p - 1 - d : d, done[pass]++);
        }
    }
}

static int32_t search(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err) {
    struct arena arena = {NULL};
    struct plan plan = {.p = builder->p, .m = builder->m};
    struct pattern pattern = {.p = builder->p};
    const size_t p = (size_t)builder->p;
    int32_t last = 0;
    (void)request;
    pattern.slot = arena_alloc(&arena, PASSES * p, sizeof *pattern.slot);
    if (pattern.slot) make(&pattern);
    for (int32_t k = 0; pattern.slot && k < PASSES * plan.p; k++)
        last = last > pattern.slot[k] ? last : pattern.slot[k];
    plan.slots = last + PERIOD * plan.m + 2;
    plan.content = arena_alloc(&arena, p * (size_t)plan.slots, 1);
    plan.held = arena_alloc(&arena, p * (size_t)plan.slots, sizeof *plan.held);
    plan.at = arena_alloc(&arena, p * PASSES * (size_t)plan.m, sizeof *plan.at);
    int32_t *done = arena_alloc(&arena, p * PASSES, sizeof *done);
    const int good = pattern.slot && plan.content && plan.held && plan.at && done;
    if (good) {
        fill(&plan, &pattern);
        pull(&plan, done);
        write_order(&plan, builder);
    }
    arena_free(&arena);
    return good ? KERF_OK : error_no_memory(err, "the schedule");
}

const struct rule rule_1f1b_v = {
    .shown =
        {
            .name = "1f1b_v",
            .summary = "1f1b in a V of two chunks, with about two thirds of its memory",
            .bubble = "at most 5/6 (p-1) s where F = B = W, m >= p; grows with m where B_full < 2F",
            .memory = "floor((2p+3)/3)",
            .source = "arXiv 2405.15362",
        },
    .placement = KERF_PLACE_V,
    .default_chunks = 2,
    .fixed_chunks = 1,
    .search = search,
};
