/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/best/best_search.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "schedule/search_how.h"

/* ---- What may be spent ------------------------------------------------------------------------------------ */

static double gone_s(const struct best_budget *budget) {
    return budget->clock ? budget->clock(budget->clock_context) - budget->begin_s : 0;
}

void best_budget_start(struct best_budget *budget, const struct kerf_schedule_request *request) {
    const int64_t steps = request->search_steps > 0 ? request->search_steps
                          : request->clock          ? INT64_MAX
                                                    : KERF_SEARCH_STEPS;
    const double limit_s = request->clock ? request->search_time_s : INFINITY;
    *budget = (struct best_budget){.most_steps = steps,
                                   .until_steps = steps,
                                   .begin_s = request->clock ? request->clock(request->clock_context) : 0,
                                   .limit_s = limit_s,
                                   .until_s = limit_s,
                                   .clock = request->clock,
                                   .clock_context = request->clock_context,
                                   .progress = request->progress,
                                   .progress_context = request->progress_context};
}

void best_budget_allow(struct best_budget *budget, double share, double times_used, int64_t least) {
    const double gone = gone_s(budget), left = (double)(budget->most_steps - budget->steps) * share;
    double steps = left;
    assert(share > 0 && share <= 1);
    if (isfinite(times_used)) steps = fmin(left, fmax((double)budget->steps * times_used, (double)least));
    budget->until_steps = steps > 0x1p62 ? INT64_MAX : budget->steps + (int64_t)fmax(steps, 0);
    budget->until_s = gone + fmax(budget->limit_s - gone, 0) * share;
    if (isfinite(times_used)) budget->until_s = fmin(budget->until_s, gone * (1 + times_used) + 0.5);
    budget->used_up = budget->ended;
}

int32_t best_budget_divide(struct best_budget *budget, const struct best_budget *whole, double share) {
    const double gone = gone_s(budget);
    const int64_t left = whole->until_steps - budget->steps;
    assert(share > 0 && share <= 1);
    if (budget->ended || left <= 0 || gone >= whole->until_s) return 1;
    budget->until_steps = budget->steps + (int64_t)((double)left * share);
    budget->until_s = gone + (whole->until_s - gone) * share;
    budget->used_up = 0;
    return 0;
}

int32_t best_spend(struct best_budget *budget, int64_t steps) {
    assert(steps >= 0);
    budget->steps += steps;
    if (budget->used_up) return 1;
    if (budget->steps >= budget->until_steps) budget->used_up = 1;
    if (budget->has_to_stop ? budget->has_to_stop(budget) : best_budget_look(budget)) budget->used_up = 1;
    return budget->used_up;
}

int32_t best_budget_look(struct best_budget *budget) {
    enum { REPORT_STEPS = 4000000 };
    static const double REPORT_S = 0.1;
    const double gone = gone_s(budget);
    if (budget->progress && (budget->steps >= budget->report_at || gone >= budget->report_s)) {
        const double share = fmax(gone / budget->limit_s, (double)budget->steps / (double)budget->most_steps);
        budget->report_at = budget->steps + REPORT_STEPS;
        budget->report_s = gone + REPORT_S;
        if (budget->how && budget->how->tell)
            budget->how->tell(budget->how->context, fmin(budget->watched->value, budget->watched->rule_value),
                              budget->watched->bound);
        if (budget->progress(budget->progress_context, fmin(1, share))) budget->ended = 1;
    }
    return budget->ended || gone >= budget->until_s;
}

/* ---- What is known ---------------------------------------------------------------------------------------- */

int32_t best_search_make(struct best_search *search) {
    search->value = search->makespan = search->held = search->rule_value = INFINITY;
    search->order = arena_alloc(&search->arena, (size_t)search->problem.ops, sizeof *search->order);
    return search->order ? best_run_make(&search->run, &search->problem, &search->arena) : KERF_ENOMEM;
}

void best_pool_make(struct best_search *search, int32_t room) {
    struct best_pool *pool = &search->pool;
    const size_t ops = (size_t)search->problem.ops;
    pool->order = arena_alloc(&search->arena, (size_t)room, sizeof *pool->order);
    pool->value = arena_alloc(&search->arena, (size_t)room, sizeof *pool->value);
    int32_t good = pool->order && pool->value;
    for (int32_t k = 0; good && k < room; k++)
        good = (pool->order[k] = arena_alloc(&search->arena, ops, sizeof **pool->order)) != NULL;
    pool->room = good ? room : 0;
}

static void pool_keep(struct best_search *search, const int32_t *order, double value) {
    struct best_pool *pool = &search->pool;
    int32_t at = pool->count;
    if (pool->room == 0 || value == INFINITY) return;
    while (at > 0 && value < pool->value[at - 1] * (1 - 1e-9)) at--;
    if (at == pool->room || (at > 0 && value <= pool->value[at - 1] * (1 + 1e-9))) return;
    if (best_held(&search->problem, order) == INFINITY) return;
    if (pool->count < pool->room) pool->count++;
    int32_t *room = pool->order[pool->count - 1];
    for (int32_t k = pool->count - 1; k > at; k--) {
        pool->order[k] = pool->order[k - 1];
        pool->value[k] = pool->value[k - 1];
    }
    pool->order[at] = room;
    pool->value[at] = value;
    memcpy(room, order, (size_t)search->problem.ops * sizeof *order);
}

int32_t best_offer(struct best_search *search, const int32_t *order) {
    const double value = best_evaluate(&search->problem, &search->run, order);
    best_spend(search->budget, search->problem.ops);
    pool_keep(search, order, value);
    if (!(value <= search->value * (1 + 1e-12)) || value == INFINITY) return 0;
    const double held = best_held(&search->problem, order);
    const int32_t better = value < search->value * (1 - 1e-12) || search->value == INFINITY;
    if (held == INFINITY || (!better && held >= search->held)) return 0;
    search->value = fmin(value, search->value);
    search->makespan = search->run.makespan;
    search->held = held;
    memcpy(search->order, order, (size_t)search->problem.ops * sizeof *order);
    return better;
}

int32_t best_is_optimal(const struct best_search *search) { return !best_less(search->bound, search->value); }

int32_t best_is_done(struct best_search *search) { return best_is_optimal(search) || best_spend(search->budget, 0); }
