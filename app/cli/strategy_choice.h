/* SPDX-License-Identifier: Apache-2.0 */
/* What --strategy and --cost-model say together: either implies the other, in kerf plan and in kerf estimate. */
#ifndef KERF_CLI_STRATEGY_CHOICE_H
#define KERF_CLI_STRATEGY_CHOICE_H

#include "kerf/kerf.h"

enum { STRATEGY_CHOICES_MAX = KERF_STRATEGY_COUNT * 4 };

struct strategy_choice {
    enum kerf_strategy of[STRATEGY_CHOICES_MAX];
    int32_t count;
    const struct kerf_cost_model *cost_model;
    const char *cost_model_name;
};

/* A list of strategies, or all, which is 1d, summa and seqp; and a cost model. NULL: not given. */
int32_t strategy_choose(const char *strategies, const char *cost_model, struct strategy_choice *ret_choice,
                        struct kerf_error *err);

/* The same for one layout, whose parts say the strategy where nothing else does. The layout is given back with
 * kerf_layout_release. */
int32_t strategy_of_layout(const char *layout_text, const char *strategy, const char *cost_model,
                           struct kerf_layout *ret_layout, struct strategy_choice *ret_choice, struct kerf_error *err);

#endif
