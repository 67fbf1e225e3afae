/* SPDX-License-Identifier: Apache-2.0 */
/* The target of a request in its parts, without escapes. Not in head.c, which needs libmicrohttpd: this part is tested
 * without it. */
#include "server/head.h"

#include <assert.h>
#include <string.h>
#include <strings.h>
#include "base/characters.h"

/* Proxies ask for http://host/path. */
static const char *behind_host(const char *target) {
    size_t scheme = strncasecmp(target, "http://", 7) == 0 ? 7 : strncasecmp(target, "https://", 8) == 0 ? 8 : 0;
    return scheme ? target + scheme + strcspn(target + scheme, "/?#") : target;
}

void target_split(const char *target, struct text_view *ret_path, struct text_view *ret_query) {
    const char *path = behind_host(target);
    size_t length = strcspn(path, "#"), path_length = strcspn(path, "?#");
    *ret_path = (struct text_view){path, path_length};
    *ret_query = (struct text_view){NULL, 0};
    if (path_length < length) *ret_query = (struct text_view){path + path_length + 1, length - path_length - 1};
    assert(path_length <= length && path + length <= target + strlen(target));
    if (path != target && path_length == 0) *ret_path = (struct text_view){"/", 1};
}

struct text_view target_decode(struct arena *arena, struct text_view escaped) {
    const char *bytes = escaped.bytes;
    char *text = arena_copy(arena, bytes, escaped.length), *to = text;
    for (size_t i = 0; text && i < escaped.length; i++) {
        int high = bytes[i] == '%' && i + 2 < escaped.length ? hex_value(bytes[i + 1]) : -1;
        int low = high >= 0 ? hex_value(bytes[i + 2]) : -1;
        *to++ = low >= 0 ? (char)(high << 4 | low) : bytes[i];
        if (low >= 0) i += 2;
    }
    assert((size_t)(to - text) <= escaped.length);
    if (text) *to = 0;
    return (struct text_view){text, (size_t)(to - text)};
}

static const char *decode_value(struct arena *arena, struct text_view value) {
    char *spaced = arena_copy(arena, value.bytes, value.length);
    for (char *c = spaced; c && c < spaced + value.length; c++)
        if (*c == '+') *c = ' ';
    return spaced ? target_decode(arena, (struct text_view){spaced, value.length}).bytes : NULL;
}

const char *target_query(struct arena *arena, struct text_view query, const char *name) {
    const char *at = query.bytes, *end = at + query.length, *found = NULL;
    size_t wanted = strlen(name);
    while (at && at < end) {
        const char *next = memchr(at, '&', (size_t)(end - at));
        size_t length = (size_t)((next ? next : end) - at);
        if (length > wanted && memcmp(at, name, wanted) == 0 && at[wanted] == '=')
            found = decode_value(arena, (struct text_view){at + wanted + 1, length - wanted - 1});
        at = next ? next + 1 : end;
    }
    return found;
}
