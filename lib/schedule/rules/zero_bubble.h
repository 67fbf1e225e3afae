/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_RULES_ZERO_BUBBLE_H
#define KERF_SCHEDULE_RULES_ZERO_BUBBLE_H

#include "schedule/rules/rule.h"

/* Device i of a hand-made zero-bubble schedule: `warm_up` forwards, then I, W of the micro-batch `lag` before, F. */
void zero_bubble_device(struct builder *builder, int32_t i, int32_t warm_up, int32_t lag);

/* The order of all devices with one stage each, in a cap of default_cap micro-batches where the times have none. */
int32_t zero_bubble_search(struct builder *builder, const struct kerf_schedule_request *request, int32_t default_cap,
                           struct kerf_error *err);

#endif
