/* SPDX-License-Identifier: Apache-2.0 */
#include "zeus/python_text.h"

#include <string.h>

enum { FIRST_SURROGATE = 0xD800, PAST_SURROGATES = 0xE000 };

size_t python_text_put(char *at, uint32_t code) {
    if (code < 0x80) {
        at[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6) at[i] = (char)(0x80 | (code & 0x3F));
    at[0] = (char)((0xF00u >> length & 0xF0) | code);
    return length;
}

size_t python_text_well_formed(const char *at, size_t left) {
    const unsigned char *c = (const unsigned char *)at;
    if (c[0] < 0x80) return 1;
    size_t length = c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
    if (length > left) return 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xC0) != 0x80) return 0;
    int overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    int too_large = c[0] == 0xF4 && c[1] > 0x8F;
    return overlong || too_large ? 0 : length;
}

uint32_t python_text_code(const char *at, size_t *ret_length) {
    const unsigned char *c = (const unsigned char *)at;
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    uint32_t code = length == 1 ? c[0] : c[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) code = code << 6 | (c[i] & 0x3F);
    *ret_length = length;
    return code;
}

size_t python_text_count(const char *bytes, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return count;
}

int python_text_has_nul(const struct python_text *text) { return memchr(text->bytes, 0, text->length) != NULL; }

/* ED A0..BF is the beginning of a surrogate, and of nothing else. */
int python_text_has_surrogate(const struct python_text *text) {
    const char *at = text->bytes, *end = at + text->length;
    while (at < end && (at = memchr(at, 0xED, (size_t)(end - at))) != NULL)
        if ((unsigned char)*++at >= 0xA0) return 1;
    return 0;
}

char *python_text_string(const struct python_text *text, struct pool *pool) {
    size_t zeros = 0;
    for (size_t i = 0; i < text->length; i++) zeros += text->bytes[i] == 0;
    if (zeros == 0) return pool_copy(pool, text->bytes, text->length);
    char *string = pool_take(pool, text->length + zeros + 1, 1), *to = string;
    if (string == NULL) return NULL;
    for (size_t i = 0; i < text->length; i++) {
        if (text->bytes[i] == 0) *to++ = (char)0xC0;
        *to++ = text->bytes[i] ? text->bytes[i] : (char)0x80;
    }
    *to = 0;
    return string;
}

static void write_escape(uint32_t code, struct kerf_text *out) {
    static const char known[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* what, and the letter for it */
    for (size_t i = 0; i + 1 < sizeof known; i += 2)
        if (code == (unsigned char)known[i]) {
            kerf_text_printf(out, "\\%c", known[i + 1]);
            return;
        }
    kerf_text_printf(out, "\\u%04x", (unsigned)code);
}

/* What cannot stand in quotes as it is: its code point, else 0x7F. */
static uint32_t escaped_at(const char *at, size_t left, size_t *ret_length) {
    enum { NONE = 0x7F, REPLACEMENT = 0xFFFD };
    unsigned char first = (unsigned char)at[0];
    *ret_length = python_text_well_formed(at, left);
    if (*ret_length == 1) return first < ' ' || first == '"' || first == '\\' ? first : NONE;
    if (*ret_length > 0) return first == 0xED && (unsigned char)at[1] >= 0xA0 ? python_text_code(at, ret_length) : NONE;
    int is_nul = first == 0xC0 && left > 1 && (unsigned char)at[1] == 0x80;
    *ret_length = is_nul ? 2 : 1;
    return is_nul ? 0 : REPLACEMENT;
}

void python_text_quote(const struct python_text *text, struct kerf_text *out) {
    kerf_text_write(out, "\"", 1);
    size_t start = 0, length;
    for (size_t at = 0; at < text->length; at += length) {
        uint32_t code = escaped_at(text->bytes + at, text->length - at, &length);
        if (code == 0x7F) continue;
        kerf_text_write(out, text->bytes + start, at - start);
        write_escape(code, out);
        start = at + length;
    }
    kerf_text_write(out, text->bytes + start, text->length - start);
    kerf_text_write(out, "\"", 1);
}

void python_string_quote(const char *string, struct kerf_text *out) {
    struct python_text text = {string, strlen(string)};
    python_text_quote(&text, out);
}

void python_text_encode_error(const struct python_text *text, struct kerf_text *out) {
    size_t position = 0, length, count = 0;
    uint32_t first = 0;
    for (size_t at = 0; at < text->length; at += length) {
        uint32_t code = python_text_code(text->bytes + at, &length);
        int lone = code >= FIRST_SURROGATE && code < PAST_SURROGATES;
        if (lone && count++ == 0) first = code;
        if (!lone && count) break;
        position += count == 0;
    }
    if (count == 1)
        kerf_text_printf(out, "'utf-8' codec can't encode character '\\u%04x' in position %zu: surrogates not allowed",
                         (unsigned)first, position);
    else
        kerf_text_printf(out, "'utf-8' codec can't encode characters in position %zu-%zu: surrogates not allowed",
                         position, position + count - 1);
}
