/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one layout costs, and the search: every layout of a model over N accelerators, the best first.
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

/**
 * What the layout costs. Where members of scale_up are 0, the fastest placement that agrees with the others is taken:
 * of those that fill the scale-up domain or, where none does, of those that fill most of it; ret_estimate->layout has it.
 * KERF_EINVALID when the layout cannot carry the problem (kerf_layout_check).
 */
KERF_API int32_t kerf_layout_estimate(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                                      const struct kerf_layout *layout, struct kerf_estimate *ret_estimate,
                                      struct kerf_error *err);

/** The same by operation: fills layers and *ret_count. */
KERF_API int32_t kerf_layout_estimate_layers(const struct kerf_cost_model *cost_model,
                                             const struct kerf_problem *problem, const struct kerf_layout *layout,
                                             struct kerf_layer layers[KERF_LAYERS_MAX], int32_t *ret_count,
                                             struct kerf_error *err);

#define KERF_TOP_MAX        1000    /* plans of one search, at most */
#define KERF_LEAST_GPUS_MAX 1048576 /* where the search for the fewest accelerators ends */

struct kerf_search {
    struct kerf_problem problem;
    const char *cost_model;              /* its name */
    int64_t candidates;                  /* layouts considered, whether they fit or not */
    int64_t feasible;                    /* of them, those that fit the memory */
    const struct kerf_estimate *plans;   /* [num_plans] the best first */
    const struct kerf_estimate *nearest; /* nothing fits: the layout that needs least memory; else NULL */
    int64_t least_gpus;                  /* nothing fits: the smallest gpus * 2^k, up to KERF_LEAST_GPUS_MAX, at which
                                            something does; 0: none, or not known */
    const char *reason;                  /* no candidates: the rule that leaves none, without a full stop; else NULL */
    int64_t gpus_that_work[2];           /* no candidates: the nearest numbers of accelerators, below and above, that
                                            have some; 0: none near */
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

/** Whether two problems are about the same model or system: by content, for two files may have one name. */
KERF_API int32_t kerf_model_equal(const struct kerf_model *a, const struct kerf_model *b);
KERF_API int32_t kerf_system_equal(const struct kerf_system *a, const struct kerf_system *b);

/** 1 where the layout of this search is one of summa or seqp that cuts nothing which 1d would not cut as well (summa over
 * 1 x 1), and the plan has an answer of 1d to the same problem: then that is the one to show. */
KERF_API int32_t kerf_plan_has_twin(const struct kerf_plan *plan, const struct kerf_search *search,
                                    const struct kerf_estimate *estimate);

/** The search of this model with the highest throughput, or NULL when none found anything; model NULL: of any model
 * (samples of different models do not compare). Searches whose best layout has a twin do not count. */
KERF_API const struct kerf_search *kerf_plan_best(const struct kerf_plan *plan, const struct kerf_model *model);

#ifdef __cplusplus
}
#endif
#endif
