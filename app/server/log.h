/* SPDX-License-Identifier: Apache-2.0 */
/* One line per event on standard error: "2026-11-01T12:00:00.000Z info listening: http://127.0.0.1:8000", or as
 * JSON. */
#ifndef KERF_SERVER_LOG_H
#define KERF_SERVER_LOG_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "kerf/error.h"

struct log {
    int32_t json;
    int fd;
    int32_t is_quiet; /* 1: warnings and errors alone */
};

enum log_level { LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

void log_info(const struct log *log, const char *event, const char *format, ...) KERF_PRINTF(3, 4);
void log_warning(const struct log *log, const char *event, const char *format, ...) KERF_PRINTF(3, 4);
void log_error(const struct log *log, const char *event, const char *format, ...) KERF_PRINTF(3, 4);

/* A line about a request; as JSON each member is a field. NULL, 0 and "": not known. */
struct log_request {
    const char *method;
    const char *route; /* "/api/v1/jobs/{job_id}" */
    const char *path;  /* as it came, path_length bytes */
    size_t path_length;
    int32_t status;
    double duration_s;
    const char *client; /* an address */
    const char *job;
    int64_t trial;
    const char *token; /* its name */
    uint64_t count;    /* how many such events the line stands for; 0: it is not told */
};

/* message NULL: the line has only the request. */
void log_request(const struct log *log, enum log_level level, const char *event, const struct log_request *request,
                 const char *message);

/* Events that clients can cause in any number are written at most once a second, with their count. */
struct log_limit { /* zeros at first */
    _Atomic int64_t second;
    _Atomic uint64_t held;
};

/* The number of events that a line written now stands for, this one and those held back before it; 0: hold it back. */
uint64_t log_limit_take(struct log_limit *limit, double now_s);
/* The number of events that were held back and that no later one will tell; to be asked about once a second. */
uint64_t log_limit_rest(struct log_limit *limit, double now_s);

#endif
