/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the best order as integers and precedences (best_model.c), which lazy_clauses.h solves. */
#ifndef KERF_SCHEDULE_BEST_MODEL_H
#define KERF_SCHEDULE_BEST_MODEL_H

#include "schedule/best.h"
#include "schedule/lazy_clauses.h"

/* Times in whole ticks, none longer than it is: what is impossible in ticks is impossible. */
struct ticks {
    double tick_s;
    int32_t exact;               /* every time is so many ticks but for rounding */
    int64_t *time, *hold, *come; /* [lanes] */
};

struct model {
    const struct best_problem *problem;
    struct arena arena;
    struct ticks ticks;
    struct lazy_solver *solver;
    int32_t **pair; /* [lanes][slots]: of two lanes of a device, [units][units] what says that one runs first */
    int32_t *slot;  /* [lanes] among its device's lanes */
    int32_t slots;  /* most lanes of a device */
    int32_t variables, groups;
    int64_t *position;          /* [ops] in the order known, by output */
    int32_t *order;             /* [ops] of a solution */
    struct model_start *starts; /* [ops] scratch */
    int64_t *begin;             /* [devices] of the span: when a device begins, NULL: at 0 */
    double loss_s;              /* by which that may be rounded down */
    int64_t goal;               /* ticks that the objective may take */
};

/* Everything but the solver. 0: too large, or not enough memory. */
int32_t model_make(struct model *model, const struct best_problem *problem, enum kerf_objective objective,
                   double value);
void model_free(struct model *model);

/* A new solver for a goal, which tries the order known first. 0: not enough memory. */
/* What every order takes when the goal is refuted. */
double model_bound(const struct model *model);
int32_t model_build(struct model *model, const int32_t *order, int64_t goal);
void model_set_goal(struct model *model, int64_t goal); /* below the one before */
void model_read(struct model *model);                   /* the solution as an order */

#endif
