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

static int32_t list_placements(const struct kerf_problem *problem, const struct space_tensor *tensor, int64_t dp,
                               int64_t pp, const struct divisors *domain, struct space_placement *ret) {
    int64_t size = problem->system.scale_up.size;
    int32_t count = 0;
    for (int32_t i = 0; i < domain->count; i++) {
        int64_t n1 = domain->of[i];
        if (tensor->tp1 % n1 != 0) continue;
        for (int32_t j = 0; j < domain->count; j++) {
            int64_t n2 = domain->of[j];
            if (n2 > tensor->tp2) break;
            if (size / n1 % n2 != 0 || tensor->tp2 % n2 != 0) continue;
            int64_t left = size / n1 / n2;
            for (int32_t k = 0; k < domain->count && domain->of[k] <= left; k++) {
                int64_t n3 = domain->of[k];
                if (left % n3 != 0 || dp % n3 != 0 || pp % (left / n3) != 0) continue;
                if (ret) ret[count] = (struct space_placement){n1, n2, n3, left / n3};
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
    divisors_find(problem->system.scale_up.size, &domain);
    *ret_count = list_placements(problem, tensor, dp, pp, &domain, NULL);
    placements = arena_alloc(arena, (size_t)*ret_count, sizeof *placements);
    if (placements) list_placements(problem, tensor, dp, pp, &domain, placements);
    return placements;
}
