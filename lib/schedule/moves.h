/* SPDX-License-Identifier: Apache-2.0 */
/* Recomputation and offload: what they leave on a device and what they take. */
#ifndef KERF_SCHEDULE_MOVES_H
#define KERF_SCHEDULE_MOVES_H

#include "kerf/schedule.h"

/* The share of a stage's activations that a device holds from F to W where there are R, and O. */
double moves_kept(const struct kerf_schedule_times *times, int32_t stage, int recomputes, int offloads);

/* kerf_schedule_move; weights_first 1: and every W goes right behind its I. */
int32_t moves_make(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times, int weights_first,
                   struct kerf_schedule **ret_schedule, struct kerf_error *err);

/* What R takes of a whole micro-batch. */
double moves_recompute_s(const struct kerf_schedule_times *times, int32_t stage);

/* Whether the times ask for R, or for O and L, of any stage. */
int moves_wanted(const struct kerf_schedule_times *times, int32_t stages);

#endif
