/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_TRACE_TRACE_CLOCK_H
#define KERF_TRACE_TRACE_CLOCK_H

#include "trace/trace_owned.h"

/* Shifts clocks or cuts waits off where operations start before their inputs; sets trace.clocks and trace.offset_s. Tells
 * in notes what it did. 0 when memory runs out. */
int trace_align_clocks(struct owned_trace *owned, struct kerf_text *notes);

#endif
