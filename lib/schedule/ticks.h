/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times as whole numbers, for searches that ask what ends before something else begins. Sums of doubles that are equal
 * on paper differ in their last bits, and an order would depend on that. A tick is a power of ten of the caller's unit
 * and the longest time has ten digits of it, so that decimal times keep their values in any unit, and no sum over the
 * operations of the largest schedule overflows.
 */
#ifndef KERF_SCHEDULE_TICKS_H
#define KERF_SCHEDULE_TICKS_H

#include "base/arena.h"
#include "kerf/schedule.h"

struct ticks {
    int64_t *forward, *input, *weight; /* [stages] what F, I and W take */
    int64_t *from_before;              /* [devices] latency from device i - 1 to i; */
    int64_t *from_behind;              /* [devices] and from device i + 1 to i; 0 where there is none */
};

/* The times of a schedule in ticks, from the arena; 0 when there is not enough memory. */
int ticks_make(struct ticks *ret_ticks, struct arena *arena, const struct kerf_schedule_times *times, int32_t devices,
               int32_t stages);

static inline int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
