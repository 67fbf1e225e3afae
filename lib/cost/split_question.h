/* SPDX-License-Identifier: Apache-2.0 */
/* What a split of layers over virtual stages is asked for; stage_split.h says what the best one is. */
#ifndef KERF_COST_SPLIT_QUESTION_H
#define KERF_COST_SPLIT_QUESTION_H

#include "kerf/model.h"

struct stage_split_question {
    const struct kerf_layer_run *runs; /* [num_runs] of equal layers, in their order */
    int32_t num_runs;
    int32_t num_stages;  /* virtual ones */
    int32_t num_devices; /* each has a virtual stage */
    int32_t is_even;
    const int32_t *device_of;                /* [num_stages] */
    double layer_s[KERF_KINDS_MAX];          /* forward and backward of one micro-batch */
    double first_s, last_s;                  /* what the first and the last virtual stage take besides */
    double stage_s;                          /* what every virtual stage takes besides */
    double layer_bytes[KERF_KINDS_MAX];      /* weights, gradients, optimizer of a layer on a device */
    double activation_bytes[KERF_KINDS_MAX]; /* of a layer and micro-batch */
    const double
        *in_flight; /* [num_stages] micro-batches whose activations a virtual stage holds at its device's peak */
    const double *device_bytes; /* [num_devices] what a device holds besides */
};

#endif
