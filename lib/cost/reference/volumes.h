/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operation takes: for one micro-batch on one accelerator, how much arithmetic, memory traffic, communication
 * and memory, forward and backward. Volumes only; step.h turns them into time.
 *
 * Letters, as in arXiv 2410.00273: m1 = tp1 and m2 = tp2 shards, nb blocks of a SUMMA product. Numbers of elements are
 * exact products of whole numbers, kept in doubles; divisions are those of whole numbers, rounded down, where the
 * reference rounds down. The order of every sum and product is part of the frozen answer.
 */
#ifndef KERF_COST_REFERENCE_VOLUMES_H
#define KERF_COST_REFERENCE_VOLUMES_H

#include <assert.h>
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

/* Each fills in what its kind takes; the rest of *ret is zero. slowdown: how many times slower the vector units are than
 * the matrix units. */
void linear_volumes(const struct cost_operation *operation, struct volumes *ret);
void linear_summa_volumes(const struct cost_operation *operation, struct volumes *ret);

void bias_volumes(const struct cost_operation *operation, struct volumes *ret);
void gelu_volumes(const struct cost_operation *operation, struct volumes *ret);
void dropout_volumes(const struct cost_operation *operation, struct volumes *ret);
void softmax_volumes(const struct cost_operation *operation, struct volumes *ret);
void layer_norm_volumes(const struct cost_operation *operation, struct volumes *ret);
void layer_norm_2d_volumes(const struct cost_operation *operation, struct volumes *ret);

void fused_attention_volumes(const struct cost_operation *operation, double slowdown, struct volumes *ret);
void logits_volumes(const struct cost_operation *operation, struct volumes *ret);
void attend_volumes(const struct cost_operation *operation, struct volumes *ret);
void logits_summa_volumes(const struct cost_operation *operation, struct volumes *ret);
void attend_summa_volumes(const struct cost_operation *operation, struct volumes *ret);

/* FLOP of the sum of n numbers, and of n products and their sum. A shard may be empty (fewer features than
 * accelerators), and then nothing is done. */
static inline double sum_flops(double n) { return n > 0 ? n - 1 : 0; }
static inline double dot_flops(double n) { return n > 0 ? n + (n - 1) : 0; }

/* One more message of a pass among m accelerators; none when m is 1. */
static inline void pass_send(struct pass_volumes *pass, enum comm_kind kind, enum comm_axis axis, int64_t m,
                             double bytes) {
    if (m == 1) return;
    assert(pass->num_messages < MESSAGES_MAX);
    pass->messages[pass->num_messages++] = (struct message){bytes, kind, axis};
}

#endif
