/* SPDX-License-Identifier: Apache-2.0 */
/* Where answers go. */
#ifndef KERF_CLI_OUTPUT_H
#define KERF_CLI_OUTPUT_H

#include "cli/command.h"

/* Writes the text to standard output, gives it back and returns the exit status. A reader who has seen enough (a
 * closed pipe) is no failure. */
int output_print(struct kerf_text *text);

/* Writes the file whole or not at all: a new file takes the old one's place only when every byte is on the disk. "-"
 * is standard output. */
int32_t output_file(const char *path, const struct kerf_text *text, struct kerf_error *err);

#endif
