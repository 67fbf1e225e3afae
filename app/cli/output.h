/* SPDX-License-Identifier: Apache-2.0 */
/* Where answers go. */
#ifndef KERF_CLI_OUTPUT_H
#define KERF_CLI_OUTPUT_H

#include "kerf/text.h"

/* Writes the text to standard output, gives it back and returns the exit status. A reader who has seen enough (a
 * closed pipe) is no failure. */
int output_print(struct kerf_text *text);

/* Writes to standard output; KERF_EINTERRUPTED when nobody reads it any more. */
int32_t output_stream(const struct kerf_text *text, struct kerf_error *err);

/* Writes the file whole or not at all: a new file takes the old one's place only when every byte is on the disk, and
 * keeps its permissions. "-" and "/dev/stdout" are standard output. */
int32_t output_file(const char *path, const struct kerf_text *text, struct kerf_error *err);

/* Fails where no file can be written, which is better known before the work than after it. */
int32_t output_check(const char *path, struct kerf_error *err);

int output_is_stdout(const char *path);

/* Whether the path is standard output and that is a terminal, which no binary format is for. */
int output_is_terminal(const char *path);

/* Whether the path names a device, a pipe or standard output: the name of such says nothing about a format. */
int output_is_special(const char *path);

/* What follows the last dot of the file's name, "json"; "" where there is no dot. */
const char *output_ending(const char *path);

#endif
