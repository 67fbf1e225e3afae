/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_MOVES_H
#define KERF_SCHEDULE_MOVES_H

#include "kerf/schedule.h"

/* kerf_schedule_move; weights_first 1: and every W goes right behind its I. */
int32_t moves_make(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times, int weights_first,
                   struct kerf_schedule **ret_schedule, struct kerf_error *err);

#endif
