/* SPDX-License-Identifier: Apache-2.0 */
/* The table of cost models. */
#include <assert.h>
#include <string.h>
#include "cost/cost_model.h"
#include "cost/strategy.h"

extern const struct kerf_cost_model analytic_model, reference_model;

static const struct kerf_cost_model *const models[] = {&analytic_model, &reference_model};
enum { MODELS = sizeof models / sizeof *models };

size_t kerf_cost_model_count(void) { return MODELS; }
const char *kerf_cost_model_name(size_t index) { return index < MODELS ? models[index]->name : NULL; }
const char *kerf_cost_model_summary(size_t index) { return index < MODELS ? models[index]->summary : NULL; }

void kerf_cost_model_gaps(const struct kerf_cost_model *cost_model, const struct kerf_model *model,
                          struct kerf_text *out) {
    cost_model->gaps(model, out);
}

int32_t kerf_cost_model_has(const struct kerf_cost_model *cost_model, enum kerf_strategy strategy) {
    return strategy_of(strategy)->layouts == cost_model->layouts;
}

const struct kerf_cost_model *kerf_cost_model_of(enum kerf_strategy strategy) {
    size_t i = 0;
    while (i + 1 < MODELS && !kerf_cost_model_has(models[i], strategy)) i++;
    assert(kerf_cost_model_has(models[i], strategy));
    return models[i];
}

int32_t cost_model_check(const struct kerf_cost_model *cost_model, enum kerf_strategy strategy,
                         struct kerf_error *err) {
    struct kerf_text known = {0};
    if (kerf_cost_model_has(cost_model, strategy)) return KERF_OK;
    for (int s = 0; s < KERF_STRATEGY_COUNT; s++)
        if (kerf_cost_model_has(cost_model, (enum kerf_strategy)s))
            kerf_text_printf(&known, "%s%s", known.length ? ", " : "", kerf_strategy_name((enum kerf_strategy)s));
    kerf_error_set(err, KERF_EINVALID, "the cost model %s does not price strategy %s; it prices %s", cost_model->name,
                   kerf_strategy_name(strategy), known.failed || !known.data ? "others" : known.data);
    kerf_text_free(&known);
    return KERF_EINVALID;
}

int32_t kerf_cost_model_find(const char *name, const struct kerf_cost_model **ret_model, struct kerf_error *err) {
    for (size_t i = 0; i < MODELS; i++)
        if (strcmp(models[i]->name, name) == 0) {
            *ret_model = models[i];
            return KERF_OK;
        }
    struct kerf_text known = {0};
    for (size_t i = 0; i < MODELS; i++) kerf_text_printf(&known, "%s%s", i ? ", " : "", models[i]->name);
    kerf_error_set(err, KERF_EUNKNOWN, "unknown cost model '%.64s'; there is %s", name,
                   known.failed ? "another" : known.data);
    kerf_text_free(&known);
    return KERF_EUNKNOWN;
}
