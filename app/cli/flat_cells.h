/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of the forms that are read elsewhere: CSV (RFC 4180) and Markdown. */
#ifndef KERF_CLI_FLAT_CELLS_H
#define KERF_CLI_FLAT_CELLS_H

#include "kerf/kerf.h"

/* A field, quoted where it has to be. */
void csv_text(struct kerf_text *out, const char *text);

/* The title of a parameter's column, "param_" before it where it is among the other titles, which stand in one text
 * with commas between. */
void csv_param(struct kerf_text *out, const char *name, const char *others);

/* A comma and the number; nothing behind the comma where there is none (NAN, infinite). */
void csv_number(struct kerf_text *out, double value);

/* Rows as terminal_table has them, the titles first. */
void markdown_table(struct kerf_text *out, const struct kerf_text *cells);

#endif
