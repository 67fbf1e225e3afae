/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that grow. */
#ifndef KERF_SCHEDULE_BEST_LAZY_LIST_H
#define KERF_SCHEDULE_BEST_LAZY_LIST_H

#include <stddef.h>
#include <stdint.h>

/* The items with room for one more than count of them; as they are, and *no_memory 1, where memory runs out. */
void *lazy_list_grown(void *items, int32_t count, int32_t *room, size_t size, int32_t *no_memory);

#endif
