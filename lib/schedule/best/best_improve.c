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

enum { WINDOW_OPS = 160, CONFLICTS = 200 };

struct sweep {
    struct best_search *search;
    struct model model;
    int64_t *from, *to; /* [devices] */
    double window_ops;
    int64_t conflicts, known, step, least_step;
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

/* All windows once. */
static int sweep_once(struct sweep *sweep) {
    struct best_search *search = sweep->search;
    int improved = 0;
    int64_t width = (int64_t)((double)sweep->known * sweep->window_ops / (double)search->problem.ops) + 1;
    for (int64_t begin = 0; begin < sweep->known && !best_is_done(search); begin += (width + 1) / 2) {
        if (!model_time(&sweep->model, search->order)) return 0;
        improved |= improve_window(sweep, begin, begin + width);
    }
    return improved;
}

void best_improve(struct best_search *search) {
    struct sweep sweep = {.search = search, .window_ops = WINDOW_OPS, .conflicts = CONFLICTS};
    size_t devices = (size_t)search->problem.devices;
    if (!model_make(&sweep.model, &search->problem, search->problem.objective, search->value)) goto end;
    sweep.from = arena_alloc(&sweep.model.arena, devices, sizeof *sweep.from);
    sweep.to = arena_alloc(&sweep.model.arena, devices, sizeof *sweep.to);
    if (sweep.from == NULL || sweep.to == NULL) goto end;
    look_at_known(&sweep);
    for (sweep.step = sweep.known / 500; !best_is_done(search);) {
        if (sweep.step < sweep.least_step) sweep.step = sweep.least_step;
        if (sweep_once(&sweep)) continue;
        if (sweep.step > sweep.least_step) {
            sweep.step /= 4;
        } else {
            if (sweep.window_ops >= (double)search->problem.ops) break;
            sweep.window_ops *= 2;
            sweep.conflicts *= 2;
            sweep.step = sweep.known / 2000;
        }
    }
end:
    model_free(&sweep.model);
}
