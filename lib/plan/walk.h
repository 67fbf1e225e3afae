/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one walk through the layouts of a problem: down the levels of its strategy (cost/strategy.h), with the bounds and
 * prices of a cost model (cost/cost_model.h). The search, the nearest miss and the fewest accelerators that would do are
 * three ways to use it.
 */
#ifndef KERF_PLAN_WALK_H
#define KERF_PLAN_WALK_H

#include "cost/cost_model.h"

struct walk {
    /* Given. */
    /* the first member, so that the sink can find its walk. Layouts beyond its limits are counted and not priced. take
     * NULL: nothing is priced, and the walk ends at the first layout within the capacity */
    struct cost_sink sink;
    const struct kerf_cost_model *cost_model;
    struct space space;
    struct arena *arena;               /* for what the walk needs; never reset here */
    int (*should_stop)(void *context); /* asked now and then */
    void *context;
    int uncounted; /* 1: candidates beyond the limits are not counted */
    /* Found. */
    int64_t candidates; /* all layouts */
    int64_t feasible;   /* of them, those found to be within the capacity */
    int64_t priced;     /* of them, those whose time was asked for */
    int stopped;        /* by should_stop, or at the first layout where nothing is priced */
};

/* Lists the choices of the first level. NULL when memory ran out. */
struct kerf_layout *walk_roots(const struct space *space, struct arena *arena, int32_t *ret_count);

/* Walks through everything below a prefix of a level; 0 when memory ran out. */
int walk_below(struct walk *walk, int32_t level, const struct kerf_layout *prefix);

/* The same with the pricer of walks before. */
int walk_on(struct walk *walk, struct cost_pricer *pricer, int32_t level, const struct kerf_layout *prefix);

/* Walks through everything; 0 when memory ran out. The arena is reset at every root. */
int walk_all(struct walk *walk);

#endif
