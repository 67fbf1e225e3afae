/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/flat_cells.h"

#include <math.h>
#include <string.h>

void csv_text(struct kerf_text *out, const char *text) {
    if (!strpbrk(text, ",\"\n\r")) {
        kerf_text_add(out, text);
        return;
    }
    kerf_text_add(out, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"') kerf_text_add(out, "\"");
        kerf_text_write(out, c, 1);
    }
    kerf_text_add(out, "\"");
}

void csv_param(struct kerf_text *out, const char *name, const char *others) {
    size_t length = strlen(name);
    for (const char *c = others; c; c = strchr(c, ','), c += c != NULL)
        if (strncmp(c, name, length) == 0 && (c[length] == ',' || c[length] == 0)) kerf_text_add(out, "param_");
    csv_text(out, name);
}

void csv_number(struct kerf_text *out, double value) {
    kerf_text_add(out, ",");
    if (isfinite(value)) kerf_text_number(out, value);
}

void markdown_table(struct kerf_text *out, const struct kerf_text *cells) {
    int32_t line = 0, columns = 1;
    for (const char *c = cells->data ? cells->data : ""; *c; c++) {
        if (c == cells->data || c[-1] == '\n') kerf_text_add(out, "| ");
        if (*c == '\t') {
            kerf_text_add(out, " | ");
            columns += line == 0;
        } else if (*c == '\n') {
            kerf_text_add(out, " |\n");
            if (line++ == 0) {
                kerf_text_add(out, "|");
                kerf_text_repeat(out, " --- |", columns);
                kerf_text_add(out, "\n");
            }
        } else {
            if (*c == '|') kerf_text_add(out, "\\");
            kerf_text_write(out, c, 1);
        }
    }
    if (cells->failed) out->failed = 1;
}
