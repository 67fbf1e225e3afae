/* SPDX-License-Identifier: Apache-2.0 */
/* kerf estimate --lines: a stream of requests. */
#include "cli/estimate_lines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"

enum { LINE_BYTES_MAX = 1 << 20, HELD_MAX = LINE_BYTES_MAX + 1 /* its end too */, FLUSH_BYTES = 1 << 16 };

struct stream {
    const char *default_cost_model;
    struct kerf_text out;
    int64_t line;
    int32_t broken; /* why nothing can be written any more, or KERF_OK */
    struct kerf_error err;
};

static void fail(struct stream *stream, const char *message) {
    struct kerf_json json;
    kerf_json_begin(&json, &stream->out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_open(&json, "error", '{');
    kerf_json_string(&json, "message", message);
    kerf_json_close(&json, '}');
    kerf_json_close(&json, '}');
}

static int32_t answer_request(struct stream *stream, const char *line, size_t length, struct kerf_error *err) {
    struct kerf_request request;
    const struct kerf_cost_model *cost_model;
    struct kerf_estimate estimate;
    struct kerf_layer layers[KERF_LAYERS_MAX];
    int32_t num_layers = 0;
    int32_t code = kerf_request_parse(line, length, "request", &request, err);
    if (code == KERF_OK)
        code = kerf_cost_model_find(request.cost_model[0] ? request.cost_model : stream->default_cost_model,
                                    &cost_model, err);
    if (code == KERF_OK) code = kerf_layout_estimate(cost_model, &request.problem, &request.layout, &estimate, err);
    if (code == KERF_OK && request.layers)
        code = kerf_layout_estimate_layers(cost_model, &request.problem, &estimate.layout, layers, &num_layers, err);
    if (code != KERF_OK) return code;
    struct kerf_json json;
    kerf_json_begin(&json, &stream->out);
    kerf_json_open(&json, NULL, '{');
    kerf_estimate_json(&json, &estimate, 0);
    if (request.layers) kerf_layers_json(&json, layers, num_layers);
    kerf_json_close(&json, '}');
    return KERF_OK;
}

static void flush(struct stream *stream) {
    if (!stream->broken) stream->broken = output_stream(&stream->out, &stream->err);
    kerf_text_clear(&stream->out);
}

static void answer_line(struct stream *stream, const char *line, size_t length) {
    stream->line++;
    if (length > 0 && line[length - 1] == '\r') length--;
    if (strspn(line, " \t") >= length) return; /* an empty line asks nothing */
    struct kerf_error err;
    if (answer_request(stream, line, length, &err) != KERF_OK) {
        char message[sizeof err.file + sizeof err.message + 32];
        if (err.file[0] == 0) memcpy(err.file, "request", sizeof "request"), err.column = 1;
        if (strcmp(err.file, "request") == 0) err.line = (int32_t)stream->line;
        kerf_error_format(&err, message, sizeof message);
        fail(stream, message);
    }
    kerf_text_add(&stream->out, "\n");
    if (stream->out.length >= FLUSH_BYTES) flush(stream);
}

/* Answers every whole line of buffer; returns how many bytes they were. */
static size_t answer_lines(struct stream *stream, char *buffer, size_t length) {
    size_t start = 0;
    for (char *end; !stream->broken && (end = memchr(buffer + start, '\n', length - start));) {
        *end = 0;
        answer_line(stream, buffer + start, (size_t)(end - (buffer + start)));
        start = (size_t)(end - buffer) + 1;
    }
    return start;
}

static int32_t serve(struct stream *stream, char *buffer) {
    size_t held = 0;
    int too_long = 0; /* the rest of a line that is passed over */
    for (;;) {
        flush(stream);
        if (stream->broken || interrupt_wait(STDIN_FILENO)) break;
        ssize_t got = read(STDIN_FILENO, buffer + held, HELD_MAX - held);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return kerf_error_set(&stream->err, KERF_EIO, "standard input: %s",
                                  errno == EBADF ? "it is closed" : strerror(errno));
        if (got == 0) {
            buffer[held] = 0;
            if (held > 0 && !too_long) answer_line(stream, buffer, held);
            break;
        }
        size_t fresh = held;
        held += (size_t)got;
        if (too_long) {
            char *end = memchr(buffer + fresh, '\n', (size_t)got);
            if (end == NULL) {
                held = 0;
                continue;
            }
            held -= (size_t)(end + 1 - buffer);
            memmove(buffer, end + 1, held);
            too_long = 0;
        }
        size_t used = answer_lines(stream, buffer, held);
        held -= used;
        memmove(buffer, buffer + used, held);
        if (held == HELD_MAX) {
            char message[96];
            snprintf(message, sizeof message, "request:%lld: a line of more than 1 MiB; it is passed over",
                     (long long)++stream->line);
            fail(stream, message);
            kerf_text_add(&stream->out, "\n");
            held = 0, too_long = 1;
        }
    }
    flush(stream);
    return stream->broken == KERF_EINTERRUPTED ? KERF_OK
                                               : stream->broken; /* a reader who has seen enough is no failure */
}

int estimate_lines(const char *default_cost_model) {
    static char buffer[HELD_MAX + 1];
    struct stream stream = {.default_cost_model = default_cost_model};
    const struct kerf_cost_model *cost_model;
    int32_t code = kerf_cost_model_find(default_cost_model, &cost_model, &stream.err);
    if (code != KERF_OK) return cli_fail(&stream.err);
    interrupt_catch();
    code = serve(&stream, buffer);
    kerf_text_free(&stream.out);
    if (code != KERF_OK) return cli_fail(&stream.err);
    return interrupted() ? EXIT_INTERRUPTED : EXIT_ANSWERED;
}
