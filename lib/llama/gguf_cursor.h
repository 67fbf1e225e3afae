/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place in a GGUF file. The first failure is kept, with the byte where it was met, and everything after it reads as
 * 0: a reader asks once, at the end of a piece.
 */
#ifndef KERF_LLAMA_GGUF_CURSOR_H
#define KERF_LLAMA_GGUF_CURSOR_H

#include <stdio.h>
#include "base/arena.h"
#include "kerf/error.h"

struct gguf_cursor {
    FILE *file;
    const char *path; /* for errors */
    int64_t at, size;
    int32_t code; /* KERF_OK until the first failure */
    struct kerf_error err;
};

/* ret_cursor->code is KERF_OK where it could be opened. gguf_close gives it back. */
void gguf_open(struct gguf_cursor *ret_cursor, const char *path);
void gguf_close(struct gguf_cursor *cursor);

/* Keeps the failure, unless there is an earlier one: "... at byte 123". */
void gguf_fail(struct gguf_cursor *cursor, int64_t at, int32_t code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* count of things of at least `least` bytes each, read as 0 and a failure where the file is too short for them. */
int64_t gguf_count(struct gguf_cursor *cursor, int64_t least, const char *what);

void gguf_bytes(struct gguf_cursor *cursor, void *bytes, size_t size);
uint32_t gguf_u32(struct gguf_cursor *cursor);
uint64_t gguf_u64(struct gguf_cursor *cursor);
void gguf_skip(struct gguf_cursor *cursor, int64_t size);

/* A string with its length before it. gguf_name: of at most `most` bytes and UTF-8, else a failure. Both end it. */
char *gguf_text(struct gguf_cursor *cursor, struct arena *arena);
char *gguf_name(struct gguf_cursor *cursor, struct arena *arena, int64_t most, const char *what);
void gguf_skip_text(struct gguf_cursor *cursor);

#endif
