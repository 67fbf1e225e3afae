/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_COST_STRATEGIES_H
#define KERF_COST_STRATEGIES_H

#include "cost/strategy.h"

/* The row of a strategy, which is one of those in the table. */
const struct strategy *strategy_of(enum kerf_strategy strategy);

#endif
