/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What 1d, summa and seqp share: their space, the rules of their layouts, and how they describe their operations. The
 * space is that of the candidates of the reference (execution.py of ShashankSubramanian/transformer-perf-estimates),
 * level by level.
 *
 *   tensor parallelism (tp1, tp2)  ->  pipeline stages pp, and with them dp  ->  micro-batch
 *   variants: SUMMA blocks x placements in the scale-up domain
 */
#ifndef KERF_COST_TENSOR_SPACE_H
#define KERF_COST_TENSOR_SPACE_H

#include "cost/operation.h"
#include "cost/strategy.h"

enum tensor_level { TENSOR_LEVEL_SHARDS, TENSOR_LEVEL_STAGES, TENSOR_LEVEL_MICRO_BATCH, TENSOR_LEVELS };

enum { TENSOR_LEAST_WIDTH = 128 /* features and tokens of a shard */, SUMMA_BLOCKS_MAX = 32 };

/* What distinguishes the three. */
struct tensor_rules {
    int has_tp2;
    /* Whether the model can be cut into tp1 x tp2; both divide the accelerators, tp1 the heads and the hidden size. */
    int (*can_cut)(const struct kerf_problem *problem, int64_t tp1, int64_t tp2);
    /* Shards that the tokens of a micro-batch are cut into, which must divide them. */
    int64_t (*sequence_shards)(const struct kerf_layout *layout);
    /* What the layout must obey besides what the three have in common. */
    int32_t (*check)(const struct kerf_problem *problem, const struct kerf_layout *layout, struct kerf_error *err);
    /* The numbers of SUMMA blocks, rising; NULL: the one number 0. */
    int32_t (*blocks)(const struct kerf_problem *problem, const struct kerf_layout *layout,
                      int64_t ret_blocks[SUMMA_BLOCKS_MAX]);
};

struct kerf_layout *tensor_choices(const struct space *space, const struct tensor_rules *rules, int32_t level,
                                   const struct kerf_layout *prefix, struct arena *arena, int32_t *ret_count);
struct kerf_layout *tensor_variants(const struct space *space, const struct tensor_rules *rules,
                                    const struct kerf_layout *prefix, struct arena *arena, int32_t *ret_count);

/* The placements that fill the domain exactly, or the one that holds everything when it is large enough. */
struct kerf_layout *tensor_neighbours(const struct space *space, const struct kerf_layout *layout, struct arena *arena,
                                      int32_t *ret_count);

int32_t tensor_check_problem(const struct kerf_problem *problem, struct kerf_error *err);
int32_t tensor_check(const struct kerf_problem *problem, const struct tensor_rules *rules,
                     const struct kerf_layout *layout, struct kerf_error *err);

void tensor_explain(const struct space *space, int32_t level, struct kerf_text *out);

/* ---- Operations -------------------------------------------------------------------------------------------------- */

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
