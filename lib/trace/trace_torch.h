/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_TRACE_RUN_TORCH_H
#define KERF_TRACE_RUN_TORCH_H

#include "trace/trace_events.h"

/* What the name of a range says, "PP:1F3" or "ProfilerStep#4": 1 and the operation, its kind TRACE_NOTHING for what is of
 * no interest (sends with *ret_next_stage, UNSHARD, ...); 0 when the name is of another kind. */
int torch_parse_name(const char *name, struct kerf_op *ret_op, int32_t *ret_next_stage);

/* Leaves out what happened on another side (GPU, CPU), stream or within another operation, and sorts by rank and time.
 * 0 when memory runs out. */
int torch_choose_lanes(struct trace_reading *reading);

static inline int torch_is_compute(const struct trace_event *event) {
    return trace_is_operation(event) || event->op.kind == TRACE_OLD_WHOLE;
}

/* Chooses between GPU and CPU, streams and letters, and finds devices and steps. */
int32_t torch_finish(struct trace_reading *reading, struct kerf_error *err);

#endif
