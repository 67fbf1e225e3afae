/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer on one device: products, attention and memory-bound operations, messages that nothing hides, what the host adds
 * where it is slower than the device, and what is computed again.
 *
 *   backward pass of the input: the products of the inputs' gradients, attention, memory-bound operations, messages, and
 *   what is recomputed; of the weights: the products of their gradients
 */
#include "cost/analytic/layer_item.h"

#include <math.h>
#include "cost/analytic/context.h"
#include "cost/analytic/kernels.h"

static double larger(double a, double b) { return a > b ? a : b; }

/* Times of a layer before recomputation and the host are looked at. */
struct work {
    struct pass_seconds products;
    double attention[2], memory[2], tp[2], cp[2], ep[2]; /* forward, backward */
};

static void add_memory(const struct analytic_device *device, const struct shard *shard,
                       const struct analytic_layer *layer, struct work *work) {
    const struct analytic_stack *stack = &device->stack;
    double ups = layer->is_gated ? 2 : 1, hidden = shard->tokens_shard * device->hidden;
    double wide =
        layer->qkv_size / shard->tp + layer->kv_size / shard_kv_ways(shard, layer) + layer->mlp_size * ups / shard->tp;
    double bytes = 2 * (layer->hidden_passes * hidden + stack->wide_passes * shard->tokens * wide);
    if (layer->experts > 0) {
        double routed = shard_routed(shard, layer);
        bytes += 2 * routed *
                 (stack->permute_passes * device->hidden + stack->wide_passes * layer->expert_size * ups / shard->etp);
        bytes += 4 * stack->router_passes * shard->tokens_shard * layer->experts;
    }
    work->memory[0] = bytes * device->s_per_byte;
    work->memory[1] = work->memory[0] * stack->backward_ratio;
}

/* A block begins with an all-gather over tp and ends with a reduce-scatter, of the hidden size; latent attention gathers
 * what it has projected down. Backward the same, in reverse. */
static void add_messages(const struct analytic_device *device, const struct shard *shard,
                         const struct analytic_layer *layer, struct work *work) {
    double hidden = 2 * shard->tokens * device->hidden;
    if (shard->tp > 1) {
        double gather = gather_s(device, &shard->tp_group, hidden), s = 2 * layer->gathers * gather;
        if (layer->latent_size > 0)
            s += gather_s(device, &shard->tp_group, 2 * shard->tokens * layer->latent_size) - gather;
        work->tp[0] = work->tp[1] = s * shard->tp_exposed;
    }
    if (layer->experts > 0) {
        double token = 2 * device->hidden, s = 0;
        if (shard->ep > 1)
            s += 2 * dispatch_s(device, &shard->ep_group, shard->tokens_shard * shard->imbalance, token, layer->top_k);
        if (shard->etp > 1) s += 2 * gather_s(device, &shard->etp_group, shard_routed(shard, layer) * token);
        work->ep[0] = work->ep[1] = s * device->stack.ep_exposed;
    }
}

static double pass_sum(const struct analytic_item *item, enum analytic_pass pass) {
    double sum = 0;
    for (int part = 0; part < ANALYTIC_PARTS; part++) sum += item->part_s[pass][part];
    return sum;
}

/* Adds what the device waits for the host, forward and in both backward passes together, by their share of the time. */
static void add_host(struct analytic_item *item, double forward_host_s, double backward_host_s) {
    double forward = pass_sum(item, ANALYTIC_FORWARD), input = pass_sum(item, ANALYTIC_BACKWARD_INPUT);
    double weight = pass_sum(item, ANALYTIC_BACKWARD_WEIGHT), backward = input + weight;
    item->part_s[ANALYTIC_FORWARD][ANALYTIC_LAUNCH] += launched_s(forward, forward_host_s) - forward;
    double wait = launched_s(backward, backward_host_s) - backward, share = backward > 0 ? weight / backward : 0;
    item->part_s[ANALYTIC_BACKWARD_INPUT][ANALYTIC_LAUNCH] += wait * (1 - share);
    item->part_s[ANALYTIC_BACKWARD_WEIGHT][ANALYTIC_LAUNCH] += wait * share;
}

/* ZeRO 3 gathers an item's weights before each pass, 2 and 3 reduce its gradients after each backward pass. They run
 * beside the work: (work^p + messages^p)^(1/p), and slow it down by a tax. */
static double beside_s(const struct analytic_device *device, double work_s, double messages_s) {
    if (messages_s <= 0) return 0;
    double most = larger(work_s, messages_s), ratio = (work_s + messages_s - most) / most, p = device->stack.zero_power;
    return most * pow(1 + pow(ratio, p), 1 / p) - work_s + device->stack.zero_tax * messages_s;
}

void item_add_zero(const struct analytic_device *device, const struct kerf_layout *layout,
                   const struct analytic_parameters *parameters, struct analytic_item *item) {
    if (layout->zero < 2) return;
    struct rank_group dense = group_dense_states(device, layout), experts = group_expert_states(device, layout);
    double gradient_bytes = device->problem->has_bf16_gradients ? 2 : 4, gather = 0, backward;
    if (layout->zero == 3)
        gather = gather_s(device, &dense, 2 * parameters->dense) + gather_s(device, &experts, 2 * parameters->experts);
    backward = gather + gather_s(device, &dense, gradient_bytes * parameters->dense) +
               gather_s(device, &experts, gradient_bytes * parameters->experts);
    item->part_s[ANALYTIC_FORWARD][ANALYTIC_DP] = beside_s(device, pass_sum(item, ANALYTIC_FORWARD), gather);
    item->part_s[ANALYTIC_BACKWARD_INPUT][ANALYTIC_DP] =
        beside_s(device, pass_sum(item, ANALYTIC_BACKWARD_INPUT) + pass_sum(item, ANALYTIC_BACKWARD_WEIGHT), backward);
}

void item_sum(struct analytic_item *item) {
    for (int pass = 0; pass < ANALYTIC_PASSES; pass++) item->pass_s[pass] = pass_sum(item, (enum analytic_pass)pass);
}

/* A layer from its work: with attention or everything computed again before the backward pass. */
static void compose(const struct analytic_device *device, const struct shard *shard, const struct kerf_layout *layout,
                    int32_t kind, const struct work *work, int is_full, struct analytic_item *item) {
    const struct analytic_layer *layer = &device->layers[kind];
    const struct analytic_stack *stack = &device->stack;
    double host = stack->layer_host_s * shard->host_ratio * (layer->experts > 0 ? stack->moe_host_ratio : 1);
    double(*parts)[ANALYTIC_PARTS] = item->part_s;
    *item = (struct analytic_item){.activation_bytes = 0};
    for (int pass = 0; pass < ANALYTIC_PASSES; pass++) parts[pass][ANALYTIC_GEMM] = work->products.of[pass];
    for (int pass = ANALYTIC_FORWARD; pass <= ANALYTIC_BACKWARD_INPUT; pass++) {
        parts[pass][ANALYTIC_ATTENTION] = work->attention[pass];
        parts[pass][ANALYTIC_MEMORY] = work->memory[pass];
        parts[pass][ANALYTIC_TP] = work->tp[pass];
        parts[pass][ANALYTIC_CP] = work->cp[pass];
        parts[pass][ANALYTIC_EP] = work->ep[pass];
    }
    if (is_full) {
        for (int part = 0; part < ANALYTIC_PARTS; part++)
            parts[ANALYTIC_BACKWARD_INPUT][part] += stack->recompute_ratio * parts[ANALYTIC_FORWARD][part];
    } else if (shard->is_selective) {
        parts[ANALYTIC_BACKWARD_INPUT][ANALYTIC_ATTENTION] += work->attention[0];
        parts[ANALYTIC_BACKWARD_INPUT][ANALYTIC_CP] += work->cp[0];
    }
    add_host(item, host, host * (stack->backward_host_ratio + (is_full ? 1 : 0)));
    if (layout->zero >= 2) {
        struct analytic_parameters parameters = analytic_layer_parameters(device, layout, kind);
        item_add_zero(device, layout, &parameters, item);
    }
    double kept = kept_layer_bytes(device, shard, layer);
    item->activation_bytes = is_full ? kept_input_bytes(device, shard) : kept;
    item->working_bytes = is_full ? stack->working_ratio * kept : working_layer_bytes(device, shard, layer);
    item_sum(item);
}

void layer_items(const struct analytic_device *device, const struct shard *shard, const struct kerf_layout *layout,
                 enum kerf_cp_comm comm, int32_t kind, const double attention[2], struct analytic_item *ret_item,
                 struct analytic_item *ret_recomputed) {
    const struct analytic_layer *layer = &device->layers[kind];
    struct work work = {.attention = {attention[0], attention[1]}};
    layer_products_add(device, shard, layer, &work.products);
    add_memory(device, shard, layer, &work);
    add_messages(device, shard, layer, &work);
    if (shard->cp > 1) cp_wait_s(device, shard, layer, comm, attention, work.cp);
    compose(device, shard, layout, kind, &work, shard->is_full, ret_item);
    if (layout->recompute == KERF_RECOMPUTE_BLOCK)
        compose(device, shard, layout, kind, &work, 1, ret_recomputed);
    else
        *ret_recomputed = *ret_item;
}
