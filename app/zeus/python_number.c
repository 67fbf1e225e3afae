/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python's conversions (CPython 3.11: Objects/longobject.c, Objects/floatobject.c, Python/pystrtod.c) behind pydantic's
 * validators (pydantic 1.10: validators.py): int() cuts a float's fraction off and takes a string of digits with single
 * underscores between them, float() one of a number, "inf", "infinity" or "nan"; both take the digits and the spaces of
 * all scripts. An integer may have any size.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/number.h"
#include "zeus/python_values.h"

enum { ROOM_OF_DOUBLE = 320 }; /* the largest double has 309 digits */

/* ---- Digits and spaces of all scripts --------------------------------------------------------------------- */

/* Where ten digits, 0 to 9, follow each other: [c for c in range(128, 0x110000) if
 * unicodedata.decimal(chr(c), None) == 0], Unicode 14 */
static const uint32_t zeros[] = {
    0x660,   0x6F0,   0x7C0,   0x966,   0x9E6,   0xA66,   0xAE6,   0xB66,   0xBE6,   0xC66,   0xCE6,
    0xD66,   0xDE6,   0xE50,   0xED0,   0xF20,   0x1040,  0x1090,  0x17E0,  0x1810,  0x1946,  0x19D0,
    0x1A80,  0x1A90,  0x1B50,  0x1BB0,  0x1C40,  0x1C50,  0xA620,  0xA8D0,  0xA900,  0xA9D0,  0xA9F0,
    0xAA50,  0xABF0,  0xFF10,  0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450,
    0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60, 0x16AC0,
    0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0};

static int is_space(uint32_t code) { /* beyond ASCII */
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

/* The character that stands for it in a number; 0: none. */
static char ascii_of(uint32_t code) {
    if (code < 0x7F) return (char)code;
    if (is_space(code)) return ' ';
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++)
        if (code >= zeros[i] && code <= zeros[i] + 9) return (char)('0' + code - zeros[i]);
    return 0;
}

static int is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The text between its spaces, in ASCII, with a NUL; "" where a character cannot be part of a number. NULL: no
 * memory. */
static char *stripped(const struct python_value *value, struct arena *arena) {
    char *string = arena_take(arena, (size_t)value->length + 1, 1), *to = string;
    if (string == NULL) return NULL;
    size_t length;
    for (size_t at = 0; at < value->length; at += length) {
        char c = ascii_of(python_text_code(value->bytes + at, &length));
        if (c == 0) {
            to = string;
            break;
        }
        if (to > string || !is_ascii_space(c)) *to++ = c;
    }
    while (to > string && is_ascii_space(to[-1])) to--;
    *to = 0;
    return string;
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Takes the underscores between digits away; 0 when there is another one. */
static int drop_underscores(char *string) {
    char *to = string, previous = 0;
    for (char *c = string; *c; previous = *c++) {
        if (*c == '_' && !(is_digit(previous) && is_digit(c[1]))) return 0;
        if (*c != '_') *to++ = *c;
    }
    *to = 0;
    return 1;
}

/* ---- Integers --------------------------------------------------------------------------------------------- */

/* digits: a sign or none, then digits alone; may be changed. */
static struct python_integer integer_from(char *digits) {
    assert(digits[0] != 0 && digits[strlen(digits) - 1] >= '0' && digits[strlen(digits) - 1] <= '9');
    int negative = digits[0] == '-';
    char *first = digits + (negative || digits[0] == '+');
    while (first[0] == '0' && first[1]) first++;
    int64_t value = 0;
    for (const char *c = first; *c; c++) {
        int digit = *c - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value)) {
            if (negative) *--first = '-'; /* where a sign or a zero was */
            return (struct python_integer){.digits = first};
        }
    }
    return (struct python_integer){.value = value};
}

static enum python_outcome integer_of_string(const struct python_value *value, struct arena *arena,
                                             struct python_integer *ret_integer) {
    if (python_text_count(value->bytes, value->length) > PYTHON_DIGITS_MAX) return PYTHON_NO_VALUE;
    char *string = stripped(value, arena);
    if (string == NULL) return PYTHON_NO_MEMORY;
    const char *digits = string + (string[0] == '-' || string[0] == '+');
    if (!drop_underscores(string) || digits[0] == 0 || digits[strspn(digits, "0123456789")]) return PYTHON_NO_VALUE;
    *ret_integer = integer_from(string);
    return PYTHON_DONE;
}

static enum python_outcome integer_of_float(double number, struct arena *arena, struct python_integer *ret_integer) {
    if (!isfinite(number)) return PYTHON_NO_VALUE;
    if (number >= -0x1p63 && number < 0x1p63) {
        *ret_integer = (struct python_integer){.value = (int64_t)number};
        return PYTHON_DONE;
    }
    char digits[ROOM_OF_DOUBLE];
    int length = snprintf(digits, sizeof digits, "%.0f", number);
    ret_integer->digits = arena_copy(arena, digits, (size_t)length);
    return ret_integer->digits ? PYTHON_DONE : PYTHON_NO_MEMORY;
}

enum python_outcome python_integer_of(const struct python_value *value, struct arena *arena,
                                      struct python_integer *ret_integer) {
    char *digits;
    switch (value->kind) {
    case PYTHON_BOOLEAN: *ret_integer = (struct python_integer){.value = value->boolean}; return PYTHON_DONE;
    case PYTHON_INTEGER:
        digits = arena_copy(arena, value->bytes, value->length);
        if (digits == NULL) return PYTHON_NO_MEMORY;
        *ret_integer = integer_from(digits);
        return PYTHON_DONE;
    case PYTHON_FLOAT: return integer_of_float(value->number, arena, ret_integer);
    case PYTHON_STRING: return integer_of_string(value, arena, ret_integer);
    default: return PYTHON_NO_VALUE;
    }
}

int python_integer_sign(const struct python_integer *integer) {
    if (integer->digits) return integer->digits[0] == '-' ? -1 : 1;
    return (integer->value > 0) - (integer->value < 0);
}

int python_integer_compare(const struct python_integer *a, const struct python_integer *b) {
    if (!a->digits && !b->digits) return (a->value > b->value) - (a->value < b->value);
    int sign = python_integer_sign(a), other = python_integer_sign(b);
    if (!a->digits) return -other;
    if (!b->digits) return sign;
    if (sign != other) return sign - other;
    size_t length = strlen(a->digits), length_b = strlen(b->digits);
    int larger = length != length_b ? (length > length_b) - (length < length_b) : strcmp(a->digits, b->digits);
    return sign * larger;
}

void python_integer_write(const struct python_integer *integer, struct kerf_text *out) {
    if (integer->digits)
        kerf_text_add(out, integer->digits);
    else
        kerf_text_printf(out, "%lld", (long long)integer->value);
}

/* ---- Floats, strings, booleans ---------------------------------------------------------------------------- */

static int is_float(const char *number) {
    const char *c = number + (number[0] == '-' || number[0] == '+');
    if (strcasecmp(c, "inf") == 0 || strcasecmp(c, "infinity") == 0 || strcasecmp(c, "nan") == 0) return 1;
    size_t before = strspn(c, "0123456789"), after = 0;
    c += before;
    if (*c == '.') {
        after = strspn(++c, "0123456789");
        c += after;
    }
    if (before + after == 0) return 0;
    if ((*c | 0x20) == 'e') {
        c += 1 + (c[1] == '-' || c[1] == '+');
        if (!is_digit(*c)) return 0;
        c += strspn(c, "0123456789");
    }
    return *c == 0;
}

enum python_outcome python_float_of(const struct python_value *value, struct arena *arena, double *ret_number) {
    char *string;
    switch (value->kind) {
    case PYTHON_BOOLEAN: *ret_number = value->boolean; return PYTHON_DONE;
    case PYTHON_FLOAT: *ret_number = value->number; return PYTHON_DONE;
    case PYTHON_INTEGER:
        string = arena_copy(arena, value->bytes, value->length);
        if (string == NULL) return PYTHON_NO_MEMORY;
        *ret_number = number_read(string, NULL);
        if (*ret_number == 0) *ret_number = 0; /* an integer has no -0 */
        return isinf(*ret_number) ? PYTHON_OVERFLOW : PYTHON_DONE;
    case PYTHON_STRING:
        string = stripped(value, arena);
        if (string == NULL) return PYTHON_NO_MEMORY;
        if (!drop_underscores(string) || !is_float(string)) return PYTHON_NO_VALUE;
        *ret_number = number_read(string, NULL);
        return PYTHON_DONE;
    default: return PYTHON_NO_VALUE;
    }
}

static enum python_outcome string_of_float(double number, struct arena *arena, struct python_text *ret_text) {
    struct kerf_text text = {0};
    python_float_repr(number, &text);
    const char *copy = text.failed ? NULL : arena_copy(arena, text.data, text.length);
    *ret_text = (struct python_text){copy, text.length};
    kerf_text_free(&text);
    return copy ? PYTHON_DONE : PYTHON_NO_MEMORY;
}

enum python_outcome python_string_of(const struct python_value *value, struct arena *arena,
                                     struct python_text *ret_text) {
    switch (value->kind) {
    case PYTHON_BOOLEAN:
        *ret_text = value->boolean ? (struct python_text){"True", 4} : (struct python_text){"False", 5};
        return PYTHON_DONE;
    case PYTHON_INTEGER:
        *ret_text = python_value_text(value);
        if (value->length == 2 && memcmp(value->bytes, "-0", 2) == 0) *ret_text = (struct python_text){"0", 1};
        return PYTHON_DONE;
    case PYTHON_FLOAT: return string_of_float(value->number, arena, ret_text);
    case PYTHON_STRING: *ret_text = python_value_text(value); return PYTHON_DONE;
    default: return PYTHON_NO_VALUE;
    }
}

static int is_one_of(const struct python_value *value, const char *const *words) {
    for (; *words; words++)
        if (strlen(*words) == value->length && strncasecmp(*words, value->bytes, value->length) == 0) return 1;
    return 0;
}

enum python_outcome python_boolean_of(const struct python_value *value, int32_t *ret_boolean) {
    static const char *const consents[] = {"1", "on", "t", "true", "y", "yes", NULL};
    static const char *const denials[] = {"0", "off", "f", "false", "n", "no", NULL};
    double number = value->kind == PYTHON_FLOAT ? value->number : 2;
    if (value->kind == PYTHON_BOOLEAN) number = value->boolean;
    if (value->kind == PYTHON_STRING) number = is_one_of(value, consents) ? 1 : is_one_of(value, denials) ? 0 : 2;
    if (value->kind == PYTHON_INTEGER) {
        if (value->length == 1 && (value->bytes[0] == '0' || value->bytes[0] == '1')) number = value->bytes[0] - '0';
        if (value->length == 2 && memcmp(value->bytes, "-0", 2) == 0) number = 0;
    }
    if (number != 0 && number != 1) return PYTHON_NO_VALUE;
    *ret_boolean = number == 1;
    return PYTHON_DONE;
}
