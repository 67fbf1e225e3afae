/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_COST_LAYOUT_RULES_H
#define KERF_COST_LAYOUT_RULES_H

#include "kerf/cost.h"

/* Every range that spec.h promises, and that the strategy can compute attention so: for structs that a program filled in
 * itself. What follows relies on it. */
int32_t problem_rules(const struct kerf_problem *problem, struct kerf_error *err);

#endif
