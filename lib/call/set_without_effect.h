/* SPDX-License-Identifier: Apache-2.0 */
/* What --set sets in vain: without it, the layouts of the answer cost the same. */
#ifndef KERF_CALL_SET_WITHOUT_EFFECT_H
#define KERF_CALL_SET_WITHOUT_EFFECT_H

#include "base/option.h"
#include "kerf/cost.h"

/* Whether the answer is the same with these values of --set in place of those that were given. */
typedef int (*set_same_answer)(void *context, const struct string_list *sets);

/* Adds the assignments without each of which the answer is the same, "a=1, b=2"; nothing where each changes something. */
void set_without_effect_find(const struct string_list *sets, set_same_answer is_same, void *context,
                             struct kerf_text *ret_sets);

/* "set_without_effect":["a=1","b=2"], where there are any. */
void set_without_effect_json(struct kerf_json *json, const struct kerf_text *sets);

/* Whether the layout of an estimate costs the same as another problem's. */
int set_same_cost(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                  const struct kerf_problem *other, const struct kerf_estimate *estimate);

#endif
