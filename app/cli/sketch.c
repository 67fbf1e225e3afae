/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sketch.h"

#include <stdarg.h>
#include <stdio.h>

static const char *kept(struct sketch *sketch, const char *words) {
    if (words == NULL) sketch->failed = 1;
    return words ? words : "";
}

const char *sketch_text(struct sketch *sketch, struct kerf_text *text) {
    char *copy = text->failed ? NULL : arena_copy(&sketch->arena, text->data, text->length);
    kerf_text_free(text);
    return kept(sketch, copy);
}

const char *sketch_printf(struct sketch *sketch, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *words = length < 0 ? NULL : arena_alloc(&sketch->arena, (size_t)length + 1, 1);
    if (words) vsnprintf(words, (size_t)length + 1, format, again);
    va_end(again);
    return kept(sketch, words);
}

void *sketch_alloc(struct sketch *sketch, size_t count, size_t size) {
    void *memory = arena_alloc(&sketch->arena, count, size);
    if (memory == NULL) sketch->failed = 1;
    return memory;
}

void sketch_free(struct sketch *sketch) {
    arena_free(&sketch->arena);
    *sketch = (struct sketch){.failed = 0};
}
