/* SPDX-License-Identifier: Apache-2.0 */
/* The best few of many layouts, in a total order. */
#ifndef KERF_PLAN_RANKING_H
#define KERF_PLAN_RANKING_H

#include "kerf/spec.h"

struct ranked {
    double throughput, memory_bytes;
    struct kerf_layout layout;
};

/* Keeps the best `most` entries in a heap whose root is the worst of them. */
struct ranking {
    struct ranked *heap; /* [most], the caller's */
    int32_t count, most;
};

/* Below 0 when a is better: more throughput, then less memory, then the lesser layout. */
int32_t ranked_compare(const struct ranked *a, const struct ranked *b);

void ranking_offer(struct ranking *ranking, const struct ranked *entry);

/* Orders the entries, the best first; nothing can be offered afterwards. */
void ranking_sort(struct ranking *ranking);

#endif
