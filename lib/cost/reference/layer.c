/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/reference/layer.h"

#include <assert.h>
#include "cost/strategy.h"

/* Each function fills in what its kind of operation takes; the rest of *ret is zero. */

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

/* ---- Matrix products with weights -------------------------------------------------------------------------------- */

/* Linear, LinearSeqp and LinearSumma in the reference's layers.py. A product of (m,k) and (k,n) takes m n (2k - 1)
 * FLOP: k products and k - 1 sums for each result. */

static void linear_volumes(const struct cost_operation *operation, struct volumes *ret) {
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

static void linear_summa_volumes(const struct cost_operation *operation, struct volumes *ret) {
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

/* ---- Attention --------------------------------------------------------------------------------------------------- */

/* The products of attention without weights, in one kernel or several (FusedLA, FusedLASeqp, Logits, Attend,
 * LogitsSeqp, AttendSeqp, LogitsSumma, AttendSumma in the reference's layers.py; its one-dimensional layers are
 * the sequence-parallel ones with every query on the accelerator). */

static void fused_attention_volumes(const struct cost_operation *operation, double slowdown, struct volumes *ret) {
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

static void logits_volumes(const struct cost_operation *operation, struct volumes *ret) {
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

static void attend_volumes(const struct cost_operation *operation, struct volumes *ret) {
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

static void logits_summa_volumes(const struct cost_operation *operation, struct volumes *ret) {
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

static void attend_summa_volumes(const struct cost_operation *operation, struct volumes *ret) {
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

/* ---- Vector units ------------------------------------------------------------------------------------------------ */

/* One element at a time, or one row (Bias, Act, DropOut, Softmax, Softmax2D,
 * LayerNorm and LayerNorm2D in the reference's layers.py). */

static const double MASK_BYTES = 1; /* of an element of a dropout mask */

static double elements_of(const struct cost_operation *operation) {
    return (double)operation->batch * (double)operation->m * (double)operation->n;
}

static void bias_volumes(const struct cost_operation *operation, struct volumes *ret) {
    double size = operation->element_bytes, n = (double)operation->n, elements = elements_of(operation);
    ret->weights_bytes = n * size;
    ret->forward.flops = ret->backward.flops = elements;
    ret->forward.bytes = ret->backward.bytes = (elements + n) * size;
}

static void gelu_volumes(const struct cost_operation *operation, struct volumes *ret) {
    double size = operation->element_bytes, elements = elements_of(operation);
    ret->activation_bytes = elements * size;
    ret->forward.flops = elements * 8; /* FLOP of erf and tanh as google-research/electra counts them */
    ret->forward.bytes = 2 * elements * size;
    ret->backward.flops = elements * 13;
    ret->backward.bytes = 3 * elements * size;
}

static void dropout_volumes(const struct cost_operation *operation, struct volumes *ret) {
    double size = operation->element_bytes, elements = elements_of(operation), mask = elements * MASK_BYTES;
    ret->activation_bytes = operation->recomputed ? 0 : mask;
    ret->forward.flops = ret->backward.flops = elements;
    ret->forward.bytes = elements * size + mask + elements * size;
    ret->backward.bytes = 2 * elements * size + mask;
}

static void softmax_volumes(const struct cost_operation *operation, struct volumes *ret) {
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

static void layer_norm_volumes(const struct cost_operation *operation, struct volumes *ret) {
    int64_t m1 = operation->tp1;
    double size = operation->element_bytes, rows = (double)operation->batch * (double)(operation->m / m1);
    double all = elements_of(operation) * size;
    norm(rows, (double)operation->n, size, ret);
    pass_send(&ret->forward, COMM_ALLGATHER, AXIS_TP1, m1, all);
    pass_send(&ret->backward, COMM_REDUCESCATTER, AXIS_TP1, m1, all);
}

static void layer_norm_2d_volumes(const struct cost_operation *operation, struct volumes *ret) {
    int64_t b = operation->batch, l = operation->m, e = operation->n, m1 = operation->tp1, m2 = operation->tp2;
    double size = operation->element_bytes, rows = (double)b * (double)(l / m2);
    /* l/m1 features: the reference's slip for e/m1 (docs/reference-model.md) */
    norm(rows, (double)(l / m1), size, ret);
    pass_send(&ret->forward, COMM_ALLREDUCE, AXIS_TP1, m1, 2 * rows * size);
    pass_send(&ret->backward, COMM_ALLREDUCE, AXIS_TP1, m1, (double)(2 * e / m1 + 2 * b * l / m2) * size);
}

/* ---- A layer ----------------------------------------------------------------------------------------------------- */

static void volumes_of(const struct cost_operation *operation, double slowdown, struct volumes *ret) {
    *ret = (struct volumes){.name = operation->name, .module = operation->module, .recomputed = operation->recomputed};
    switch (operation->kind) {
    case COST_LINEAR_COLUMN:
    case COST_LINEAR_ROW: linear_volumes(operation, ret); return;
    case COST_LINEAR_SUMMA: linear_summa_volumes(operation, ret); return;
    case COST_BIAS: bias_volumes(operation, ret); return;
    case COST_GELU: gelu_volumes(operation, ret); return;
    case COST_DROPOUT: dropout_volumes(operation, ret); return;
    case COST_SOFTMAX: softmax_volumes(operation, ret); return;
    case COST_LAYER_NORM: layer_norm_volumes(operation, ret); return;
    case COST_LAYER_NORM_2D: layer_norm_2d_volumes(operation, ret); return;
    case COST_FUSED_ATTENTION: fused_attention_volumes(operation, slowdown, ret); return;
    case COST_LOGITS: logits_volumes(operation, ret); return;
    case COST_ATTEND: attend_volumes(operation, ret); return;
    case COST_LOGITS_SUMMA: logits_summa_volumes(operation, ret); return;
    case COST_ATTEND_SUMMA: attend_summa_volumes(operation, ret); return;
    case COST_KINDS: break;
    }
    assert(!"an operation that the reference knows");
}

void layer_describe(const struct kerf_problem *problem, const struct kerf_layout *layout, double slowdown,
                    struct layer *ret_layer) {
    struct cost_operations operations;
    strategy_of(problem->strategy)->describe(problem, layout, &operations);
    ret_layer->count = operations.count;
    for (int32_t i = 0; i < operations.count; i++) volumes_of(&operations.of[i], slowdown, &ret_layer->of[i]);
}

double layer_weights_bytes(const struct layer *layer) {
    double bytes = 0;
    for (int32_t i = 0; i < layer->count; i++) bytes += layer->of[i].weights_bytes;
    return bytes;
}

double layer_activation_bytes(const struct layer *layer) {
    double bytes = 0;
    for (int32_t i = 0; i < layer->count; i++) bytes += layer->of[i].activation_bytes;
    return bytes;
}

double layer_stage_bytes(const struct layer *layer) {
    for (int32_t i = 0; i < layer->count; i++)
        if (layer->of[i].module == KERF_MODULE_MLP && layer->of[i].is_norm) return layer->of[i].activation_bytes;
    assert(!"a perceptron with a norm");
    return 0;
}
