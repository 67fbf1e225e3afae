/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products under a layout. Column-parallel ones have n / tp columns, row-parallel ones k / tp terms; experts are divided
 * by etp instead, and a device has experts / ep of them, which share its routed tokens (Shoeybi et al., arXiv 1909.08053;
 * Megatron-LM's core/transformer).
 */
#include "cost/analytic/products.h"

#include <math.h>

/* Rows, columns and terms of a product on one device; its groups are `groups` products of rows / groups each. */
struct piece {
    double groups, rows, n, k;
};

static struct piece piece_of(const struct shard *shard, const struct analytic_layer *layer,
                             const struct analytic_product *product) {
    int of_experts = product->rows == ROWS_EXPERTS;
    double ways = of_experts ? shard->etp : shard->tp;
    struct piece piece = {
        .groups = of_experts ? layer->experts / shard->ep : 1,
        .rows = of_experts                  ? shard_routed(shard, layer)
                : product->rows == ROWS_ALL ? shard->tokens
                                            : shard->tokens_shard,
        .n = product->n,
        .k = product->k,
    };
    if (product->cut == CUT_COLUMNS) piece.n /= ways;
    if (product->cut == CUT_TERMS) piece.k /= ways;
    if (product->kv_n > 0) piece.n += product->kv_n / shard_kv_ways(shard, layer);
    return piece;
}

void layer_products_add(const struct analytic_device *device, const struct shard *shard,
                        const struct analytic_layer *layer, struct pass_seconds *sums) {
    for (int32_t i = 0; i < layer->num_products; i++) {
        const struct analytic_product *product = &layer->products[i];
        const struct analytic_rate *rate = product->is_low_precision ? &device->low : &device->wide;
        struct piece piece = piece_of(shard, layer, product);
        if (product->rows == ROWS_EXPERTS)
            grouped_product_add(device, rate, piece.groups, piece.rows, piece.n, piece.k, sums);
        else
            product_add(device, rate, piece.rows, piece.n, piece.k, sums);
    }
}

double head_columns(const struct analytic_device *device, const struct shard *shard) {
    return 128 * ceil(device->vocab / shard->tp / 128);
}

void head_products_add(const struct analytic_device *device, const struct shard *shard, struct pass_seconds *sums) {
    product_add(device, &device->wide, shard->tokens, head_columns(device, shard), device->hidden, sums);
}

void mtp_products_add(const struct analytic_device *device, const struct shard *shard, struct pass_seconds *sums) {
    product_add(device, &device->low, shard->tokens, device->hidden / shard->tp, 2 * device->hidden, sums);
}

double layer_model_flops(const struct shard *shard, const struct analytic_layer *layer) {
    double flops = layer->extra_flops * shard->tokens_shard;
    for (int32_t i = 0; i < layer->num_products; i++) {
        struct piece piece = piece_of(shard, layer, &layer->products[i]);
        double rows = layer->products[i].rows == ROWS_EXPERTS ? piece.rows / shard->imbalance : piece.rows;
        if (layer->products[i].counts) flops += 2 * rows * piece.n * piece.k;
    }
    flops += 2 * shard->tokens * layer->keys * layer->heads / shard->tp * (layer->qk_size + layer->v_size);
    return 3 * flops;
}
