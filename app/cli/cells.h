/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of cells, as text with tabs and newlines: a table as wide as a terminal, Markdown, and the cells of CSV (RFC
 * 4180); and words as wide as a terminal. */
#ifndef KERF_CLI_CELLS_H
#define KERF_CLI_CELLS_H

#include "kerf/text.h"

/* A table as wide as its cells, at most `width`: a column with TABLE_CUT is cut, then columns are left out, the highest
 * leave_out first (0: never), then a column with TABLE_WHOLE, whose text is there to be pasted, stands whole on a line of
 * its own below its row, and last the widest column is cut. cells holds the rows, the titles first, as text with a
 * tab between cells and a newline behind each row. Row number bold_row is the bold one where colour is 1. A line behind
 * the table names the columns that were left out. */
enum { TABLE_COLUMNS_MAX = 16, TABLE_CUT = -1, TABLE_WHOLE = -2 };
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

/* Words broken between columns `indent` and the right edge, one that is wider than a line within; ends the line. The label,
 * at most as wide as the indent, stands before the first line. No line is wider than 110 columns. */
void terminal_words(struct kerf_text *out, const char *label, const struct kerf_text *words, int32_t indent,
                    int32_t right);

/* Breaks lines of sentences that are longer than a terminal is wide, from the byte `from` on: at blanks, but not before a %
 * nor between backquotes, where a command stands that may be copied. */
void terminal_wrap(struct kerf_text *text, size_t from, int32_t columns);

/* A field of CSV, quoted where it has to be. */
void csv_text(struct kerf_text *out, const char *text);

/* A comma and the number; the comma alone where it is NAN or infinite. */
void csv_number(struct kerf_text *out, double value);

/* Rows as terminal_table has them, the titles first. */
void markdown_table(struct kerf_text *out, const struct kerf_text *cells);

#endif
