/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From operations to a step. The search and the estimate of one layout share these functions, operation by
 * operation in the same order, so that both find the same number to the last bit.
 *
 *   operation   max(arithmetic, memory traffic) + exposed communication          (pass_s)
 *   layer       the sum of its operations
 *   step        micro-batches x layers x (forward + backward) + stage to stage   (step_s)
 *               + the bubble of 1F1B, (pp - 1) times what a micro-batch takes
 *               + exposed data-parallel communication
 */
#ifndef KERF_COST_REFERENCE_STEP_H
#define KERF_COST_REFERENCE_STEP_H

#include "cost/cost_model.h"

/* The collectives of a tensor-parallel axis, by kind. */
struct cost_axis {
    struct cost_link links[COMM_KINDS];
};

static inline double link_s(const struct cost_link *link, double bytes) {
    return bytes == 0 ? 0 : link->latency_s + bytes * link->s_per_byte;
}

static inline double arithmetic_s(const struct cost_device *device, const struct cost_layer *layer,
                                  const struct cost_pass *pass) {
    return device->launch_s +
           pass->flops * (layer->on_matrix_units ? device->s_per_matrix_flop : device->s_per_vector_flop);
}

static inline double traffic_s(const struct cost_device *device, const struct cost_pass *pass) {
    return pass->bytes * device->s_per_byte;
}

/* What a pass sends over one axis, each message cut into the operation's blocks. */
static inline double axis_s(const struct cost_layer *layer, const struct cost_pass *pass, enum comm_axis axis,
                            const struct cost_axis *price) {
    double blocks = layer->blocks == 0 ? 1 : layer->blocks, sum_s = 0;
    for (int32_t i = 0; i < pass->num_comms; i++)
        if (pass->comms[i].axis == axis)
            sum_s += link_s(&price->links[pass->comms[i].kind], pass->comms[i].bytes / blocks);
    return sum_s;
}

/* Communication that nothing hides, where one block's messages take one_s and busy_s is the operation's arithmetic
 * or traffic, whichever is longer: a SUMMA product (blocks > 0) sends its first block beside nothing and the rest
 * beside busy_s; other operations send everything beside nothing. */
static inline double exposed_s(double one_s, double blocks, double busy_s) {
    if (blocks == 0) return one_s;
    double rest_s = one_s * blocks - busy_s;
    return one_s + (rest_s > 0 ? rest_s : 0);
}

/* Micro-batches that are under way at once in 1F1B. */
static inline double in_flight(double pp, double micro_batches) { return micro_batches >= pp ? pp : micro_batches; }

struct cost_step {
    double forward_s, backward_s; /* a layer and micro-batch */
    double micro_batches, layers, pp;
    double stage_s;         /* sending a micro-batch to the next stage, one way */
    double data_parallel_s; /* exposed, of the whole step */
};

static inline double pipeline_comm_s(const struct cost_step *step) {
    double one_way_s = step->stage_s * step->micro_batches;
    return one_way_s + one_way_s;
}

static inline double bubble_s(const struct cost_step *step) {
    double t = (step->forward_s + step->backward_s) * step->micro_batches * step->layers + pipeline_comm_s(step);
    return (step->pp - 1) * (t / step->micro_batches);
}

static inline double step_s(const struct cost_step *step) {
    double t = (step->forward_s + step->backward_s) * step->micro_batches * step->layers + pipeline_comm_s(step);
    t += (step->pp - 1) * (t / step->micro_batches);
    return t + step->data_parallel_s;
}

/* weights and activations of one layer and micro-batch; replicas: among how many the optimizer is sharded */
static inline struct kerf_memory_parts step_memory(const struct kerf_cost_model *cost_model, double weights_bytes,
                                                   double activation_bytes, double layers, double replicas, double pp,
                                                   double micro_batches) {
    struct kerf_memory_parts memory;
    memory.weights = weights_bytes * layers;
    memory.gradients = memory.weights;
    memory.optimizer = cost_model->optimizer_ratio * (memory.weights / replicas);
    memory.activations = activation_bytes * layers * in_flight(pp, micro_batches);
    return memory;
}

static inline double memory_sum(const struct kerf_memory_parts *memory) {
    return memory->weights + memory->gradients + memory->optimizer + memory->activations;
}

/* Copies of a layer's weights: seqp keeps one for each piece of the sequence. */
static inline int64_t weight_replicas(enum kerf_strategy strategy, int64_t dp, int64_t tp2) {
    return strategy == KERF_STRATEGY_SEQP ? dp * tp2 : dp;
}

/* The links of an axis of m accelerators, in_domain of them in each scale-up domain. */
static inline void axis_price(const struct kerf_cost_model *cost_model, const struct kerf_system *system, int64_t m,
                              int64_t in_domain, struct cost_axis *ret_axis) {
    for (int kind = 0; kind < COMM_KINDS; kind++)
        ret_axis->links[kind] = cost_model->collective(system, (enum comm_kind)kind, m, in_domain);
}

#endif
