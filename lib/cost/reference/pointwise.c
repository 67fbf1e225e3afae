/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the vector units: one element at a time, or one row (Bias, Act, DropOut, Softmax, Softmax2D,
 * LayerNorm and LayerNorm2D in the reference's layers.py). */
#include "cost/reference/block.h"

void add_bias(struct block_builder *builder, const char *name, int64_t b, int64_t l, int64_t f) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes, n = (double)b * (double)l * (double)f;
    layer->weights_bytes = (double)f * size;
    layer->forward.flops = layer->backward.flops = n;
    layer->forward.bytes = layer->backward.bytes = (n + (double)f) * size;
}

void add_gelu(struct block_builder *builder, const char *name, double elements) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes;
    layer->activation_bytes = elements * size;
    layer->forward.flops = elements * 8; /* FLOP of erf and tanh as google-research/electra counts them */
    layer->forward.bytes = 2 * elements * size;
    layer->backward.flops = elements * 13;
    layer->backward.bytes = 3 * elements * size;
}

void add_dropout(struct block_builder *builder, const char *name, double elements, int recomputed) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes, mask = elements * builder->elements.mask_bytes;
    layer->recomputed = recomputed;
    layer->activation_bytes = recomputed ? 0 : mask;
    layer->forward.flops = layer->backward.flops = elements;
    layer->forward.bytes = elements * size + mask + elements * size;
    layer->backward.bytes = 2 * elements * size + mask;
}

void add_softmax(struct block_builder *builder, const char *name, int64_t b, int64_t h, int64_t l1, int64_t l2,
                 int64_t m1, int recomputed) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes;
    double rows = (double)b * (double)h * (double)l1, n = rows * (double)l2, sums = rows * sum_flops((double)l2);
    layer->recomputed = recomputed;
    layer->activation_bytes = recomputed ? 0 : n * size;
    layer->forward.flops = 2 * n + sums;
    layer->forward.bytes = 2 * n * size;
    pass_send(&layer->forward, COMM_ALLREDUCE, AXIS_TP1, m1, rows * size);
    layer->backward.flops = 2 * n + sums + n;
    layer->backward.bytes = 3 * n * size;
    pass_send(&layer->backward, COMM_ALLREDUCE, AXIS_TP1, m1, rows * size);
}

/* rows of `width`, whichever way they are spread */
static struct cost_layer *add_norm(struct block_builder *builder, const char *name, double rows, double width) {
    struct cost_layer *layer = block_append(builder, name);
    double size = builder->elements.element_bytes, n = rows * width;
    layer->weights_bytes = 2 * width * size;
    layer->activation_bytes = n * size;
    layer->forward.flops = 9 * n; /* mean 2, variance 3, scale 2, weight and bias 2 */
    layer->forward.bytes = (n + 2 * rows + n + 2 * width) * size;
    layer->backward.flops = 3 * n + (5 * n + 4 * rows * sum_flops(width));
    layer->backward.bytes = (4 * n + 2 * width + n) * size;
    return layer;
}

void add_layer_norm(struct block_builder *builder, const char *name, int64_t b, int64_t l, int64_t e, int64_t m) {
    struct cost_layer *layer = add_norm(builder, name, (double)b * (double)(l / m), (double)e);
    double all = (double)b * (double)l * (double)e * builder->elements.element_bytes;
    pass_send(&layer->forward, COMM_ALLGATHER, AXIS_TP1, m, all);
    pass_send(&layer->backward, COMM_REDUCESCATTER, AXIS_TP1, m, all);
}

void add_layer_norm_2d(struct block_builder *builder, const char *name, int64_t b, int64_t l, int64_t e, int64_t m1,
                       int64_t m2) {
    double size = builder->elements.element_bytes, rows = (double)b * (double)(l / m2);
    /* l/m1 features: the reference's slip for e/m1 (docs/reference-model.md) */
    struct cost_layer *layer = add_norm(builder, name, rows, (double)(l / m1));
    pass_send(&layer->forward, COMM_ALLREDUCE, AXIS_TP1, m1, 2 * rows * size);
    pass_send(&layer->backward, COMM_ALLREDUCE, AXIS_TP1, m1, (double)(2 * e / m1 + 2 * b * l / m2) * size);
}
