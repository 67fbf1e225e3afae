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
    struct cost_sink
        sink; /* the first member, so that the sink can find its walk; take NULL: nothing is priced, and the
                              walk ends at the first layout within the capacity */
    const struct kerf_cost_model *cost_model;
    struct space space;
    struct arena *arena;               /* for what the walk needs; never reset here */
    double capacity_bytes;             /* layouts that need more are counted and not priced; take may lower it */
    int (*should_stop)(void *context); /* asked now and then */
    void *context;
    /* Found. */
    int64_t candidates, feasible; /* all layouts, and those within the capacity */
    int stopped;                  /* by should_stop, or at the first layout where nothing is priced */
};

/* Lists the choices of the first level. NULL when memory ran out. */
struct kerf_layout *walk_roots(const struct space *space, struct arena *arena, int32_t *ret_count);

/* Walks through everything below one of them; 0 when memory ran out. */
int walk_below(struct walk *walk, const struct kerf_layout *root);

/* Walks through everything; 0 when memory ran out. The arena is reset at every root. */
int walk_all(struct walk *walk);

#endif
