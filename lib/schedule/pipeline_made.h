/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules that were made before, for a search that asks again with other times: an order depends on the rule, the
 * devices, chunks and micro-batches alone, and so does what a device holds, counted in micro-batches of each chunk.
 */
#ifndef KERF_SCHEDULE_PIPELINE_MADE_H
#define KERF_SCHEDULE_PIPELINE_MADE_H

#include "kerf/schedule.h"

enum { PIPELINE_MADE_CHUNKS_MAX = 64 }; /* of what is asked for */

/* For one thread. */
struct pipeline_made;

struct pipeline_made *pipeline_made_begin(void);                     /* NULL when memory ran out */
struct pipeline_made *pipeline_made_end(struct pipeline_made *made); /* always NULL */

/* What a device holds at the moments when it may hold most: no row is at most another in all chunks. */
struct pipeline_held {
    int32_t count;
    int32_t *of; /* [count][chunks] micro-batches, by the order of the device's stages */
};

struct pipeline_made_one {
    struct kerf_schedule *schedule; /* NULL: it was not asked for, and is no longer kept */
    struct pipeline_held *held;     /* [devices] */
};

/* The schedule of a rule whose order does not depend on times; made at the first call, and kept for some while. NULL when
 * memory ran out. */
const struct pipeline_made_one *pipeline_made_of(struct pipeline_made *made,
                                                 const struct kerf_schedule_request *request, int needs_schedule);

#endif
