/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/hybrid_space.h"

#include <assert.h>
#include <string.h>

/* Whether tp divides the heads of every kind of layer, and the key-value heads or they divide it. */
static int tp_divides(const struct kerf_model *model, int64_t tp) {
    for (int32_t i = 0; i < model->num_kinds; i++) {
        int64_t heads = model->kinds[i].attention.heads, kv_heads = model->kinds[i].attention.kv_heads;
        if (heads % tp != 0) return 0;
        if (model->kinds[i].attention.kv_rank == 0 && kv_heads % tp != 0 && tp % kv_heads != 0) return 0;
    }
    return 1;
}

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

int64_t hybrid_experts(const struct kerf_model *model) {
    int64_t experts = 0;
    for (int32_t i = 0; i < model->num_kinds; i++) experts = gcd(experts, model->kinds[i].mlp.experts);
    return experts;
}

int hybrid_cp_comm_occurs(const struct kerf_model *model, int64_t tp, int64_t cp, enum kerf_cp_comm cp_comm) {
    if (cp == 1) return cp_comm == KERF_CP_COMM_ANY;
    if (cp_comm != KERF_CP_COMM_ALL_TO_ALL) return 1;
    for (int32_t i = 0; i < model->num_kinds; i++)
        if (model->kinds[i].attention.heads / tp % cp != 0) return 0;
    return 1;
}

int hybrid_order_occurs(const struct kerf_model *model, const struct kerf_layout *layout, enum kerf_order order) {
    const struct kerf_layout *l = layout;
    return order != KERF_ORDER_TP_CP_PP_DP || l->pp == 1 || (int64_t)l->ep * l->etp == l->tp1 * l->cp ||
           hybrid_experts(model) == 0;
}

int64_t hybrid_fullest_stage(const struct kerf_model *model, int64_t stages, const int32_t *stage_layers) {
    int64_t most = 0;
    assert(stages >= 1);
    if (stage_layers == NULL) return (model->num_hidden_layers + stages - 1) / stages;
    for (int64_t i = 0; i < stages; i++)
        if (stage_layers[i] > most) most = stage_layers[i];
    return most;
}

/* Whether the schedule takes so many virtual stages and micro-batches; pipeliner may be NULL. */
static int schedule_takes(const struct pipeliner *pipeliner, const char *schedule, int64_t pp, int64_t vpp,
                          int64_t microbatches) {
    if (strcmp(schedule, "1f1b") == 0) return vpp == 1;
    if (pp == 1) return 0; /* there is nothing to order */
    if (strcmp(schedule, "interleaved_1f1b") == 0 && (vpp == 1 || microbatches % pp == 0)) return vpp > 1;
    return pipeliner && pipeliner->takes(schedule, (int32_t)pp, (int32_t)vpp, (int32_t)microbatches);
}

/* The schedules that a pipeline of pp stages and m micro-batches may have, for each number of virtual stages. */
struct tail {
    int64_t pp, microbatches; /* 0: no entry */
    int64_t schedules;        /* (vpp, schedule) pairs */
    int64_t blocks;           /* the same with the layers of full:K */
    uint64_t *rules;          /* [num_vpp] bits of schedules */
};

struct space_memory {
    struct arena *arena;
    struct divisors gpus, experts;
    int32_t has_experts;
    struct kerf_values vpp, micro_batch, block; /* block: the K of full:K that are named */
    int32_t num_kinds, num_plain_kinds;         /* of recomputation; num_plain_kinds: without full:K */
    int8_t kinds[KERF_RECOMPUTE_COUNT];
    int32_t num_rules;
    const char *rules[HYBRID_SCHEDULES_MAX]; /* in the order of strcmp */
    struct tail *tails;                      /* [num_slots] by hash of pp and m; num_slots is a power of 2 */
    size_t num_slots, num_tails;
};

static const struct kerf_space all_default;

static const struct kerf_space *asked(const struct space *space) {
    return space->problem->space ? space->problem->space : &all_default;
}

static int names(const struct kerf_values *values, int64_t value) {
    for (int32_t i = 0; i < values->count; i++)
        if (values->of[i] == value) return 1;
    return 0;
}

/* Whether the list names values instead of its default ones. */
static int is_named(const struct kerf_values *values) { return values->count > 0 && !values->are_excluded; }

/* Whether the list has the value, or names none. */
static int allows(const struct kerf_values *values, int64_t value) {
    return is_named(values) ? names(values, value) : !names(values, value);
}

/* ---- Lists that depend on the problem alone ---------------------------------------------------------------- */

static void list_recomputes(const struct kerf_space *asked, struct space_memory *memory) {
    const struct kerf_values *named = &asked->recompute;
    for (int8_t kind = 0; kind < KERF_RECOMPUTE_BLOCK; kind++)
        if (allows(named, kind)) memory->kinds[memory->num_kinds++] = kind;
    memory->num_plain_kinds = memory->num_kinds;
    for (int32_t i = 0; is_named(named) && i < named->count; i++)
        if (named->of[i] > 100) memory->block.of[memory->block.count++] = named->of[i] - 100;
    if (memory->block.count || (!is_named(named) && asked->is_wide && allows(named, KERF_RECOMPUTE_BLOCK)))
        memory->kinds[memory->num_kinds++] = KERF_RECOMPUTE_BLOCK;
}

/* Puts the name where strcmp has it, once. */
static void add_rule(struct space_memory *memory, const char *name) {
    int32_t at = memory->num_rules;
    while (at > 0 && strcmp(memory->rules[at - 1], name) > 0) at--;
    if (at > 0 && strcmp(memory->rules[at - 1], name) == 0) return;
    assert(memory->num_rules < HYBRID_SCHEDULES_MAX);
    for (int32_t i = memory->num_rules++; i > at; i--) memory->rules[i] = memory->rules[i - 1];
    memory->rules[at] = name;
}

static void list_rules(const struct space *space, struct space_memory *memory) {
    const struct kerf_space *asked_for = asked(space);
    for (int32_t i = 0; i < asked_for->num_schedules; i++) add_rule(memory, asked_for->schedules[i]);
    if (asked_for->num_schedules) return;
    add_rule(memory, "1f1b");
    add_rule(memory, "interleaved_1f1b");
    if (!asked_for->is_wide || space->pipeliner == NULL) return;
    for (const char *const *name = space->pipeliner->schedules; *name; name++) add_rule(memory, *name);
}

struct space_memory *hybrid_remember(const struct space *space, struct arena *arena) {
    const struct kerf_problem *problem = space->problem;
    struct space_memory *memory = arena_alloc(arena, 1, sizeof *memory);
    if (memory == NULL) return NULL;
    memory->arena = arena;
    divisors_find(problem->gpus, &memory->gpus);
    int64_t experts = hybrid_experts(&problem->model);
    memory->has_experts = experts > 0;
    divisors_find(experts ? experts : 1, &memory->experts);
    const struct kerf_values *vpp = &asked(space)->vpp, *micro_batch = &asked(space)->micro_batch;
    if (is_named(vpp)) memory->vpp = *vpp;
    for (int32_t v = 1; !is_named(vpp) && v <= HYBRID_VPP_MAX; v++)
        if (allows(vpp, v)) memory->vpp.of[memory->vpp.count++] = v;
    if (is_named(micro_batch)) memory->micro_batch = *micro_batch;
    for (int32_t b = 1; !is_named(micro_batch) && b <= HYBRID_MICRO_BATCH_MAX; b *= 2)
        if (allows(micro_batch, b)) memory->micro_batch.of[memory->micro_batch.count++] = b;
    list_recomputes(asked(space), memory);
    list_rules(space, memory);
    return memory;
}

/* What the walk remembers; where it remembers nothing, it is found anew. NULL when memory ran out. */
static struct space_memory *memory_of(const struct space *space, struct arena *arena) {
    return space->memory ? space->memory : hybrid_remember(space, arena);
}

/* ---- Schedules ---------------------------------------------------------------------------------------------- */

/* Layers of full:K: 1 .. ret_most, or with named ones those of them. */
static int64_t num_blocks(const struct space *space, const struct space_memory *memory, int64_t stages) {
    const struct kerf_problem *problem = space->problem;
    int64_t most = hybrid_fullest_stage(&problem->model, stages, asked(space)->stage_layers) - 1, count = 0;
    if (memory->block.count == 0) return most;
    for (int32_t i = 0; i < memory->block.count; i++) count += memory->block.of[i] <= most;
    return count;
}

static int has_stages(const struct space *space, int64_t pp, int64_t vpp, int64_t microbatches) {
    int64_t stages = pp * vpp, layers = space->problem->model.num_hidden_layers;
    if (stages > layers || stages > KERF_STAGES_MAX) return 0;
    if (vpp > 1 && (pp == 1 || microbatches % pp != 0)) return 0;
    return asked(space)->stage_layers == NULL || asked(space)->num_stage_layers == stages;
}

/* Bits of the rules that take pp x vpp stages and m micro-batches. */
static uint64_t rules_of(const struct space *space, const struct space_memory *memory, int64_t pp, int64_t vpp,
                         int64_t microbatches) {
    uint64_t bits = 0;
    int is_chosen = asked(space)->num_schedules || (asked(space)->is_wide && pp > 1);
    for (int32_t i = 0; i < memory->num_rules; i++) {
        int is_default = strcmp(memory->rules[i], vpp > 1 ? "interleaved_1f1b" : "1f1b") == 0;
        int takes = is_chosen ? schedule_takes(space->pipeliner, memory->rules[i], pp, vpp, microbatches) : is_default;
        if (takes) bits |= UINT64_C(1) << i;
    }
    return bits;
}

static void fill_tail(const struct space *space, const struct space_memory *memory, struct tail *tail) {
    tail->schedules = tail->blocks = 0;
    for (int32_t i = 0; i < memory->vpp.count; i++) {
        int64_t vpp = memory->vpp.of[i];
        tail->rules[i] = 0;
        if (!has_stages(space, tail->pp, vpp, tail->microbatches)) continue;
        tail->rules[i] = rules_of(space, memory, tail->pp, vpp, tail->microbatches);
        int64_t count = __builtin_popcountll(tail->rules[i]);
        tail->schedules += count;
        if (count) tail->blocks += count * num_blocks(space, memory, tail->pp * vpp);
    }
}

static struct tail *slot_of(const struct space_memory *memory, int64_t pp, int64_t microbatches) {
    uint64_t hash = ((uint64_t)pp << 32 ^ (uint64_t)microbatches) * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(hash >> 32) & (memory->num_slots - 1);
    while (memory->tails[at].pp && (memory->tails[at].pp != pp || memory->tails[at].microbatches != microbatches))
        at = (at + 1) & (memory->num_slots - 1);
    return &memory->tails[at];
}

/* Room for one more; 0 when memory ran out. */
static int make_slots(struct space_memory *memory) {
    enum { FIRST = 64 };
    if (memory->num_tails < memory->num_slots / 2) return 1;
    struct tail *before = memory->tails;
    size_t num_before = memory->num_slots, more = num_before ? 2 * num_before : FIRST;
    struct tail *tails = arena_alloc(memory->arena, more, sizeof *tails);
    if (tails == NULL) return 0;
    memory->tails = tails, memory->num_slots = more;
    for (size_t i = 0; i < num_before; i++)
        if (before[i].pp) *slot_of(memory, before[i].pp, before[i].microbatches) = before[i];
    return 1;
}

/* room is used where memory ran out. */
struct tail_room {
    struct tail tail;
    uint64_t rules[KERF_VALUES_MAX];
};

static const struct tail *tail_of(const struct space *space, struct space_memory *memory, int64_t pp,
                                  int64_t microbatches, struct tail_room *room) {
    if (make_slots(memory)) {
        struct tail *tail = slot_of(memory, pp, microbatches);
        if (tail->pp) return tail;
        uint64_t *rules = arena_take(memory->arena, (size_t)memory->vpp.count, sizeof *rules);
        if (rules) {
            *tail = (struct tail){.pp = pp, .microbatches = microbatches, .rules = rules};
            memory->num_tails++;
            fill_tail(space, memory, tail);
            return tail;
        }
    }
    room->tail = (struct tail){.pp = pp, .microbatches = microbatches, .rules = room->rules};
    fill_tail(space, memory, &room->tail);
    return &room->tail;
}

/* ---- What a layout's own numbers allow ------------------------------------------------------------------------ */

static int32_t orders_of(const struct space *space, const struct kerf_layout *layout, int8_t ret[KERF_ORDER_COUNT]) {
    const struct kerf_values *named = &asked(space)->order;
    int32_t count = 0;
    int are_all = is_named(named) || asked(space)->is_wide, are_equal = layout->pp == 1 || layout->dp == 1;
    for (int8_t order = 0; order < (are_all ? KERF_ORDER_COUNT : 1); order++) {
        if (!allows(named, order) || (are_equal && count)) continue;
        if (hybrid_order_occurs(&space->problem->model, layout, (enum kerf_order)order)) ret[count++] = order;
    }
    return count;
}

static int32_t zeros_of(const struct space *space, const struct kerf_layout *layout, int8_t ret[4]) {
    const struct kerf_values *named = &asked(space)->zero;
    int8_t most = layout->dp * layout->cp == 1                                                          ? 0
                  : layout->pp == 1 || is_named(named) || asked(space)->is_wide || asked(space)->runner ? 3
                                                                                                        : 1;
    int32_t count = 0;
    for (int8_t zero = 0; zero <= most; zero++)
        if (allows(named, zero)) ret[count++] = zero;
    return count;
}

/* Whether the prefix, whose dp is to be the rest, can have so many stages. */
static int can_have_stages(const struct space *space, const struct kerf_layout *prefix, int64_t pp) {
    const struct kerf_problem *problem = space->problem;
    int64_t left = problem->gpus / (prefix->tp1 * prefix->cp);
    if (left % pp != 0 || pp > problem->model.num_hidden_layers || pp > KERF_PP_MAX) return 0;
    return allows(&asked(space)->pp, pp) && allows(&asked(space)->dp, left / pp);
}

/* Micro-batches of a replica; 0: the global batch does not divide. */
static int64_t microbatches_of(const struct space *space, int64_t dp, int64_t micro_batch) {
    int64_t together, batch = space->problem->global_batch;
    if (__builtin_mul_overflow(dp, micro_batch, &together) || batch % together != 0) return 0;
    return batch / together;
}

/* Whether ep x etp can lie on the accelerators of a stage, whatever is chosen later. */
static int has_room_for_experts(const struct space *space, const struct space_memory *memory,
                                const struct kerf_layout *prefix) {
    int64_t experts = (int64_t)prefix->ep * prefix->etp;
    for (int32_t i = 0; i < memory->gpus.count; i++)
        if (can_have_stages(space, prefix, memory->gpus.of[i]) &&
            space->problem->gpus / memory->gpus.of[i] % experts == 0)
            return 1;
    return 0;
}

/* The values that etp is tried at, beside 1 and tp those that are named. */
static int32_t etps_of(const struct space *space, const struct space_memory *memory, const struct kerf_layout *prefix,
                       int32_t ret[KERF_VALUES_MAX]) {
    const struct kerf_values *named = &asked(space)->etp;
    int32_t count = 0;
    if (is_named(named) && memory->has_experts) {
        memcpy(ret, named->of, (size_t)named->count * sizeof *ret);
        return named->count;
    }
    if (allows(named, 1)) ret[count++] = 1;
    if (memory->has_experts && prefix->tp1 > 1 && allows(named, prefix->tp1)) ret[count++] = (int32_t)prefix->tp1;
    return count;
}

/* ---- The levels. A list is made twice: without room, which counts, and into the room for as many. ------------ */

struct list {
    struct kerf_layout *of; /* NULL: they are counted alone */
    int32_t count;
    struct kerf_layout counted;
};

static struct kerf_layout *add(struct list *list, const struct kerf_layout *prefix) {
    struct kerf_layout *one = list->of ? &list->of[list->count] : &list->counted;
    list->count++;
    *one = *prefix;
    return one;
}

static void list_shards(const struct space *space, struct space_memory *memory, const struct kerf_layout *prefix,
                        struct list *list) {
    const struct kerf_problem *problem = space->problem;
    const struct kerf_space *a = asked(space);
    int are_kinds = is_named(&a->cp_comm) || a->is_wide || a->runner; /* which may lack the cheapest */
    for (int32_t i = 0; i < memory->gpus.count; i++) {
        int64_t tp = memory->gpus.of[i];
        if (!allows(&a->tp, tp) || !tp_divides(&problem->model, tp)) continue;
        for (int32_t j = 0; j < memory->gpus.count; j++) {
            int64_t cp = memory->gpus.of[j];
            if (problem->gpus / tp % cp != 0 || !allows(&a->cp, cp)) continue;
            if ((cp > 1 && problem->seq_length % (2 * cp) != 0) || problem->seq_length / cp % tp != 0) continue;
            for (int8_t comm = 0; comm < KERF_CP_COMM_COUNT; comm++) {
                int is_listed = cp == 1 || !are_kinds   ? comm == KERF_CP_COMM_ANY
                                : is_named(&a->cp_comm) ? names(&a->cp_comm, comm)
                                                        : comm != KERF_CP_COMM_ANY && allows(&a->cp_comm, comm);
                if (!is_listed || !hybrid_cp_comm_occurs(&problem->model, tp, cp, (enum kerf_cp_comm)comm)) continue;
                struct kerf_layout *one = add(list, prefix);
                one->tp1 = tp, one->tp2 = 1, one->cp = (int32_t)cp, one->cp_comm = comm;
            }
        }
    }
}

static void list_experts(const struct space *space, struct space_memory *memory, const struct kerf_layout *prefix,
                         struct list *list) {
    int32_t etps[KERF_VALUES_MAX], num_etps = etps_of(space, memory, prefix, etps);
    for (int32_t i = 0; i < memory->experts.count; i++) {
        if (!allows(&asked(space)->ep, memory->experts.of[i])) continue;
        for (int32_t j = 0; j < num_etps; j++) {
            struct kerf_layout one = *prefix;
            one.ep = (int32_t)memory->experts.of[i], one.etp = etps[j];
            if (has_room_for_experts(space, memory, &one)) add(list, &one);
        }
    }
}

static void list_micro_batches(const struct space *space, struct space_memory *memory, const struct kerf_layout *prefix,
                               struct list *list) {
    for (int32_t i = 0; i < memory->micro_batch.count; i++)
        if (space->problem->global_batch % memory->micro_batch.of[i] == 0)
            add(list, prefix)->micro_batch = memory->micro_batch.of[i];
}

static void list_kinds(const struct space *space, struct space_memory *memory, const struct kerf_layout *prefix,
                       struct list *list) {
    (void)space;
    for (int32_t i = 0; i < memory->num_kinds; i++) add(list, prefix)->recompute = memory->kinds[i];
}

static void list_stages(const struct space *space, struct space_memory *memory, const struct kerf_layout *prefix,
                        struct list *list) {
    for (int32_t i = memory->gpus.count - 1; i >= 0; i--) { /* so that dp rises */
        int8_t orders[KERF_ORDER_COUNT], zeros[4];
        struct tail_room room;
        struct kerf_layout one = *prefix;
        int64_t microbatches;
        one.pp = memory->gpus.of[i];
        if (!can_have_stages(space, prefix, one.pp)) continue;
        one.dp = space->problem->gpus / (one.tp1 * one.cp * one.pp);
        if ((microbatches = microbatches_of(space, one.dp, one.micro_batch)) == 0) continue;
        if (space->problem->gpus / one.pp % ((int64_t)one.ep * one.etp) != 0) continue;
        const struct tail *tail = tail_of(space, memory, one.pp, microbatches, &room);
        if ((one.recompute == KERF_RECOMPUTE_BLOCK ? tail->blocks : tail->schedules) == 0) continue;
        if (orders_of(space, &one, orders) && zeros_of(space, &one, zeros)) add(list, &one);
    }
}

static void list_schedules(const struct space *space, struct space_memory *memory, const struct kerf_layout *prefix,
                           struct list *list) {
    int8_t orders[KERF_ORDER_COUNT];
    struct tail_room room;
    int32_t num_orders = orders_of(space, prefix, orders);
    int64_t microbatches = microbatches_of(space, prefix->dp, prefix->micro_batch);
    const struct tail *tail = tail_of(space, memory, prefix->pp, microbatches, &room);
    for (int32_t i = 0; i < memory->vpp.count; i++) {
        if (tail->rules[i] == 0) continue;
        if (prefix->recompute == KERF_RECOMPUTE_BLOCK && num_blocks(space, memory, prefix->pp * memory->vpp.of[i]) == 0)
            continue;
        for (int32_t r = 0; r < memory->num_rules; r++)
            for (int32_t o = 0; (tail->rules[i] >> r & 1) && o < num_orders; o++) {
                struct kerf_layout *one = add(list, prefix);
                one->vpp = memory->vpp.of[i], one->order = orders[o];
                one->stage_layers = asked(space)->stage_layers;
                strncpy(one->schedule, memory->rules[r], sizeof one->schedule - 1);
            }
    }
}

static void list_blocks(const struct space *space, struct space_memory *memory, const struct kerf_layout *prefix,
                        struct list *list) {
    if (prefix->recompute != KERF_RECOMPUTE_BLOCK) {
        add(list, prefix);
        return;
    }
    int64_t count = num_blocks(space, memory, prefix->pp * prefix->vpp); /* those that are named rise */
    for (int32_t i = 0; i < count; i++)
        add(list, prefix)->recompute_layers = memory->block.count ? memory->block.of[i] : i + 1;
}

static void list_zeros(const struct space *space, struct space_memory *memory, const struct kerf_layout *prefix,
                       struct list *list) {
    int8_t zeros[4];
    const struct kerf_runner *runner = asked(space)->runner;
    int32_t count = zeros_of(space, prefix, zeros);
    (void)memory;
    for (int32_t i = 0; i < count; i++) {
        struct kerf_layout one = *prefix;
        one.zero = zeros[i];
        if (runner == NULL || runner->takes(runner, space->problem, &one, NULL)) add(list, &one);
    }
}

struct kerf_layout *hybrid_choices(const struct space *space, int32_t level, const struct kerf_layout *prefix,
                                   struct arena *arena, int32_t *ret_count) {
    static void (*const levels[HYBRID_LEVELS])(const struct space *, struct space_memory *, const struct kerf_layout *,
                                               struct list *) = {
        [HYBRID_LEVEL_SHARDS] = list_shards,
        [HYBRID_LEVEL_EXPERTS] = list_experts,
        [HYBRID_LEVEL_MICRO_BATCH] = list_micro_batches,
        [HYBRID_LEVEL_RECOMPUTE] = list_kinds,
        [HYBRID_LEVEL_STAGES] = list_stages,
        [HYBRID_LEVEL_SCHEDULE] = list_schedules,
        [HYBRID_LEVEL_BLOCK] = list_blocks,
        [HYBRID_LEVEL_ZERO] = list_zeros,
    };
    assert(level >= 0 && level < HYBRID_LEVELS);
    struct space_memory *memory = memory_of(space, arena);
    struct list list = {.of = NULL};
    if (memory == NULL) return NULL;
    levels[level](space, memory, prefix, &list);
    *ret_count = list.count;
    list.of = arena_take(arena, (size_t)list.count, sizeof *list.of);
    list.count = 0;
    if (list.of) levels[level](space, memory, prefix, &list);
    assert(list.of == NULL || list.count == *ret_count);
    return list.of;
}

struct kerf_layout *hybrid_variants(const struct space *space, const struct kerf_layout *prefix, struct arena *arena,
                                    int32_t *ret_count) {
    (void)space;
    struct kerf_layout *one = arena_take(arena, 1, sizeof *one);
    if (one) *one = *prefix;
    *ret_count = 1;
    return one;
}

/* ---- Counting ------------------------------------------------------------------------------------------------- */

/* Below a prefix with pp and dp, where each (vpp, schedule) pair counts as `tails` layouts or more. */
static int64_t count_orders_and_zeros(const struct space *space, const struct kerf_layout *prefix) {
    int8_t orders[KERF_ORDER_COUNT], zeros[4];
    return (int64_t)orders_of(space, prefix, orders) * zeros_of(space, prefix, zeros);
}

/* (vpp, schedule, K) of all kinds of recomputation, or of the one that is chosen. */
static int64_t count_tails(const struct space *space, struct space_memory *memory, const struct kerf_layout *prefix,
                           int is_kind_chosen) {
    struct tail_room room;
    int64_t microbatches = microbatches_of(space, prefix->dp, prefix->micro_batch);
    if (microbatches == 0) return 0;
    const struct tail *tail = tail_of(space, memory, prefix->pp, microbatches, &room);
    if (is_kind_chosen) return prefix->recompute == KERF_RECOMPUTE_BLOCK ? tail->blocks : tail->schedules;
    return memory->num_plain_kinds * tail->schedules + (memory->num_kinds > memory->num_plain_kinds ? tail->blocks : 0);
}

/* Sums over pp what is below a prefix with the choices of levels 0 .. level, level below HYBRID_LEVEL_STAGES. */
static int64_t count_stages(const struct space *space, struct space_memory *memory, int32_t level,
                            const struct kerf_layout *prefix) {
    int64_t sum = 0;
    for (int32_t i = 0; i < memory->gpus.count; i++) {
        struct kerf_layout one = *prefix;
        int64_t tails = 0, rest = 0;
        one.pp = memory->gpus.of[i];
        if (!can_have_stages(space, prefix, one.pp)) continue;
        one.dp = space->problem->gpus / (one.tp1 * one.cp * one.pp);
        for (int32_t b = 0; level < HYBRID_LEVEL_MICRO_BATCH && b < memory->micro_batch.count; b++) {
            one.micro_batch = memory->micro_batch.of[b];
            tails += count_tails(space, memory, &one, 0);
        }
        if (level >= HYBRID_LEVEL_MICRO_BATCH)
            tails = count_tails(space, memory, &one, level >= HYBRID_LEVEL_RECOMPUTE);
        if (tails == 0) continue;
        int32_t etps[KERF_VALUES_MAX], num_etps = etps_of(space, memory, &one, etps);
        int64_t devices = space->problem->gpus / one.pp;
        for (int32_t e = 0; level < HYBRID_LEVEL_EXPERTS && e < memory->experts.count; e++) {
            if (!allows(&asked(space)->ep, memory->experts.of[e])) continue;
            for (int32_t j = 0; j < num_etps; j++) {
                one.ep = (int32_t)memory->experts.of[e], one.etp = etps[j];
                if (devices % ((int64_t)one.ep * one.etp) == 0) rest += count_orders_and_zeros(space, &one);
            }
        }
        if (level >= HYBRID_LEVEL_EXPERTS && devices % ((int64_t)one.ep * one.etp) == 0)
            rest = count_orders_and_zeros(space, &one);
        sum += tails * rest;
    }
    return sum;
}

static int64_t count_below(const struct space *space, struct space_memory *memory, int32_t level,
                           const struct kerf_layout *prefix, struct arena *arena) {
    int8_t zeros[4];
    int32_t num_roots = 0;
    int64_t sum = 0;
    const struct kerf_layout *roots;
    switch (level) {
    case -1:
        roots = hybrid_choices(space, 0, prefix, arena, &num_roots);
        for (int32_t i = 0; roots && i < num_roots; i++)
            sum += count_stages(space, memory, HYBRID_LEVEL_SHARDS, &roots[i]);
        return sum;
    case HYBRID_LEVEL_STAGES: return count_tails(space, memory, prefix, 1) * count_orders_and_zeros(space, prefix);
    case HYBRID_LEVEL_SCHEDULE:
        return zeros_of(space, prefix, zeros) *
               (prefix->recompute == KERF_RECOMPUTE_BLOCK ? num_blocks(space, memory, prefix->pp * prefix->vpp) : 1);
    case HYBRID_LEVEL_BLOCK: return zeros_of(space, prefix, zeros);
    case HYBRID_LEVEL_ZERO: return 1;
    default: return count_stages(space, memory, level, prefix);
    }
}

/* The same where a runner picks among them: they are listed, level by level. -1 when memory ran out. */
static int64_t count_taken(const struct space *space, struct arena lists[HYBRID_LEVELS], int32_t level,
                           const struct kerf_layout *prefix) {
    int32_t count;
    int64_t sum = 0;
    arena_reset(&lists[level]);
    const struct kerf_layout *choices = hybrid_choices(space, level, prefix, &lists[level], &count);
    if (choices == NULL) return -1;
    if (level + 1 == HYBRID_LEVELS) return count;
    for (int32_t i = 0; i < count; i++) {
        int64_t below = count_taken(space, lists, level + 1, &choices[i]);
        if (below < 0) return -1;
        sum += below;
    }
    return sum;
}

static int64_t count_with_runner(const struct space *space, int32_t level, const struct kerf_layout *prefix) {
    struct arena lists[HYBRID_LEVELS] = {{NULL}};
    int64_t count = level == HYBRID_LEVELS ? 1 : count_taken(space, lists, level, prefix);
    for (int32_t i = 0; i < HYBRID_LEVELS; i++) arena_free(&lists[i]);
    return count < 0 ? 0 : count;
}

int64_t hybrid_count(const struct space *space, int32_t level, const struct kerf_layout *prefix) {
    static const struct kerf_layout nothing_chosen;
    assert(level >= 0 && level <= HYBRID_LEVELS);
    struct arena own = {NULL};
    struct space_memory *memory = memory_of(space, &own);
    struct space with = *space;
    with.memory = memory;
    const struct kerf_layout *from = level ? prefix : &nothing_chosen;
    int64_t count = memory == NULL         ? 0
                    : asked(space)->runner ? count_with_runner(&with, level, from)
                                           : count_below(&with, memory, level - 1, from, &own);
    arena_free(&own);
    return count;
}

/* ---- What a runner refuses ------------------------------------------------------------------------------------- */

/* The first prefix of the last level. 1: found; 0: there is none, or memory ran out. */
static int first_whole_prefix(const struct space *space, int32_t level, const struct kerf_layout *prefix,
                              struct kerf_layout *ret_prefix) {
    struct arena list = {NULL};
    int32_t count = 0;
    int found = level == HYBRID_LEVEL_ZERO;
    if (found) *ret_prefix = *prefix;
    const struct kerf_layout *choices = found ? NULL : hybrid_choices(space, level, prefix, &list, &count);
    for (int32_t i = 0; choices && i < count && !found; i++)
        found = first_whole_prefix(space, level + 1, &choices[i], ret_prefix);
    arena_free(&list);
    return found;
}

int hybrid_runner_refuses(const struct space *space, struct kerf_layout *ret_layout, struct kerf_text *why) {
    static const struct kerf_layout nothing_chosen;
    const struct kerf_runner *runner = asked(space)->runner;
    int8_t zeros[4];
    if (runner == NULL || !first_whole_prefix(space, 0, &nothing_chosen, ret_layout)) return 0;
    if (zeros_of(space, ret_layout, zeros) == 0) return 0;
    ret_layout->zero = zeros[0];
    return !runner->takes(runner, space->problem, ret_layout, why);
}
