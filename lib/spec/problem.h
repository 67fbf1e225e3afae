/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SPEC_PROBLEM_H
#define KERF_SPEC_PROBLEM_H

#include "kerf/spec.h"

/* Every range that spec.h promises, for structs that a program filled in itself: what follows relies on them. */
int32_t problem_check(const struct kerf_problem *problem, struct kerf_error *err);

#endif
