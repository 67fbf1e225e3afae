/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix products of a layer, as one device multiplies its share of them. */
#ifndef KERF_COST_ANALYTIC_PRODUCTS_H
#define KERF_COST_ANALYTIC_PRODUCTS_H

#include "cost/analytic/kernels.h"
#include "cost/analytic/shard.h"

void layer_products_add(const struct analytic_device *device, const struct shard *shard,
                        const struct analytic_layer *layer, struct pass_seconds *sums);

/* The head's product, at 16 bits whatever the precision of the layers is. */
void head_products_add(const struct analytic_device *device, const struct shard *shard, struct pass_seconds *sums);

/* Columns of the head on one device: the vocabulary is padded to 128 for each of them. */
double head_columns(const struct analytic_device *device, const struct shard *shard);

/* The projection of 2 h to h before a layer of multi-token prediction. */
void mtp_products_add(const struct analytic_device *device, const struct shard *shard, struct pass_seconds *sums);

/* Model FLOP, forward and backward, of a layer on one device for a micro-batch: of these products and of attention
 * (kerf_model_flops says what counts). */
double layer_model_flops(const struct shard *shard, const struct analytic_layer *layer);

#endif
