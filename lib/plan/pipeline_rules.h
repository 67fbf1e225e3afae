/* SPDX-License-Identifier: Apache-2.0 */
/* Pipeline schedules, as strategies and cost models ask for them. */
#ifndef KERF_PLAN_PIPELINE_RULES_H
#define KERF_PLAN_PIPELINE_RULES_H

#include "cost/pipeliner.h"

extern const struct pipeliner pipeline_rules;

#endif
