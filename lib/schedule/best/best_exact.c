/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact search: asks for an order that takes less than the one known (best_model.c) until there is none, which is
 * a proof.
 *
 * Goals are far below while orders are found easily, and come nearer when the answer does not come within a number of
 * conflicts; a goal that is refuted is a bound. The last question, for the smallest improvement, has no limit but the
 * budget. What was learned stays valid for lower goals; for higher ones a new solver begins.
 *
 * From below, goals are just above what is refuted, and patience grows while none is refuted: so a bound rises also where
 * the upper half of the interval is out of reach.
 *
 * For the span of two replicas, whose devices may begin at any time, the question is limited to orders in which they
 * begin at once, and nothing is proved.
 */
#include "schedule/best/best_model.h"
#include "schedule/best/best_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EASY = 200, PATIENCE = 1500 }; /* conflicts */

static int32_t stop(void *context, int64_t steps) { return best_spend(context, steps); }

struct descent {
    struct best_search *search;
    int32_t bounds; /* whether what is refuted bounds the objective */
    struct model model;
    struct kerf_text record;
    double value;    /* the objective of the search's order, when it was looked at last, */
    int64_t known;   /* that in ticks, */
    int64_t refuted; /* and to which no order comes down */
    int64_t step, least_step;
    int64_t conflicts; /* that may still be spent, */
    int64_t patience;  /* of these on the question at hand; 0: there is none */
    int64_t spent;     /* on it */
    int32_t last;      /* it is for the smallest improvement */
    int32_t fresh;     /* a new solver is needed */
    int32_t from_below;
};

/* What is known now, by this search or by others beside it. */
static void look_at_known(struct descent *descent) {
    const struct best_search *search = descent->search;
    const double ticks = search->value / descent->model.ticks.tick_s;
    const int span = search->problem.objective == KERF_OBJECTIVE_SPAN;
    const double bound = (span ? search->bound : search->makespan_bound) / descent->model.ticks.tick_s;
    const int64_t refuted = (int64_t)floor(bound * (1 - 1e-9)) - 1;
    if (search->value < descent->value && !descent->from_below) descent->patience = 0; /* a lower goal is better */
    descent->value = search->value;
    descent->known = (int64_t)floor(descent->model.ticks.exact ? ticks + 0.5 : ticks);
    descent->least_step = descent->model.ticks.exact ? 1 : 1 + (int64_t)floor(ticks * 0.9e-9);
    if (refuted > descent->refuted) descent->refuted = refuted;
    if (descent->patience > 0 && descent->model.goal <= descent->refuted) {
        descent->patience = 0;
        descent->fresh = 1;
    }
}

static void take_bound(struct descent *descent) {
    struct best_search *search = descent->search;
    double bound = model_bound(&descent->model);
    if (descent->model.goal > descent->refuted) descent->refuted = descent->model.goal;
    if (!descent->bounds) return;
    if (search->problem.objective == KERF_OBJECTIVE_MAKESPAN)
        search->makespan_bound = fmax(search->makespan_bound, bound);
    if (!(bound > search->bound)) return;
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
    if (!model_build(&descent->model, descent->search->order, NULL, NULL, goal)) return 0;
    best_spend(descent->search->budget, model_steps(&descent->model));
    return 1;
}

/* Takes the solution; 0: it is not better in truth, because of rounding or because messages share links. */
static int take_solution(struct descent *descent) {
    const double before = descent->value;
    best_offer(descent->search, descent->model.order);
    look_at_known(descent);
    return descent->value < before;
}

/* What follows from an answer. 0: the descent ends. */
static int go_on(struct descent *descent, enum lazy_answer answer) {
    switch (answer) {
    case LAZY_SOLVED:
        model_read(&descent->model);
        if (model_refine(&descent->model) > 0) return 1;
        if (descent->spent <= EASY) descent->step *= 2;
        if (descent->spent > PATIENCE / 2) descent->step /= 2;
        return take_solution(descent);
    case LAZY_IMPOSSIBLE:
        take_bound(descent);
        descent->fresh = 1;
        descent->step /= 4;
        return !descent->last;
    case LAZY_UNKNOWN:
        descent->fresh = 1;
        descent->step /= 4;
        if (descent->step < descent->known / 1000000) descent->step = 0;
        return !descent->last;
    default: return 0;
    }
}

/* One question, or the rest of one that was interrupted, and what follows from its answer. 0: the descent ends. */
static int ask(struct descent *descent) {
    if (descent->patience <= 0) {
        if (descent->conflicts <= 0 || !set_goal(descent)) return 0;
        descent->last = descent->step <= descent->least_step;
        descent->patience = descent->last || descent->conflicts < PATIENCE ? descent->conflicts : PATIENCE;
        descent->spent = 0;
    }
    const int64_t before = lazy_conflicts(descent->model.solver);
    enum lazy_answer answer = lazy_solve(descent->model.solver, descent->patience, stop, descent->search->budget);
    const int64_t spent = lazy_conflicts(descent->model.solver) - before;
    descent->conflicts -= spent;
    descent->patience -= spent;
    descent->spent += spent;
    if (answer == LAZY_UNKNOWN && descent->patience > 0) return 1; /* it goes on, with more budget */
    descent->patience = 0;
    return go_on(descent, answer);
}

static int descent_make(struct descent *descent, struct best_search *search, int64_t conflicts) {
    *descent = (struct descent){.search = search, .value = search->value, .conflicts = conflicts, .fresh = 1};
    descent->bounds = search->problem.objective == KERF_OBJECTIVE_MAKESPAN || search->problem.replicas == 1;
    if (!model_make(&descent->model, &search->problem, search->problem.objective, search->value)) return 0;
    descent->model.record = search->refutation ? &descent->record : NULL;
    descent->refuted = -1;
    look_at_known(descent);
    descent->step = descent->known / 500;
    return 1;
}

static void descent_free(struct descent *descent) {
    model_free(&descent->model);
    kerf_text_free(&descent->record);
}

void best_exact(struct best_search *search, int64_t conflicts) {
    struct descent descent;
    if (descent_make(&descent, search, conflicts))
        while (!best_is_done(search) && ask(&descent)) continue;
    descent_free(&descent);
}

/* ---- As a task -------------------------------------------------------------------------------------------- */

static void exact_free(void *state) {
    descent_free(state);
    free(state);
}

static void *exact_make(struct best_search *search) {
    struct descent *descent = malloc(sizeof *descent);
    if (descent == NULL) return NULL;
    if (descent_make(descent, search, INT64_MAX)) return descent;
    exact_free(descent);
    return NULL;
}

static int32_t exact_run(void *state) {
    struct descent *descent = state;
    look_at_known(descent);
    while (!best_is_done(descent->search))
        if (!ask(descent)) return 1;
    return 0;
}

const struct best_task best_task_exact = {exact_make, exact_run, exact_free};

/* ---- From below ------------------------------------------------------------------------------------------- */

/* A goal above the refuted ones, in the lower half of the open interval. 0: nothing is left to ask. */
static int set_low_goal(struct descent *descent) {
    const int64_t open = descent->known - descent->refuted;
    if (open <= 1) return 0;
    if (descent->step > open / 2) descent->step = open / 2;
    if (descent->step < descent->least_step) descent->step = descent->least_step;
    const int64_t goal = descent->refuted + descent->step;
    if (goal >= descent->known || goal < 0) return 0;
    if (!model_build(&descent->model, descent->search->order, NULL, NULL, goal)) return 0;
    best_spend(descent->search->budget, model_steps(&descent->model));
    return 1;
}

/* One question from below, or the rest of it. 0: there is no more. */
static int ask_low(struct descent *descent) {
    if (descent->patience <= 0) {
        if (!set_low_goal(descent)) return 0;
        descent->patience = descent->conflicts;
    }
    const int64_t before = lazy_conflicts(descent->model.solver);
    enum lazy_answer answer = lazy_solve(descent->model.solver, descent->patience, stop, descent->search->budget);
    descent->patience -= lazy_conflicts(descent->model.solver) - before;
    if (answer == LAZY_UNKNOWN && descent->patience > 0) return 1;
    if (answer == LAZY_SOLVED) {
        model_read(&descent->model);
        if (model_refine(&descent->model) > 0) return 1;
        descent->patience = 0;
        return take_solution(descent);
    }
    descent->patience = 0;
    if (answer == LAZY_NO_MEMORY) return 0;
    if (answer == LAZY_IMPOSSIBLE) {
        take_bound(descent);
        descent->step *= 2;
    } else {
        if (descent->step <= descent->known / 2000) descent->conflicts *= 2;
        descent->step /= 2;
    }
    return 1;
}

static void *ascent_make(struct best_search *search) {
    struct descent *descent = exact_make(search);
    if (descent == NULL) return NULL;
    descent->from_below = 1;
    descent->conflicts = PATIENCE; /* of a question */
    return descent;
}

static int32_t ascent_run(void *state) {
    struct descent *descent = state;
    look_at_known(descent);
    while (!best_is_done(descent->search))
        if (!ask_low(descent)) return 1;
    return 0;
}

const struct best_task best_task_ascent = {ascent_make, ascent_run, exact_free};
