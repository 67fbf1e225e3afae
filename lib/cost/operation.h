/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a layer of a model does on one accelerator, as a strategy describes it and a cost model prices it: operations by
 * kind and shape. A strategy knows no FLOP, byte or second; a cost model knows no layout.
 *
 * A shape is `batch` independent pieces of m rows, n columns and, in products, k terms of each sum; element_bytes is the
 * precision. tp1 and tp2 say among how many accelerators of each axis the operation is spread. m is this accelerator's
 * share; n and k are cut by the kind as it says below, because a model may need the whole too, for the message.
 * Quotients of whole numbers round down.
 */
#ifndef KERF_COST_OPERATION_H
#define KERF_COST_OPERATION_H

#include <assert.h>
#include "kerf/cost.h"

enum cost_kind {
    /* Y(m,n) = X(m,k) W(k,n), W spread over tp1 */
    COST_LINEAR_COLUMN, /* its columns: this accelerator has n/tp1; the input's gradient is reduce-scattered */
    COST_LINEAR_ROW,    /* its rows: this accelerator has k/tp1; the result is reduce-scattered */
    COST_LINEAR_SUMMA,  /* a SUMMA product in `blocks` blocks over tp1 x tp2 */
    /* on m x n elements, `batch` times */
    COST_BIAS,    /* one for each of n columns */
    COST_GELU,    /**/
    COST_DROPOUT, /**/
    COST_SOFTMAX, /* over rows of n, which tp1 accelerators share */
    /* of `batch` samples with m tokens of n features, tokens and features whole */
    COST_LAYER_NORM,    /* tokens over tp1, gathered afterwards */
    COST_LAYER_NORM_2D, /* tokens over tp2, features over tp1 */
    /* m queries and n keys of k features, for `batch` heads of samples; keys and values gathered over tp2 */
    COST_FUSED_ATTENTION, /* in one kernel */
    COST_LOGITS,          /* queries times keys */
    COST_ATTEND,          /* the matrix times values */
    COST_LOGITS_SUMMA,    /* the same two as SUMMA products: the features of a head over tp1 */
    COST_ATTEND_SUMMA,    /**/
    COST_KINDS
};

struct cost_operation {
    const char *name; /* "fc1"; lives as long as the program */
    enum cost_kind kind;
    enum kerf_module module;
    int64_t batch, m, n, k;
    int64_t tp1, tp2;
    int64_t blocks;        /* of a SUMMA product, else 0 */
    int32_t element_bytes; /* 2: bf16 or fp16 */
    int32_t recomputed;    /* 1: what attention keeps for the backward pass is computed again in it */
};

/* The operations of one layer, in the order in which the forward pass runs each module's. */
struct cost_operations {
    int32_t count;
    struct cost_operation of[KERF_LAYERS_MAX];
};

/* One more operation. What its kind does not use stays 1 (blocks, recomputed: 0). */
static inline struct cost_operation *operation_add(struct cost_operations *operations, enum kerf_module module,
                                                   enum cost_kind kind, const char *name) {
    assert(operations->count < KERF_LAYERS_MAX);
    struct cost_operation *operation = &operations->of[operations->count++];
    *operation = (struct cost_operation){.name = name,
                                         .kind = kind,
                                         .module = module,
                                         .batch = 1,
                                         .m = 1,
                                         .n = 1,
                                         .k = 1,
                                         .tp1 = 1,
                                         .tp2 = 1,
                                         .element_bytes = 2};
    return operation;
}

#endif
