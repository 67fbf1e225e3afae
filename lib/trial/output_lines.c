/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/output_lines.h"

#include <string.h>

static void keep(struct output_lines *lines, const char *bytes, size_t length) {
    size_t room = LINE_MOST - lines->line.length;
    kerf_text_write(&lines->line, bytes, length < room ? length : room);
    lines->line.failed = 0; /* the line is shorter then, as one that is too long */
}

void output_lines_end(struct output_lines *lines, line_taker take, void *context) {
    struct kerf_text *line = &lines->line;
    if (line->length == 0) return;
    for (char *nul = line->data; (nul = memchr(nul, 0, (size_t)(line->data + line->length - nul)));) *nul = ' ';
    take(context, line->data, line->length);
    kerf_text_clear(line);
}

void output_lines_feed(struct output_lines *lines, const char *bytes, size_t length, line_taker take, void *context) {
    size_t from = 0;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '\n' && bytes[i] != '\r') continue;
        keep(lines, bytes + from, i - from);
        output_lines_end(lines, take, context);
        from = i + 1;
    }
    keep(lines, bytes + from, length - from);
}

void output_lines_free(struct output_lines *lines) { kerf_text_free(&lines->line); }
