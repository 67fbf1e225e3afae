/* SPDX-License-Identifier: Apache-2.0 */
/* Seconds of kernels on one accelerator: of single ones, and of the matrix products of a layer. */
#ifndef KERF_COST_ANALYTIC_KERNELS_H
#define KERF_COST_ANALYTIC_KERNELS_H

#include "cost/analytic/shard.h"

struct pass_seconds {
    double of[ANALYTIC_PASSES];
};

/* y = x w of rows x k by k x n, and the two products of its backward pass, added to the sums. */
void product_add(const struct analytic_device *device, const struct analytic_rate *rate, double rows, double n,
                 double k, struct pass_seconds *sums);

/* `groups` such products in one kernel, of `rows` rows together. How many rows each has takes the place of k0/m: the
 * kernel reaches `grouped_efficiency` of one product's rate with many, half of that with `grouped_rows`. */
void grouped_product_add(const struct analytic_device *device, const struct analytic_rate *rate, double groups,
                         double rows, double n, double k, struct pass_seconds *sums);

/* The core of attention, forward and backward, of so many queries that each meet all their keys, `heads` heads. */
void attention_s(const struct analytic_device *device, const struct analytic_layer *layer, double queries, double heads,
                 double *ret_forward_s, double *ret_backward_s);

/* What a pass takes whose kernels run work_s on the device and are launched in host_s: (work^6 + host^6)^(1/6). */
double launched_s(double work_s, double host_s);

/* ---- The matrix products of a layer, as one device multiplies its share of them ---------------------------- */

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
