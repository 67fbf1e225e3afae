/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/strategy_choice.h"

#include <stdio.h>
#include <string.h>
#include "cli/ranges.h"

static int32_t add_strategy(void *context, const char *word, struct kerf_error *err) {
    struct strategy_choice *choice = context;
    enum kerf_strategy strategy = KERF_STRATEGY_1D;
    int all = strcmp(word, "all") == 0;
    if (!all) {
        int32_t code = kerf_strategy_parse(word, &strategy, err);
        if (code != KERF_OK) return code;
    }
    for (int s = 0; s < KERF_STRATEGY_COUNT; s++) {
        if (all ? s == KERF_STRATEGY_HYBRID : s != (int)strategy) continue;
        if (choice->count == STRATEGY_CHOICES_MAX)
            return kerf_error_set(err, KERF_EINVALID, "--strategy names too many");
        choice->of[choice->count++] = (enum kerf_strategy)s;
    }
    return KERF_OK;
}

/* "hybrid goes with --cost-model analytic; 1d, summa and seqp with reference" */
static int32_t refuse_pair(const char *what, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID,
                          "%s: strategy hybrid goes with --cost-model analytic; 1d, summa and seqp go with reference",
                          what);
}

static int32_t check_pairs(const struct strategy_choice *choice, const char *cost_model, struct kerf_error *err) {
    for (int32_t i = 0; i < choice->count; i++) {
        char what[128];
        if (kerf_cost_model_has(choice->cost_model, choice->of[i])) continue;
        if (cost_model)
            snprintf(what, sizeof what, "--strategy %s and --cost-model %.32s do not go together",
                     kerf_strategy_name(choice->of[i]), cost_model);
        else
            snprintf(what, sizeof what, "--strategy %s and %s are priced by different cost models",
                     kerf_strategy_name(choice->of[0]), kerf_strategy_name(choice->of[i]));
        return refuse_pair(what, err);
    }
    return KERF_OK;
}

static const char *name_of(const struct kerf_cost_model *cost_model) {
    for (size_t i = 0; i < kerf_cost_model_count(); i++) {
        const struct kerf_cost_model *one;
        const char *name = kerf_cost_model_name(i);
        if (kerf_cost_model_find(name, &one, NULL) == KERF_OK && one == cost_model) return name;
    }
    return "";
}

int32_t strategy_choose(const char *strategies, const char *cost_model, struct strategy_choice *ret_choice,
                        struct kerf_error *err) {
    struct strategy_choice choice = {.count = 0};
    int32_t code = KERF_OK;
    if (cost_model) code = kerf_cost_model_find(cost_model, &choice.cost_model, err);
    if (code == KERF_OK && (strategies || !cost_model))
        code = words_each(strategies ? strategies : kerf_strategy_name(KERF_STRATEGY_HYBRID), "--strategy",
                          add_strategy, &choice, err);
    for (int s = 0; code == KERF_OK && !strategies && cost_model && s < KERF_STRATEGY_COUNT; s++)
        if (kerf_cost_model_has(choice.cost_model, (enum kerf_strategy)s))
            choice.of[choice.count++] = (enum kerf_strategy)s;
    if (code == KERF_OK && !cost_model) choice.cost_model = kerf_cost_model_of(choice.of[0]);
    if (code == KERF_OK) code = check_pairs(&choice, cost_model, err);
    if (code != KERF_OK) return code;
    choice.cost_model_name = name_of(choice.cost_model);
    *ret_choice = choice;
    return KERF_OK;
}

int32_t strategy_of_layout(const char *layout_text, const char *strategy, const char *cost_model,
                           struct kerf_layout *ret_layout, struct strategy_choice *ret_choice, struct kerf_error *err) {
    struct kerf_layout layout;
    int32_t code;
    if (strategy || cost_model) {
        code = strategy_choose(strategy, cost_model, ret_choice, err);
        if (code == KERF_OK) code = kerf_layout_parse_as(layout_text, ret_choice->of[0], &layout, err);
    } else {
        code = kerf_layout_parse(layout_text, &layout, err);
    }
    if (code != KERF_OK) return code;
    if (!strategy) { /* the layout says which of those that go with the cost model */
        code = strategy_choose(kerf_strategy_name(kerf_layout_strategy(&layout)), cost_model, ret_choice, err);
        if (code != KERF_OK) kerf_layout_release(&layout);
    }
    if (code == KERF_OK) *ret_layout = layout;
    return code;
}
