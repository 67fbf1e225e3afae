/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an order can take at most a goal, as a question to lazy_clauses.h: one integer for the start of each
 * operation, and one truth value for each two of a device's operations that may run in either order.
 *
 *   always      a lane's units one after the other; inputs with their latencies; F of a unit after the cap has let the
 *               unit `places` before it go; every end within the goal, which for the span begins when the first F can
 *               be there
 *   if z        one of two operations ends before the other starts
 *   clauses     two streams that share a device's cap: F only when enough of the other is freed
 *
 * First in, first out makes truth values imply each other: x before y is also before the next ones of y's lane, and the
 * ones before x in x's lane are before y. Each way of a micro-batch and the cap settle most of them beforehand. Where
 * more than two streams share a device, what breaks its cap is ruled out when a solution does it.
 *
 * The question may be of a window alone: on each device some operations in a row of an order known, in which whatever
 * an operation needs of another device is in the window or before it. All others keep their order, so that those
 * before give the earliest starts and those behind the latest.
 *
 * Some of a window's operations may keep their order too (`freed`): which of two of them runs first is then sure, and so
 * is what follows from it by first in, first out.
 *
 * Times are whole ticks, rounded down, so that a goal that is refuted in ticks is refuted. Where all times are multiples
 * of one number, as when they are whole, that is the tick and nothing is lost but rounding; else a tick is 2^-44 of the
 * time of the order known, so that refuting "1e-9 less" is a proof.
 *
 * Size: the operations, and over the pairs of a device's lanes the sum of units * min(units, places).
 */
#include "schedule/best/best_model.h"

#include <assert.h>
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
    const double most = 0x1p46; /* so that no sum overflows; more than any goal */
    double whole = floor(time / ticks->tick_s * (1 + 1e-13) + (ticks->exact ? 0.5 : 0));
    return (int64_t)(whole < most ? whole : most);
}

/* Rounds all times. 0: some are not the ticks that they were taken for. */
static int round_times(struct ticks *ticks, const struct best_problem *problem, double value) {
    double least = INFINITY;
    for (int32_t l = 0; l < LANE_KINDS * problem->streams; l++) {
        const double times[] = {problem->time[l], problem->hold[l], problem->come[l]};
        int64_t *whole[] = {&ticks->time[l], &ticks->hold[l], &ticks->come[l]};
        for (int k = 0; k < 3; k++) {
            *whole[k] = whole_ticks(ticks, times[k]);
            if (*whole[k] > 0) least = fmin(least, times[k] / (double)*whole[k]);
            if (ticks->exact && fabs(times[k] - (double)*whole[k] * ticks->tick_s) > 1e-12 * value) return 0;
        }
    }
    if (isfinite(least)) ticks->tick_s = least; /* the most with which no time is shorter than its ticks */
    return 1;
}

/* When each device begins. With one replica that is the same in every order: the first F of its first stage comes as
 * soon as it can. With two it may be later, so that orders of the goal are orders of that span, but not all of them. */
static int make_begins(struct model *model) {
    const struct best_problem *problem = model->problem;
    model->begin = arena_alloc(&model->arena, (size_t)problem->devices, sizeof *model->begin);
    if (model->begin == NULL) return 0;
    if (model->objective != KERF_OBJECTIVE_SPAN) return 1;
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

static int make_ticks(struct model *model, double value) {
    const struct best_problem *problem = model->problem;
    struct ticks *ticks = &model->ticks;
    size_t lanes = LANE_KINDS * (size_t)problem->streams;
    double scale = 0;
    ticks->time = arena_alloc(&model->arena, lanes, sizeof *ticks->time);
    ticks->hold = arena_alloc(&model->arena, lanes, sizeof *ticks->hold);
    ticks->come = arena_alloc(&model->arena, lanes, sizeof *ticks->come);
    if (!ticks->time || !ticks->hold || !ticks->come) return 0;
    for (size_t l = 0; l < lanes; l++) scale = fmax(scale, fmax(problem->time[l], problem->come[l]));
    ticks->tick_s = common_divisor(problem, scale);
    ticks->exact = ticks->tick_s > 0 && value / ticks->tick_s < 1e6;
    if (ticks->exact && !round_times(ticks, problem, value)) ticks->exact = 0;
    if (!ticks->exact) {
        ticks->tick_s = ldexp(value, -44);
        if (!(ticks->tick_s > 0)) return 0;
        round_times(ticks, problem, value);
    }
    return ticks->tick_s > 0 && isfinite(ticks->tick_s) && make_begins(model);
}

/* ---- An order in ticks ------------------------------------------------------------------------------------ */

/* Runs a device until an input is missing; returns how many it ran, and lists them. */
static int64_t run_device(struct model *model, const int32_t *order, int32_t device, int64_t count) {
    const struct best_problem *problem = model->problem;
    const struct ticks *ticks = &model->ticks;
    int64_t ran = 0;
    for (; model->at[device] < problem->begin[device + 1]; model->at[device]++, ran++) {
        int32_t lane = order[model->at[device]], unit = model->done[lane], from = problem->from[lane];
        int64_t start = model->free[device];
        if (from >= 0) {
            if (model->done[from] <= unit) break;
            int64_t there = model->start[problem->output[from] + unit] + ticks->time[from] + ticks->come[lane];
            if (there > start) start = there;
        }
        if (lane_kind(lane) != LANE_F && model->done[lane - 1] <= unit) break;
        model->start[problem->output[lane] + unit] = start;
        model->sequence[count + ran] = model->at[device];
        model->unit[model->at[device]] = unit;
        model->done[lane]++;
        model->free[device] = start + ticks->time[lane] + ticks->hold[lane];
    }
    return ran;
}

/* How long before the goal an operation has to start, given those that run after it. */
static int64_t tail_of(const struct model *model, const int32_t *order, int64_t at, int32_t device) {
    const struct best_problem *problem = model->problem;
    const struct ticks *ticks = &model->ticks;
    int32_t lane = order[at], unit = model->unit[at], to = problem->to[lane];
    int64_t tail = ticks->time[lane] - model->begin[device];
    if (at + 1 < problem->begin[device + 1]) {
        int64_t next = problem->output[order[at + 1]] + model->unit[at + 1];
        int64_t other = ticks->time[lane] + ticks->hold[lane] + model->tail[next];
        if (other > tail) tail = other;
    }
    if (to >= 0) {
        int64_t other = ticks->time[lane] + ticks->come[to] + model->tail[problem->output[to] + unit];
        if (other > tail) tail = other;
    }
    return tail;
}

int32_t model_time(struct model *model, const int32_t *order) {
    const struct best_problem *problem = model->problem;
    int64_t count = 0, before;
    memset(model->done, 0, LANE_KINDS * (size_t)problem->streams * sizeof *model->done);
    for (int32_t d = 0; d < problem->devices; d++) {
        model->at[d] = problem->begin[d];
        model->free[d] = 0;
    }
    do { /* forwards come down in one round, backwards go up in one */
        before = count;
        for (int32_t d = 0; d < problem->devices; d++) count += run_device(model, order, d, count);
        for (int32_t d = problem->devices; d-- > 0;) count += run_device(model, order, d, count);
    } while (count > before);
    if (count < problem->ops) return 0;
    for (int64_t k = count; k-- > 0;) {
        int64_t at = model->sequence[k];
        int32_t lane = order[at];
        model->tail[problem->output[lane] + model->unit[at]] =
            tail_of(model, order, at, problem->device[lane_stream(lane)]);
    }
    return 1;
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
    if (problem->replica[s] != problem->replica[t] || lane_kind(a) == LANE_W) return 0;
    return lane_kind(b) == LANE_W ? depth(problem, a) <= depth(problem, b) : depth(problem, a) < depth(problem, b);
}

/* Units of a stream that the cap lets in before the first must be freed. */
static int32_t places(const struct best_problem *problem, int32_t stream) {
    double cap = problem->cap[problem->device[stream]], amount = problem->amount[stream];
    return amount > 0 && cap / amount < problem->units[stream] ? (int32_t)floor(cap / amount) : problem->units[stream];
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

/* Where an operation is: before the window, in it or behind it. */
static int is_past(const struct model *model, int32_t lane, int32_t unit) { return unit < model->low[lane]; }
static int is_future(const struct model *model, int32_t lane, int32_t unit) { return unit >= model->high[lane]; }
static int is_inside(const struct model *model, int32_t lane, int32_t unit) {
    return !is_past(model, lane, unit) && !is_future(model, lane, unit);
}

static int32_t *pair_of(const struct model *model, int32_t a, int32_t b) {
    return model->pair[a * model->slots + model->slot[b]];
}

/* The entry of a pair's table; both inside, a < b. */
static int32_t entry_of(const struct model *model, int32_t a, int32_t i, int32_t b, int32_t j) {
    int32_t columns = model->high[b] - model->low[b];
    return pair_of(model, a, b)[(i - model->low[a]) * columns + j - model->low[b]];
}

/* The literal "unit i of lane a runs before unit j of lane b"; its code is FIRST when that is sure, SECOND when not so.
 */
static struct lazy_literal before(const struct model *model, int32_t a, int32_t i, int32_t b, int32_t j) {
    if (is_past(model, a, i) || is_future(model, b, j)) return (struct lazy_literal){0, FIRST};
    if (is_past(model, b, j) || is_future(model, a, i)) return (struct lazy_literal){0, SECOND};
    int32_t entry = a < b ? entry_of(model, a, i, b, j) : entry_of(model, b, j, a, i);
    if (entry < 0) return (struct lazy_literal){0, a > b ? (entry == FIRST ? SECOND : FIRST) : entry};
    return a > b ? (struct lazy_literal){0, 2 * entry + 1} : (struct lazy_literal){1, 2 * entry};
}

/* ---- The constraints -------------------------------------------------------------------------------------- */

static int32_t start_of(const struct model *model, int32_t lane, int32_t unit) {
    return model->variable[lane] + unit - model->low[lane];
}

static int64_t occupied(const struct model *model, int32_t lane) {
    return model->ticks.time[lane] + model->ticks.hold[lane];
}

static void imply(struct lazy_solver *solver, int32_t z, int32_t implied) {
    if (implied < 0) return;
    lazy_add_implied(solver, 2 * z, 2 * implied);
    lazy_add_implied(solver, 2 * implied + 1, 2 * z + 1);
}

static void add_pair(struct model *model, int32_t a, int32_t b) {
    const struct best_problem *problem = model->problem;
    struct lazy_solver *solver = model->solver;
    int32_t group = model->groups, last = model->high[b] - 1;
    model->groups += 2;
    for (int32_t i = model->low[a]; i < model->high[a]; i++)
        for (int32_t j = model->low[b]; j <= last; j++) {
            int32_t z = entry_of(model, a, i, b, j), x = start_of(model, a, i), y = start_of(model, b, j);
            if (z < 0) continue;
            lazy_set_bounds(solver, z, 0, 1);
            lazy_decide(solver, z, model->position[problem->output[a] + i] < model->position[problem->output[b] + j]);
            lazy_add_edge(solver, x, y, occupied(model, a), 2 * z, group);
            lazy_add_edge(solver, y, x, occupied(model, b), 2 * z + 1, group + 1);
            imply(solver, z, i > model->low[a] ? entry_of(model, a, i - 1, b, j) : -1);
            imply(solver, z, j < last ? entry_of(model, a, i, b, j + 1) : -1);
        }
}

/* What does not depend on the order: a lane's units one after the other, inputs, and places of one stream. */
static void add_lane(struct model *model, int32_t lane) {
    const struct best_problem *problem = model->problem;
    struct lazy_solver *solver = model->solver;
    int32_t from = problem->from[lane], freed = lane_of(lane_stream(lane), problem->free_kind);
    int32_t room = places(problem, lane_stream(lane));
    for (int32_t j = model->low[lane]; j < model->high[lane]; j++) {
        int32_t x = start_of(model, lane, j);
        if (j > model->low[lane]) lazy_add_edge(solver, x - 1, x, occupied(model, lane), -1, -1);
        if (lane_kind(lane) != LANE_F && is_inside(model, lane - 1, j))
            lazy_add_edge(solver, start_of(model, lane - 1, j), x, occupied(model, lane - 1), -1, -1);
        if (from >= 0 && is_inside(model, from, j))
            lazy_add_edge(solver, start_of(model, from, j), x, model->ticks.time[from] + model->ticks.come[lane], -1,
                          -1);
        if (lane_kind(lane) == LANE_F && j >= room && is_inside(model, freed, j - room))
            lazy_add_edge(solver, start_of(model, freed, j - room), x, occupied(model, freed), -1, -1);
    }
}

/* Adds "one of these"; a sure one makes it superfluous. */
static void add_one_of(struct model *model, const struct lazy_literal *literals, int32_t count) {
    int32_t open = 0;
    for (int32_t k = 0; k < count; k++) {
        if (literals[k].code == FIRST) return;
        if (literals[k].code >= 0) model->clause[open++] = literals[k];
    }
    lazy_add_clause(model->solver, model->clause, open);
}

/* Clauses for two streams that share a device's places: when F of unit i of stream a starts, with unit f - 1 of b there
 * and unit w of a not yet freed, enough units of b must be freed. */
static void add_sharing(struct model *model, int32_t a, int32_t b) {
    const struct best_problem *problem = model->problem;
    double cap = problem->cap[problem->device[a]], own = problem->amount[a], other = problem->amount[b];
    int32_t forward = lane_of(a, LANE_F), freed = lane_of(a, problem->free_kind);
    int32_t others = lane_of(b, LANE_F), others_freed = lane_of(b, problem->free_kind);
    if (cap == INFINITY) return;
    for (int32_t i = model->low[forward]; i < model->high[forward]; i++)
        for (int32_t w = model->low[freed]; w <= i && w <= model->high[freed]; w++) {
            double held = own * (i + 1 - w);
            if (held > cap) continue; /* the edges between the units of a see to it */
            int32_t needed_before = 0;
            for (int32_t f = model->low[others] > 1 ? model->low[others] : 1; f <= model->high[others]; f++) {
                int32_t needed = needed_before;
                while (needed < f && held + other * (f - needed) > cap) needed++;
                if (needed == needed_before) continue;
                needed_before = needed;
                const struct lazy_literal unless[3] = {before(model, forward, i, others, f - 1),
                                                       before(model, freed, w, forward, i),
                                                       before(model, others_freed, needed - 1, forward, i)};
                add_one_of(model, unless, 3);
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

/* Those of a device that keep their order run one after the other. */
static void add_kept(struct model *model, const int32_t *order, int32_t d) {
    const struct best_problem *problem = model->problem;
    int32_t last = -1, last_lane = -1;
    for (int64_t at = model->from[d]; at < model->to[d]; at++) {
        const int32_t lane = order[at], unit = model->unit[at];
        if (model->freed[problem->output[lane] + unit]) continue;
        const int32_t x = start_of(model, lane, unit);
        if (last >= 0 && last_lane != lane) lazy_add_edge(model->solver, last, x, occupied(model, last_lane), -1, -1);
        last = x, last_lane = lane;
    }
}

/* ---- Building --------------------------------------------------------------------------------------------- */

void model_window(const struct model *model, const int32_t *order, int64_t begin, int64_t end, int64_t *from,
                  int64_t *to) {
    const struct best_problem *problem = model->problem;
    for (int32_t d = 0; d < problem->devices; d++) {
        int64_t at[2];
        for (int k = 0; k < 2; k++) {
            int64_t low = problem->begin[d], high = problem->begin[d + 1];
            while (low < high) { /* the first that starts at the limit or behind it */
                int64_t middle = low + (high - low) / 2;
                int64_t output = problem->output[order[middle]] + model->unit[middle];
                if (model->start[output] < (k ? end : begin))
                    low = middle + 1;
                else
                    high = middle;
            }
            at[k] = low;
        }
        from[d] = at[0];
        to[d] = at[1];
    }
}

/* The units of each lane inside the window, and where they are in the order. */
static void set_window(struct model *model, const int32_t *order, const int64_t *from, const int64_t *to) {
    const struct best_problem *problem = model->problem;
    size_t lanes = LANE_KINDS * (size_t)problem->streams;
    memset(model->low, 0, lanes * sizeof *model->low);
    memset(model->high, 0, lanes * sizeof *model->high);
    for (int32_t d = 0; d < problem->devices; d++)
        for (int64_t at = problem->begin[d]; at < to[d]; at++) {
            int32_t lane = order[at];
            model->position[problem->output[lane] + model->high[lane]++] = at;
            model->low[lane] += at < from[d];
        }
}

/* FIRST or SECOND where both keep their order, else 0. */
static int32_t kept(const struct model *model, int32_t a, int32_t i, int32_t b, int32_t j) {
    const int64_t x = model->problem->output[a] + i, y = model->problem->output[b] + j;
    if (model->freed == NULL || model->freed[x] || model->freed[y]) return 0;
    return model->position[x] < model->position[y] ? FIRST : SECOND;
}

/* What follows from the sure entries of a pair's table: before a unit is before the next ones, and so on. */
static void close_table(int32_t *table, int32_t rows, int32_t columns) {
    for (int32_t i = rows; i-- > 0;)
        for (int32_t j = 0; j < columns; j++) {
            int32_t *entry = &table[i * columns + j];
            if (*entry == 0 && ((i + 1 < rows && entry[columns] == FIRST) || (j > 0 && entry[-1] == FIRST)))
                *entry = FIRST;
        }
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = columns; j-- > 0;) {
            int32_t *entry = &table[i * columns + j];
            if (*entry == 0 && ((i > 0 && entry[-columns] == SECOND) || (j + 1 < columns && entry[1] == SECOND)))
                *entry = SECOND;
        }
}

/* A truth value for each pair that may run in either order. 0: too many, or no memory. */
static int make_pairs(struct model *model) {
    enum { ENTRIES_MAX = 40000000, VARIABLES_MAX = 1000000 };
    const struct best_problem *problem = model->problem;
    model->entries = 0;
    model->variables = 0;
    for (int32_t lane = 0; lane < LANE_KINDS * problem->streams; lane++) {
        model->variable[lane] = model->variables;
        model->variables += model->high[lane] - model->low[lane];
    }
    for (int32_t d = 0; d < problem->devices; d++) {
        int32_t lanes = LANE_KINDS * (problem->on_begin[d + 1] - problem->on_begin[d]);
        for (int32_t k = 0; k < lanes; k++)
            for (int32_t l = k + 1; l < lanes; l++) {
                int32_t a = lane_of(on_device(model, d, k / LANE_KINDS), k % LANE_KINDS);
                int32_t b = lane_of(on_device(model, d, l / LANE_KINDS), l % LANE_KINDS);
                int64_t size = (int64_t)(model->high[a] - model->low[a]) * (model->high[b] - model->low[b]);
                if ((model->entries += size) > ENTRIES_MAX) return 0;
                int32_t *table = arena_take(&model->window, (size_t)size + 1, sizeof *table), *entry = table;
                model->pair[a * model->slots + model->slot[b]] = table;
                if (table == NULL) return 0;
                for (int32_t i = model->low[a]; i < model->high[a]; i++)
                    for (int32_t j = model->low[b]; j < model->high[b]; j++) {
                        const int32_t sure = surely(problem, a, i, b, j);
                        *entry++ = sure ? sure : kept(model, a, i, b, j);
                    }
                if (model->freed) close_table(table, model->high[a] - model->low[a], model->high[b] - model->low[b]);
                for (int64_t e = 0; e < size; e++)
                    if (table[e] == 0) table[e] = model->variables++;
                if (model->variables > VARIABLES_MAX) return 0;
            }
    }
    return 1;
}

/* The bounds of an operation that the order outside the window sets. */
static void bound_start(struct model *model, const int32_t *order, int32_t device, int64_t at, int64_t from,
                        int64_t to) {
    const struct best_problem *problem = model->problem;
    const struct ticks *ticks = &model->ticks;
    int32_t lane = order[at], unit = model->unit[at], input = problem->from[lane], reader = problem->to[lane];
    int64_t least = 0, tail = ticks->time[lane] - model->begin[device];
    if (from > problem->begin[device]) {
        int32_t other = order[from - 1];
        least = model->start[problem->output[other] + model->unit[from - 1]] + occupied(model, other);
    }
    if (input >= 0 && is_past(model, input, unit)) {
        int64_t there = model->start[problem->output[input] + unit] + ticks->time[input] + ticks->come[lane];
        if (there > least) least = there;
    }
    if (to < problem->begin[device + 1]) {
        int64_t other = occupied(model, lane) + model->tail[problem->output[order[to]] + model->unit[to]];
        if (other > tail) tail = other;
    }
    if (reader >= 0 && is_future(model, reader, unit)) {
        int64_t other = ticks->time[lane] + ticks->come[reader] + model->tail[problem->output[reader] + unit];
        if (other > tail) tail = other;
    }
    model->last[start_of(model, lane, unit)] = tail;
    lazy_set_bounds(model->solver, start_of(model, lane, unit), least, model->goal - tail);
}

int32_t model_build(struct model *model, const int32_t *order, const int64_t *from, const int64_t *to, int64_t goal) {
    const struct best_problem *problem = model->problem;
    if (from == NULL) from = problem->begin, to = problem->begin + 1;
    assert(goal >= 0);
    model->goal = goal;
    model->groups = 0;
    model->from = from, model->to = to;
    model->solver = lazy_free(model->solver);
    arena_reset(&model->window);
    set_window(model, order, from, to);
    if (!make_pairs(model) || !model_time(model, order)) return 0;
    model->solver = lazy_make(model->variables);
    if (model->solver == NULL) return 0;
    if (model->record) {
        kerf_text_clear(model->record);
        lazy_record(model->solver, model->record);
    }
    for (int32_t d = 0; d < problem->devices; d++)
        for (int64_t at = from[d]; at < to[d]; at++) bound_start(model, order, d, at, from[d], to[d]);
    for (int32_t lane = 0; lane < LANE_KINDS * problem->streams; lane++) add_lane(model, lane);
    for (int32_t d = 0; d < problem->devices; d++) add_device(model, d);
    for (int32_t d = 0; model->freed && d < problem->devices; d++) add_kept(model, order, d);
    memcpy(model->order, order, (size_t)problem->ops * sizeof *order);
    return 1;
}

int64_t model_steps(const struct model *model) {
    enum { OF_A_VARIABLE = 16 }; /* its edges, sorted */
    return OF_A_VARIABLE * (int64_t)model->variables;
}

double model_bound(const struct model *model) {
    return (double)(model->goal + 1) * model->ticks.tick_s - model->loss_s;
}

static void write_ticks(struct kerf_text *out, const char *name, const int64_t *ticks, int32_t count) {
    kerf_text_add(out, name);
    for (int32_t k = 0; k < count; k++) kerf_text_printf(out, " %lld", (long long)ticks[k]);
    kerf_text_add(out, "\n");
}

void model_write_refutation(const struct model *model, struct kerf_text *out) {
    const struct best_problem *problem = model->problem;
    const int32_t lanes = LANE_KINDS * problem->streams;
    kerf_text_add(out, "argument refutation\ntick_s ");
    kerf_text_number(out, model->ticks.tick_s);
    kerf_text_add(out, "\n");
    write_ticks(out, "goal", &model->goal, 1);
    write_ticks(out, "begin", model->begin, problem->devices);
    write_ticks(out, "time", model->ticks.time, lanes);
    write_ticks(out, "hold", model->ticks.hold, lanes);
    write_ticks(out, "come", model->ticks.come, lanes);
    if (model->record->data) kerf_text_write(out, model->record->data, model->record->length);
}

void model_set_goal(struct model *model, int64_t goal) {
    const struct best_problem *problem = model->problem;
    model->goal = goal;
    for (int32_t lane = 0; lane < LANE_KINDS * problem->streams; lane++)
        for (int32_t j = model->low[lane]; j < model->high[lane]; j++) {
            int32_t x = start_of(model, lane, j);
            lazy_tighten(model->solver, 2 * x + 1, model->last[x] - goal);
        }
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
            for (int32_t kind = 0; kind < LANE_KINDS; kind++) {
                int32_t lane = lane_of(problem->on[k], kind);
                for (int32_t j = model->low[lane]; j < model->high[lane]; j++) {
                    int64_t begin = lazy_value(model->solver, start_of(model, lane, j));
                    starts[count++] =
                        (struct model_start){begin, begin + model->ticks.time[lane], depth(problem, lane), lane};
                }
            }
        assert((int64_t)count == model->to[d] - model->from[d]);
        qsort(starts, count, sizeof *starts, compare_starts);
        for (size_t k = 0; k < count; k++) model->order[model->from[d] + (int64_t)k] = starts[k].lane;
    }
}

/* Rules out the units with which F of a unit breaks the cap: those inside, and those not yet freed. */
static void rule_out(struct model *model, int32_t device, int32_t lane, const int32_t *done) {
    const struct best_problem *problem = model->problem;
    int32_t count = 0, unit = done[lane] - 1;
    for (int32_t k = problem->on_begin[device]; k < problem->on_begin[device + 1]; k++) {
        int32_t forward = lane_of(problem->on[k], LANE_F), freed = lane_of(problem->on[k], problem->free_kind);
        if (forward != lane && done[forward] > 0)
            model->literals[count++] = before(model, lane, unit, forward, done[forward] - 1);
        if (done[freed] < done[forward]) model->literals[count++] = before(model, freed, done[freed], lane, unit);
    }
    add_one_of(model, model->literals, count);
}

int32_t model_refine(struct model *model) {
    const struct best_problem *problem = model->problem;
    int32_t *done = model->done, count = 0;
    for (int32_t d = 0; d < problem->devices; d++) {
        double held = 0;
        for (int64_t at = problem->begin[d]; at < problem->begin[d + 1]; at++) done[model->order[at]] = 0;
        for (int64_t at = problem->begin[d]; at < problem->begin[d + 1]; at++) {
            int32_t lane = model->order[at], kind = lane_kind(lane);
            done[lane]++;
            if (kind == problem->free_kind) held -= problem->amount[lane_stream(lane)];
            if (kind != LANE_F || (held += problem->amount[lane_stream(lane)]) <= problem->cap[d]) continue;
            rule_out(model, d, lane, done);
            count++;
            break;
        }
    }
    return count;
}

/* ---- Making it -------------------------------------------------------------------------------------------- */

int32_t model_make(struct model *model, const struct best_problem *problem, enum kerf_objective objective,
                   double value) {
    enum { OPS_MAX = 4000000, SLOTS_MAX = 4000000 };
    size_t ops = (size_t)problem->ops, lanes = LANE_KINDS * (size_t)problem->streams;
    size_t devices = (size_t)problem->devices;
    struct arena *arena = &model->arena;
    *model = (struct model){.problem = problem, .objective = objective};
    if (!isfinite(value) || ops > OPS_MAX) return 0;
    for (int32_t d = 0; d < problem->devices; d++) {
        int32_t slots = LANE_KINDS * (problem->on_begin[d + 1] - problem->on_begin[d]);
        if (slots > model->slots) model->slots = slots;
    }
    if (lanes * (size_t)model->slots > SLOTS_MAX) return 0;
    model->slot = arena_alloc(arena, lanes, sizeof *model->slot);
    model->pair = arena_alloc(arena, lanes * (size_t)model->slots, sizeof *model->pair);
    model->low = arena_alloc(arena, lanes, sizeof *model->low);
    model->high = arena_alloc(arena, lanes, sizeof *model->high);
    model->variable = arena_alloc(arena, lanes, sizeof *model->variable);
    model->done = arena_alloc(arena, lanes, sizeof *model->done);
    model->clause = arena_alloc(arena, lanes, sizeof *model->clause);
    model->literals = arena_alloc(arena, lanes, sizeof *model->literals);
    model->position = arena_alloc(arena, ops, sizeof *model->position);
    model->start = arena_alloc(arena, ops, sizeof *model->start);
    model->tail = arena_alloc(arena, ops, sizeof *model->tail);
    model->last = arena_alloc(arena, ops, sizeof *model->last);
    model->sequence = arena_alloc(arena, ops, sizeof *model->sequence);
    model->unit = arena_alloc(arena, ops, sizeof *model->unit);
    model->order = arena_alloc(arena, ops, sizeof *model->order);
    model->starts = arena_alloc(arena, ops, sizeof *model->starts);
    model->at = arena_alloc(arena, devices, sizeof *model->at);
    model->free = arena_alloc(arena, devices, sizeof *model->free);
    int good = model->slot && model->pair && model->low && model->high && model->variable && model->done &&
               model->clause && model->literals && model->position && model->start && model->tail && model->last &&
               model->sequence && model->unit && model->order && model->starts && model->at && model->free;
    for (int32_t k = 0; good && k < problem->streams; k++) {
        int32_t s = problem->on[k], first = problem->on_begin[problem->device[s]];
        for (int32_t kind = 0; kind < LANE_KINDS; kind++)
            model->slot[lane_of(s, kind)] = LANE_KINDS * (k - first) + kind;
    }
    return good && make_ticks(model, value);
}

void model_free(struct model *model) {
    lazy_free(model->solver);
    arena_free(&model->window);
    arena_free(&model->arena);
}
