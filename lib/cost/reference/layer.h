/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transformer layer as the volumes of its operations (modules.py of the reference): for one micro-batch on one
 * accelerator, how much arithmetic, memory traffic, communication and memory, forward and backward. step.h turns them
 * into time.
 *
 * Letters, as in arXiv 2410.00273: m1 = tp1 and m2 = tp2 shards, nb blocks of a SUMMA product. Numbers of elements are
 * exact products of whole numbers, kept in doubles; divisions are those of whole numbers, rounded down, where the
 * reference rounds down. The order of every sum and product is part of the frozen answer.
 */
#ifndef KERF_COST_REFERENCE_LAYER_H
#define KERF_COST_REFERENCE_LAYER_H

#include "cost/operation.h"

enum comm_kind { COMM_ALLGATHER, COMM_REDUCESCATTER, COMM_ALLREDUCE, COMM_BROADCAST, COMM_REDUCE, COMM_KINDS };
enum comm_axis { AXIS_TP1, AXIS_TP2, COMM_AXES };

struct message {
    double bytes; /* all of it, as the collective's users count it */
    enum comm_kind kind;
    enum comm_axis axis; /* among whom */
};

enum { MESSAGES_MAX = 4 };

struct pass_volumes {
    double flops;
    double bytes; /* memory traffic */
    struct message messages[MESSAGES_MAX];
    int32_t num_messages;
};

struct volumes {
    const char *name;
    enum kerf_module module;
    int32_t on_matrix_units; /* 0: on the vector units */
    int32_t recomputed;      /* 1: the backward pass runs the forward pass again */
    int32_t is_norm;
    double blocks; /* 0: communication is exposed; else SUMMA's nb, and all but one block overlaps */
    double weights_bytes;
    double activation_bytes; /* kept for the backward pass */
    struct pass_volumes forward, backward;
};

struct layer {
    int32_t count;
    struct volumes of[KERF_LAYERS_MAX]; /* the multi-layer perceptron first */
};

/* Of the layout all but dp, pp and scale_up matters. slowdown: how many times slower the vector units are than the
 * matrix units. */
void layer_describe(const struct kerf_problem *problem, const struct kerf_layout *layout, double slowdown,
                    struct layer *ret_layer);

double layer_weights_bytes(const struct layer *layer);
double layer_activation_bytes(const struct layer *layer);
/* What one stage sends to the next: the input of the layer's first norm (the reference's choice). */
double layer_stage_bytes(const struct layer *layer);

#endif
