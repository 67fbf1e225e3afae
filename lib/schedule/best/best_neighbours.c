/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large neighbourhoods of the order known: some operations may move, all others keep their order among themselves, and
 * the exact search (best_model.c) looks for an order in which the whole takes less. Where a window of best_windows.c has
 * all operations of a time, these are
 *
 *   some micro-batches in a row on all devices
 *   some devices in a row for a longer time
 *   the weights of a time with what starts around them on a few devices
 *
 * drawn by a generator of its own, so that every run draws the same. When nothing was gained for a while, the gain asked
 * for becomes smaller, and then more operations may move. A try takes time linear in all operations, and what the solver
 * takes, whose conflicts are limited.
 */
#include "schedule/best/best_model.h"
#include "schedule/best/best_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FREE_OPS = 120, CONFLICTS = 300, TRIES = 40 };

struct neighbours {
    struct best_search *search;
    struct model model;
    char *freed;        /* [ops] by output: may move */
    int64_t *from, *to; /* [devices] */
    uint64_t state;     /* of the generator */
    double free_ops;    /* that may move */
    int64_t conflicts, known, step, least_step;
    int32_t tries; /* without gain */
    int64_t count; /* of all tries */
};

static int32_t stop(void *context, int64_t steps) { return best_spend(context, steps); }

/* 0 .. below - 1 */
static int64_t draw(struct neighbours *neighbours, int64_t below) {
    neighbours->state = neighbours->state * 6364136223846793005u + 1442695040888963407u;
    return below > 0 ? (int64_t)((neighbours->state >> 16) % (uint64_t)below) : 0;
}

static void look_at_known(struct neighbours *neighbours) {
    const double ticks = neighbours->search->value / neighbours->model.ticks.tick_s;
    neighbours->known = (int64_t)floor(neighbours->model.ticks.exact ? ticks + 0.5 : ticks);
    neighbours->least_step = neighbours->model.ticks.exact ? 1 : 1 + neighbours->known / 1000000;
}

/* ---- What may move ---------------------------------------------------------------------------------------- */

/* Frees what starts in a time on devices d .. d + count - 1; only: of one kind, -1: of all. */
static void free_time(struct neighbours *neighbours, int64_t begin, int64_t end, int32_t d, int32_t count,
                      int32_t only) {
    const struct best_problem *problem = neighbours->model.problem;
    for (int32_t k = 0; k < problem->on_begin[problem->devices]; k++) {
        const int32_t s = problem->on[k];
        if (problem->device[s] < d || problem->device[s] >= d + count) continue;
        for (int32_t kind = 0; kind < LANE_KINDS; kind++) {
            const int64_t output = problem->output[lane_of(s, kind)];
            if (only >= 0 && kind != only) continue;
            for (int32_t unit = 0; unit < problem->units[s]; unit++) {
                const int64_t start = neighbours->model.start[output + unit];
                if (start >= begin && start < end) neighbours->freed[output + unit] = 1;
            }
        }
    }
}

/* Frees units u .. u + count - 1 of every stream; the time in which they start. */
static void free_units(struct neighbours *neighbours, int32_t u, int32_t count, int64_t *ret_begin, int64_t *ret_end) {
    const struct best_problem *problem = neighbours->model.problem;
    *ret_begin = INT64_MAX, *ret_end = 0;
    for (int32_t lane = 0; lane < LANE_KINDS * problem->streams; lane++)
        for (int32_t unit = u; unit < u + count && unit < problem->units[lane_stream(lane)]; unit++) {
            const int64_t output = problem->output[lane] + unit, start = neighbours->model.start[output];
            neighbours->freed[output] = 1;
            if (start < *ret_begin) *ret_begin = start;
            if (start >= *ret_end) *ret_end = start + 1;
        }
}

static void choose(struct neighbours *neighbours, int64_t *ret_begin, int64_t *ret_end) {
    enum { UNITS, DEVICES, WEIGHTS, KINDS };
    const struct best_problem *problem = neighbours->model.problem;
    const double share = fmin(1, neighbours->free_ops / (double)problem->ops);
    memset(neighbours->freed, 0, (size_t)problem->ops);
    int32_t most = 1, devices = problem->devices;
    for (int32_t s = 0; s < problem->streams; s++) most = problem->units[s] > most ? problem->units[s] : most;
    switch (neighbours->count++ % KINDS) {
    case UNITS: {
        int32_t count = (int32_t)ceil(share * most);
        free_units(neighbours, (int32_t)draw(neighbours, most - count + 1), count, ret_begin, ret_end);
        return;
    }
    case DEVICES: {
        const int32_t count = devices <= 2 ? 1 : 1 + (int32_t)draw(neighbours, (devices + 1) / 2);
        const int64_t width =
            1 + (int64_t)fmin(share * devices / count * (double)neighbours->known, (double)neighbours->known);
        *ret_begin = draw(neighbours, neighbours->known - width + 1);
        *ret_end = *ret_begin + width;
        free_time(neighbours, *ret_begin, *ret_end, (int32_t)draw(neighbours, devices - count + 1), count, -1);
        return;
    }
    default: {
        const int64_t width = 1 + (int64_t)fmin(2 * share * (double)neighbours->known, (double)neighbours->known);
        const int32_t d = (int32_t)draw(neighbours, devices);
        *ret_begin = draw(neighbours, neighbours->known - width + 1);
        *ret_end = *ret_begin + width;
        free_time(neighbours, *ret_begin, *ret_end, 0, devices, LANE_W);
        free_time(neighbours, *ret_begin, *ret_end, d, 1, -1);
    }
    }
}

/* ---- Tries ------------------------------------------------------------------------------------------------ */

/* Whether a neighbour is better. */
static int try_one(struct neighbours *neighbours) {
    struct best_search *search = neighbours->search;
    struct model *model = &neighbours->model;
    const int64_t before = neighbours->known;
    int64_t begin = 0, end = 0, goal = neighbours->known - neighbours->step;
    choose(neighbours, &begin, &end);
    model_window(model, search->order, begin, end, neighbours->from, neighbours->to);
    model->freed = neighbours->freed;
    if (goal < 0) return 0;
    const int32_t built = model_build(model, search->order, neighbours->from, neighbours->to, goal);
    best_spend(search->budget, 4 * search->problem.ops + model_steps(model) + 4 * model->entries);
    if (!built) return 0;
    while (!best_is_done(search)) {
        if (lazy_solve(model->solver, neighbours->conflicts, stop, search->budget) != LAZY_SOLVED) break;
        model_read(model);
        if (model_refine(model) > 0) continue;
        if (!best_offer(search, model->order)) break;
        look_at_known(neighbours);
        goal = neighbours->known - neighbours->step;
        if (goal >= model->goal || goal < 0) break;
        model_set_goal(model, goal);
    }
    return neighbours->known < before;
}

/* 0: all may move, and there was nothing. */
static int after_try(struct neighbours *neighbours, int gained) {
    neighbours->tries = gained ? 0 : neighbours->tries + 1;
    if (neighbours->tries < TRIES) return 1;
    neighbours->tries = 0;
    if (neighbours->step > neighbours->least_step) {
        neighbours->step /= 4;
    } else {
        if (neighbours->free_ops >= (double)neighbours->search->problem.ops) return 0;
        neighbours->free_ops *= 1.5;
        neighbours->conflicts += neighbours->conflicts / 2;
        neighbours->step = neighbours->known / 1000;
    }
    if (neighbours->step < neighbours->least_step) neighbours->step = neighbours->least_step;
    return 1;
}

/* ---- As a task -------------------------------------------------------------------------------------------- */

static void neighbours_free(void *state) {
    struct neighbours *neighbours = state;
    model_free(&neighbours->model);
    free(neighbours);
}

static void *neighbours_make(struct best_search *search) {
    struct neighbours *neighbours = malloc(sizeof *neighbours);
    const size_t devices = (size_t)search->problem.devices;
    if (neighbours == NULL) return NULL;
    *neighbours =
        (struct neighbours){.search = search, .state = 1, .free_ops = FREE_OPS, .conflicts = CONFLICTS, .step = 1};
    struct arena *arena = &neighbours->model.arena;
    if (model_make(&neighbours->model, &search->problem, search->problem.objective, search->value)) {
        neighbours->freed = arena_alloc(arena, (size_t)search->problem.ops, 1);
        neighbours->from = arena_alloc(arena, devices, sizeof *neighbours->from);
        neighbours->to = arena_alloc(arena, devices, sizeof *neighbours->to);
        look_at_known(neighbours);
        neighbours->step = neighbours->known / 500;
        if (neighbours->step < neighbours->least_step) neighbours->step = neighbours->least_step;
        if (neighbours->freed && neighbours->from && neighbours->to) return neighbours;
    }
    neighbours_free(neighbours);
    return NULL;
}

static int32_t neighbours_run(void *state) {
    struct neighbours *neighbours = state;
    struct best_search *search = neighbours->search;
    look_at_known(neighbours);
    while (!best_is_done(search)) {
        if (!model_time(&neighbours->model, search->order)) return 1;
        if (!after_try(neighbours, try_one(neighbours))) return 1;
    }
    return 0;
}

const struct best_task best_task_neighbours = {neighbours_make, neighbours_run, neighbours_free};
