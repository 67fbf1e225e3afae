/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON in the dialect of Python's json module, with its errors and their places, after CPython 3.11 (Modules/_json.c).
 *
 * Zeus's clients may send what only this dialect has: NaN and Infinity, keys twice, integers of any size, lone
 * surrogates, UTF-16 and UTF-32; and answers quote its errors. No packaged C library reads that, hence this reader.
 *
 * A value takes 24 bytes and at least two of the body, a string with escapes its length once more: a body of 1 MiB
 * takes 13 MiB at most, twice that while the arena doubles. Depth is bounded by PYTHON_NESTING_MAX.
 */
#include "zeus/python_values.h"

#include <math.h>
#include <string.h>
#include "base/characters.h"
#include "base/number.h"

struct reader {
    const char *text;
    size_t length;
    size_t at;
    struct arena *arena;
    int nesting;
    struct python_json_error *error;
};

static int32_t read_value(struct reader *reader, struct python_value **ret_value);

static int32_t fail(struct reader *reader, const char *message, size_t at) {
    *reader->error = (struct python_json_error){message, python_text_count(reader->text, at)};
    return KERF_ESYNTAX;
}

static struct python_value *new_value(struct reader *reader, int32_t kind) {
    struct python_value *value = arena_take(reader->arena, 1, sizeof *value);
    if (value) *value = (struct python_value){.kind = kind};
    return value;
}

static int peek(const struct reader *reader) {
    return reader->at < reader->length ? (unsigned char)reader->text[reader->at] : -1;
}

static int skip_space(struct reader *reader) {
    int c = peek(reader);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        reader->at++;
        c = peek(reader);
    }
    return c;
}

/* ---- Strings ---------------------------------------------------------------------------------------------- */

/* The four digits behind the u at `at`; -1 where they are not. Python wants something behind them, too. */
static int32_t unicode_escape(const struct reader *reader, size_t at) {
    int32_t code = 0;
    if (reader->length - at <= 5) return -1;
    for (size_t i = 1; i <= 4; i++) {
        int digit = hex_value(reader->text[at + i]);
        if (digit < 0) return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* Reader is at the u. Two escapes that are a pair of surrogates are one code point. */
static int32_t read_unicode_escape(struct reader *reader, char **to) {
    size_t at = reader->at;
    int32_t code = unicode_escape(reader, at), low = -1;
    if (code < 0) return fail(reader, "Invalid \\uXXXX escape", at);
    reader->at += 5;
    int is_high = code >= 0xD800 && code < 0xDC00;
    if (is_high && reader->length - at > 11 && reader->text[at + 5] == '\\' && reader->text[at + 6] == 'u')
        low = unicode_escape(reader, at + 6);
    if (low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        reader->at += 6;
    }
    *to += python_text_put(*to, (uint32_t)code);
    return KERF_OK;
}

/* Reader is behind the backslash. */
static int32_t read_escape(struct reader *reader, size_t begin, char **to) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int c = peek(reader);
    if (c < 0) return fail(reader, "Unterminated string starting at", begin);
    if (c == 'u') return read_unicode_escape(reader, to);
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter == NULL) return fail(reader, "Invalid \\escape", reader->at - 1);
    *(*to)++ = meanings[letter - letters];
    reader->at++;
    return KERF_OK;
}

/* To the next quote or backslash, which it returns in ret_stop. */
static int32_t skip_plain(struct reader *reader, size_t begin, int *ret_stop) {
    size_t at = reader->at;
    const unsigned char *text = (const unsigned char *)reader->text;
    while (at < reader->length && text[at] != '"' && text[at] != '\\') {
        if (text[at] < ' ') return fail(reader, "Invalid control character at", at);
        at++;
    }
    if (at == reader->length) return fail(reader, "Unterminated string starting at", begin);
    *ret_stop = text[at];
    reader->at = at;
    return KERF_OK;
}

/* The length of a string that has escapes is at most that of its text, to the next quote that may end it. */
static size_t length_at_most(const struct reader *reader, size_t from) {
    size_t at = from;
    while (at < reader->length && reader->text[at] != '"') at += reader->text[at] == '\\' ? 2 : 1;
    return at - from;
}

static int32_t read_escaped(struct reader *reader, size_t begin, struct python_value *value) {
    size_t first = begin + 1;
    char *bytes = arena_take(reader->arena, length_at_most(reader, first) + 1, 1), *to = bytes;
    if (bytes == NULL) return KERF_ENOMEM;
    for (size_t from = first;; from = reader->at) {
        int stop;
        int32_t code = skip_plain(reader, begin, &stop);
        if (code != KERF_OK) return code;
        memcpy(to, reader->text + from, reader->at - from);
        to += reader->at - from;
        reader->at++;
        if (stop == '"') break;
        code = read_escape(reader, begin, &to);
        if (code != KERF_OK) return code;
    }
    value->bytes = bytes;
    value->length = (uint32_t)(to - bytes);
    return KERF_OK;
}

/* Reader is at the quote. */
static int32_t read_string(struct reader *reader, struct python_value **ret_value) {
    size_t begin = reader->at++;
    int stop;
    struct python_value *value = new_value(reader, PYTHON_STRING);
    if (value == NULL) return KERF_ENOMEM;
    int32_t code = skip_plain(reader, begin, &stop);
    if (code != KERF_OK) return code;
    if (stop == '"') {
        value->bytes = reader->text + begin + 1;
        value->length = (uint32_t)(reader->at++ - begin - 1);
    } else {
        reader->at = begin + 1;
        code = read_escaped(reader, begin, value);
        if (code != KERF_OK) return code;
    }
    *ret_value = value;
    return KERF_OK;
}

/* ---- Numbers and words ------------------------------------------------------------------------------------ */

static int is_digit(const struct reader *reader, size_t at) {
    return at < reader->length && reader->text[at] >= '0' && reader->text[at] <= '9';
}

static size_t skip_digits(const struct reader *reader, size_t at) {
    while (is_digit(reader, at)) at++;
    return at;
}

static char at_or_nul(const struct reader *reader, size_t at) { return at < reader->length ? reader->text[at] : 0; }

/* The end of the fraction and the exponent that begin at `at`, which is the same place where there are none. */
static size_t skip_fraction(const struct reader *reader, size_t at) {
    if (at_or_nul(reader, at) == '.' && is_digit(reader, at + 1)) at = skip_digits(reader, at + 1);
    if ((at_or_nul(reader, at) | 0x20) != 'e') return at;
    char sign = at_or_nul(reader, at + 1);
    size_t digits = at + (sign == '-' || sign == '+' ? 2 : 1);
    return is_digit(reader, digits) ? skip_digits(reader, digits) : at;
}

static int32_t parse_float(struct reader *reader, size_t begin, size_t end, struct python_value *value) {
    char small[64], *string = small;
    if (end - begin >= sizeof small) {
        string = arena_copy(reader->arena, reader->text + begin, end - begin);
        if (string == NULL) return KERF_ENOMEM;
    } else {
        memcpy(small, reader->text + begin, end - begin);
        small[end - begin] = 0;
    }
    value->number = number_read(string, NULL);
    return KERF_OK;
}

static int32_t read_number(struct reader *reader, struct python_value **ret_value) {
    size_t begin = reader->at, digits = begin + (peek(reader) == '-'), end;
    if (!is_digit(reader, digits)) return fail(reader, "Expecting value", begin);
    end = reader->text[digits] == '0' ? digits + 1 : skip_digits(reader, digits);
    reader->at = skip_fraction(reader, end);
    struct python_value *value = new_value(reader, reader->at == end ? PYTHON_INTEGER : PYTHON_FLOAT);
    if (value == NULL) return KERF_ENOMEM;
    *ret_value = value;
    if (value->kind == PYTHON_FLOAT) return parse_float(reader, begin, reader->at, value);
    if (end - digits > PYTHON_DIGITS_MAX) return KERF_EINVALID;
    value->bytes = reader->text + begin;
    value->length = (uint32_t)(end - begin);
    return KERF_OK;
}

static const struct word {
    const char *word;
    struct python_value value;
} words[] = {
    {"null", {.kind = PYTHON_NULL}},
    {"true", {.kind = PYTHON_BOOLEAN, .boolean = 1}},
    {"false", {.kind = PYTHON_BOOLEAN}},
    {"NaN", {.kind = PYTHON_FLOAT, .number = (double)NAN}},
    {"Infinity", {.kind = PYTHON_FLOAT, .number = (double)INFINITY}},
    {"-Infinity", {.kind = PYTHON_FLOAT, .number = -(double)INFINITY}},
};

static int32_t read_word_or_number(struct reader *reader, struct python_value **ret_value) {
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].word);
        if (reader->length - reader->at < length || memcmp(reader->text + reader->at, words[i].word, length) != 0)
            continue;
        struct python_value *value = new_value(reader, PYTHON_NULL);
        if (value == NULL) return KERF_ENOMEM;
        *value = words[i].value;
        reader->at += length;
        *ret_value = value;
        return KERF_OK;
    }
    return read_number(reader, ret_value);
}

/* ---- Lists and objects ------------------------------------------------------------------------------------ */

static int32_t read_key(struct reader *reader, struct python_value **ret_key) {
    if (peek(reader) != '"') return fail(reader, "Expecting property name enclosed in double quotes", reader->at);
    int32_t code = read_string(reader, ret_key);
    if (code != KERF_OK) return code;
    if (skip_space(reader) != ':') return fail(reader, "Expecting ':' delimiter", reader->at);
    reader->at++;
    skip_space(reader);
    return KERF_OK;
}

/* What stands between two commas, linked behind `last`. */
static int32_t read_member(struct reader *reader, int32_t kind, const struct python_value ***last) {
    struct python_value *key, *value;
    int32_t code = kind == PYTHON_OBJECT ? read_key(reader, &key) : KERF_OK;
    if (code != KERF_OK) return code;
    code = read_value(reader, &value);
    if (code != KERF_OK) return code;
    if (kind == PYTHON_OBJECT) {
        **last = key;
        *last = &key->next;
    }
    **last = value;
    *last = &value->next;
    return KERF_OK;
}

/* Reader is at the bracket. */
static int32_t read_members(struct reader *reader, int32_t kind, struct python_value *value) {
    int closing = kind == PYTHON_OBJECT ? '}' : ']';
    const struct python_value **last = &value->first;
    reader->at++;
    if (skip_space(reader) == closing) {
        reader->at++;
        return KERF_OK;
    }
    for (;;) {
        int32_t code = read_member(reader, kind, &last);
        if (code != KERF_OK) return code;
        value->length++;
        int c = skip_space(reader);
        if (c != closing && c != ',') return fail(reader, "Expecting ',' delimiter", reader->at);
        reader->at++;
        if (c == closing) return KERF_OK;
        skip_space(reader);
    }
}

static int32_t read_container(struct reader *reader, int32_t kind, struct python_value **ret_value) {
    if (reader->nesting == PYTHON_NESTING_MAX) return KERF_EINVALID;
    struct python_value *value = new_value(reader, kind);
    if (value == NULL) return KERF_ENOMEM;
    reader->nesting++;
    int32_t code = read_members(reader, kind, value);
    reader->nesting--;
    if (code == KERF_OK) *ret_value = value;
    return code;
}

static int32_t read_value(struct reader *reader, struct python_value **ret_value) {
    switch (peek(reader)) {
    case -1: return fail(reader, "Expecting value", reader->at);
    case '"': return read_string(reader, ret_value);
    case '{': return read_container(reader, PYTHON_OBJECT, ret_value);
    case '[': return read_container(reader, PYTHON_LIST, ret_value);
    default: return read_word_or_number(reader, ret_value);
    }
}

int32_t python_json_read(const char *bytes, size_t length, struct arena *arena, const struct python_value **ret_value,
                         struct python_json_error *ret_error) {
    struct python_text text;
    struct python_value *value = NULL;
    if (length > UINT32_MAX / 4) return KERF_EINVALID; /* lengths of strings are 32 bits */
    int32_t code = python_text_decode(bytes, length, arena, &text);
    if (code != KERF_OK) return code;
    struct reader reader = {.text = text.bytes, .length = text.length, .arena = arena, .error = ret_error};
    skip_space(&reader);
    code = read_value(&reader, &value);
    if (code != KERF_OK) return code;
    skip_space(&reader);
    if (reader.at != reader.length) return fail(&reader, "Extra data", reader.at);
    *ret_value = value;
    return KERF_OK;
}
