/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_LOWER_BOUND_H
#define KERF_SCHEDULE_LOWER_BOUND_H

#include "kerf/schedule.h"

/* The bounds of every order of split operations of a schedule, of which only the placement and the sizes are read, when
 * no device holds more than its cap, nor more than `most` in the unit of the cap (INFINITY: anything). */
int32_t lower_bound_of_split(const struct kerf_schedule *frame, const struct kerf_schedule_times *times, double most,
                             struct kerf_schedule_bound *ret_bound);

#endif
