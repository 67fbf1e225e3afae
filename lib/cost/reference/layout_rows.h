/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many layouts: the times of a layer for one way of tensor parallelism, each distinct shape priced once.
 *
 * A shape is (micro-batch, SUMMA blocks) and how many of tp1 and of tp2 are neighbours in a scale-up domain. All
 * placements of one (micro-batch, blocks) are priced together as a row, [n1][n2] by the number of tp1 and tp2
 * neighbours, because they differ in communication alone: its volume over each axis is worked out once. What is left for
 * one layout is a dozen multiplications; and where no layout of a row can be faster than the cutoff, one comparison.
 */
#ifndef KERF_COST_REFERENCE_LAYOUT_ROWS_H
#define KERF_COST_REFERENCE_LAYOUT_ROWS_H

#include "cost/cost_model.h"

struct cost_pricer *rows_begin(const struct space *space, struct arena *arena);
int rows_enter(struct cost_pricer *pricer, int32_t level, const struct kerf_layout *prefix,
               struct cost_bound *ret_bound);
int rows_prepare(struct cost_pricer *pricer, const struct kerf_layout *variants, int32_t num_variants);
int rows_price(struct cost_pricer *pricer, struct cost_sink *sink);

#endif
