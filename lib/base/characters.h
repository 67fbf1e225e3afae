/* SPDX-License-Identifier: Apache-2.0 */
/* Characters and names: UTF-8, hexadecimal digits, and the name that was meant. */
#ifndef KERF_BASE_CHARACTERS_H
#define KERF_BASE_CHARACTERS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the code point that begins at c in a string; 0 where there is none. */
size_t utf8_code_point(const char *c);

/* Replaces every byte that is not part of printable UTF-8 by '?'. Input that is quoted may be cut within a code
 * point, hold escape sequences, or be a file name that is not text; it must do no harm in JSON or on a terminal. */
void utf8_clean(char *text);

/* Columns that a UTF-8 string takes on a terminal: every code point counts one. */
int32_t utf8_columns(const char *utf8);

/* The value of a digit, 0 to 15; -1 for any other character. */
static inline int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The digit of the lowest four bits, in lower case. */
static inline char hex_digit(unsigned value) { return "0123456789abcdef"[value & 15]; }

/* Whether a word stands in a list with commas between, "show,export"; list NULL: none. */
int list_has(const char *list, const char *word);

/* For "did you mean": the entry of names (count of them, none NULL) that is the nearest to word by the number of edits,
 * or NULL when none is near. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
