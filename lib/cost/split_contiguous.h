/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_COST_SPLIT_CONTIGUOUS_H
#define KERF_COST_SPLIT_CONTIGUOUS_H

#include "base/arena.h"
#include "cost/split_value.h"

/* The best split where every device has one virtual stage, whatever the runs. 0 when memory ran out. ret_is_exact 0: there
 * are too many layers. */
int split_contiguous(const struct stage_split_question *question, struct arena *arena, int32_t *ret_layers,
                     int32_t *ret_is_exact);

#endif
