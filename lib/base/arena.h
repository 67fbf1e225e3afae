/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory by lifetime: everything that belongs to one answer comes from one arena and is freed at once. Allocations are
 * aligned for any type, and zeroed unless they are taken. A failed allocation returns NULL.
 */
#ifndef KERF_BASE_ARENA_H
#define KERF_BASE_ARENA_H

#include <stddef.h>
#include "kerf/text.h"

struct arena_block;

struct arena { /* all zeros: empty */
    struct arena_block *blocks;
};

void *arena_alloc(struct arena *arena, size_t count, size_t size); /* NULL also when count * size overflows */
void *arena_take(struct arena *arena, size_t count,
                 size_t size); /* the same, not zeroed: for what is written at once */
char *arena_copy(struct arena *arena, const char *bytes, size_t length); /* and a NUL behind them */
char *arena_strdup(struct arena *arena, const char *string);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_reset(struct arena *arena);             /* forgets everything, keeps one block for the next use */
void arena_trim(struct arena *arena, size_t most); /* arena_reset, but a block of more than `most` bytes goes too */
void arena_free(struct arena *arena);

/* An arena for the strings, numbers and bars of a picture while it is made. After memory ran out `failed` stays 1 and
 * every result is empty, so that a caller checks once, before it draws. */
struct sketch { /* all zeros: empty */
    struct arena arena;
    int failed;
};

const char *sketch_text(struct sketch *sketch, struct kerf_text *text); /* gives the text back */
const char *sketch_printf(struct sketch *sketch, const char *format, ...) KERF_PRINTF(2, 3);
void *sketch_alloc(struct sketch *sketch, size_t count, size_t size); /* zeroed; NULL when memory ran out */
void sketch_free(struct sketch *sketch);

#endif
