/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profiler's trace has hundreds of megabytes, of which the pipeline's ranges are a thousandth. One pass over the text
 * finds where each event begins and ends, by brackets and quotes alone, and whether one of its strings begins with a
 * wanted word; only such an event is given to jansson, which has the last word on what JSON is. Memory is the text and
 * one event. The Chrome format has its events in "traceEvents" of an object, or in an array at the root.
 */
#include "trace/trace_json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/input.h"

struct scan {
    struct text_place place;
    const struct trace_visitor *visitor;
    int wanted; /* of the value that was skipped last */
    int found;
};

int32_t trace_fail(const struct text_place *place, int32_t code, struct kerf_error *err, const char *format, ...) {
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    kerf_error_set(err, code, "%s", message);
    if (err == NULL) return code;
    err->line = 1, err->column = 1;
    for (const char *c = place->text; c < place->at; c++) {
        if (*c == '\n')
            err->line++, err->column = 1;
        else
            err->column++;
    }
    error_set_file(err, place->source);
    return code;
}

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static const char *skip_space(const char *c, const char *end) {
    while (c < end && is_space(*c)) c++;
    return c;
}

static int32_t cut_off(struct scan *scan, const char *at, struct kerf_error *err) {
    scan->place.at = at;
    return trace_fail(&scan->place, KERF_ESYNTAX, err, "not valid JSON: the end is missing; was the trace cut off?");
}

static int32_t unexpected(struct scan *scan, const char *at, const char *what, struct kerf_error *err) {
    if (at >= scan->place.end) return cut_off(scan, at, err);
    scan->place.at = at;
    return trace_fail(&scan->place, KERF_ESYNTAX, err, "not valid JSON: %s is expected here", what);
}

/* Behind the string that begins at c; NULL when it does not end. */
static const char *skip_string(struct scan *scan, const char *c) {
    const char *end = scan->place.end;
    c++;
    for (size_t i = 0; i < scan->visitor->num_words && !scan->wanted; i++) {
        size_t length = strlen(scan->visitor->words[i]);
        scan->wanted = (size_t)(end - c) >= length && memcmp(c, scan->visitor->words[i], length) == 0;
    }
    while (c < end && *c != '"') c += *c == '\\' ? 2 : 1;
    return c < end ? c + 1 : NULL;
}

/* Behind the value that begins at c; NULL when it does not end. Brackets are counted, not matched. */
static const char *skip_value(struct scan *scan, const char *c) {
    const char *end = scan->place.end;
    int64_t depth = 0;
    scan->wanted = 0;
    do {
        c = skip_space(c, end);
        if (c >= end) return NULL;
        if (*c == '"') {
            c = skip_string(scan, c);
            if (c == NULL) return NULL;
        } else if (*c == '{' || *c == '[') {
            depth++, c++;
        } else if (*c == '}' || *c == ']') {
            if (--depth < 0) return c;
            c++;
        } else if (*c == ',' || *c == ':') {
            if (depth == 0) return c;
            c++;
        } else {
            while (c < end && !is_space(*c) && !strchr(",:]}[{\"", *c ? *c : 'x')) c++;
        }
    } while (depth > 0);
    return c;
}

static int32_t visit_event(struct scan *scan, const char *first, const char *last, struct kerf_error *err) {
    json_error_t error;
    scan->place.at = first;
    json_t *event = json_loadb(first, (size_t)(last - first), JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &error);
    if (event == NULL) {
        size_t at = error.position > 0 ? (size_t)error.position : 0;
        scan->place.at = at < (size_t)(last - first) ? first + at : last;
        return trace_fail(&scan->place, KERF_ESYNTAX, err, "not valid JSON: %s", error.text);
    }
    int32_t code = scan->visitor->event(scan->visitor->context, event, &scan->place, err);
    json_decref(event);
    return code;
}

/* The array that begins at *c. */
static int32_t visit_events(struct scan *scan, const char **c, struct kerf_error *err) {
    const char *end = scan->place.end, *at = skip_space(*c + 1, end);
    int32_t code = KERF_OK;
    scan->found = 1;
    if (at < end && *at == ']') {
        *c = at + 1;
        return KERF_OK;
    }
    while (code == KERF_OK) {
        at = skip_space(at, end);
        if (at >= end || *at != '{') return unexpected(scan, at, "an event {...}", err);
        const char *behind = skip_value(scan, at);
        if (behind == NULL) return cut_off(scan, at, err);
        if (scan->wanted) code = visit_event(scan, at, behind, err);
        at = skip_space(behind, end);
        if (at >= end || (*at != ',' && *at != ']'))
            return code == KERF_OK ? unexpected(scan, at, "',' or ']'", err) : code;
        if (*at++ == ']') break;
    }
    *c = at;
    return code;
}

static int32_t visit_member(struct scan *scan, const char **c, struct kerf_error *err) {
    const char *end = scan->place.end, *key = *c, *at;
    if (key >= end || *key != '"') return unexpected(scan, key, "a key in quotes", err);
    const char *behind = skip_string(scan, key);
    if (behind == NULL) return cut_off(scan, key, err);
    size_t length = (size_t)(behind - key) - 2;
    at = skip_space(behind, end);
    if (at >= end || *at != ':') return unexpected(scan, at, "':'", err);
    at = skip_space(at + 1, end);
    if (length == 11 && memcmp(key + 1, "traceEvents", 11) == 0) {
        if (at >= end || *at != '[') return unexpected(scan, at, "an array of events", err);
        *c = at;
        return visit_events(scan, c, err);
    }
    behind = skip_value(scan, at);
    if (behind == NULL || behind == at) return unexpected(scan, behind ? at : end, "a value", err);
    scan->place.at = at;
    *c = behind;
    return scan->visitor->member(scan->visitor->context, key + 1, length, at, (size_t)(behind - at), &scan->place, err);
}

/* The object that begins at *c. */
static int32_t visit_object(struct scan *scan, const char **c, struct kerf_error *err) {
    const char *end = scan->place.end;
    int32_t code = KERF_OK;
    *c = skip_space(*c + 1, end);
    if (*c < end && **c == '}') {
        ++*c;
        return KERF_OK;
    }
    while (code == KERF_OK) {
        *c = skip_space(*c, end);
        code = visit_member(scan, c, err);
        if (code != KERF_OK) break;
        *c = skip_space(*c, end);
        if (*c >= end || (**c != ',' && **c != '}')) return unexpected(scan, *c, "',' or '}'", err);
        if (*(*c)++ == '}') break;
    }
    return code;
}

int32_t trace_visit(const char *text, size_t length, const char *source, const struct trace_visitor *visitor,
                    int *ret_found, struct kerf_error *err) {
    struct scan scan = {.place = {text, text + length, source, text}, .visitor = visitor};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3; /* Windows' mark of UTF-8 */
    const char *c = skip_space(text, scan.place.end), *end = scan.place.end;
    int32_t code;
    if (c < end && *c == '[') {
        const char *first = skip_space(c + 1, end);
        *ret_found = first < end && *first == '{';
        if (!*ret_found) return KERF_OK; /* some other file */
        code = visit_events(&scan, &c, err);
    } else if (c < end && *c == '{') {
        code = visit_object(&scan, &c, err);
    } else {
        return unexpected(&scan, c, "a trace, an object {...}", err);
    }
    if (code == KERF_OK && skip_space(c, end) < end) code = unexpected(&scan, skip_space(c, end), "the end", err);
    if (code == KERF_OK) *ret_found = scan.found;
    return code;
}
