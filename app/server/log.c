/* SPDX-License-Identifier: Apache-2.0 */
/* Each line is one write, so that threads don't mix theirs. */
#include "server/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "kerf/json.h"

static void write_line(const struct log *log, const char *level, const char *event, const char *message) {
    struct kerf_text line = {0};
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
        kerf_json_string(&json, "level", level);
        kerf_json_string(&json, "event", event);
        kerf_json_string(&json, "message", message);
        kerf_json_close(&json, '}');
    } else {
        kerf_text_printf(&line, "%s %s %s: ", when, level, event);
        for (const char *c = message; *c; c++) kerf_text_write(&line, (unsigned char)*c < ' ' ? " " : c, 1);
    }
    kerf_text_add(&line, "\n");
    if (!line.failed && write(log->fd, line.data, line.length) < 0) { /* nobody to tell */
    }
    kerf_text_free(&line);
}

static void write_format(const struct log *log, const char *level, const char *event, const char *format,
                         va_list list) {
    char message[1024];
    vsnprintf(message, sizeof message, format, list);
    write_line(log, level, event, message);
}

void log_info(const struct log *log, const char *event, const char *format, ...) {
    va_list list;
    va_start(list, format);
    write_format(log, "info", event, format, list);
    va_end(list);
}

void log_error(const struct log *log, const char *event, const char *format, ...) {
    va_list list;
    va_start(list, format);
    write_format(log, "error", event, format, list);
    va_end(list);
}
