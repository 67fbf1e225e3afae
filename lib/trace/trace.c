/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a trace: which format its files have, and reading them one after the other. */
#include "base/error_fill.h"
#include "trace/trace_build.h"
#include "trace/trace_events.h"

static const struct trace_format *const formats[] = {&trace_megatron, &trace_torch};
enum { FORMATS = sizeof formats / sizeof *formats };
static const size_t FILE_BYTES_MAX = (size_t)4 << 30;

static const struct trace_format *recognise(const struct trace_file *files, size_t count) {
    for (size_t f = 0; f < FORMATS; f++)
        for (size_t i = 0; i < count; i++)
            if (formats[f]->recognises(files[i].name)) return formats[f];
    return NULL;
}

static int32_t unknown(const char *path, struct kerf_error *err) {
    struct kerf_text known = {0};
    for (size_t f = 0; f < FORMATS; f++)
        kerf_text_printf(&known, "%s%s (%s)", f ? ", or " : "", formats[f]->source, formats[f]->expected);
    kerf_error_set(err, KERF_EUNKNOWN, "no trace in it: expected %s", known.data ? known.data : "another");
    error_set_file(err, path);
    kerf_text_free(&known);
    return KERF_EUNKNOWN;
}

static int32_t read_files(struct trace_reading *reading, const struct trace_format *format,
                          const struct trace_file *files, size_t count, struct kerf_error *err) {
    struct kerf_text text = {0};
    int32_t code = KERF_OK;
    for (size_t i = 0; i < count && code == KERF_OK; i++) {
        if (!files[i].selected) continue;
        kerf_text_clear(&text);
        code = trace_file_read(&files[i], FILE_BYTES_MAX, &text, err);
        if (code == KERF_OK) code = format->read(reading, &files[i], text.data ? text.data : "", text.length, err);
        reading->files++;
    }
    kerf_text_free(&text);
    return code;
}

static int32_t load(struct trace_reading *reading, const char *path, struct kerf_error *err) {
    struct trace_file *files;
    size_t count;
    int32_t code = trace_files_list(path, &reading->arena, &files, &count, err);
    if (code != KERF_OK) return code;
    const struct trace_format *format = recognise(files, count);
    if (format == NULL) return unknown(path, err);
    reading->source = format->source;
    code = format->select(files, count, path, err);
    for (size_t i = 0; i < count && code == KERF_OK; i++)
        reading->ranks_left_out += !files[i].selected && format->recognises(files[i].name);
    if (code == KERF_OK) code = read_files(reading, format, files, count, err);
    if (code == KERF_OK && reading->traces == 0) return unknown(path, err);
    if (code == KERF_OK) {
        code = format->finish(reading, err);
        if (code != KERF_OK && err && err->file[0] == 0) error_set_file(err, path);
    }
    return code;
}

int32_t kerf_trace_load(const char *path, int32_t step, struct kerf_trace **ret_trace, struct kerf_error *err) {
    struct trace_reading reading = {.source = NULL};
    int32_t code = load(&reading, path, err);
    if (code == KERF_OK) {
        code = trace_build(&reading, step, ret_trace, err);
        if (code != KERF_OK && err && err->file[0] == 0) error_set_file(err, path);
    }
    trace_reading_free(&reading);
    return code;
}
