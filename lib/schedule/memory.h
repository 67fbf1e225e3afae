/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_MEMORY_H
#define KERF_SCHEDULE_MEMORY_H

#include "kerf/schedule.h"

/* The most that the device holds: in micro-batches through all its chunks, or with activation_bytes in bytes. The
 * timeline, of which start_s, end_s and slices count, is needed where the schedule has moves or unequal slices; NAN
 * without enough memory. */
double memory_peak(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                   const struct kerf_timeline *timeline, int32_t device, int in_bytes);

/* What the device may hold, as a number of micro-batches of one stage, for a device that has that stage alone;
 * INFINITY without a cap. */
double memory_cap_of_stage(const struct kerf_schedule_times *times, int32_t device, int32_t stage);

#endif
