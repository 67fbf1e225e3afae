/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_RULES_V_PATTERN_H
#define KERF_SCHEDULE_RULES_V_PATTERN_H

#include "schedule/rules/rule.h"

/* Slots of micro-batch 0 on device i in its four passes: F down, F up, I down, I up. Micro-batch j runs 6 j later, and
 * no two of a device's six slots of a period may be the same. */
typedef void (*v_pattern)(const void *context, int32_t p, int32_t i, int32_t slots[4]);

/* The order of all devices that the pattern makes when it is moved together at both ends. */
int32_t v_pattern_search(struct builder *builder, v_pattern pattern, const void *context, struct kerf_error *err);

#endif
