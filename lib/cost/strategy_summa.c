/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summa: tensor parallelism in two dimensions. Tokens are spread over tp2 and features over tp1, and every product with
 * weights is a SUMMA product: blocks of both factors are broadcast, one after the other (van de Geijn and Watts, 1997).
 */
#include "cost/tensor_space.h"

enum { LEAST_BLOCK = 512 /* features of a block */ };

static int can_cut(const struct kerf_problem *problem, int64_t tp1, int64_t tp2) {
    int64_t e = problem->model.hidden_size;
    return e % tp2 == 0 && e / tp1 >= TENSOR_LEAST_WIDTH && problem->seq_length / tp2 >= TENSOR_LEAST_WIDTH;
}

static int64_t sequence_shards(const struct kerf_layout *layout) { return layout->tp2; }

/* The doublings of max(tp1, tp2) that stay below e; where e is that itself the reference has none and stops with an
 * error. */
static int32_t blocks(const struct kerf_problem *problem, const struct kerf_layout *layout,
                      int64_t ret_blocks[SUMMA_BLOCKS_MAX]) {
    int64_t e = problem->model.hidden_size, start = layout->tp1 > layout->tp2 ? layout->tp1 : layout->tp2;
    int64_t ratio = e / start;
    int32_t count = 0;
    if (ratio > 1 && e < LEAST_BLOCK * start) {
        ret_blocks[count++] = start;
        return count;
    }
    for (int64_t nb = start, doubled = 1; doubled < ratio; doubled *= 2, nb *= 2)
        if (e % nb == 0 && e / nb >= LEAST_BLOCK) ret_blocks[count++] = nb;
    return count;
}

static int32_t check_own(const struct kerf_problem *problem, const struct kerf_layout *layout, struct kerf_error *err) {
    if (problem->model.hidden_size % layout->tp2 != 0)
        return kerf_error_set(err, KERF_EINVALID, "tp2 %lld does not divide hidden_size %lld", (long long)layout->tp2,
                              (long long)problem->model.hidden_size);
    if (layout->summa_blocks < 1)
        return kerf_error_set(err, KERF_EINVALID, "summa_blocks must be 1 or more with summa, not %lld",
                              (long long)layout->summa_blocks);
    return KERF_OK;
}

static const struct tensor_rules rules = {1, can_cut, sequence_shards, check_own, blocks};

static struct kerf_layout *choices(const struct space *space, int32_t level, const struct kerf_layout *prefix,
                                   struct arena *arena, int32_t *ret_count) {
    return tensor_choices(space, &rules, level, prefix, arena, ret_count);
}

static struct kerf_layout *variants(const struct space *space, const struct kerf_layout *prefix, struct arena *arena,
                                    int32_t *ret_count) {
    return tensor_variants(space, &rules, prefix, arena, ret_count);
}

static int32_t check(const struct kerf_problem *problem, const struct kerf_layout *layout, struct kerf_error *err) {
    return tensor_check(problem, &rules, layout, err);
}

static int is_plain(const struct kerf_layout *layout) { return layout->tp1 == 1 && layout->tp2 == 1; }

static int has_attention(enum kerf_attention attention) { return attention != KERF_ATTENTION_RECOMPUTED; }

/* Logits and attend as SUMMA products too: the features of every head over tp1. */
static void summa_attention(const struct describer *at, const struct kerf_problem *problem,
                            const struct kerf_layout *layout) {
    int64_t heads = layout->micro_batch * problem->model.num_attention_heads, l = problem->seq_length;
    int64_t queries = l / layout->tp2, features = problem->model.hidden_size / problem->model.num_attention_heads;
    describe_product(at, COST_LOGITS_SUMMA, "logits", queries, l, features)->batch = heads;
    describe_pointwise(at, COST_SOFTMAX, "softmax", heads, queries, l / layout->tp1)->tp1 = layout->tp1;
    describe_pointwise(at, COST_DROPOUT, "dpr_at", heads, queries, l / layout->tp1);
    describe_product(at, COST_ATTEND_SUMMA, "attend", queries, l, features)->batch = heads;
}

static void norm(const struct describer *at, const char *name, int64_t b, int64_t l, int64_t e) {
    struct cost_operation *operation = describe_pointwise(at, COST_LAYER_NORM_2D, name, b, l, e);
    operation->tp1 = at->tp1, operation->tp2 = at->tp2;
}

static void describe(const struct kerf_problem *problem, const struct kerf_layout *layout,
                     struct cost_operations *ret_operations) {
    const struct kerf_model *model = &problem->model;
    int64_t tp1 = layout->tp1, tp2 = layout->tp2, b = layout->micro_batch, l = problem->seq_length;
    int64_t e = model->hidden_size, f = model->intermediate_size, h = model->num_attention_heads;
    int64_t tokens = b * (l / tp2);
    struct describer at = {ret_operations, KERF_MODULE_MLP, tp1, tp2, layout->summa_blocks};
    ret_operations->count = 0;

    describe_product(&at, COST_LINEAR_SUMMA, "fc1", tokens, f, e);
    describe_pointwise(&at, COST_BIAS, "fc1-bias", 1, tokens, f / tp1);
    describe_pointwise(&at, COST_GELU, "act1", 1, tokens, f / tp1);
    describe_pointwise(&at, COST_DROPOUT, "dpr1", 1, tokens, f / tp1);
    describe_product(&at, COST_LINEAR_SUMMA, "fc2", tokens, e, f);
    describe_pointwise(&at, COST_BIAS, "fc2-bias", 1, tokens, e / tp1);
    describe_pointwise(&at, COST_DROPOUT, "dpr2", 1, tokens, e / tp1);
    norm(&at, "ln1", b, l, e);

    at.module = KERF_MODULE_SA;
    describe_product(&at, COST_LINEAR_SUMMA, "qkv", tokens, 3 * e, e);
    if (problem->attention == KERF_ATTENTION_SUMMA) {
        summa_attention(&at, problem, layout);
    } else {
        struct attention_shape shape = {b * (h / tp1), l / tp2, l, e / h, tp2};
        describe_attention(&at, problem->attention, &shape);
    }
    describe_product(&at, COST_LINEAR_SUMMA, "vproj", tokens, e, e);
    describe_pointwise(&at, COST_BIAS, "vproj-bias", 1, tokens, e / tp1);
    describe_pointwise(&at, COST_DROPOUT, "dpr_v", 1, tokens, e / tp1);
    norm(&at, "ln2", b, l, e);
}

const struct strategy strategy_summa = {
    .name = "summa",
    .layouts = LAYOUT_TENSOR,
    .num_levels = TENSOR_LEVELS,
    .choices = choices,
    .variants = variants,
    .neighbours = tensor_neighbours,
    .explain = tensor_explain,
    .check_problem = tensor_check_problem,
    .check = check,
    .is_plain = is_plain,
    .has_attention = has_attention,
    .describe = describe,
};
