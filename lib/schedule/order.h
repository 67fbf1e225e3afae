/* SPDX-License-Identifier: Apache-2.0 */
/* What the validator and the simulator know alike of the order of operations. */
#ifndef KERF_SCHEDULE_ORDER_H
#define KERF_SCHEDULE_ORDER_H

#include <assert.h>
#include "kerf/schedule.h"

/* The first micro-batch of a replica. */
static inline int32_t order_first(const struct kerf_schedule *schedule, int32_t replica) {
    return (int32_t)((int64_t)replica * schedule->microbatches / schedule->replicas);
}

static inline int32_t order_replica(const struct kerf_schedule *schedule, int32_t microbatch) {
    return (int32_t)((((int64_t)microbatch + 1) * schedule->replicas - 1) / schedule->microbatches);
}

/* The device of a stage for a micro-batch. */
static inline int32_t order_device(const struct kerf_schedule *schedule, int32_t stage, int32_t microbatch) {
    const int32_t replica = schedule->replicas > 1 ? order_replica(schedule, microbatch) : 0;
    return schedule->device_of[replica * schedule->stages + stage];
}

static inline int64_t order_units(const struct kerf_schedule *schedule) {
    return (int64_t)schedule->microbatches * schedule->slices;
}

/* The numbers of a stage are this many pairs apart: a cache line more than they need, so that stages do not compete
 * for the same places in the cache when there are a power of two of them. */
static inline int64_t order_row(const struct kerf_schedule *schedule) { return order_units(schedule) + 4; }

/* Below this are the numbers of outputs. */
static inline size_t order_outputs(const struct kerf_schedule *schedule) {
    return 2 * (size_t)schedule->stages * (size_t)order_row(schedule);
}

/* A number for what F (backward 0) or B or I (1) of a stage, micro-batch and slice makes. */
static inline int64_t order_output(const struct kerf_schedule *schedule, int backward, int32_t stage,
                                   int32_t microbatch, int32_t slice) {
    assert(stage >= 0 && stage < schedule->stages && slice >= 0 && slice < schedule->slices);
    assert(microbatch >= 0 && microbatch < schedule->microbatches);
    return (stage * order_row(schedule) + (int64_t)microbatch * schedule->slices + slice) * 2 + backward;
}

/* Where a device stands when nothing goes on. */
struct order_stand {
    int64_t waits_for; /* the output that it lacks, -1: none */
    int32_t next;      /* the operation at hand */
};

/* Tells the first chain of operations that wait for each other, or the operation that is missing. KERF_EINVALID. */
int32_t order_explain_cycle(const struct kerf_schedule *schedule, const struct order_stand *stands,
                            struct kerf_error *err);

#endif
