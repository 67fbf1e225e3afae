/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_RULES_ZERO_BUBBLE_H
#define KERF_SCHEDULE_RULES_ZERO_BUBBLE_H

#include "schedule/rules/rule.h"

/* Device i of a hand-made zero-bubble schedule: `warm_up` forwards, then I, W of the micro-batch `lag` before, F. */
void zero_bubble_device(struct builder *builder, int32_t i, int32_t warm_up, int32_t lag);

#endif
