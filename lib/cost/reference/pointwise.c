/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the vector units: one element at a time, or one row (Bias, Act, DropOut, Softmax, Softmax2D,
 * LayerNorm and LayerNorm2D in the reference's layers.py). */
#include "cost/reference/volumes.h"

static const double MASK_BYTES = 1; /* of an element of a dropout mask */

static double elements_of(const struct cost_operation *operation) {
    return (double)operation->batch * (double)operation->m * (double)operation->n;
}

void bias_volumes(const struct cost_operation *operation, struct volumes *ret) {
    double size = operation->element_bytes, n = (double)operation->n, elements = elements_of(operation);
    ret->weights_bytes = n * size;
    ret->forward.flops = ret->backward.flops = elements;
    ret->forward.bytes = ret->backward.bytes = (elements + n) * size;
}

void gelu_volumes(const struct cost_operation *operation, struct volumes *ret) {
    double size = operation->element_bytes, elements = elements_of(operation);
    ret->activation_bytes = elements * size;
    ret->forward.flops = elements * 8; /* FLOP of erf and tanh as google-research/electra counts them */
    ret->forward.bytes = 2 * elements * size;
    ret->backward.flops = elements * 13;
    ret->backward.bytes = 3 * elements * size;
}

void dropout_volumes(const struct cost_operation *operation, struct volumes *ret) {
    double size = operation->element_bytes, elements = elements_of(operation), mask = elements * MASK_BYTES;
    ret->activation_bytes = operation->recomputed ? 0 : mask;
    ret->forward.flops = ret->backward.flops = elements;
    ret->forward.bytes = elements * size + mask + elements * size;
    ret->backward.bytes = 2 * elements * size + mask;
}

void softmax_volumes(const struct cost_operation *operation, struct volumes *ret) {
    double size = operation->element_bytes, width = (double)operation->n;
    double rows = (double)operation->batch * (double)operation->m, n = rows * width, sums = rows * sum_flops(width);
    ret->activation_bytes = operation->recomputed ? 0 : n * size;
    ret->forward.flops = 2 * n + sums;
    ret->forward.bytes = 2 * n * size;
    pass_send(&ret->forward, COMM_ALLREDUCE, AXIS_TP1, operation->tp1, rows * size);
    ret->backward.flops = 2 * n + sums + n;
    ret->backward.bytes = 3 * n * size;
    pass_send(&ret->backward, COMM_ALLREDUCE, AXIS_TP1, operation->tp1, rows * size);
}

/* rows of `width`, whichever way they are spread */
static void norm(double rows, double width, double size, struct volumes *ret) {
    double n = rows * width;
    ret->is_norm = 1;
    ret->weights_bytes = 2 * width * size;
    ret->activation_bytes = n * size;
    ret->forward.flops = 9 * n; /* mean 2, variance 3, scale 2, weight and bias 2 */
    ret->forward.bytes = (n + 2 * rows + n + 2 * width) * size;
    ret->backward.flops = 3 * n + (5 * n + 4 * rows * sum_flops(width));
    ret->backward.bytes = (4 * n + 2 * width + n) * size;
}

void layer_norm_volumes(const struct cost_operation *operation, struct volumes *ret) {
    int64_t m1 = operation->tp1;
    double size = operation->element_bytes, rows = (double)operation->batch * (double)(operation->m / m1);
    double all = elements_of(operation) * size;
    norm(rows, (double)operation->n, size, ret);
    pass_send(&ret->forward, COMM_ALLGATHER, AXIS_TP1, m1, all);
    pass_send(&ret->backward, COMM_REDUCESCATTER, AXIS_TP1, m1, all);
}

void layer_norm_2d_volumes(const struct cost_operation *operation, struct volumes *ret) {
    int64_t b = operation->batch, l = operation->m, e = operation->n, m1 = operation->tp1, m2 = operation->tp2;
    double size = operation->element_bytes, rows = (double)b * (double)(l / m2);
    /* l/m1 features: the reference's slip for e/m1 (docs/reference-model.md) */
    norm(rows, (double)(l / m1), size, ret);
    pass_send(&ret->forward, COMM_ALLREDUCE, AXIS_TP1, m1, 2 * rows * size);
    pass_send(&ret->backward, COMM_ALLREDUCE, AXIS_TP1, m1, (double)(2 * e / m1 + 2 * b * l / m2) * size);
}
