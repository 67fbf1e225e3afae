/* SPDX-License-Identifier: Apache-2.0 */
/* One layout in full, with what it returns in an arena. */
#ifndef KERF_PLAN_ESTIMATE_LAYOUT_H
#define KERF_PLAN_ESTIMATE_LAYOUT_H

#include "base/arena.h"
#include "kerf/plan.h"

/* As kerf_layout_estimate; the pipeline lives in the arena and must not be released. */
int32_t estimate_layout(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                        const struct kerf_layout *layout, struct arena *arena, struct kerf_estimate *ret_estimate,
                        struct kerf_error *err);

#endif
