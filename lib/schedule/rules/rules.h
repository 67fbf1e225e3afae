/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_RULES_RULES_H
#define KERF_SCHEDULE_RULES_RULES_H

#include "schedule/rules/rule.h"

/* The rules one after the other; NULL behind the last. */
const struct rule *rules_at(size_t index);

/* How many stages the request's model has by the rule, whose name the request does not say. */
int32_t rule_stages(const struct rule *rule, const struct kerf_schedule_request *request, int32_t *ret_stages,
                    struct kerf_error *err);

/* Makes a schedule by the rule, whatever name the request says. Errors as kerf_schedule_make. */
int32_t rule_make(const struct rule *rule, const struct kerf_schedule_request *request,
                  struct kerf_schedule **ret_schedule, struct kerf_error *err);

#endif
