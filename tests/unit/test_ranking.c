/* SPDX-License-Identifier: Apache-2.0 */
/* The best few of many against sorting them all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "plan/ranking.h"

static uint64_t seed = 88172645463325252;

static uint64_t next_random(void) { /* xorshift */
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

/* Few different values, so that there are ties on every level. */
static struct ranked random_entry(int32_t variety) {
    uint64_t v = (uint64_t)variety;
    struct ranked entry;
    memset(&entry, 0, sizeof entry);
    entry.throughput = (double)(1 + next_random() % v);
    entry.memory_bytes = (double)(next_random() % v);
    entry.layout.dp = 1 + (int64_t)(next_random() % v);
    entry.layout.scale_up.pp = 1 + (int64_t)(next_random() % v);
    return entry;
}

static int plain_compare(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->throughput > y->throughput) return -1;
    if (x->throughput < y->throughput) return 1;
    if (x->memory_bytes < y->memory_bytes) return -1;
    if (x->memory_bytes > y->memory_bytes) return 1;
    if (x->layout.dp != y->layout.dp) return x->layout.dp < y->layout.dp ? -1 : 1;
    if (x->layout.scale_up.pp != y->layout.scale_up.pp) return x->layout.scale_up.pp < y->layout.scale_up.pp ? -1 : 1;
    return 0;
}

static void keeps_what_sorting_would(void **state) {
    (void)state;
    enum { ENTRIES = 2000, MOST = 100 };
    struct ranked *all = malloc(ENTRIES * sizeof *all), heap[MOST];
    static const int32_t sizes[] = {1, 2, 3, 7, 10, 64, MOST}, counts[] = {0, 1, 2, 9, 65, ENTRIES};
    for (int32_t variety = 1; variety <= 1000; variety *= 10)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                struct ranking ranking = {.heap = heap, .most = sizes[s]};
                for (int32_t i = 0; i < counts[c]; i++) {
                    all[i] = random_entry(variety);
                    ranking_offer(&ranking, &all[i]);
                    if (ranking.count == ranking.most) /* the root is the worst of those kept */
                        for (int32_t k = 1; k < ranking.count; k++)
                            assert_true(ranked_compare(&heap[0], &heap[k]) >= 0);
                }
                ranking_sort(&ranking);
                qsort(all, (size_t)counts[c], sizeof *all, plain_compare);
                int32_t kept = counts[c] < sizes[s] ? counts[c] : sizes[s];
                assert_int_equal(ranking.count, kept);
                for (int32_t i = 0; i < kept; i++) assert_memory_equal(&heap[i], &all[i], sizeof heap[i]);
            }
    free(all);
}

static void the_order_of_offers_does_not_matter(void **state) {
    (void)state;
    enum { ENTRIES = 300, MOST = 17, ROUNDS = 50 };
    struct ranked all[ENTRIES], first[MOST], again[MOST];
    for (int i = 0; i < ENTRIES; i++) all[i] = random_entry(4);
    for (int round = 0; round < ROUNDS; round++) {
        struct ranking ranking = {.heap = round ? again : first, .most = MOST};
        for (int i = 0; i < ENTRIES; i++) ranking_offer(&ranking, &all[i]);
        ranking_sort(&ranking);
        if (round) assert_memory_equal(first, again, sizeof first);
        for (int i = ENTRIES - 1; i > 0; i--) {
            int j = (int)(next_random() % (uint64_t)(i + 1));
            struct ranked swapped = all[i];
            all[i] = all[j], all[j] = swapped;
        }
    }
}

static void is_a_total_order(void **state) {
    (void)state;
    enum { ENTRIES = 60 };
    struct ranked all[ENTRIES];
    for (int i = 0; i < ENTRIES; i++) all[i] = random_entry(3);
    for (int i = 0; i < ENTRIES; i++)
        for (int j = 0; j < ENTRIES; j++) {
            int32_t ij = ranked_compare(&all[i], &all[j]), ji = ranked_compare(&all[j], &all[i]);
            assert_true((ij < 0) == (ji > 0));
            assert_true((ij == 0) == (memcmp(&all[i], &all[j], sizeof all[i]) == 0));
            for (int k = 0; k < ENTRIES; k++)
                if (ij < 0 && ranked_compare(&all[j], &all[k]) < 0) assert_true(ranked_compare(&all[i], &all[k]) < 0);
        }
    struct ranked a = random_entry(3), b = a;
    b.throughput = a.throughput + 1, b.memory_bytes = a.memory_bytes + 100, b.layout.dp = a.layout.dp + 1;
    assert_true(ranked_compare(&b, &a) < 0); /* throughput first */
    b.throughput = a.throughput;
    assert_true(ranked_compare(&a, &b) < 0); /* then less memory */
    b.memory_bytes = a.memory_bytes;
    assert_true(ranked_compare(&a, &b) < 0); /* then the lesser layout */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_sorting_would),
        cmocka_unit_test(the_order_of_offers_does_not_matter),
        cmocka_unit_test(is_a_total_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
