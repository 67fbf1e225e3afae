/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that a layout of 1d, summa and seqp must obey; those of one of them are in its file. */
#include "cost/tensor_space.h"

typedef long long ll;

static int32_t check_product(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_error *err) {
    int64_t product = 0;
    int wide = __builtin_mul_overflow(l->dp, l->tp1, &product) || __builtin_mul_overflow(product, l->tp2, &product) ||
               __builtin_mul_overflow(product, l->pp, &product);
    if (wide || product > KERF_COUNT_MAX)
        return kerf_error_set(err, KERF_EINVALID,
                              "dp %lld x tp1 %lld x tp2 %lld x pp %lld are more than %lld accelerators", (ll)l->dp,
                              (ll)l->tp1, (ll)l->tp2, (ll)l->pp, (ll)KERF_COUNT_MAX);
    if (product != problem->gpus)
        return kerf_error_set(err, KERF_EINVALID,
                              "dp %lld x tp1 %lld x tp2 %lld x pp %lld is %lld accelerators, not %lld", (ll)l->dp,
                              (ll)l->tp1, (ll)l->tp2, (ll)l->pp, (ll)product, (ll)problem->gpus);
    return KERF_OK;
}

/* The members that are chosen; 0 is any. */
static int32_t check_placement(const struct kerf_problem *problem, const struct kerf_layout *l,
                               struct kerf_error *err) {
    const struct {
        const char *key;
        int64_t placed, all;
    } axes[] = {{"tp1", l->scale_up.tp1, l->tp1},
                {"tp2", l->scale_up.tp2, l->tp2},
                {"dp", l->scale_up.dp, l->dp},
                {"pp", l->scale_up.pp, l->pp}};
    int64_t placed = 1;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        char words[48];
        if (axes[i].placed == 0) continue;
        if (axes[i].all % axes[i].placed != 0)
            return kerf_error_set(err, KERF_EINVALID, "scale_up.%s %lld does not divide %s %lld; %s", axes[i].key,
                                  (ll)axes[i].placed, axes[i].key, (ll)axes[i].all,
                                  nearest_divisors(axes[i].all, axes[i].placed, axes[i].all, words));
        if (__builtin_mul_overflow(placed, axes[i].placed, &placed)) placed = INT64_MAX;
    }
    if (placed > problem->system.scale_up.size)
        return kerf_error_set(err, KERF_EINVALID, "scale_up places more than the %lld accelerators of a domain",
                              (ll)problem->system.scale_up.size);
    return KERF_OK;
}

int32_t tensor_check_problem(const struct kerf_problem *problem, struct kerf_error *err) {
    const struct kerf_model *model = &problem->model;
    if (model->hidden_size % model->num_attention_heads == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%lld heads do not divide hidden_size %lld",
                          (ll)model->num_attention_heads, (ll)model->hidden_size);
}

int32_t tensor_check(const struct kerf_problem *problem, const struct tensor_rules *rules,
                     const struct kerf_layout *layout, struct kerf_error *err) {
    const struct kerf_model *model = &problem->model;
    const struct kerf_layout *l = layout;
    int32_t code = check_product(problem, layout, err);
    if (code == KERF_OK) code = must_divide("pp", l->pp, model->num_hidden_layers, "layers", err);
    if (code == KERF_OK) code = must_divide("tp1", l->tp1, model->num_attention_heads, "attention heads", err);
    if (code == KERF_OK) code = rules->check(problem, layout, err);
    if (code == KERF_OK && l->tp2 > problem->seq_length)
        code = kerf_error_set(err, KERF_EINVALID, "tp2 %lld is more than the %lld tokens of a sample", (ll)l->tp2,
                              (ll)problem->seq_length);
    if (code == KERF_OK) code = must_divide("dp", l->dp, problem->global_batch, "samples of the global batch", err);
    if (code == KERF_OK)
        code = must_divide("micro_batch", l->micro_batch, problem->global_batch / l->dp, "samples of a replica", err);
    if (code != KERF_OK) return code;
    int64_t shards = rules->sequence_shards(layout);
    if (l->micro_batch * problem->seq_length % shards != 0)
        return kerf_error_set(err, KERF_EINVALID, "the %lld tokens of a micro-batch do not divide into %lld shards",
                              (ll)(l->micro_batch * problem->seq_length), (ll)shards);
    return check_placement(problem, layout, err);
}
