/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_TRACE_TRACE_BUILD_H
#define KERF_TRACE_TRACE_BUILD_H

#include "trace/trace_events.h"

/* Makes the trace of what was read. */
int32_t trace_build(struct trace_reading *reading, int32_t step, struct kerf_trace **ret_trace, struct kerf_error *err);

#endif
