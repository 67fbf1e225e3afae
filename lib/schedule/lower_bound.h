/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_LOWER_BOUND_H
#define KERF_SCHEDULE_LOWER_BOUND_H

#include "kerf/schedule.h"

/* Which of the arguments of lower_bound.c a bound comes from, so that it can be checked. */
enum lower_bound_kind {
    LOWER_BOUND_NONE,
    LOWER_BOUND_CHAIN,     /* of a stream */
    LOWER_BOUND_RESIDENCE, /* of a device */
    LOWER_BOUND_WAY_BACK,  /* of a device */
    LOWER_BOUND_ROUNDS,    /* of a device */
    LOWER_BOUND_ENDS       /* of a device; the load alone where head and tail are both -1 */
};

struct lower_bound_reason {
    enum lower_bound_kind kind;
    int32_t at;                   /* the stream (replica * stages + stage) or the device */
    int32_t head, tail;           /* stages of the device, -1: none */
    int32_t head_back, tail_back; /* 0: its F, 1: its I */
    int32_t rounds;               /* of LOWER_BOUND_ROUNDS */
};

struct lower_bound {
    struct kerf_schedule_bound bound;
    struct lower_bound_reason makespan, span; /* where it comes from */
};

/* The bounds of every order of split operations of a schedule, of which only the placement and the sizes are read, when
 * no device holds more than its cap, nor more than `most` in the unit of the cap (INFINITY: anything). */
int32_t lower_bound_of_split(const struct kerf_schedule *frame, const struct kerf_schedule_times *times, double most,
                             struct lower_bound *ret_bound);

/* Whether the bound of such a run is of orders that hold any amount. Without a cap it is otherwise of those that hold no more
 * than the fullest device of a rule's order; best chose what its order holds, so that this limits nothing. */
int lower_bound_is_of_any_memory(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times);

#endif
