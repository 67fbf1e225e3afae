/* SPDX-License-Identifier: Apache-2.0 */
/* What a program writes, as lines. It may be any bytes: NULs become blanks, and what a line has beyond LINE_MOST is
 * dropped. A line ends with \n or \r; empty ones are left out. */
#ifndef KERF_TRIAL_OUTPUT_LINES_H
#define KERF_TRIAL_OUTPUT_LINES_H

#include "kerf/text.h"

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

#endif
