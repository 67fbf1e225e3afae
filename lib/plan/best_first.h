/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search that proves its answer: prefixes by their lower bound, the least first, until the least bound that is left
 * exceeds the worst of the layouts to be kept. What was done is the same for any number of threads: prefixes are taken
 * up in batches, and all of a batch have the limits with which it began.
 */
#ifndef KERF_PLAN_BEST_FIRST_H
#define KERF_PLAN_BEST_FIRST_H

#include "plan/ranking.h"
#include "plan/walk.h"

struct best_first {
    /* Given. */
    const struct kerf_cost_model *cost_model;
    struct space space;
    int32_t top, threads;
    int32_t exhaustive;                             /* 1: every candidate is priced */
    int (*should_stop)(void *context, double done); /* asked now and then, with the share that is done */
    void *context;
    /* Found. */
    struct ranking best; /* in the arena that was given */
    int64_t candidates, feasible, priced;
    int32_t proved; /* 1: no candidate is better than best */
    double bound_s; /* no candidate takes less */
};

/* 0 when memory ran out. */
int best_first_search(struct best_first *search, struct arena *arena);

#endif
