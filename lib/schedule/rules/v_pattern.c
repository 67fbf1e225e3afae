/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules v_half and v_min: from a pattern of slots to an order (Qi et al., Pipeline Parallelism with Controllable Memory,
 * arXiv 2405.15362). The steps are those of sail-sg/zero-bubble-pipeline-parallelism,
 * megatron/core/pipeline_parallel/zerobubble/scheduler/zbv_greedy.py.
 *
 * Time is cut into slots of one operation. A micro-batch makes four passes over the devices, F down and up and I down
 * and up, each one slot on each device, and the pattern repeats every six slots: two are left for W, which take
 * whatever slot is free. In the steady state no slot is; at both ends there are gaps, which are closed in three steps:
 *
 *   pull      With W as operations like others: in the order of their slots, those before the first I up on device 0
 *             and those after the last F go to the earliest free slot behind what they need, if no device then ever
 *             holds more than the fullest did before.
 *   pull      The same for the end alone, where W do not keep their slots but flow into those that are free.
 *   squeeze   After each, all run in that order as soon as they can, an operation a slot.
 *
 * Then W fill the free slots once more, those of I down first, and the order of slots is the answer, whatever
 * operations take.
 *
 * What a device holds behind a slot depends on the slots up to it alone, so that to move an operation from slot T to t
 * changes nothing before t; and behind T there are never fewer W done than without the move, because a slot for a W
 * that is lost at t is won at T. So only the slots from t to T are looked at. The cost is that of p * (8 m + 6 p)
 * slots, and of the moves at the ends, which do not depend on m.
 */
#include <assert.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "schedule/rules/v_pattern.h"

enum { PASSES = 4, W = PASSES, PERIOD = 6, FREE = -1 };
enum pass { F_DOWN, F_UP, I_DOWN, I_UP };

/* Behind a slot: what the device holds, and how many I wait for their W. */
struct stock {
    int32_t held, waiting;
};

struct plan {
    int32_t p, m, slots;
    int32_t *at;         /* [p][6 m] the slot of each operation: passes 0 .. 3 [m] each, then W [2 m] */
    int32_t *content;    /* [p][slots] which operation, as index into a row of at, or FREE */
    signed char *pulled; /* [p][slots] while slots are pulled: which kind, a pass or W, or FREE */
    struct stock *stock; /* [p][slots] while slots are pulled */
    int32_t limit;       /* what a device may hold */
    int weights_flow;    /* 1: W take free slots by themselves */
};

static int32_t *slot_of(const struct plan *plan, int32_t d, int kind, int32_t k) {
    return &plan->at[(int64_t)d * 6 * plan->m + (int64_t)kind * plan->m + k];
}
static int32_t *content_of(const struct plan *plan, int32_t d) { return &plan->content[(int64_t)d * plan->slots]; }
static int kind_of(const struct plan *plan, int32_t operation) { return smaller(operation / plan->m, W); }

/* The device from which a pass comes; -1: from none other. */
static int32_t source_of(const struct plan *plan, int32_t d, int pass) {
    return pass == F_DOWN || pass == I_DOWN ? d - 1 : d + 1 < plan->p ? d + 1 : -1;
}

/* ---- Contents of slots ------------------------------------------------------------------------------------- */

/* What stands in each slot of a device; W only with_weights. */
static void write_contents(struct plan *plan, int32_t d, int with_weights) {
    int32_t *content = content_of(plan, d), count = (with_weights ? 6 : 4) * plan->m;
    for (int32_t t = 0; t < plan->slots; t++) content[t] = FREE;
    for (int32_t k = 0; k < count; k++) content[*slot_of(plan, d, 0, k)] = k;
}

/* Gives each W of a device the first free slot behind its I. */
static void place_weights(struct plan *plan, int32_t d) {
    int32_t *content = content_of(plan, d), waiting = 0, next = 0;
    for (int32_t t = 0; t < plan->slots; t++) {
        if (content[t] != FREE) {
            waiting += kind_of(plan, content[t]) >= I_DOWN;
        } else if (waiting > 0) {
            waiting--;
            content[t] = W * plan->m + next;
            *slot_of(plan, d, W, next++) = t;
        }
    }
    assert(next == 2 * plan->m);
}

/* Every operation as early as it can with each in the order of their slots. */
static void squeeze(struct plan *plan, int32_t *next_free) {
    for (int32_t d = 0; d < plan->p; d++) next_free[d] = 0;
    for (int32_t t = 0; t < plan->slots; t++)
        for (int32_t d = 0; d < plan->p; d++) {
            int32_t operation = content_of(plan, d)[t], slot = next_free[d];
            if (operation == FREE) continue;
            int kind = kind_of(plan, operation);
            int32_t source = kind < W ? source_of(plan, d, kind) : -1;
            if (source >= 0) {
                int32_t arrival = *slot_of(plan, source, 0, operation) + 1;
                if (arrival > slot) slot = arrival;
            }
            *slot_of(plan, d, 0, operation) = slot;
            next_free[d] = slot + 1;
        }
}

/* ---- Pulling ----------------------------------------------------------------------------------------------- */

static struct stock after(const struct plan *plan, struct stock stock, int kind) {
    if (kind == F_DOWN || kind == F_UP) stock.held++;
    if (kind == I_DOWN || kind == I_UP) stock.waiting++;
    if (kind == W || (kind == FREE && plan->weights_flow && stock.waiting > 0)) stock.held--, stock.waiting--;
    return stock;
}

static struct stock stock_before(const struct plan *plan, int32_t d, int32_t t) {
    return t > 0 ? plan->stock[(int64_t)d * plan->slots + t - 1] : (struct stock){0, 0};
}

/* Whether a device with an operation in slot `to` instead of `from` behind it keeps the limit, and no W runs before its
 * I. */
static int can_move(const struct plan *plan, int32_t d, int kind, int32_t to, int32_t from) {
    const signed char *pulled = &plan->pulled[(int64_t)d * plan->slots];
    struct stock stock = stock_before(plan, d, to);
    for (int32_t t = to; t <= from; t++) {
        stock = after(plan, stock, t == to ? kind : pulled[t]);
        if (stock.held > plan->limit || stock.waiting < 0) return 0;
    }
    return 1;
}

static void put(struct plan *plan, int32_t d, int kind, int32_t to, int32_t from) {
    signed char *pulled = &plan->pulled[(int64_t)d * plan->slots];
    struct stock *stock = &plan->stock[(int64_t)d * plan->slots];
    struct stock before = stock_before(plan, d, to);
    pulled[to] = (signed char)kind;
    for (int32_t t = to; t <= from; t++) before = stock[t] = after(plan, before, pulled[t]);
}

/* The first slot behind what an operation needs. */
static int32_t earliest(const struct plan *plan, int32_t d, int kind, int32_t operation) {
    int32_t first = 0, before[3] = {-1, -1, -1};
    int32_t source = kind < W ? source_of(plan, d, kind) : -1;
    if (operation - kind * plan->m > 0) before[0] = *slot_of(plan, d, 0, operation - 1);
    if (kind > F_DOWN && kind < W) before[1] = *slot_of(plan, d, 0, operation - plan->m);
    if (source >= 0) before[2] = *slot_of(plan, source, 0, operation);
    for (int k = 0; k < 3; k++)
        if (before[k] + 1 > first) first = before[k] + 1;
    return first;
}

static int32_t pull_one(const struct plan *plan, int32_t d, int kind, int32_t operation, int32_t from) {
    const signed char *pulled = &plan->pulled[(int64_t)d * plan->slots];
    for (int32_t to = earliest(plan, d, kind, operation); to < from; to++)
        if (pulled[to] == FREE && can_move(plan, d, kind, to, from)) return to;
    return from;
}

static int32_t fullest(const struct plan *plan) {
    int32_t most = 0;
    for (int32_t d = 0; d < plan->p; d++) {
        const int32_t *content = content_of(plan, d);
        struct stock stock = {0, 0};
        for (int32_t t = 0; t < plan->slots; t++) {
            stock = after(plan, stock, content[t] == FREE ? FREE : kind_of(plan, content[t]));
            if (stock.held > most) most = stock.held;
        }
    }
    return most;
}

/* Pulls both ends together, or with weights_flow the later alone. */
static void pull(struct plan *plan, int weights_flow) {
    enum { WARM_UP, STEADY, COOL_DOWN } part = WARM_UP;
    plan->weights_flow = weights_flow;
    plan->limit = fullest(plan);
    for (int64_t k = 0; k < (int64_t)plan->p * plan->slots; k++) plan->pulled[k] = FREE;
    for (int32_t t = 0; t < plan->slots; t++)
        for (int32_t d = 0; d < plan->p; d++) {
            int32_t operation = content_of(plan, d)[t], to = t;
            int kind = operation == FREE ? FREE : kind_of(plan, operation);
            if (part == WARM_UP && kind == I_UP && d == 0) part = STEADY;
            if (kind != FREE && (part == COOL_DOWN || (part == WARM_UP && !weights_flow)))
                to = pull_one(plan, d, kind, operation, t);
            if (part == STEADY && kind == F_DOWN && operation == plan->m - 1) part = COOL_DOWN;
            if (kind != FREE) *slot_of(plan, d, 0, operation) = to;
            put(plan, d, kind, to, t);
        }
}

/* ---- The order --------------------------------------------------------------------------------------------- */

static void add_operation(struct builder *builder, int32_t d, int kind, int32_t microbatch) {
    static const enum kerf_op_kind kinds[PASSES] = {KERF_OP_F, KERF_OP_F, KERF_OP_I, KERF_OP_I};
    int upper = kind == F_UP || kind == I_DOWN; /* the later stage of the two */
    add(builder, d, kinds[kind], upper ? 2 * builder->p - 1 - d : d, microbatch);
}

/* A device's operations by their slots, with W of I down before those of I up in what is free. */
static void write_order(struct builder *builder, const struct plan *plan, int32_t d) {
    const int32_t *content = content_of(plan, d);
    int32_t inputs[2] = {0, 0}, weights[2] = {0, 0};
    for (int32_t t = 0; t < plan->slots; t++) {
        if (content[t] != FREE) {
            int kind = kind_of(plan, content[t]);
            add_operation(builder, d, kind, content[t] - kind * plan->m);
            if (kind >= I_DOWN) inputs[kind - I_DOWN]++;
        } else if (weights[0] < inputs[0] || weights[1] < inputs[1]) {
            int up = weights[0] == inputs[0];
            add(builder, d, KERF_OP_W, up ? d : 2 * plan->p - 1 - d, weights[up]++);
        }
    }
}

static void start(struct plan *plan, v_pattern pattern, const void *context) {
    for (int32_t d = 0; d < plan->p; d++) {
        int32_t slots[PASSES];
        pattern(context, plan->p, d, slots);
        for (int pass = 0; pass < PASSES; pass++)
            for (int32_t j = 0; j < plan->m; j++) *slot_of(plan, d, pass, j) = slots[pass] + PERIOD * j;
    }
}

static void settle(struct plan *plan, int weights_placed, int32_t *next_free) {
    for (int32_t d = 0; d < plan->p; d++) {
        write_contents(plan, d, weights_placed);
        if (!weights_placed) place_weights(plan, d);
    }
    squeeze(plan, next_free);
    for (int32_t d = 0; d < plan->p; d++) write_contents(plan, d, 0);
}

static void run(struct plan *plan, struct builder *builder, v_pattern pattern, const void *context,
                int32_t *next_free) {
    start(plan, pattern, context);
    for (int32_t d = 0; d < plan->p; d++) {
        write_contents(plan, d, 0);
        place_weights(plan, d);
    }
    pull(plan, 0);
    settle(plan, 1, next_free);
    pull(plan, 1);
    settle(plan, 0, next_free);
    for (int32_t d = 0; d < plan->p; d++) write_order(builder, plan, d);
}

int32_t v_pattern_search(struct builder *builder, v_pattern pattern, const void *context, struct kerf_error *err) {
    struct plan plan = {.p = builder->p, .m = builder->m};
    struct arena arena = {NULL};
    for (int32_t d = 0; d < plan.p; d++) {
        int32_t slots[PASSES];
        pattern(context, plan.p, d, slots);
        for (int pass = 0; pass < PASSES; pass++) /* the last micro-batch, and W behind everything */
            if (slots[pass] + PERIOD * (plan.m - 1) + 1 + 2 * plan.m > plan.slots)
                plan.slots = slots[pass] + PERIOD * (plan.m - 1) + 1 + 2 * plan.m;
    }
    size_t p = (size_t)plan.p, cells = p * (size_t)plan.slots;
    plan.at = arena_take(&arena, 6 * p * (size_t)plan.m, sizeof *plan.at);
    plan.content = arena_take(&arena, cells, sizeof *plan.content);
    plan.pulled = arena_take(&arena, cells, sizeof *plan.pulled);
    plan.stock = arena_take(&arena, cells, sizeof *plan.stock);
    int32_t *next_free = arena_take(&arena, p, sizeof *next_free);
    int good = plan.at && plan.content && plan.pulled && plan.stock && next_free;
    if (good) run(&plan, builder, pattern, context, next_free);
    arena_free(&arena);
    return good ? KERF_OK : error_no_memory(err, "the search");
}

/* ---- v_half ---------------------------------------------------------------------------------------------------- */

/* V-Half: two chunks in a V whose passes
 * are placed so that a micro-batch's activations live half as long as in zb_v. The pattern is that of
 * sail-sg/zero-bubble-pipeline-parallelism, zbv_greedy.py: F goes down at half speed and up at full speed, and so does
 * I. */
static void half(const void *unused, int32_t p, int32_t i, int32_t slots[4]) {
    (void)unused;
    int32_t gap = p % 2 == 0 ? 3 : 0; /* with an even p the slots of I would be those of F */
    slots[0] = 2 * i;
    slots[1] = 3 * p - 2 - i;
    slots[2] = 3 * p - 1 + gap + 2 * i;
    slots[3] = 6 * p - 2 + gap - i;
}

static int32_t half_search(struct builder *builder, const struct kerf_schedule_request *request,
                           struct kerf_error *err) {
    (void)request; /* the order does not depend on the times */
    return v_pattern_search(builder, half, NULL, err);
}

const struct rule rule_v_half = {
    .shown =
        {
            .name = "v_half",
            .summary = "half of 1f1b's memory and less of its bubble, two chunks in a V",
            .bubble = "about (p-2) s / 2 where F = B = W, m >= 2p; grows with m where W < 2 |B-F|",
            .memory = "floor((p+2)/2)",
            .source = "Controllable Memory, arXiv 2405.15362; sail-sg/zero-bubble-pipeline-parallelism zbv_greedy.py",
        },
    .placement = KERF_PLACE_V,
    .default_chunks = 2,
    .fixed_chunks = 1,
    .search = half_search,
};

/* ---- v_min ----------------------------------------------------------------------------------------------------- */

/* V-Min: two chunks in a V that a
 * micro-batch passes as fast as it can, which holds the least of all V patterns. The pattern is that of
 * sail-sg/zero-bubble-pipeline-parallelism, zbv_greedy.py. Its bubble grows with m where F, B and W differ. */
static void least(const void *unused, int32_t p, int32_t i, int32_t slots[4]) {
    (void)unused;
    int32_t gap = p % 3 == 0 ? 2 : 0; /* with 3 | p the slots of I would be those of F */
    slots[0] = i;
    slots[1] = 2 * p - 1 - i;
    slots[2] = 2 * p + gap + i;
    slots[3] = 4 * p + gap - 1 - i;
}

static int32_t min_search(struct builder *builder, const struct kerf_schedule_request *request,
                          struct kerf_error *err) {
    (void)request; /* the order does not depend on the times */
    return v_pattern_search(builder, least, NULL, err);
}

const struct rule rule_v_min = {
    .shown =
        {
            .name = "v_min",
            .summary = "a third of 1f1b's memory, two chunks in a V",
            .bubble = "at most 2 (p-1) s / 3 where F = B = W, m >= 2p; grows with m where W < max(F, B)",
            .memory = "floor((p+4)/3)",
            .source = "Controllable Memory, arXiv 2405.15362; sail-sg/zero-bubble-pipeline-parallelism zbv_greedy.py",
        },
    .placement = KERF_PLACE_V,
    .default_chunks = 2,
    .fixed_chunks = 1,
    .search = min_search,
};
