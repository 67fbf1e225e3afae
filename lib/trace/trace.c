/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a run: which format its files have, and reading them one after the other. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/input.h"
#include "trace/trace_events.h"
#include "trace/trace_owned.h"

static const struct trace_format *const formats[] = {&trace_megatron, &trace_torch};
enum { FORMATS = sizeof formats / sizeof *formats };
static const size_t FILE_BYTES_MAX = (size_t)4 << 30;

int trace_add_event(struct trace_reading *reading, const struct trace_event *event) {
    if (reading->num_events == reading->events_room) {
        size_t room = reading->events_room ? 2 * reading->events_room : 256;
        struct trace_event *more = reallocarray(reading->events, room, sizeof *more);
        if (more == NULL) return 0;
        reading->events = more, reading->events_room = room;
    }
    reading->events[reading->num_events++] = *event;
    return 1;
}

int32_t trace_add_rank(struct trace_reading *reading, const struct trace_rank *rank) {
    if (reading->num_ranks == reading->ranks_room) {
        size_t room = reading->ranks_room ? 2 * reading->ranks_room : 16;
        struct trace_rank *more = reallocarray(reading->ranks, room, sizeof *more);
        if (more == NULL) return -1;
        reading->ranks = more, reading->ranks_room = room;
    }
    reading->ranks[reading->num_ranks] = *rank;
    return (int32_t)reading->num_ranks++;
}

void trace_reading_free(struct trace_reading *reading) {
    free(reading->events);
    free(reading->ranks);
    kerf_text_free(&reading->notes);
    arena_free(&reading->arena);
    *reading = (struct trace_reading){.source = NULL};
}

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
    kerf_error_set(err, KERF_EUNKNOWN, "no run in it: expected %s", known.data ? known.data : "another");
    error_set_file(err, path);
    kerf_text_free(&known);
    return KERF_EUNKNOWN;
}

static int32_t read_files(struct trace_reading *reading, const struct trace_format *format, const struct trace_file *files,
                          size_t count, struct kerf_error *err) {
    struct kerf_text text = {0};
    int32_t code = KERF_OK;
    for (size_t i = 0; i < count && code == KERF_OK; i++) {
        if (!files[i].selected) continue;
        kerf_text_clear(&text);
        code = input_read(files[i].path, FILE_BYTES_MAX, &text, err);
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

int32_t kerf_trace_load(const char *path, int32_t step, struct kerf_trace **ret_run, struct kerf_error *err) {
    struct trace_reading reading = {.source = NULL};
    int32_t code = load(&reading, path, err);
    if (code == KERF_OK) {
        code = trace_build(&reading, step, ret_run, err);
        if (code != KERF_OK && err && err->file[0] == 0) error_set_file(err, path);
    }
    trace_reading_free(&reading);
    return code;
}

struct kerf_trace *kerf_trace_free(struct kerf_trace *run) {
    if (run == NULL) return NULL;
    struct owned_run *owned = (struct owned_run *)(void *)run;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}
