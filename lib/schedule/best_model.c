/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an order can take at most a goal, as a question to lazy_clauses.h: one integer for the start of each
 * operation, and one truth value for each two of a device's operations that may run in either order.
 *
 *   always      a lane's units one after the other; inputs with their latencies; F of a unit after the cap has let the
 *               unit `places` before it go; every end within the goal, which for the span begins when the first F can
 * be there if z        one of two operations ends before the other starts clauses     streams that share a device's
 * cap: F only when enough of the others is freed
 *
 * First in, first out makes truth values imply each other: x before y is also before the next ones of y's lane, and the
 * ones before x in x's lane are before y. Each way of a micro-batch and the cap settle most of them beforehand.
 *
 * Times become whole ticks, rounded down, so that a goal that is refuted in ticks is refuted. Where all times are
 * multiples of one number, as when they are whole, that is the tick and nothing is lost but rounding; else a tick is
 * 2^-44 of the time of the order known, so that refuting "1e-9 less" is a proof.
 *
 * Size: operations + sum over pairs of lanes of a device of units * min(units, places).
 */
#include "schedule/best_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = -1, SECOND = -2 }; /* instead of a variable: the one that surely runs first */

/* ---- Ticks ------------------------------------------------------------------------------------------------ */

/* The largest number that all times are multiples of but for rounding, or 0. */
static double common_divisor(const struct best_problem *problem, double scale) {
    double divisor = 0;
    for (int32_t l = 0; l < LANE_KINDS * problem->streams; l++) {
        const double times[] = {problem->time[l], problem->hold[l], problem->come[l]};
        for (int k = 0; k < 3; k++) {
            double a = times[k], b = divisor;
            if (a <= 0) continue;
            while (b > 1e-7 * scale) { /* Euclid's algorithm, where rounding errors count as nothing */
                double rest = fmod(a, b);
                if (rest < 1e-7 * scale || b - rest < 1e-7 * scale) rest = 0;
                a = b, b = rest;
            }
            divisor = a;
        }
    }
    return divisor;
}

static int64_t whole_ticks(const struct ticks *ticks, double time) {
    return (int64_t)floor(time / ticks->tick_s * (1 + 1e-13) + (ticks->exact ? 0.5 : 0));
}

static int make_ticks(struct model *model, double value) {
    const struct best_problem *problem = model->problem;
    struct ticks *ticks = &model->ticks;
    size_t lanes = LANE_KINDS * (size_t)problem->streams;
    double scale = 0, least = INFINITY;
    ticks->time = arena_alloc(&model->arena, lanes, sizeof *ticks->time);
    ticks->hold = arena_alloc(&model->arena, lanes, sizeof *ticks->hold);
    ticks->come = arena_alloc(&model->arena, lanes, sizeof *ticks->come);
    if (!ticks->time || !ticks->hold || !ticks->come) return 0;
    for (size_t l = 0; l < lanes; l++) scale = fmax(scale, fmax(problem->time[l], problem->come[l]));
    ticks->tick_s = common_divisor(problem, scale);
    ticks->exact = ticks->tick_s > 0 && value / ticks->tick_s < 1e6;
    if (!ticks->exact) ticks->tick_s = ldexp(value, -44);
    for (size_t l = 0; l < lanes; l++) {
        const double times[] = {problem->time[l], problem->hold[l], problem->come[l]};
        int64_t *whole[] = {&ticks->time[l], &ticks->hold[l], &ticks->come[l]};
        for (int k = 0; k < 3; k++) {
            *whole[k] = whole_ticks(ticks, times[k]);
            if (*whole[k] > 0) least = fmin(least, times[k] / (double)*whole[k]);
        }
    }
    if (ticks->exact) ticks->tick_s = least; /* so that no time is shorter than its ticks */
    return ticks->tick_s > 0 && isfinite(ticks->tick_s);
}

/* ---- Which of two operations of a device runs first -------------------------------------------------------- */

/* How deep a lane is on a micro-batch's way through the stages and back. */
static int32_t depth(const struct best_problem *problem, int32_t lane) {
    int32_t stage = problem->stage[lane_stream(lane)];
    return lane_kind(lane) == LANE_F ? stage : 2 * problem->streams - stage;
}

/* Whether a unit's operation in lane a always comes before that in lane b of the same device. */
static int leads_to(const struct best_problem *problem, int32_t a, int32_t b) {
    int32_t s = lane_stream(a), t = lane_stream(b);
    int32_t replica = problem->streams - problem->stage[s] + s; /* the same for streams of one replica */
    if (replica != problem->streams - problem->stage[t] + t || lane_kind(a) == LANE_W) return 0;
    return lane_kind(b) == LANE_W ? depth(problem, a) <= depth(problem, b) : depth(problem, a) < depth(problem, b);
}

/* Units of a stream that the cap lets in before the first must be freed. */
static int64_t places(const struct best_problem *problem, int32_t stream) {
    double cap = problem->cap[problem->device[stream]], amount = problem->amount[stream];
    return amount > 0 && cap / amount < problem->units[stream] ? (int64_t)floor(cap / amount) : problem->units[stream];
}

/* FIRST when unit i of lane a runs before unit j of lane b in every order, SECOND when after, else 0. */
static int32_t surely(const struct best_problem *problem, int32_t a, int32_t i, int32_t b, int32_t j) {
    if (i <= j && leads_to(problem, a, b)) return FIRST;
    if (j <= i && leads_to(problem, b, a)) return SECOND;
    int32_t s = lane_stream(a);
    if (s != lane_stream(b)) return 0;
    if (lane_kind(a) == LANE_F && lane_kind(b) <= problem->free_kind && i >= j + places(problem, s)) return SECOND;
    if (lane_kind(b) == LANE_F && lane_kind(a) <= problem->free_kind && j >= i + places(problem, s)) return FIRST;
    return 0;
}

static int32_t *pair_of(const struct model *model, int32_t a, int32_t b) {
    return model->pair[a * model->slots + model->slot[b]];
}

/* The literal "unit i of lane a runs before unit j of lane b"; its code is FIRST when that is sure, SECOND when not so.
 */
static struct lazy_literal before(const struct model *model, int32_t a, int32_t i, int32_t b, int32_t j) {
    int swap = a > b;
    const int32_t *table = swap ? pair_of(model, b, a) : pair_of(model, a, b);
    int32_t units = model->problem->units[lane_stream(swap ? a : b)];
    int32_t entry = swap ? table[j * units + i] : table[i * units + j];
    if (entry < 0) return (struct lazy_literal){0, swap ? (entry == FIRST ? SECOND : FIRST) : entry};
    return swap ? (struct lazy_literal){0, 2 * entry + 1} : (struct lazy_literal){1, 2 * entry};
}

/* ---- The model -------------------------------------------------------------------------------------------- */

static int32_t start_of(const struct best_problem *problem, int32_t lane, int32_t unit) {
    return (int32_t)problem->output[lane] + unit;
}

static int64_t occupied(const struct model *model, int32_t lane) {
    return model->ticks.time[lane] + model->ticks.hold[lane];
}

static int make_pairs(struct model *model) {
    const struct best_problem *problem = model->problem;
    size_t lanes = LANE_KINDS * (size_t)problem->streams;
    model->slot = arena_alloc(&model->arena, lanes, sizeof *model->slot);
    if (model->slot == NULL) return 0;
    for (int32_t d = 0; d < problem->devices; d++) {
        int32_t slot = 0;
        for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++)
            for (int32_t kind = 0; kind < LANE_KINDS; kind++) model->slot[lane_of(problem->on[k], kind)] = slot++;
        if (slot > model->slots) model->slots = slot;
    }
    model->pair = arena_alloc(&model->arena, lanes * (size_t)model->slots, sizeof *model->pair);
    model->variables = (int32_t)problem->ops;
    if (model->pair == NULL) return 0;
    for (int32_t a = 0; a < (int32_t)lanes; a++)
        for (int32_t b = a + 1; b < (int32_t)lanes; b++) {
            int32_t s = lane_stream(a), t = lane_stream(b), rows = problem->units[s], columns = problem->units[t];
            if (problem->device[s] != problem->device[t]) continue;
            int32_t *table = arena_alloc(&model->arena, (size_t)rows * (size_t)columns, sizeof *table);
            if (table == NULL) return 0;
            model->pair[a * model->slots + model->slot[b]] = table;
            for (int32_t i = 0; i < rows; i++)
                for (int32_t j = 0; j < columns; j++) {
                    int32_t sure = surely(problem, a, i, b, j);
                    table[i * columns + j] = sure ? sure : model->variables++;
                }
        }
    return 1;
}

static void add_pair(struct model *model, int32_t a, int32_t b) {
    const struct best_problem *problem = model->problem;
    int32_t rows = problem->units[lane_stream(a)], columns = problem->units[lane_stream(b)];
    const int32_t *table = pair_of(model, a, b);
    int32_t group = model->groups;
    model->groups += 2;
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++) {
            int32_t z = table[i * columns + j], x = start_of(problem, a, i), y = start_of(problem, b, j);
            if (z < 0) continue;
            lazy_set_bounds(model->solver, z, 0, 1);
            lazy_decide(model->solver, z, model->position[x] < model->position[y]);
            lazy_add_edge(model->solver, x, y, occupied(model, a), 2 * z, group);
            lazy_add_edge(model->solver, y, x, occupied(model, b), 2 * z + 1, group + 1);
            /* first in, first out: what runs before also does before the next ones, and so do its predecessors */
            int32_t up = i > 0 ? table[(i - 1) * columns + j] : -1;
            int32_t right = j + 1 < columns ? table[i * columns + j + 1] : -1;
            if (up >= 0)
                lazy_add_implied(model->solver, 2 * z, 2 * up), lazy_add_implied(model->solver, 2 * up + 1, 2 * z + 1);
            if (right >= 0)
                lazy_add_implied(model->solver, 2 * z, 2 * right),
                    lazy_add_implied(model->solver, 2 * right + 1, 2 * z + 1);
        }
}

/* What does not depend on the order: a lane's units one after the other, inputs, and places of one stream. */
static void add_stream(struct model *model, int32_t s) {
    const struct best_problem *problem = model->problem;
    struct lazy_solver *solver = model->solver;
    int64_t room = places(problem, s);
    for (int32_t kind = 0; kind < LANE_KINDS; kind++) {
        int32_t lane = lane_of(s, kind), from = problem->from[lane];
        for (int32_t j = 0; j < problem->units[s]; j++) {
            int32_t x = start_of(problem, lane, j);
            if (j > 0) lazy_add_edge(solver, x - 1, x, occupied(model, lane), -1, -1);
            if (kind != LANE_F)
                lazy_add_edge(solver, start_of(problem, lane - 1, j), x, occupied(model, lane - 1), -1, -1);
            if (from >= 0)
                lazy_add_edge(solver, start_of(problem, from, j), x, model->ticks.time[from] + model->ticks.come[lane],
                              -1, -1);
            if (kind == LANE_F && j >= room) {
                int32_t freed = lane_of(s, problem->free_kind);
                lazy_add_edge(solver, start_of(problem, freed, j - (int32_t)room), x, occupied(model, freed), -1, -1);
            }
        }
    }
}

/* Clauses for two streams that share a device's places: when F of unit i of stream a starts, with unit f - 1 of b there
 * and unit w of a not yet freed, enough units of b must be freed. */
static void add_sharing(struct model *model, int32_t a, int32_t b) {
    const struct best_problem *problem = model->problem;
    double cap = problem->cap[problem->device[a]], own = problem->amount[a], other = problem->amount[b];
    int32_t forward = lane_of(a, LANE_F), freed = lane_of(a, problem->free_kind);
    int32_t others = lane_of(b, LANE_F), others_freed = lane_of(b, problem->free_kind);
    if (cap == INFINITY) return;
    for (int32_t i = 0; i < problem->units[a]; i++)
        for (int32_t w = 0; w <= i; w++) {
            double held = own * (i + 1 - w);
            if (held > cap) continue; /* the edges between the units of a see to it */
            int32_t needed_before = 0;
            for (int32_t f = 1; f <= problem->units[b]; f++) {
                int32_t needed = needed_before;
                while (needed < f && held + other * (f - needed) > cap) needed++;
                if (needed == needed_before) continue;
                needed_before = needed;
                struct lazy_literal clause[3];
                const struct lazy_literal unless[3] = {before(model, forward, i, others, f - 1),
                                                       before(model, freed, w, forward, i),
                                                       before(model, others_freed, needed - 1, forward, i)};
                int32_t count = 0, holds = unless[0].code == FIRST;
                for (int k = 0; k < 3; k++) {
                    if (unless[k].code == FIRST) holds = 1;
                    if (unless[k].code >= 0) clause[count++] = unless[k];
                }
                if (!holds) lazy_add_clause(model->solver, clause, count);
            }
        }
}

static int32_t on_device(const struct model *model, int32_t d, int32_t k) {
    return model->problem->on[model->problem->on_begin[d] + k];
}

static void add_device(struct model *model, int32_t d) {
    const struct best_problem *problem = model->problem;
    int32_t streams = problem->on_begin[d + 1] - problem->on_begin[d];
    for (int32_t k = 0; k < LANE_KINDS * streams; k++)
        for (int32_t l = k + 1; l < LANE_KINDS * streams; l++)
            add_pair(model, lane_of(on_device(model, d, k / LANE_KINDS), k % LANE_KINDS),
                     lane_of(on_device(model, d, l / LANE_KINDS), l % LANE_KINDS));
    for (int32_t k = 0; k < streams; k++)
        for (int32_t l = 0; l < streams; l++)
            if (k != l) add_sharing(model, on_device(model, d, k), on_device(model, d, l));
}

/* When an operation may start at the latest. */
static int64_t latest(const struct model *model, int32_t lane) {
    int64_t begin = model->begin ? model->begin[model->problem->device[lane_stream(lane)]] : 0;
    return begin + model->goal - model->ticks.time[lane];
}

static void set_positions(struct model *model, const int32_t *order) {
    const struct best_problem *problem = model->problem;
    for (int32_t d = 0; d < problem->devices; d++)
        for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++)
            for (int32_t kind = 0; kind < LANE_KINDS; kind++) {
                int32_t lane = lane_of(problem->on[k], kind);
                int64_t output = problem->output[lane];
                for (int64_t at = problem->begin[d]; at < problem->begin[d + 1]; at++)
                    if (order[at] == lane) model->position[output++] = at;
            }
}

int32_t model_build(struct model *model, const int32_t *order, int64_t goal) {
    const struct best_problem *problem = model->problem;
    model->goal = goal;
    model->groups = 0;
    set_positions(model, order);
    lazy_free(model->solver);
    model->solver = lazy_make(model->variables);
    if (model->solver == NULL) return 0;
    for (int32_t lane = 0; lane < LANE_KINDS * problem->streams; lane++)
        for (int32_t j = 0; j < problem->units[lane_stream(lane)]; j++)
            lazy_set_bounds(model->solver, start_of(problem, lane, j), 0, latest(model, lane));
    for (int32_t s = 0; s < problem->streams; s++) add_stream(model, s);
    for (int32_t d = 0; d < problem->devices; d++) add_device(model, d);
    return 1;
}

double model_bound(const struct model *model) {
    return (double)(model->goal + 1) * model->ticks.tick_s - model->loss_s;
}

void model_set_goal(struct model *model, int64_t goal) {
    const struct best_problem *problem = model->problem;
    model->goal = goal;
    for (int32_t lane = 0; lane < LANE_KINDS * problem->streams; lane++)
        for (int32_t j = 0; j < problem->units[lane_stream(lane)]; j++)
            lazy_tighten(model->solver, 2 * start_of(problem, lane, j) + 1, -latest(model, lane));
}

/* ---- Its solution ----------------------------------------------------------------------------------------- */

struct model_start { /* of an operation; those of a device run in the order of their starts */
    int64_t start, end;
    int32_t depth, lane;
};

static int compare_starts(const void *left, const void *right) {
    const struct model_start *a = left, *b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1; /* what takes no time goes first, */
    return a->depth != b->depth ? (a->depth < b->depth ? -1 : 1) : a->lane - b->lane; /* inputs before outputs */
}

void model_read(struct model *model) {
    const struct best_problem *problem = model->problem;
    struct model_start *starts = model->starts;
    for (int32_t d = 0; d < problem->devices; d++) {
        size_t count = 0;
        for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++)
            for (int32_t kind = 0; kind < LANE_KINDS; kind++)
                for (int32_t j = 0; j < problem->units[problem->on[k]]; j++) {
                    int32_t lane = lane_of(problem->on[k], kind);
                    int64_t begin = lazy_value(model->solver, start_of(problem, lane, j));
                    starts[count++] =
                        (struct model_start){begin, begin + model->ticks.time[lane], depth(problem, lane), lane};
                }
        qsort(starts, count, sizeof *starts, compare_starts);
        for (size_t k = 0; k < count; k++) model->order[problem->begin[d] + (int64_t)k] = starts[k].lane;
    }
}

/* When each device begins. With one replica that is the same in every order: the first F of its first stage comes as
 * soon as it can. With two it may be later, so that orders of the goal are orders of that span, but not all of them. */
static int make_begins(struct model *model) {
    const struct best_problem *problem = model->problem;
    model->begin = arena_alloc(&model->arena, (size_t)problem->devices, sizeof *model->begin);
    if (model->begin == NULL) return 0;
    for (int32_t d = 0; d < problem->devices; d++) {
        double least = INFINITY;
        for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++) {
            if (problem->units[problem->on[k]] == 0) continue;
            int64_t begin = 0;
            double begin_s = 0;
            for (int32_t lane = lane_of(problem->on[k], LANE_F); problem->from[lane] >= 0; lane = problem->from[lane]) {
                begin += model->ticks.time[problem->from[lane]] + model->ticks.come[lane];
                begin_s += problem->time[problem->from[lane]] + problem->come[lane];
            }
            if (begin_s < least) {
                least = begin_s;
                model->begin[d] = begin;
            }
        }
        if (isfinite(least)) model->loss_s = fmax(model->loss_s, least - (double)model->begin[d] * model->ticks.tick_s);
    }
    return 1;
}

/* ---- Making it -------------------------------------------------------------------------------------------- */

/* Whether it is small enough: entries of tables, and truth values. */
static int is_small(const struct best_problem *problem) {
    enum { OPS_MAX = 100000, ENTRIES_MAX = 40000000, VARIABLES_MAX = 1000000 };
    double entries = 0, variables = 0;
    for (int32_t d = 0; d < problem->devices; d++)
        for (int32_t k = problem->on_begin[d]; k < problem->on_begin[d + 1]; k++)
            for (int32_t l = problem->on_begin[d]; l <= k; l++) {
                int32_t s = problem->on[k], t = problem->on[l], kinds = s == t ? 3 : 9;
                double units = problem->units[s], others = problem->units[t];
                entries += kinds * units * others;
                variables += kinds * units * (s == t ? (double)places(problem, s) : others);
            }
    return problem->ops <= OPS_MAX && entries <= ENTRIES_MAX && variables <= VARIABLES_MAX;
}

int32_t model_make(struct model *model, const struct best_problem *problem, enum kerf_objective objective,
                   double value) {
    size_t ops = (size_t)problem->ops;
    *model = (struct model){.problem = problem};
    if (!is_small(problem) || !isfinite(value)) return 0;
    model->position = arena_alloc(&model->arena, ops, sizeof *model->position);
    model->order = arena_alloc(&model->arena, ops, sizeof *model->order);
    model->starts = arena_alloc(&model->arena, ops, sizeof *model->starts);
    return model->position && model->order && model->starts && make_ticks(model, value) && make_pairs(model) &&
           (objective == KERF_OBJECTIVE_MAKESPAN || make_begins(model));
}

void model_free(struct model *model) {
    lazy_free(model->solver);
    arena_free(&model->arena);
}
