/* SPDX-License-Identifier: Apache-2.0 */
#include "llama_stream.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE_MAX_BYTES = 1 << 20 };

static void fault(struct llama_stream *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fault(struct llama_stream *stream, const char *format, ...) {
    va_list args;
    if (stream->is_over) return;
    stream->is_over = 1;
    va_start(args, format);
    vsnprintf(stream->fault, sizeof stream->fault, format, args);
    va_end(args);
}

/* ---- Events -------------------------------------------------------------------------------------------------- */

/* {"error":{"message":"..."}}, or anything else, which is quoted. */
static void refused(struct llama_stream *stream, const char *text) {
    json_t *root = json_loads(text, 0, NULL);
    const json_t *error = json_object_get(root, "error");
    const char *message = json_string_value(json_object_get(error, "message"));
    fault(stream, "the server answers %d: %.120s", (int)stream->status, message ? message : text);
    json_decref(root);
}

static int read_count(const json_t *event, const char *key, int64_t *ret_count) {
    const json_t *value = json_object_get(event, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0) return 0;
    *ret_count = json_integer_value(value);
    return 1;
}

static void take_event(struct llama_stream *stream, const char *text) {
    json_t *event = json_loads(text, JSON_ALLOW_NUL, NULL); /* the last event has the prompt, with any bytes */
    if (!json_is_object(event)) {
        fault(stream, "an event of the server is no JSON object: %.100s", text);
    } else if (json_object_get(event, "error")) {
        refused(stream, text);
    } else {
        stream->events++;
        if (json_is_true(json_object_get(event, "stop"))) {
            if (!read_count(event, "tokens_predicted", &stream->tokens) ||
                !read_count(event, "tokens_evaluated", &stream->prompt_tokens))
                fault(stream, "the server's last event has no tokens_predicted or no tokens_evaluated");
            stream->is_over = 1;
        }
    }
    json_decref(event);
}

static void take_body_line(struct llama_stream *stream) {
    static const char data[] = "data:", error[] = "error:";
    const char *line = stream->body.data;
    if (stream->status != 200)
        refused(stream, line);
    else if (strncmp(line, data, sizeof data - 1) == 0)
        take_event(stream, line + sizeof data - 1);
    else if (strncmp(line, error, sizeof error - 1) == 0)
        refused(stream, line + sizeof error - 1);
    else
        fault(stream, "the server's answer is no stream of events: %.100s", line);
}

/* ---- Lines --------------------------------------------------------------------------------------------------- */

/* Adds a byte to a line. 1: the line is complete, without its end. */
static int add_byte(struct llama_stream *stream, struct kerf_text *line, char byte) {
    if (byte == '\n') {
        if (line->length > 0 && line->data[line->length - 1] == '\r') line->data[--line->length] = 0;
        return 1;
    }
    if (byte == 0 || line->length >= LINE_MAX_BYTES)
        fault(stream, "the server's answer has %s", byte ? "a line without an end" : "a NUL");
    else
        kerf_text_write(line, &byte, 1);
    if (line->failed) fault(stream, "not enough memory for the server's answer");
    return 0;
}

static const char *text_of(const struct kerf_text *line) { return line->length > 0 ? line->data : ""; }

/* ---- HTTP ---------------------------------------------------------------------------------------------------- */

static void take_head_line(struct llama_stream *stream) {
    static const char encoding[] = "transfer-encoding:";
    const char *line = text_of(&stream->head);
    if (stream->status == 0) {
        int status = 0;
        if (sscanf(line, "HTTP/1.%*1[01] %3d", &status) != 1 || status < 100)
            fault(stream, "the server's answer is not HTTP: %.100s", line);
        stream->status = status;
    } else if (*line == 0 && stream->status < 200) {
        stream->status = 0; /* 100 Continue: another head follows */
    } else if (*line == 0) {
        stream->part = stream->is_chunked ? STREAM_CHUNK_SIZE : STREAM_BODY;
    } else if (strncasecmp(line, encoding, sizeof encoding - 1) == 0) {
        stream->is_chunked |= strcasestr(line, "chunked") != NULL;
    }
}

static void take_size_line(struct llama_stream *stream) {
    const char *line = text_of(&stream->head);
    char *end;
    long long size = strtoll(line, &end, 16);
    if (end == line || size < 0 || size > INT32_MAX || (*end && *end != ';' && *end != ' '))
        fault(stream, "the size of a chunk is %.40s", *line ? line : "missing");
    else if (size == 0)
        llama_stream_end(stream);
    stream->left = size;
    stream->part = STREAM_CHUNK;
}

static void take_body_byte(struct llama_stream *stream, char byte) {
    if (!add_byte(stream, &stream->body, byte)) return;
    if (stream->body.length > 0) take_body_line(stream);
    kerf_text_clear(&stream->body);
}

static void take_byte(struct llama_stream *stream, char byte) {
    switch (stream->part) {
    case STREAM_HEAD:
    case STREAM_CHUNK_SIZE:
        if (!add_byte(stream, &stream->head, byte)) return;
        if (stream->part == STREAM_HEAD)
            take_head_line(stream);
        else
            take_size_line(stream);
        kerf_text_clear(&stream->head);
        return;
    case STREAM_BODY: take_body_byte(stream, byte); return;
    case STREAM_CHUNK:
        take_body_byte(stream, byte);
        if (--stream->left == 0) stream->part = STREAM_CHUNK_END;
        return;
    case STREAM_CHUNK_END:
        if (byte == '\n')
            stream->part = STREAM_CHUNK_SIZE;
        else if (byte != '\r')
            fault(stream, "a chunk of the server's answer is longer than its size");
        return;
    }
}

void llama_stream_feed(struct llama_stream *stream, const char *bytes, size_t length) {
    for (size_t i = 0; i < length && !stream->is_over; i++) take_byte(stream, bytes[i]);
}

void llama_stream_end(struct llama_stream *stream) {
    if (!stream->is_over && stream->body.length > 0) take_body_line(stream); /* an error's body may have no end */
    if (stream->status >= 200 && stream->status != 200) fault(stream, "the server answers %d", (int)stream->status);
    fault(stream, "the server closed the connection before its answer was complete");
}

void llama_stream_reset(struct llama_stream *stream) {
    struct kerf_text head = stream->head, body = stream->body;
    kerf_text_clear(&head);
    kerf_text_clear(&body);
    *stream = (struct llama_stream){.head = head, .body = body};
}

void llama_stream_free(struct llama_stream *stream) {
    kerf_text_free(&stream->head);
    kerf_text_free(&stream->body);
}
