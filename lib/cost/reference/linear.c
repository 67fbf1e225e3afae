/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products with weights (Linear, LinearSeqp, LinearSumma in the reference's layers.py). A product of
 * (m,k) and (k,n) takes m n (2k - 1) FLOP: k products and k - 1 sums for each result. */
#include "cost/reference/volumes.h"

void linear_volumes(const struct cost_operation *operation, struct volumes *ret) {
    int64_t row_shards = operation->kind == COST_LINEAR_ROW ? operation->tp1 : 1;
    int64_t column_shards = operation->kind == COST_LINEAR_COLUMN ? operation->tp1 : 1;
    double size = operation->element_bytes;
    double m = (double)operation->m, k = (double)operation->k, n = (double)operation->n;
    double k1 = (double)(operation->k / row_shards), n1 = (double)(operation->n / column_shards);
    double input = m * k1, output = m * n1, weights = k1 * n1;

    ret->on_matrix_units = 1;
    ret->weights_bytes = weights * size;
    ret->activation_bytes = input * size;

    ret->forward.flops = m * n1 * dot_flops(k1);
    ret->forward.bytes = (input + output + weights) * size;
    pass_send(&ret->forward, COMM_REDUCESCATTER, AXIS_TP1, row_shards, m * n * size);

    /* dX = dY W^T, dW = X^T dY: dY is read twice */
    ret->backward.flops = m * k1 * dot_flops(n1) + weights * dot_flops(m);
    ret->backward.bytes = (weights + input + 2 * output + weights + input) * size;
    pass_send(&ret->backward, COMM_REDUCESCATTER, AXIS_TP1, column_shards, m * k * size);
}

void linear_summa_volumes(const struct cost_operation *operation, struct volumes *ret) {
    int64_t m1 = operation->tp1, m2 = operation->tp2;
    double size = operation->element_bytes, blocks = (double)operation->blocks;
    double m = (double)operation->m, k = (double)operation->k, n1 = (double)(operation->n / m1);
    double rows = m * k * size, columns = k * n1 * size; /* what goes along a row and down a column */
    double output = m * n1;

    ret->on_matrix_units = 1;
    ret->blocks = blocks;
    ret->weights_bytes = (double)(operation->k / m2) * n1 * size;
    ret->activation_bytes = m * (double)(operation->k / m1) * size;

    ret->forward.flops = output * (k + k);
    ret->forward.bytes = (m * k + k * n1 + output * blocks) * size;
    pass_send(&ret->forward, COMM_BROADCAST, AXIS_TP1, m1, rows);
    pass_send(&ret->forward, COMM_BROADCAST, AXIS_TP2, m2, columns);

    ret->backward.flops = m * k * dot_flops(n1) + k * n1 * dot_flops(m);
    ret->backward.bytes = (n1 * k + output * blocks + m * k) * size + (k * m + output * blocks + k * n1) * size;
    pass_send(&ret->backward, COMM_BROADCAST, AXIS_TP2, m2, columns); /* dX: W down, */
    pass_send(&ret->backward, COMM_REDUCE, AXIS_TP1, m1, rows);       /* its sum along */
    pass_send(&ret->backward, COMM_BROADCAST, AXIS_TP1, m1, rows);    /* dW: X along, */
    pass_send(&ret->backward, COMM_REDUCE, AXIS_TP2, m2, columns);    /* its sum down */
}
