/* SPDX-License-Identifier: Apache-2.0 */
/* What a program writes, which may be any bytes: lines, words that say why it failed, numbers in JSON. */
#ifndef KERF_TRIAL_PROGRAM_OUTPUT_H
#define KERF_TRIAL_PROGRAM_OUTPUT_H

#include <jansson.h>
#include <stddef.h>
#include "kerf/text.h"

/* ---- Lines -------------------------------------------------------------------------------------------------- */

/* A line ends with \n or \r; empty lines are left out. NULs become blanks, and bytes beyond LINE_MAX_BYTES are
 * dropped. */
enum { LINE_MAX_BYTES = 1 << 20 };

struct output_lines { /* all zeros: nothing yet */
    struct kerf_text line;
};

/* Takes one line of length bytes, with a NUL behind them. It may change them. */
typedef void (*line_taker)(void *context, char *line, size_t length);

void output_lines_feed(struct output_lines *lines, const char *bytes, size_t length, line_taker take, void *context);

/* The end of the output: a last line without its end is a line, too. */
void output_lines_end(struct output_lines *lines, line_taker take, void *context);

void output_lines_free(struct output_lines *lines);

/* ---- What failures say -------------------------------------------------------------------------------------- */

/* Whether a line says that memory ran out. Only the first 4 KiB of a long line are searched. */
int says_out_of_memory(const char *line);

/* "ended with status 3", "ended by SIGSEGV". */
void status_words(int wait_status, char *words, size_t size);

/* Copies as much of the line as fits, without anything that a terminal would act on. */
void quote_line(const char *line, char *words, size_t size);

/* ---- JSON --------------------------------------------------------------------------------------------------- */

/*
 * Numbers in what a program printed as JSON.
 *
 * A path is keys and indexes joined by dots: results.0.tokens_per_s. A number in it is an index where the value is an
 * array (from its end when negative), and a key where it is an object. A backslash takes the next character as it is:
 * a\.b is one key.
 */

/* 1: *ret_value is the finite number there. Else why says what is there instead: 0: nothing, -1: no finite number. */
int json_path_number(const json_t *root, const char *path, double *ret_value, char *why, size_t size);

/* 1 when it is a path: no key is empty. */
int json_path_is_valid(const char *path);

/* The last object or array that begins a line of the text, which may hold anything else. NULL: there is none, and why is
 * "", or it is not an answer, and why says so: it has a key twice, or is the end of a value that is_cut says was too long to
 * be kept whole. Takes time linear in the length. json_decref gives it back. */
json_t *json_last_value(const char *text, size_t length, int is_cut, char *why, size_t size);

enum { CAPTURED_MAX_BYTES = 16 << 20 }; /* at the end of an output, in which JSON is looked for */

#endif
