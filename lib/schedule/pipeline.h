/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a pipeline takes and what its devices hold, for a search that asks millions of times: exactly what
 * kerf_schedule_make and kerf_schedule_simulate say, without making a schedule where its steady state can be
 * extrapolated.
 */
#ifndef KERF_SCHEDULE_PIPELINE_H
#define KERF_SCHEDULE_PIPELINE_H

#include "base/arena.h"
#include "kerf/schedule.h"
#include "schedule/pipeline_made.h"

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
    double bound_s;     /* where the rule searches for an order, no order within its memory takes less; else 0 */
    double *peak_bytes; /* [devices] activations at most; the caller's */
};

/* Whether the rule takes so many devices, chunks and micro-batches; nothing is made. */
int pipeline_takes(const char *rule, int32_t devices, int32_t chunks, int32_t microbatches);

/* Whether the rule runs a second copy of the model on the same devices, which no question here has. */
int pipeline_has_replicas(const char *rule);

/* The device of each virtual stage: ret_device_of [devices * chunks]. */
void pipeline_devices(const char *rule, int32_t devices, int32_t chunks, int32_t *ret_device_of);

/* Micro-batches whose activations each virtual stage holds when its device holds most, if all activations are of one
 * size: ret_in_flight [devices * chunks]. Exact for 1f1b, interleaved_1f1b, gpipe; else what the rule says of its
 * memory. */
void pipeline_in_flight(const char *rule, int32_t devices, int32_t chunks, int32_t microbatches, double *ret_in_flight);

/* No schedule of this placement is shorter: for pruning, a few operations for each stage. */
double pipeline_least_s(const struct pipeline_question *question);

/* No schedule of this rule is shorter: at least pipeline_least_s, and close to the makespan where its backward passes are
 * whole. */
double pipeline_least_of_rule_s(const struct pipeline_question *question);

/* What each device holds of activations at most, without times: ret_peak_bytes [devices]. 1; 0 when memory ran out; -1
 * where a schedule has to be simulated: its order depends on times, or it has very many chunks. The question must be one
 * that pipeline_takes. */
int pipeline_peak(const struct pipeline_question *question, struct pipeline_made *made, double *ret_peak_bytes);

/* Operations of the schedule that pipeline_time makes, about; 0 where it makes none. */
double pipeline_operations(const char *rule, int32_t devices, int32_t chunks, int32_t microbatches);

/* 0 when memory ran out. The question must be one that pipeline_takes, or of 1f1b, interleaved_1f1b or another rule whose
 * makespan is known, with any number of micro-batches. made may be NULL: then nothing is remembered. */
int pipeline_time(const struct pipeline_question *question, struct pipeline_made *made, struct arena *arena,
                  struct pipeline_answer *ret_answer);

#endif
