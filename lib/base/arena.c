/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas: a list of blocks, each at least as large as all before it together would suggest (doubling), so
 * that the number of calls to malloc grows with the logarithm of what is held. */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_BLOCK = 16 * 1024, ALIGNMENT = 16, HUGE_PAGE = 2 << 20, LEAST_HUGE = 16 * HUGE_PAGE };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

/* Large blocks are made of huge pages where the system has them: most of the time that filling one takes is the
 * kernel's, a page after the other. Below 32 MB malloc may take them from its heap, which it then breaks up. */
static struct arena_block *block_alloc(size_t size) {
    if (size < LEAST_HUGE) return malloc(size);
    void *block = aligned_alloc(HUGE_PAGE, (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    if (block) madvise(block, size, MADV_HUGEPAGE); /* without huge pages everything works, but slower */
    return block;
}

void *arena_take(struct arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) return NULL;
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct arena_block *block = arena->blocks;
    if (block == NULL || block->size - block->used < bytes) {
        size_t capacity = block ? block->size * 2 : FIRST_BLOCK;
        if (capacity < bytes) capacity = bytes;
        block = block_alloc(sizeof *block + capacity);
        if (block == NULL && capacity > bytes) { /* a large arena near the limit: doubling is too much */
            capacity = bytes > FIRST_BLOCK ? bytes : FIRST_BLOCK;
            block = block_alloc(sizeof *block + capacity);
        }
        if (block == NULL) return NULL;
        *block = (struct arena_block){.next = arena->blocks, .size = capacity};
        arena->blocks = block;
    }
    void *memory = block->bytes + block->used;
    block->used += bytes;
    assert(block->used <= block->size && (uintptr_t)memory % ALIGNMENT == 0);
    return memory;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size) {
    void *memory = arena_take(arena, count, size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

char *arena_copy(struct arena *arena, const char *bytes, size_t length) {
    char *copy = length < SIZE_MAX / 4 ? arena_take(arena, length + 1, 1) : NULL;
    if (copy == NULL) return NULL;
    if (length) memcpy(copy, bytes, length);
    copy[length] = 0;
    return copy;
}

char *arena_strdup(struct arena *arena, const char *string) { return arena_copy(arena, string, strlen(string)); }

char *arena_printf(struct arena *arena, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *string = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1, 1);
    if (string) vsnprintf(string, (size_t)length + 1, format, again);
    va_end(again);
    return string;
}

void arena_reset(struct arena *arena) {
    struct arena_block *keep = arena->blocks; /* the newest block, nearly always the largest */
    if (keep == NULL) return;
    for (struct arena_block *block = keep->next, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    keep->next = NULL;
    keep->used = 0;
}

void arena_trim(struct arena *arena, size_t most) {
    arena_reset(arena);
    if (arena->blocks && arena->blocks->size > most) arena_free(arena);
}

void arena_free(struct arena *arena) {
    arena_reset(arena);
    free(arena->blocks);
    arena->blocks = NULL;
}

/* ---- A sketch -------------------------------------------------------------------------------------------------- */

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
