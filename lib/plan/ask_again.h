/* SPDX-License-Identifier: Apache-2.0 */
/* Searches that follow a search: of a problem that is changed a little, for a few best layouts, without words where
 * there is no answer. */
#ifndef KERF_PLAN_ASK_AGAIN_H
#define KERF_PLAN_ASK_AGAIN_H

#include "plan/owned_plan.h"

struct asker {
    struct kerf_plan_options options;      /* of the searches that follow */
    const struct kerf_plan_options *asked; /* whose progress it is */
    double begun, share_before, share;     /* of the whole: where the next step begins, this one did, and its length */
    int32_t stopped;
    struct arena *arena; /* for what is kept: the plan's */
};

/* num_steps: of the whole. The asker stays where it is. ask_share says how much of it is done before the steps that
 * follow; ask_step begins one of them. */
void ask_begin(struct asker *asker, const struct kerf_plan_options *options, struct owned_plan *plan, int32_t top,
               double num_steps);
void ask_share(struct asker *asker, double done);
void ask_step(struct asker *asker);

/* What is kept of an estimate: without its pipeline, which dies with the plan that it is from, and without a split that is
 * found again. A split that is none of kerf's choice is kept; *good is 0 then when memory ran out. */
struct kerf_estimate ask_kept(const struct asker *asker, const struct kerf_estimate *estimate, int *good);

/* The best layouts of another problem, at most asker->options.top of them: *ret_count is 0 where nothing fits or the
 * search was stopped. */
int32_t ask_best(struct asker *asker, const struct kerf_problem *problem, struct kerf_estimate *ret_best,
                 int32_t *ret_count, struct kerf_error *err);

/* The space of the problem, to be changed. */
struct kerf_space ask_space(const struct kerf_problem *problem);

#endif
