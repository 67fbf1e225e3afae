/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1d: tensor parallelism in one dimension, as Megatron-LM has it. Columns and rows of the weights alternate over tp1
 * accelerators, and the norms work on the tokens, spread over the same.
 */
#include "cost/tensor_space.h"

static int can_cut(const struct kerf_problem *problem, int64_t tp1, int64_t tp2) {
    (void)tp2;
    return 3 * problem->model.hidden_size / tp1 >= TENSOR_LEAST_WIDTH;
}

static int64_t sequence_shards(const struct kerf_layout *layout) { return layout->tp1; }

static int32_t check_own(const struct kerf_problem *problem, const struct kerf_layout *layout, struct kerf_error *err) {
    (void)problem;
    if (layout->tp2 != 1)
        return kerf_error_set(err, KERF_EINVALID, "tp2 must be 1 with 1d; use summa or seqp for tp2 %lld",
                              (long long)layout->tp2);
    if (layout->summa_blocks != 0)
        return kerf_error_set(err, KERF_EINVALID, "summa_blocks must be 0 without summa, not %lld",
                              (long long)layout->summa_blocks);
    return KERF_OK;
}

static const struct tensor_rules rules = {0, can_cut, sequence_shards, check_own, NULL};

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

static int is_plain(const struct kerf_layout *layout) {
    (void)layout;
    return 0;
}

static int has_attention(enum kerf_attention attention) { return attention != KERF_ATTENTION_SUMMA; }

static void describe(const struct kerf_problem *problem, const struct kerf_layout *layout,
                     struct cost_operations *ret_operations) {
    const struct kerf_model *model = &problem->model;
    int64_t b = layout->micro_batch, l = problem->seq_length, tp = layout->tp1;
    int64_t e = model->hidden_size, f = model->intermediate_size, h = model->num_attention_heads;
    struct attention_shape shape = {b * (h / tp), l, l, e / h, 1};
    struct describer at = {ret_operations, KERF_MODULE_MLP, tp, 1, 0};
    ret_operations->count = 0;

    describe_product(&at, COST_LINEAR_COLUMN, "fc1", b * l, f, e);
    describe_pointwise(&at, COST_BIAS, "fc1-bias", 1, b * l, f / tp);
    describe_pointwise(&at, COST_GELU, "act1", 1, b * l, f / tp);
    describe_pointwise(&at, COST_DROPOUT, "dpr1", 1, b * l, f / tp);
    describe_product(&at, COST_LINEAR_ROW, "fc2", b * l, e, f);
    describe_pointwise(&at, COST_BIAS, "fc2-bias", 1, b * l, e);
    describe_pointwise(&at, COST_DROPOUT, "dpr2", 1, b * (l / tp), e);
    describe_pointwise(&at, COST_LAYER_NORM, "ln1", b, l, e)->tp1 = tp;

    at.module = KERF_MODULE_SA;
    describe_product(&at, COST_LINEAR_COLUMN, "qkv", b * l, 3 * e, e);
    describe_attention(&at, problem->attention, &shape);
    describe_product(&at, COST_LINEAR_ROW, "vproj", b * l, e, e);
    describe_pointwise(&at, COST_BIAS, "vproj-bias", 1, b * l, e);
    describe_pointwise(&at, COST_DROPOUT, "dpr_v", 1, b * (l / tp), e);
    describe_pointwise(&at, COST_LAYER_NORM, "ln2", b, l, e)->tp1 = tp;
}

const struct strategy strategy_1d = {
    .name = "1d",
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
