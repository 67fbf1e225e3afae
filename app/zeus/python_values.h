/* SPDX-License-Identifier: Apache-2.0 */
/* What a request holds as Python has it: text, the values of a JSON document, and the numbers and strings they give. */
#ifndef KERF_ZEUS_PYTHON_VALUES_H
#define KERF_ZEUS_PYTHON_VALUES_H

#include "base/arena.h"
#include "kerf/text.h"

/* ---- Text (python_text.c) ---------------------------------------------------------------------------------------- */

/*
 * Python's text as bytes, and as json.dumps, str.encode and repr write it.
 *
 * A Python string is any sequence of code points, lone surrogates and NUL among them. It is kept as UTF-8 in which a
 * surrogate is the three bytes that its number gives (Python's "surrogatepass"). Where a C string is needed a NUL is
 * C0 80, which stands for nothing else.
 */

struct python_text {
    const char *bytes; /* no NUL behind them */
    size_t length;
};

/* The bytes of a request as text: UTF-8, UTF-16 or UTF-32 with or without a byte order mark, found out as json.loads
 * does. KERF_EINVALID where they are not text. The text of UTF-8 is a part of bytes. */
int32_t python_text_decode(const char *bytes, size_t length, struct arena *arena, struct python_text *ret_text);

/* Bytes of the code point at the beginning, surrogates among them; 0 where there is none. */
size_t python_text_well_formed(const char *at, size_t left);

/* The code point at the beginning of well-formed text. */
uint32_t python_text_code(const char *at, size_t *ret_length);
size_t python_text_count(const char *bytes, size_t length); /* code points */

/* Code as the bytes of this text, 1 to 4. */
size_t python_text_put(char *at, uint32_t code);

/* A C string of it; NULL: no memory. */
char *python_text_string(const struct python_text *text, struct arena *arena);

/* In quotes as json.dumps(ensure_ascii=False) has it; but lone surrogates, which UTF-8 does not have, are escaped, and
 * ill-formed bytes become an escaped U+FFFD. */
void python_text_quote(const struct python_text *text, struct kerf_text *out);
void python_string_quote(const char *string, struct kerf_text *out);

int python_text_has_surrogate(const struct python_text *text);
int python_text_has_nul(const struct python_text *text);

/* str(UnicodeEncodeError) of encoding a text that has a surrogate. */
void python_text_encode_error(const struct python_text *text, struct kerf_text *out);

/* Numbers and strings as Python's repr writes them: "300.0", "1e+16", "1e-05", "nan"; 'text', "it's", 'tab\t'. */
void python_float_repr(double value, struct kerf_text *out);

/* utf8: the bytes C0 80 are a NUL, '\x00'. */
void python_string_repr(const char *utf8, struct kerf_text *out);

/* ---- JSON (python_json.c) ---------------------------------------------------------------------------------------- */

/* A request's body as Python's json.loads takes it, into a tree. */

enum python_kind {
    PYTHON_NULL,
    PYTHON_BOOLEAN,
    PYTHON_INTEGER, /* of any size */
    PYTHON_FLOAT,   /* not finite among them */
    PYTHON_STRING,
    PYTHON_LIST,
    PYTHON_OBJECT /* a key that is there again counts last */
};

struct python_value {
    const struct python_value *next; /* in its list or object */
    union {
        int32_t boolean;
        double number;
        const char *bytes;                /* STRING; INTEGER as it was written, "-12" */
        const struct python_value *first; /* LIST; OBJECT: key, value, key, value and so on */
    };
    uint32_t length; /* STRING, INTEGER: bytes; LIST: items; OBJECT: pairs */
    int32_t kind;    /* enum python_kind */
};

static inline struct python_text python_value_text(const struct python_value *value) {
    return (struct python_text){value->bytes, value->length};
}

enum {
    PYTHON_DIGITS_MAX = 4300, /* of an integer; Python's default */
    PYTHON_NESTING_MAX = 950  /* Python's 1000, less the calls that stand above json.loads in a server */
};

struct python_json_error { /* as JSONDecodeError */
    const char *message;
    size_t position; /* code points */
};

/* KERF_ESYNTAX: not JSON, and error says why. KERF_EINVALID: Python raises something else: no text, an integer of too
 * many digits, nesting too deep. The tree lives as long as both the arena and the bytes. */
int32_t python_json_read(const char *bytes, size_t length, struct arena *arena, const struct python_value **ret_value,
                         struct python_json_error *ret_error);

/* ---- Numbers (python_number.c) ----------------------------------------------------------------------------------- */

/* int(), float() and str() of what a body holds, as pydantic 1 calls them. */

struct python_integer {
    int64_t value;      /* when digits is NULL */
    const char *digits; /* else: decimal, a sign when negative, no zeros in front; too large for value */
};

enum python_outcome {
    PYTHON_DONE,
    PYTHON_NO_VALUE, /* TypeError or ValueError */
    PYTHON_OVERFLOW, /* OverflowError: an integer as a float */
    PYTHON_NO_MEMORY
};

enum python_outcome python_integer_of(const struct python_value *value, struct arena *arena,
                                      struct python_integer *ret_integer);
enum python_outcome python_float_of(const struct python_value *value, struct arena *arena, double *ret_number);
enum python_outcome python_string_of(const struct python_value *value, struct arena *arena,
                                     struct python_text *ret_text);
enum python_outcome python_boolean_of(const struct python_value *value, int32_t *ret_boolean);

int python_integer_sign(const struct python_integer *integer); /* -1, 0, 1 */
int python_integer_compare(const struct python_integer *a, const struct python_integer *b);
void python_integer_write(const struct python_integer *integer, struct kerf_text *out);

#endif
