/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a trace: which format its files have, and reading them one after the other. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include "base/error_fill.h"
#include "base/input.h"
#include "trace/trace_events.h"

/* ---- Files ----------------------------------------------------------------------------------------------------- */

static int ends_with(const char *name, const char *end) {
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

static int is_trace(const struct dirent *entry) {
    return entry->d_name[0] != '.' && (ends_with(entry->d_name, ".json") || ends_with(entry->d_name, ".json.gz"));
}

static int32_t fail(const char *path, int32_t code, const char *what, struct kerf_error *err) {
    kerf_error_set(err, code, "%s", what);
    error_set_file(err, path);
    return code;
}

static int is_compressed(const char *name) { return ends_with(name, ".gz"); }

/* A name without .gz; NULL when memory runs out. */
static char *plain_name(struct arena *arena, const char *name) {
    char *copy = arena_strdup(arena, name);
    if (copy && is_compressed(copy)) copy[strlen(copy) - strlen(".gz")] = 0;
    return copy;
}

static int32_t list_folder(const char *path, struct arena *arena, struct trace_file **ret_files, size_t *ret_count,
                           struct kerf_error *err) {
    struct dirent **entries;
    int found = scandir(path, &entries, is_trace, alphasort);
    if (found < 0) return fail(path, KERF_EIO, strerror(errno), err);
    struct trace_file *files = arena_alloc(arena, (size_t)found + 1, sizeof *files);
    size_t count = 0;
    int good = files != NULL;
    for (int i = 0; i < found; i++) {
        char *name = good ? plain_name(arena, entries[i]->d_name) : NULL;
        char *whole = good ? arena_printf(arena, "%s/%s", path, entries[i]->d_name) : NULL;
        good = name && whole;
        const int again = good && count > 0 && strcmp(files[count - 1].name, name) == 0; /* x.json before x.json.gz */
        if (good && !again) files[count++] = (struct trace_file){.path = whole, .name = name};
        free(entries[i]);
    }
    free(entries);
    if (!good) return error_no_memory(err, "the names of the trace's files");
    *ret_files = files;
    *ret_count = count;
    return KERF_OK;
}

/* The files of a folder whose names end with .json or .json.gz, sorted by name, or the one file; in the arena. A file
 * that is there compressed too is listed once. */
static int32_t trace_files_list(const char *path, struct arena *arena, struct trace_file **ret_files, size_t *ret_count,
                                struct kerf_error *err) {
    struct stat status;
    if (stat(path, &status) != 0)
        return fail(path, KERF_EIO, errno == ENOENT ? "no such file or folder" : strerror(errno), err);
    if (S_ISDIR(status.st_mode)) return list_folder(path, arena, ret_files, ret_count, err);
    const char *slash = strrchr(path, '/');
    struct trace_file *file = arena_alloc(arena, 1, sizeof *file);
    char *name = plain_name(arena, slash ? slash + 1 : path);
    if (file == NULL || name == NULL) return error_no_memory(err, "the names of the trace's files");
    *file = (struct trace_file){.path = path, .name = name};
    *ret_files = file;
    *ret_count = 1;
    return KERF_OK;
}

/* ---- Reading ---------------------------------------------------------------------------------------------- */

static int32_t too_large(const char *path, size_t limit, struct kerf_error *err) {
    kerf_error_set(err, KERF_EIO, "larger than the %zu MiB that a trace may have when it is decompressed", limit >> 20);
    error_set_file(err, path);
    return KERF_EIO;
}

/* Bytes are counted as they come out, so that a small file cannot fill the memory. */
static int32_t decompress(gzFile packed, const char *path, size_t limit, struct kerf_text *text,
                          struct kerf_error *err) {
    static const unsigned CHUNK = 1 << 16;
    char *chunk = malloc(CHUNK);
    int32_t code = chunk ? KERF_OK : fail(path, KERF_ENOMEM, "not enough memory to read it", err);
    while (code == KERF_OK) {
        const int got = gzread(packed, chunk, CHUNK);
        if (got < 0) code = fail(path, KERF_ESYNTAX, "not a gzip file, or damaged", err);
        if (got <= 0) break;
        if (text->length + (size_t)got > limit) code = too_large(path, limit, err);
        if (code == KERF_OK) kerf_text_write(text, chunk, (size_t)got);
        if (text->failed) code = fail(path, KERF_ENOMEM, "not enough memory to read it", err);
    }
    free(chunk);
    return code;
}

int32_t trace_file_read(const struct trace_file *file, size_t limit, struct kerf_text *text, struct kerf_error *err) {
    if (file->text) {
        if (file->length > limit) return too_large(file->path, limit, err);
        kerf_text_write(text, file->text, file->length);
        return text->failed ? fail(file->path, KERF_ENOMEM, "not enough memory to read it", err) : KERF_OK;
    }
    struct stat status;
    if (stat(file->path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) /* it may never end */
        return fail(file->path, KERF_EIO, "a pipe or a device, not a file", err);
    if (!is_compressed(file->path)) return input_read(file->path, limit, text, err);
    gzFile packed = gzopen(file->path, "rbe");
    if (packed == NULL) return fail(file->path, KERF_EIO, strerror(errno), err);
    int32_t code = gzdirect(packed) ? fail(file->path, KERF_ESYNTAX, "not a gzip file, although it ends with .gz", err)
                                    : decompress(packed, file->path, limit, text, err);
    if (gzclose(packed) == Z_BUF_ERROR && code == KERF_OK)
        code = fail(file->path, KERF_ESYNTAX, "the compressed file is cut off", err);
    return code;
}

/* ---- The formats ----------------------------------------------------------------------------------------------- */

static const struct trace_format *const formats[] = {&trace_megatron, &trace_torch};
enum { FORMATS = sizeof formats / sizeof *formats };
static const size_t FILE_BYTES_MAX = (size_t)1 << 30;

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

static int32_t load(struct trace_reading *reading, struct trace_file *files, size_t count, const char *path,
                    struct kerf_error *err) {
    const struct trace_format *format = recognise(files, count);
    if (format == NULL) return unknown(path, err);
    reading->source = format->source;
    int32_t code = format->select(files, count, path, err);
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

static int32_t build(struct trace_reading *reading, struct trace_file *files, size_t count, const char *path,
                     int32_t step, struct kerf_trace **ret_trace, struct kerf_error *err) {
    int32_t code = load(reading, files, count, path, err);
    if (code == KERF_OK) {
        code = trace_build(reading, step, ret_trace, err);
        if (code != KERF_OK && err && err->file[0] == 0) error_set_file(err, path);
    }
    trace_reading_free(reading);
    return code;
}

int32_t kerf_trace_load(const char *path, int32_t step, struct kerf_trace **ret_trace, struct kerf_error *err) {
    struct trace_reading reading = {.source = NULL};
    struct trace_file *files = NULL;
    size_t count = 0;
    int32_t code = trace_files_list(path, &reading.arena, &files, &count, err);
    if (code == KERF_OK) return build(&reading, files, count, path, step, ret_trace, err);
    trace_reading_free(&reading);
    return code;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct trace_file *)a)->name, ((const struct trace_file *)b)->name);
}

int32_t kerf_trace_parse(const struct kerf_trace_text *texts, size_t count, const char *name, int32_t step,
                         struct kerf_trace **ret_trace, struct kerf_error *err) {
    struct trace_reading reading = {.source = NULL};
    struct trace_file *files = arena_alloc(&reading.arena, count + 1, sizeof *files);
    int32_t code = files ? KERF_OK : error_no_memory(err, "the trace");
    for (size_t i = 0; code == KERF_OK && i < count; i++) {
        const char *slash = strrchr(texts[i].name, '/'), *plain = slash ? slash + 1 : texts[i].name;
        files[i] = (struct trace_file){
            .path = plain, .name = plain_name(&reading.arena, plain), .text = texts[i].text, .length = texts[i].length};
        if (files[i].name == NULL) code = error_no_memory(err, "the trace");
    }
    if (code == KERF_OK) {
        qsort(files, count, sizeof *files, by_name);
        return build(&reading, files, count, name, step, ret_trace, err);
    }
    trace_reading_free(&reading);
    return code;
}
