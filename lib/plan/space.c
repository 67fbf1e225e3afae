/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/space.h"

#include "spec/layout.h"

enum { LEAST_WIDTH = 128, LEAST_BLOCK = 512 }; /* features and tokens of a shard; features of a SUMMA block */

static int tensor_is_wide_enough(const struct kerf_problem *problem, int64_t tp1, int64_t tp2) {
    int64_t e = problem->model.hidden_size;
    if (problem->strategy == KERF_STRATEGY_1D) return 3 * e / tp1 >= LEAST_WIDTH;
    return e / tp1 >= LEAST_WIDTH && problem->seq_length / tp2 >= LEAST_WIDTH;
}

/* Pairs (tp1, tp2); with ret NULL only counts them. */
static int32_t list_tensors(const struct kerf_problem *problem, const struct divisors *gpus, struct space_tensor *ret) {
    int64_t e = problem->model.hidden_size, h = problem->model.num_attention_heads;
    int32_t count = 0;
    for (int32_t i = 0; i < gpus->count; i++) {
        int64_t tp1 = gpus->of[i];
        if (h % tp1 != 0 || e % tp1 != 0) continue;
        for (int32_t j = 0; j < gpus->count; j++) {
            int64_t tp2 = gpus->of[j];
            if (problem->strategy == KERF_STRATEGY_1D && tp2 > 1) break;
            if (problem->gpus / tp1 % tp2 != 0) continue;
            if (problem->strategy == KERF_STRATEGY_SUMMA && e % tp2 != 0) continue;
            if (!tensor_is_wide_enough(problem, tp1, tp2)) continue;
            if (ret) ret[count] = (struct space_tensor){tp1, tp2};
            count++;
        }
    }
    return count;
}

struct space_tensor *space_tensors(const struct kerf_problem *problem, struct arena *arena, int32_t *ret_count) {
    struct divisors gpus;
    divisors_find(problem->gpus, &gpus);
    *ret_count = list_tensors(problem, &gpus, NULL);
    struct space_tensor *tensors = arena_alloc(arena, (size_t)*ret_count, sizeof *tensors);
    if (tensors) list_tensors(problem, &gpus, tensors);
    return tensors;
}

int32_t space_stages(const struct kerf_problem *problem, const struct space_tensor *tensor, int64_t pps[DIVISORS_MAX]) {
    int64_t depth = problem->model.num_hidden_layers, left = problem->gpus / (tensor->tp1 * tensor->tp2);
    struct divisors most;
    int32_t count = 0;
    divisors_find(left < depth ? left : depth, &most);
    for (int32_t i = 0; i < most.count; i++) {
        int64_t pp = most.of[i];
        if (left % pp != 0 || depth % pp != 0) continue;
        if (problem->global_batch % (left / pp) != 0) continue; /* dp must divide the samples */
        pps[count++] = pp;
    }
    return count;
}

int space_has_micro_batch(const struct kerf_problem *problem, const struct space_tensor *tensor, int64_t micro_batch) {
    return micro_batch * problem->seq_length % layout_sequence_shards(problem->strategy, tensor->tp1, tensor->tp2) == 0;
}

int32_t space_summa_blocks(const struct kerf_problem *problem, const struct space_tensor *tensor,
                           int64_t blocks[SUMMA_BLOCKS_MAX]) {
    if (problem->strategy != KERF_STRATEGY_SUMMA) {
        blocks[0] = 0;
        return 1;
    }
    int64_t e = problem->model.hidden_size, start = tensor->tp1 > tensor->tp2 ? tensor->tp1 : tensor->tp2;
    /* The doublings of start that stay below e; where e is start the reference has none and stops with an error. */
    int64_t ratio = e / start;
    int32_t count = 0;
    if (ratio > 1 && e < LEAST_BLOCK * start) {
        blocks[count++] = start;
        return count;
    }
    for (int64_t nb = start, doubled = 1; doubled < ratio; doubled *= 2, nb *= 2)
        if (e % nb == 0 && e / nb >= LEAST_BLOCK) blocks[count++] = nb;
    return count;
}

/* The divisors of the domain that divide n, the number of accelerators of one kind. */
static void keep_dividing(const struct divisors *domain, int64_t n, struct divisors *ret) {
    ret->count = 0;
    for (int32_t i = 0; i < domain->count && domain->of[i] <= n; i++)
        if (n % domain->of[i] == 0) ret->of[ret->count++] = domain->of[i];
}

struct placement_axes {
    struct divisors tp1, tp2, dp;
    int64_t pp, domain;
};

/* All (n1, n2, n3, n4) whose product is the domain; with ret NULL only counts them. */
static int32_t list_placements(const struct placement_axes *axes, struct space_placement *ret) {
    int32_t count = 0;
    for (int32_t i = 0; i < axes->tp1.count; i++) {
        int64_t after_tp1 = axes->domain / axes->tp1.of[i];
        for (int32_t j = 0; j < axes->tp2.count && axes->tp2.of[j] <= after_tp1; j++) {
            if (after_tp1 % axes->tp2.of[j] != 0) continue;
            int64_t left = after_tp1 / axes->tp2.of[j];
            for (int32_t k = 0; k < axes->dp.count && axes->dp.of[k] <= left; k++) {
                int64_t n4 = left / axes->dp.of[k];
                if (n4 * axes->dp.of[k] != left || axes->pp % n4 != 0) continue;
                if (ret) ret[count] = (struct space_placement){axes->tp1.of[i], axes->tp2.of[j], axes->dp.of[k], n4};
                count++;
            }
        }
    }
    return count;
}

struct space_placement *space_placements(const struct kerf_problem *problem, const struct space_tensor *tensor,
                                         int64_t dp, int64_t pp, struct arena *arena, int32_t *ret_count) {
    struct space_placement *placements;
    if (problem->gpus <= problem->system.scale_up.size) {
        *ret_count = 1;
        placements = arena_alloc(arena, 1, sizeof *placements);
        if (placements) *placements = (struct space_placement){tensor->tp1, tensor->tp2, dp, pp};
        return placements;
    }
    struct divisors domain;
    struct placement_axes axes; /* large: filled in, not cleared */
    axes.pp = pp;
    axes.domain = problem->system.scale_up.size;
    divisors_find(axes.domain, &domain);
    keep_dividing(&domain, tensor->tp1, &axes.tp1);
    keep_dividing(&domain, tensor->tp2, &axes.tp2);
    keep_dividing(&domain, dp, &axes.dp);
    *ret_count = list_placements(&axes, NULL);
    placements = arena_alloc(arena, (size_t)*ret_count, sizeof *placements);
    if (placements) list_placements(&axes, placements);
    return placements;
}
