/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the best order: against every order there is on tiny cases, proved optima, and every other rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/schedule.h"
#include "schedule/search_how.h"

enum { STAGES = 16, DEVICES = 16, LONGEST = 64 };
static const int64_t TO_THE_END = 20000000000; /* steps: a proof needs far fewer */
static const double NEAR = 1e-9;

/* Numbers that are the same in every run. */
static uint64_t state;
static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* A question, with room for its times. */
struct question {
    struct kerf_schedule_request request;
    struct kerf_schedule_times times;
    double forward[STAGES], whole[STAGES], input[STAGES], weight[STAGES], bytes[STAGES];
    double cap[DEVICES], latency[DEVICES * DEVICES];
};

struct answer {
    double value, makespan, proved, span_bound;
    double held; /* micro-batches on the fullest device */
};

static int32_t stages_of(const struct question *q) {
    int32_t chunks = q->request.placement == KERF_PLACE_V ? 2 : q->request.chunks ? q->request.chunks : 1;
    return q->request.devices * chunks;
}

static void ask_for(struct question *q, int32_t p, int32_t m, enum kerf_placement placement,
                    enum kerf_objective objective, int64_t search_steps) {
    memset(q, 0, sizeof *q);
    q->request = (struct kerf_schedule_request){.rule = "best",
                                                .devices = p,
                                                .microbatches = m,
                                                .objective = objective,
                                                .placement = placement,
                                                .search_steps = search_steps};
}

/* Points at the arrays, once the question is where it stays. */
static void wire(struct question *q, int with_cap, int with_matrix) {
    q->times.forward_s = q->forward, q->times.backward_s = q->whole;
    q->times.backward_input_s = q->input, q->times.backward_weight_s = q->weight;
    q->times.cap = with_cap ? q->cap : NULL;
    q->times.p2p_of_s = with_matrix ? q->latency : NULL;
    q->request.times = &q->times;
}

static void set_times(struct question *q, double forward, double input, double weight, double p2p, double cap) {
    for (int32_t s = 0; s < STAGES; s++) {
        q->forward[s] = forward, q->input[s] = input, q->weight[s] = weight;
        q->whole[s] = input + weight;
    }
    for (int32_t d = 0; d < DEVICES; d++) q->cap[d] = cap;
    q->times.p2p_s = p2p;
    wire(q, cap > 0, 0);
}

/* Times of 0 to 4 halves, or odd ones; latencies by pair; caps by device. */
static void draw_times(struct question *q, int odd) {
    for (int32_t s = 0; s < STAGES; s++) {
        double *times[] = {&q->forward[s], &q->input[s], &q->weight[s]};
        for (int k = 0; k < 3; k++) *times[k] = odd ? 0.1 + draw(1000) / 997. : draw(5) / 2.;
        q->whole[s] = q->input[s] + q->weight[s];
    }
    for (int32_t k = 0; k < DEVICES * DEVICES; k++) q->latency[k] = draw(3) / 2.;
    for (int32_t d = 0; d < DEVICES; d++) q->cap[d] = 1 + draw(6) / 2.;
    q->times.p2p_s = draw(3) / 2.;
    q->times.free_at_input = draw(4) == 0;
    q->times.blocking = draw(4) == 0;
    q->times.overhead_s = draw(3) == 0 ? 0.25 : 0;
    wire(q, draw(4) != 0, draw(3) == 0);
}

/* Makes it and checks all that can be checked of any answer. */
static struct answer make(const struct question *q) {
    struct kerf_schedule *schedule;
    struct kerf_timeline *timeline;
    struct kerf_error err;
    if (kerf_schedule_make(&q->request, &schedule, &err) != KERF_OK) fail_msg("%s", err.message);
    if (kerf_schedule_check(schedule, &err) != KERF_OK) fail_msg("%s", err.message);
    assert_int_equal(kerf_schedule_simulate(schedule, &q->times, &timeline, &err), KERF_OK);
    assert_int_equal(timeline->over_cap, -1);
    const struct kerf_schedule_bound bound = kerf_schedule_lower_bound(schedule, &q->times, timeline);
    assert_true(bound.makespan_s <= timeline->makespan_s * (1 + NEAR));
    assert_true(bound.span_s <= timeline->span_s * (1 + NEAR));
    assert_true(schedule->proof.makespan_s <= timeline->makespan_s * (1 + NEAR));
    assert_true(schedule->proof.span_s <= timeline->span_s * (1 + NEAR));
    struct answer answer = {.value =
                                q->request.objective == KERF_OBJECTIVE_SPAN ? timeline->span_s : timeline->makespan_s,
                            .makespan = timeline->makespan_s,
                            .proved = schedule->proof.makespan_s,
                            .span_bound = bound.span_s};
    for (int32_t d = 0; d < schedule->devices; d++) answer.held = fmax(answer.held, timeline->peak_activations[d]);
    kerf_timeline_free(timeline);
    kerf_schedule_free(schedule);
    return answer;
}

static int is_near(double a, double b) { return fabs(a - b) <= NEAR * fmax(fabs(a), fabs(b)); }

/* ---- Every order there is --------------------------------------------------------------------------------- */

/* One device's operations in an order: stream * 3 + kind, whose micro-batches come first in, first out. */
struct part {
    int8_t at[LONGEST];
};

struct oracle {
    const struct question *q;
    int32_t p, stages, streams, units[2 * STAGES], device[2 * STAGES];
    struct part *parts[3]; /* every order of a device that keeps its cap */
    size_t num_parts[3];
    int32_t length[3];
    double best, best_makespan, best_span;
};

static double time_of(const struct oracle *o, int32_t stream, int kind) {
    int32_t stage = stream % o->stages;
    const double *times[] = {o->q->forward, o->q->input, o->q->weight};
    return times[kind][stage] + o->q->times.overhead_s;
}

static double latency(const struct oracle *o, int32_t from, int32_t to) {
    return from == to ? 0 : o->q->times.p2p_of_s ? o->q->times.p2p_of_s[from * o->p + to] : o->q->times.p2p_s;
}

static void list_parts(struct oracle *o, int32_t d, struct part *part, int32_t at, int32_t counts[][3], int32_t held,
                       int32_t cap) {
    if (at == o->length[d]) {
        if (o->num_parts[d] % 1024 == 0)
            o->parts[d] = realloc(o->parts[d], (o->num_parts[d] + 1024) * sizeof *o->parts[d]);
        assert_non_null(o->parts[d]);
        o->parts[d][o->num_parts[d]++] = *part;
        return;
    }
    for (int32_t s = 0; s < o->streams; s++)
        for (int kind = 0; kind < 3 && o->device[s] == d; kind++) {
            if (counts[s][kind] >= (kind ? counts[s][kind - 1] : o->units[s])) continue;
            int32_t now = held + (kind == 0);
            if (now > cap) continue;
            counts[s][kind]++;
            part->at[at] = (int8_t)(s * 3 + kind);
            list_parts(o, d, part, at + 1, counts, now - (kind == (o->q->times.free_at_input ? 1 : 2)), cap);
            counts[s][kind]--;
        }
}

static void evaluate(struct oracle *o, const struct part *const *chosen) {
    double end[2 * STAGES][3][4], free_s[3] = {0}, first[3] = {0}, last[3] = {0}, makespan = 0, span = 0;
    int32_t done[2 * STAGES][3] = {{0}}, at[3] = {0}, moved = 1;
    double begin = INFINITY;
    while (moved) {
        moved = 0;
        for (int32_t d = 0; d < o->p; d++) {
            if (at[d] == o->length[d]) continue;
            int32_t stream = chosen[d]->at[at[d]] / 3, kind = chosen[d]->at[at[d]] % 3, unit = done[stream][kind];
            int32_t stage = stream % o->stages, next = kind == 0 ? stream - 1 : stream + 1,
                    after = kind == 0 ? stream + 1 : stream - 1;
            int needs = (kind == 0 && stage > 0) || (kind == 1 && stage + 1 < o->stages);
            int feeds = (kind == 1 && stage > 0) || (kind == 0 && stage + 1 < o->stages);
            if ((needs && done[next][kind] <= unit) || (kind && done[stream][kind - 1] <= unit)) continue;
            double start = free_s[d];
            if (needs && o->device[next] != d)
                start = fmax(start, end[next][kind][unit] + latency(o, o->device[next], d));
            end[stream][kind][unit] = last[d] = start + time_of(o, stream, kind);
            if (at[d] == 0) first[d] = start;
            free_s[d] = last[d] + (feeds && o->q->times.blocking ? latency(o, d, o->device[after]) : 0);
            done[stream][kind]++, at[d]++, moved = 1;
        }
    }
    for (int32_t d = 0; d < o->p; d++) {
        if (at[d] < o->length[d]) return;
        makespan = fmax(makespan, last[d]), span = fmax(span, last[d] - first[d]), begin = fmin(begin, first[d]);
    }
    makespan -= begin;
    o->best_makespan = fmin(o->best_makespan, makespan);
    o->best_span = fmin(o->best_span, span);
    o->best = fmin(o->best, o->q->request.objective == KERF_OBJECTIVE_SPAN ? span : makespan);
}

/* The optimum over all orders, for at most 3 devices and units of a cap that are micro-batches of a stage. */
static void try_all(struct oracle *o, const struct question *q) {
    const struct part *chosen[3];
    int32_t p = q->request.devices, m = q->request.microbatches,
            replicas = q->request.placement == KERF_PLACE_BOTH ? 2 : 1;
    *o = (struct oracle){
        .q = q, .p = p, .stages = stages_of(q), .best = INFINITY, .best_makespan = INFINITY, .best_span = INFINITY};
    o->streams = replicas * o->stages;
    for (int32_t s = 0; s < o->streams; s++) {
        int32_t k = s % o->stages;
        o->units[s] = replicas == 1 ? m : s < o->stages ? m / 2 : m - m / 2;
        o->device[s] = s >= o->stages                                   ? p - 1 - k
                       : q->request.placement == KERF_PLACE_V && k >= p ? 2 * p - 1 - k
                                                                        : k % p;
        o->length[o->device[s]] += 3 * o->units[s];
    }
    for (int32_t d = 0; d < p; d++) {
        struct part part;
        int32_t counts[2 * STAGES][3] = {{0}}, chunks = o->stages / p;
        list_parts(o, d, &part, 0, counts, 0, q->times.cap ? (int32_t)floor(q->cap[d] * chunks + 1e-9) : 1000);
    }
    for (size_t a = 0; a < o->num_parts[0]; a++)
        for (size_t b = 0; b < (p > 1 ? o->num_parts[1] : 1); b++)
            for (size_t c = 0; c < (p > 2 ? o->num_parts[2] : 1); c++) {
                chosen[0] = &o->parts[0][a];
                chosen[1] = p > 1 ? &o->parts[1][b] : NULL;
                chosen[2] = p > 2 ? &o->parts[2][c] : NULL;
                evaluate(o, chosen);
            }
    for (int32_t d = 0; d < p; d++) free(o->parts[d]);
}

static void compare(const struct question *q, const char *what) {
    struct oracle oracle;
    const struct kerf_schedule_request *asked = &q->request;
    struct answer answer = make(q);
    int makespan = asked->objective == KERF_OBJECTIVE_MAKESPAN;
    /* two replicas may begin at any time, which the search for a small span does not go through */
    int exact = makespan || asked->placement != KERF_PLACE_BOTH;
    /* a whole backward has one overhead where split ones have two, so that a rule's order may be shorter */
    int split = q->times.overhead_s == 0;
    try_all(&oracle, q);
    if ((exact && answer.value > oracle.best * (1 + NEAR)) || (split && answer.value < oracle.best * (1 - NEAR)))
        fail_msg("%s %dx%d: %.12g, the best of all orders takes %.12g", what, asked->devices, asked->microbatches,
                 answer.value, oracle.best);
    if (answer.proved > oracle.best_makespan * (1 + NEAR))
        fail_msg("%s: proved %.12g, but an order takes %.12g", what, answer.proved, oracle.best_makespan);
    if (split && answer.span_bound > oracle.best_span * (1 + NEAR))
        fail_msg("%s: a span of %.12g is said to be the least, but an order has %.12g", what, answer.span_bound,
                 oracle.best_span);
    if (split && makespan && !is_near(answer.proved, oracle.best))
        fail_msg("%s %dx%d: proved %.12g, not the optimum %.12g", what, asked->devices, asked->microbatches,
                 answer.proved, oracle.best);
}

static void test_every_order(void **unused) {
    (void)unused;
    static const struct {
        int32_t p, m;
        enum kerf_placement placement;
        int32_t chunks, times;
    } shapes[] = {
        {1, 1, KERF_PLACE_LOOP, 0, 4},  {1, 3, KERF_PLACE_LOOP, 0, 6},  {2, 1, KERF_PLACE_LOOP, 0, 4},
        {2, 2, KERF_PLACE_LOOP, 0, 20}, {2, 3, KERF_PLACE_LOOP, 0, 40}, {3, 2, KERF_PLACE_LOOP, 0, 30},
        {3, 3, KERF_PLACE_LOOP, 0, 3},  {1, 2, KERF_PLACE_V, 0, 12},    {2, 1, KERF_PLACE_V, 0, 20},
        {2, 2, KERF_PLACE_BOTH, 0, 20}, {1, 1, KERF_PLACE_BOTH, 0, 3},  {1, 2, KERF_PLACE_LOOP, 2, 12},
        {2, 1, KERF_PLACE_LOOP, 2, 12}, {3, 1, KERF_PLACE_BOTH, 0, 6},  {3, 2, KERF_PLACE_BOTH, 0, 8},
    };
    static struct question q;
    state = 1;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int32_t time = 0; time < shapes[k].times; time++) {
            char what[64];
            snprintf(what, sizeof what, "shape %zu, times %d", k, time);
            ask_for(&q, shapes[k].p, shapes[k].m, shapes[k].placement,
                    time % 3 == 2 ? KERF_OBJECTIVE_SPAN : KERF_OBJECTIVE_MAKESPAN, TO_THE_END);
            q.request.chunks = shapes[k].chunks;
            draw_times(&q, time % 4 == 3);
            compare(&q, what);
        }
}

/* ---- Proved optima ---------------------------------------------------------------------------------------- */

static void test_proved_optima(void **unused) {
    (void)unused;
    static struct question q;
    FILE *file = fopen(KERF_SOURCE_DIR "/tests/reference/optima.csv", "r");
    char line[256], placement[8], objective[16];
    int rows = 0, met = 0;
    double forward, input, weight, p2p, cap, optimum;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        int32_t p, m;
        if (sscanf(line, "%7[^,],%15[^,],%d,%d,%lf,%lf,%lf,%lf,%lf,%lf", placement, objective, &p, &m, &forward, &input,
                   &weight, &p2p, &cap, &optimum) != 10)
            continue;
        int span = strcmp(objective, "span") == 0;
        rows++;
        ask_for(&q, p, m, strcmp(placement, "v") == 0 ? KERF_PLACE_V : KERF_PLACE_LOOP,
                span ? KERF_OBJECTIVE_SPAN : KERF_OBJECTIVE_MAKESPAN, span ? 2000000 : 20000000);
        set_times(&q, forward, input, weight, p2p, cap);
        struct answer answer = make(&q);
        if (answer.value < optimum * (1 - NEAR)) fail_msg("%s: %g is below a proved optimum", line, answer.value);
        if (!span && answer.proved > optimum * (1 + NEAR)) fail_msg("%s: proved %g", line, answer.proved);
        met += is_near(answer.value, optimum);
    }
    fclose(file);
    assert_int_equal(rows, 238);
    if (met < 200) fail_msg("%d of 238 optima are met", met);
}

/* Small ones to their end. */
static void test_proofs(void **unused) {
    (void)unused;
    static const struct {
        int32_t p, m;
        enum kerf_placement placement;
        double times[3], p2p, cap, optimum;
    } cases[] = {
        {2, 8, KERF_PLACE_LOOP, {2, 2, 1}, 1, 2, 49},   {3, 6, KERF_PLACE_LOOP, {2, 2, 1}, 1, 3, 44},
        {3, 9, KERF_PLACE_LOOP, {2, 2, 1}, 1, 4, 54},   {4, 8, KERF_PLACE_LOOP, {2, 2, 1}, 1, 4, 61},
        {4, 12, KERF_PLACE_LOOP, {3, 3, 2}, 1, 4, 120}, {4, 12, KERF_PLACE_LOOP, {2, 2, 1}, 1, 6, 73},
        {6, 12, KERF_PLACE_LOOP, {2, 2, 1}, 1, 6, 95},  {8, 16, KERF_PLACE_LOOP, {2, 2, 1}, 1, 8, 129},
        {2, 4, KERF_PLACE_V, {1, 1, 1}, 0, 1.5, 27},    {3, 6, KERF_PLACE_V, {1, 1, 1}, 0, 2, 41},
        {4, 8, KERF_PLACE_V, {1, 1, 1}, 0, 2, 59},
    };
    static struct question q;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (double scale = 1; scale > 0.1; scale -= 0.77) { /* 0.23 of it has rounding errors */
            ask_for(&q, cases[k].p, cases[k].m, cases[k].placement, KERF_OBJECTIVE_MAKESPAN, TO_THE_END);
            set_times(&q, scale * cases[k].times[0], scale * cases[k].times[1], scale * cases[k].times[2],
                      scale * cases[k].p2p, cases[k].cap);
            struct answer answer = make(&q);
            if (!is_near(answer.value, scale * cases[k].optimum) || !is_near(answer.proved, scale * cases[k].optimum))
                fail_msg("%dx%d: %.12g, proved %.12g, not %g", cases[k].p, cases[k].m, answer.value, answer.proved,
                         scale * cases[k].optimum);
        }
    ask_for(&q, 4, 8, KERF_PLACE_LOOP, KERF_OBJECTIVE_MAKESPAN, TO_THE_END); /* unequal stages */
    set_times(&q, 2, 2, 1, 1, 4);
    for (int32_t s = 0; s < 4; s++) {
        static const double sizes[] = {2, 3, 4, 3}, weights[] = {1, 2, 3, 2};
        q.forward[s] = q.input[s] = sizes[s], q.weight[s] = weights[s], q.whole[s] = sizes[s] + weights[s];
    }
    assert_true(is_near(make(&q).value, 95));
}

/* Of sizes that people run: what begins and ends on the device of stage 0 bounds its span. */
static void test_spans(void **unused) {
    (void)unused;
    static const struct {
        int32_t p, m;
        double cap, optimum;
    } cases[] = {{4, 12, 6, 49.4}, {8, 32, 9, 133}, {8, 32, 12, 130.6}, {8, 32, 16, 127.4}};
    static struct question q;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ask_for(&q, cases[k].p, cases[k].m, KERF_PLACE_LOOP, KERF_OBJECTIVE_SPAN, 300000000);
        set_times(&q, 1, 1.9, 0.8, 0.05, cases[k].cap);
        const struct answer answer = make(&q);
        if (!is_near(answer.value, cases[k].optimum) || !is_near(answer.span_bound, cases[k].optimum))
            fail_msg("%dx%d, cap %g: %.12g, at least %.12g, not %g", cases[k].p, cases[k].m, cases[k].cap, answer.value,
                     answer.span_bound, cases[k].optimum);
    }
}

/* ---- The other rules -------------------------------------------------------------------------------------- */

static void test_never_worse_than_a_rule(void **unused) {
    (void)unused;
    static struct question q, other;
    const struct kerf_schedule_rule *rule;
    state = 7;
    for (int32_t time = 0; time < 60; time++) {
        enum kerf_placement placement = (enum kerf_placement)(time % 3);
        int32_t p = 2 + (int32_t)draw(4), m = 1 + (int32_t)draw(10);
        ask_for(&q, p, m, placement, time % 2 ? KERF_OBJECTIVE_SPAN : KERF_OBJECTIVE_MAKESPAN, 2000000);
        if (placement == KERF_PLACE_LOOP && p <= 3) q.request.chunks = 1 + (int32_t)draw(3);
        draw_times(&q, time % 5 == 0);
        for (int32_t s = 0; s < STAGES && time % 4 == 0; s++) q.whole[s] *= 0.5; /* whole and fused ones may win */
        q.times.fused_s = time % 8 == 0 ? q.whole : NULL;
        double value = make(&q).value;
        for (size_t k = 0; (rule = kerf_schedule_rule_at(k)); k++) {
            struct kerf_schedule *schedule;
            struct kerf_timeline *timeline;
            if (strcmp(rule->name, "best") == 0) continue;
            other = q;
            wire(&other, q.times.cap != NULL, q.times.p2p_of_s != NULL);
            other.times.fused_s = q.times.fused_s ? other.whole : NULL;
            other.request.rule = rule->name;
            other.request.chunks = 0;
            int32_t stages = 0;
            if (kerf_schedule_stages(&other.request, &stages, NULL) == KERF_OK && stages != stages_of(&q))
                other.request.chunks = stages_of(&q) / p;
            if (kerf_schedule_stages(&other.request, &stages, NULL) != KERF_OK || stages != stages_of(&q)) continue;
            if (kerf_schedule_make(&other.request, &schedule, NULL) != KERF_OK) continue;
            int same = schedule->replicas == (placement == KERF_PLACE_BOTH ? 2 : 1) && schedule->slices == 1;
            for (int32_t s = 0; same && s < stages; s++)
                same = schedule->device_of[s] == (placement == KERF_PLACE_V && s >= p ? 2 * p - 1 - s : s % p);
            if (same && kerf_schedule_check(schedule, NULL) == KERF_OK &&
                kerf_schedule_simulate(schedule, &other.times, &timeline, NULL) == KERF_OK) {
                double theirs = q.request.objective == KERF_OBJECTIVE_SPAN ? timeline->span_s : timeline->makespan_s;
                if (timeline->over_cap < 0 && value > theirs * (1 + NEAR))
                    fail_msg("%dx%d: %.12g, but %s takes %.12g", p, m, value, rule->name, theirs);
                kerf_timeline_free(timeline);
            }
            kerf_schedule_free(schedule);
        }
    }
}

/* ---- Limits ----------------------------------------------------------------------------------------------- */

static void refuse(struct question *q, const char *words) {
    struct kerf_schedule *schedule = NULL;
    struct kerf_error err;
    assert_int_equal(kerf_schedule_make(&q->request, &schedule, &err), KERF_EINFEASIBLE);
    if (!strstr(err.message, words)) fail_msg("'%s' does not say '%s'", err.message, words);
}

static void test_caps(void **unused) {
    (void)unused;
    static struct question q;
    static const enum kerf_placement placements[] = {KERF_PLACE_LOOP, KERF_PLACE_V, KERF_PLACE_BOTH};
    for (int k = 0; k < 3; k++) {
        ask_for(&q, 3, 4, placements[k], KERF_OBJECTIVE_MAKESPAN, 10000000);
        set_times(&q, 1, 1, 1, 0.5, 1);
        make(&q); /* one micro-batch after the other */
        q.cap[2] = 0.75;
        refuse(&q, "device 2 within its cap of 0.75 micro-batches; the smallest cap that works is 1");
    }
    ask_for(&q, 2, 6, KERF_PLACE_LOOP, KERF_OBJECTIVE_MAKESPAN, 10000000);
    set_times(&q, 1, 1, 1, 0.5, 1000);
    q.bytes[0] = 300, q.bytes[1] = 1100;
    q.times.activation_bytes = q.bytes;
    q.times.cap_in_bytes = 1;
    refuse(&q, "device 1 within its cap of 1000 bytes: one micro-batch takes 1100");
    q.bytes[1] = 450;
    double tight = make(&q).value;
    q.cap[0] = q.cap[1] = 1e6;
    assert_true(make(&q).value < tight);
}

static int32_t end_at_once(void *context, double done) {
    assert_true(done >= 0 && done <= 1);
    ++*(int32_t *)context;
    return 1;
}

static void test_progress_ends_it(void **unused) {
    (void)unused;
    static struct question q;
    int32_t calls = 0;
    ask_for(&q, 16, 64, KERF_PLACE_LOOP, KERF_OBJECTIVE_MAKESPAN, TO_THE_END);
    set_times(&q, 10, 11, 8, 2, 16);
    q.request.progress = end_at_once;
    q.request.progress_context = &calls;
    make(&q);
    assert_int_equal(calls, 1);
}

/* Other times that nobody asked about: the defaults, and links that messages share. */
static void test_odd_questions(void **unused) {
    (void)unused;
    static struct question q;
    struct kerf_schedule *schedule;
    ask_for(&q, 4, 8, KERF_PLACE_LOOP, KERF_OBJECTIVE_MAKESPAN, TO_THE_END);
    assert_int_equal(kerf_schedule_make(&q.request, &schedule, NULL), KERF_OK);
    assert_true(schedule->proof.makespan_s == 27);
    kerf_schedule_free(schedule);
    set_times(&q, 1, 2, 1, 2, 4);
    q.times.shared_link = 1;
    q.request.search_steps = 20000000;
    double shared = make(&q).value;
    q.times.shared_link = 0;
    assert_true(make(&q).value <= shared);
    set_times(&q, 0, 0, 0, 0, 2);
    assert_true(make(&q).value == 0);
    set_times(&q, 0, 0, 0, 1, 2);
    make(&q);
    set_times(&q, 1e-9, 2e-9, 1e-9, 3e-10, 3);
    double small = make(&q).value;
    set_times(&q, 1e9, 2e9, 1e9, 3e8, 3);
    assert_true(is_near(small * 1e18, make(&q).value));
}

/* Times of very different size, where bounds could creep upwards for ever, and everything else at random. */
static void test_wild_times(void **unused) {
    (void)unused;
    static const double sizes[] = {0, 1e-300, 1e-9, 0.37, 1, 2, 1e9, 1e15};
    static struct question q;
    state = 3;
    for (int32_t time = 0; time < 80; time++) {
        ask_for(&q, 1 + (int32_t)draw(5), 1 + (int32_t)draw(7), (enum kerf_placement)(time % 3),
                draw(2) ? KERF_OBJECTIVE_SPAN : KERF_OBJECTIVE_MAKESPAN, 2000000);
        if (time % 3 == KERF_PLACE_LOOP) q.request.chunks = 1 + (int32_t)draw(3);
        draw_times(&q, 0);
        q.times.shared_link = draw(4) == 0;
        for (int32_t s = 0; s < STAGES; s++) {
            q.forward[s] = sizes[draw(8)], q.input[s] = sizes[draw(8)], q.weight[s] = sizes[draw(8)];
            q.whole[s] = sizes[draw(8)];
        }
        for (int32_t k = 0; k < DEVICES * DEVICES; k++) q.latency[k] = sizes[draw(8)];
        make(&q);
    }
}

/* ---- What the step follows -------------------------------------------------------------------------------- */

/* With unsynchronised steps the span counts: within a cap of 8 zb_1p takes 24 s, where the shortest makespan has a span
 * of 27 s. */
static void test_the_step_is_followed(void **unused) {
    (void)unused;
    static struct question q;
    ask_for(&q, 4, 8, KERF_PLACE_LOOP, KERF_OBJECTIVE_STEP, TO_THE_END);
    set_times(&q, 1, 1, 1, 0, 8);
    struct answer answer = make(&q);
    assert_true(answer.value == 27 && answer.proved == 27);
    q.times.unsynchronised = 1;
    q.request.objective = KERF_OBJECTIVE_STEP;
    struct kerf_schedule *schedule;
    struct kerf_timeline *timeline;
    assert_int_equal(kerf_schedule_make(&q.request, &schedule, NULL), KERF_OK);
    assert_int_equal(kerf_schedule_simulate(schedule, &q.times, &timeline, NULL), KERF_OK);
    const struct kerf_schedule_bound bound = kerf_schedule_lower_bound(schedule, &q.times, timeline);
    assert_true(timeline->step_s == 24 && timeline->span_s == 24);
    assert_true(bound.span_s == 24 && bound.step_s == 24);
    assert_true(schedule->proof.span_s == 24);
    kerf_timeline_free(timeline);
    kerf_schedule_free(schedule);
}

/* ---- Memory ----------------------------------------------------------------------------------------------- */

/* Of equally short orders the one that holds least; each cap below was searched to its end and has no such order. */
static void test_equally_short_orders_hold_the_least(void **unused) {
    (void)unused;
    static const struct {
        int32_t p, m;
        enum kerf_placement placement;
        double times[3], p2p, makespan, held;
    } cases[] = {
        {8, 32, KERF_PLACE_LOOP, {1, 2, 1}, 1, 142, 22},    {2, 32, KERF_PLACE_LOOP, {1, 1, 1}, 3, 100, 5},
        {4, 64, KERF_PLACE_LOOP, {1, 1, 1}, 0.5, 196.5, 6}, {4, 20, KERF_PLACE_BOTH, {1, 1, 1}, 0.2, 61.2, 10},
        {4, 8, KERF_PLACE_V, {1, 1, 1}, 0, 51, 4},
    };
    static struct question q;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ask_for(&q, cases[k].p, cases[k].m, cases[k].placement, KERF_OBJECTIVE_MAKESPAN, 500000000);
        set_times(&q, cases[k].times[0], cases[k].times[1], cases[k].times[2], cases[k].p2p, 0);
        const struct answer answer = make(&q);
        if (!is_near(answer.value, cases[k].makespan) || answer.held > cases[k].held)
            fail_msg("%dx%d: %.12g s with %g held, not %.12g s with %g", cases[k].p, cases[k].m, answer.value,
                     answer.held, cases[k].makespan, cases[k].held);
    }
}

/* ---- Steps and clocks ------------------------------------------------------------------------------------- */

static int same_order(const struct kerf_schedule *a, const struct kerf_schedule *b) {
    for (int32_t d = 0; d < a->devices; d++)
        if (a->num_ops[d] != b->num_ops[d] ||
            memcmp(a->ops[d], b->ops[d], (size_t)a->num_ops[d] * sizeof **a->ops) != 0)
            return 0;
    return 1;
}

/* A clock that goes on by a second each time it is read. */
static double count_reads(void *context) { return ++*(int32_t *)context; }

/* A search that has no proof within its steps has the same answer each time, whatever a clock with room to spare says;
 * and one whose time is up ends, with an answer. */
static void test_steps_and_clocks(void **unused) {
    (void)unused;
    static struct question q;
    struct kerf_schedule *first, *second, *timed, *hurried;
    int32_t reads = 0;
    ask_for(&q, 8, 40, KERF_PLACE_LOOP, KERF_OBJECTIVE_MAKESPAN, 3000000);
    set_times(&q, 1.03, 1.9, 0.8, 0.35, 9);
    assert_int_equal(kerf_schedule_make(&q.request, &first, NULL), KERF_OK);
    assert_int_equal(kerf_schedule_make(&q.request, &second, NULL), KERF_OK);
    assert_true(same_order(first, second));
    assert_true(first->proof.makespan_s == second->proof.makespan_s);
    q.request.clock = count_reads;
    q.request.clock_context = &reads;
    q.request.search_time_s = 1e12;
    assert_int_equal(kerf_schedule_make(&q.request, &timed, NULL), KERF_OK);
    assert_true(same_order(first, timed) && reads > 100);
    q.request.search_steps = 0;
    q.request.search_time_s = 5;
    reads = 0;
    assert_int_equal(kerf_schedule_make(&q.request, &hurried, NULL), KERF_OK);
    assert_true(reads < 200);
    kerf_schedule_free(first), kerf_schedule_free(second), kerf_schedule_free(timed), kerf_schedule_free(hurried);
}

/* With a limit in steps any number of threads has one answer, and one proof: of few operations, where the exact search
 * begins alone, and of many. */
static void test_any_number_of_threads(void **unused) {
    (void)unused;
    static const struct {
        int32_t p, m;
        enum kerf_placement placement;
        double cap;
        int64_t steps;
    } asked[] = {{6, 12, KERF_PLACE_V, 4, 150000000}, {8, 72, KERF_PLACE_LOOP, 7, 90000000}};
    static const int32_t threads[] = {1, 2, 5};
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        struct kerf_schedule *schedules[3];
        struct kerf_schedule_times_request said;
        const struct kerf_schedule_request request = {.rule = "best",
                                                      .devices = asked[k].p,
                                                      .microbatches = asked[k].m,
                                                      .placement = asked[k].placement,
                                                      .objective = KERF_OBJECTIVE_MAKESPAN,
                                                      .certificate = 1,
                                                      .search_steps = asked[k].steps};
        kerf_schedule_times_unsaid(&said);
        said.forward_s = 1, said.backward_input_s = 1.9, said.backward_weight_s = 0.8, said.p2p_s = 0.05;
        said.cap = asked[k].cap, said.per_device = 1;
        for (int t = 0; t < 3; t++) {
            struct kerf_schedule_times *times;
            struct kerf_error err;
            if (kerf_schedule_make_threads(&request, &said, threads[t], &schedules[t], &times, &err) != KERF_OK)
                fail_msg("%s", err.message);
            kerf_schedule_times_free(times);
        }
        for (int t = 1; t < 3; t++) {
            assert_true(same_order(schedules[0], schedules[t]));
            assert_string_equal(schedules[0]->certificate, schedules[t]->certificate);
        }
        for (int t = 0; t < 3; t++) kerf_schedule_free(schedules[t]);
    }
    struct kerf_schedule_times_request said;
    struct kerf_schedule *none;
    struct kerf_schedule_times *times;
    const struct kerf_schedule_request request = {.rule = "best", .devices = 2, .microbatches = 2};
    kerf_schedule_times_unsaid(&said);
    assert_int_equal(kerf_schedule_make_threads(&request, &said, -1, &none, &times, NULL), KERF_EINVALID);
}

/* ---- Comparisons ------------------------------------------------------------------------------------------ */

static void simulate(struct kerf_schedule_run *run, const struct kerf_schedule_request *request,
                     const struct kerf_schedule_times_request *said) {
    struct kerf_schedule *schedule;
    struct kerf_schedule_times *times;
    struct kerf_timeline *timeline;
    struct kerf_error err;
    if (kerf_schedule_make_timed(request, said, &schedule, &times, &err) != KERF_OK)
        fail_msg("%s: %s", request->rule, err.message);
    assert_int_equal(kerf_schedule_simulate(schedule, times, &timeline, &err), KERF_OK);
    *run = (struct kerf_schedule_run){schedule, times, timeline};
}

static void forget(const struct kerf_schedule_run *run) {
    kerf_timeline_free((struct kerf_timeline *)(void *)run->timeline);
    kerf_schedule_times_free((struct kerf_schedule_times *)(void *)run->times);
    kerf_schedule_free((struct kerf_schedule *)(void *)run->schedule);
}

/* Both are split operations in a V within the same cap: what bounds one bounds the other. */
static void test_one_problem_has_one_bound(void **unused) {
    (void)unused;
    struct kerf_schedule_times_request said;
    struct kerf_schedule_run runs[3];
    struct kerf_schedule_bound bounds[3];
    struct kerf_schedule_request request = {
        .rule = "v_min", .devices = 16, .microbatches = 64, .placement = KERF_PLACE_V, .search_steps = 5000000};
    kerf_schedule_times_unsaid(&said);
    said.forward_s = 1, said.backward_input_s = 1.9, said.backward_weight_s = 0.8, said.p2p_s = 0.05;
    said.cap = 6, said.per_device = 1;
    simulate(&runs[0], &request, &said);
    request.rule = "best";
    simulate(&runs[1], &request, &said);
    request.rule = "1f1b"; /* another problem */
    simulate(&runs[2], &request, &said);
    kerf_schedule_lower_bounds(runs, 3, bounds);
    assert_true(bounds[0].makespan_s == bounds[1].makespan_s && bounds[0].span_s == bounds[1].span_s);
    assert_true(bounds[0].makespan_s > 1.45 * 16 * 3.7); /* residence: load and chain alone say far less */
    assert_true(bounds[2].makespan_s != bounds[0].makespan_s);
    const struct kerf_schedule_bound own = kerf_schedule_lower_bound(runs[0].schedule, runs[0].times, runs[0].timeline);
    assert_true(own.makespan_s <= bounds[0].makespan_s && own.makespan_s > bounds[0].makespan_s * 0.99);
    for (int k = 0; k < 3; k++) forget(&runs[k]);
}

/* Without a cap the memory of the order found limits no other: one of 52 s holds 2 micro-batches, one of 50 s 3. */
static void test_no_cap_is_no_limit(void **unused) {
    (void)unused;
    static struct question q;
    double least = INFINITY, bound[2];
    for (int more = 0; more < 2; more++) {
        struct kerf_schedule *schedule;
        struct kerf_timeline *timeline;
        ask_for(&q, 2, 3, KERF_PLACE_V, KERF_OBJECTIVE_MAKESPAN, more ? 1000000 : 100000);
        set_times(&q, 2, 4, 2, 0, 0);
        assert_int_equal(kerf_schedule_make(&q.request, &schedule, NULL), KERF_OK);
        assert_int_equal(kerf_schedule_simulate(schedule, &q.times, &timeline, NULL), KERF_OK);
        bound[more] = kerf_schedule_lower_bound(schedule, &q.times, timeline).makespan_s;
        least = fmin(least, timeline->makespan_s);
        kerf_timeline_free(timeline);
        kerf_schedule_free(schedule);
    }
    assert_true(least == 50);
    assert_true(bound[0] <= least && bound[1] <= least);
}

struct seen {
    double found_s, bound_s; /* told last */
    int32_t times, fell;
};

static int32_t go_on(void *context, double done) {
    (void)context, (void)done;
    return 0;
}

static void see(void *context, double found_s, double bound_s) {
    struct seen *seen = context;
    assert_true(seen->times == 0 || (found_s <= seen->found_s && bound_s >= seen->bound_s));
    seen->fell += seen->times++ > 0 && found_s < seen->found_s;
    seen->found_s = found_s, seen->bound_s = bound_s;
}

/* The gap only closes while the search goes on, and the answer is what was told, or better. */
static void test_a_search_may_be_watched(void **unused) {
    (void)unused;
    struct kerf_schedule_times_request said;
    struct kerf_schedule *schedule;
    struct kerf_schedule_times *times;
    struct kerf_error err;
    struct seen seen = {0};
    const struct search_how how = {2, see, &seen};
    const struct kerf_schedule_request request = {.rule = "best",
                                                  .devices = 6,
                                                  .microbatches = 12,
                                                  .placement = KERF_PLACE_V,
                                                  .objective = KERF_OBJECTIVE_MAKESPAN,
                                                  .search_steps = 60000000,
                                                  .progress = go_on};
    kerf_schedule_times_unsaid(&said);
    said.forward_s = 1, said.backward_input_s = 1.9, said.backward_weight_s = 0.8, said.p2p_s = 0.05;
    said.cap = 4, said.per_device = 1;
    assert_int_equal(schedule_make_how(&request, &said, &how, &schedule, &times, &err), KERF_OK);
    assert_true(seen.times > 3 && seen.fell > 0);
    assert_true(schedule->proof.makespan_s >= seen.bound_s);
    kerf_schedule_times_free(times);
    kerf_schedule_free(schedule);
}

/* With any placement best is as short as every rule that keeps the cap. */
static void test_any_placement(void **unused) {
    (void)unused;
    const struct kerf_schedule_rule *rule;
    state = 5;
    for (int32_t time = 0; time < 12; time++) {
        struct kerf_schedule_times_request said;
        struct kerf_schedule_run best;
        struct kerf_error err;
        struct kerf_schedule_request request = {.rule = "best",
                                                .devices = 2 + (int32_t)draw(4),
                                                .microbatches = 2 + (int32_t)draw(8),
                                                .placement = KERF_PLACE_ANY,
                                                .search_steps = 4000000};
        kerf_schedule_times_unsaid(&said);
        said.forward_s = 1 + draw(3), said.backward_input_s = 1 + draw(3), said.backward_weight_s = 1 + draw(3);
        said.p2p_s = draw(3) / 4., said.unsynchronised = (int32_t)draw(2), said.per_device = 1;
        if (draw(2)) said.cap = 2 + draw(4);
        simulate(&best, &request, &said);
        assert_int_equal(best.timeline->over_cap, -1);
        for (size_t k = 0; (rule = kerf_schedule_rule_at(k)); k++) {
            struct kerf_schedule_request other = request;
            struct kerf_schedule *schedule;
            struct kerf_schedule_times *times;
            struct kerf_timeline *timeline;
            other.rule = rule->name;
            /* slices, waves of two turns and two V are no placements that it tries */
            if (kerf_schedule_takes_slices(rule->name) || strstr("best hanayo bitpipe", rule->name)) continue;
            if (kerf_schedule_make_timed(&other, &said, &schedule, &times, &err) != KERF_OK) continue;
            assert_int_equal(kerf_schedule_simulate(schedule, times, &timeline, &err), KERF_OK);
            if (timeline->over_cap < 0 && timeline->step_s < best.timeline->step_s * (1 - NEAR))
                fail_msg("%dx%d: a step of %.12g s, but %s has %.12g s", request.devices, request.microbatches,
                         best.timeline->step_s, rule->name, timeline->step_s);
            kerf_timeline_free(timeline);
            kerf_schedule_times_free(times);
            kerf_schedule_free(schedule);
        }
        forget(&best);
        struct kerf_schedule *schedule; /* times by stage do not fit placements with other stages */
        struct kerf_schedule_times *times;
        assert_int_equal(kerf_schedule_make(&request, &schedule, &err), KERF_EINVALID);
        said.per_device = 0;
        assert_int_equal(kerf_schedule_make_timed(&request, &said, &schedule, &times, &err), KERF_EINVALID);
    }
}

static void test_unknown_kinds(void **unused) {
    (void)unused;
    static const struct {
        int objective, placement;
        const char *words;
    } cases[] = {{99, KERF_PLACE_LOOP, "objective 99 does not exist"},
                 {-1, KERF_PLACE_ANY, "objective -1 does not exist"},
                 {0, KERF_PLACEMENTS, "placement 6 does not exist"},
                 {0, -1, "placement -1 does not exist"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct kerf_schedule_request request = {.rule = "best",
                                                      .devices = 2,
                                                      .microbatches = 2,
                                                      .objective = (enum kerf_objective)cases[i].objective,
                                                      .placement = (enum kerf_placement)cases[i].placement};
        struct kerf_schedule_times_request said;
        struct kerf_schedule *schedule;
        struct kerf_schedule_times *times;
        struct kerf_error err;
        int32_t stages;
        kerf_schedule_times_unsaid(&said);
        said.per_device = 1;
        assert_int_equal(kerf_schedule_stages(&request, &stages, &err), KERF_EINVALID);
        assert_string_equal(err.message, cases[i].words);
        assert_int_equal(kerf_schedule_make(&request, &schedule, &err), KERF_EINVALID);
        assert_int_equal(kerf_schedule_make_timed(&request, &said, &schedule, &times, &err), KERF_EINVALID);
        if (cases[i].placement != KERF_PLACE_ANY) assert_string_equal(err.message, cases[i].words);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_kinds),
        cmocka_unit_test(test_every_order),
        cmocka_unit_test(test_proved_optima),
        cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_never_worse_than_a_rule),
        cmocka_unit_test(test_caps),
        cmocka_unit_test(test_progress_ends_it),
        cmocka_unit_test(test_odd_questions),
        cmocka_unit_test(test_wild_times),
        cmocka_unit_test(test_the_step_is_followed),
        cmocka_unit_test(test_equally_short_orders_hold_the_least),
        cmocka_unit_test(test_steps_and_clocks),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_one_problem_has_one_bound),
        cmocka_unit_test(test_no_cap_is_no_limit),
        cmocka_unit_test(test_a_search_may_be_watched),
        cmocka_unit_test(test_any_placement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
