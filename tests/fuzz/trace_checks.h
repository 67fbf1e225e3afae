/* SPDX-License-Identifier: Apache-2.0 */
/* A run that is read from memory: files one after the other, with a NUL between them. */
#ifndef KERF_FUZZ_RUN_CHECKS_H
#define KERF_FUZZ_RUN_CHECKS_H

#include "trace/trace_events.h"

/* Reads the files under these names (path and name alike), makes the run and its fit, and checks them. */
void check_run(const struct trace_format *format, const char *const *names, int32_t count, const uint8_t *data,
               size_t size);

#endif
