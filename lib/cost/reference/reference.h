/* SPDX-License-Identifier: Apache-2.0 */
/* The two ways of the reference to price layouts; both find the same numbers to the last bit. */
#ifndef KERF_COST_REFERENCE_REFERENCE_H
#define KERF_COST_REFERENCE_REFERENCE_H

#include "cost/cost_model.h"

/* whole_layout.c: one layout in full, every operation priced, every part summed. */
int whole_layout_estimate(const struct space *space, const struct kerf_layout *layout, struct arena *arena,
                          struct kerf_estimate *ret_estimate);
int32_t whole_layout_layers(const struct kerf_problem *problem, const struct kerf_layout *layout,
                            struct kerf_layer layers[KERF_LAYERS_MAX]);

/* layout_rows.c: many layouts, each distinct shape priced once. */
struct cost_pricer *rows_begin(const struct space *space, const struct cost_sink *sink, struct arena *arena);
int rows_enter(struct cost_pricer *pricer, int32_t level, const struct kerf_layout *prefix,
               struct cost_bound *ret_bound);
int rows_prepare(struct cost_pricer *pricer, const struct kerf_layout *variants, int32_t num_variants);
int rows_price(struct cost_pricer *pricer, struct cost_sink *sink);

#endif
