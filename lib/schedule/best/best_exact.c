/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact search: asks for an order that takes less than the one known (best_model.c) until there is none, which is
 * a proof.
 *
 * Goals are far below while orders are found easily, and come nearer when the answer does not come within a number of
 * conflicts; a goal that is refuted is a bound. The last question, for the smallest improvement, has no limit but the
 * budget. What was learned stays valid for lower goals; for higher ones a new solver begins.
 *
 * For the span of two replicas, whose devices may begin at any time, the question is limited to orders in which they
 * begin at once, and nothing is proved.
 */
#include "schedule/best/best_model.h"
#include "schedule/best/best_search.h"

#include <math.h>
#include <string.h>

enum { EASY = 200, PATIENCE = 1500 }; /* conflicts */

static int32_t stop(void *context, int64_t steps) { return best_spend(context, steps); }

struct descent {
    struct best_search *search;
    int32_t objective, bounds; /* enum kerf_objective; whether what is refuted bounds it */
    struct model model;
    int32_t *order;  /* [ops] the one known, */
    double value;    /* and what it takes */
    int64_t known;   /* that in ticks, */
    int64_t refuted; /* and to which no order comes down */
    int64_t step, least_step;
    int64_t conflicts; /* that may still be spent */
    int32_t fresh;     /* a new solver is needed */
};

static void look_at_known(struct descent *descent) {
    double ticks = descent->value / descent->model.ticks.tick_s;
    descent->known = (int64_t)floor(descent->model.ticks.exact ? ticks + 0.5 : ticks);
    descent->least_step = descent->model.ticks.exact ? 1 : 1 + (int64_t)floor(ticks * 0.9e-9);
}

static void take_bound(struct descent *descent) {
    struct best_search *search = descent->search;
    double bound = model_bound(&descent->model);
    if (descent->model.goal > descent->refuted) descent->refuted = descent->model.goal;
    if (!descent->bounds) return;
    if (descent->objective == KERF_OBJECTIVE_MAKESPAN) search->makespan_bound = fmax(search->makespan_bound, bound);
    if (descent->objective != search->problem.objective || !(bound > search->bound)) return;
    search->bound = bound;
    if (descent->model.record && !descent->model.record->failed) {
        kerf_text_clear(search->refutation);
        search->refuted = bound;
        model_write_refutation(&descent->model, search->refutation);
    }
}

/* A goal below the known value, in the upper half of the open interval. 0: nothing is left to ask. */
static int set_goal(struct descent *descent) {
    int64_t open = descent->known - descent->refuted;
    if (descent->step > open / 2) descent->step = open / 2;
    if (descent->step < descent->least_step) descent->step = descent->least_step;
    int64_t goal = descent->known - descent->step;
    if (goal <= descent->refuted || goal < 0) return 0;
    if (!descent->fresh && goal <= descent->model.goal) {
        if (goal < descent->model.goal) model_set_goal(&descent->model, goal);
        return 1;
    }
    descent->fresh = 0;
    if (!model_build(&descent->model, descent->order, NULL, NULL, goal)) return 0;
    return !best_spend(descent->search->budget, model_steps(&descent->model));
}

/* Takes the solution; 0: it is not better in truth, because of rounding or because messages share links. */
static int take_solution(struct descent *descent) {
    struct best_search *search = descent->search;
    best_offer(search, descent->model.order);
    double value = descent->objective == KERF_OBJECTIVE_SPAN ? search->run.span : search->run.makespan;
    if (!(value < descent->value)) return 0;
    descent->value = value;
    memcpy(descent->order, descent->model.order, (size_t)search->problem.ops * sizeof *descent->order);
    look_at_known(descent);
    return 1;
}

/* One question and what follows from its answer. 0: the descent ends. */
static int ask(struct descent *descent) {
    struct best_search *search = descent->search;
    if (descent->conflicts <= 0 || best_is_done(search) || !set_goal(descent)) return 0;
    int last = descent->step <= descent->least_step;
    int64_t before = lazy_conflicts(descent->model.solver), most = descent->conflicts;
    if (!last && most > PATIENCE) most = PATIENCE;
    enum lazy_answer answer = lazy_solve(descent->model.solver, most, stop, search->budget);
    int64_t spent = lazy_conflicts(descent->model.solver) - before;
    descent->conflicts -= spent;
    switch (answer) {
    case LAZY_SOLVED:
        model_read(&descent->model);
        if (model_refine(&descent->model) > 0) return 1;
        descent->step = spent <= EASY ? 2 * descent->step : spent > PATIENCE / 2 ? descent->step / 2 : descent->step;
        return take_solution(descent);
    case LAZY_IMPOSSIBLE:
        take_bound(descent);
        descent->fresh = 1;
        descent->step /= 4;
        return !last;
    case LAZY_UNKNOWN:
        descent->fresh = 1;
        descent->step /= 4;
        if (descent->step < descent->known / 1000000) descent->step = 0;
        return !last;
    default: return 0;
    }
}

static void descend(struct best_search *search, enum kerf_objective objective, int64_t conflicts) {
    struct descent descent = {.search = search, .objective = objective, .conflicts = conflicts, .fresh = 1};
    descent.bounds = objective == KERF_OBJECTIVE_MAKESPAN || search->problem.replicas == 1;
    descent.value = (int32_t)objective == search->problem.objective ? search->value : search->makespan;
    struct kerf_text record = {0};
    if (model_make(&descent.model, &search->problem, objective, descent.value)) {
        descent.model.record = search->refutation ? &record : NULL;
        size_t ops = (size_t)search->problem.ops;
        descent.order = arena_alloc(&descent.model.arena, ops, sizeof *descent.order);
        look_at_known(&descent);
        double bound = objective == KERF_OBJECTIVE_SPAN ? search->bound : search->makespan_bound;
        descent.refuted = (int64_t)floor(bound / descent.model.ticks.tick_s * (1 - 1e-9)) - 1;
        descent.step = descent.known / 500;
        if (descent.order) {
            memcpy(descent.order, search->order, ops * sizeof *descent.order);
            while (ask(&descent)) continue;
        }
    }
    model_free(&descent.model);
    kerf_text_free(&record);
}

void best_exact(struct best_search *search, int64_t conflicts) {
    descend(search, search->problem.objective, conflicts);
}
