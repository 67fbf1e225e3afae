/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the phases of the search share: the best known order, bounds, and the remaining budget.
 *
 * Work is counted in steps, each about one look at an operation or at a constraint. Every phase counts what it does, so
 * that a search with a limit in steps has one answer on every machine.
 */
#ifndef KERF_SCHEDULE_BEST_BEST_SEARCH_H
#define KERF_SCHEDULE_BEST_BEST_SEARCH_H

#include "schedule/best/best_problem.h"

/* ---- What may be spent ------------------------------------------------------------------------------------ */

struct best_search;
struct search_how;

struct best_budget {
    int64_t steps;           /* done so far */
    int64_t most_steps;      /* of the whole search, INT64_MAX: any number; */
    double begin_s, limit_s; /* its seconds, INFINITY: any */
    int64_t until_steps;     /* what the phases at hand may use of both */
    double until_s;
    kerf_clock clock; /* NULL: none */
    void *clock_context;
    kerf_progress progress; /* NULL: none */
    void *progress_context;
    const struct search_how *how;      /* NULL: on one thread, and nobody is told */
    const struct best_search *watched; /* what is known of this search */
    int64_t report_at;                 /* steps, or */
    double report_s;                   /* the time, as steps may be slow */
    int32_t used_up, ended;            /* until_... are reached; the caller ended all of it */
    /* Of a task of a round (best_rounds.c); else NULL. It has steps alone, and can be told to stop. */
    int32_t (*has_to_stop)(struct best_budget *budget);
};

void best_budget_start(struct best_budget *budget, const struct kerf_schedule_request *request);

/* Lets the phases that follow use a share of what is left, and no more than so many times what was used, or `least`
 * steps. */
void best_budget_allow(struct best_budget *budget, double share, double times_used, int64_t least);

/* Lets what follows use a share of what is left of what `whole` was allowed. 1: nothing is left. */
int32_t best_budget_divide(struct best_budget *budget, const struct best_budget *whole, double share);

/* Counts steps; 1: no more. Reports progress now and then. */
int32_t best_spend(struct best_budget *budget, int64_t steps);

/* Whether the time is up, or the caller ends the search: reports progress where it is due. Counts nothing. */
int32_t best_budget_look(struct best_budget *budget);

/* ---- What is known ---------------------------------------------------------------------------------------- */

/* Other orders than the best one to go on from, the best first, no two of one value. */
struct best_pool {
    int32_t **order; /* [room], [ops] each */
    double *value;
    int32_t count, room;
};

struct best_search {
    struct best_problem problem;
    struct best_budget *budget;
    struct best_run run;
    struct arena arena;
    int32_t *order;               /* [ops] the best one of split operations, */
    double value;                 /* its objective, INFINITY: none yet, */
    double makespan;              /* makespan */
    double held;                  /* and the most that a device holds */
    double rule_value;            /* the objective of another rule's schedule as it is; INFINITY: none */
    double bound;                 /* no order of split operations has a lower objective, */
    double makespan_bound;        /* or makespan */
    struct kerf_text *refutation; /* NULL, or where the proof of the largest goal that the exact search refuted goes, */
    double refuted;               /* and that goal; 0: none */
    struct best_pool pool;        /* of the orders offered, while it has room for any */
};

/* Room for orders of the problem, which is made already. KERF_ENOMEM alone. */
int32_t best_search_make(struct best_search *search);

/* Room for so many orders of the pool; without memory it has none. */
void best_pool_make(struct best_search *search, int32_t room);

/* Takes an order that keeps the caps and is better than the one that is known, or as good and holds less. 1: it is
 * better. */
int32_t best_offer(struct best_search *search, const int32_t *order);

/* Less by more than rounding; b may be INFINITY. */
static inline int32_t best_less(double a, double b) { return a < (b > 1e-300 ? b * (1 - 1e-9) : b); }
int32_t best_is_optimal(const struct best_search *search);
/* Nothing better can be found, or all is spent. */
int32_t best_is_done(struct best_search *search);

/* ---- Phases, each in the file of its name ----------------------------------------------------------------- */

/* The best of the other rules' schedules as it is: its backwards may be whole or fused. */
struct best_rule {
    struct kerf_schedule *schedule; /* NULL: none */
    double value, held;             /* its objective; what the fullest device holds, in amounts */
};
/* Offers every order that another rule has for the request; best may be NULL, and is given back by the caller. */
void best_rules(struct best_search *search, const struct kerf_schedule *frame,
                const struct kerf_schedule_request *request, struct best_rule *best);
/* Offers one micro-batch after the other, which fits whenever anything does. */
void best_one_by_one(struct best_search *search);

void best_patterns(struct best_search *search);
void best_starts(struct best_search *search);
/* Ends after so many conflicts. */
void best_exact(struct best_search *search, int64_t conflicts);

/* A task is a phase that can be interrupted, and goes on with what others have found in the meantime. */
struct best_task {
    void *(*make)(struct best_search *search); /* NULL: there is nothing that it can do */
    int32_t (*run)(void *state);               /* until it is interrupted (0), or has no more to do (1) */
    void (*free)(void *state);
};
extern const struct best_task best_task_exact; /* best_exact.c */
extern const struct best_task best_task_ascent;
extern const struct best_task best_task_windows; /* best_windows.c */
extern const struct best_task best_task_climbs;
extern const struct best_task best_task_neighbours; /* best_neighbours.c */
/* All tasks, side by side. */
void best_rounds(struct best_search *search);
/* An order of the same value that holds less. */
void best_thin(struct best_search *search, const struct kerf_schedule *frame,
               const struct kerf_schedule_request *request);

#endif
