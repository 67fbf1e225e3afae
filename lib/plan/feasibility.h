/* SPDX-License-Identifier: Apache-2.0 */
/* What to say when nothing fits: the layout that needs least memory, and on how many accelerators one would fit. */
#ifndef KERF_PLAN_FEASIBILITY_H
#define KERF_PLAN_FEASIBILITY_H

#include "base/arena.h"
#include "kerf/plan.h"

struct feasibility {
    const struct kerf_cost_model *cost_model;
    struct arena *scratch;
    int (*should_stop)(void *context); /* asked now and then; after a 1 what is returned means nothing */
    void *context;
    int out_of_memory; /* set when memory ran out; what is returned then means nothing */
};

/* The layout with the least memory, of those the fastest; 0 when there are no candidates. */
int feasibility_nearest(struct feasibility *with, const struct kerf_problem *problem,
                        struct kerf_estimate *ret_nearest);

/* The smallest gpus * 2^k above gpus, up to KERF_LEAST_GPUS_MAX, at which something fits; 0: none. */
int64_t feasibility_least_gpus(struct feasibility *with, const struct kerf_problem *problem);

#endif
