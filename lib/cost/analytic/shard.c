/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of a device, and bytes that a layer keeps for its backward pass, after Korthikanti et al. (arXiv 2205.05198) with
 * the factors of the stack: inputs of norms and products between the blocks, divided by tp with sequence parallelism;
 * queries, keys, values and attention's output; scores of attention that is not fused, or 4 bytes a row of one that is;
 * inner features of the MLP; routed tokens. In 8 bits a product's input is kept at 1 byte instead of 2. The allocator takes
 * `fragmentation` times as much.
 */
#include "cost/analytic/shard.h"

static double larger(double a, double b) { return a > b ? a : b; }

struct shard shard_of(const struct analytic_device *device, const struct kerf_layout *layout) {
    const struct kerf_stack *stack = &device->stack;
    struct shard shard = {
        .tp = (double)layout->tp1,
        .cp = (double)layout->cp,
        .ep = (double)layout->ep,
        .etp = (double)layout->etp,
        .tp_group = group_tp(device, layout),
        .cp_group = group_cp(device, layout),
        .ep_group = group_ep(device, layout),
        .etp_group = group_etp(device, layout),
        .is_selective = layout->recompute == KERF_RECOMPUTE_SELECTIVE,
        .is_full = layout->recompute == KERF_RECOMPUTE_FULL,
    };
    shard.tokens = (double)layout->micro_batch * device->seq_length / shard.cp;
    shard.tokens_shard = stack->lacks_sequence_parallel ? shard.tokens : shard.tokens / shard.tp;
    shard.tp_exposed = shard.tp_group.domains > 1 ? larger(stack->tp_exposed, 1) : stack->tp_exposed;
    shard.imbalance = shard.ep > 1 ? stack->imbalance : 1;
    shard.host_ratio = shard.tp >= 8 ? stack->tp8_host_ratio : shard.tp > 1 ? stack->tp_host_ratio : 1;
    return shard;
}

/* ---- Bytes ----------------------------------------------------------------------------------------------- */

double kept_input_bytes(const struct analytic_device *device, const struct shard *shard) {
    return 2 * shard->tokens_shard * device->hidden * device->stack.fragmentation;
}

static double attention_bytes(const struct analytic_device *device, const struct shard *shard,
                              const struct analytic_layer *layer) {
    double heads = layer->heads / shard->tp, kv_ways = shard->tp < layer->kv_heads ? shard->tp : layer->kv_heads;
    double qkv = layer->qkv_size / shard->tp + layer->kv_size / kv_ways;
    double bytes = 2 * shard->tokens * (qkv + heads * layer->v_size);
    if (layer->latent_size > 0) bytes += 2 * shard->tokens_shard * layer->latent_size;
    if (shard->is_selective) return bytes;
    if (device->problem->attention == KERF_ATTENTION_FUSED) return bytes + 4 * shard->tokens * heads;
    return bytes + device->stack.scores_bytes * shard->tokens * heads * device->seq_length;
}

static double mlp_bytes(const struct analytic_device *device, const struct shard *shard,
                        const struct analytic_layer *layer) {
    const struct kerf_stack *stack = &device->stack;
    double saved = device->is_fp8 ? 1 : 0, per_feature = layer->is_gated ? stack->gated_bytes : stack->plain_bytes;
    double bytes = (per_feature - saved) * shard->tokens * layer->mlp_size / shard->tp;
    if (layer->experts == 0) return bytes;
    double routed = shard_routed(shard, layer);
    double expert =
        layer->is_gated ? stack->expert_bytes : stack->expert_bytes * stack->plain_bytes / stack->gated_bytes;
    return bytes +
           routed *
               ((stack->permuted_bytes - saved) * device->hidden + (expert - saved) * layer->expert_size / shard->etp) +
           4 * shard->tokens_shard * layer->experts;
}

double kept_layer_bytes(const struct analytic_device *device, const struct shard *shard,
                        const struct analytic_layer *layer) {
    double saved = device->is_fp8 ? 2 : 0; /* what two norms give to products */
    double between = (device->stack.hidden_bytes - saved) * shard->tokens_shard * device->hidden;
    return device->stack.fragmentation *
           (between + attention_bytes(device, shard, layer) + mlp_bytes(device, shard, layer));
}

/* Gradients that live while the backward pass goes through the layer: of a block's gathered input and output, and of
 * its widest inner features. */
double working_layer_bytes(const struct analytic_device *device, const struct shard *shard,
                           const struct analytic_layer *layer) {
    double wide = shard->tokens * layer->mlp_size / shard->tp;
    if (layer->experts > 0) wide = larger(wide, shard_routed(shard, layer) * layer->expert_size / shard->etp);
    return device->stack.fragmentation * 2 * (2 * shard->tokens * device->hidden + wide * (layer->is_gated ? 2 : 1));
}

double kept_logits_bytes(const struct analytic_device *device, const struct shard *shard) {
    return (device->stack.logit_bytes / shard->tp + device->stack.gathered_logit_bytes) * shard->tokens * device->vocab;
}
