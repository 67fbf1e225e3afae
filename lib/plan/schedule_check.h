/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a layout's schedule is one, and takes its stages and micro-batches: what cost/hybrid_rules.h cannot know. */
#ifndef KERF_PLAN_SCHEDULE_CHECK_H
#define KERF_PLAN_SCHEDULE_CHECK_H

#include "kerf/spec.h"

/* Of a layout that kerf_layout_check takes. */
int32_t layout_check_schedule(const struct kerf_problem *problem, const struct kerf_layout *layout,
                              struct kerf_error *err);

/* Of the schedules that the problem's space names. */
int32_t space_check_schedules(const struct kerf_problem *problem, struct kerf_error *err);

#endif
