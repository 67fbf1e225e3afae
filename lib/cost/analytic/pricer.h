/* SPDX-License-Identifier: Apache-2.0 */
/* Many layouts of the cost model "analytic", as cost_model.h asks for them. */
#ifndef KERF_COST_ANALYTIC_PRICER_H
#define KERF_COST_ANALYTIC_PRICER_H

#include "cost/cost_model.h"

struct cost_pricer *pricer_begin(const struct space *space, const struct cost_sink *sink, struct arena *arena);
void pricer_end(struct cost_pricer *pricer);
int pricer_enter(struct cost_pricer *pricer, int32_t level, const struct kerf_layout *prefix,
                 struct cost_bound *ret_bound);
int pricer_prepare(struct cost_pricer *pricer, const struct kerf_layout *variants, int32_t num_variants);
int pricer_price(struct cost_pricer *pricer, struct cost_sink *sink);

#endif
