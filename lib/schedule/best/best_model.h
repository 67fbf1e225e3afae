/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the best order as integers and precedences (best_model.c), which lazy_clauses.h solves. */
#ifndef KERF_SCHEDULE_BEST_BEST_MODEL_H
#define KERF_SCHEDULE_BEST_BEST_MODEL_H

#include "schedule/best/best_problem.h"
#include "schedule/best/lazy_clauses.h"

/* Times in whole ticks, none longer than it is. */
struct ticks {
    double tick_s;
    int32_t exact;               /* every time is so many ticks but for rounding */
    int64_t *time, *hold, *come; /* [lanes] */
};

struct model {
    const struct best_problem *problem;
    int32_t objective;          /* enum kerf_objective */
    struct arena arena, window; /* of the model, and of the window at hand */
    struct ticks ticks;
    int64_t *begin; /* [devices] of the span: when a device begins; else 0 */
    double loss_s;  /* by which that may be rounded down */

    struct kerf_text *record; /* of the solver at hand; NULL: none is kept */
    struct lazy_solver *solver;
    int64_t goal;             /* ticks that the objective may take */
    const int64_t *from, *to; /* [devices] the window's part of an order */
    const char *freed;        /* NULL, or [ops] by output: those that may move; all others keep their order */
    int32_t *low, *high;      /* [lanes] its units: low .. high - 1 */
    int32_t *variable;        /* [lanes] the start of unit low */
    int32_t **pair;           /* [lanes][slots]: of two lanes of a device, [units][units] what says which runs first */
    int32_t *slot, slots;     /* [lanes] among its device's lanes; the most on a device */
    int32_t variables, groups;
    int64_t entries; /* of all tables of pairs */
    int64_t *last;   /* [starts] how long before the goal at the latest */
    int32_t *order;  /* [ops] of a solution */

    /* of the order known, by output: */
    int64_t *position, *start, *tail; /* [ops] where it is; when it starts; how long before the goal it has to */
    int32_t *unit;                    /* [ops] by position */
    int64_t *sequence;                /* [ops] positions, each behind what it needs */

    int32_t *done;                          /* [lanes] scratch, as all below */
    int64_t *at, *free;                     /* [devices] */
    struct model_start *starts;             /* [ops] */
    struct lazy_literal *clause, *literals; /* [lanes] */
};

/* Everything but the question. 0: not enough memory. */
int32_t model_make(struct model *model, const struct best_problem *problem, enum kerf_objective objective,
                   double value);
void model_free(struct model *model);

/* When the operations of an order start, and have to. 0: they wait for each other. */
int32_t model_time(struct model *model, const int32_t *order);

/* The parts of an order, which was timed, that start from `begin` on and before `end`. */
void model_window(const struct model *model, const int32_t *order, int64_t begin, int64_t end, int64_t *from,
                  int64_t *to);

/* A new question, which tries the order known first: of the window from .. to - 1, NULL: all. 0: too large, or not
 * enough memory. */
int32_t model_build(struct model *model, const int32_t *order, const int64_t *from, const int64_t *to, int64_t goal);
int64_t model_steps(const struct model *model);         /* what building it took */
void model_set_goal(struct model *model, int64_t goal); /* below the one before */
double model_bound(const struct model *model);          /* what every order takes when the goal of all is refuted */

/* Writes the refutation of the goal, which was asked for all: ticks, goal and the solver's record. */
void model_write_refutation(const struct model *model, struct kerf_text *out);

/* The solution as an order; and clauses against the parts of it that break a cap: the number of devices that do. */
void model_read(struct model *model);
int32_t model_refine(struct model *model);

#endif
