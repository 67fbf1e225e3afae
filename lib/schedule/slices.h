/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_SLICES_H
#define KERF_SCHEDULE_SLICES_H

#include <math.h>
#include "base/arena.h"
#include "kerf/schedule.h"

/* Of the time of a whole micro-batch and stage, the shares that slices of an operation take: [count]. FB has none. */
const double *slices_shares(const struct kerf_schedule_slices *slices, enum kerf_op_kind kind);

/* The tokens of a slice, of which equal slices have 1, so that sums of them are exact; slices NULL: equal ones. */
static inline double slices_tokens(const struct kerf_schedule_slices *slices, int32_t slice) {
    const double tokens = slices ? slices->tokens[slice] * slices->count : 1;
    return fabs(tokens - 1) < 1e-12 ? 1 : tokens;
}

/* The least share of a kind. */
double slices_least(const struct kerf_schedule_slices *slices, enum kerf_op_kind kind);

/* A copy in the arena; NULL without enough memory. */
const struct kerf_schedule_slices *slices_copy(const struct kerf_schedule_slices *slices, struct arena *arena);

#endif
