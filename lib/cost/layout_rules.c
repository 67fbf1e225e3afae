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
    const struct strategy *strategy = strategy_of(problem->strategy);
    if (!strategy->has_attention(problem->attention))
        return kerf_error_set(err, KERF_EINVALID, "%s attention is not for %s; use %s",
                              kerf_attention_name(problem->attention), strategy->name,
                              strategy->has_attention(KERF_ATTENTION_UNFUSED) ? "fused or unfused" : "fused");
    return strategy->check_problem(problem, err);
}

int32_t kerf_layout_check(const struct kerf_problem *problem, const struct kerf_layout *layout,
                          struct kerf_error *err) {
    int32_t code = problem_rules(problem, err);
    if (code == KERF_OK) code = layout_check_ranges(layout, err);
    if (code != KERF_OK) return code;
    const struct strategy *strategy = strategy_of(problem->strategy);
    enum layout_kind kind = layout_is_hybrid(layout) ? LAYOUT_HYBRID : LAYOUT_TENSOR;
    if (kind != strategy->layouts)
        return kerf_error_set(err, KERF_EINVALID, "a layout with %s is not one of %s, whose layouts have %s",
                              kind == LAYOUT_HYBRID ? "tp" : "tp1", strategy->name,
                              kind == LAYOUT_HYBRID ? "tp1" : "tp");
    return strategy->check(problem, layout, err);
}

/* ---- Text ------------------------------------------------------------------------------------------------- */

void kerf_layout_text(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout) {
    const struct kerf_layout *l = layout;
    if (layout_is_hybrid(layout)) {
        layout_hybrid_text(out, layout);
        return;
    }
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
    if (layout_is_hybrid(layout)) return KERF_STRATEGY_HYBRID;
    return layout->summa_blocks > 0 ? KERF_STRATEGY_SUMMA : layout->tp2 > 1 ? KERF_STRATEGY_SEQP : KERF_STRATEGY_1D;
}
