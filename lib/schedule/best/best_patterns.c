/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders to start from that repeat a pattern, as V-Half and V-Min do by hand (Qi et al., Pipeline Parallelism with
 * Controllable Memory, arXiv 2405.15362), for any placement, times and caps: modulo scheduling, as compilers do loops.
 *
 * A period is chosen, at least what a unit takes on the busiest device and what the caps allow (Little's law). One unit
 * goes through its stages and back, each operation as early as its device is free at that place of the period, weights
 * then where there is room. Going slower through some parts, or turning later, makes other places of the period free.
 * The pattern repeated for every unit gives each device's order by start; run as soon as possible, its beginning and
 * end close up.
 *
 * A pattern takes O(ops * lanes of a device).
 */
#include "schedule/best/best_search.h"

#include <math.h>
#include <string.h>

struct pattern {
    double period;
    int32_t slow;   /* bits: forward in even and odd chunks, back in odd and even ones */
    int32_t turn;   /* forwards that the way back waits for */
    int32_t prompt; /* 1: a forward is not slow from one chunk to the next on the same device */
    double *time;   /* [lanes] the true times, or all alike */
    double *kept;   /* [lanes] how long the device is */
    double *come;   /* [lanes] latencies, or none */
    double *start;  /* [lanes] of the first unit */
    double *stay;   /* [streams] of a unit, W left out */
    int32_t *next;  /* [lanes] units in the order so far */
    int32_t *order; /* [ops] */
    char *placed;   /* [lanes] */
};

static double wrapped(double time, double period) {
    double rest = fmod(time, period);
    return rest < 0 ? rest + period : rest;
}

/* How long a placed operation keeps another from starting at a time; 0: not at all. */
static double overlap(const struct pattern *pattern, int32_t placed, int32_t lane, double at) {
    double since = wrapped(at - pattern->start[placed], pattern->period), slack = 1e-9 * pattern->period;
    double takes = pattern->kept[placed], own = pattern->kept[lane];
    if (since >= pattern->period - slack) since = 0;
    if (since < takes - slack) return takes - since;
    return since + own > pattern->period + slack ? pattern->period - since + takes : 0;
}

/* Places an operation as early as it can be; without room anywhere, at once. */
static void place(const struct best_problem *problem, struct pattern *pattern, int32_t lane, double ready) {
    int32_t device = problem->device[lane_stream(lane)], moved = 1;
    int32_t rounds = LANE_KINDS * (problem->on_begin[device + 1] - problem->on_begin[device]);
    double at = ready;
    while (moved && rounds-- > 0 && at < ready + pattern->period) { /* more than one round a lane is rounding */
        moved = 0;
        for (int32_t k = problem->on_begin[device]; k < problem->on_begin[device + 1]; k++)
            for (int32_t kind = 0; kind < LANE_KINDS; kind++) {
                int32_t other = lane_of(problem->on[k], kind);
                double wait = pattern->placed[other] ? overlap(pattern, other, lane, at) : 0;
                if (wait <= 0) continue;
                at += wait;
                moved = 1;
            }
    }
    pattern->start[lane] = moved ? ready : at;
    pattern->placed[lane] = 1;
}

/* The way of one unit of the replica whose first stage is a stream. */
static void place_way(const struct best_problem *problem, struct pattern *pattern, int32_t first) {
    int32_t lane = lane_of(first, LANE_F), turned = 0;
    double ready = 0;
    for (;;) {
        int32_t s = lane_stream(lane), odd = problem->stage[s] / problem->devices % 2;
        place(problem, pattern, lane, ready);
        double time = pattern->time[lane], end = pattern->start[lane] + time;
        int32_t to = problem->to[lane], slow = pattern->slow >> (turned ? 3 - odd : odd) & 1;
        if (to < 0 && turned) break;
        if (to < 0) {
            turned = 1;
            ready = end + pattern->turn * time;
            lane = lane_of(s, LANE_I);
        } else {
            if (pattern->prompt && !turned && problem->device[lane_stream(to)] == problem->device[s]) slow = 0;
            ready = end + pattern->come[to] + (slow ? time : 0);
            lane = to;
        }
    }
}

/* Each device's operations by start; units of one lane follow each other at a period. */
static void unroll(const struct best_problem *problem, struct pattern *pattern) {
    memset(pattern->next, 0, LANE_KINDS * (size_t)problem->streams * sizeof *pattern->next);
    for (int32_t d = 0; d < problem->devices; d++)
        for (int64_t at = problem->begin[d]; at < problem->begin[d + 1]; at++) {
            int32_t first = -1;
            double least = INFINITY;
            for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++)
                for (int32_t kind = 0; kind < LANE_KINDS; kind++) {
                    int32_t lane = lane_of(problem->on[k], kind), unit = pattern->next[lane];
                    double start = pattern->start[lane] + unit * pattern->period;
                    if (unit >= problem->units[problem->on[k]] || (first >= 0 && start >= least)) continue;
                    if (kind != LANE_F && pattern->next[lane - 1] <= unit) continue; /* what takes no time */
                    least = start;
                    first = lane;
                }
            pattern->order[at] = first;
            pattern->next[first]++;
        }
}

static void try_pattern(struct best_search *search, struct pattern *pattern) {
    const struct best_problem *problem = &search->problem;
    memset(pattern->placed, 0, LANE_KINDS * (size_t)problem->streams);
    for (int32_t s = 0; s < problem->streams; s++)
        if (problem->stage[s] == 0 && problem->units[s] > 0) place_way(problem, pattern, s);
    for (int32_t s = 0; s < problem->streams; s++) {
        int32_t input = lane_of(s, LANE_I);
        if (problem->units[s] > 0)
            place(problem, pattern, lane_of(s, LANE_W), pattern->start[input] + pattern->time[input]);
    }
    unroll(problem, pattern);
    best_spend(search->budget, LANE_KINDS * problem->ops * problem->streams / problem->devices);
    best_offer(search, pattern->order);
}

/* How long a unit of a stream stays, given that of the next stage. */
static double stay_of(const struct best_problem *problem, const struct pattern *pattern, int32_t s, double behind) {
    int32_t forward = lane_of(s, LANE_F), input = lane_of(s, LANE_I), next = problem->to[forward];
    double sum = pattern->time[forward] + pattern->time[input];
    return next < 0 ? sum : sum + pattern->come[next] + pattern->come[input] + behind;
}

/* The shortest period: of a unit of each replica on a device, or what its cap lets through. */
static double least_period(const struct best_problem *problem, struct pattern *pattern) {
    double period = 0, behind = 0;
    for (int32_t s = problem->streams; s-- > 0;) pattern->stay[s] = behind = stay_of(problem, pattern, s, behind);
    for (int32_t d = 0; d < problem->devices; d++) {
        double load = 0, residence = 0;
        for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++) {
            int32_t s = problem->on[k];
            const double *kept = &pattern->kept[lane_of(s, LANE_F)];
            if (problem->units[s] == 0) continue;
            load += kept[LANE_F] + kept[LANE_I] + kept[LANE_W];
            residence += problem->amount[s] *
                         (pattern->stay[s] + (problem->free_kind == LANE_W ? pattern->time[lane_of(s, LANE_W)] : 0));
        }
        period = fmax(period, fmax(load, problem->cap[d] > 0 ? residence / problem->cap[d] : 0));
    }
    return period;
}

/* The true times; or all of one length and no latencies, for which more patterns close, and which often are good for
 * unequal times too. */
static void set_times(const struct best_problem *problem, struct pattern *pattern, int equal) {
    for (int32_t lane = 0; lane < LANE_KINDS * problem->streams; lane++) {
        pattern->time[lane] = equal ? 1 : problem->time[lane];
        pattern->kept[lane] = equal ? 1 : problem->time[lane] + problem->hold[lane];
        pattern->come[lane] = equal ? 0 : problem->come[lane];
    }
}

static int make_pattern(struct pattern *pattern, const struct best_problem *problem, struct arena *arena) {
    size_t lanes = LANE_KINDS * (size_t)problem->streams;
    pattern->time = arena_alloc(arena, lanes, sizeof *pattern->time);
    pattern->kept = arena_alloc(arena, lanes, sizeof *pattern->kept);
    pattern->come = arena_alloc(arena, lanes, sizeof *pattern->come);
    pattern->start = arena_alloc(arena, lanes, sizeof *pattern->start);
    pattern->stay = arena_alloc(arena, lanes, sizeof *pattern->stay);
    pattern->next = arena_alloc(arena, lanes, sizeof *pattern->next);
    pattern->order = arena_alloc(arena, (size_t)problem->ops, sizeof *pattern->order);
    pattern->placed = arena_alloc(arena, lanes, 1);
    return pattern->time && pattern->kept && pattern->come && pattern->start && pattern->stay && pattern->next &&
           pattern->order && pattern->placed;
}

void best_patterns(struct best_search *search) {
    static const double stretches[] = {1, 1.04, 1.09, 1.15, 1.22, 1.3, 1.4, 1.5}, looks_max = 6e7;
    enum { STRETCHES = sizeof stretches / sizeof *stretches, SLOW = 16, TURNS = 4, ALL = STRETCHES * SLOW * TURNS * 2 };
    const struct best_problem *problem = &search->problem;
    struct arena arena = {NULL};
    struct pattern pattern = {.period = 0};
    int good = make_pattern(&pattern, problem, &arena);
    double runs = looks_max / ((double)problem->ops * (double)problem->streams / problem->devices);
    for (int32_t at = 0; good && at < 2 * ALL && at < runs && !best_is_done(search); at++) {
        int32_t rest = at / 2;
        set_times(problem, &pattern, at % 2);
        pattern.slow = rest % SLOW, rest /= SLOW;
        pattern.turn = rest % TURNS, rest /= TURNS;
        pattern.prompt = rest % 2, rest /= 2;
        pattern.period = stretches[rest] * least_period(problem, &pattern);
        if (pattern.period > 0 && isfinite(pattern.period)) try_pattern(search, &pattern);
    }
    arena_free(&arena);
}
