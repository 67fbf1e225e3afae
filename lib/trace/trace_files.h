/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a trace is in, and their text. */
#ifndef KERF_TRACE_TRACE_FILES_H
#define KERF_TRACE_TRACE_FILES_H

#include "base/arena.h"
#include "kerf/text.h"

struct trace_file {
    const char *path;
    const char *name; /* without folders, and without the .gz of a compressed file */
    int32_t selected;
};

/* The files of a folder whose names end with .json or .json.gz, sorted by name, or the one file; in the arena. A file
 * that is there compressed too is listed once. */
int32_t trace_files_list(const char *path, struct arena *arena, struct trace_file **ret_files, size_t *ret_count,
                         struct kerf_error *err);

/* Reads a file into text, decompressed where its name ends with .gz; of more than limit bytes it is refused. */
int32_t trace_file_read(const struct trace_file *file, size_t limit, struct kerf_text *text, struct kerf_error *err);

#endif
