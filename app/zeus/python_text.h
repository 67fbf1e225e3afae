/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python's text as bytes, and as json.dumps, str.encode and repr write it.
 *
 * A Python string is any sequence of code points, lone surrogates and NUL among them. It is kept as UTF-8 in which a
 * surrogate is the three bytes that its number gives (Python's "surrogatepass"). Where a C string is needed a NUL is
 * C0 80, which stands for nothing else.
 */
#ifndef KERF_ZEUS_PYTHON_TEXT_H
#define KERF_ZEUS_PYTHON_TEXT_H

#include "base/arena.h"
#include "kerf/text.h"

struct python_text {
    const char *bytes; /* no NUL behind them */
    size_t length;
};

/* The bytes of a request as text: UTF-8, UTF-16 or UTF-32 with or without a byte order mark, found out as json.loads
 * does. KERF_EINVALID where they are none. Of UTF-8 the text is a part of bytes. */
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

/* In quotes as json.dumps(ensure_ascii=False) has it; but lone surrogates, which have no UTF-8, are escaped, and so is
 * U+FFFD in the place of what is ill-formed. */
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

#endif
