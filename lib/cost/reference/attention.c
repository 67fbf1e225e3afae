/* SPDX-License-Identifier: Apache-2.0 */
/* The products of attention without weights, in one kernel or several (FusedLA, FusedLASeqp, Logits, Attend,
 * LogitsSeqp, AttendSeqp, LogitsSumma, AttendSumma in the reference's layers.py; its one-dimensional layers are
 * the sequence-parallel ones with every query on the accelerator). */
#include "cost/reference/volumes.h"

void fused_attention_volumes(const struct cost_operation *operation, double slowdown, struct volumes *ret) {
    double size = operation->element_bytes;
    int64_t m2 = operation->tp2;
    double bh = (double)operation->batch, l1 = (double)operation->m, l = (double)operation->n, q = (double)operation->k;
    double matrix = bh * l1 * l, queries = bh * l1 * q, keys = bh * l * q, rows = bh * l1;
    double logits = matrix * dot_flops(q);
    /* the kernel is timed on the matrix units: softmax and dropout count for what they cost on the others */
    double softmax = (2 * matrix + rows * (l - 1)) * slowdown, dropout = matrix * slowdown;

    ret->on_matrix_units = 1;
    ret->activation_bytes = (3 * queries + rows + rows + queries) * size; /* q k v, generator, statistics, result */

    ret->forward.flops = logits + softmax + dropout + queries * dot_flops(l);
    ret->forward.bytes = (queries + 2 * keys + rows + queries) * size;
    pass_send(&ret->forward, COMM_ALLGATHER, AXIS_TP2, m2, 2 * keys * size);

    ret->backward.flops = queries * dot_flops(l) + keys * dot_flops(l1) +               /* of the logits */
                          (2 * matrix + rows * (l - 1) + matrix) * slowdown + dropout + /* softmax, dropout */
                          matrix * dot_flops(q) + keys * dot_flops(l1) +                /* attend */
                          logits + softmax + dropout;                                   /* the forward pass again */
    ret->backward.bytes = (2 * keys + 2 * queries) * size + ret->activation_bytes;
    pass_send(&ret->backward, COMM_ALLGATHER, AXIS_TP2, m2, 2 * keys * size);
    pass_send(&ret->backward, COMM_REDUCESCATTER, AXIS_TP2, m2, 2 * keys * size);
}

/* K for the logits, V for attend: gathered in both passes, its gradient scattered. */
static void gather_keys(struct volumes *ret, int64_t m2, double bytes) {
    pass_send(&ret->forward, COMM_ALLGATHER, AXIS_TP2, m2, bytes);
    pass_send(&ret->backward, COMM_ALLGATHER, AXIS_TP2, m2, bytes);
    pass_send(&ret->backward, COMM_REDUCESCATTER, AXIS_TP2, m2, bytes);
}

void logits_volumes(const struct cost_operation *operation, struct volumes *ret) {
    double size = operation->element_bytes;
    double bh = (double)operation->batch, l1 = (double)operation->m, l = (double)operation->n, q = (double)operation->k;
    double matrix = bh * l1 * l, queries = bh * l1 * q, keys = bh * l * q;
    ret->on_matrix_units = 1;
    ret->activation_bytes = 2 * queries * size; /* Q and K */
    ret->forward.flops = matrix * dot_flops(q);
    ret->forward.bytes = (queries + keys + matrix) * size;
    ret->backward.flops = queries * dot_flops(l) + keys * dot_flops(l1);
    ret->backward.bytes = (queries + keys + 2 * matrix + 2 * queries) * size;
    gather_keys(ret, operation->tp2, keys * size);
}

void attend_volumes(const struct cost_operation *operation, struct volumes *ret) {
    double size = operation->element_bytes;
    double bh = (double)operation->batch, l1 = (double)operation->m, l = (double)operation->n, q = (double)operation->k;
    double matrix = bh * l1 * l, queries = bh * l1 * q, keys = bh * l * q;
    ret->on_matrix_units = 1;
    ret->recomputed = 0; /* its input is; it does not run again itself */
    ret->activation_bytes = ((operation->recomputed ? 0 : matrix) + queries) * size;
    ret->forward.flops = queries * dot_flops(l);
    ret->forward.bytes = (matrix + keys + queries) * size;
    ret->backward.flops = matrix * dot_flops(q) + keys * dot_flops(l1);
    ret->backward.bytes = (3 * queries + matrix + matrix + keys) * size;
    gather_keys(ret, operation->tp2, keys * size);
}

void logits_summa_volumes(const struct cost_operation *operation, struct volumes *ret) {
    int64_t m1 = operation->tp1, m2 = operation->tp2;
    double size = operation->element_bytes, blocks = (double)operation->blocks;
    double bh = (double)operation->batch, l = (double)operation->n, l2 = (double)operation->m;
    double q1 = (double)(operation->k / m1);
    double keys = bh * l * q1, queries = bh * l2 * q1, matrix = bh * l2 * l;

    ret->on_matrix_units = 1;
    ret->blocks = blocks;
    ret->activation_bytes = 2 * queries * size; /* Q and K */
    ret->forward.flops = matrix * dot_flops(q1);
    ret->forward.bytes = (keys + queries * blocks + matrix) * size;
    pass_send(&ret->forward, COMM_BROADCAST, AXIS_TP2, m2, keys * size);
    pass_send(&ret->forward, COMM_REDUCE, AXIS_TP1, m1, matrix * size);

    ret->backward.flops = queries * dot_flops(l) + keys * dot_flops(l2);
    ret->backward.bytes = (2 * matrix + 2 * keys + 2 * queries * blocks) * size;
    pass_send(&ret->backward, COMM_BROADCAST, AXIS_TP1, m1, matrix * size);
    pass_send(&ret->backward, COMM_BROADCAST, AXIS_TP2, m2, keys * size);
    pass_send(&ret->backward, COMM_BROADCAST, AXIS_TP1, m1, matrix * size);
    pass_send(&ret->backward, COMM_REDUCE, AXIS_TP2, m2, keys * size);
}

void attend_summa_volumes(const struct cost_operation *operation, struct volumes *ret) {
    int64_t m1 = operation->tp1, m2 = operation->tp2;
    double size = operation->element_bytes, blocks = (double)operation->blocks;
    double bh = (double)operation->batch, l = (double)operation->n, l2 = (double)operation->m;
    double q1 = (double)(operation->k / m1);
    double keys = bh * l * q1, queries = bh * l2 * q1, matrix = bh * l2 * l;

    ret->on_matrix_units = 1;
    ret->blocks = blocks;
    ret->activation_bytes = (bh * l2 * (double)(operation->n / m1) + queries) * size;
    ret->forward.flops = queries * (l + l);
    ret->forward.bytes = (matrix + keys + queries * blocks) * size;
    pass_send(&ret->forward, COMM_BROADCAST, AXIS_TP1, m1, matrix * size);
    pass_send(&ret->forward, COMM_BROADCAST, AXIS_TP2, m2, keys * size);

    ret->backward.flops = matrix * dot_flops(q1) + keys * dot_flops(l2);
    ret->backward.bytes = 2 * (queries * blocks + keys + matrix) * size;
    pass_send(&ret->backward, COMM_BROADCAST, AXIS_TP2, m2, keys * size);
    pass_send(&ret->backward, COMM_REDUCE, AXIS_TP1, m1, matrix * size);
    pass_send(&ret->backward, COMM_BROADCAST, AXIS_TP1, m1, matrix * size);
    pass_send(&ret->backward, COMM_REDUCE, AXIS_TP2, m2, keys * size);
}
