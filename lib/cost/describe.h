/* SPDX-License-Identifier: Apache-2.0 */
/* How the strategies that spread tensors over tp1 x tp2 describe their operations. */
#ifndef KERF_COST_DESCRIBE_H
#define KERF_COST_DESCRIBE_H

#include "cost/operation.h"

struct describer {
    struct cost_operations *operations;
    enum kerf_module module;
    int64_t tp1, tp2, blocks; /* of the products */
};

/* Y(m,n) = X(m,k) W(k,n). */
struct cost_operation *describe_product(const struct describer *at, enum cost_kind kind, const char *name, int64_t m,
                                        int64_t n, int64_t k);

/* An operation on batch x m x n elements, spread over nobody: the caller sets tp1 and tp2 where it is. */
struct cost_operation *describe_pointwise(const struct describer *at, enum cost_kind kind, const char *name,
                                          int64_t batch, int64_t m, int64_t n);

/* Attention that keeps heads whole. */
struct attention_shape {
    int64_t heads;    /* of all samples, on this accelerator */
    int64_t queries;  /* tokens of a sample here */
    int64_t keys;     /* all tokens of a sample, gathered over tp2 */
    int64_t features; /* of a head */
    int64_t tp2;
};
void describe_attention(const struct describer *at, enum kerf_attention attention, const struct attention_shape *shape);

#endif
