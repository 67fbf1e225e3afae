/* SPDX-License-Identifier: Apache-2.0 */
/* One line an event on standard error: "2026-11-01T12:00:00Z info listening on 127.0.0.1:8000", or as JSON. */
#ifndef KERF_SERVER_LOG_H
#define KERF_SERVER_LOG_H

#include <stdint.h>
#include "kerf/error.h"

struct log {
    int32_t json;
    int fd;
};

void log_info(const struct log *log, const char *event, const char *format, ...) KERF_PRINTF(3, 4);
void log_error(const struct log *log, const char *event, const char *format, ...) KERF_PRINTF(3, 4);

#endif
