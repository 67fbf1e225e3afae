/* SPDX-License-Identifier: Apache-2.0 */
/* What standard output and standard error can show, and progress on the latter. */
#ifndef KERF_CLI_TERMINAL_H
#define KERF_CLI_TERMINAL_H

#include <stdint.h>

/* Columns of the terminal that standard output is, or of $COLUMNS, at least 20; 100 where there is neither. */
int32_t terminal_columns(void);

/* 1 where standard output is a terminal and NO_COLOR is not set. */
int32_t terminal_colour(void);

/* A kerf_progress: shows the share that is done and the time that remains on a terminal, after the first half
 * second; returns 1 after Ctrl-C. context is a struct terminal_progress, zeroed before its first use. */
struct terminal_progress {
    const char *what; /* "searching" */
    int64_t began_ms;
    int32_t shown;
};
int32_t terminal_progress(void *context, double done);
void terminal_progress_end(struct terminal_progress *progress); /* wipes the line */

#endif
