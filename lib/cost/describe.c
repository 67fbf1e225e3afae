/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/describe.h"

#include <assert.h>

struct cost_operation *describe_product(const struct describer *at, enum cost_kind kind, const char *name, int64_t m,
                                        int64_t n, int64_t k) {
    struct cost_operation *operation = operation_add(at->operations, at->module, kind, name);
    operation->m = m, operation->n = n, operation->k = k;
    operation->tp1 = at->tp1, operation->tp2 = at->tp2, operation->blocks = at->blocks;
    return operation;
}

struct cost_operation *describe_pointwise(const struct describer *at, enum cost_kind kind, const char *name,
                                          int64_t batch, int64_t m, int64_t n) {
    struct cost_operation *operation = operation_add(at->operations, at->module, kind, name);
    operation->batch = batch, operation->m = m, operation->n = n;
    return operation;
}

static void heads(const struct describer *at, enum cost_kind kind, const char *name,
                  const struct attention_shape *shape, int recomputed) {
    struct cost_operation *operation = operation_add(at->operations, at->module, kind, name);
    operation->batch = shape->heads, operation->m = shape->queries, operation->n = shape->keys;
    operation->k = shape->features, operation->tp2 = shape->tp2, operation->recomputed = recomputed;
}

/* Each step in a kernel of its own, the matrix of queries x keys written in between. */
static void separate_kernels(const struct describer *at, const struct attention_shape *shape, int recomputed) {
    heads(at, COST_LOGITS, "logits", shape, recomputed);
    describe_pointwise(at, COST_SOFTMAX, "softmax", shape->heads, shape->queries, shape->keys)->recomputed = recomputed;
    describe_pointwise(at, COST_DROPOUT, "dpr_at", shape->heads, shape->queries, shape->keys)->recomputed = recomputed;
    heads(at, COST_ATTEND, "attend", shape, recomputed);
}

void describe_attention(const struct describer *at, enum kerf_attention attention,
                        const struct attention_shape *shape) {
    switch (attention) {
    case KERF_ATTENTION_FUSED: heads(at, COST_FUSED_ATTENTION, "fusedla", shape, 0); return;
    case KERF_ATTENTION_UNFUSED: separate_kernels(at, shape, 0); return;
    case KERF_ATTENTION_RECOMPUTED: separate_kernels(at, shape, 1); return;
    case KERF_ATTENTION_SUMMA: /* spreads the features of a head: strategy_summa.c */
    case KERF_ATTENTION_COUNT: break;
    }
    assert(!"an attention that keeps heads whole");
}
