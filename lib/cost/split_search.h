/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_COST_SPLIT_SEARCH_H
#define KERF_COST_SPLIT_SEARCH_H

#include "base/arena.h"
#include "cost/split_value.h"

/* Makes the split in ret_layers better, whatever runs and devices there are: the best of all where so many can be looked
 * at, else one that is no faster for either device when a single layer moves between neighbouring stages. least_s: what
 * any split takes. 0 when memory ran out. */
int split_search(const struct stage_split_question *question, double least_s, struct arena *arena, int32_t *ret_layers,
                 int32_t *ret_is_exact);

#endif
