/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/quantity.h"
#include "cli/interrupt.h"

int32_t terminal_columns(void) {
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int32_t count = 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) count = size.ws_col;
    if (count == 0 && columns) count = (int32_t)strtol(columns, NULL, 10);
    if (count <= 0) count = 100;
    return count < 40 ? 40 : count;
}

int32_t terminal_colour(void) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && no_color[0]) return 0;
    if (term && term[0] == 'd') return 0; /* dumb */
    return isatty(STDOUT_FILENO);
}

/* ---- Tables ----------------------------------------------------------------------------------------------- */

enum { GAP = 2 };

struct cell {
    const char *begin, *end;
    int32_t columns;
    int32_t ends_row;
};

/* The cell that begins at c; c is moved to the next one. */
static struct cell next_cell(const char **c) {
    struct cell cell = {*c, *c + strcspn(*c, "\t\n"), 0, 0};
    for (const char *byte = cell.begin; byte < cell.end; byte++) cell.columns += ((unsigned char)*byte & 0xC0) != 0x80;
    cell.ends_row = *cell.end != '\t';
    *c = *cell.end ? cell.end + 1 : cell.end;
    return cell;
}

/* The width of each column, and of the table; -1 for a column that is not there. */
static int32_t measure(const struct kerf_text *cells, int32_t widths[TABLE_COLUMNS_MAX]) {
    int32_t total = -GAP;
    for (int32_t k = 0; k < TABLE_COLUMNS_MAX; k++) widths[k] = -1;
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

/* Cuts, then leaves out columns, those of the largest leave_out first, and takes back that for which there is room
 * after all. */
static void make_fit(const struct table_column *columns, int32_t widths[TABLE_COLUMNS_MAX], int32_t total,
                     int32_t width) {
    int32_t wanted[TABLE_COLUMNS_MAX], whole[TABLE_COLUMNS_MAX], most = 0;
    memcpy(wanted, widths, sizeof wanted);
    total = cut(columns, widths, total, width);
    memcpy(whole, widths, sizeof whole);
    while (total > width) {
        int32_t least = -1, widest = -1;
        for (int32_t k = 0; k < TABLE_COLUMNS_MAX; k++) {
            if (widths[k] < 0) continue;
            if (columns[k].leave_out > 0 && (least < 0 || columns[k].leave_out > columns[least].leave_out)) least = k;
            if (!columns[k].right && (widest < 0 || widths[k] > widths[widest])) widest = k;
        }
        if (least < 0) { /* none is left to leave out: cut words, the longest first */
            if (widest < 0 || widths[widest] <= 1) return;
            widths[widest]--, total--;
            continue;
        }
        total -= widths[least] + GAP;
        widths[least] = -1;
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
        struct cell cell = {.ends_row = 0};
        int32_t shown = 0;
        kerf_text_add(out, style);
        for (int32_t k = 0; !cell.ends_row && k < TABLE_COLUMNS_MAX; k++) {
            cell = next_cell(&c);
            if (widths[k] < 0) continue;
            if (shown++) kerf_text_repeat(out, " ", GAP);
            print_cell(out, &cell, widths[k], columns[k].right);
        }
        while (out->length && out->data[out->length - 1] == ' ') out->data[--out->length] = 0;
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
        if (widths[k] >= 0) continue;
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

/* ---- Plain text ------------------------------------------------------------------------------------------- */

/* What kerf itself prints beyond ASCII, and a sign of the same width; signs that stand for parts of a bar differ. */
static const struct {
    const char *sign;
    char instead;
} signs[] = {{"\u2588", '@'}, {"\u2593", '*'}, {"\u2592", '|'}, {"\u2591", '~'}, {"\u2589", '@'},
             {"\u258A", '@'}, {"\u258B", '@'}, {"\u258C", '@'}, {"\u258D", ' '}, {"\u258E", ' '},
             {"\u258F", ' '}, {"\u2580", '"'}, {"\u00B7", '.'}, {"\u2026", '~'}, {"\u00B5", 'u'},
             {"\u00D7", 'x'}, {"\u2212", '-'}, {"\u2013", '-'}, {"\u2014", '-'}};

int terminal_is_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale == NULL || locale[0] == 0) continue; /* the first that is set decides */
        return strcasestr(locale, "utf-8") != NULL || strcasestr(locale, "utf8") != NULL;
    }
    return 0;
}

void terminal_plain(struct kerf_text *text) {
    if (text->data == NULL || terminal_is_utf8()) return;
    char *to = text->data;
    for (const char *from = text->data, *end = from + text->length; from < end;) {
        size_t length = 1, i = 0;
        while (from + length < end && ((unsigned char)from[length] & 0xC0) == 0x80) length++;
        while (i < sizeof signs / sizeof *signs &&
               !(strlen(signs[i].sign) == length && memcmp(signs[i].sign, from, length) == 0))
            i++;
        *to++ = (unsigned char)*from < 0x80 ? *from : i < sizeof signs / sizeof *signs ? signs[i].instead : '?';
        from += length;
    }
    *to = 0;
    text->length = (size_t)(to - text->data);
}

/* ---- Progress --------------------------------------------------------------------------------------------- */

static int64_t now_ms(void) { return (int64_t)(clock_ticks_s() * 1000); }

int32_t terminal_progress(void *context, double done) {
    struct terminal_progress *progress = context;
    if (done > progress->most) progress->most = done; /* a part that is searched anew takes nothing back */
    done = progress->most;
    enum { QUIET_MS = 500, EVERY_MS = 100 };
    int64_t now = now_ms();
    if (progress->began_ms == 0) progress->began_ms = now;
    int64_t spent = now - progress->began_ms;
    if (spent >= QUIET_MS && now - progress->shown_ms >= EVERY_MS && done > 0 && isatty(STDERR_FILENO)) {
        struct kerf_text left = {0};
        quantity_seconds(&left, (double)spent / 1000 * (1 - done) / done);
        struct winsize size;
        int narrow = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_col < 64;
        fprintf(stderr, "\r\033[K%s: %.0f %%, %s left%s", progress->what, 100 * done,
                left.failed ? "some time" : left.data, narrow ? "" : " (Ctrl-C prints what is known)");
        fflush(stderr);
        kerf_text_free(&left);
        progress->shown_ms = now;
    }
    return interrupted();
}

void terminal_progress_end(struct terminal_progress *progress) {
    if (progress->shown_ms) fputs("\r\033[K", stderr);
    progress->shown_ms = 0;
}
