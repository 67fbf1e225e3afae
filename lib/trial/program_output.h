/* SPDX-License-Identifier: Apache-2.0 */
/* What a program writes: lines, words that say why it failed, numbers in JSON. It may be any bytes. */
#ifndef KERF_TRIAL_PROGRAM_OUTPUT_H
#define KERF_TRIAL_PROGRAM_OUTPUT_H

#include <jansson.h>
#include <stddef.h>
#include "kerf/text.h"

/* ---- Lines -------------------------------------------------------------------------------------------------------- */

/* NULs become blanks, and what a line has beyond LINE_MAX_BYTES is dropped. A line ends with \n or \r; empty ones are left
 * out. */
enum { LINE_MOST = 1 << 20 };

struct output_lines { /* all zeros: nothing yet */
    struct kerf_text line;
};

/* The line is length bytes and a NUL, and the taker's to change. */
typedef void (*line_taker)(void *context, char *line, size_t length);

void output_lines_feed(struct output_lines *lines, const char *bytes, size_t length, line_taker take, void *context);

/* The end of the output: what has no line end is a line, too. */
void output_lines_end(struct output_lines *lines, line_taker take, void *context);

void output_lines_free(struct output_lines *lines);

/* ---- What failures say -------------------------------------------------------------------------------------------- */

/* Whether a line says that memory ran out. Of a long line the first 4 KiB count. */
int says_out_of_memory(const char *line);

/* "ended with status 3", "ended by SIGSEGV". */
void status_words(int wait_status, char *words, size_t size);

/* As much of the line as fits, fit for one line of a terminal. */
void quote_line(const char *line, char *words, size_t size);

/* ---- JSON --------------------------------------------------------------------------------------------------------- */

/*
 * Numbers in what a program printed as JSON.
 *
 * A path is keys and indexes joined by dots: results.0.tokens_per_s. What is a number in it is an index where the value
 * is an array, from the end when it is negative, and a key where it is an object. A backslash takes the next character
 * as it is: a\.b is one key.
 */

/* 1: *ret_value is the finite number there. 0: why says what is there instead. */
int json_path_number(const json_t *root, const char *path, double *ret_value, char *why, size_t size);

/* 1 when it can be a path: no key is empty. */
int json_path_is_valid(const char *path);

/* The last object or array that begins a line of the text, which may hold anything else; NULL: there is none. The
 * work is bounded by a multiple of the length. json_decref gives it back. */
json_t *json_last_value(const char *text, size_t length);

#endif
