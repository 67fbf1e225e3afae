/* SPDX-License-Identifier: Apache-2.0 */
/* One layout in full: every operation priced, every part summed. This is the plain way; layout_rows.c does the same for
 * millions of layouts and is held to it. */
#ifndef KERF_COST_REFERENCE_WHOLE_LAYOUT_H
#define KERF_COST_REFERENCE_WHOLE_LAYOUT_H

#include "kerf/cost.h"

void whole_layout_estimate(const struct kerf_problem *problem, const struct kerf_layout *layout,
                           struct kerf_estimate *ret_estimate);
int32_t whole_layout_layers(const struct kerf_problem *problem, const struct kerf_layout *layout,
                            struct kerf_layer layers[KERF_LAYERS_MAX]);

#endif
