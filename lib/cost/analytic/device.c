/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system's figures and a stack's constants -> analytic_device. What a system file does not give is derived from what it
 * does (docs/cost-model.md, "Constants of a system"): efficiencies of devices that were measured lie between these.
 */
#include "cost/analytic/device.h"

#include <assert.h>
#include <math.h>

/* Shares of the memory bandwidth, of all devices alike: products, and operations that only move bytes. Fitted. */
static const double PRODUCT_BANDWIDTH = 0.7, POINTWISE_BANDWIDTH = 0.82;

/* What stands in for a figure that was not measured. */
static const double EFFICIENCY = 0.6, FP8_EFFICIENCY = 0.55, EDGE = 86, FP8_EDGE = 133, START_S = 4e-6;
static const double FUSED_EFFICIENCY = 0.5, STARTS_PER_LATENCY = 6;
static const double UNFUSED_PER_EFFICIENCY = 0.72; /* 0.58 to 0.81 on A100 */

static double measured(double value, double otherwise) { return value > 0 ? value : otherwise; }

/* A job of 64 n accelerators gets racks of 64 where a domain has 72: the whole domain where it divides the job, else
 * the largest power of two that it holds, where that does. */
static int64_t domain_used(int64_t size, int64_t gpus) {
    int64_t power = 1;
    if (gpus <= size || gpus % size == 0) return size;
    while (power * 2 <= size) power *= 2;
    return gpus % power == 0 ? power : size;
}

static void set_rates(struct analytic_device *device, const struct kerf_problem *problem) {
    const struct kerf_system *system = &problem->system;
    /* what stays at 16 bits beside fp8 takes the rate of the device's 16-bit format */
    double sixteen = problem->precision == KERF_PRECISION_FP16
                         ? system->matrix_flops_per_s
                         : measured(system->bf16_flops_per_s, system->matrix_flops_per_s);
    device->wide = (struct analytic_rate){
        .s_per_flop = 1 / (sixteen * measured(system->gemm.efficiency, EFFICIENCY)),
        .edge = measured(system->gemm.edge, EDGE),
        .element_bytes = 2,
    };
    device->peak = sixteen;
    device->low = device->wide;
    assert(problem->precision != KERF_PRECISION_FP8 || system->fp8_flops_per_s > 0);
    device->is_fp8 = problem->precision == KERF_PRECISION_FP8;
    if (device->is_fp8) {
        device->peak = system->fp8_flops_per_s;
        device->low = (struct analytic_rate){
            .s_per_flop = 1 / (device->peak * measured(system->gemm.fp8_efficiency, FP8_EFFICIENCY)),
            .edge = measured(system->gemm.fp8_edge, FP8_EDGE),
            .element_bytes = 1,
        };
    }
    device->product_start_s = measured(system->gemm.start_s, START_S);
    device->product_s_per_byte = 1 / (PRODUCT_BANDWIDTH * system->memory_bandwidth_bytes_per_s);
    device->s_per_byte = 1 / (POINTWISE_BANDWIDTH * system->memory_bandwidth_bytes_per_s);
    double attention = problem->attention == KERF_ATTENTION_FUSED
                           ? measured(system->attention.fused_efficiency, FUSED_EFFICIENCY)
                           : measured(system->attention.unfused_efficiency,
                                      UNFUSED_PER_EFFICIENCY * measured(system->gemm.efficiency, EFFICIENCY));
    device->attention_s_per_flop = 1 / (sixteen * attention);
}

static void set_links(struct analytic_device *device, const struct kerf_problem *problem) {
    const struct kerf_system *system = &problem->system;
    device->domain = domain_used(system->scale_up.size, problem->gpus);
    device->bus_s_per_byte = 1 / measured(system->scale_up.bus_bytes_per_s,
                                          system->scale_up.bandwidth_bytes_per_s * system->scale_up.efficiency);
    device->bus_start_s = measured(system->scale_up.start_s, STARTS_PER_LATENCY * system->scale_up.latency_s);
    device->nic_s_per_byte = 1 / (system->scale_out.bandwidth_bytes_per_s * system->scale_out.nics_per_device *
                                  measured(system->scale_out.bus_share, system->scale_out.efficiency));
    device->hop_s = measured(system->scale_out.hop_s, system->scale_out.latency_s);
}

/* ---- The model ----------------------------------------------------------------------------------------- */

static struct analytic_product *add(struct analytic_layer *layer, double k, double n, enum product_rows rows,
                                    enum product_cut cut) {
    assert(layer->num_products < PRODUCTS_MAX);
    struct analytic_product *product = &layer->products[layer->num_products++];
    *product = (struct analytic_product){
        .n = n, .k = k, .rows = (int8_t)rows, .cut = (int8_t)cut, .is_low_precision = 1, .counts = 1};
    return product;
}

/* Keys that a query meets on average. Without a window a causal query meets half of the sequence; with one of w tokens
 * w - w^2 / (2 s); with chunks half of its chunk. A kernel computes whole tiles of 128 x 128: at a window's edge that
 * is another 128 keys. */
static double keys_met(const struct kerf_layer_kind *kind, double s, int is_causal) {
    const double tile = 128;
    double all = is_causal ? s / 2 : s, w = (double)kind->attention.window, met = all;
    if (w <= 0 || w >= s) return all;
    if (kind->attention.is_chunked) {
        double chunks = floor(s / w), rest = s - chunks * w;
        met = (chunks * w * w + rest * rest) / s;
        if (is_causal) met /= 2;
    } else {
        met = is_causal ? w - w * w / (2 * s) : 2 * w - w * w / s;
        met += tile;
    }
    return met < all ? met : all;
}

/* Head sizes that kernels are not made for. Fitted on runs with heads of 64, 108, 150 and 192 features. */
static double head_slowdown(int64_t qk_size, int is_fused) {
    if (qk_size % 8 != 0) return 2.9;
    if (qk_size == 64 && is_fused) return 1.25;
    return qk_size % 64 != 0 ? 1.1 : 1;
}

static void set_attention(struct analytic_layer *layer, const struct kerf_layer_kind *kind, double hidden) {
    double q_rank = (double)kind->attention.q_rank, kv_rank = (double)kind->attention.kv_rank;
    double rope = (double)kind->attention.rope_size, queries = layer->heads * layer->qk_size;
    double values = layer->heads * layer->v_size;
    if (kv_rank > 0) { /* down on the tokens as they lie, up on all of them, head by head */
        if (q_rank > 0) add(layer, hidden, q_rank, ROWS_SHARD, CUT_NOTHING);
        add(layer, hidden, kv_rank + rope, ROWS_SHARD, CUT_NOTHING);
        add(layer, q_rank > 0 ? q_rank : hidden, queries, ROWS_ALL, CUT_COLUMNS);
        add(layer, kv_rank, layer->heads * (layer->qk_size - rope + layer->v_size), ROWS_ALL, CUT_COLUMNS);
        layer->latent_size = (q_rank > 0 ? q_rank : hidden) + kv_rank + rope;
        layer->extra_flops = 2 * (q_rank + kv_rank);
        layer->kv_heads = layer->heads;
    } else {
        add(layer, hidden, queries, ROWS_ALL, CUT_COLUMNS)->kv_n = layer->kv_heads * (layer->qk_size + layer->v_size);
    }
    add(layer, values, hidden, ROWS_ALL, CUT_TERMS);
    layer->kv_size = layer->kv_heads * (layer->qk_size + layer->v_size);
    layer->qkv_size = queries;
    layer->gathers = 1;
}

static void set_mlp(struct analytic_layer *layer, const struct kerf_layer_kind *kind, double hidden) {
    double ups = kind->mlp.is_gated ? 2 : 1, dense = (double)(kind->mlp.width + kind->mlp.shared_width);
    layer->mlp_size = dense;
    layer->is_gated = kind->mlp.is_gated != 0;
    layer->has_shared = kind->mlp.shared_width > 0;
    layer->experts = (double)kind->mlp.experts;
    layer->top_k = (double)kind->mlp.top_k;
    layer->expert_size = (double)kind->mlp.expert_width;
    if (dense > 0) {
        add(layer, hidden, ups * dense, ROWS_ALL, CUT_COLUMNS);
        add(layer, dense, hidden, ROWS_ALL, CUT_TERMS);
        if (!kind->is_parallel) layer->gathers += 1;
    }
    if (layer->experts > 0) {
        struct analytic_product *router = add(layer, hidden, layer->experts, ROWS_SHARD, CUT_NOTHING);
        router->is_low_precision = router->counts = 0;
        add(layer, hidden, ups * layer->expert_size, ROWS_EXPERTS, CUT_COLUMNS);
        add(layer, layer->expert_size, hidden, ROWS_EXPERTS, CUT_TERMS);
    }
}

/* Those of the products that run in the chosen precision. */
static struct parameters of_products(struct parameters components[KERF_COMPONENT_COUNT]) {
    components[KERF_COMPONENT_NORMS] = components[KERF_COMPONENT_ROUTER] = (struct parameters){0};
    return parameters_sum(components);
}

static void set_layer(struct analytic_layer *layer, const struct analytic_device *device,
                      const struct kerf_layer_kind *kind) {
    const struct kerf_problem *problem = device->problem;
    int is_fused = problem->attention == KERF_ATTENTION_FUSED;
    struct parameters components[KERF_COMPONENT_COUNT];
    *layer = (struct analytic_layer){
        .heads = (double)kind->attention.heads,
        .kv_heads = (double)kind->attention.kv_heads,
        .qk_size = (double)kind->attention.qk_size,
        .v_size = (double)kind->attention.v_size,
        .keys = problem->model.is_causal ? device->seq_length / 2 : device->seq_length,
        .keys_met = is_fused ? keys_met(kind, device->seq_length, problem->model.is_causal) : device->seq_length,
        .head_slowdown = head_slowdown(kind->attention.qk_size, is_fused),
        .hidden_passes =
            device->stack.hidden_passes + 2 * (kind->norms - 2) + (device->is_fp8 ? device->stack.fp8_passes : 0),
    };
    set_attention(layer, kind, device->hidden);
    set_mlp(layer, kind, device->hidden);
    if (layer->hidden_passes < 1) layer->hidden_passes = 1;
    layer_parameters(&problem->model, kind, components);
    layer->parameters = parameters_sum(components);
    layer->products_parameters = of_products(components);
}

static void set_model(struct analytic_device *device) {
    const struct kerf_model *model = &device->problem->model;
    struct parameters components[KERF_COMPONENT_COUNT];
    device->hidden = (double)model->hidden_size;
    device->seq_length = (double)device->problem->seq_length;
    device->vocab = (double)model->vocab_size;
    device->num_kinds = model->num_kinds;
    assert(model->num_kinds > 0 && model->num_runs > 0);
    for (int32_t i = 0; i < model->num_kinds; i++) set_layer(&device->layers[i], device, &model->kinds[i]);
    for (int32_t i = 0; i < model->num_runs; i++)
        device->layers_of_kind[model->runs[i].kind] += (double)model->runs[i].count;
    device->mtp_kind = model->runs[model->num_runs - 1].kind;
    embedding_parameters(model, components);
    device->embedding = parameters_sum(components);
    head_parameters(model, 0, components);
    device->head = parameters_sum(components);
    head_parameters(model, 1, components);
    device->head_copy = parameters_sum(components);
    mtp_parameters(model, components);
    device->mtp = parameters_sum(components);
    device->mtp_products = of_products(components);
}

const struct analytic_device *analytic_device(const struct kerf_problem *problem, struct arena *arena) {
    struct analytic_device *device = arena_alloc(arena, 1, sizeof *device);
    if (device == NULL) return NULL;
    device->problem = problem;
    if (problem->stack)
        device->stack = *problem->stack;
    else if (!stack_default(&device->stack))
        return NULL;
    device->reduced_bytes = problem->has_bf16_gradients ? 2 : device->stack.reduced_bytes;
    if (device->reduced_bytes <= 0) device->reduced_bytes = 4;
    set_rates(device, problem);
    set_links(device, problem);
    set_model(device);
    return device;
}

double analytic_peak(const struct analytic_device *device) { return device->peak; }

double analytic_scale(const struct analytic_device *device, int64_t gpus) {
    return gpus > 8 ? 1 + device->stack.straggling * log2((double)gpus / 8) : 1;
}
