/* SPDX-License-Identifier: Apache-2.0 */
/* What standard output and standard error can show: tables on the former, progress on the latter. */
#ifndef KERF_CLI_TERMINAL_H
#define KERF_CLI_TERMINAL_H

#include "kerf/text.h"

/* Columns of the terminal that standard output is, or of $COLUMNS, at least 40; 100 where there is neither. */
int32_t terminal_columns(void);

/* 1 where standard output is a terminal and NO_COLOR is not set. */
int32_t terminal_colour(void);

/* A table as wide as its cells, and `width` at most: a column with TABLE_CUT is cut, then those that find no room are
 * left out, the highest leave_out first (0: never); where that is not enough the widest is cut. cells holds the rows,
 * the titles first, as text with a tab between cells and a newline behind each row. Row number bold_row is the bold one
 * where colour is 1. A line behind the table names the columns that were left out. */
enum { TABLE_COLUMNS_MAX = 16, TABLE_CUT = -1 };
struct table_column {
    int32_t right, leave_out; /* right: aligned to the right */
};
void terminal_table(struct kerf_text *out, const struct kerf_text *cells, const struct table_column *columns,
                    int32_t width, int32_t colour, int32_t bold_row);

/* The same without colour, and without that line. */
void terminal_rows(struct kerf_text *out, const struct kerf_text *cells, const struct table_column *columns,
                   int32_t width);

/* Columns of the table that terminal_table would print if it had all the room it wants. */
int32_t terminal_table_width(const struct kerf_text *cells);

/* Whether the environment says that text is in UTF-8. */
int terminal_is_utf8(void);

/* Makes the text ASCII unless the environment says that text is in UTF-8, a sign for a sign. */
void terminal_plain(struct kerf_text *text);

/* A kerf_progress: shows the share that is done and the time that remains on a terminal, after the first half
 * second; returns 1 after Ctrl-C. context is a struct terminal_progress, zeroed before its first use. */
struct terminal_progress {
    const char *what; /* "searching" */
    int64_t began_ms, shown_ms;
    double most; /* the largest share that was told: it never runs backwards */
};
int32_t terminal_progress(void *context, double done);
void terminal_progress_end(struct terminal_progress *progress); /* wipes the line */

#endif
