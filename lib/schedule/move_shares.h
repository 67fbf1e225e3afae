/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_MOVE_SHARES_H
#define KERF_SCHEDULE_MOVE_SHARES_H

#include "kerf/schedule.h"

/* The share of a stage's activations that a device holds from F to W where there are R, and O. */
double move_shares_kept(const struct kerf_schedule_times *times, int32_t stage, int recomputes, int offloads);

/* What R takes of a whole micro-batch. */
double move_shares_recompute_s(const struct kerf_schedule_times *times, int32_t stage);

/* Whether the times ask for R, or for O and L, of any stage. */
int move_shares_asked(const struct kerf_schedule_times *times, int32_t stages);

#endif
