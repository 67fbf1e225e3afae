/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a whole input of bounded size. */
#ifndef KERF_BASE_INPUT_H
#define KERF_BASE_INPUT_H

#include "kerf/text.h"

/* Reads the file ("-": standard input) into text; an input of more than limit bytes is refused without being
 * read to its end. Errors name the file. */
int32_t input_read(const char *path, size_t limit, struct kerf_text *text, struct kerf_error *err);

#endif
