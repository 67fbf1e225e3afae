/* SPDX-License-Identifier: Apache-2.0 */
/* job_id of a query, as Starlette reads queries: urllib.parse.parse_qsl on Latin-1, of a name that is there twice the
 * last. What a run of ASCII spells in %XX is UTF-8, with U+FFFD for what is not. */
#include <string.h>
#include "zeus/python_text.h"
#include "zeus/request_refusal.h"

static const char missing[] =
    "{\"detail\":[{\"loc\":[\"query\",\"job_id\"],\"msg\":\"field required\",\"type\":\"value_error.missing\"}]}";

static int hex_digit(char c) {
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* %XX and + of the ASCII from query to end; at most as many bytes. */
static size_t unescape(const char *query, const char *end, unsigned char *to) {
    unsigned char *start = to;
    for (const char *c = query; c < end; c++) {
        int high = *c == '%' && end - c > 2 ? hex_digit(c[1]) : -1, low = high >= 0 ? hex_digit(c[2]) : -1;
        *to++ = low >= 0 ? (unsigned char)(high << 4 | low) : *c == '+' ? ' ' : (unsigned char)*c;
        if (low >= 0) c += 2;
    }
    return (size_t)(to - start);
}

/* Bytes of the code point at c, or of what one U+FFFD stands for, which is then in *ret_bad. */
static size_t utf8_piece(const unsigned char *c, size_t left, int *ret_bad) {
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
    unsigned char least = c[0] == 0xE0 ? 0xA0 : c[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char most = c[0] == 0xED ? 0x9F : c[0] == 0xF4 ? 0x8F : 0xBF;
    size_t good = 1;
    for (; good < length && good < left && c[good] >= least && c[good] <= most; good++) least = 0x80, most = 0xBF;
    *ret_bad = good != length;
    return good;
}

static size_t decode(const unsigned char *bytes, size_t length, char *to) {
    char *start = to;
    for (size_t at = 0, size; at < length; at += size) {
        int bad;
        size = utf8_piece(bytes + at, length - at, &bad);
        if (bad) {
            to += python_text_put(to, 0xFFFD);
        } else {
            memcpy(to, bytes + at, size);
            to += size;
        }
    }
    return (size_t)(to - start);
}

static int is_ascii(char c) { return (unsigned char)c < 0x80; }

/* A byte takes three bytes at most, when it is replaced. */
static int32_t unquote(const char *query, const char *end, struct pool *pool, struct python_text *ret_text) {
    size_t length = (size_t)(end - query), used = 0;
    unsigned char *bytes = pool_take(pool, length + 1, 1);
    char *text = pool_take(pool, length + 1, 3);
    if (bytes == NULL || text == NULL) return KERF_ENOMEM;
    while (query < end) {
        const char *run = query;
        while (query < end && is_ascii(*query)) query++;
        used += decode(bytes, unescape(run, query, bytes), text + used);
        for (; query < end && !is_ascii(*query); query++) used += python_text_put(text + used, (unsigned char)*query);
    }
    *ret_text = (struct python_text){text, used};
    return KERF_OK;
}

static const char *find(const char *at, const char *end, char c) {
    const char *found = at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

int32_t request_parse_query(const char *query, size_t length, struct pool *pool, const char **ret_job_id,
                            struct request_refusal *refusal) {
    const char *end = query ? query + length : NULL, *next;
    struct python_text name, value;
    int found = 0;
    for (const char *at = query; at < end; at = next + 1) {
        next = find(at, end, '&');
        const char *equals = find(at, next, '=');
        if (at == next) continue;
        if (unquote(at, equals, pool, &name) != KERF_OK) return refuse_no_memory(refusal);
        if (name.length != 6 || memcmp(name.bytes, "job_id", 6) != 0) continue;
        if (unquote(equals < next ? equals + 1 : next, next, pool, &value) != KERF_OK) return refuse_no_memory(refusal);
        found = 1;
    }
    if (!found) return refuse_with(refusal, 422, missing);
    const char *job_id = python_text_string(&value, pool);
    if (job_id == NULL) return refuse_no_memory(refusal);
    *ret_job_id = job_id;
    return KERF_OK;
}
