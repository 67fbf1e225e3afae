/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that a layout must obey to carry a problem, whatever its strategy; those of one strategy are in its file. */
#include "cost/layout_rules.h"

#include <stdio.h>
#include <string.h>
#include "cost/strategies.h"
#include "spec/layout.h"
#include "spec/problem.h"

typedef long long ll;

int32_t problem_rules(const struct kerf_problem *problem, struct kerf_error *err) {
    int32_t code = problem_check(problem, err);
    if (code != KERF_OK) return code;
    if (strategy_of(problem->strategy)->has_attention(problem->attention)) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s attention is not for %s; use fused or unfused",
                          kerf_attention_name(problem->attention), kerf_strategy_name(problem->strategy));
}

/* "4 and 8 do": the divisors of `whole` around n that are at most `most`. */
static const char *nearest_divisors(int64_t whole, int64_t n, int64_t most, char words[48]) {
    struct divisors divisors;
    divisors_find(whole, &divisors);
    int64_t below = 0, above = 0;
    for (int32_t i = 0; i < divisors.count && divisors.of[i] <= most; i++) {
        if (divisors.of[i] < n) below = divisors.of[i];
        if (divisors.of[i] > n && above == 0) above = divisors.of[i];
    }
    if (below && above)
        snprintf(words, 48, "%lld and %lld do", (ll)below, (ll)above);
    else
        snprintf(words, 48, "%lld does", (ll)(below ? below : above));
    return words;
}

static int32_t must_divide(const char *key, int64_t n, int64_t whole, const char *noun, struct kerf_error *err) {
    char words[48];
    if (whole % n == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s %lld does not divide %lld %s; %s", key, (ll)n, (ll)whole, noun,
                          nearest_divisors(whole, n, whole, words));
}

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

int32_t kerf_layout_check(const struct kerf_problem *problem, const struct kerf_layout *layout,
                          struct kerf_error *err) {
    const struct kerf_model *model = &problem->model;
    const struct kerf_layout *l = layout;
    int32_t code = problem_rules(problem, err);
    if (code == KERF_OK) code = layout_check_ranges(layout, err);
    if (code != KERF_OK) return code;
    const struct strategy *strategy = strategy_of(problem->strategy);
    code = check_product(problem, layout, err);
    if (code == KERF_OK) code = must_divide("pp", l->pp, model->num_hidden_layers, "layers", err);
    if (code == KERF_OK) code = must_divide("tp1", l->tp1, model->num_attention_heads, "attention heads", err);
    if (code == KERF_OK) code = strategy->check(problem, layout, err);
    if (code == KERF_OK && l->tp2 > problem->seq_length)
        code = kerf_error_set(err, KERF_EINVALID, "tp2 %lld is more than the %lld tokens of a sample", (ll)l->tp2,
                              (ll)problem->seq_length);
    if (code == KERF_OK) code = must_divide("dp", l->dp, problem->global_batch, "samples of the global batch", err);
    if (code == KERF_OK)
        code = must_divide("micro_batch", l->micro_batch, problem->global_batch / l->dp, "samples of a replica", err);
    if (code != KERF_OK) return code;
    int64_t shards = strategy->sequence_shards(layout);
    if (l->micro_batch * problem->seq_length % shards != 0)
        return kerf_error_set(err, KERF_EINVALID, "the %lld tokens of a micro-batch do not divide into %lld shards",
                              (ll)(l->micro_batch * problem->seq_length), (ll)shards);
    return check_placement(problem, layout, err);
}

/* ---- Text ------------------------------------------------------------------------------------------------- */

void kerf_layout_text(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout) {
    const struct kerf_layout *l = layout;
    int64_t placed = l->scale_up.tp1 * l->scale_up.tp2 * l->scale_up.dp * l->scale_up.pp;
    kerf_text_printf(out, "dp=%lld,tp1=%lld", (ll)l->dp, (ll)l->tp1);
    if (l->tp2 > 1) kerf_text_printf(out, ",tp2=%lld", (ll)l->tp2);
    kerf_text_printf(out, ",pp=%lld", (ll)l->pp);
    if (l->micro_batch > 1) kerf_text_printf(out, ",micro_batch=%lld", (ll)l->micro_batch);
    if (l->summa_blocks) kerf_text_printf(out, ",summa_blocks=%lld", (ll)l->summa_blocks);
    if (placed == problem->gpus) return; /* all in one domain */
    /* Where the product is the domain, what is not named can only be 1; what is 0 is not chosen. */
    int64_t unsaid = placed == problem->system.scale_up.size ? 1 : 0;
    if (l->scale_up.tp1 > unsaid) kerf_text_printf(out, ",scale_up.tp1=%lld", (ll)l->scale_up.tp1);
    if (l->scale_up.tp2 > unsaid) kerf_text_printf(out, ",scale_up.tp2=%lld", (ll)l->scale_up.tp2);
    if (l->scale_up.dp > unsaid) kerf_text_printf(out, ",scale_up.dp=%lld", (ll)l->scale_up.dp);
    if (l->scale_up.pp > unsaid) kerf_text_printf(out, ",scale_up.pp=%lld", (ll)l->scale_up.pp);
}

enum kerf_strategy kerf_layout_strategy(const struct kerf_layout *layout) {
    return layout->summa_blocks > 0 ? KERF_STRATEGY_SUMMA : layout->tp2 > 1 ? KERF_STRATEGY_SEQP : KERF_STRATEGY_1D;
}
