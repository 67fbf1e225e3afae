/* SPDX-License-Identifier: Apache-2.0 */
/* Pipeline schedules, as strategies and cost models ask for them; and whether a layout can have the one that it names. */
#ifndef KERF_PLAN_PIPELINE_RULES_H
#define KERF_PLAN_PIPELINE_RULES_H

#include "cost/pipeliner.h"
#include "kerf/spec.h"

extern const struct pipeliner pipeline_rules;

/* Whether the schedule of a layout that kerf_layout_check takes is one, and takes its stages and micro-batches: what the
 * rules of cost/hybrid_space.h cannot know. */
int32_t layout_check_schedule(const struct kerf_problem *problem, const struct kerf_layout *layout,
                              struct kerf_error *err);

/* The same of the schedules that the problem's space names. */
int32_t space_check_schedules(const struct kerf_problem *problem, struct kerf_error *err);

#endif
