/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and strings as Python's repr writes them (CPython: Python/pystrtod.c with format code 'r', and
 * Objects/unicodeobject.c, unicode_repr). The digits of a float are the shortest that read back, which kerf_text_number
 * finds too; only where the point goes and when there is an exponent differ.
 */
#include "zeus/python_repr.h"

#include <math.h>
#include <string.h>
#include "base/utf8.h"
#include "zeus/python_printable.h"

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
