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
 * for becomes smaller, and then more operations may move.
 */
#include "schedule/best/best_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FREE_OPS = 120, CONFLICTS = 300, TRIES = 40 };

struct neighbours {
    struct part part;
    char *freed;     /* [ops] by output: may move */
    uint64_t state;  /* of the generator */
    double free_ops; /* that may move */
    int32_t tries;   /* without gain */
    int64_t count;   /* of all tries */
};

/* 0 .. below - 1 */
static int64_t draw(struct neighbours *neighbours, int64_t below) {
    neighbours->state = neighbours->state * 6364136223846793005u + 1442695040888963407u;
    return below > 0 ? (int64_t)((neighbours->state >> 16) % (uint64_t)below) : 0;
}

/* ---- What may move ---------------------------------------------------------------------------------------- */

/* Frees what starts in a time on devices d .. d + count - 1; only: of one kind, -1: of all. */
static void free_time(struct neighbours *neighbours, int64_t begin, int64_t end, int32_t d, int32_t count,
                      int32_t only) {
    const struct best_problem *problem = neighbours->part.model.problem;
    for (int32_t k = 0; k < problem->on_begin[problem->devices]; k++) {
        const int32_t s = problem->on[k];
        if (problem->device[s] < d || problem->device[s] >= d + count) continue;
        for (int32_t kind = 0; kind < LANE_KINDS; kind++) {
            const int64_t output = problem->output[lane_of(s, kind)];
            if (only >= 0 && kind != only) continue;
            for (int32_t unit = 0; unit < problem->units[s]; unit++) {
                const int64_t start = neighbours->part.model.start[output + unit];
                if (start >= begin && start < end) neighbours->freed[output + unit] = 1;
            }
        }
    }
}

/* Frees units u .. u + count - 1 of every stream; the time in which they start. */
static void free_units(struct neighbours *neighbours, int32_t u, int32_t count, int64_t *ret_begin, int64_t *ret_end) {
    const struct best_problem *problem = neighbours->part.model.problem;
    *ret_begin = INT64_MAX, *ret_end = 0;
    for (int32_t lane = 0; lane < LANE_KINDS * problem->streams; lane++)
        for (int32_t unit = u; unit < u + count && unit < problem->units[lane_stream(lane)]; unit++) {
            const int64_t output = problem->output[lane] + unit, start = neighbours->part.model.start[output];
            neighbours->freed[output] = 1;
            if (start < *ret_begin) *ret_begin = start;
            if (start >= *ret_end) *ret_end = start + 1;
        }
}

static void choose(struct neighbours *neighbours, int64_t *ret_begin, int64_t *ret_end) {
    enum { UNITS, DEVICES, WEIGHTS, KINDS };
    const struct best_problem *problem = neighbours->part.model.problem;
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
            1 + (int64_t)fmin(share * devices / count * (double)neighbours->part.known, (double)neighbours->part.known);
        *ret_begin = draw(neighbours, neighbours->part.known - width + 1);
        *ret_end = *ret_begin + width;
        free_time(neighbours, *ret_begin, *ret_end, (int32_t)draw(neighbours, devices - count + 1), count, -1);
        return;
    }
    default: {
        const int64_t width =
            1 + (int64_t)fmin(2 * share * (double)neighbours->part.known, (double)neighbours->part.known);
        const int32_t d = (int32_t)draw(neighbours, devices);
        *ret_begin = draw(neighbours, neighbours->part.known - width + 1);
        *ret_end = *ret_begin + width;
        free_time(neighbours, *ret_begin, *ret_end, 0, devices, LANE_W);
        free_time(neighbours, *ret_begin, *ret_end, d, 1, -1);
    }
    }
}

/* ---- Tries ------------------------------------------------------------------------------------------------ */

/* Whether a neighbour is better. */
static int try_one(struct neighbours *neighbours) {
    int64_t begin = 0, end = 0;
    choose(neighbours, &begin, &end);
    neighbours->part.model.freed = neighbours->freed;
    return part_try(&neighbours->part, begin, end);
}

/* 0: all may move, and there was nothing. */
static int after_try(struct neighbours *neighbours, int gained) {
    struct part *part = &neighbours->part;
    neighbours->tries = gained ? 0 : neighbours->tries + 1;
    if (neighbours->tries < TRIES) return 1;
    neighbours->tries = 0;
    if (part_ask_less(part)) return 1;
    if (neighbours->free_ops >= (double)part->search->problem.ops) return 0;
    neighbours->free_ops *= 1.5;
    part->conflicts += part->conflicts / 2;
    part_set_step(part, part->known / 1000);
    return 1;
}

/* ---- As a task -------------------------------------------------------------------------------------------- */

static void neighbours_free(void *state) {
    struct neighbours *neighbours = state;
    part_free(&neighbours->part);
    free(neighbours);
}

static void *neighbours_make(struct best_search *search) {
    struct neighbours *neighbours = malloc(sizeof *neighbours);
    if (neighbours == NULL) return NULL;
    *neighbours = (struct neighbours){.state = 1, .free_ops = FREE_OPS};
    if (part_make(&neighbours->part, search, CONFLICTS)) {
        neighbours->freed = arena_alloc(&neighbours->part.model.arena, (size_t)search->problem.ops, 1);
        if (neighbours->freed) return neighbours;
    }
    neighbours_free(neighbours);
    return NULL;
}

static int32_t neighbours_run(void *state) {
    struct neighbours *neighbours = state;
    struct part *part = &neighbours->part;
    part_look(part);
    while (!best_is_done(part->search)) {
        if (!model_time(&part->model, part->search->order)) return 1;
        if (!after_try(neighbours, try_one(neighbours))) return 1;
    }
    return 0;
}

const struct best_task best_task_neighbours = {neighbours_make, neighbours_run, neighbours_free};
