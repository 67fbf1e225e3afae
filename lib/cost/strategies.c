/* SPDX-License-Identifier: Apache-2.0 */
/* The table of strategies, and what holds of layouts of each: rules and text. */
#include "cost/strategy.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "spec/description.h"
#include "spec/layout.h"

extern const struct strategy strategy_1d, strategy_summa, strategy_seqp, strategy_hybrid;

static const struct strategy *const strategies[] = {
    [KERF_STRATEGY_1D] = &strategy_1d,
    [KERF_STRATEGY_SUMMA] = &strategy_summa,
    [KERF_STRATEGY_SEQP] = &strategy_seqp,
    [KERF_STRATEGY_HYBRID] = &strategy_hybrid,
};
_Static_assert(sizeof strategies / sizeof *strategies == KERF_STRATEGY_COUNT, "a row for each strategy");

const struct strategy *strategy_of(enum kerf_strategy strategy) {
    assert((uint32_t)strategy < KERF_STRATEGY_COUNT);
    return strategies[strategy];
}

const char *kerf_strategy_name(enum kerf_strategy strategy) { return strategy_of(strategy)->name; }

int32_t kerf_strategy_parse(const char *name, enum kerf_strategy *ret, struct kerf_error *err) {
    struct kerf_text known = {0};
    for (int i = 0; i < KERF_STRATEGY_COUNT; i++) {
        if (strcmp(strategies[i]->name, name) == 0) {
            *ret = (enum kerf_strategy)i;
            kerf_text_free(&known);
            return KERF_OK;
        }
        kerf_text_printf(&known, "%s%s",
                         i == 0                        ? ""
                         : i + 1 < KERF_STRATEGY_COUNT ? ", "
                                                       : " and ",
                         strategies[i]->name);
    }
    kerf_error_set(err, KERF_EUNKNOWN, "unknown strategy '%.64s'; there are %s", name,
                   known.failed ? "others" : known.data);
    kerf_text_free(&known);
    return KERF_EUNKNOWN;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

/* The rules that a layout must obey whatever its strategy; those of one strategy are in its file. */

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
