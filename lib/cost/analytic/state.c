/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device holds besides activations, and what a step adds to the pipeline.
 *
 * States of Megatron-LM's mixed precision: weights 2 bytes a parameter, gradients 4 (2 in bf16), the optimizer's copy and
 * two moments 12. ZeRO 1 divides the optimizer's over the replicas, 2 the gradients too, 3 the weights too; experts have
 * fewer replicas. (Rajbhandari et al., arXiv 1910.02054; megatron/training/theoretical_memory_usage.py)
 *
 * Weights in 8 bits take the 2 bytes too: one for the forward pass, one transposed. With ZeRO they stand in place of those
 * at 16 bits (--fp8-param-gather, which validate_args refuses without it); else Transformer Engine keeps both.
 */
#include "cost/analytic/collectives.h"

static double larger(double a, double b) { return a > b ? a : b; }

/* ---- Parameters ------------------------------------------------------------------------------------------ */

static struct analytic_parameters on_device(const struct parameters *parameters, int64_t kv_heads,
                                            const struct kerf_layout *layout) {
    struct parameters dense = *parameters, experts = {.experts = parameters->experts};
    dense.experts = dense.experts_replicated = 0;
    experts.experts_replicated = parameters->experts_replicated;
    return (struct analytic_parameters){
        .dense = (double)parameters_on_device(&dense, kv_heads, layout->tp1, layout->ep, layout->etp),
        .experts = (double)parameters_on_device(&experts, kv_heads, layout->tp1, layout->ep, layout->etp),
    };
}

/* Of a layer: the weights of its products may be there in 8 bits too. */
static struct analytic_parameters of_layer(const struct analytic_device *device, const struct parameters *parameters,
                                           const struct parameters *products, int32_t kind,
                                           const struct kerf_layout *layout) {
    int64_t kv_heads = device->problem->model.kinds[kind].attention.kv_heads;
    struct analytic_parameters all = on_device(parameters, kv_heads, layout);
    if (device->is_fp8) {
        struct analytic_parameters low = on_device(products, kv_heads, layout);
        all.doubled = low.dense + low.experts;
    }
    return all;
}

struct analytic_parameters analytic_layer_parameters(const struct analytic_device *device,
                                                     const struct kerf_layout *layout, int32_t kind) {
    const struct analytic_layer *layer = &device->layers[kind];
    return of_layer(device, &layer->parameters, &layer->products_parameters, kind, layout);
}

struct analytic_parameters analytic_embedding_parameters(const struct analytic_device *device,
                                                         const struct kerf_layout *layout) {
    return on_device(&device->embedding, 1, layout);
}

struct analytic_parameters analytic_head_parameters(const struct analytic_device *device,
                                                    const struct kerf_layout *layout, int is_copy) {
    return on_device(is_copy ? &device->head_copy : &device->head, 1, layout);
}

struct analytic_parameters analytic_mtp_parameters(const struct analytic_device *device,
                                                   const struct kerf_layout *layout) {
    return of_layer(device, &device->mtp, &device->mtp_products, device->mtp_kind, layout);
}

/* ---- States ---------------------------------------------------------------------------------------------- */

static double kept_gradient_bytes(const struct analytic_device *device) {
    if (device->problem->precision == KERF_PRECISION_BF16 && device->stack.bf16_gradient_bytes > 0)
        return device->stack.bf16_gradient_bytes;
    if (device->stack.gradient_bytes > 0) return device->stack.gradient_bytes;
    return device->problem->has_bf16_gradients ? 2 : 4;
}

struct analytic_state_bytes analytic_state(const struct analytic_device *device, const struct kerf_layout *layout,
                                           const struct analytic_parameters *parameters) {
    double replicas = (double)(layout->dp * layout->cp);
    double expert_replicas = replicas * (double)layout->tp1 / ((double)layout->ep * (double)layout->etp);
    double all = parameters->dense + parameters->experts;
    double sharded = parameters->dense / replicas + parameters->experts / expert_replicas;
    double gradient_bytes = kept_gradient_bytes(device);
    return (struct analytic_state_bytes){
        .weights = 2 * (layout->zero >= 3 ? sharded : all) + (layout->zero == 0 ? 2 * parameters->doubled : 0) +
                   (layout->zero >= 3 && layout->pp > 1 ? device->stack.unsharded_bytes * all : 0),
        .gradients = gradient_bytes * (layout->zero >= 2 ? sharded : all),
        .optimizer = 12 * (layout->zero >= 1 ? sharded : all),
    };
}

/* Of each communicator, and at zero 3 two layers' gathered weights. */
double analytic_buffer_bytes(const struct analytic_device *device, const struct kerf_layout *layout) {
    int groups = (layout->tp1 > 1) + (layout->cp > 1) + (layout->pp > 1) + (layout->dp * layout->cp > 1) +
                 (layout->ep > 1) + (layout->etp > 1);
    double bytes = groups * device->stack.group_bytes;
    if (layout->zero >= 2) {
        double largest = 0;
        for (int32_t i = 0; i < device->num_kinds; i++) {
            struct analytic_parameters layer = analytic_layer_parameters(device, layout, i);
            largest = larger(largest, layer.dense + layer.experts);
        }
        double gradient_bytes = device->problem->has_bf16_gradients ? 2 : 4;
        bytes += largest * ((layout->zero >= 3 ? 2 * 2 : 0) + gradient_bytes);
    }
    return bytes;
}

double analytic_runtime_bytes(const struct analytic_device *device, const struct kerf_layout *layout) {
    (void)layout;
    return device->stack.runtime_bytes;
}

/* ---- A step ---------------------------------------------------------------------------------------------- */

/* Gradients are reduced beside the last micro-batch's backward pass, weights gathered beside the next forward pass, which
 * takes half as long. The stack's share of them is exposed, and whatever is longer than the pass beside it. */
static double exposed_s(const struct analytic_device *device, double messages_s, double pass_s) {
    return larger(device->stack.dp_exposed * messages_s, messages_s - pass_s);
}

/* The first and the last stage sum the gradients of a table that both have: as the head, or for multi-token prediction.
 * Nothing is beside it, and all wait for it. */
static double tied_embedding_s(const struct analytic_device *device, const struct kerf_layout *layout,
                               double gradient_bytes) {
    const struct kerf_problem *problem = device->problem;
    if (layout->pp == 1 || !(problem->model.is_tied || problem->mtp_layers > 0)) return 0;
    int64_t between = layout->tp1 * layout->cp * (layout->order == KERF_ORDER_TP_CP_DP_PP ? layout->dp : 1);
    struct rank_group ends = group_of(device, 2, between * (layout->pp - 1));
    return 2 * gather_s(device, &ends, gradient_bytes * device->vocab * device->hidden / (double)layout->tp1);
}

struct analytic_step_extras analytic_step_extras(const struct analytic_device *device, const struct kerf_layout *layout,
                                                 const struct analytic_parameters *parameters, double backward_s) {
    struct rank_group dense = group_dense_states(device, layout), experts = group_expert_states(device, layout);
    double gradient_bytes = device->reduced_bytes, dp_s = 0;
    /* a chunk's gradients are complete while the other chunks still have pp micro-batches each */
    if (layout->vpp > 1) backward_s *= 1 + (double)(layout->pp - 1) * (layout->vpp - 1) / layout->vpp;
    if (layout->zero < 2) {
        double reduce = gather_s(device, &dense, gradient_bytes * parameters->dense) +
                        gather_s(device, &experts, gradient_bytes * parameters->experts);
        dp_s += exposed_s(device, layout->zero == 0 ? 2 * reduce : reduce, backward_s);
    }
    if (layout->zero == 1 || layout->zero == 2)
        dp_s += exposed_s(device,
                          gather_s(device, &dense, 2 * parameters->dense) +
                              gather_s(device, &experts, 2 * parameters->experts),
                          backward_s / 2);
    dp_s += tied_embedding_s(device, layout, gradient_bytes);
    if (layout->zero > 0)
        dp_s += device->stack.broadcast_s * (double)layout->dp *
                ((double)device->problem->model.num_hidden_layers / (double)layout->pp);
    double shard = layout->zero >= 1 ? parameters->dense / dense.members + parameters->experts / experts.members
                                     : parameters->dense + parameters->experts;
    return (struct analytic_step_extras){
        .dp_s = dp_s,
        .optimizer_s = device->stack.optimizer_bytes * shard * device->s_per_byte,
        .fixed_s = device->stack.step_host_s,
    };
}

/* ---- Stage to stage -------------------------------------------------------------------------------------- */

/* Tokens of the sequence-parallel shard, to the device with the same place in the next stage. Of the hops of a pipeline,
 * those between domains take the network; the mean counts. */
struct analytic_hop analytic_hop(const struct analytic_device *device, const struct kerf_layout *layout) {
    if (layout->pp == 1) return (struct analytic_hop){0, 0};
    double bytes = 2 * (double)layout->micro_batch * device->seq_length * device->hidden /
                   (double)((int64_t)layout->cp * (device->stack.sends_whole > 0 ? 1 : layout->tp1));
    int64_t stride = layout->tp1 * layout->cp * (layout->order == KERF_ORDER_TP_CP_DP_PP ? layout->dp : 1);
    struct rank_group stages = group_of(device, layout->pp, stride);
    double near = device->bus_start_s + bytes * device->bus_s_per_byte, hops = stages.members - 1;
    double far = device->hop_s + bytes * device->nic_s_per_byte, between = (stages.domains - 1) / hops;
    double s = near + (larger(near, far) - near) * between;
    return (struct analytic_hop){
        .latency_s = s * (1 - device->stack.pp_exposed),
        .sender_s = s * device->stack.pp_exposed,
    };
}
