/* SPDX-License-Identifier: Apache-2.0 */
/* How good predictions of some runs are. */
#ifndef KERF_SCORE_FIGURES_H
#define KERF_SCORE_FIGURES_H

#include "score/predict.h"

/* NaN: nothing to compute it from. Errors are predicted / measured - 1. */
struct figures {
    size_t timed, refused;           /* runs with a step time that count; runs refused */
    double mean, median, p90, bias;  /* of |error|; bias is the median error */
    double within, width;            /* share of runs in their interval; median of high / low - 1 */
    double tau, regret;              /* of groups of FIGURES_GROUP rows or more */
    size_t oom;                      /* runs out of memory */
    double recall, precision, brier; /* where a run died of memory; p_oom of 0.5 and more calls it */
    size_t memory_runs;
    double memory_error; /* mean |error| of the memory of runs that were read out */
    double memory_gib;   /* the same in GiB */
};

enum { FIGURES_GROUP = 5 };

/* Whether a run's step time counts: it ended well, was timed, and its source is not somebody's memory. */
int figures_is_timed(const struct run *run);

/* Of the runs numbered `which` (count of them); predictions: one for each row of runs. A run is timed when it ended well,
 * was timed, and its source is not memory. tau is weighted by group size, regret is a plain mean over groups: the measured
 * time of the predicted best over the best time. */
int32_t figures_compute(const struct runs *runs, const struct prediction *predictions, const size_t *which,
                        size_t count, struct figures *ret_figures, struct kerf_error *err);

#endif
