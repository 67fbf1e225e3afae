/* SPDX-License-Identifier: Apache-2.0 */
/* The products of attention without weights, in one kernel or several (FusedLA, FusedLASeqp, Logits, Attend,
 * LogitsSeqp, AttendSeqp, LogitsSumma, AttendSumma in the reference's layers.py; its one-dimensional layers are
 * the sequence-parallel ones with every query on the accelerator). */
#include "cost/reference/block.h"

void add_fused_attention(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l1_, int64_t l_,
                         int64_t q_, int64_t m2) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes;
    /* the kernel is timed on the matrix units: softmax and dropout count for what they cost on the others */
    double slowdown = builder->elements.vector_slowdown;
    double bh = (double)b * (double)h, l1 = (double)l1_, l = (double)l_, q = (double)q_;
    double matrix = bh * l1 * l, queries = bh * l1 * q, keys = bh * l * q, rows = bh * l1;
    double logits = matrix * dot_flops(q);
    double softmax = (2 * matrix + rows * (l - 1)) * slowdown, dropout = matrix * slowdown;

    layer->on_matrix_units = 1;
    layer->activation_bytes = (3 * queries + rows + rows + queries) * size; /* q k v, generator, statistics, result */

    layer->forward.flops = logits + softmax + dropout + queries * dot_flops(l);
    layer->forward.bytes = (queries + 2 * keys + rows + queries) * size;
    pass_send(&layer->forward, COMM_ALLGATHER, AXIS_TP2, m2, 2 * keys * size);

    layer->backward.flops = queries * dot_flops(l) + keys * dot_flops(l1) +               /* of the logits */
                            (2 * matrix + rows * (l - 1) + matrix) * slowdown + dropout + /* softmax, dropout */
                            matrix * dot_flops(q) + keys * dot_flops(l1) +                /* attend */
                            logits + softmax + dropout;                                   /* the forward pass again */
    layer->backward.bytes = (2 * keys + 2 * queries) * size + layer->activation_bytes;
    pass_send(&layer->backward, COMM_ALLGATHER, AXIS_TP2, m2, 2 * keys * size);
    pass_send(&layer->backward, COMM_REDUCESCATTER, AXIS_TP2, m2, 2 * keys * size);
}

/* K for the logits, V for attend: gathered in both passes, its gradient scattered. */
static void gather_keys(struct cost_layer *layer, int64_t m2, double bytes) {
    pass_send(&layer->forward, COMM_ALLGATHER, AXIS_TP2, m2, bytes);
    pass_send(&layer->backward, COMM_ALLGATHER, AXIS_TP2, m2, bytes);
    pass_send(&layer->backward, COMM_REDUCESCATTER, AXIS_TP2, m2, bytes);
}

void add_logits(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l1_, int64_t l_,
                int64_t q_, int64_t m2, int recomputed) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes;
    double bh = (double)b * (double)h, l1 = (double)l1_, l = (double)l_, q = (double)q_;
    double matrix = bh * l1 * l, queries = bh * l1 * q, keys = bh * l * q;
    layer->on_matrix_units = 1;
    layer->recomputed = recomputed;
    layer->activation_bytes = 2 * queries * size; /* Q and K */
    layer->forward.flops = matrix * dot_flops(q);
    layer->forward.bytes = (queries + keys + matrix) * size;
    layer->backward.flops = queries * dot_flops(l) + keys * dot_flops(l1);
    layer->backward.bytes = (queries + keys + 2 * matrix + 2 * queries) * size;
    gather_keys(layer, m2, keys * size);
}

void add_attend(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l1_, int64_t l_,
                int64_t q_, int64_t m2, int recomputed) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes;
    double bh = (double)b * (double)h, l1 = (double)l1_, l = (double)l_, q = (double)q_;
    double matrix = bh * l1 * l, queries = bh * l1 * q, keys = bh * l * q;
    layer->on_matrix_units = 1;
    layer->activation_bytes = ((recomputed ? 0 : matrix) + queries) * size;
    layer->forward.flops = queries * dot_flops(l);
    layer->forward.bytes = (matrix + keys + queries) * size;
    layer->backward.flops = matrix * dot_flops(q) + keys * dot_flops(l1);
    layer->backward.bytes = (3 * queries + matrix + matrix + keys) * size;
    gather_keys(layer, m2, keys * size);
}

void add_logits_summa(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l_, int64_t q,
                      int64_t m1, int64_t m2, int64_t nb) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes, blocks = (double)nb;
    double bh = (double)b * (double)h, l = (double)l_, l2 = (double)(l_ / m2), q1 = (double)(q / m1);
    double keys = bh * l * q1, queries = bh * l2 * q1, matrix = bh * l2 * l;

    layer->on_matrix_units = 1;
    layer->blocks = blocks;
    layer->activation_bytes = 2 * queries * size; /* Q and K */
    layer->forward.flops = matrix * dot_flops(q1);
    layer->forward.bytes = (keys + queries * blocks + matrix) * size;
    pass_send(&layer->forward, COMM_BROADCAST, AXIS_TP2, m2, keys * size);
    pass_send(&layer->forward, COMM_REDUCE, AXIS_TP1, m1, matrix * size);

    layer->backward.flops = queries * dot_flops(l) + keys * dot_flops(l2);
    layer->backward.bytes = (2 * matrix + 2 * keys + 2 * queries * blocks) * size;
    pass_send(&layer->backward, COMM_BROADCAST, AXIS_TP1, m1, matrix * size);
    pass_send(&layer->backward, COMM_BROADCAST, AXIS_TP2, m2, keys * size);
    pass_send(&layer->backward, COMM_BROADCAST, AXIS_TP1, m1, matrix * size);
    pass_send(&layer->backward, COMM_REDUCE, AXIS_TP2, m2, keys * size);
}

void add_attend_summa(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l_, int64_t q,
                      int64_t m1, int64_t m2, int64_t nb) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes, blocks = (double)nb;
    double bh = (double)b * (double)h, l = (double)l_, l2 = (double)(l_ / m2), q1 = (double)(q / m1);
    double keys = bh * l * q1, queries = bh * l2 * q1, matrix = bh * l2 * l;

    layer->on_matrix_units = 1;
    layer->blocks = blocks;
    layer->activation_bytes = (bh * l2 * (double)(l_ / m1) + queries) * size;
    layer->forward.flops = queries * (l + l);
    layer->forward.bytes = (matrix + keys + queries * blocks) * size;
    pass_send(&layer->forward, COMM_BROADCAST, AXIS_TP1, m1, matrix * size);
    pass_send(&layer->forward, COMM_BROADCAST, AXIS_TP2, m2, keys * size);

    layer->backward.flops = matrix * dot_flops(q1) + keys * dot_flops(l2);
    layer->backward.bytes = 2 * (queries * blocks + keys + matrix) * size;
    pass_send(&layer->backward, COMM_BROADCAST, AXIS_TP2, m2, keys * size);
    pass_send(&layer->backward, COMM_REDUCE, AXIS_TP1, m1, matrix * size);
    pass_send(&layer->backward, COMM_BROADCAST, AXIS_TP1, m1, matrix * size);
    pass_send(&layer->backward, COMM_REDUCE, AXIS_TP2, m2, keys * size);
}
