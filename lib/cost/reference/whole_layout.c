/* SPDX-License-Identifier: Apache-2.0 */
/* One layout in full. This is the plain way; layout_rows.c does the same for millions of layouts and is held to it. */
#include <math.h>
#include <string.h>
#include "cost/reference/layer.h"
#include "cost/reference/step.h"
#include "cost/strategy.h"

static double sending_s(const struct volumes *volumes, const struct pass_volumes *pass,
                        const struct axis_links axes[COMM_AXES]) {
    return axis_s(volumes, pass, AXIS_TP1, &axes[AXIS_TP1]) + axis_s(volumes, pass, AXIS_TP2, &axes[AXIS_TP2]);
}

static struct kerf_layer price_operation(const struct device *device, const struct volumes *volumes,
                                         const struct axis_links axes[COMM_AXES]) {
    const struct pass_volumes *fwd = &volumes->forward, *bwd = &volumes->backward;
    struct kerf_layer priced = {
        .name = volumes->name,
        .module = volumes->module,
        .flops_fwd = fwd->flops,
        .flops_bwd = bwd->flops,
        .weights_bytes = volumes->weights_bytes,
        .activation_bytes = volumes->activation_bytes,
        .t_fwd_comp_s = arithmetic_s(device, volumes, fwd),
        .t_bwd_comp_s = arithmetic_s(device, volumes, bwd),
    };
    double fwd_traffic_s = traffic_s(device, fwd), bwd_traffic_s = traffic_s(device, bwd);
    double fwd_busy_s = fmax(priced.t_fwd_comp_s, fwd_traffic_s), bwd_busy_s = fmax(priced.t_bwd_comp_s, bwd_traffic_s);
    priced.t_fwd_mem_s = fmax(fwd_traffic_s - priced.t_fwd_comp_s, 0);
    priced.t_bwd_mem_s = fmax(bwd_traffic_s - priced.t_bwd_comp_s, 0);
    priced.t_fwd_comm_s = exposed_s(sending_s(volumes, fwd, axes), volumes->blocks, fwd_busy_s);
    priced.t_bwd_comm_s = exposed_s(sending_s(volumes, bwd, axes), volumes->blocks, bwd_busy_s);
    priced.t_fwd_s = fwd_busy_s + priced.t_fwd_comm_s;
    priced.t_bwd_s = bwd_busy_s + priced.t_bwd_comm_s;
    if (volumes->recomputed) priced.t_bwd_s += priced.t_fwd_s;
    return priced;
}

static void price_layer(const struct kerf_problem *problem, const struct kerf_layout *layout, struct layer *layer,
                        struct kerf_layer *layers) {
    const struct kerf_system *system = &problem->system;
    struct device device = device_of(system);
    struct axis_links axes[COMM_AXES];
    links_of_axis(system, layout->tp1, layout->scale_up.tp1, &axes[AXIS_TP1]);
    links_of_axis(system, layout->tp2, layout->scale_up.tp2, &axes[AXIS_TP2]);
    layer_describe(problem, layout, device.vector_slowdown, layer);
    for (int32_t i = 0; i < layer->count; i++) layers[i] = price_operation(&device, &layer->of[i], axes);
}

int32_t whole_layout_layers(const struct kerf_problem *problem, const struct kerf_layout *layout,
                            struct kerf_layer layers[KERF_LAYERS_MAX]) {
    struct layer layer;
    price_layer(problem, layout, &layer, layers);
    return layer.count;
}

static void add_part(struct kerf_parts *parts, const char *name, double value) {
    assert(parts->count < KERF_PARTS_MAX);
    parts->of[parts->count++] = (struct kerf_part){name, value};
}

int whole_layout_estimate(const struct space *space, const struct kerf_layout *layout, struct arena *arena,
                          struct kerf_estimate *ret_estimate) {
    (void)arena;
    const struct kerf_problem *problem = space->problem;
    const struct kerf_system *system = &problem->system;
    struct kerf_layer layers[KERF_LAYERS_MAX];
    struct layer layer;
    price_layer(problem, layout, &layer, layers);
    struct step step = {
        .micro_batches = (double)(problem->global_batch / layout->dp / layout->micro_batch),
        .layers = (double)(problem->model.num_hidden_layers / layout->pp),
        .pp = (double)layout->pp,
    };
    double compute_s = 0, memory_s = 0, tp_comm_s = 0, flops = 0;
    for (int32_t i = 0; i < layer.count; i++) {
        const struct kerf_layer *one = &layers[i];
        step.forward_s += one->t_fwd_s;
        step.backward_s += one->t_bwd_s;
        compute_s += one->t_fwd_comp_s + one->t_bwd_comp_s;
        memory_s += one->t_fwd_mem_s + one->t_bwd_mem_s;
        tp_comm_s += one->t_fwd_comm_s + one->t_bwd_comm_s;
        flops += one->flops_fwd + one->flops_bwd;
    }
    struct link stages = link_stages(system, layout->pp, layout->scale_up.pp);
    step.stage_s = link_s(&stages, layer_stage_bytes(&layer));
    int over_tp2 = strategy_of(problem->strategy)->replicas_over_tp2;
    int64_t replicas = layout->dp * (over_tp2 ? layout->tp2 : 1);
    int64_t in_domain = layout->scale_up.dp * (over_tp2 ? layout->scale_up.tp2 : 1);
    struct link gradients = link_collective(system, COMM_REDUCESCATTER, replicas, in_domain);
    double weights_bytes = layer_weights_bytes(&layer), passes = step.micro_batches * step.layers;
    step.data_parallel_s =
        data_parallel_s(link_s(&gradients, weights_bytes), step.forward_s, step.backward_s, step.layers);
    struct memory memory = step_memory(weights_bytes, layer_activation_bytes(&layer), step.layers, (double)replicas,
                                       step.pp, step.micro_batches);

    struct kerf_estimate estimate;
    memset(&estimate, 0, sizeof estimate);
    estimate.layout = *layout;
    estimate.step_time_s = step_s(&step);
    estimate.throughput = (double)problem->global_batch / estimate.step_time_s;
    estimate.memory_bytes = memory_sum(&memory);
    estimate.fits = estimate.memory_bytes <= system->memory_capacity_bytes;
    estimate.flops_per_gpu = flops * passes;
    add_part(&estimate.time_s, "compute", compute_s * passes);
    add_part(&estimate.time_s, "memory", memory_s * passes);
    add_part(&estimate.time_s, "tp_comm", tp_comm_s * passes);
    add_part(&estimate.time_s, "dp_comm", step.data_parallel_s);
    add_part(&estimate.time_s, "pp_comm", pipeline_comm_s(&step));
    add_part(&estimate.time_s, "bubble", bubble_s(&step));
    add_part(&estimate.memory, "weights", memory.weights);
    add_part(&estimate.memory, "gradients", memory.gradients);
    add_part(&estimate.memory, "optimizer", memory.optimizer);
    add_part(&estimate.memory, "activations", memory.activations);
    *ret_estimate = estimate;
    return 1;
}
