/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of time as people write them: 12h, 30d, 52w. */
#ifndef KERF_CLI_SPAN_H
#define KERF_CLI_SPAN_H

#include "kerf/error.h"

/* "30d" as seconds, above 0. option: whose value it is, without its dashes. */
int32_t span_read(const char *option, const char *text, double *ret_span_s, struct kerf_error *err);

#endif
