/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one layout costs, and the search: every layout of a model over N accelerators, the best first.
 *
 * The candidates of each strategy, placement into the scale-up domain included, are exactly those of the
 * reference (execution.py of ShashankSubramanian/transformer-perf-estimates). The ranking is by throughput,
 * then by less memory, then by layout, so that it is one and the same for any number of threads.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     int main(void) {
 *         struct kerf_error err;
 *         struct kerf_problem problem = {.strategy = KERF_STRATEGY_1D, .gpus = 1024, .global_batch = 4096, .seq_length = 2048};
 *         struct kerf_plan_options options = {.top = 1};
 *         struct kerf_plan *plan;
 *         if (kerf_model_load("gpt3_1t", &problem.model, &err) != KERF_OK) return 1;
 *         if (kerf_system_load("a100", &problem.system, &err) != KERF_OK) return 1;
 *         if (kerf_cost_model_find("reference", &options.cost_model, &err) != KERF_OK) return 1;
 *         if (kerf_plan_search(&problem, 1, &options, &plan, &err) != KERF_OK) return 1;
 *         printf("%ld layouts, %ld fit\n", (long)plan->searches[0].candidates, (long)plan->searches[0].feasible);
 *         kerf_plan_free(plan);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     1818 layouts, 42 fit
 */
#ifndef KERF_PLAN_H
#define KERF_PLAN_H

#include "kerf/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- One layout ------------------------------------------------------------------------------------------- */

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

/* ---- The search ------------------------------------------------------------------------------------------- */

/** The best layout that has another value of one dimension than the winner. */
struct kerf_other {
    const char *dimension;         /* a key of the layout: "tp", "recompute", ... */
    struct kerf_estimate estimate; /* without its pipeline */
};

/** What would make another layout win: one quantity, up or down from what it is now. */
struct kerf_turn {
    const char *quantity;        /* "memory_capacity_bytes", "scale_up.bandwidth_bytes_per_s",
                                    "scale_out.bandwidth_bytes_per_s" or "global_batch" */
    double now, at;              /* at: where another layout wins, the nearest that was found; 0: nowhere up to limit */
    double limit;                /* the farthest value that was tried; where it is now, there is none to try */
    int32_t is_end;              /* 1: from there on nothing fits */
    struct kerf_estimate winner; /* there, without its pipeline; where at is not 0 and is_end is 0 */
    double present_s;            /* what today's winner takes there; 0: it does not fit there, or cannot be laid so */
};

/** Why the best layout is the best. */
struct kerf_why {
    struct kerf_estimate runner_up; /* without its pipeline */
    const struct kerf_other *others;
    const struct kerf_turn *turns; /* each quantity downwards, then upwards */
    int32_t has_runner_up, num_others, num_turns;
    int32_t complete; /* 0: interrupted */
};

/** What would make something fit where nothing does. */
struct kerf_mend {
    const char *change;            /* a restriction that is given up: "tp", ..., "stage_layers", "restrictions" (all of
                                      them); or what is taken instead: "space" (wide), "gradients" (bf16) */
    struct kerf_estimate estimate; /* the best then, without its pipeline */
};

/** The least time within each memory, and layouts that were found on the way. */
struct kerf_front {
    const struct kerf_estimate *best; /* [num_best] from the most memory to the least, each slower than the one before;
                                         without their pipelines. Those that do not fit come first */
    const struct kerf_estimate *near; /* [num_near] others, nearly as good within their memory */
    int32_t num_best, num_near;
    int32_t complete; /* 0: interrupted */
};

struct kerf_search {
    struct kerf_problem problem;
    const char *cost_model;              /* its name */
    int64_t candidates;                  /* layouts considered, whether they fit or not */
    int64_t feasible;                    /* of them, those that fit the memory; where the search proves that it need
                                            not look at all, of those that it looked at */
    int64_t priced;                      /* of them, those whose step time was computed */
    int32_t proved;                      /* 1: no candidate is better than the plans */
    double bound_s;                      /* no candidate takes less; the best step time once proved */
    const struct kerf_estimate *plans;   /* [num_plans] the best first */
    const struct kerf_estimate *nearest; /* nothing fits: the layout that needs least memory; else NULL */
    int64_t least_gpus;                  /* nothing fits: the smallest gpus * 2^k, up to KERF_LEAST_GPUS_MAX, at which
                                            something does; 0: none, or not known */
    const char *reason;                  /* no candidates: the rule that leaves none, without a full stop; else NULL */
    int64_t gpus_that_work[2];           /* no candidates: the nearest numbers of accelerators, below and above, that
                                            have some; 0: none near */
    int32_t num_plans;
    int32_t complete; /* 0: interrupted before every candidate was considered */
    /* What was asked for besides, else NULL and 0: */
    const struct kerf_why *why;
    const struct kerf_front *front;
    const struct kerf_mend *mends; /* [num_mends] */
    int32_t num_mends;
};

/** The best layouts that the model cannot tell apart, and the cheapest measurement that would. */
struct kerf_alike {
    int32_t count;  /* ranks 1 .. count */
    double within;  /* how much slower than the first they are predicted to be, at most: 0.05 */
    int32_t other;  /* the rank to be measured beside the first: the one that differs in most dimensions */
    int32_t steps;  /* of each, after five to warm up */
    double seconds; /* that both take together */
};

/** 1 where the first layout has others that are alike; of hybrid layouts alone. */
KERF_API int32_t kerf_search_alike(const struct kerf_search *search, struct kerf_alike *ret_alike);

/** The answer to one or many problems, in their order. */
struct kerf_plan {
    const struct kerf_search *searches; /* [num_searches] */
    size_t num_searches;
    int32_t complete; /* 1: every search is */
};

struct kerf_plan_options {
    const struct kerf_cost_model *cost_model;
    int32_t top;            /* plans to keep of each search, 1 .. KERF_TOP_MAX */
    int32_t threads;        /* 0: one for each processor; not below 0 */
    int32_t exhaustive;     /* 1: every candidate is priced, whatever bounds say */
    int32_t is_brief;       /* 1: of searches without an answer it is not found out what is nearest, nor why */
    kerf_progress progress; /* NULL: nobody is told */
    void *progress_context;
};

/** Searches all problems. The plan is given back with kerf_plan_free. KERF_EINVALID, KERF_ENOMEM. */
KERF_API int32_t kerf_plan_search(const struct kerf_problem *problems, size_t num_problems,
                                  const struct kerf_plan_options *options, struct kerf_plan **ret_plan,
                                  struct kerf_error *err);
KERF_API struct kerf_plan *kerf_plan_free(struct kerf_plan *plan); /* always NULL */

/**
 * Finds out why: for each search of hybrid layouts with an answer, by some tens of searches more. Ctrl-C - a progress that
 * returns 1 - leaves what is known by then.
 */
KERF_API int32_t kerf_plan_why(struct kerf_plan *plan, const struct kerf_plan_options *options, struct kerf_error *err);

/** Finds the front of each search: at most 64 searches more for each. */
KERF_API int32_t kerf_plan_front(struct kerf_plan *plan, const struct kerf_plan_options *options,
                                 struct kerf_error *err);

/** Finds what would mend each search of hybrid layouts in which nothing fits: giving up a restriction of its space, the
 * wide space, smaller gradients. */
KERF_API int32_t kerf_plan_mend(struct kerf_plan *plan, const struct kerf_plan_options *options,
                                struct kerf_error *err);

/* ---- As JSON ---------------------------------------------------------------------------------------------- */

/** Writes what is asked into the object that is open: "model":...,"gpus":...; of hybrid layouts "shape":{...} too, all that
 * the cost of the model depends on. */
KERF_API void kerf_problem_json(struct kerf_json *json, const struct kerf_problem *problem);

/** Writes {"kerf":"...","searches":[...]}. */
KERF_API void kerf_plan_json(struct kerf_json *json, const struct kerf_plan *plan);
/** The same without what is around it: "searches":[...] into the object that is open. */
KERF_API void kerf_plan_searches_json(struct kerf_json *json, const struct kerf_plan *plan);

/* ---- Comparing -------------------------------------------------------------------------------------------- */

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

/* ---- The pipeline of a plan ------------------------------------------------------------------------------- */

/**
 * Reads the pipeline of a plan: of the one of this rank, from 1, in what kerf_plan_json has written, or, rank 1, in what
 * `kerf estimate --format json` has. name is the text's, for errors. Its schedule is a rule that takes such a pipeline.
 * Its stage_layers is NULL, and its makespan_s what the plan says, 0 where it says nothing. Given back with
 * kerf_pipeline_free.
 *
 * KERF_ESYNTAX and KERF_EINVALID with file, line and column; also where there is no plan of this rank, where it has no
 * pipeline, and where the text has plans of several problems.
 */
KERF_API int32_t kerf_pipeline_parse(const char *text, size_t length, const char *name, int32_t rank,
                                     struct kerf_pipeline **ret_pipeline, struct kerf_error *err);
KERF_API struct kerf_pipeline *kerf_pipeline_free(struct kerf_pipeline *pipeline); /* always NULL */

#ifdef __cplusplus
}
#endif
#endif
