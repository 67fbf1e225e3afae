/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/ranking.h"

#include <assert.h>
#include <stdlib.h>

int32_t ranked_compare(const struct ranked *a, const struct ranked *b) {
    if (a->throughput != b->throughput) return a->throughput > b->throughput ? -1 : 1;
    if (a->memory_bytes != b->memory_bytes) return a->memory_bytes < b->memory_bytes ? -1 : 1;
    return kerf_layout_compare(&a->layout, &b->layout);
}

static void swap(struct ranked *a, struct ranked *b) {
    struct ranked t = *a;
    *a = *b;
    *b = t;
}

static void sift_up(struct ranked *heap, int32_t i) {
    for (; i > 0 && ranked_compare(&heap[i], &heap[(i - 1) / 2]) > 0; i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct ranked *heap, int32_t count, int32_t i) {
    for (;;) {
        int32_t worst = i;
        for (int32_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++)
            if (ranked_compare(&heap[child], &heap[worst]) > 0) worst = child;
        if (worst == i) return;
        swap(&heap[i], &heap[worst]);
        i = worst;
    }
}

void ranking_offer(struct ranking *ranking, const struct ranked *entry) {
    assert(ranking->count <= ranking->most && entry->throughput > 0 && entry->memory_bytes >= 0);
    if (ranking->count < ranking->most) {
        ranking->heap[ranking->count] = *entry;
        sift_up(ranking->heap, ranking->count++);
    } else if (ranked_compare(entry, &ranking->heap[0]) < 0) {
        ranking->heap[0] = *entry;
        sift_down(ranking->heap, ranking->count, 0);
    }
}

static int compare(const void *a, const void *b) { return ranked_compare(a, b); }

void ranking_sort(struct ranking *ranking) {
    if (ranking->count == 0) return; /* the heap may be NULL, which qsort must not be given */
    qsort(ranking->heap, (size_t)ranking->count, sizeof *ranking->heap, compare);
}
