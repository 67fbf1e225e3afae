/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The costs of a size's ended trials, packed and by descending trial number, which is the order in which the reference
 * adds them up. New ones come in front, so that is where the spare room is; one place is kept free behind the last.
 */
#ifndef KERF_JOBS_COSTS_H
#define KERF_JOBS_COSTS_H

#include "kerf/error.h"

struct costs {
    int32_t held; /* 0: not in memory */
    int64_t start, count, room;
    double *cost;     /* [room + 1]; cost[start .. start + count - 1] are there */
    uint32_t *number; /* [room + 1] */
};

#define COSTS_ALL INT64_MAX

/* Room for one more; so that costs_insert cannot fail. */
int32_t costs_reserve(struct costs *costs, int64_t more, struct kerf_error *err);

/* Puts a cost in its place and forgets what is older than the `most` newest. */
void costs_insert(struct costs *costs, int64_t number, double cost, int64_t most);
void costs_forget(struct costs *costs);

static inline double *costs_newest(const struct costs *costs) { return costs->cost + costs->start; }

#endif
