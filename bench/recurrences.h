/* SPDX-License-Identifier: Apache-2.0 */
/* Recurring jobs of the published traces of Zeus (NSDI 2023), replayed against a policy. */
#ifndef KERF_BENCH_RECURRENCES_H
#define KERF_BENCH_RECURRENCES_H

#include "kerf/jobs.h"

enum { SIZES_MAX = 24, RUNS_MAX = 16, GPUS = 4 };

struct traced_size {
    int64_t batch_size;
    double time_s, power_w;           /* of an epoch at the best power limit */
    double profile_time_s, profile_j; /* of the first epoch of all, which tries the limits one after the other */
    double epochs[RUNS_MAX];          /* until the target; INFINITY: never */
    int32_t num_runs;
};

struct problem {
    char gpu[16], dataset[32];
    double target, max_power;
    int64_t max_epochs, default_batch_size;
    int32_t num_sizes, num_limits;
    struct traced_size sizes[SIZES_MAX]; /* ascending */
    double oracle;                       /* the cost of a run with the best size */
    int32_t published;                   /* the target and the default of the paper */
};

/* The problems of these traces: those of the paper first. NULL: no such files in the folder. */
struct problem *read_problems(const char *folder, int32_t *ret_count);

/* Regret after each recurrence, in runs of the oracle: ret_regret[0 .. recurrences - 1]. */
void replay(const struct problem *problem, const char *policy, uint64_t seed, int32_t recurrences, double *ret_regret);

#endif
