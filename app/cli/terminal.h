/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal shows and asks: width, colour and signs of standard output, progress on standard error, Ctrl-C. */
#ifndef KERF_CLI_TERMINAL_H
#define KERF_CLI_TERMINAL_H

#include "kerf/text.h"

/* Columns of the terminal that standard output is, or of $COLUMNS, at least 40; 100 where there is neither. */
int32_t terminal_columns(void);

/* Lines of the terminal that standard output is; 0: it is none, or they are not known. */
int32_t terminal_height(void);

/* 1 where standard output is a terminal and NO_COLOR is not set. */
int32_t terminal_colour(void);

/* Makes the text ASCII unless the environment says that text is in UTF-8, a sign for a sign. */
void terminal_plain(struct kerf_text *text);

/* A kerf_progress: shows the share that is done, the time that remains and what is found on a terminal, after the first
 * half second; returns 1 after Ctrl-C. context is a struct terminal_progress, zeroed before its first use. */
struct terminal_progress {
    const char *what; /* "searching" */
    int64_t began_ms, shown_ms;
    double most;             /* the largest share that was told: it never runs backwards */
    double found_s, bound_s; /* the shortest step that was found, and what none is below; 0: not known */
};
int32_t terminal_progress(void *context, double done);
void terminal_progress_found(void *context, double found_s, double bound_s); /* INFINITY: none yet */
void terminal_progress_end(struct terminal_progress *progress);              /* wipes the line */

/* Ctrl-C (and SIGTERM, and a terminal that is closed): the first asks the work to end with what is known, the second
 * ends the program. */
void interrupt_catch(void);
int interrupted(void);

/* Waits until there is something to read, or the work is asked to end; returns interrupted(). After interrupt_catch. */
int interrupt_wait(int fd);

/* Readable once the work is asked to end: for those who wait on more than one thing. */
int interrupt_fd(void);

#endif
