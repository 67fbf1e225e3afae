/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the search for the best order share (best.c tells how they work together).
 *
 * A stream is a stage of a replica; its micro-batches are alike, so that it is no loss to run them first in, first out
 * (exchange any two that overtake each other). A lane is one kind of a stream's operations: F, I or W. An order is
 * then, for each device, a merge of its lanes: order[k] is a lane, whose next unit runs.
 */
#ifndef KERF_SCHEDULE_BEST_BEST_H
#define KERF_SCHEDULE_BEST_BEST_H

#include "base/arena.h"
#include "kerf/schedule.h"

enum lane_kind { LANE_F, LANE_I, LANE_W, LANE_KINDS };

struct best_problem {
    struct arena arena; /* all of the arrays */
    int32_t devices, streams, replicas;
    int32_t objective;                /* enum kerf_objective */
    int32_t shared_link;              /* messages wait for each other, which the exact search does not know */
    int32_t free_kind;                /* the lane kind that frees activations */
    int64_t ops;                      /* of all devices */
    int32_t *stage, *replica, *first; /* [streams]; and its first micro-batch */
    int32_t *units;                   /* [streams] micro-batches */
    int32_t *device;                  /* [streams] */
    int32_t *on, *on_begin;           /* streams of device d: on[on_begin[d] .. on_begin[d+1]-1], by stage */
    double *amount;                   /* [streams] activations of a unit; */
    double *cap;                      /* [devices] what their sum may be */
    int64_t *begin;                   /* [devices + 1] where a device's part of an order begins */
    double *time;                     /* [lanes] */
    double *hold;                     /* [lanes] for which the device is kept besides: blocking sends */
    double *come;                     /* [lanes] latency of the input from another device */
    int32_t *from, *to; /* [lanes] the other stage's lane whose output it needs, that needs its; -1: none */
    int64_t *output;    /* [lanes] where the outputs of a lane begin in a table of all */
};

static inline int32_t lane_of(int32_t stream, int32_t kind) { return LANE_KINDS * stream + kind; }
static inline int32_t lane_stream(int32_t lane) { return lane / LANE_KINDS; }
static inline int32_t lane_kind(int32_t lane) { return lane % LANE_KINDS; }

/* The one clock of the search, and what it reports to. */
struct best_clock {
    double begin_s, limit_s, report_s;
    kerf_progress progress;
    void *context;
    int32_t stopped;
};
void best_clock_start(struct best_clock *clock, const struct kerf_schedule_request *request);
int32_t best_clock_is_up(struct best_clock *clock); /* reports progress now and then */

/* What an order takes: room for evaluating it, and the figures of the last one. */
struct best_run {
    double *end;                                /* [ops] by output: when an operation ended */
    double *sent;                               /* [ops] by output: when it left its device; below 0: not yet */
    double *free_s, *link_s, *first_s, *last_s; /* [devices] */
    int32_t *done;                              /* [lanes] */
    int64_t *at, *waits;                        /* [devices] */
    int32_t *turns;                             /* [2 devices] */
    double makespan, span;
};

/* How list scheduling decides. */
enum best_prefer { PREFER_I, PREFER_F, PREFER_OTHER, PREFER_PAIRS, PREFERS };
struct best_policy {
    int32_t prefer;     /* enum best_prefer: I, F, the one that was not last, or two of a kind each time */
    int32_t deep_first; /* of chunks that are ready, F of the last one first */
    double fill;        /* a W starts before a wait of at least so much of its time */
    double patience;    /* for the preferred kind, as a share of the other's time */
    double *share;      /* [streams] of a device's cap that each takes in at most */
    double *limit;      /* [devices] amount that it takes in at most */
    int32_t *lag;       /* [devices] more weights than this may not wait */
};
struct best_list {
    int32_t *order; /* [ops] what came of it */
    double *end;    /* [ops] by output */
    int32_t *done;  /* [lanes] */
    int64_t *at;    /* [devices] */
    double *free_s, *held;
    int32_t *run; /* [devices] the last so many of F and I were I; below 0: F */
    double *tree; /* [2 leaves] of the devices' next starts, each node the least of its two */
    size_t leaves;
};
int32_t best_list_make(struct best_list *list, const struct best_problem *problem, struct arena *arena);
/* 0 when the policy comes to a stop. */
int32_t best_list_run(const struct best_problem *problem, struct best_list *list, const struct best_policy *policy);

/* The best that is known, and bounds. */
struct best_search {
    struct best_problem problem;
    struct best_clock clock;
    struct best_run run;
    struct arena arena;
    int32_t *order;        /* [ops] the best one of split operations, */
    double value;          /* its objective, INFINITY: none yet, */
    double makespan;       /* and makespan */
    double bound;          /* no order of split operations has a lower objective, */
    double makespan_bound; /* or makespan */
};

int32_t best_problem_make(struct best_problem *problem, const struct kerf_schedule *frame,
                          const struct kerf_schedule_times *times, enum kerf_objective objective);
int32_t best_run_make(struct best_run *run, const struct best_problem *problem, struct arena *arena);

/* The objective of an order, INFINITY when operations wait for each other; O(ops). */
double best_evaluate(const struct best_problem *problem, struct best_run *run, const int32_t *order);
int32_t best_fits(const struct best_problem *problem, const int32_t *order);
int32_t best_device_fits(const struct best_problem *problem, int32_t device, const int32_t *part);

/* Takes an order that is better than the one that is known and keeps the caps. */
int32_t best_offer(struct best_search *search, const int32_t *order);
/* Nothing better can be found, or the time is up. */
int32_t best_is_done(struct best_search *search);
int32_t best_is_optimal(const struct best_search *search);

static inline int32_t best_less(double a, double b) { return a < b - 1e-9 * (b > 1e-300 ? b : 0); }

int32_t best_bounds(const struct best_problem *problem, double *ret_makespan, double *ret_span);
void best_patterns(struct best_search *search);
void best_starts(struct best_search *search);
void best_improve(struct best_search *search);
void best_exact(struct best_search *search);

#endif
