/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that double, so that a request of any size takes few of them; most need the first alone. */
#include "server/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 8 * 1024, ALIGNMENT = 8, MOST_KEPT = 64 * 1024 };

struct pool_block {
    struct pool_block *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

static struct pool_block *add_block(struct pool *pool, size_t bytes) {
    size_t size = pool->blocks ? pool->blocks->size * 2 : FIRST_BLOCK;
    if (size < bytes) size = bytes;
    struct pool_block *block = malloc(sizeof *block + size);
    if (block == NULL) return NULL;
    *block = (struct pool_block){.next = pool->blocks, .size = size};
    return pool->blocks = block;
}

void *pool_take(struct pool *pool, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) return NULL;
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct pool_block *block = pool->blocks;
    if (block == NULL || block->size - block->used < bytes) block = add_block(pool, bytes);
    if (block == NULL) return NULL;
    void *memory = block->bytes + block->used;
    block->used += bytes;
    return memory;
}

char *pool_copy(struct pool *pool, const char *bytes, size_t length) {
    char *copy = pool_take(pool, length + 1, 1);
    if (copy == NULL) return NULL;
    if (length) memcpy(copy, bytes, length);
    copy[length] = 0;
    return copy;
}

void pool_free(struct pool *pool) {
    for (struct pool_block *block = pool->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    pool->blocks = NULL;
}

void pool_reset(struct pool *pool) {
    struct pool_block *first = pool->blocks; /* the newest and largest */
    if (first == NULL) return;
    struct pool rest = {.blocks = first->next};
    pool_free(&rest);
    first->next = NULL;
    first->used = 0;
    if (first->size > MOST_KEPT) pool_free(pool);
}
