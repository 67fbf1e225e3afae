/* SPDX-License-Identifier: Apache-2.0 */
/* What a split of layers over virtual stages is asked for, and what makes one better than another; stage_split.h says what
 * the best one is. */
#ifndef KERF_COST_SPLIT_VALUE_H
#define KERF_COST_SPLIT_VALUE_H

#include "base/arena.h"
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
    /* [num_stages] micro-batches whose activations a virtual stage holds at its device's peak */
    const double *in_flight;
    const double *device_bytes; /* [num_devices] what a device holds besides */
};

struct split_value {
    double s, bytes; /* of the slowest and of the fullest device */
    /* where evenness counts: between the fullest and the emptiest virtual stage of a device, 1 or more */
    int32_t spread;
};

/* What split_value_of needs: of each device. */
struct split_device {
    double s, bytes;
    int32_t low, high;
};

/* Fixed times and bytes alone. */
void split_devices_begin(const struct stage_split_question *question, struct split_device *devices);

/* devices: [num_devices], filled in. */
struct split_value split_value_of(const struct stage_split_question *question, struct split_device *devices,
                                  const int32_t *layers);

/* Below 0 where a is better. */
int split_value_compare(const struct split_value *a, const struct split_value *b);

/* Below 0 where a comes before b. */
int split_order(const int32_t *a, const int32_t *b, int32_t num_stages);

static inline double split_layer_bytes(const struct stage_split_question *question, int32_t stage, int32_t kind) {
    return question->layer_bytes[kind] + question->in_flight[stage] * question->activation_bytes[kind];
}

static inline double split_fixed_s(const struct stage_split_question *question, int32_t stage) {
    return question->stage_s + (stage == 0 ? question->first_s : 0) +
           (stage == question->num_stages - 1 ? question->last_s : 0);
}

#endif
