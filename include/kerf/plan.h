/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search: every layout of a model over N accelerators, the best first.
 *
 * The candidates of each strategy, placement into the scale-up domain included, are exactly those of the
 * reference (execution.py of ShashankSubramanian/transformer-perf-estimates). The ranking is by throughput,
 * then by less memory, then by layout, so that it is one and the same for any number of threads.
 */
#ifndef KERF_PLAN_H
#define KERF_PLAN_H

#include "kerf/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KERF_TOP_MAX        1000    /* plans of one search, at most */
#define KERF_LEAST_GPUS_MAX 1048576 /* where the search for the fewest accelerators ends */

struct kerf_search {
    struct kerf_problem problem;
    int64_t candidates;                  /* layouts considered, whether they fit or not */
    int64_t feasible;                    /* of them, those that fit the memory */
    const struct kerf_estimate *plans;   /* [num_plans] the best first */
    const struct kerf_estimate *nearest; /* nothing fits: the layout that needs least memory; else NULL */
    int64_t least_gpus;                  /* nothing fits: the smallest gpus * 2^k, up to KERF_LEAST_GPUS_MAX, at which
                                            something does; 0: none, or not known */
    int32_t num_plans;
    int32_t complete; /* 0: interrupted before every candidate was considered */
};

/** The answer to one or many problems, in their order. */
struct kerf_plan {
    const struct kerf_search *searches; /* [num_searches] */
    size_t num_searches;
    int32_t complete; /* 1: every search is */
};

struct kerf_plan_options {
    const struct kerf_cost_model *cost_model;
    int32_t top;            /* plans to keep of each search, 1 .. KERF_TOP_MAX */
    int32_t threads;        /* 0: one for each processor */
    kerf_progress progress; /* NULL: nobody is told */
    void *progress_context;
};

/** Searches all problems. The plan is given back with kerf_plan_free. KERF_EINVALID, KERF_ENOMEM. */
KERF_API int32_t kerf_plan_search(const struct kerf_problem *problems, size_t num_problems,
                                  const struct kerf_plan_options *options, struct kerf_plan **ret_plan,
                                  struct kerf_error *err);
KERF_API struct kerf_plan *kerf_plan_free(struct kerf_plan *plan); /* always NULL */

/** Writes {"kerf":"...","searches":[...]}. */
KERF_API void kerf_plan_json(struct kerf_json *json, const struct kerf_plan *plan);

/** The search of this model with the highest throughput, or NULL when none found anything; model NULL: of any model
 * (samples of different models do not compare). */
KERF_API const struct kerf_search *kerf_plan_best(const struct kerf_plan *plan, const char *model);

#ifdef __cplusplus
}
#endif
#endif
