/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline in numbers, and its answer: what schedule/pipeline.h is asked, and what each file behind it is asked too. */
#ifndef KERF_SCHEDULE_PIPELINE_QUESTION_H
#define KERF_SCHEDULE_PIPELINE_QUESTION_H

#include "kerf/schedule.h"

struct pipeline_question {
    const char *rule;
    int32_t devices, chunks, microbatches;
    /* [devices * chunks] by virtual stage, in the order in which a micro-batch goes through them: */
    const double *forward_s, *backward_input_s, *backward_weight_s;
    const double *activation_bytes; /* of one micro-batch */
    double latency_s;
};

struct pipeline_answer {
    double makespan_s;
    double *peak_bytes; /* [devices] activations at most; the caller's */
};

#endif
