/* SPDX-License-Identifier: Apache-2.0 */
/* Which layout of a search is better than another, and which search of a plan. */
#include "plan/ranking.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "cost/strategy.h"
#include "kerf/plan.h"

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

/* ---- Which search of a plan to recommend, and which of its searches are about the same thing -------------- */

int32_t kerf_model_equal(const struct kerf_model *a, const struct kerf_model *b) {
    const size_t rest =
        offsetof(struct kerf_model, family); /* from here on all zeros where a program gave sizes alone */
    return strcmp(a->name, b->name) == 0 && a->hidden_size == b->hidden_size &&
           a->intermediate_size == b->intermediate_size && a->num_hidden_layers == b->num_hidden_layers &&
           a->num_attention_heads == b->num_attention_heads &&
           memcmp((const char *)a + rest, (const char *)b + rest, sizeof *a - rest) == 0;
}

/* The size of the domain apart, which is a dimension of a sweep of its own. */
int32_t kerf_system_equal(const struct kerf_system *a, const struct kerf_system *b) {
    return strcmp(a->name, b->name) == 0 && a->matrix_flops_per_s == b->matrix_flops_per_s &&
           a->vector_flops_per_s == b->vector_flops_per_s &&
           a->memory_bandwidth_bytes_per_s == b->memory_bandwidth_bytes_per_s &&
           a->memory_capacity_bytes == b->memory_capacity_bytes &&
           a->scale_up.bandwidth_bytes_per_s == b->scale_up.bandwidth_bytes_per_s &&
           a->scale_up.efficiency == b->scale_up.efficiency && a->scale_up.latency_s == b->scale_up.latency_s &&
           a->scale_out.bandwidth_bytes_per_s == b->scale_out.bandwidth_bytes_per_s &&
           a->scale_out.efficiency == b->scale_out.efficiency && a->scale_out.latency_s == b->scale_out.latency_s &&
           a->scale_out.nics_per_device == b->scale_out.nics_per_device;
}

static int differ_in_strategy_alone(const struct kerf_problem *a, const struct kerf_problem *b) {
    return kerf_model_equal(&a->model, &b->model) && kerf_system_equal(&a->system, &b->system) &&
           a->system.scale_up.size == b->system.scale_up.size && a->gpus == b->gpus &&
           a->global_batch == b->global_batch && a->seq_length == b->seq_length && a->strategy != b->strategy;
}

int32_t kerf_plan_has_twin(const struct kerf_plan *plan, const struct kerf_search *search,
                           const struct kerf_estimate *estimate) {
    if (!strategy_of(search->problem.strategy)->is_plain(&estimate->layout)) return 0;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *other = &plan->searches[i];
        if (other->num_plans && other->problem.strategy == KERF_STRATEGY_1D &&
            differ_in_strategy_alone(&search->problem, &other->problem))
            return 1;
    }
    return 0;
}

const struct kerf_search *kerf_plan_best(const struct kerf_plan *plan, const struct kerf_model *model) {
    const struct kerf_search *best = NULL;
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        if (search->num_plans == 0 || (model && !kerf_model_equal(&search->problem.model, model))) continue;
        if (best && search->plans[0].throughput <= best->plans[0].throughput) continue;
        if (!kerf_plan_has_twin(plan, search, &search->plans[0])) best = search;
    }
    return best;
}
