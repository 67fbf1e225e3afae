/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels. A product of m x k by k x n, of F = 2 m n k FLOP and B bytes:
 *
 *     start + max(F / (peak e) (1 + k0/m + k0/n + k0/k) shape, B / (0.7 bandwidth))
 *
 * shape is ceil(n / 128) 128 / n (tiles are computed whole) and 1.37 where n or k is no multiple of 64. The weight's
 * gradient reads and writes sums of 4 bytes. Attention is causal FLOP at an efficiency of its own; backward takes 2.5 times
 * the FLOP at 1 / 1.3 of the efficiency. docs/cost-model.md has the sources.
 */
#include "cost/analytic/kernels.h"

#include <math.h>

static const double ALIGNMENT = 64, MISALIGNED = 1.37, TILE = 128;
static const double FUSED_BACKWARD = 2.5 * 1.3, UNFUSED_BACKWARD = 2, SCORES_BACKWARD = 1.3;

static double larger(double a, double b) { return a > b ? a : b; }

/* Whole tiles to cover n, over n. */
static double tiles(double n) { return ceil(n / TILE) * TILE / n; }

static double misaligned(double n, double k) {
    return n == ALIGNMENT * floor(n / ALIGNMENT) && k == ALIGNMENT * floor(k / ALIGNMENT) ? 1 : MISALIGNED;
}

/* shape: what makes the arithmetic longer than F / (peak e); all rows of all groups together. */
static void add_passes(const struct analytic_device *device, const struct analytic_rate *rate, double groups,
                       double rows, double n, double k, double shape, struct pass_seconds *sums) {
    double x = rows * k, y = rows * n, w = groups * n * k, in = rate->element_bytes;
    double flop_s = 2 * x * n * rate->s_per_flop * shape * misaligned(n, k);
    double to_n = flop_s * tiles(n), to_k = flop_s * tiles(k);
    double start = device->product_start_s, s_per_byte = device->product_s_per_byte;
    sums->of[ANALYTIC_FORWARD] += start + larger(to_n, (in * (x + w) + 2 * y) * s_per_byte);
    sums->of[ANALYTIC_BACKWARD_INPUT] += start + larger(to_k, (in * (y + w) + 2 * x) * s_per_byte);
    sums->of[ANALYTIC_BACKWARD_WEIGHT] += start + larger(to_k, (in * (x + y) + 8 * w) * s_per_byte);
}

void product_add(const struct analytic_device *device, const struct analytic_rate *rate, double rows, double n,
                 double k, struct pass_seconds *sums) {
    add_passes(device, rate, 1, rows, n, k, 1 + rate->edge * (1 / rows + 1 / n + 1 / k), sums);
}

void grouped_product_add(const struct analytic_device *device, const struct analytic_rate *rate, double groups,
                         double rows, double n, double k, struct pass_seconds *sums) {
    double few = (1 + device->stack.grouped_rows * groups / rows) / device->stack.grouped_efficiency;
    add_passes(device, rate, groups, rows, n, k, few * (1 + rate->edge * (1 / n + 1 / k)), sums);
}

void attention_s(const struct analytic_device *device, const struct analytic_layer *layer, double queries, double heads,
                 double *ret_forward_s, double *ret_backward_s) {
    double scores = queries * layer->keys_met * heads;
    double flop_s = 2 * scores * (layer->qk_size + layer->v_size) * device->attention_s_per_flop * layer->head_slowdown;
    if (device->problem->attention == KERF_ATTENTION_FUSED) {
        *ret_forward_s = device->product_start_s + flop_s;
        *ret_backward_s = device->product_start_s + FUSED_BACKWARD * flop_s;
        return;
    }
    double scores_s = scores * device->stack.score_traffic_bytes * device->s_per_byte;
    *ret_forward_s = 2 * device->product_start_s + flop_s + scores_s;
    *ret_backward_s = 4 * device->product_start_s + UNFUSED_BACKWARD * flop_s + SCORES_BACKWARD * scores_s;
}

double launched_s(double work_s, double host_s) {
    double most = larger(work_s, host_s), least = work_s + host_s - most;
    if (most <= 0) return 0;
    double ratio = least / most, cube = ratio * ratio * ratio;
    return most * sqrt(cbrt(1 + cube * cube));
}

/*
 * Products under a layout. Column-parallel ones have n / tp columns, row-parallel ones k / tp terms; experts are divided
 * by etp instead, and a device has experts / ep of them, which share its routed tokens (Shoeybi et al., arXiv 1909.08053;
 * Megatron-LM's core/transformer).
 */

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
