/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of cells as a table, as Markdown and as CSV. A table too wide loses words, then columns, as its columns say; words
 * are broken into lines. */
#include "cli/cells.h"

#include <math.h>
#include <string.h>

/* ---- Tables as wide as a terminal ------------------------------------------------------------------------------ */

enum { GAP = 2, LEFT_OUT = -1, BELOW = -2 }; /* BELOW: on a line of its own */

static int32_t columns_of(const char *text, size_t length) {
    int32_t columns = 0;
    for (size_t i = 0; i < length; i++) columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

struct cell {
    const char *begin, *end;
    int32_t columns;
    int32_t ends_row;
};

/* The cell that begins at c; c is moved to the next one. */
static struct cell next_cell(const char **c) {
    struct cell cell = {*c, *c + strcspn(*c, "\t\n"), 0, 0};
    cell.columns = columns_of(cell.begin, (size_t)(cell.end - cell.begin));
    cell.ends_row = *cell.end != '\t';
    *c = *cell.end ? cell.end + 1 : cell.end;
    return cell;
}

/* The width of each column, and of the table; LEFT_OUT for a column that is not there. */
static int32_t measure(const struct kerf_text *cells, int32_t widths[TABLE_COLUMNS_MAX]) {
    int32_t total = -GAP;
    for (int32_t k = 0; k < TABLE_COLUMNS_MAX; k++) widths[k] = LEFT_OUT;
    const char *c = cells->data ? cells->data : "";
    for (int32_t k = 0; *c && k < TABLE_COLUMNS_MAX;) {
        struct cell cell = next_cell(&c);
        if (cell.columns > widths[k]) widths[k] = cell.columns;
        k = cell.ends_row ? 0 : k + 1;
    }
    for (int32_t k = 0; k < TABLE_COLUMNS_MAX; k++)
        if (widths[k] >= 0) total += widths[k] + GAP;
    return total;
}

static int32_t cut(const struct table_column *columns, int32_t widths[TABLE_COLUMNS_MAX], int32_t total,
                   int32_t width) {
    enum { LEAST = 24 }; /* of which a reason's first words are left */
    for (int32_t k = 0; k < TABLE_COLUMNS_MAX; k++)
        for (; widths[k] > LEAST && columns[k].leave_out == TABLE_CUT && total > width; total--) widths[k]--;
    return total;
}

static void widen(const int32_t wanted[TABLE_COLUMNS_MAX], int32_t widths[TABLE_COLUMNS_MAX], int32_t total,
                  int32_t width) {
    for (int32_t k = 0; k < TABLE_COLUMNS_MAX; k++)
        for (; widths[k] >= 0 && widths[k] < wanted[k] && total < width; total++) widths[k]++;
}

/* Cuts columns, then leaves some out, the largest leave_out first, and brings back those that fit after all. */
static void make_fit(const struct table_column *columns, int32_t widths[TABLE_COLUMNS_MAX], int32_t total,
                     int32_t width) {
    int32_t wanted[TABLE_COLUMNS_MAX], whole[TABLE_COLUMNS_MAX], most = 0;
    memcpy(wanted, widths, sizeof wanted);
    total = cut(columns, widths, total, width);
    memcpy(whole, widths, sizeof whole);
    while (total > width) {
        int32_t least = -1, widest = -1, pasted = -1;
        for (int32_t k = 0; k < TABLE_COLUMNS_MAX; k++) {
            if (widths[k] < 0) continue;
            if (columns[k].leave_out > 0 && (least < 0 || columns[k].leave_out > columns[least].leave_out)) least = k;
            if (columns[k].leave_out == TABLE_WHOLE) pasted = k;
            if (!columns[k].right && (widest < 0 || widths[k] > widths[widest])) widest = k;
        }
        if (least < 0 && pasted >= 0) {
            total -= widths[pasted] + GAP;
            widths[pasted] = BELOW;
            continue;
        }
        if (least < 0) { /* none is left to leave out: cut words, the longest first */
            if (widest < 0 || widths[widest] <= 1) break;
            widths[widest]--, total--;
            continue;
        }
        total -= widths[least] + GAP;
        widths[least] = LEFT_OUT;
        if (columns[least].leave_out > most) most = columns[least].leave_out;
    }
    for (int32_t rank = 1; rank <= most; rank++)
        for (int32_t k = 0; k < TABLE_COLUMNS_MAX; k++) {
            if (whole[k] < 0 || widths[k] == whole[k] || columns[k].leave_out != rank || total + whole[k] + GAP > width)
                continue;
            total += whole[k] + GAP;
            widths[k] = whole[k];
        }
    widen(wanted, widths, total, width);
}

static void print_cell(struct kerf_text *out, const struct cell *cell, int32_t width, int32_t right) {
    int32_t shown = cell->columns;
    const char *end = cell->end;
    if (shown > width) { /* cut, with a sign that it was */
        shown = width - 1;
        end = cell->begin;
        for (int32_t left = shown; left > 0; left--) do
                end++;
            while (((unsigned char)*end & 0xC0) == 0x80);
    }
    if (right) kerf_text_repeat(out, " ", width - cell->columns);
    kerf_text_write(out, cell->begin, (size_t)(end - cell->begin));
    if (shown < cell->columns) kerf_text_add(out, "\u2026");
    if (!right) kerf_text_repeat(out, " ", width - cell->columns);
}

int32_t terminal_table_width(const struct kerf_text *cells) {
    int32_t widths[TABLE_COLUMNS_MAX];
    return measure(cells, widths);
}

static void print_rows(struct kerf_text *out, const struct kerf_text *cells, const struct table_column *columns,
                       const int32_t widths[TABLE_COLUMNS_MAX], int32_t colour, int32_t bold_row) {
    const char *c = cells->data ? cells->data : "";
    for (int32_t row = 0; *c; row++) {
        const char *style = !colour ? "" : row == 0 ? "\033[2m" : row == bold_row ? "\033[1m" : "";
        struct cell cell = {.ends_row = 0}, below = {.columns = 0};
        int32_t shown = 0;
        kerf_text_add(out, style);
        for (int32_t k = 0; !cell.ends_row && k < TABLE_COLUMNS_MAX; k++) {
            cell = next_cell(&c);
            if (widths[k] == BELOW) below = cell;
            if (widths[k] < 0) continue;
            if (shown++) kerf_text_repeat(out, " ", GAP);
            print_cell(out, &cell, widths[k], columns[k].right);
        }
        while (out->length && out->data[out->length - 1] == ' ') out->data[--out->length] = 0;
        if (below.columns > 0) {
            kerf_text_add(out, "\n");
            kerf_text_repeat(out, " ", GAP);
            kerf_text_write(out, below.begin, (size_t)(below.end - below.begin));
        }
        kerf_text_add(out, style[0] ? "\033[0m\n" : "\n");
    }
}

/* "not shown, for lack of room: TP comm, DP comm", over as many lines as that takes. */
static void print_left_out(struct kerf_text *out, const struct kerf_text *cells,
                           const int32_t widths[TABLE_COLUMNS_MAX], int32_t width) {
    static const char lead[] = "not shown, for lack of room:";
    const char *c = cells->data ? cells->data : "";
    int32_t at = 0;
    struct cell cell = {.ends_row = *c == 0};
    for (int32_t k = 0; !cell.ends_row && k < TABLE_COLUMNS_MAX; k++) {
        cell = next_cell(&c);
        if (widths[k] != LEFT_OUT) continue;
        if (at == 0)
            kerf_text_add(out, lead);
        else
            kerf_text_add(out, ",");
        at += at == 0 ? (int32_t)sizeof lead - 1 : 1;
        int breaks = at + 2 + cell.columns > width; /* a comma may follow */
        kerf_text_add(out, breaks ? "\n" : " ");
        at = (breaks ? 0 : at + 1) + cell.columns;
        kerf_text_write(out, cell.begin, (size_t)(cell.end - cell.begin));
    }
    if (at > 0) kerf_text_add(out, "\n");
}

void terminal_rows(struct kerf_text *out, const struct kerf_text *cells, const struct table_column *columns,
                   int32_t width) {
    int32_t widths[TABLE_COLUMNS_MAX];
    if (cells->failed) out->failed = 1;
    make_fit(columns, widths, measure(cells, widths), width);
    print_rows(out, cells, columns, widths, 0, -1);
}

void terminal_table(struct kerf_text *out, const struct kerf_text *cells, const struct table_column *columns,
                    int32_t width, int32_t colour, int32_t bold_row) {
    int32_t widths[TABLE_COLUMNS_MAX];
    if (cells->failed) out->failed = 1;
    make_fit(columns, widths, measure(cells, widths), width);
    print_rows(out, cells, columns, widths, colour, bold_row);
    print_left_out(out, cells, widths, width);
}

/* ---- Words as wide as a terminal ------------------------------------------------------------------------------- */

/* Bytes of the first `columns` code points of the text, or of all of it. */
static size_t prefix_bytes(const char *text, size_t length, int32_t columns) {
    size_t bytes = 0;
    for (; bytes < length && (columns > 0 || ((unsigned char)text[bytes] & 0xC0) == 0x80); bytes++)
        columns -= ((unsigned char)text[bytes + 1] & 0xC0) != 0x80;
    return bytes;
}

void terminal_words(struct kerf_text *out, const char *label, const struct kerf_text *words, int32_t indent,
                    int32_t right) {
    const int32_t width = right < 110 ? right : 110;
    int32_t at = indent;
    if (words->failed) out->failed = 1;
    kerf_text_printf(out, "%-*s", (int)indent, label);
    for (const char *word = words->data ? words->data : ""; *word;) {
        size_t length = strcspn(word, " ");
        int32_t columns = columns_of(word, length);
        if (at > indent && at + 1 + columns > width) {
            kerf_text_add(out, "\n");
            kerf_text_repeat(out, " ", indent);
            at = indent;
        }
        if (at > indent) kerf_text_add(out, " "), at++;
        if (at + columns > width) {
            length = prefix_bytes(word, length, width - at);
            columns = width - at;
        }
        kerf_text_write(out, word, length);
        at += columns;
        word += length;
        while (*word == ' ') word++;
    }
    kerf_text_add(out, "\n");
}

void terminal_wrap(struct kerf_text *text, size_t from, int32_t columns) {
    char *blank = NULL; /* the last one where the line may end, and the columns from there on */
    int32_t column = 0, behind = 0, is_command = 0;
    for (char *c = text->length > from ? text->data + from : NULL; c && *c; c++) {
        if (*c == '\033') { /* takes no room */
            while (c[1] && *c != 'm') c++;
            continue;
        }
        if (*c == '\n') {
            column = is_command = 0;
            blank = NULL;
            continue;
        }
        int32_t begins = ((unsigned char)*c & 0xC0) != 0x80;
        column += begins, behind += begins;
        if (*c == '`') is_command = !is_command;
        if (*c == ' ' && c[1] != '%' && !is_command) blank = c, behind = 0;
        if (column <= columns || blank == NULL || blank == c) continue;
        *blank = '\n';
        column = behind;
        blank = NULL;
    }
}

/* ---- CSV and Markdown -------------------------------------------------------------------------------------------- */

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
