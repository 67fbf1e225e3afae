/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The zero-bubble rules with one stage a device (Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241).
 *
 * zb_h1 and zb_h2 are made by hand: some forwards, then I, W of a micro-batch some before, F.
 *
 * zb_1p and zb_2p are searched: an order of F, I and W for stages of any times within a memory cap. The steps are those
 * of sail-sg/zero-bubble-pipeline-parallelism, megatron/core/pipeline_parallel/zerobubble/scheduler/zb.py.
 *
 * Operations are appended to the devices in rounds, and each starts as soon as it can:
 *
 *   warm-up   The first F goes to every device. From the last device to the first, each takes more F while there is
 *             room and it would otherwise wait for the first I; then no device keeps as many as the one before it, and
 *             the first I goes to all.
 *   round i   Every device takes one more F, first to last, and then I of micro-batch i, last to first. Before either,
 *             W are done until there is room, then those that fit whole into the wait for its input. A W longer than
 *             the wait is done too where the wait would make this device the one that has been idle longest.
 *   the end   W that are left.
 *
 * Three choices are open and all eight combinations are tried: whether the warm-up ends where one more F would delay
 * the first I; whether a device skips its F while the next one is two behind, so that I come first, where that adds
 * nothing to the longest idle time; and whether a longer W is also done where the wait would do no harm. The shortest
 * span wins, then the shortest makespan, then the first; it is made once more to be written down.
 *
 * Invariants that make every order valid: no device is ahead of the one before it in F, none has fewer F than rounds,
 * and what W has not freed of a device can be freed before its next F. Each F and W is looked at once a round, so that
 * the cost is 9 * p * m steps; the only large memory is the ends of all F.
 */
#include <assert.h>
#include <float.h>
#include <math.h>
#include "base/error_fill.h"
#include "schedule/memory.h"
#include "schedule/rules/rule.h"

/* ---- By hand ---------------------------------------------------------------------------------------------- */

/* Device i of a hand-made zero-bubble schedule: `warm_up` forwards, then I, W of the micro-batch `lag` before, F. */
static void zero_bubble_device(struct builder *b, int32_t i, int32_t warm_up, int32_t lag) {
    int32_t next = smaller(warm_up, b->m);
    for (int32_t j = 0; j < next; j++) add(b, i, KERF_OP_F, i, j);
    for (int32_t j = 0; j < b->m; j++) {
        add(b, i, KERF_OP_I, i, j);
        if (j >= lag) add(b, i, KERF_OP_W, i, j - lag);
        if (next < b->m) add(b, i, KERF_OP_F, i, next++);
    }
    for (int32_t j = b->m > lag ? b->m - lag : 0; j < b->m; j++) add(b, i, KERF_OP_W, i, j);
}

/* ---- Times as whole numbers ------------------------------------------------------------------------------- */

/*
 * The search asks what ends before something else begins. Sums of doubles that are equal on paper differ in their last
 * bits, and an order would depend on that. A tick is a power of ten of the caller's unit and the longest time has ten
 * digits of it, so that decimal times keep their values in any unit, and no sum over the operations of the largest
 * schedule overflows.
 */
struct ticks {
    int64_t *forward, *input, *weight; /* [stages] what F, I and W take */
    int64_t *from_before;              /* [devices] latency from device i - 1 to i; */
    int64_t *from_behind;              /* [devices] and from device i + 1 to i; 0 where there is none */
};

static inline int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

enum { LONGEST_DIGITS = 10 };

static double latency(const struct kerf_schedule_times *times, int32_t devices, int32_t from, int32_t to) {
    if (from < 0 || from >= devices) return 0;
    return times->p2p_of_s ? times->p2p_of_s[from * devices + to] : times->p2p_s;
}

static double longest(const struct kerf_schedule_times *times, int32_t devices, int32_t stages) {
    double most = 0;
    for (int32_t k = 0; k < stages; k++)
        most = fmax(most, fmax(times->forward_s[k], fmax(times->backward_input_s[k], times->backward_weight_s[k])));
    most += times->overhead_s;
    for (int32_t i = 0; i < devices; i++)
        most = fmax(most, fmax(latency(times, devices, i - 1, i), latency(times, devices, i + 1, i)));
    return most;
}

/* The times of a schedule in ticks, from the arena; 0 when there is not enough memory. */
static int ticks_make(struct ticks *ret_ticks, struct arena *arena, const struct kerf_schedule_times *times,
                      int32_t devices, int32_t stages) {
    int64_t **const arrays[] = {&ret_ticks->forward, &ret_ticks->input, &ret_ticks->weight};
    const double *const seconds[] = {times->forward_s, times->backward_input_s, times->backward_weight_s};
    double most = longest(times, devices, stages);
    double scale = most > 0 ? pow(10, fmin(LONGEST_DIGITS - 1 - floor(log10(most)), DBL_MAX_10_EXP)) : 1;
    for (int kind = 0; kind < 3; kind++) {
        int64_t *ticks = arena_alloc(arena, (size_t)stages, sizeof *ticks);
        if (ticks == NULL) return 0;
        for (int32_t k = 0; k < stages; k++) ticks[k] = llround((seconds[kind][k] + times->overhead_s) * scale);
        *arrays[kind] = ticks;
    }
    ret_ticks->from_before = arena_alloc(arena, (size_t)devices, sizeof(int64_t));
    ret_ticks->from_behind = arena_alloc(arena, (size_t)devices, sizeof(int64_t));
    if (ret_ticks->from_before == NULL || ret_ticks->from_behind == NULL) return 0;
    for (int32_t i = 0; i < devices; i++) {
        ret_ticks->from_before[i] = llround(latency(times, devices, i - 1, i) * scale);
        ret_ticks->from_behind[i] = llround(latency(times, devices, i + 1, i) * scale);
    }
    return 1;
}

/* ---- The search ------------------------------------------------------------------------------------------- */

struct choice {
    int first_input_on_time; /* no F of the warm-up delays the first I */
    int input_first;         /* F may be skipped */
    int fill_harmless_waits; /* W also where the wait would do no harm */
};

/* A device. */
struct lane {
    int64_t free, idle; /* when what it has is done; how long it waited between its operations */
    int64_t input_end;  /* of its last I */
    int32_t f, i, w;    /* done so far */
    int32_t places;     /* micro-batches that it may hold */
    int32_t warm_up;    /* F beyond the first before the first I */
};

struct search {
    struct builder *builder;
    struct ticks ticks;
    struct choice choice;
    struct lane *lanes;   /* [p] */
    int64_t *forward_end; /* [p * m] */
    int64_t most_idle;    /* of any device so far */
    int freed_by_input;
    int recorded; /* 1: operations are written into the builder */
};

static int64_t *forward_end(const struct search *search, int32_t d, int32_t microbatch) {
    return &search->forward_end[(int64_t)d * search->builder->m + microbatch];
}

static void append(struct search *search, int32_t d, enum kerf_op_kind kind, int32_t microbatch, int64_t ready,
                   int64_t took) {
    struct lane *lane = &search->lanes[d];
    int64_t start = later(lane->free, ready);
    if (lane->f > 0) lane->idle += start - lane->free;
    search->most_idle = later(search->most_idle, lane->idle);
    lane->free = start + took;
    if (search->recorded) add(search->builder, d, kind, d, microbatch);
}

/* ---- When inputs are there, and what fills the wait -------------------------------------------------------- */

static int64_t forward_ready(const struct search *search, int32_t d) {
    if (d == 0) return 0;
    return *forward_end(search, d - 1, search->lanes[d].f) + search->ticks.from_before[d];
}

static int64_t input_ready(const struct search *search, int32_t d) {
    if (d + 1 == search->builder->p) return 0;
    return search->lanes[d + 1].input_end + search->ticks.from_behind[d];
}

static void append_weight(struct search *search, int32_t d) {
    append(search, d, KERF_OP_W, search->lanes[d].w, 0, search->ticks.weight[d]);
    search->lanes[d].w++;
}

static int is_full(const struct search *search, int32_t d) {
    const struct lane *lane = &search->lanes[d];
    return lane->f - (search->freed_by_input ? lane->i : lane->w) >= lane->places;
}

static void fill_wait(struct search *search, int32_t d, int64_t ready) {
    const struct lane *lane = &search->lanes[d];
    while (lane->w < lane->i && lane->free + search->ticks.weight[d] <= ready) append_weight(search, d);
    int harmless = ready - lane->free <= search->most_idle - lane->idle;
    if (lane->w < lane->i && lane->free < ready && (!harmless || search->choice.fill_harmless_waits))
        append_weight(search, d);
}

static void append_forward(struct search *search, int32_t d) {
    struct lane *lane = &search->lanes[d];
    while (is_full(search, d) && lane->w < lane->i) append_weight(search, d);
    assert(!is_full(search, d));
    int64_t ready = forward_ready(search, d);
    fill_wait(search, d, ready);
    append(search, d, KERF_OP_F, lane->f, ready, search->ticks.forward[d]);
    *forward_end(search, d, lane->f++) = lane->free;
}

static void append_input(struct search *search, int32_t d) {
    struct lane *lane = &search->lanes[d];
    int64_t ready = input_ready(search, d);
    fill_wait(search, d, ready);
    if (d == 0 && lane->f == search->builder->m) /* nobody waits for what the first device would do instead */
        while (lane->w < lane->i) append_weight(search, d);
    append(search, d, KERF_OP_I, lane->i, ready, search->ticks.input[d]);
    lane->i++;
    lane->input_end = lane->free;
}

/* ---- Warm-up ----------------------------------------------------------------------------------------------- */

/* How many F each device takes beyond its first, if all arrive in time. */
static void plan_warm_up(struct search *search) {
    int32_t p = search->builder->p, m = search->builder->m;
    const struct ticks *ticks = &search->ticks;
    int64_t input_end = *forward_end(search, p - 1, 0) + ticks->input[p - 1];
    search->lanes[p - 1].warm_up = 0;
    for (int32_t d = p - 2; d >= 0; d--) {
        struct lane *lane = &search->lanes[d];
        int64_t ready = input_end + ticks->from_behind[d], free = lane->free;
        int32_t most = smaller(m, lane->places) - 1;
        for (lane->warm_up = 0; lane->warm_up < most; lane->warm_up++) {
            if (search->choice.first_input_on_time ? free + ticks->forward[d] > ready : free >= ready) break;
            free += ticks->forward[d];
        }
        input_end = later(free, ready) + ticks->input[d];
    }
    for (int32_t d = 1; d < p; d++) {
        int32_t before = search->lanes[d - 1].warm_up, *own = &search->lanes[d].warm_up;
        *own = smaller(*own, *own + 1 < m && before > 0 ? before - 1 : before);
    }
}

static void warm_up(struct search *search) {
    int32_t p = search->builder->p;
    for (int32_t d = 0; d < p; d++) append_forward(search, d);
    plan_warm_up(search);
    for (int32_t d = 0; d < p; d++)
        for (int32_t k = 0; k < search->lanes[d].warm_up; k++) append_forward(search, d);
    for (int32_t d = p - 1; d >= 0; d--) append_input(search, d);
}

/* ---- Rounds ------------------------------------------------------------------------------------------------ */

/* Whether a device does well to leave its F to the next round: the next device is behind, has F and I to do, and its I
 * would find this one busy. */
static int skips_forward(const struct search *search, int32_t d) {
    const struct lane *lane = &search->lanes[d], *next = lane + 1;
    const struct ticks *ticks = &search->ticks;
    if (!search->choice.input_first || d + 1 == search->builder->p || lane->f < next->f + 2) return 0;
    int64_t ready = next->free + ticks->forward[d + 1] + ticks->input[d + 1] + ticks->from_behind[d];
    int64_t room = is_full(search, d) && lane->w < lane->i ? ticks->weight[d] : 0;
    if (lane->free >= ready) return 1;
    if (lane->free + ticks->forward[d] + room <= ready) return 0;
    return ready - lane->free <= search->most_idle - lane->idle;
}

static void round_of(struct search *search, unsigned char *takes) {
    int32_t p = search->builder->p;
    for (int32_t d = 0; d < p; d++) takes[d] = search->lanes[d].f < search->builder->m && !skips_forward(search, d);
    for (int32_t d = p - 2; d >= 0; d--) takes[d] &= takes[d + 1];
    for (int32_t d = 0; d < p; d++)
        if (takes[d]) append_forward(search, d);
    for (int32_t d = p - 1; d >= 0; d--) append_input(search, d);
}

struct outcome {
    int64_t span, makespan;
};

static struct outcome run(struct search *search, struct choice choice, unsigned char *takes) {
    struct outcome outcome = {0, 0};
    search->choice = choice;
    search->most_idle = 0;
    for (int32_t d = 0; d < search->builder->p; d++)
        search->lanes[d] = (struct lane){.places = search->lanes[d].places};
    warm_up(search);
    for (int32_t i = 1; i < search->builder->m; i++) round_of(search, takes);
    for (int32_t d = 0; d < search->builder->p; d++) {
        struct lane *lane = &search->lanes[d];
        while (lane->w < lane->i) append_weight(search, d);
        outcome.makespan = later(outcome.makespan, lane->free);
        outcome.span = later(outcome.span, lane->free - (*forward_end(search, d, 0) - search->ticks.forward[d]));
    }
    return outcome;
}

static void run_best(struct search *search, unsigned char *takes) {
    struct outcome best = {INT64_MAX, INT64_MAX};
    struct choice best_choice = {0, 0, 0};
    for (int k = 0; k < 8; k++) {
        const struct choice choice = {!(k & 4), !(k & 2), !(k & 1)};
        struct outcome outcome = run(search, choice, takes);
        if (outcome.span > best.span || (outcome.span == best.span && outcome.makespan >= best.makespan)) continue;
        best = outcome;
        best_choice = choice;
    }
    search->recorded = 1;
    run(search, best_choice, takes);
}

/* ---- The cap ----------------------------------------------------------------------------------------------- */

static int32_t set_places(struct search *search, const struct kerf_schedule_request *request, int32_t default_cap,
                          struct kerf_error *err) {
    const struct kerf_schedule_times *times = request->times;
    for (int32_t d = 0; d < search->builder->p; d++) {
        double cap = times->cap ? memory_cap_of_stage(times, d, d) * (1 + 1e-12) : default_cap;
        if (cap < 1)
            return times->cap_in_bytes
                       ? kerf_error_set(err, KERF_EINFEASIBLE,
                                        "%s needs a cap of at least %.17g bytes, one micro-batch, on device %d, not %g",
                                        request->rule, times->activation_bytes[d], d, times->cap[d])
                       : kerf_error_set(err, KERF_EINFEASIBLE,
                                        "%s needs a cap of at least 1 micro-batch on device %d, not %g", request->rule,
                                        d, times->cap[d]);
        search->lanes[d].places = (int32_t)fmin(cap, search->builder->m);
    }
    return KERF_OK;
}

/* The order of all devices with one stage each, in a cap of default_cap micro-batches where the times have none. */
static int32_t zero_bubble_search(struct builder *builder, const struct kerf_schedule_request *request,
                                  int32_t default_cap, struct kerf_error *err) {
    size_t p = (size_t)builder->p, m = (size_t)builder->m;
    struct arena arena = {NULL};
    struct search search = {.builder = builder, .freed_by_input = request->times->free_at_input};
    search.lanes = arena_alloc(&arena, p, sizeof *search.lanes);
    search.forward_end = arena_take(&arena, p * m, sizeof *search.forward_end);
    unsigned char *takes = arena_alloc(&arena, p, sizeof *takes);
    int32_t code = KERF_OK;
    if (!search.lanes || !search.forward_end || !takes ||
        !ticks_make(&search.ticks, &arena, request->times, builder->p, builder->p))
        code = error_no_memory(err, "the search");
    if (code == KERF_OK) code = set_places(&search, request, default_cap, err);
    if (code == KERF_OK) run_best(&search, takes);
    arena_free(&arena);
    return code;
}

/* ---- zb_1p and zb_2p ------------------------------------------------------------------------------------------- */

/* ZB-1p and ZB-2p (section 3 of the paper): the order that the heuristic finds for given times, where each device may
 * hold p or 2p micro-batches. A memory cap takes the place of either number, and then both names mean the same. */
static int32_t search_1p(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err) {
    return zero_bubble_search(builder, request, builder->p, err);
}

static int32_t search_2p(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err) {
    return zero_bubble_search(builder, request, 2 * builder->p, err);
}

static const char source[] = "Zero Bubble, arXiv 2401.10241; sail-sg/zero-bubble-pipeline-parallelism zb.py";

const struct rule rule_zb_1p = {
    .shown =
        {
            .name = "zb_1p",
            .summary = "searched for given times, in 1f1b's memory or --memory-cap",
            .bubble = "(p-1) (F + B - min(F, B, W)) where m >= p",
            .memory = "min(p, m), or the cap",
            .source = source,
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .search = search_1p,
};

const struct rule rule_zb_2p = {
    .shown =
        {
            .name = "zb_2p",
            .summary = "searched for given times, in twice 1f1b's memory or --memory-cap",
            .bubble = "at most (p-1) max(F + B - 2W, B - F, 0) of the span where m >= 2p-1",
            .memory = "min(2p, m), or the cap",
            .source = source,
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .search = search_2p,
};

/* ---- zb_h1 ----------------------------------------------------------------------------------------------------- */

/* ZB-H1: 1F1B with the weights' backward split off and
 * delayed by i micro-batches on device i, which fills a third of the bubble in the memory of 1F1B. "zb1p" is the name
 * that Victarry/PP-Schedule-Visualization has for it. */
static void h1_device(struct builder *b, int32_t i) { zero_bubble_device(b, i, b->p - i, i); }

const struct rule rule_zb_h1 = {
    .shown =
        {
            .name = "zb_h1",
            .summary = "1f1b's memory, a third of its bubble",
            .bubble = "(p-1) (F + B - min(F, B, W)) where m >= p",
            .memory = "min(p, m)",
            .source = "Zero Bubble, arXiv 2401.10241",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .device = h1_device,
};

const struct rule rule_zb1p = {
    .shown =
        {
            .name = "zb1p",
            .summary = "another name for zb_h1",
            .bubble = "(p-1) (F + B - min(F, B, W)) where m >= p",
            .memory = "min(p, m)",
            .source = "Victarry/PP-Schedule-Visualization",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .device = h1_device,
};

/* ---- zb_h2 ----------------------------------------------------------------------------------------------------- */

/* ZB-H2: twice the warm-up and twice the delay of ZB-H1. No device is idle between its first and
 * last operation when F = B = W; the devices end one after another, so that it gains only where the optimizer's step is
 * not synchronised. */
static void h2_device(struct builder *b, int32_t i) { zero_bubble_device(b, i, 2 * (b->p - i) - 1, 2 * i); }

const struct rule rule_zb_h2 = {
    .shown =
        {
            .name = "zb_h2",
            .summary = "no bubble within a device, at twice the memory",
            .bubble = "(p-1) max(F + B - 2W, B - F, 0) of the span where m >= 2p-1",
            .memory = "min(2p-1, m)",
            .source = "Zero Bubble, arXiv 2401.10241",
        },
    .default_chunks = 1,
    .fixed_chunks = 1,
    .device = h2_device,
};
