/* SPDX-License-Identifier: Apache-2.0 */
/* What one layer takes and keeps. */
#ifndef KERF_COST_ANALYTIC_LAYER_ITEM_H
#define KERF_COST_ANALYTIC_LAYER_ITEM_H

#include "cost/analytic/shard.h"

/* A layer of the kind, whose attention takes attention_s forward and backward, under the layout's recomputation; and the
 * same recomputed in full, which is another one only with KERF_RECOMPUTE_BLOCK. */
void layer_items(const struct analytic_device *device, const struct shard *shard, const struct kerf_layout *layout,
                 enum kerf_cp_comm comm, int32_t kind, const double attention_s[2], struct analytic_item *ret_item,
                 struct analytic_item *ret_recomputed);

/* Adds to an item that is otherwise complete what it waits for the messages of ZeRO 2 and 3. */
void item_add_zero(const struct analytic_device *device, const struct kerf_layout *layout,
                   const struct analytic_parameters *parameters, struct analytic_item *item);

/* Sets pass_s to the sums of the parts. */
void item_sum(struct analytic_item *item);

#endif
