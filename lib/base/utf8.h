/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_BASE_UTF8_H
#define KERF_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the code point that begins at c in a string; 0 where there is none. */
size_t utf8_code_point(const char *c);

/* Replaces every byte that is not part of printable UTF-8 by '?'. What is quoted of somebody's input may be cut within
 * a code point, hold escape sequences, or come from a file name that is no text; it must do no harm in JSON or on a
 * terminal. */
void utf8_clean(char *text);

/* Columns that a UTF-8 string takes on a terminal: every code point counts one. */
int32_t utf8_columns(const char *utf8);

#endif
