/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The makespan of interleaved_1f1b and eager_1f1b, exactly, in time that does not grow with the micro-batches where it
 * need not; and what interleaved_1f1b holds.
 *
 * Steps. Each device has M = m v forwards and as many backwards, F(i, k) and B(i, k) in its order, and takes turns after
 * w = 2 (p - 1 - i) + (v - 1) p forwards. Let it do F(i, K + t - i) and B(i, t + i) in step t, with K = 2 (p - 1) +
 * (v - 1) p. Then all that an operation needs of other devices was made one step before:
 *
 *     F(i, k) needs F(i-1, k), of step t - 1; F(0, k), unless of chunk 0, F(p-1, k-p), of step t - 1 too;
 *     B(i, k) needs B(i+1, k), of step t - 1; B(p-1, k), unless of the last chunk, B(0, k-p), of step t - 1 too,
 *
 * and all devices move on together. With g_i and h_i for the ends of the last F and B, L for the latency:
 *
 *     g_i' = max(h_i, g_{i-1} + L) + F,   h_i' = max(g_i', h_{i+1} + L) + B.
 *
 * Times change with the chunk, so that this repeats every P = p v steps (each step where v is 1).
 *
 * The end is the start of the same pipeline with time reversed: F and B change places, and steps are counted from the
 * other side. The makespan is the longest path over the edges that cross the cut between step T from the start and step
 * M - K - T from the end: max over i of h_i + h_i^R, g_i + L + h_{i+1}^R, h_{i+1} + L + g_i^R.
 *
 * Extrapolation. Let C be p times the busiest device's time of a micro-batch through all its chunks, what it does in P
 * steps. Let T and T + P lie where all devices do both, and let the run with n micro-batches less, n / p periods, be cut
 * at T + P. If
 *
 *     (1)  g(T + P) <= g(T) + C and h(T + P) <= h(T) + C on every device, and
 *     (2)  the makespan of the run with n micro-batches less is h_i + h_i^R of a busiest device,
 *
 * then the makespan is that one + C n / p. It is not more: a period is a linear map of the (max, +) algebra, which is
 * monotone and commutes with adding a number to all, so that (1) holds ever after. It is not less: the device's own
 * operations are a path. If instead of (1) and (2) all of g and h have grown by one number C', the run is in its steady
 * state, and the makespan grows by C' n / p. Where neither comes to hold, all steps are made.
 */
#include <assert.h>
#include <math.h>
#include <string.h>
#include "schedule/build.h"
#include "schedule/pipeline_orders.h"

/* Of sums of other order. */
static const double ROUNDING = 4e-15;

static inline double larger(double a, double b) { return a > b ? a : b; }

/* ---- Steps ---------------------------------------------------------------------------------------------------- */

struct ring {
    int32_t p, v;
    int64_t passes, ahead;             /* M, K */
    const double *forward, *back;      /* [p v] by stage */
    double latency;                    /* 0 where there is one device */
    double *there, *free;              /* [p] g + L, and h */
    double *now_forward, *now_back;    /* [p] of the chunks at hand */
    int64_t step;                      /* steps from -K to here are done */
    int32_t turn_forward, turn_back;   /* the device whose next operation is of another chunk, */
    int32_t chunk_forward, chunk_back; /* and of this one */
    int32_t wraps_forward, wraps_back; /* 1: the first device's F, the last device's B, wait for the other's */
};

static void ring_begin(struct ring *ring) {
    ring->step = -ring->ahead;
    ring->turn_forward = 0;
    ring->turn_back = ring->p - 1;
    ring->chunk_forward = 0;
    ring->chunk_back = ring->v - 1;
    ring->wraps_forward = ring->wraps_back = 0;
    for (int32_t i = 0; i < ring->p; i++) ring->there[i] = ring->free[i] = 0;
}

/* One device a step goes on to its next chunk: forwards the first one first, backwards the last one. */
static inline void turn_forward(struct ring *ring) {
    const int32_t i = ring->turn_forward, chunk = ring->chunk_forward;
    ring->now_forward[i] = ring->forward[chunk * ring->p + i];
    if (i == 0) ring->wraps_forward = chunk > 0;
    if (++ring->turn_forward < ring->p) return;
    ring->turn_forward = 0;
    ring->chunk_forward = chunk + 1 < ring->v ? chunk + 1 : 0;
}

static inline void turn_back(struct ring *ring) {
    const int32_t i = ring->turn_back, chunk = ring->chunk_back;
    ring->now_back[i] = ring->back[chunk * ring->p + i];
    if (i == ring->p - 1) ring->wraps_back = chunk + 1 < ring->v;
    if (--ring->turn_back >= 0) return;
    ring->turn_back = ring->p - 1;
    ring->chunk_back = chunk > 0 ? chunk - 1 : ring->v - 1;
}

/* The chunks of the next step, and what its first F and its last B wait for. */
static inline void turn(struct ring *ring, int forward_alone) {
    turn_forward(ring);
    if (!forward_alone) turn_back(ring);
    ring->there[-1] = ring->wraps_forward ? ring->there[ring->p - 1] : 0;
    ring->free[ring->p] = ring->wraps_back ? ring->free[0] : -INFINITY;
}

/* Devices from `first` to `last` do F and B. Each reads what its neighbours have made in the step before. */
static inline void both(struct ring *ring, int32_t first, int32_t last) {
    const double latency = ring->latency, *forward = ring->now_forward, *back = ring->now_back;
    double *there = ring->there, *device = ring->free, ready = device[last + 1] + latency;
    for (int32_t i = last; i >= first; i--) {
        const double before = device[i], end = larger(before, there[i - 1]) + forward[i];
        there[i] = end + latency;
        device[i] = larger(end, ready) + back[i];
        ready = before + latency;
    }
}

static inline void forward_alone(struct ring *ring, int32_t first, int32_t last) {
    for (int32_t i = last; i >= first; i--) {
        ring->free[i] = larger(ring->free[i], ring->there[i - 1]) + ring->now_forward[i];
        ring->there[i] = ring->free[i] + ring->latency;
    }
}

/* A step of the warm-up: devices up to K + t have begun, and those from -t on do B too. */
static void warm_up_step(struct ring *ring) {
    const int64_t t = ring->step++, begun = ring->ahead + t;
    const int32_t last = begun < ring->p ? (int32_t)begun : ring->p - 1, first = -t <= last ? (int32_t)-t : last + 1;
    turn(ring, t + ring->p <= 0);
    both(ring, first, last);
    forward_alone(ring, 0, first - 1);
}

/* Steps in which every device does both. */
static void steady_steps(struct ring *ring, int64_t count) {
    ring->step += count;
    for (; count > 0; count--) {
        turn(ring, 0);
        both(ring, 0, ring->p - 1);
    }
}

/* A step of a run with so few micro-batches that some devices have done all their F when others begin with B. */
static void short_step(struct ring *ring) {
    const int64_t t = ring->step++;
    turn(ring, t + ring->p <= 0);
    double next = ring->free[ring->p];
    for (int32_t i = ring->p; i-- > 0;) {
        const int64_t k = ring->ahead + t - i, b = t + i;
        const double before = ring->free[i];
        if (k >= 0 && k < ring->passes) forward_alone(ring, i, i);
        if (b >= 0 && b < ring->passes) ring->free[i] = larger(ring->free[i], next + ring->latency) + ring->now_back[i];
        next = before;
    }
}

/* ---- The cut -------------------------------------------------------------------------------------------------- */

/* The longest path over edges that cross a cut: over a busiest device's own, and over any. */
struct crossing {
    double busiest, any;
};

/* Where a run from the start and one from the end meet. */
static struct crossing cross(const struct ring *ring, const struct ring *reverse, const unsigned char *busiest) {
    const int32_t p = ring->p;
    const int64_t period = (int64_t)p * ring->v, t = ring->step, next = ring->ahead + t;
    const int64_t passes = next + reverse->step; /* of this run, which may be shorter than the one that is asked for */
    struct crossing crossing = {0, 0};
    for (int32_t i = 0; i < p; i++) {
        const double own = ring->free[i] + reverse->free[i];
        crossing.any = larger(crossing.any, own);
        if (busiest[i]) crossing.busiest = larger(crossing.busiest, own);
    }
    for (int32_t i = 0; i + 1 < p; i++) {
        const int64_t k = next - 1 - i, b = t + i; /* the last F of device i, the last B of device i + 1 */
        if (k >= 0 && k < passes) crossing.any = larger(crossing.any, ring->there[i] + reverse->free[i + 1]);
        if (b >= 0 && b < passes) crossing.any = larger(crossing.any, ring->free[i + 1] + reverse->there[i]);
    }
    /* The first device has no F left, or one of chunk 0: it waits for none of the last device's. */
    assert(next >= passes || next % period < p);
    if (t > 0 && t + p - 1 < passes && (t + p - 1) % period >= p)
        crossing.any = larger(crossing.any, ring->free[0] + reverse->there[p - 1]);
    return crossing;
}

/* ---- Periods -------------------------------------------------------------------------------------------------- */

struct periods {
    struct ring ring, reverse;
    int64_t steps;          /* P */
    double busiest_s;       /* C */
    unsigned char *busiest; /* [p] */
    double *before;         /* [2 p] there and free one period ago */
};

static void find_busiest(struct periods *periods) {
    const struct ring *ring = &periods->ring;
    double most = 0;
    for (int32_t i = 0; i < ring->p; i++) {
        double load = 0;
        for (int32_t c = 0; c < ring->v; c++) load += ring->forward[c * ring->p + i] + ring->back[c * ring->p + i];
        ring->now_forward[i] = load; /* not in use yet */
        most = larger(most, load);
    }
    for (int32_t i = 0; i < ring->p; i++) periods->busiest[i] = ring->now_forward[i] >= most * (1 - ROUNDING);
    periods->busiest_s = most * (ring->v > 1 ? ring->p : 1);
}

static void remember(const struct periods *periods) {
    const size_t p = (size_t)periods->ring.p;
    memcpy(periods->before, periods->ring.there, p * sizeof(double));
    memcpy(periods->before + p, periods->ring.free, p * sizeof(double));
}

/* How much all have grown since, at least and at most. */
static void grown(const struct periods *periods, double *ret_least, double *ret_most) {
    const struct ring *ring = &periods->ring;
    double least = INFINITY, most = 0;
    for (int32_t i = 0; i < ring->p; i++) {
        const double there = ring->there[i] - periods->before[i], device = ring->free[i] - periods->before[ring->p + i];
        most = larger(most, larger(there, device));
        least = -larger(-least, larger(-there, -device));
    }
    *ret_least = least;
    *ret_most = most;
}

/* Whether what is left only repeats; then *ret_s is the makespan, with so many periods more. */
static int is_settled(const struct periods *periods, int64_t left, double *ret_s) {
    const struct crossing crossing = cross(&periods->ring, &periods->reverse, periods->busiest);
    const double noise = ROUNDING * crossing.any, times = (double)left;
    double least, most;
    grown(periods, &least, &most);
    if (most <= periods->busiest_s + noise && crossing.busiest + noise >= crossing.any)
        *ret_s = crossing.busiest + times * periods->busiest_s;
    else if (most <= least + noise)
        *ret_s = crossing.any + times * most;
    else
        return 0;
    return 1;
}

static double run(struct periods *periods) {
    struct ring *ring = &periods->ring, *reverse = &periods->reverse;
    const int64_t all = ring->passes - ring->ahead; /* steps with both F and B on every device */
    const int64_t steps = periods->steps;
    double makespan_s;
    if (all < 0) { /* none: the cut is in the middle of what there is */
        while (ring->step < all / 2) short_step(ring);
        while (reverse->step < all - all / 2) short_step(reverse);
        return cross(ring, reverse, periods->busiest).any;
    }
    while (reverse->step < 0) warm_up_step(reverse);
    while (ring->step < 0) warm_up_step(ring);
    steady_steps(ring, all % steps + (steps == 1 && all > ring->p ? ring->p : 0));
    for (int64_t between = 0; all - ring->step > (between + 1) * steps; between += 1 + between / 2) {
        steady_steps(ring, between * steps);
        remember(periods);
        steady_steps(ring, steps);
        if (is_settled(periods, (all - ring->step) / steps, &makespan_s)) return makespan_s;
    }
    steady_steps(ring, all - ring->step);
    return cross(ring, reverse, periods->busiest).any;
}

/* ---- From the question ---------------------------------------------------------------------------------------- */

enum { ARRAYS = 10, ENDS = 8 }; /* of p doubles each, and those at the ends */

static void ring_make(struct ring *ring, const struct pipeline_question *question, const double *forward,
                      const double *back, double *room) {
    const int32_t p = question->devices, v = question->chunks;
    *ring = (struct ring){.p = p,
                          .v = v,
                          .passes = (int64_t)question->microbatches * v,
                          .ahead = 2 * (int64_t)(p - 1) + (int64_t)(v - 1) * p,
                          .forward = forward,
                          .back = back,
                          .latency = question->latency_s,
                          .there = room + 1,
                          .free = room + p + 3,
                          .now_forward = room + 2 * p + 4,
                          .now_back = room + 3 * p + 4};
}

int pipeline_interleaved(const struct pipeline_question *question, struct arena *arena, double *ret_makespan_s) {
    const size_t p = (size_t)question->devices, stages = p * (size_t)question->chunks;
    const size_t need = ARRAYS * p + ENDS + stages + (p + sizeof(double) - 1) / sizeof(double);
    double stack[PIPELINE_STACK], *room = need <= PIPELINE_STACK ? stack : arena_take(arena, need, sizeof *room);
    struct periods periods;
    assert(question->chunks == 1 || question->microbatches % question->devices == 0);
    if (room == NULL) return 0;
    double *backward = room + ARRAYS * p + ENDS, sum = 0;
    for (size_t k = 0; k < stages; k++) {
        backward[k] = question->backward_input_s[k] + question->backward_weight_s[k];
        sum += question->forward_s[k] + backward[k];
    }
    if (p == 1) { /* the one device is never idle */
        *ret_makespan_s = sum * question->microbatches;
        return 1;
    }
    periods.steps = question->chunks > 1 ? (int64_t)stages : 1;
    periods.busiest = (unsigned char *)(backward + stages);
    periods.before = room + 8 * p + ENDS;
    ring_make(&periods.ring, question, question->forward_s, backward, room);
    ring_make(&periods.reverse, question, backward, question->forward_s, room + 4 * p + ENDS / 2);
    find_busiest(&periods);
    ring_begin(&periods.ring);
    ring_begin(&periods.reverse);
    *ret_makespan_s = run(&periods);
    return 1;
}

/* ---- Memory --------------------------------------------------------------------------------------------------- */

/*
 * Of the first n passes of a device, in groups of p micro-batches, whole groups and what is left of the last.
 */
struct passes {
    int32_t p, groups, rest;
};

static struct passes passes_of(int32_t p, int32_t v, int32_t n) { return (struct passes){p, n / (p * v), n % (p * v)}; }

/* Those of the chunk that comes `place`th in a group. */
static int32_t passes_in(const struct passes *passes, int32_t place) {
    const int32_t rest = passes->rest - place * passes->p;
    return passes->groups * passes->p + (rest < 0 ? 0 : rest < passes->p ? rest : passes->p);
}

/* What a device does: forwards first, then both in turn. It holds most right behind a forward, when `most_at` backwards
 * are done; -1: all forwards come before its first backward. */
struct turns {
    int32_t p, v, m, device, warm_up, most_at;
};

/* What the device holds grows by a chunk's bytes and shrinks by another's in every turn, and repeats with p v of them:
 * its largest value stands where one of the chunks changes. Of several the first. */
static int32_t fullest(const struct turns *turns, int32_t count, const double *bytes) {
    const int32_t p = turns->p, v = turns->v, last = count <= p * v ? count - 1 : p * v;
    int32_t until_gained = p - (turns->warm_up + 1) % p, gained = (turns->warm_up + 1) % (p * v) / p;
    int32_t until_lost = p, lost = v - 1, most_at = 0; /* turns until the chunk changes, and the chunk */
    double held = 0, most = 0;
    for (int32_t t = 0; t < last;) {
        const int32_t until = smaller(until_gained, until_lost), steps = smaller(until, last - t);
        held += steps * (bytes[gained * p + turns->device] - bytes[lost * p + turns->device]);
        t += steps;
        if (held > most * (1 + ROUNDING)) most = held, most_at = t;
        until_gained -= steps;
        until_lost -= steps;
        if (until_gained == 0) until_gained = p, gained = gained + 1 < v ? gained + 1 : 0;
        if (until_lost == 0) until_lost = p, lost = lost > 0 ? lost - 1 : v - 1;
    }
    return most_at;
}

static struct turns turns_of(int32_t p, int32_t v, int32_t m, int32_t device, const double *bytes) {
    struct turns turns = {.p = p, .v = v, .m = m, .device = device, .warm_up = 2 * (p - 1 - device) + (v - 1) * p};
    const int32_t count = m * v - turns.warm_up;
    turns.most_at = count <= 0 ? -1 : bytes ? fullest(&turns, count, bytes) : 0;
    return turns;
}

/* Sums over the chunks of what is held of each; of one chunk where bytes is NULL. */
static double held_of(const struct turns *turns, const double *bytes, int32_t chunk) {
    const int32_t p = turns->p, v = turns->v;
    const struct passes forward = passes_of(p, v, turns->warm_up + turns->most_at + 1);
    const struct passes backward = passes_of(p, v, turns->most_at < 0 ? 0 : turns->most_at);
    double sum = 0;
    for (int32_t c = bytes ? 0 : chunk; c < (bytes ? v : chunk + 1); c++) {
        const int32_t held = turns->most_at < 0 ? turns->m : passes_in(&forward, c) - passes_in(&backward, v - 1 - c);
        sum += held * (bytes ? bytes[c * p + turns->device] : 1);
    }
    return sum;
}

double pipeline_interleaved_held(int32_t p, int32_t v, int32_t m, int32_t device, int32_t chunk) {
    const struct turns turns = turns_of(p, v, m, device, NULL);
    return held_of(&turns, NULL, chunk);
}

double pipeline_interleaved_peak(int32_t p, int32_t v, int32_t m, int32_t device, const double *bytes) {
    const struct turns turns = turns_of(p, v, m, device, bytes);
    return held_of(&turns, bytes, 0);
}
