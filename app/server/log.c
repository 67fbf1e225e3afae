/* SPDX-License-Identifier: Apache-2.0 */
/* Each line is one write, so that lines of different threads do not mix. */
#include "server/log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "kerf/json.h"

static const char *const levels[] = {
    [LOG_LEVEL_INFO] = "info", [LOG_LEVEL_WARNING] = "warning", [LOG_LEVEL_ERROR] = "error"};

/* A path may hold any bytes but NUL. */
static void put_path(struct kerf_json *json, const struct log_request *request) {
    struct kerf_text path = {0};
    kerf_text_write(&path, request->path, request->path_length);
    kerf_json_string(json, "path", path.data);
    kerf_text_free(&path);
}

static void put_fields(struct kerf_json *json, const struct log_request *request) {
    if (request->method) kerf_json_string(json, "method", request->method);
    assert(request->path || request->path_length == 0);
    if (request->route) kerf_json_string(json, "route", request->route);
    if (request->path) put_path(json, request);
    if (request->status) kerf_json_integer(json, "status", request->status);
    if (request->method) kerf_json_number(json, "duration_s", request->duration_s);
    if (request->client) kerf_json_string(json, "client", request->client);
    if (request->job) kerf_json_string(json, "job", request->job);
    if (request->trial > 0) kerf_json_integer(json, "trial", request->trial);
    if (request->token) kerf_json_string(json, "token", request->token);
    if (request->count > 0) kerf_json_integer(json, "count", (int64_t)request->count);
}

static void put_words(struct kerf_text *out, const struct log_request *request) {
    if (request->method)
        kerf_text_printf(out, "%s %.*s %d %.3f ms", request->method, (int)request->path_length,
                         request->path ? request->path : "", (int)request->status, 1e3 * request->duration_s);
    if (request->client) kerf_text_printf(out, "%sfrom %s", out->length ? " " : "", request->client);
    if (request->count > 1) kerf_text_printf(out, "%s(%" PRIu64 " like it)", out->length ? " " : "", request->count);
}

static void write_line(const struct log *log, enum log_level level, const char *event, const char *message,
                       const struct log_request *request) {
    if (log->is_quiet && level == LOG_LEVEL_INFO) return;
    struct kerf_text line = {0}, words = {0};
    struct kerf_json json;
    struct timespec now;
    struct tm parts;
    char when[64];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t length = strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(when + length, sizeof when - length, ".%03dZ", (int)(now.tv_nsec / 1000000));
    if (log->json) {
        kerf_json_begin(&json, &line);
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "time", when);
        kerf_json_string(&json, "level", levels[level]);
        kerf_json_string(&json, "event", event);
        if (message) kerf_json_string(&json, "message", message);
        if (request) put_fields(&json, request);
        kerf_json_close(&json, '}');
    } else {
        if (request) put_words(&words, request);
        if (request && message) kerf_text_add(&words, ": ");
        if (message) kerf_text_add(&words, message);
        kerf_text_printf(&line, "%s %s %s: ", when, levels[level], event);
        for (const char *c = words.data; c && *c; c++) kerf_text_write(&line, (unsigned char)*c < ' ' ? " " : c, 1);
    }
    kerf_text_add(&line, "\n");
    if (!line.failed && write(log->fd, line.data, line.length) < 0) { /* nobody to tell */
    }
    kerf_text_free(&line);
    kerf_text_free(&words);
}

static void write_format(const struct log *log, enum log_level level, const char *event, const char *format,
                         va_list list) {
    char message[1024];
    vsnprintf(message, sizeof message, format, list);
    write_line(log, level, event, message, NULL);
}

void log_info(const struct log *log, const char *event, const char *format, ...) {
    va_list list;
    va_start(list, format);
    write_format(log, LOG_LEVEL_INFO, event, format, list);
    va_end(list);
}

void log_warning(const struct log *log, const char *event, const char *format, ...) {
    va_list list;
    va_start(list, format);
    write_format(log, LOG_LEVEL_WARNING, event, format, list);
    va_end(list);
}

void log_error(const struct log *log, const char *event, const char *format, ...) {
    va_list list;
    va_start(list, format);
    write_format(log, LOG_LEVEL_ERROR, event, format, list);
    va_end(list);
}

void log_request(const struct log *log, enum log_level level, const char *event, const struct log_request *request,
                 const char *message) {
    write_line(log, level, event, message, request);
}

/* ---- At most once a second ---------------------------------------------------------------------------------- */

uint64_t log_limit_take(struct log_limit *limit, double now_s) {
    int64_t second = (int64_t)now_s + 1; /* 0 is: never */
    if (atomic_exchange(&limit->second, second) != second) return 1 + atomic_exchange(&limit->held, 0);
    atomic_fetch_add(&limit->held, 1);
    return 0;
}

uint64_t log_limit_rest(struct log_limit *limit, double now_s) {
    if (atomic_load(&limit->second) >= (int64_t)now_s) return 0; /* the next line may still come soon */
    return atomic_exchange(&limit->held, 0);
}
