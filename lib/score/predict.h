/* SPDX-License-Identifier: Apache-2.0 */
/* What kerf says of a run before it is measured: lib/cost's analytic model for the run's model, system, stack and layout. */
#ifndef KERF_SCORE_PREDICT_H
#define KERF_SCORE_PREDICT_H

#include "score/runs.h"

enum { PREDICTION_PARTS = 16 };

struct prediction {
    const char *why;                        /* it was refused because; NULL: the rest is filled */
    double step_s, step_low_s, step_high_s; /* the central 90 % */
    double memory_bytes;                    /* of the fullest accelerator */
    double p_oom;
    const char
        *basis; /* what the interval rests on: "61 runs of a100, megatron-2022", "nothing like this was measured" */
    struct {
        const char *name;
        double seconds;
    } parts[PREDICTION_PARTS]; /* they add up to step_s */
    int32_t parts_count;
};

#endif
