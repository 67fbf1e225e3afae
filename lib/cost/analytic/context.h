/* SPDX-License-Identifier: Apache-2.0 */
/* Context parallelism: how queries meet the keys and values of other shards, and what that takes. */
#ifndef KERF_COST_ANALYTIC_CONTEXT_H
#define KERF_COST_ANALYTIC_CONTEXT_H

#include "cost/analytic/shard.h"

/* Whether all layers of the model can communicate so. all_to_all: cp divides the heads and the key-value heads of a tp
 * shard. */
int cp_comm_is_possible(const struct kerf_model *model, int64_t tp, int64_t cp, enum kerf_cp_comm comm);

/* Seconds forward and backward that attention, which itself takes attention_s, waits. */
void cp_wait_s(const struct analytic_device *device, const struct shard *shard, const struct analytic_layer *layer,
               enum kerf_cp_comm comm, const double attention_s[2], double ret_s[2]);

/* The kind that costs least in the whole model, whose attention takes attention_s[kind]; ties: the first. */
enum kerf_cp_comm cp_comm_best(const struct analytic_device *device, const struct shard *shard,
                               const struct kerf_layout *layout, double (*attention_s)[2]);

#endif
