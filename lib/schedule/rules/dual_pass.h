/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The eight phases that DualPipe and DualPipeV share (deepseek-ai/DualPipe, dualpipe.py and dualpipev.py): a device
 * takes turns between two passes, 0 and 1, which are the two directions of DualPipe and the two chunks of DualPipeV.
 */
#ifndef KERF_SCHEDULE_RULES_DUAL_PASS_H
#define KERF_SCHEDULE_RULES_DUAL_PASS_H

#include "schedule/rules/rule.h"

struct dual_pass {
    struct builder *b;
    int32_t device;
    int32_t ranks, rank;     /* on this side: p and i of DualPipeV, p/2 and the distance to the near end of DualPipe */
    int32_t count;           /* micro-batches of each pass */
    int32_t stage[2];        /* of pass 0 and 1 on this device */
    int32_t first[2];        /* their first micro-batches */
    int32_t f[2], back[2];   /* how many forwards and backwards were added */
    struct kerf_op *pending; /* [2 * count] backwards of the input whose weights are still to come, oldest first */
    int32_t pending_begin, pending_end;
};

void dual_pass_device(struct dual_pass *dual);

#endif
