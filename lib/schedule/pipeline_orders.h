/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The makespans of rules whose order is known beforehand, without making a schedule: one function for each sort of order.
 * All are what the simulator says, but for rounding, which is 1e-15 of the makespan for each of the few operations that
 * are not extrapolated.
 */
#ifndef KERF_SCHEDULE_PIPELINE_ORDERS_H
#define KERF_SCHEDULE_PIPELINE_ORDERS_H

#include "base/arena.h"
#include "schedule/pipeline.h"

/* Doubles that a question may need without its arena. */
enum { PIPELINE_STACK = 768 };

/* Each returns 0 when memory ran out. */
int pipeline_1f1b(const struct pipeline_question *question, struct arena *arena, double *ret_makespan_s);
int pipeline_zb_h1(const struct pipeline_question *question, struct arena *arena, double *ret_makespan_s);
int pipeline_gpipe(const struct pipeline_question *question, struct arena *arena, double *ret_makespan_s);

/* Of interleaved_1f1b with groups of p micro-batches; m is a multiple of p, or there is one chunk: that is eager_1f1b. */
int pipeline_interleaved(const struct pipeline_question *question, struct arena *arena, double *ret_makespan_s);

/* Of the same order: how many micro-batches of a chunk a device holds when it holds most, the first time, where all
 * chunks are alike; and its peak where bytes [p v] says by stage what they take. */
double pipeline_interleaved_held(int32_t p, int32_t v, int32_t m, int32_t device, int32_t chunk);
double pipeline_interleaved_peak(int32_t p, int32_t v, int32_t m, int32_t device, const double *bytes);

/* What a rule has whatever is asked of it. */
struct pipeline_rule {
    enum kerf_placement placement; /* best has a loop */
    int32_t slices;                /* of each micro-batch, */
    int32_t by_device;             /* 1: for each device */
    int whole;                     /* 1: its backward passes are not split */
    int walks;                     /* 1: its order is that of pipeline_1f1b */
    int is_gpipe;                  /* 1: that of pipeline_gpipe */
};
struct pipeline_rule pipeline_rule_of(const char *name);

#endif
