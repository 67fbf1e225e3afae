/* SPDX-License-Identifier: Apache-2.0 */
/* What makes one split better than another. */
#ifndef KERF_COST_SPLIT_VALUE_H
#define KERF_COST_SPLIT_VALUE_H

#include "base/arena.h"
#include "cost/split_question.h"

struct split_value {
    double s, bytes; /* of the slowest and of the fullest device */
    int32_t
        spread; /* where evenness counts: between the fullest and the emptiest virtual stage of a device, 1 or more */
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
