/* SPDX-License-Identifier: Apache-2.0 */
/* A plan with the arena that everything in it is taken from: the search makes it, and what is found out about it later -
 * why, the front, what would mend it - goes into the same arena. */
#ifndef KERF_PLAN_OWNED_PLAN_H
#define KERF_PLAN_OWNED_PLAN_H

#include "base/arena.h"
#include "kerf/plan.h"

struct owned_plan {
    struct kerf_plan plan;        /* the first member, so that a plan is found again in what owns it */
    struct kerf_search *searches; /* those of the plan, to be added to */
    struct arena arena;
};

static inline struct owned_plan *owned_of(struct kerf_plan *plan) { return (struct owned_plan *)(void *)plan; }

#endif
