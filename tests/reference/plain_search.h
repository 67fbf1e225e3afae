/* SPDX-License-Identifier: Apache-2.0 */
/* The search without any thought of speed: every candidate enumerated as the reference enumerates them, each priced
 * by itself, all of them sorted. */
#ifndef KERF_TESTS_PLAIN_SEARCH_H
#define KERF_TESTS_PLAIN_SEARCH_H

#include "kerf/kerf.h"

struct plain_search {
    struct kerf_estimate *all; /* [count] the best first, those that fit before those that do not */
    size_t count, feasible;
};

/* Give it back with free(ret->all). 0 when memory ran out. */
int plain_search(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                 struct plain_search *ret);

#endif
