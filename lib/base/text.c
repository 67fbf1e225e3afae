/* SPDX-License-Identifier: Apache-2.0 */
/* The growing string. */
#include "kerf/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and a NUL; 0 once memory has run out. */
static int reserve(struct kerf_text *text, size_t more) {
    if (text->failed) return 0;
    if (more < text->capacity - text->length) return 1;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity - text->length <= more) {
        if (capacity > SIZE_MAX / 4) break;
        capacity *= 2;
    }
    char *data = capacity - text->length > more ? realloc(text->data, capacity) : NULL;
    if (data == NULL) {
        text->failed = 1;
        return 0;
    }
    text->data = data;
    text->capacity = capacity;
    return 1;
}

void kerf_text_write(struct kerf_text *text, const char *bytes, size_t length) {
    if (length == 0 || !reserve(text, length)) return;
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void kerf_text_add(struct kerf_text *text, const char *string) { kerf_text_write(text, string, strlen(string)); }

void kerf_text_repeat(struct kerf_text *text, const char *string, int32_t times) {
    for (int32_t i = 0; i < times; i++) kerf_text_add(text, string);
}

void kerf_text_printf(struct kerf_text *text, const char *format, ...) {
    if (text->failed) return;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t room = text->capacity - text->length; /* most often enough, and then the text is made only once */
    int length = vsnprintf(room ? text->data + text->length : NULL, room, format, args);
    va_end(args);
    if (length < 0) text->failed = 1;
    if (length > 0 && (size_t)length < room) {
        text->length += (size_t)length;
    } else if (length > 0 && reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    } else if (room) {
        text->data[text->length] = 0;
    }
    va_end(again);
}

void kerf_text_clear(struct kerf_text *text) {
    text->length = 0;
    if (text->data) text->data[0] = 0;
}

void kerf_text_free(struct kerf_text *text) {
    free(text->data);
    memset(text, 0, sizeof *text);
}
