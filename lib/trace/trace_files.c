/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a run is in. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/error.h"
#include "base/input.h"
#include "trace/trace_events.h"

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

static int32_t compressed(const char *path, struct kerf_error *err) {
    return fail(path, KERF_EUNSUPPORTED, "a compressed trace; `gunzip` it first", err);
}

static int32_t list_folder(const char *path, struct arena *arena, struct trace_file **ret_files, size_t *ret_count,
                           struct kerf_error *err) {
    struct dirent **entries;
    int found = scandir(path, &entries, is_trace, alphasort);
    if (found < 0) return fail(path, KERF_EIO, strerror(errno), err);
    struct trace_file *files = arena_alloc(arena, (size_t)found + 1, sizeof *files);
    const char *packed = NULL;
    size_t count = 0;
    int good = files != NULL;
    for (int i = 0; i < found; i++) {
        char *name = good ? arena_strdup(arena, entries[i]->d_name) : NULL;
        char *whole = good ? arena_printf(arena, "%s/%s", path, entries[i]->d_name) : NULL;
        good = name && whole;
        if (good && ends_with(name, ".gz"))
            packed = packed ? packed : whole;
        else if (good)
            files[count++] = (struct trace_file){.path = whole, .name = name};
        free(entries[i]);
    }
    free(entries);
    if (!good) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the names of the run's files");
    if (count == 0 && packed) return compressed(packed, err);
    *ret_files = files;
    *ret_count = count;
    return KERF_OK;
}

int32_t trace_files_list(const char *path, struct arena *arena, struct trace_file **ret_files, size_t *ret_count,
                       struct kerf_error *err) {
    struct stat status;
    if (stat(path, &status) != 0)
        return fail(path, KERF_EIO, errno == ENOENT ? "no such file or folder" : strerror(errno), err);
    if (S_ISDIR(status.st_mode)) return list_folder(path, arena, ret_files, ret_count, err);
    if (ends_with(path, ".gz")) return compressed(path, err);
    const char *slash = strrchr(path, '/');
    struct trace_file *file = arena_alloc(arena, 1, sizeof *file);
    if (file == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the names of the run's files");
    *file = (struct trace_file){.path = path, .name = slash ? slash + 1 : path};
    *ret_files = file;
    *ret_count = 1;
    return KERF_OK;
}
