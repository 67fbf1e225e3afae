/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Improving orders that are too long for the exact search: a window of time slides over the order known, and the exact
 * search (best_model.c) looks for an order of the operations that start in it, all others staying as they are, with
 * which the whole takes less. Every longest path goes through the window, so that what is won there is won for good.
 *
 * Windows overlap by half. When no window gains anything, the gain asked for becomes smaller, and then windows become
 * larger; once a window would hold everything, the search ends. A window takes time linear in all operations, and
 * what the solver takes, whose conflicts are limited.
 */
#include "schedule/best/best_part.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOW_OPS = 160, CONFLICTS = 200 };

struct sweep {
    struct part part;
    double window_ops;
    int64_t begin;    /* of the next window */
    int32_t improved; /* by a window of this sweep */
};

static int64_t width_of(const struct sweep *sweep) {
    return (int64_t)((double)sweep->part.known * sweep->window_ops / (double)sweep->part.search->problem.ops) + 1;
}

/* Behind the last window: what the next sweep asks for. 0: there is none. */
static int begin_sweep(struct sweep *sweep) {
    struct part *part = &sweep->part;
    sweep->begin = 0;
    if (!sweep->improved && !part_ask_less(part)) {
        if (sweep->window_ops >= (double)part->search->problem.ops) return 0;
        sweep->window_ops *= 2;
        part->conflicts *= 2;
        part_set_step(part, part->known / 2000);
    }
    sweep->improved = 0;
    return 1;
}

static void windows_free(void *state) {
    struct sweep *sweep = state;
    part_free(&sweep->part);
    free(sweep);
}

static void *windows_make(struct best_search *search) {
    struct sweep *sweep = malloc(sizeof *sweep);
    if (sweep == NULL) return NULL;
    *sweep = (struct sweep){.window_ops = WINDOW_OPS};
    if (part_make(&sweep->part, search, CONFLICTS)) return sweep;
    windows_free(sweep);
    return NULL;
}

static int32_t windows_run(void *state) {
    struct sweep *sweep = state;
    struct part *part = &sweep->part;
    part_look(part);
    while (!best_is_done(part->search)) {
        const int64_t width = width_of(sweep), begin = sweep->begin;
        if (begin >= part->known) {
            if (!begin_sweep(sweep)) return 1;
            continue;
        }
        if (!model_time(&part->model, part->search->order)) return 1;
        sweep->improved |= part_try(part, begin, begin + width);
        sweep->begin += (width + 1) / 2;
    }
    return 0;
}

const struct best_task best_task_windows = {windows_make, windows_run, windows_free};

/* ---- From other orders ------------------------------------------------------------------------------------ */

/* Windows over the orders of the pool one after the other, each for so many steps: the best one to begin with need not
 * be the one that becomes the best. */
struct climb {
    struct best_search *search;
    struct best_search own; /* of the order at hand */
    struct sweep *sweep;    /* NULL: the next order is due */
    int64_t until;          /* steps left of it */
    int32_t next;
};

static void climbs_free(void *state) {
    struct climb *climb = state;
    if (climb->sweep) windows_free(climb->sweep);
    arena_free(&climb->own.arena);
    free(climb);
}

static void *climbs_make(struct best_search *search) {
    struct climb *climb = malloc(sizeof *climb);
    if (climb == NULL) return NULL;
    *climb = (struct climb){.search = search};
    climb->own = (struct best_search){.problem = search->problem, .budget = search->budget};
    climb->own.problem.arena = (struct arena){NULL}; /* its arrays are the search's */
    if (search->pool.count > 0 && best_search_make(&climb->own) == KERF_OK) return climb;
    climbs_free(climb);
    return NULL;
}

static int next_climb(struct climb *climb) {
    enum { STEPS = 30000 }; /* an operation */
    if (climb->next >= climb->search->pool.count) return 0;
    climb->own.value = climb->own.held = INFINITY;
    best_offer(&climb->own, climb->search->pool.order[climb->next++]);
    climb->sweep = windows_make(&climb->own);
    climb->until = STEPS * climb->own.problem.ops;
    return climb->sweep != NULL;
}

static int32_t climbs_run(void *state) {
    struct climb *climb = state;
    struct best_budget *budget = climb->search->budget;
    while (!best_is_done(climb->search)) {
        if (climb->sweep == NULL && !next_climb(climb)) return 1;
        const int64_t end = budget->until_steps, begin = budget->steps;
        climb->own.bound = climb->search->bound;
        if (end - begin > climb->until) budget->until_steps = begin + climb->until;
        const int32_t ended = windows_run(climb->sweep);
        climb->until -= budget->steps - begin;
        if (budget->until_steps < end) budget->until_steps = end, budget->used_up = budget->steps >= end;
        best_offer(climb->search, climb->own.order);
        if (!ended && climb->until > 0 && !best_is_optimal(&climb->own)) continue;
        windows_free(climb->sweep);
        climb->sweep = NULL;
    }
    return 0;
}

const struct best_task best_task_climbs = {climbs_make, climbs_run, climbs_free};
