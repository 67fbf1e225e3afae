/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SCHEDULE_RULES_SLOT_LIST_H
#define KERF_SCHEDULE_RULES_SLOT_LIST_H

#include "schedule/rules/rule.h"

/* An operation that could run. */
struct slot_op {
    int32_t device, replica, stage, unit; /* the unit counts within its replica */
    int32_t back;                         /* 0: F; 1: B, or I of split ones; 2: W */
};

struct slot_list {
    int32_t split;     /* 1: I and W of a slot each; 0: B of two slots */
    int32_t in_flight; /* micro-batches of a replica between F and B of its first stage; 0: any number */
    int32_t cap;       /* stages' activations that a device may hold; 0: any number */
    int64_t (*priority)(const void *context, const struct slot_op *op); /* the least runs first */
    const void *context;
};

/* Orders all devices of the placement: in every slot each device that is free runs the operation with the least
 * priority of those that can run. KERF_EINFEASIBLE where nothing can run any more. */
int32_t slot_list_run(struct builder *builder, enum kerf_placement placement, const struct slot_list *list,
                      struct kerf_error *err);

#endif
