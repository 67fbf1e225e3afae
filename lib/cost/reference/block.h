/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transformer layer as a list of operations: for one micro-batch on one accelerator, how much arithmetic,
 * memory traffic, communication and memory each takes, forward and backward. Volumes only; what they cost in
 * time is another file's business (reference_model.c, step.h).
 *
 * Letters, as in arXiv 2410.00273: b micro-batch, l tokens of a sample, e hidden size, f intermediate size,
 * h heads, q = e/h features of a head, m1 = tp1 and m2 = tp2 shards, nb blocks of a SUMMA product.
 * Numbers of elements are exact products of whole numbers, kept in doubles; divisions are those of whole
 * numbers, rounded down, where the reference rounds down.
 */
#ifndef KERF_COST_REFERENCE_BLOCK_H
#define KERF_COST_REFERENCE_BLOCK_H

#include "kerf/cost.h"

enum comm_kind { COMM_ALLGATHER, COMM_REDUCESCATTER, COMM_ALLREDUCE, COMM_BROADCAST, COMM_REDUCE, COMM_KINDS };
enum comm_axis { AXIS_TP1, AXIS_TP2, COMM_AXES };

struct cost_comm {
    double bytes; /* the whole message, as the collective's users count it */
    enum comm_kind kind;
    enum comm_axis axis; /* among whom */
};

enum { COMMS_MAX = 4 };

struct cost_pass {
    double flops;
    double bytes; /* memory traffic */
    struct cost_comm comms[COMMS_MAX];
    int32_t num_comms;
};

struct cost_layer {
    const char *name;
    enum kerf_module module;
    int32_t on_matrix_units; /* 0: on the vector units */
    int32_t recomputed;      /* 1: the backward pass runs the forward pass again */
    double blocks;           /* 0: communication is exposed; else SUMMA's nb, and all but one block overlaps */
    double weights_bytes;
    double activation_bytes; /* kept for the backward pass */
    struct cost_pass forward, backward;
};

struct cost_block {
    int32_t num_layers;
    struct cost_layer layers[KERF_LAYERS_MAX];
};

/* What a layer looks like depends on this and nothing else. */
struct cost_shape {
    int64_t micro_batch, tp1, tp2, summa_blocks;
};

/* Bytes of an element and of one of a dropout mask, and what fused attention needs to know of the system:
 * how many times slower the vector units are than the matrix units. */
struct cost_elements {
    double element_bytes, mask_bytes, vector_slowdown;
};

/* All operations of one layer, the multi-layer perceptron first. */
void block_describe(const struct kerf_problem *problem, const struct cost_shape *shape,
                    const struct cost_elements *elements, struct cost_block *ret_block);

double block_weights_bytes(const struct cost_block *block);
double block_activation_bytes(const struct cost_block *block);
/* What one stage sends to the next: the input of the layer's first norm (the reference's choice). */
double block_stage_bytes(const struct cost_block *block);

/* ---- The operations. Each appends itself to the block. ---------------------------------------------------- */

struct block_builder {
    struct cost_block *block;
    enum kerf_module module;
    struct cost_elements elements;
};

/* Y(b,l,f) = X(b,l,e) W(e,f) with the rows of W over m_in accelerators (the sum is reduce-scattered) or its
 * columns over m_out (the input's gradient is); one of the two is 1. */
void add_linear(struct block_builder *builder, const char *name, int64_t b, int64_t l, int64_t e, int64_t f,
                int64_t m_in, int64_t m_out);
/* The same as a SUMMA product over m1 x m2 accelerators in nb blocks. */
void add_linear_summa(struct block_builder *builder, const char *name, int64_t b, int64_t l, int64_t e, int64_t f,
                      int64_t m1, int64_t m2, int64_t nb);

/* Y = Y + B with l rows and f columns on this accelerator. */
void add_bias(struct block_builder *builder, const char *name, int64_t b, int64_t l, int64_t f);
void add_gelu(struct block_builder *builder, const char *name, double elements);
void add_dropout(struct block_builder *builder, const char *name, double elements, int recomputed);
/* Softmax over rows of l2 in b x h x l1 rows; m1 > 1: the rows are spread over AXIS_TP1. */
void add_softmax(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l1, int64_t l2,
                 int64_t m1, int recomputed);
/* Layer norm of (b,l,e), each of m accelerators with l/m of the tokens; gathers them afterwards. */
void add_layer_norm(struct block_builder *builder, const char *name, int64_t b, int64_t l, int64_t e, int64_t m);
void add_layer_norm_2d(struct block_builder *builder, const char *name, int64_t b, int64_t l, int64_t e, int64_t m1,
                       int64_t m2);

/* Attention of h heads with q features: l1 queries here (l/m2), all l keys gathered over AXIS_TP2. */
void add_fused_attention(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l1, int64_t l,
                         int64_t q, int64_t m2);
void add_logits(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l1, int64_t l, int64_t q,
                int64_t m2, int recomputed);
void add_attend(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l1, int64_t l, int64_t q,
                int64_t m2, int recomputed);
/* The same as SUMMA products over m1 x m2 accelerators. */
void add_logits_summa(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l, int64_t q,
                      int64_t m1, int64_t m2, int64_t nb);
void add_attend_summa(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l, int64_t q,
                      int64_t m1, int64_t m2, int64_t nb);

/* FLOP of the sum of n numbers, and of n products and their sum. A shard may be empty (fewer features than
 * accelerators), and then nothing is done. */
static inline double sum_flops(double n) { return n > 0 ? n - 1 : 0; }
static inline double dot_flops(double n) { return n > 0 ? n + (n - 1) : 0; }

/* For the operations' files: a fresh operation, and one more message of a pass (none when m is 1). */
struct cost_layer *block_append(struct block_builder *builder, const char *name);
void pass_send(struct cost_pass *pass, enum comm_kind kind, enum comm_axis axis, int64_t m, double bytes);

#endif
