/* SPDX-License-Identifier: Apache-2.0 */
#include "llama/gguf_cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/input.h"
#include "base/utf8.h"

void gguf_fail(struct gguf_cursor *cursor, int64_t at, int32_t code, const char *format, ...) {
    if (cursor->code != KERF_OK) return;
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    utf8_clean(message); /* keys and names are the file's */
    cursor->code = code;
    if (at < 0)
        kerf_error_set(&cursor->err, code, "%s", message);
    else
        kerf_error_set(&cursor->err, code, "%s, at byte %" PRId64, message, at);
    error_set_file(&cursor->err, cursor->path);
}

void gguf_open(struct gguf_cursor *ret_cursor, const char *path) {
    struct stat status;
    *ret_cursor = (struct gguf_cursor){.path = path, .file = fopen(path, "rbe")};
    if (ret_cursor->file == NULL || fstat(fileno(ret_cursor->file), &status) != 0)
        gguf_fail(ret_cursor, -1, KERF_EIO, "%s", strerror(errno));
    else if (!S_ISREG(status.st_mode))
        gguf_fail(ret_cursor, -1, KERF_EIO, "not a file");
    else
        ret_cursor->size = status.st_size;
}

void gguf_close(struct gguf_cursor *cursor) {
    if (cursor->file) fclose(cursor->file);
    cursor->file = NULL;
}

static int has(struct gguf_cursor *cursor, int64_t size) {
    if (cursor->code == KERF_OK && size > cursor->size - cursor->at)
        gguf_fail(cursor, cursor->at, KERF_ESYNTAX, "the file ends within its header (was it copied to its end?)");
    return cursor->code == KERF_OK;
}

void gguf_bytes(struct gguf_cursor *cursor, void *bytes, size_t size) {
    memset(bytes, 0, size);
    if (!has(cursor, (int64_t)size)) return;
    if (fread(bytes, 1, size, cursor->file) != size)
        gguf_fail(cursor, cursor->at, KERF_EIO, "%s",
                  ferror(cursor->file) ? strerror(errno) : "the file became shorter");
    cursor->at += (int64_t)size;
}

uint32_t gguf_u32(struct gguf_cursor *cursor) {
    unsigned char b[4];
    gguf_bytes(cursor, b, sizeof b);
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

uint64_t gguf_u64(struct gguf_cursor *cursor) {
    uint64_t low = gguf_u32(cursor);
    return low | (uint64_t)gguf_u32(cursor) << 32;
}

int64_t gguf_count(struct gguf_cursor *cursor, int64_t least, const char *what) {
    int64_t at = cursor->at;
    uint64_t count = gguf_u64(cursor);
    if (cursor->code == KERF_OK && count > (uint64_t)((cursor->size - cursor->at) / least))
        gguf_fail(cursor, at, KERF_ESYNTAX,
                  "%" PRIu64 " %s, for which the file is too short (was it copied to its end?)", count, what);
    return cursor->code == KERF_OK ? (int64_t)count : 0;
}

/* Little is read, much is leapt over: a leap throws away what the stream has read ahead. */
void gguf_skip(struct gguf_cursor *cursor, int64_t size) {
    enum { LEAP = 1 << 16 };
    char scratch[4096];
    if (size > LEAP && has(cursor, size)) {
        if (fseeko(cursor->file, size, SEEK_CUR) != 0) gguf_fail(cursor, cursor->at, KERF_EIO, "%s", strerror(errno));
        cursor->at += size;
        return;
    }
    if (!has(cursor, size)) return;
    while (size > 0 && cursor->code == KERF_OK) {
        size_t part = size < (int64_t)sizeof scratch ? (size_t)size : sizeof scratch;
        gguf_bytes(cursor, scratch, part);
        size -= (int64_t)part;
    }
}

void gguf_skip_text(struct gguf_cursor *cursor) { gguf_skip(cursor, gguf_count(cursor, 1, "bytes of text")); }

char *gguf_text(struct gguf_cursor *cursor, struct arena *arena) {
    int64_t length = gguf_count(cursor, 1, "bytes of text");
    char *text = arena_take(arena, (size_t)length + 1, 1);
    if (text == NULL) return gguf_fail(cursor, -1, KERF_ENOMEM, "not enough memory"), NULL;
    gguf_bytes(cursor, text, (size_t)length);
    text[length] = 0;
    return text;
}

char *gguf_name(struct gguf_cursor *cursor, struct arena *arena, int64_t most, const char *what) {
    int64_t at = cursor->at;
    int64_t length = gguf_count(cursor, 1, "bytes of text");
    if (length > most) gguf_fail(cursor, at, KERF_ESYNTAX, "%s of %" PRId64 " bytes", what, length);
    if (cursor->code != KERF_OK) return NULL;
    char *text = arena_take(arena, (size_t)length + 1, 1);
    if (text == NULL) return gguf_fail(cursor, -1, KERF_ENOMEM, "not enough memory"), NULL;
    gguf_bytes(cursor, text, (size_t)length);
    text[length] = 0;
    for (int64_t i = 0; i < length;) {
        size_t step = utf8_code_point(text + i);
        if (step == 0 || text[i] == 0) {
            gguf_fail(cursor, at + 8 + i, KERF_ESYNTAX, "%s that is not UTF-8", what);
            return NULL;
        }
        i += (int64_t)step;
    }
    return text;
}
