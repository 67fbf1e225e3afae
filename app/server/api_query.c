/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *decode(struct arena *arena, const char *bytes, size_t length) {
    char *text = arena_copy(arena, bytes, length), *to = text;
    for (size_t i = 0; text && i < length; i++) {
        int low = -1, high = bytes[i] == '%' && i + 2 < length ? hex(bytes[i + 1]) : -1;
        if (high >= 0) low = hex(bytes[i + 2]);
        *to++ = low >= 0 ? (char)(high << 4 | low) : bytes[i] == '+' ? ' ' : bytes[i];
        if (low >= 0) i += 2;
    }
    if (text) *to = 0;
    return text;
}

const char *query_text(struct exchange *exchange, const char *name) {
    const char *at = exchange->query.bytes, *end = at + exchange->query.length, *found = NULL;
    size_t wanted = strlen(name);
    while (at && at < end) {
        const char *next = memchr(at, '&', (size_t)(end - at));
        size_t length = (size_t)((next ? next : end) - at);
        if (length > wanted && memcmp(at, name, wanted) == 0 && at[wanted] == '=')
            found = decode(&exchange->arena, at + wanted + 1, length - wanted - 1);
        at = next ? next + 1 : end;
    }
    return found;
}

int query_parse(const char *text, int64_t least, int64_t most, int64_t *ret_number) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < least || number > most) return 0;
    *ret_number = number;
    return 1;
}

int query_number(struct exchange *exchange, const char *name, int64_t least, int64_t most, int64_t otherwise,
                 int64_t *ret_number) {
    const char *text = query_text(exchange, name);
    struct kerf_text words = {0};
    *ret_number = otherwise;
    if (text == NULL || query_parse(text, least, most, ret_number)) return 1;
    kerf_text_printf(&words, "%s must be a whole number from %" PRId64 " to %" PRId64, name, least, most);
    exchange_detail(exchange, 400, words.data ? words.data : name);
    kerf_text_free(&words);
    return 0;
}
