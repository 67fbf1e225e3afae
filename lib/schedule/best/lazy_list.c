/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/best/lazy_list.h"

#include <assert.h>
#include <stdlib.h>

void *lazy_list_grown(void *items, int32_t count, int32_t *room, size_t size, int32_t *no_memory) {
    assert(count >= 0 && count <= *room);
    if (count < *room) return items;
    int32_t more = *room ? *room * 2 : 16;
    void *bigger = more > *room ? realloc(items, (size_t)more * size) : NULL;
    if (bigger == NULL) {
        *no_memory = 1;
        return items;
    }
    *room = more;
    return bigger;
}
