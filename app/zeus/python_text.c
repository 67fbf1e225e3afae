/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding follows CPython's json.detect_encoding and its codecs with "surrogatepass": marks and zero bytes tell the
 * encoding, single surrogates pass, everything else that is ill-formed is refused. */
#include "zeus/python_values.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/characters.h"
#include "zeus/python_printable.h"

enum { LAST_CODE = 0x10FFFF, HIGH_SURROGATE = 0xD800, LOW_SURROGATE = 0xDC00, PAST_SURROGATES = 0xE000 };

/* ---- Code points --------------------------------------------------------------------------------------------- */

size_t python_text_put(char *at, uint32_t code) {
    assert(code <= LAST_CODE);
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

char *python_text_string(const struct python_text *text, struct arena *arena) {
    size_t zeros = 0;
    for (size_t i = 0; i < text->length; i++) zeros += text->bytes[i] == 0;
    if (zeros == 0) return arena_copy(arena, text->bytes, text->length);
    char *string = arena_take(arena, text->length + zeros + 1, 1), *to = string;
    if (string == NULL) return NULL;
    for (size_t i = 0; i < text->length; i++) {
        if (text->bytes[i] == 0) *to++ = (char)0xC0;
        *to++ = text->bytes[i] ? text->bytes[i] : (char)0x80;
    }
    *to = 0;
    return string;
}

/* ---- Bytes of a request -------------------------------------------------------------------------------------- */

struct encoding {
    size_t unit;    /* bytes: 1, 2, 4 */
    int big;        /* the highest byte is the first */
    size_t skipped; /* bytes of the mark */
};

static int begins(const char *bytes, size_t length, const char *mark, size_t size) {
    return length >= size && memcmp(bytes, mark, size) == 0;
}

/* JSON begins with two characters of ASCII, or is one: where its zero bytes are tells the rest. */
static struct encoding detect(const char *b, size_t length) {
    if (begins(b, length, "\0\0\xFE\xFF", 4)) return (struct encoding){4, 1, 4};
    if (begins(b, length, "\xFF\xFE\0\0", 4)) return (struct encoding){4, 0, 4};
    if (begins(b, length, "\xFE\xFF", 2)) return (struct encoding){2, 1, 2};
    if (begins(b, length, "\xFF\xFE", 2)) return (struct encoding){2, 0, 2};
    if (begins(b, length, "\xEF\xBB\xBF", 3)) return (struct encoding){1, 0, 3};
    if (length >= 4) {
        if (b[0] == 0) return (struct encoding){b[1] ? 2 : 4, 1, 0};
        if (b[1] == 0) return (struct encoding){b[2] || b[3] ? 2 : 4, 0, 0};
    } else if (length == 2) {
        if (b[0] == 0) return (struct encoding){2, 1, 0};
        if (b[1] == 0) return (struct encoding){2, 0, 0};
    }
    return (struct encoding){1, 0, 0};
}

static int32_t check_utf8(const char *bytes, size_t length) {
    for (size_t at = 0, size; at < length; at += size) {
        size = python_text_well_formed(bytes + at, length - at);
        if (size == 0) return KERF_EINVALID;
    }
    return KERF_OK;
}

static uint32_t unit_at(const char *bytes, const struct encoding *encoding) {
    const unsigned char *c = (const unsigned char *)bytes;
    uint32_t value = 0;
    for (size_t i = 0; i < encoding->unit; i++) value = value << 8 | c[encoding->big ? i : encoding->unit - 1 - i];
    return value;
}

static int is_surrogate(uint32_t code, uint32_t from) { return code >= from && code < from + 0x400; }

/* Units of two or four bytes; a unit of two takes three bytes of UTF-8 at most. */
static int32_t recode(const char *bytes, size_t length, const struct encoding *encoding, struct arena *arena,
                      struct python_text *ret_text) {
    size_t unit = encoding->unit, used = 0;
    if (length % unit) return KERF_EINVALID;
    char *text = arena_take(arena, length / unit, unit == 2 ? 3 : 4);
    if (text == NULL) return KERF_ENOMEM;
    for (size_t at = 0; at < length; at += unit) {
        uint32_t code = unit_at(bytes + at, encoding);
        if (code > LAST_CODE) return KERF_EINVALID;
        if (unit == 2 && is_surrogate(code, HIGH_SURROGATE) && at + 2 < length) {
            uint32_t low = unit_at(bytes + at + 2, encoding);
            if (is_surrogate(low, LOW_SURROGATE)) {
                code = 0x10000 + ((code - HIGH_SURROGATE) << 10) + (low - LOW_SURROGATE);
                at += 2;
            }
        }
        used += python_text_put(text + used, code);
    }
    assert(used <= length / unit * (unit == 2 ? 3 : 4));
    *ret_text = (struct python_text){text, used};
    return KERF_OK;
}

int32_t python_text_decode(const char *bytes, size_t length, struct arena *arena, struct python_text *ret_text) {
    struct encoding encoding = detect(bytes, length);
    bytes += encoding.skipped;
    length -= encoding.skipped;
    if (encoding.unit > 1) return recode(bytes, length, &encoding, arena, ret_text);
    if (check_utf8(bytes, length) != KERF_OK) return KERF_EINVALID;
    *ret_text = (struct python_text){bytes, length};
    return KERF_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

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
        int lone = code >= HIGH_SURROGATE && code < PAST_SURROGATES;
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

/* ---- repr ------------------------------------------------------------------------------------------------------ */

/*
 * Numbers and strings as Python's repr writes them (CPython: Python/pystrtod.c with format code 'r', and
 * Objects/unicodeobject.c, unicode_repr). The digits of a float are the shortest that read back, which kerf_text_number
 * finds too; only where the point goes and when there is an exponent differ.
 */

enum {
    PLAIN_MIN = -4, /* 0.0001 is plain, 1e-05 is not */
    PLAIN_MAX = 16, /* 1000000000000000.0 is plain, 1e+16 is not */
    DIGITS_MAX = 32
};

struct digits { /* 0.ddd 10^point */
    char digit[DIGITS_MAX];
    int count;
    int point;
};

/* Takes apart what kerf_text_number wrote of a positive number: digits, with a point and an exponent or without. */
static struct digits digits_of(const char *number) {
    struct digits all = {.count = 0};
    int leading = 1, seen_point = 0, exponent = 0, sign = 1;
    for (; *number && *number != 'e'; number++) {
        if (*number == '.') {
            seen_point = 1;
            continue;
        }
        if (leading && *number == '0') {
            all.point -= seen_point;
            continue;
        }
        leading = 0;
        all.point += !seen_point;
        if (all.count < DIGITS_MAX) all.digit[all.count++] = *number;
    }
    if (*number == 'e') {
        sign = number[1] == '-' ? -1 : 1;
        for (number += 2; *number; number++) exponent = exponent * 10 + (*number - '0');
    }
    while (all.count > 0 && all.digit[all.count - 1] == '0') all.count--;
    all.point += sign * exponent;
    return all;
}

static void write_plain(struct kerf_text *out, const struct digits *all) {
    if (all->point <= 0) {
        kerf_text_add(out, "0.");
        kerf_text_repeat(out, "0", -all->point);
        kerf_text_write(out, all->digit, (size_t)all->count);
        return;
    }
    int before = all->count < all->point ? all->count : all->point;
    kerf_text_write(out, all->digit, (size_t)before);
    kerf_text_repeat(out, "0", all->point - before);
    kerf_text_add(out, ".");
    kerf_text_write(out, all->digit + before, (size_t)(all->count - before));
    if (all->count == before) kerf_text_add(out, "0");
}

void python_float_repr(double value, struct kerf_text *out) {
    if (!isfinite(value) || value == 0) {
        kerf_text_add(out, isnan(value)     ? "nan"
                           : signbit(value) ? (value == 0 ? "-0.0" : "-inf")
                           : value == 0     ? "0.0"
                                            : "inf");
        return;
    }
    struct kerf_text number = {0};
    kerf_text_number(&number, fabs(value));
    if (number.failed) {
        out->failed = 1;
    } else {
        struct digits all = digits_of(number.data);
        int exponent = all.point - 1;
        if (value < 0) kerf_text_add(out, "-");
        if (PLAIN_MIN <= exponent && exponent < PLAIN_MAX) {
            write_plain(out, &all);
        } else {
            kerf_text_write(out, all.digit, 1);
            if (all.count > 1) kerf_text_add(out, ".");
            kerf_text_write(out, all.digit + 1, (size_t)(all.count - 1));
            kerf_text_printf(out, "e%+03d", exponent);
        }
    }
    kerf_text_free(&number);
}

static int is_printable(uint32_t code) {
    size_t low = 0, high = sizeof python_printable / sizeof python_printable[0]; /* edges at or before code */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (python_printable[middle] <= code)
            low = middle + 1;
        else
            high = middle;
    }
    return low & 1;
}

static uint32_t decode(const char *at, size_t length) {
    const unsigned char *c = (const unsigned char *)at;
    if (length == 1) return c[0];
    uint32_t code = c[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) code = code << 6 | (c[i] & 0x3F);
    return code;
}

static void write_escaped(struct kerf_text *out, uint32_t code) {
    const char *known = code == '\t' ? "\\t" : code == '\n' ? "\\n" : code == '\r' ? "\\r" : NULL;
    if (known)
        kerf_text_add(out, known);
    else if (code < 0x100)
        kerf_text_printf(out, "\\x%02x", (unsigned)code);
    else if (code < 0x10000)
        kerf_text_printf(out, "\\u%04x", (unsigned)code);
    else
        kerf_text_printf(out, "\\U%08x", (unsigned)code);
}

void python_string_repr(const char *utf8, struct kerf_text *out) {
    char quote = strchr(utf8, '\'') && !strchr(utf8, '"') ? '"' : '\'';
    kerf_text_write(out, &quote, 1);
    while (*utf8) {
        size_t length = memcmp(utf8, "\xC0\x80", 2) == 0 ? 2 : utf8_code_point(utf8); /* NUL, see text.h */
        uint32_t code = length ? decode(utf8, length) : (unsigned char)*utf8;
        if (length == 0) length = 1, code = 0xFFFD; /* no text: Python would not have it */
        if (code == (unsigned char)quote || code == '\\') kerf_text_add(out, "\\");
        if (is_printable(code))
            kerf_text_write(out, utf8, length);
        else
            write_escaped(out, code);
        utf8 += length;
    }
    kerf_text_write(out, &quote, 1);
}
