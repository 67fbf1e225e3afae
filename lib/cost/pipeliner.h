/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What strategies and cost models need to know of pipeline schedules. Schedules are the business of lib/schedule, which
 * this room may not call: lib/plan brings both together (plan/pipeline_rules.c), and tests bring their own.
 */
#ifndef KERF_COST_PIPELINER_H
#define KERF_COST_PIPELINER_H

#include "base/arena.h"

/* A pipeline: arrays are [devices * chunks] by virtual stage, in the order in which a micro-batch goes through them. */
struct pipeliner_question {
    const char *schedule;
    int32_t devices, chunks, microbatches;
    const double *forward_s, *backward_input_s, *backward_weight_s;
    const double *activation_bytes; /* of one micro-batch */
    double latency_s;
};

/* What was made before, by one thread. */
struct pipeliner_memory;

struct pipeliner {
    const char *const *schedules; /* all names, of a rule with several the first alone; NULL behind the last */

    /* Whether the schedule exists for so many devices, chunks and micro-batches. */
    int (*takes)(const char *schedule, int32_t devices, int32_t chunks, int32_t microbatches);
    /* The device of each virtual stage. */
    void (*devices)(const char *schedule, int32_t devices, int32_t chunks, int32_t *ret_device_of);
    /* Micro-batches that each virtual stage holds when its device holds most. */
    void (*in_flight)(const char *schedule, int32_t devices, int32_t chunks, int32_t microbatches,
                      double *ret_in_flight);
    /* No schedule with this placement takes less. */
    double (*least_s)(const struct pipeliner_question *question);
    struct pipeliner_memory *(*begin)(void); /* NULL when memory ran out */
    void (*end)(struct pipeliner_memory *memory);
    /* The most that each device holds of activations, without a simulation: ret_peak_bytes [devices]. 1; 0 when memory ran
     * out; -1: it must be simulated. */
    int (*peak)(struct pipeliner_memory *memory, const struct pipeliner_question *question, double *ret_peak_bytes);
    /* The makespan, and the same; where the schedule is searched for also what none within its memory takes less than,
     * else 0. 0 when memory ran out. */
    int (*time)(struct pipeliner_memory *memory, const struct pipeliner_question *question, struct arena *arena,
                double *ret_makespan_s, double *ret_bound_s, double *ret_peak_bytes);
};

#endif
