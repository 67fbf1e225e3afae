/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_CLI_MODEL_TABLE_H
#define KERF_CLI_MODEL_TABLE_H

#include "kerf/cost.h"

/* What kerf understood of a model, for a person: its size, its kinds of layers, where its parameters are. */
void model_table(struct kerf_text *out, const struct kerf_model *model, int64_t seq_length);

/* Tells on standard error which keys of a model's file are ignored, what was assumed, and what of the model the cost
 * model (NULL: none is asked) does not price. */
void model_notes(const struct kerf_model *model, const struct kerf_cost_model *cost_model);

#endif
