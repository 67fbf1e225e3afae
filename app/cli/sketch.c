/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sketch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* NULL, and memory given back, when there is no room to remember it. */
static void *keep(struct sketch *sketch, void *memory) {
    void **kept = realloc(sketch->kept, (sketch->num_kept + 1) * sizeof *kept);
    if (kept) sketch->kept = kept;
    if (kept == NULL || memory == NULL) {
        sketch->failed = 1;
        free(memory);
        return NULL;
    }
    return kept[sketch->num_kept++] = memory;
}

const char *sketch_text(struct sketch *sketch, struct kerf_text *text) {
    if (text->failed) sketch->failed = 1;
    const char *words = keep(sketch, text->data);
    return words ? words : "";
}

const char *sketch_printf(struct sketch *sketch, const char *format, ...) {
    char *words = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&words, format, arguments) < 0) words = NULL;
    va_end(arguments);
    words = keep(sketch, words);
    return words ? words : "";
}

void *sketch_alloc(struct sketch *sketch, size_t count, size_t size) {
    return keep(sketch, calloc(count ? count : 1, size));
}

void sketch_free(struct sketch *sketch) {
    for (size_t i = 0; i < sketch->num_kept; i++) free(sketch->kept[i]);
    free(sketch->kept);
    *sketch = (struct sketch){0};
}
