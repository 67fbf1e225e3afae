/* SPDX-License-Identifier: Apache-2.0 */
/* The table of cost models. */
#include <string.h>
#include "cost/cost_model.h"

extern const struct kerf_cost_model reference_model;

static const struct kerf_cost_model *const models[] = {&reference_model};
enum { MODELS = sizeof models / sizeof *models };

size_t kerf_cost_model_count(void) { return MODELS; }
const char *kerf_cost_model_name(size_t index) { return index < MODELS ? models[index]->name : NULL; }
const char *kerf_cost_model_summary(size_t index) { return index < MODELS ? models[index]->summary : NULL; }

void kerf_cost_model_gaps(const struct kerf_cost_model *cost_model, const struct kerf_model *model,
                          struct kerf_text *out) {
    cost_model->gaps(model, out);
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
