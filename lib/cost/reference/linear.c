/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products with weights (Linear, LinearSeqp, LinearSumma in the reference's layers.py). A product of
 * (n,k) and (k,m) takes n m (2k - 1) FLOP: k products and k - 1 sums for each result. */
#include "cost/reference/block.h"

void add_linear(struct block_builder *builder, const char *name, int64_t b_, int64_t l_, int64_t e_, int64_t f_,
                int64_t m_in, int64_t m_out) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes;
    double bl = (double)b_ * (double)l_, e = (double)e_, f = (double)f_;
    double e1 = (double)(e_ / m_in), f1 = (double)(f_ / m_out);
    double input = bl * e1, output = bl * f1, weights = e1 * f1;

    layer->on_matrix_units = 1;
    layer->weights_bytes = weights * size;
    layer->activation_bytes = input * size;

    layer->forward.flops = bl * f1 * dot_flops(e1);
    layer->forward.bytes = (input + output + weights) * size;
    pass_send(&layer->forward, COMM_REDUCESCATTER, AXIS_TP1, m_in, bl * f * size);

    /* dX = dY W^T, dW = X^T dY: dY is read twice */
    layer->backward.flops = bl * e1 * dot_flops(f1) + weights * dot_flops(bl);
    layer->backward.bytes = (weights + input + 2 * output + weights + input) * size;
    pass_send(&layer->backward, COMM_REDUCESCATTER, AXIS_TP1, m_out, bl * e * size);
}

void add_linear_summa(struct block_builder *builder, const char *name, int64_t b_, int64_t l_, int64_t e_, int64_t f_,
                      int64_t m1, int64_t m2, int64_t nb) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes, blocks = (double)nb;
    double bl = (double)b_ * (double)(l_ / m2), e = (double)e_, f1 = (double)(f_ / m1);
    double rows = bl * e * size, columns = e * f1 * size; /* what goes along a row and down a column */
    double output = bl * f1;

    layer->on_matrix_units = 1;
    layer->blocks = blocks;
    layer->weights_bytes = (double)(e_ / m2) * f1 * size;
    layer->activation_bytes = bl * (double)(e_ / m1) * size;

    layer->forward.flops = output * (e + e);
    layer->forward.bytes = (bl * e + e * f1 + output * blocks) * size;
    pass_send(&layer->forward, COMM_BROADCAST, AXIS_TP1, m1, rows);
    pass_send(&layer->forward, COMM_BROADCAST, AXIS_TP2, m2, columns);

    layer->backward.flops = bl * e * dot_flops(f1) + e * f1 * dot_flops(bl);
    layer->backward.bytes = (f1 * e + output * blocks + bl * e) * size + (e * bl + output * blocks + e * f1) * size;
    pass_send(&layer->backward, COMM_BROADCAST, AXIS_TP2, m2, columns); /* dX: W down, */
    pass_send(&layer->backward, COMM_REDUCE, AXIS_TP1, m1, rows);       /* its sum along */
    pass_send(&layer->backward, COMM_BROADCAST, AXIS_TP1, m1, rows);    /* dW: X along, */
    pass_send(&layer->backward, COMM_REDUCE, AXIS_TP2, m2, columns);    /* its sum down */
}
