/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The question that the search for the best order answers, in flat arrays, and what an order takes.
 *
 * A stream is a stage of a replica; its micro-batches are alike, so that it is no loss to run them first in, first out
 * (exchange any two that overtake each other). A lane is one kind of a stream's operations: F, I or W. An order is
 * then, for each device, a merge of its lanes: order[k] is a lane, whose next unit runs.
 */
#ifndef KERF_SCHEDULE_BEST_BEST_PROBLEM_H
#define KERF_SCHEDULE_BEST_BEST_PROBLEM_H

#include "base/arena.h"
#include "kerf/schedule.h"

enum lane_kind { LANE_F, LANE_I, LANE_W, LANE_KINDS };

struct best_problem {
    struct arena arena; /* all of the arrays */
    int32_t devices, streams, replicas;
    int32_t objective;                /* KERF_OBJECTIVE_MAKESPAN or _SPAN */
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

/* The problem of a placement: of the frame only the placement and the sizes are read. KERF_ENOMEM alone. */
int32_t best_problem_make(struct best_problem *problem, const struct kerf_schedule *frame,
                          const struct kerf_schedule_times *times, enum kerf_objective objective);

/* The most that a device holds in an order, in amounts; INFINITY where one holds more than its cap. */
double best_held(const struct best_problem *problem, const int32_t *order);

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

int32_t best_run_make(struct best_run *run, const struct best_problem *problem, struct arena *arena);

/* The objective of an order, INFINITY when operations wait for each other; O(ops). */
double best_evaluate(const struct best_problem *problem, struct best_run *run, const int32_t *order);

#endif
