/* SPDX-License-Identifier: Apache-2.0 */
/* The layers of a model in JSON, as kerf understood them: what an answer carries along, so that it can be used where the
 * model's file is not at hand. One list of members serves writing and reading. */
#ifndef KERF_SPEC_MODEL_SHAPE_H
#define KERF_SPEC_MODEL_SHAPE_H

#include "base/json_read.h"
#include "kerf/model.h"

/* Reads what kerf_model_shape_json wrote; all ranges that model.h promises are checked. */
int32_t model_shape_read(const struct json_object *shape, struct kerf_model *ret_model, struct kerf_error *err);

#endif
