/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZB-V for given times (Qi et al., arXiv 2401.10241, section 6): an order for two chunks in a V, within a memory cap of
 * p micro-batches or the one that is given. The rules are those of sail-sg/zero-bubble-pipeline-parallelism,
 * megatron/core/pipeline_parallel/zerobubble/scheduler/zbv.py, here with times of each stage.
 *
 * A micro-batch makes four passes over the devices: F down (0), F up (1), I down (2), I up (3). A device does each
 * pass' micro-batches in turn, and its W in the order of its I.
 *
 *   wave      The first micro-batch goes down and up. While it comes up, the devices above go on with pass 0 where it
 *             fits before the arrival and leaves room for what has to follow.
 *   levels    From the second device on each takes F of both passes in turn, until it holds as many as the one before
 *             it and is ahead of it in pass 1.
 *   rounds    Every device does one I, of pass 3 where one is there, and one F, of pass 1 where one is there. Before
 *             either, W are done until there is room and while they fit whole into the wait for the input; one more
 *             where the wait is longer than what this device may still idle without being the worst.
 *   the end   W that are left.
 *
 * Two choices are open, whether F of the rounds and I of pass 2 have that one more W: four runs. Each is repeated with
 * the idle times it ended with, which let a device that was better than the worst be as bad as that, for as long as
 * that makes the span shorter. The shortest span wins and is made once more to be written down.
 *
 * The original takes it for granted that every operation it comes to can be done, which does not hold for every cap,
 * number of micro-batches and unevenness of stages. Here what cannot be done is left to a later round. A run that
 * comes to a stop, with memory full of what waits for others, is no answer. Where none of the four is one, they are
 * made again with a rule that cannot come to a stop: pass 0 leaves room for one operation of pass 1, so that the oldest
 * micro-batch can always go on.
 *
 * Times are summed in doubles and in the original's order: where sums are equal on paper their last bits decide what it
 * does, and its figures are those.
 *
 * A round costs O(p), and there are about 2 m.
 */
#include <assert.h>
#include <math.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "schedule/rules/rule.h"

enum { PASSES = 4, REPEATS_MAX = 100 };
enum pass { F_DOWN, F_UP, I_DOWN, I_UP };

struct choice {
    int fill_forward, fill_input;
    int careful; /* pass 0 leaves room for pass 1 */
};

struct lane {
    double free, idle; /* when what it has is done; how long it waited between its operations */
    double approved;   /* how long it may wait less than the worst of a run before */
    double first_start;
    double held, cap;
    double size[2];       /* of an activation, by chunk */
    int32_t done[PASSES]; /* micro-batches */
    int32_t weights[2];   /* W done, by chunk */
    enum pass turn;       /* the I of this round */
};

struct search {
    struct builder *builder;
    const struct kerf_schedule_times *times;
    struct choice choice;
    struct lane *lanes;         /* [p] */
    double *ends[PASSES];       /* [p * m] */
    unsigned char *input_chunk; /* [p * 2 m] of each I, in the order in which W follow */
    double most_idle;
    int freed_by_input;
    int recorded; /* 1: operations are written into the builder */
};

static int chunk_of(enum pass pass) { return pass == F_UP || pass == I_DOWN; }
static int is_forward(enum pass pass) { return pass <= F_UP; }
static int is_down(enum pass pass) { return pass == F_DOWN || pass == I_DOWN; }

static int32_t stage_of(const struct search *search, int32_t d, int chunk) {
    return chunk ? 2 * search->builder->p - 1 - d : d;
}

static double takes(const struct search *search, const double *times_s, int32_t stage) {
    return times_s[stage] + search->times->overhead_s;
}

/* The device from which a pass comes; -1: from none other. */
static int32_t source_of(const struct search *search, int32_t d, enum pass pass) {
    return is_down(pass) ? d - 1 : d + 1 < search->builder->p ? d + 1 : -1;
}

static double *end_of(const struct search *search, int32_t d, enum pass pass, int32_t microbatch) {
    return &search->ends[pass][(int64_t)d * search->builder->m + microbatch];
}

/* Whether the next micro-batch of a pass has come to the device. */
static int is_there(const struct search *search, int32_t d, enum pass pass) {
    const struct lane *lane = &search->lanes[d];
    int32_t microbatch = lane->done[pass], source = source_of(search, d, pass);
    if (microbatch >= search->builder->m || (pass != F_DOWN && lane->done[pass - 1] <= microbatch)) return 0;
    return source < 0 || search->lanes[source].done[pass] > microbatch;
}

static double arrival(const struct search *search, int32_t d, enum pass pass) {
    int32_t source = source_of(search, d, pass);
    if (source < 0) return 0;
    const struct kerf_schedule_times *times = search->times;
    return *end_of(search, source, pass, search->lanes[d].done[pass]) +
           (times->p2p_of_s ? times->p2p_of_s[source * search->builder->p + d] : times->p2p_s);
}

/* ---- One operation ---------------------------------------------------------------------------------------- */

static void append(struct search *search, int32_t d, enum kerf_op_kind kind, int32_t stage, int32_t microbatch,
                   double ready, double took) {
    struct lane *lane = &search->lanes[d];
    double at_once = lane->free + took, end = fmax(at_once, ready + took);
    if (lane->done[F_DOWN] > 0)
        lane->idle += end - at_once;
    else
        lane->first_start = fmax(lane->free, ready);
    search->most_idle = fmax(search->most_idle, lane->idle);
    lane->free = end;
    if (search->recorded) add(search->builder, d, kind, stage, microbatch);
}

static int32_t pending(const struct lane *lane) {
    return lane->done[I_DOWN] + lane->done[I_UP] - lane->weights[0] - lane->weights[1];
}

static int next_weight_chunk(const struct search *search, int32_t d) {
    const struct lane *lane = &search->lanes[d];
    return search->input_chunk[2 * (int64_t)d * search->builder->m + lane->weights[0] + lane->weights[1]];
}

static double next_weight_time(const struct search *search, int32_t d) {
    return takes(search, search->times->backward_weight_s, stage_of(search, d, next_weight_chunk(search, d)));
}

static void append_weight(struct search *search, int32_t d) {
    struct lane *lane = &search->lanes[d];
    int chunk = next_weight_chunk(search, d);
    int32_t stage = stage_of(search, d, chunk);
    append(search, d, KERF_OP_W, stage, lane->weights[chunk]++, 0,
           takes(search, search->times->backward_weight_s, stage));
    if (!search->freed_by_input) lane->held -= lane->size[chunk];
}

static void append_pass(struct search *search, int32_t d, enum pass pass) {
    struct lane *lane = &search->lanes[d];
    int chunk = chunk_of(pass), forward = is_forward(pass);
    int32_t stage = stage_of(search, d, chunk), microbatch = lane->done[pass];
    assert(is_there(search, d, pass));
    append(search, d, forward ? KERF_OP_F : KERF_OP_I, stage, microbatch, arrival(search, d, pass),
           takes(search, forward ? search->times->forward_s : search->times->backward_input_s, stage));
    *end_of(search, d, pass, microbatch) = lane->free;
    if (forward) lane->held += lane->size[chunk];
    if (!forward) {
        int64_t at = 2 * (int64_t)d * search->builder->m + lane->done[I_DOWN] + lane->done[I_UP];
        search->input_chunk[at] = (unsigned char)chunk;
        if (search->freed_by_input) lane->held -= lane->size[chunk];
    }
    lane->done[pass]++;
}

static int fits(const struct search *search, int32_t d, enum pass pass) {
    const struct lane *lane = &search->lanes[d];
    double left_free = pass == F_DOWN && search->choice.careful ? lane->size[1] : 0;
    return lane->held + lane->size[chunk_of(pass)] + left_free <= lane->cap;
}

/* ---- Warm-up ---------------------------------------------------------------------------------------------- */

/* Whether device d can take one more F of pass 0, and after that all it has to while the first micro-batch comes up. */
static int has_room_for_wave(const struct search *search, int32_t d) {
    const struct lane *lane = &search->lanes[d];
    return lane->held + (d + 1) * (lane->size[0] + lane->size[1]) <= lane->cap;
}

static int wave_goes_on(const struct search *search, int32_t d, double until) {
    const struct lane *lane = &search->lanes[d];
    if (lane->done[F_DOWN] >= search->builder->m || lane->free + takes(search, search->times->forward_s, d) > until)
        return 0;
    for (int32_t k = d; k >= 0; k--)
        if (!has_room_for_wave(search, k)) return 0;
    return 1;
}

static void wave(struct search *search) {
    int32_t p = search->builder->p;
    for (int32_t d = 0; d < p; d++) append_pass(search, d, F_DOWN);
    for (int32_t d = p - 1; d >= 0; d--) {
        while (d + 1 < p && wave_goes_on(search, d, arrival(search, d, F_UP)))
            for (int32_t k = 0; k <= d; k++) append_pass(search, k, F_DOWN);
        append_pass(search, d, F_UP);
    }
}

static int is_level(const struct search *search, int32_t d) {
    const int32_t *before = search->lanes[d - 1].done, *own = search->lanes[d].done;
    return own[F_DOWN] + own[F_UP] >= before[F_DOWN] + before[F_UP] &&
           (own[F_UP] > before[F_UP] || before[F_UP] >= search->builder->m);
}

static void level(struct search *search) {
    int32_t p = search->builder->p, stuck = 0;
    enum pass pass = F_DOWN;
    for (int32_t d = 1; d < p; d++)
        while (stuck < 2 && !is_level(search, d)) {
            stuck++;
            for (int32_t k = p - 1; k >= d; k--)
                if (is_there(search, k, pass) && fits(search, k, pass)) {
                    append_pass(search, k, pass);
                    stuck = 0;
                }
            pass = pass == F_DOWN ? F_UP : F_DOWN;
        }
}

/* ---- Rounds ----------------------------------------------------------------------------------------------- */

static void fill_wait(struct search *search, int32_t d, enum pass pass, int one_more) {
    const struct lane *lane = &search->lanes[d];
    if (source_of(search, d, pass) < 0) return;
    double ready = arrival(search, d, pass);
    while (pending(lane) > 0 && ready >= lane->free + next_weight_time(search, d)) append_weight(search, d);
    double allowed = fmax(search->most_idle, lane->approved) - lane->idle;
    if (one_more && pending(lane) > 0 && ready - lane->free > allowed) append_weight(search, d);
}

/* The I that a device does in this round; it may still have to wait for the ones before it in the round. */
static enum pass choose_input(const struct search *search, int32_t d) {
    const struct lane *lane = &search->lanes[d];
    if (lane->done[I_UP] >= lane->done[I_DOWN]) return I_DOWN;
    return is_there(search, d, I_UP) || lane->done[I_DOWN] >= search->builder->m ? I_UP : I_DOWN;
}

static int append_input(struct search *search, int32_t d, enum pass pass) {
    if (search->lanes[d].turn != pass || !is_there(search, d, pass)) return 0;
    fill_wait(search, d, pass, pass == I_UP || search->choice.fill_input);
    append_pass(search, d, pass);
    return 1;
}

static int append_forward(struct search *search, int32_t d) {
    enum pass pass = is_there(search, d, F_UP) ? F_UP : F_DOWN;
    if (!is_there(search, d, pass)) return 0;
    while (!fits(search, d, pass) && pending(&search->lanes[d]) > 0 && !search->freed_by_input)
        append_weight(search, d);
    if (!fits(search, d, pass)) return 0;
    fill_wait(search, d, pass, search->choice.fill_forward);
    append_pass(search, d, pass);
    return 1;
}

/* How many operations were done. */
static int32_t round_of(struct search *search) {
    int32_t p = search->builder->p, count = 0;
    for (int32_t d = 0; d < p; d++) search->lanes[d].turn = choose_input(search, d);
    for (int32_t d = p - 1; d >= 0; d--) count += append_input(search, d, I_UP);
    for (int32_t d = 0; d < p; d++) count += append_input(search, d, I_DOWN);
    for (int32_t d = 0; d < p; d++) count += append_forward(search, d);
    return count;
}

/* ---- Runs ------------------------------------------------------------------------------------------------- */

static void start(struct search *search) {
    search->most_idle = 0;
    for (int32_t d = 0; d < search->builder->p; d++) {
        struct lane *lane = &search->lanes[d];
        *lane = (struct lane){.approved = lane->approved, .cap = lane->cap, .size = {lane->size[0], lane->size[1]}};
    }
}

/* The span, or INFINITY when it came to a stop. */
static double run(struct search *search) {
    double span = 0;
    start(search);
    wave(search);
    level(search);
    while (round_of(search) > 0) {
    }
    for (int32_t d = 0; d < search->builder->p; d++) {
        struct lane *lane = &search->lanes[d];
        if (lane->done[I_UP] < search->builder->m) return INFINITY;
        while (pending(lane) > 0) append_weight(search, d);
        span = fmax(span, lane->free - lane->first_start);
    }
    return span;
}

/* Every device may be as idle as the worst one was. */
static void approve(struct search *search) {
    for (int32_t d = 0; d < search->builder->p; d++)
        search->lanes[d].approved = search->most_idle - search->lanes[d].idle;
}

static void keep_approved(const struct search *search, double *approved) {
    for (int32_t d = 0; d < search->builder->p; d++) approved[d] = search->lanes[d].approved;
}

static void set_approved(struct search *search, const double *approved) {
    for (int32_t d = 0; d < search->builder->p; d++) search->lanes[d].approved = approved ? approved[d] : 0;
}

/* The shortest span of the four choices; what it was found with is left in best_choice and best_approved. */
static double find_best(struct search *search, int careful, struct choice *best_choice, double *best_approved) {
    double best = INFINITY;
    for (int k = 0; k < 4; k++) {
        double before = INFINITY;
        search->choice = (struct choice){.fill_input = !(k & 2), .fill_forward = !(k & 1), .careful = careful};
        set_approved(search, NULL);
        for (int repeat = 0; repeat < REPEATS_MAX; repeat++) {
            double span = run(search);
            if (span >= before) break;
            before = span;
            if (span < best) {
                best = span;
                *best_choice = search->choice;
                keep_approved(search, best_approved);
            }
            approve(search);
        }
    }
    return best;
}

static void run_best(struct search *search, double *approved) {
    struct choice choice = {0, 0, 0};
    double best = find_best(search, 0, &choice, approved);
    if (best == INFINITY) best = find_best(search, 1, &choice, approved);
    assert(best < INFINITY);
    search->choice = choice;
    set_approved(search, approved);
    search->recorded = 1;
    run(search);
}

/* ---- The cap ---------------------------------------------------------------------------------------------- */

static int32_t set_caps(struct search *search, const struct kerf_schedule_request *request, struct kerf_error *err) {
    const struct kerf_schedule_times *times = request->times;
    int in_bytes = times->cap && times->cap_in_bytes;
    for (int32_t d = 0; d < search->builder->p; d++) {
        struct lane *lane = &search->lanes[d];
        double cap = times->cap ? times->cap[d] : search->builder->p;
        for (int chunk = 0; chunk < 2; chunk++)
            lane->size[chunk] = in_bytes ? times->activation_bytes[stage_of(search, d, chunk)] : 0.5;
        double least = lane->size[0] + lane->size[1];
        lane->cap = cap * (1 + 1e-12);
        if (lane->cap >= least) continue;
        return kerf_error_set(err, KERF_EINFEASIBLE, "%s needs a cap of at least %.17g %s on device %d, not %g",
                              request->rule, least,
                              in_bytes ? "bytes, one micro-batch through both chunks," : "micro-batch", d, cap);
    }
    return KERF_OK;
}

static int32_t search_v(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err) {
    size_t p = (size_t)builder->p, m = (size_t)builder->m;
    struct arena arena = {NULL};
    struct search search = {
        .builder = builder, .times = request->times, .freed_by_input = request->times->free_at_input};
    double *approved = arena_alloc(&arena, p, sizeof *approved);
    search.lanes = arena_alloc(&arena, p, sizeof *search.lanes);
    search.input_chunk = arena_take(&arena, 2 * p * m, sizeof *search.input_chunk);
    int good = approved && search.lanes && search.input_chunk;
    for (int pass = 0; pass < PASSES && good; pass++) {
        search.ends[pass] = arena_take(&arena, p * m, sizeof *search.ends[pass]);
        good = search.ends[pass] != NULL;
    }
    int32_t code = good ? KERF_OK : error_no_memory(err, "the search");
    if (code == KERF_OK) code = set_caps(&search, request, err);
    if (code == KERF_OK) run_best(&search, approved);
    arena_free(&arena);
    return code;
}

const struct rule rule_zb_v_searched = {
    .shown =
        {
            .name = "zb_v_searched",
            .summary = "zb_v searched for given times, in 1f1b's memory or --memory-cap",
            .bubble = "at most (p-1) (B-W) of the span where W <= F <= B, m >= 2p-1",
            .memory = "min(p, m), or the cap; below p, v_half and v_min are better",
            .source = "Zero Bubble, arXiv 2401.10241; sail-sg/zero-bubble-pipeline-parallelism zbv.py",
        },
    .placement = KERF_PLACE_V,
    .default_chunks = 2,
    .fixed_chunks = 1,
    .search = search_v,
};
