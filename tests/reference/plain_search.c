/* SPDX-License-Identifier: Apache-2.0 */
#include "plain_search.h"

#include <stdlib.h>
#include "plan/ranking.h"

/* The estimate without the rules for users: the reference prices what its generators give. */
static int add(struct plain_search *search, const struct kerf_cost_model *cost_model,
               const struct kerf_problem *problem, const struct kerf_layout *layout) {
    if ((search->count & (search->count - 1)) == 0) {
        size_t more = search->count ? search->count * 2 : 1;
        struct kerf_estimate *all = realloc(search->all, more * sizeof *all);
        if (all == NULL) return 0;
        search->all = all;
    }
    struct kerf_estimate *one = &search->all[search->count++];
    if (kerf_layout_estimate(cost_model, problem, layout, one, NULL) != KERF_OK)
        abort(); /* a candidate must obey the rules */
    search->feasible += (size_t)one->fits;
    return 1;
}

static int blocks_of(const struct kerf_problem *problem, int64_t tp1, int64_t tp2, int64_t blocks[64]) {
    if (problem->strategy != KERF_STRATEGY_SUMMA) return blocks[0] = 0, 1;
    int64_t e = problem->model.hidden_size, start = tp1 > tp2 ? tp1 : tp2, range[64];
    int n = 0, count = 0;
    /* start * 2^i for i in arange(0, log2(e // start)) */
    for (int i = 0; (int64_t)1 << i < e / start; i++) range[n++] = start << i;
    if (n == 0) return 0; /* the reference reads range[0] and stops */
    if ((double)e / (double)range[0] < 512) return blocks[0] = range[0], 1;
    for (int i = 0; i < n; i++)
        if (e % range[i] == 0 && e / range[i] >= 512) blocks[count++] = range[i];
    return count;
}

/* All placements of one choice of everything else. */
static int place(struct plain_search *search, const struct kerf_cost_model *cost_model,
                 const struct kerf_problem *problem, struct kerf_layout layout) {
    int64_t size = problem->system.scale_up.size;
    if (layout.tp1 * layout.tp2 * layout.dp * layout.pp <= size) {
        layout.scale_up.tp1 = layout.tp1, layout.scale_up.tp2 = layout.tp2;
        layout.scale_up.dp = layout.dp, layout.scale_up.pp = layout.pp;
        return add(search, cost_model, problem, &layout);
    }
    for (int64_t n1 = 1; n1 <= size; n1++)
        for (int64_t n2 = 1; n2 <= size / n1; n2++)
            for (int64_t n3 = 1; n3 <= size / n1 / n2; n3++) {
                int64_t n4 = size / (n1 * n2 * n3);
                if (n1 * n2 * n3 * n4 != size) continue;
                if (layout.tp1 % n1 || layout.tp2 % n2 || layout.dp % n3 || layout.pp % n4) continue;
                layout.scale_up.tp1 = n1, layout.scale_up.tp2 = n2, layout.scale_up.dp = n3, layout.scale_up.pp = n4;
                if (!add(search, cost_model, problem, &layout)) return 0;
            }
    return 1;
}

static int sound(const struct kerf_problem *problem, int64_t tp1, int64_t tp2) {
    int64_t e = problem->model.hidden_size, h = problem->model.num_attention_heads;
    if (problem->gpus % tp1 || problem->gpus / tp1 % tp2 || h % tp1 || e % tp1) return 0;
    if (problem->strategy == KERF_STRATEGY_1D) return tp2 == 1 && 3 * e / tp1 >= 128;
    if (problem->strategy == KERF_STRATEGY_SUMMA && e % tp2) return 0;
    return e / tp1 >= 128 && problem->seq_length / tp2 >= 128;
}

static int compare(const void *left, const void *right) {
    const struct kerf_estimate *a = left, *b = right;
    if (a->fits != b->fits) return b->fits - a->fits;
    struct ranked x = {a->throughput, a->memory_bytes, a->layout}, y = {b->throughput, b->memory_bytes, b->layout};
    return ranked_compare(&x, &y);
}

int plain_search(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                 struct plain_search *ret) {
    int64_t depth = problem->model.num_hidden_layers, batch = problem->global_batch, blocks[64];
    *ret = (struct plain_search){NULL, 0, 0};
    for (int64_t tp1 = 1; tp1 <= problem->gpus; tp1++)
        for (int64_t tp2 = 1; tp2 <= problem->gpus / tp1; tp2++) {
            if (!sound(problem, tp1, tp2)) continue;
            int64_t tp = tp1 * tp2, most = problem->gpus / tp < depth ? problem->gpus / tp : depth;
            int num_blocks = blocks_of(problem, tp1, tp2, blocks);
            for (int64_t pp = 1; pp <= most; pp++) {
                if (most % pp || problem->gpus % (tp * pp) || depth % pp) continue;
                int64_t dp = problem->gpus / (tp * pp);
                if (dp > batch || batch % dp) continue;
                for (int64_t b = 1; b <= batch / dp; b++) {
                    int64_t shards = problem->strategy == KERF_STRATEGY_1D      ? tp1
                                     : problem->strategy == KERF_STRATEGY_SUMMA ? tp2
                                                                                : tp;
                    if (batch / dp % b || b * problem->seq_length % shards) continue;
                    for (int i = 0; i < num_blocks; i++) {
                        struct kerf_layout layout = {
                            .dp = dp, .tp1 = tp1, .tp2 = tp2, .pp = pp, .micro_batch = b, .summa_blocks = blocks[i]};
                        if (!place(ret, cost_model, problem, layout)) return 0;
                    }
                }
            }
        }
    if (ret->count) qsort(ret->all, ret->count, sizeof *ret->all, compare);
    return 1;
}
