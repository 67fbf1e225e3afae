/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory by lifetime: what belongs to one answer is taken from one arena and given back at once.
 * Allocations are aligned for any type, and zeroed unless they are taken. A failed allocation returns NULL.
 */
#ifndef KERF_BASE_ARENA_H
#define KERF_BASE_ARENA_H

#include <stddef.h>

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
void arena_reset(struct arena *arena); /* forgets everything, keeps one block for the next use */
void arena_trim(struct arena *arena, size_t most); /* arena_reset, but a block of more than `most` bytes goes too */
void arena_free(struct arena *arena);

#endif
