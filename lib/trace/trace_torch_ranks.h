/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_TRACE_TRACE_TORCH_RANKS_H
#define KERF_TRACE_TRACE_TORCH_RANKS_H

#include "trace/trace_events.h"

/* Chooses between GPU and CPU, streams and letters, and finds devices and steps. */
int32_t torch_finish(struct trace_reading *reading, struct kerf_error *err);

#endif
