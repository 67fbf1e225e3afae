/* SPDX-License-Identifier: Apache-2.0 */
/* What to say when a search has no answer: the layout that needs least memory and on how many accelerators one would
 * fit; or, where there is no layout at all, which rule leaves none and which numbers of accelerators would do. */
#ifndef KERF_PLAN_NO_ANSWER_H
#define KERF_PLAN_NO_ANSWER_H

#include "kerf/plan.h"
#include "plan/walk.h"

struct no_answer {
    const struct kerf_cost_model *cost_model;
    const struct divisors *batches; /* of the problem's global batch */
    struct arena *scratch;
    int (*should_stop)(void *context); /* asked now and then; after a 1 what is returned means nothing */
    void *context;
    int out_of_memory; /* set when memory ran out; what is returned then means nothing */
};

/* The layout with the least memory, of those the fastest; 0 when there are no candidates. */
int no_answer_nearest(struct no_answer *with, const struct kerf_problem *problem, struct kerf_layout *ret_nearest);

/* The smallest gpus * 2^k above gpus, up to KERF_LEAST_GPUS_MAX, at which something fits; 0: none. */
int64_t no_answer_least_gpus(struct no_answer *with, const struct kerf_problem *problem);

/* Appends the rule that leaves no candidate, and finds the nearest numbers of accelerators, below and above, that have
 * some; 0 where there is none near. */
void no_answer_reason(struct no_answer *with, const struct kerf_problem *problem, struct kerf_text *out,
                      int64_t ret_gpus[2]);

#endif
