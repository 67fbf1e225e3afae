/* SPDX-License-Identifier: Apache-2.0 */
/* One layout, in full: every operation priced, every part summed. This is the plain way; lib/plan/search.c does
 * the same for millions of layouts and is held to it. */
#include "cost/reference/step.h"

#include <math.h>

static double sending_s(const struct cost_layer *layer, const struct cost_pass *pass,
                        const struct cost_axis *const axes[COMM_AXES]) {
    return axis_s(layer, pass, AXIS_TP1, axes[AXIS_TP1]) + axis_s(layer, pass, AXIS_TP2, axes[AXIS_TP2]);
}

static struct kerf_layer price_layer(const struct cost_device *device, const struct cost_layer *layer,
                                     const struct cost_axis *const axes[COMM_AXES]) {
    const struct cost_pass *fwd = &layer->forward, *bwd = &layer->backward;
    struct kerf_layer priced = {
        .name = layer->name,
        .module = layer->module,
        .flops_fwd = fwd->flops,
        .flops_bwd = bwd->flops,
        .weights_bytes = layer->weights_bytes,
        .activation_bytes = layer->activation_bytes,
        .t_fwd_comp_s = arithmetic_s(device, layer, fwd),
        .t_bwd_comp_s = arithmetic_s(device, layer, bwd),
    };
    double fwd_traffic_s = traffic_s(device, fwd), bwd_traffic_s = traffic_s(device, bwd);
    double fwd_busy_s = fmax(priced.t_fwd_comp_s, fwd_traffic_s), bwd_busy_s = fmax(priced.t_bwd_comp_s, bwd_traffic_s);
    priced.t_fwd_mem_s = fmax(fwd_traffic_s - priced.t_fwd_comp_s, 0);
    priced.t_bwd_mem_s = fmax(bwd_traffic_s - priced.t_bwd_comp_s, 0);
    priced.t_fwd_comm_s = exposed_s(sending_s(layer, fwd, axes), layer->blocks, fwd_busy_s);
    priced.t_bwd_comm_s = exposed_s(sending_s(layer, bwd, axes), layer->blocks, bwd_busy_s);
    priced.t_fwd_s = fwd_busy_s + priced.t_fwd_comm_s;
    priced.t_bwd_s = bwd_busy_s + priced.t_bwd_comm_s;
    if (layer->recomputed) priced.t_bwd_s += priced.t_fwd_s;
    return priced;
}

static void price_block(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                        const struct kerf_layout *layout, struct cost_block *block, struct kerf_layer *layers) {
    struct cost_device device = cost_model->device(&problem->system);
    struct cost_shape shape = {layout->micro_batch, layout->tp1, layout->tp2, layout->summa_blocks};
    struct cost_axis tp1, tp2;
    axis_price(cost_model, &problem->system, layout->tp1, layout->scale_up.tp1, &tp1);
    axis_price(cost_model, &problem->system, layout->tp2, layout->scale_up.tp2, &tp2);
    const struct cost_axis *const axes[COMM_AXES] = {[AXIS_TP1] = &tp1, [AXIS_TP2] = &tp2};
    cost_model->describe(problem, &shape, &device.elements, block);
    for (int32_t i = 0; i < block->num_layers; i++) layers[i] = price_layer(&device, &block->layers[i], axes);
}

static struct kerf_estimate compose(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                                    const struct kerf_layout *layout, const struct cost_block *block,
                                    const struct kerf_layer *layers) {
    const struct kerf_system *system = &problem->system;
    struct kerf_estimate estimate = {.layout = *layout};
    struct kerf_time_parts *time = &estimate.time_s;
    struct cost_step step = {
        .micro_batches = (double)(problem->global_batch / layout->dp / layout->micro_batch),
        .layers = (double)(problem->model.num_hidden_layers / layout->pp),
        .pp = (double)layout->pp,
    };
    double flops = 0;
    for (int32_t i = 0; i < block->num_layers; i++) {
        const struct kerf_layer *layer = &layers[i];
        step.forward_s += layer->t_fwd_s;
        step.backward_s += layer->t_bwd_s;
        time->compute += layer->t_fwd_comp_s + layer->t_bwd_comp_s;
        time->memory += layer->t_fwd_mem_s + layer->t_bwd_mem_s;
        time->tp_comm += layer->t_fwd_comm_s + layer->t_bwd_comm_s;
        flops += layer->flops_fwd + layer->flops_bwd;
    }
    double passes = step.micro_batches * step.layers;
    time->compute *= passes, time->memory *= passes, time->tp_comm *= passes;

    struct cost_link stages = cost_model->stage_link(system, layout->pp, layout->scale_up.pp);
    step.stage_s = link_s(&stages, block_stage_bytes(block));
    int64_t replicas = weight_replicas(problem->strategy, layout->dp, layout->tp2);
    int64_t in_domain = weight_replicas(problem->strategy, layout->scale_up.dp, layout->scale_up.tp2);
    struct cost_link gradients = cost_model->collective(system, COMM_REDUCESCATTER, replicas, in_domain);
    double weights_bytes = block_weights_bytes(block);
    step.data_parallel_s =
        cost_model->data_parallel_s(link_s(&gradients, weights_bytes), step.forward_s, step.backward_s, step.layers);
    time->pp_comm = pipeline_comm_s(&step);
    time->bubble = bubble_s(&step);
    time->dp_comm = step.data_parallel_s;

    estimate.step_time_s = step_s(&step);
    estimate.throughput = (double)problem->global_batch / estimate.step_time_s;
    estimate.memory = step_memory(cost_model, weights_bytes, block_activation_bytes(block), step.layers,
                                  (double)replicas, step.pp, step.micro_batches);
    estimate.memory_bytes = memory_sum(&estimate.memory);
    estimate.fits = estimate.memory_bytes <= system->memory_capacity_bytes;
    estimate.flops_per_gpu = flops * passes;
    return estimate;
}

int32_t kerf_layout_estimate(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                             const struct kerf_layout *layout, struct kerf_estimate *ret_estimate,
                             struct kerf_error *err) {
    int32_t code = kerf_layout_check(problem, layout, err);
    if (code != KERF_OK) return code;
    struct cost_block block;
    struct kerf_layer layers[KERF_LAYERS_MAX];
    price_block(cost_model, problem, layout, &block, layers);
    *ret_estimate = compose(cost_model, problem, layout, &block, layers);
    return KERF_OK;
}

int32_t kerf_layout_estimate_layers(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                                    const struct kerf_layout *layout, struct kerf_layer layers[KERF_LAYERS_MAX],
                                    int32_t *ret_count, struct kerf_error *err) {
    int32_t code = kerf_layout_check(problem, layout, err);
    if (code != KERF_OK) return code;
    struct cost_block block;
    price_block(cost_model, problem, layout, &block, layers);
    *ret_count = block.num_layers;
    return KERF_OK;
}
