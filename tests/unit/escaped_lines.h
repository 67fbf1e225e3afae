/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of fields with tabs between, in which \xHH is a byte; lines that begin with # are passed over. */
#ifndef KERF_TEST_ESCAPED_LINES_H
#define KERF_TEST_ESCAPED_LINES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct escaped_field {
    char *bytes; /* and a NUL */
    size_t length;
};

struct escaped_lines {
    FILE *file;
    char *line;
    size_t capacity;
    int number;
};

static void escaped_open(struct escaped_lines *lines, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/reference/%s", KERF_TEST_DIR, name);
    *lines = (struct escaped_lines){.file = fopen(path, "rb")};
    assert_non_null(lines->file);
}

static void escaped_close(struct escaped_lines *lines) {
    fclose(lines->file);
    free(lines->line);
}

static int escaped_hex(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static struct escaped_field escaped_undo(char *text) {
    char *to = text;
    for (const char *c = text; *c; c++) {
        if (*c == '\\') {
            *to++ = (char)(escaped_hex(c[2]) << 4 | escaped_hex(c[3]));
            c += 3;
        } else {
            *to++ = *c;
        }
    }
    *to = 0;
    return (struct escaped_field){text, (size_t)(to - text)};
}

/* 0 at the end of the file. Every line has count fields. */
static int escaped_next(struct escaped_lines *lines, struct escaped_field *ret_fields, int count) {
    ssize_t length;
    do {
        length = getline(&lines->line, &lines->capacity, lines->file);
        lines->number++;
        if (length <= 0) return 0;
    } while (lines->line[0] == '#');
    lines->line[length - 1] = 0;
    char *rest = lines->line;
    for (int i = 0; i < count; i++) {
        char *field = strsep(&rest, "\t");
        assert_non_null(field);
        ret_fields[i] = escaped_undo(field);
    }
    assert_null(rest);
    return 1;
}

#endif
