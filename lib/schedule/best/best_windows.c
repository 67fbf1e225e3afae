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
#include "schedule/best/best_model.h"
#include "schedule/best/best_search.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOW_OPS = 160, CONFLICTS = 200 };

struct sweep {
    struct best_search *search;
    struct model model;
    int64_t *from, *to; /* [devices] */
    double window_ops;
    int64_t begin; /* of the next window */
    int64_t conflicts, known, step, least_step;
    int32_t improved; /* by a window of this sweep */
};

static int32_t stop(void *context, int64_t steps) { return best_spend(context, steps); }

static void look_at_known(struct sweep *sweep) {
    double ticks = sweep->search->value / sweep->model.ticks.tick_s;
    sweep->known = (int64_t)floor(sweep->model.ticks.exact ? ticks + 0.5 : ticks);
    sweep->least_step = sweep->model.ticks.exact ? 1 : 1 + sweep->known / 1000000;
}

/* The operations of each device that start from begin on and before end. */
static void set_window(struct sweep *sweep, int64_t begin, int64_t end) {
    const struct best_problem *problem = sweep->model.problem;
    const int32_t *order = sweep->search->order;
    for (int32_t d = 0; d < problem->devices; d++) {
        int64_t at[2];
        for (int k = 0; k < 2; k++) {
            int64_t low = problem->begin[d], high = problem->begin[d + 1];
            while (low < high) { /* the first that starts at the limit or behind it */
                int64_t middle = low + (high - low) / 2;
                int64_t output = problem->output[order[middle]] + sweep->model.unit[middle];
                if (sweep->model.start[output] < (k ? end : begin))
                    low = middle + 1;
                else
                    high = middle;
            }
            at[k] = low;
        }
        sweep->from[d] = at[0];
        sweep->to[d] = at[1];
    }
}

/* Looks for a better order of what starts in a time; returns whether there was one. */
static int improve_window(struct sweep *sweep, int64_t begin, int64_t end) {
    struct best_search *search = sweep->search;
    struct model *model = &sweep->model;
    int64_t goal = sweep->known - sweep->step, before = sweep->known;
    set_window(sweep, begin, end);
    if (goal < 0 || !model_build(model, search->order, sweep->from, sweep->to, goal)) return 0;
    best_spend(search->budget, 4 * search->problem.ops + model_steps(model));
    while (!best_is_done(search)) {
        if (lazy_solve(model->solver, sweep->conflicts, stop, search->budget) != LAZY_SOLVED) break;
        model_read(model);
        if (model_refine(model) > 0) continue;
        if (!best_offer(search, model->order)) break;
        look_at_known(sweep);
        goal = sweep->known - sweep->step;
        if (goal >= model->goal || goal < 0) break;
        model_set_goal(model, goal);
    }
    return sweep->known < before;
}

static int64_t width_of(const struct sweep *sweep) {
    return (int64_t)((double)sweep->known * sweep->window_ops / (double)sweep->search->problem.ops) + 1;
}

/* Behind the last window: what the next sweep asks for. 0: there is none. */
static int begin_sweep(struct sweep *sweep) {
    sweep->begin = 0;
    if (sweep->improved) {
        sweep->improved = 0;
    } else if (sweep->step > sweep->least_step) {
        sweep->step /= 4;
    } else {
        if (sweep->window_ops >= (double)sweep->search->problem.ops) return 0;
        sweep->window_ops *= 2;
        sweep->conflicts *= 2;
        sweep->step = sweep->known / 2000;
    }
    if (sweep->step < sweep->least_step) sweep->step = sweep->least_step;
    return 1;
}

static void windows_free(void *state) {
    struct sweep *sweep = state;
    model_free(&sweep->model);
    free(sweep);
}

static void *windows_make(struct best_search *search) {
    struct sweep *sweep = malloc(sizeof *sweep);
    const size_t devices = (size_t)search->problem.devices;
    if (sweep == NULL) return NULL;
    *sweep = (struct sweep){.search = search, .window_ops = WINDOW_OPS, .conflicts = CONFLICTS};
    if (model_make(&sweep->model, &search->problem, search->problem.objective, search->value)) {
        sweep->from = arena_alloc(&sweep->model.arena, devices, sizeof *sweep->from);
        sweep->to = arena_alloc(&sweep->model.arena, devices, sizeof *sweep->to);
        look_at_known(sweep);
        sweep->step = sweep->known / 500 > sweep->least_step ? sweep->known / 500 : sweep->least_step;
        if (sweep->from && sweep->to) return sweep;
    }
    windows_free(sweep);
    return NULL;
}

static int32_t windows_run(void *state) {
    struct sweep *sweep = state;
    struct best_search *search = sweep->search;
    look_at_known(sweep);
    while (!best_is_done(search)) {
        const int64_t width = width_of(sweep), begin = sweep->begin;
        if (begin >= sweep->known) {
            if (!begin_sweep(sweep)) return 1;
            continue;
        }
        if (!model_time(&sweep->model, search->order)) return 1;
        sweep->improved |= improve_window(sweep, begin, begin + width);
        sweep->begin += (width + 1) / 2;
    }
    return 0;
}

const struct best_task best_task_windows = {windows_make, windows_run, windows_free};
