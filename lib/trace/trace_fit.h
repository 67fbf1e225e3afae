/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_TRACE_RUN_FIT_H
#define KERF_TRACE_RUN_FIT_H

#include "trace/trace_owned.h"

struct owned_fit {
    struct kerf_trace_fit fit;
    struct arena arena;
    struct kerf_schedule_times times;
};

/* Quartiles; sorts the values. */
struct kerf_trace_spread trace_spread(double *values, size_t count);

/* Sets p2p and the latencies and overhead of times. 0 when memory runs out. */
int trace_fit_latency(struct owned_fit *owned, const struct owned_run *run);

#endif
