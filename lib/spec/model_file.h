/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SPEC_MODEL_FILE_H
#define KERF_SPEC_MODEL_FILE_H

#include "base/json_read.h"
#include "kerf/spec.h"

/* Reads a model from a JSON object; name is its name when the object has none. */
int32_t model_from_object(const struct json_object *object, const char *name, struct kerf_model *ret_model,
                          struct kerf_error *err);

int model_has_field(const char *key);
/* Sets a field within its bounds; how fields go together is for model_refit, once all are set. */
int32_t model_set_field(struct kerf_model *model, const char *key, double value, struct kerf_error *err);
/* The fields that were set, as members of the object that is open, and as words with `gap` before the first. */
void model_overridden_json(struct kerf_json *json, const struct kerf_model *model);
void model_overridden_text(struct kerf_text *out, const struct kerf_model *model, const char *gap);
/* Makes the layers go with fields that were set; before is the model as it was. */
int32_t model_refit(const struct kerf_model *before, struct kerf_model *model, struct kerf_error *err);

int32_t model_check(const struct kerf_model *model, struct kerf_error *err);

#endif
