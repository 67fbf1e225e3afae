/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_BEST_BEST_H
#define KERF_SCHEDULE_BEST_BEST_H

#include "schedule/rules/rule.h"

/* The search as a rule, whose request chooses the placement. */
extern const struct rule rule_best;

#endif
