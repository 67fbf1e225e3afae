/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From operations to a step. The search and the estimate of one layout share these functions, operation by
 * operation in the same order, so that both find the same number to the last bit.
 *
 *   operation   max(arithmetic, memory traffic) + exposed communication
 *   layer       the sum of its operations
 *   step        micro-batches x layers x (forward + backward) + stage to stage   (step_s)
 *               + the bubble of 1F1B, (pp - 1) times what a micro-batch takes
 *               + exposed data-parallel communication
 */
#ifndef KERF_COST_REFERENCE_STEP_H
#define KERF_COST_REFERENCE_STEP_H

#include "cost/cost_model.h"
#include "cost/reference/layer.h"

/* ---- A system (step.c) ------------------------------------------------------------------------------------------- */

/* What a system can do, as the reference sees it: arithmetic, memory traffic, and messages whose time is affine in
 * their size. */

/* What does not depend on the layout: made once a problem. */
struct device {
    double launch_s; /* added to every operation's arithmetic */
    double s_per_matrix_flop, s_per_vector_flop, s_per_byte;
    double vector_slowdown; /* how many times slower the vector units are than the matrix units */
};

struct device device_of(const struct kerf_system *system);

/* latency + bytes * seconds per byte */
struct link {
    double latency_s, s_per_byte;
};

/* A collective among `group` accelerators, `in_domain` of them in each scale-up domain. */
struct link link_collective(const struct kerf_system *system, enum comm_kind kind, int64_t group, int64_t in_domain);

/* One stage to the next, `in_domain` stages in each scale-up domain: the mean over the links. */
struct link link_stages(const struct kerf_system *system, int64_t pp, int64_t in_domain);

/* The collectives of a tensor-parallel axis, by kind. */
struct axis_links {
    struct link of[COMM_KINDS];
};

void links_of_axis(const struct kerf_system *system, int64_t group, int64_t in_domain, struct axis_links *ret_links);

/* ---- Times ------------------------------------------------------------------------------------------------------- */

static inline double link_s(const struct link *link, double bytes) {
    return bytes == 0 ? 0 : link->latency_s + bytes * link->s_per_byte;
}

static inline double arithmetic_s(const struct device *device, const struct volumes *volumes,
                                  const struct pass_volumes *pass) {
    return device->launch_s +
           pass->flops * (volumes->on_matrix_units ? device->s_per_matrix_flop : device->s_per_vector_flop);
}

static inline double traffic_s(const struct device *device, const struct pass_volumes *pass) {
    return pass->bytes * device->s_per_byte;
}

/* What a pass sends over one axis, each message cut into the operation's blocks. */
static inline double axis_s(const struct volumes *volumes, const struct pass_volumes *pass, enum comm_axis axis,
                            const struct axis_links *links) {
    double blocks = volumes->blocks == 0 ? 1 : volumes->blocks, sum_s = 0;
    for (int32_t i = 0; i < pass->num_messages; i++)
        if (pass->messages[i].axis == axis)
            sum_s += link_s(&links->of[pass->messages[i].kind], pass->messages[i].bytes / blocks);
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

/* What stays exposed of a step's gradient and weight collectives, one_s for each of `layers` layers: the weights of the
 * first layer are gathered, and the gradients of the last scattered, beside nothing; those of the others beside a
 * layer's pass of one micro-batch. */
static inline double data_parallel_s(double one_s, double forward_s, double backward_s, double layers) {
    double gather_rest_s = one_s - forward_s, scatter_rest_s = one_s - backward_s;
    double gather_s = one_s + (gather_rest_s > 0 ? gather_rest_s : 0) * (layers - 1);
    double scatter_s = one_s + (scatter_rest_s > 0 ? scatter_rest_s : 0) * (layers - 1);
    return gather_s + scatter_s;
}

struct step {
    double forward_s, backward_s; /* a layer and micro-batch */
    double micro_batches, layers, pp;
    double stage_s;         /* sending a micro-batch to the next stage, one way */
    double data_parallel_s; /* exposed, of the whole step */
};

static inline double pipeline_comm_s(const struct step *step) {
    double one_way_s = step->stage_s * step->micro_batches;
    return one_way_s + one_way_s;
}

static inline double bubble_s(const struct step *step) {
    double t = (step->forward_s + step->backward_s) * step->micro_batches * step->layers + pipeline_comm_s(step);
    return (step->pp - 1) * (t / step->micro_batches);
}

static inline double step_s(const struct step *step) {
    double t = (step->forward_s + step->backward_s) * step->micro_batches * step->layers + pipeline_comm_s(step);
    t += (step->pp - 1) * (t / step->micro_batches);
    return t + step->data_parallel_s;
}

struct memory {
    double weights, gradients, optimizer, activations;
};

/* Of weights and activations of one layer and micro-batch; replicas: among how many the optimizer is sharded. */
static inline struct memory step_memory(double weights_bytes, double activation_bytes, double layers, double replicas,
                                        double pp, double micro_batches) {
    const double optimizer_ratio = 6; /* fp32 weights, momentum and variance beside 2-byte weights */
    double in_flight = micro_batches >= pp ? pp : micro_batches; /* micro-batches under way at once in 1F1B */
    struct memory memory;
    memory.weights = weights_bytes * layers;
    memory.gradients = memory.weights;
    memory.optimizer = optimizer_ratio * (memory.weights / replicas);
    memory.activations = activation_bytes * layers * in_flight;
    return memory;
}

static inline double memory_sum(const struct memory *memory) {
    return memory->weights + memory->gradients + memory->optimizer + memory->activations;
}

/* ---- The two ways to price layouts ------------------------------------------------------------------------------- */

/* Both find the same numbers to the last bit. */

/* whole_layout.c: one layout in full, every operation priced, every part summed. */
int whole_layout_estimate(const struct space *space, const struct kerf_layout *layout, struct arena *arena,
                          struct kerf_estimate *ret_estimate);
int32_t whole_layout_layers(const struct kerf_problem *problem, const struct kerf_layout *layout,
                            struct kerf_layer layers[KERF_LAYERS_MAX]);

/* layout_rows.c: many layouts, each distinct shape priced once. */
struct cost_pricer *rows_begin(const struct space *space, const struct cost_sink *sink, struct arena *arena);
int rows_enter(struct cost_pricer *pricer, int32_t level, const struct kerf_layout *prefix,
               struct cost_bound *ret_bound);
int rows_prepare(struct cost_pricer *pricer, const struct kerf_layout *variants, int32_t num_variants);
int rows_price(struct cost_pricer *pricer, struct cost_sink *sink);

#endif
