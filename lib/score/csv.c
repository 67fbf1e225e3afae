/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the bytes; a cell is copied once. */
#include "score/csv.h"

#include <string.h>

struct csv csv_begin(const char *bytes, size_t size) {
    const int mark = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;
    return (struct csv){.at = bytes + (mark ? 3 : 0), .end = bytes + size, .line = 1};
}

static int is_blank(char c) { return c == ' ' || c == '\t'; }

static int ends_cell(const struct csv *csv, const char *at) {
    return at == csv->end || *at == ',' || *at == '\n' || *at == '\r';
}

static void skip_blanks(struct csv *csv) {
    while (csv->at < csv->end && is_blank(*csv->at)) csv->at++;
}

/* Behind a line end, whichever of \n, \r\n and \r it is. */
static void skip_line_end(struct csv *csv) {
    const char first = *csv->at++;
    if (first == '\r' && csv->at < csv->end && *csv->at == '\n') csv->at++;
    csv->line++;
}

/* `at` is behind the quote that opens; NULL when memory ran out. */
static const char *read_quoted(struct csv *csv, struct arena *arena, struct csv_record *record) {
    const char *close = csv->at;
    size_t length = 0;
    for (; close < csv->end && (*close != '"' || (close + 1 < csv->end && close[1] == '"')); close++, length++)
        if (*close == '"') close++;
    char *cell = arena_take(arena, length + 1, 1);
    if (cell == NULL) return NULL;
    for (size_t i = 0; i < length; i++) {
        if (*csv->at == '"') csv->at++;
        csv->line += *csv->at == '\n';
        cell[i] = *csv->at++;
    }
    cell[length] = 0;
    csv->at = close;
    if (close == csv->end)
        record->why = "a quote opens and never closes";
    else
        csv->at++;
    skip_blanks(csv);
    if (!ends_cell(csv, csv->at)) record->why = "text behind the quote that closes a cell";
    while (!ends_cell(csv, csv->at)) csv->at++;
    if (strlen(cell) != length) record->why = "a byte 0 in a cell";
    return cell;
}

static const char *read_plain(struct csv *csv, struct arena *arena, struct csv_record *record) {
    const char *begin = csv->at;
    while (!ends_cell(csv, csv->at)) csv->at++;
    const char *end = csv->at;
    while (end > begin && is_blank(end[-1])) end--;
    const char *cell = arena_copy(arena, begin, (size_t)(end - begin));
    if (cell && strlen(cell) != (size_t)(end - begin)) record->why = "a byte 0 in a cell";
    return cell;
}

enum csv_state csv_next(struct csv *csv, struct arena *arena, struct csv_record *ret_record) {
    while (csv->at < csv->end && (*csv->at == '\n' || *csv->at == '\r')) skip_line_end(csv);
    if (csv->at == csv->end) return CSV_END;
    ret_record->count = 0;
    ret_record->line = csv->line;
    ret_record->why = NULL;
    for (;;) {
        skip_blanks(csv);
        const int quoted = csv->at < csv->end && *csv->at == '"';
        csv->at += quoted;
        const char *cell = quoted ? read_quoted(csv, arena, ret_record) : read_plain(csv, arena, ret_record);
        if (cell == NULL) return CSV_NO_MEMORY;
        if (ret_record->count < CSV_CELLS_MAX) ret_record->cells[ret_record->count] = cell;
        ret_record->count++;
        if (csv->at == csv->end) return CSV_RECORD;
        if (*csv->at != ',') {
            skip_line_end(csv);
            return CSV_RECORD;
        }
        csv->at++;
    }
}
