/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of one request: taken piece by piece, given back at once. A connection keeps its pool from request to
 * request; what came out of it lives until pool_reset or pool_free.
 */
#ifndef KERF_SERVER_POOL_H
#define KERF_SERVER_POOL_H

#include <stddef.h>

struct pool_block;

struct pool { /* all zeros: empty */
    struct pool_block *blocks;
};

void *pool_take(struct pool *pool, size_t count, size_t size);        /* not zeroed; NULL: no memory, or too much */
char *pool_copy(struct pool *pool, const char *bytes, size_t length); /* and a NUL */
void pool_reset(struct pool *pool); /* forgets everything, keeps one small block for the next request */
void pool_free(struct pool *pool);

#endif
