/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 1952 by zlib. Several members one behind the other are one input, as for gunzip. */
#include "base/unpack.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>
#include "base/error_fill.h"

static int32_t fail(const char *name, int32_t code, const char *what, struct kerf_error *err) {
    kerf_error_set(err, code, "%s", what);
    error_set_file(err, name);
    return code;
}

static int begins_member(const struct kerf_text *packed, size_t at) {
    return packed->length - at >= 2 && memcmp(packed->data + at, "\x1f\x8b", 2) == 0;
}

static int32_t inflate_all(const char *name, size_t limit, const struct kerf_text *packed, z_stream *stream,
                           struct kerf_text *plain, struct kerf_error *err) {
    unsigned char chunk[16384];
    for (size_t at = 0;;) {
        const size_t left = packed->length - at;
        stream->next_in = (unsigned char *)packed->data + at;
        stream->avail_in = left > UINT_MAX ? UINT_MAX : (unsigned)left;
        stream->next_out = chunk;
        stream->avail_out = sizeof chunk;
        const unsigned given = stream->avail_in;
        const int state = inflate(stream, Z_NO_FLUSH);
        const size_t got = sizeof chunk - stream->avail_out;
        at += given - stream->avail_in;
        if (state == Z_MEM_ERROR) return fail(name, KERF_ENOMEM, "not enough memory to read it", err);
        if (state == Z_BUF_ERROR) return fail(name, KERF_ESYNTAX, "the compressed file is cut off", err);
        if (state != Z_OK && state != Z_STREAM_END) return fail(name, KERF_ESYNTAX, "a damaged gzip file", err);
        if (plain->length + got > limit) {
            kerf_error_set(err, KERF_EIO, "larger than %zu MiB when it is decompressed, the limit for such a file",
                           limit >> 20);
            error_set_file(err, name);
            return KERF_EIO;
        }
        kerf_text_write(plain, (const char *)chunk, got);
        if (plain->failed) return fail(name, KERF_ENOMEM, "not enough memory to read it", err);
        if (state != Z_STREAM_END) continue;
        if (!begins_member(packed, at)) return KERF_OK; /* padding after the last member is ignored, as by gunzip */
        inflateReset(stream);
    }
}

int32_t input_unpack(const char *name, size_t limit, struct kerf_text *text, struct kerf_error *err) {
    if (!begins_member(text, 0)) return KERF_OK;
    struct kerf_text plain = {0};
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
        return fail(name, KERF_ENOMEM, "not enough memory to read it", err);
    const int32_t code = inflate_all(name, limit, text, &stream, &plain, err);
    inflateEnd(&stream);
    if (code != KERF_OK) {
        kerf_text_free(&plain);
        return code;
    }
    kerf_text_free(text);
    *text = plain;
    return KERF_OK;
}
