/* SPDX-License-Identifier: Apache-2.0 */
/* What one device has of a micro-batch under a layout: tokens, groups, bytes. */
#ifndef KERF_COST_ANALYTIC_SHARD_H
#define KERF_COST_ANALYTIC_SHARD_H

#include "cost/analytic/collectives.h"

struct shard {
    double tp, cp, ep, etp;
    double tokens;       /* of the sequence shard: what attention and MLPs see */
    double tokens_shard; /* of them between the blocks, where sequence parallelism divides them over tp */
    struct rank_group tp_group, cp_group, ep_group, etp_group;
    double tp_exposed; /* share of tp messages that nothing hides; all of them between domains */
    double imbalance;  /* tokens of the busiest expert-parallel rank, to the mean */
    double host_ratio; /* of the host's time, with what tp launches */
    int8_t is_selective, is_full;
};

struct shard shard_of(const struct analytic_device *device, const struct kerf_layout *layout);

/* Copies of tokens that the experts of one device get, one for each visit. */
static inline double shard_routed(const struct shard *shard, const struct analytic_layer *layer) {
    return shard->tokens / shard->tp * shard->etp * layer->top_k * shard->imbalance;
}

/* Among how many devices key-value heads are divided; more than there are heads hold copies. */
static inline double shard_kv_ways(const struct shard *shard, const struct analytic_layer *layer) {
    return shard->tp < layer->kv_heads ? shard->tp : layer->kv_heads;
}

/* What a layer keeps from its forward to its backward pass, and what it needs while it runs. */
double kept_layer_bytes(const struct analytic_device *device, const struct shard *shard,
                        const struct analytic_layer *layer);
double working_layer_bytes(const struct analytic_device *device, const struct shard *shard,
                           const struct analytic_layer *layer);
/* The input alone: what a layer keeps that is recomputed in full. */
double kept_input_bytes(const struct analytic_device *device, const struct shard *shard);
double kept_logits_bytes(const struct analytic_device *device, const struct shard *shard);

#endif
