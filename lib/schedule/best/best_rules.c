/* SPDX-License-Identifier: Apache-2.0 */
/* Orders to start from: those of all other rules with the same placement, and one micro-batch after the other. */
#include <math.h>
#include <string.h>
#include "schedule/best/best_search.h"
#include "schedule/rules/rule.h"

static int same_frame(const struct kerf_schedule *a, const struct kerf_schedule *b) {
    size_t size = (size_t)(a->replicas * a->stages) * sizeof *a->device_of;
    return a->slices == 1 && a->stages == b->stages && a->replicas == b->replicas &&
           a->microbatches == b->microbatches && memcmp(a->device_of, b->device_of, size) == 0;
}

/* The lanes of a schedule's operations, its backwards split. */
static void to_order(const struct best_problem *problem, const struct kerf_schedule *schedule, int32_t *order) {
    for (int32_t d = 0; d < schedule->devices; d++) {
        int64_t at = problem->begin[d];
        for (int32_t k = 0; k < schedule->num_ops[d]; k++) {
            const struct kerf_op *op = &schedule->ops[d][k];
            int second = schedule->replicas == 2 && op->microbatch >= schedule->microbatches / 2;
            int with = schedule->replicas == 2 && op->with_microbatch >= schedule->microbatches / 2;
            int32_t stream = second * schedule->stages + op->stage;
            if (op->kind == KERF_OP_F || op->kind == KERF_OP_FB) order[at++] = lane_of(stream, LANE_F);
            if (op->kind == KERF_OP_FB) stream = with * schedule->stages + op->with_stage;
            if (op->kind == KERF_OP_I || op->kind == KERF_OP_B || op->kind == KERF_OP_FB)
                order[at++] = lane_of(stream, LANE_I);
            if (op->kind == KERF_OP_W || op->kind == KERF_OP_B || op->kind == KERF_OP_FB)
                order[at++] = lane_of(stream, LANE_W);
        }
    }
}

static double held_by(const struct kerf_schedule_times *times, const struct kerf_schedule *schedule,
                      const struct kerf_timeline *timeline) {
    double most = 0;
    for (int32_t d = 0; d < schedule->devices; d++)
        most = fmax(most,
                    times->cap_in_bytes ? timeline->peak_bytes[d] : timeline->peak_activations[d] * schedule->chunks);
    return most;
}

static void try_rule(struct best_search *search, const struct kerf_schedule *frame, const struct rule *rule,
                     const struct kerf_schedule_request *request, int32_t *order, struct best_rule *best) {
    enum { MAKING = 8 }; /* steps an operation, in the mean of the rules */
    struct kerf_schedule *schedule = NULL;
    struct kerf_timeline *timeline = NULL;
    best_spend(search->budget, MAKING * search->problem.ops);
    if (rule_make(rule, request, &schedule, NULL) != KERF_OK) return;
    if (same_frame(schedule, frame) && kerf_schedule_check(schedule, NULL) == KERF_OK &&
        kerf_schedule_simulate(schedule, request->times, &timeline, NULL) == KERF_OK) {
        const double value = search->problem.objective == KERF_OBJECTIVE_SPAN ? timeline->span_s : timeline->makespan_s;
        const double held = held_by(request->times, schedule, timeline);
        to_order(&search->problem, schedule, order);
        best_offer(search, order);
        if (best && timeline->over_cap < 0 && (value < best->value || (value <= best->value && held < best->held))) {
            kerf_schedule_free(best->schedule);
            *best = (struct best_rule){schedule, value, held};
            schedule = NULL;
        }
    }
    kerf_timeline_free(timeline);
    kerf_schedule_free(schedule);
}

void best_rules(struct best_search *search, const struct kerf_schedule *frame,
                const struct kerf_schedule_request *request, struct best_rule *best) {
    const struct rule *rule;
    struct arena arena = {NULL};
    int32_t *order = arena_alloc(&arena, (size_t)search->problem.ops, sizeof *order);
    for (size_t i = 0; order && (rule = rules_at(i)); i++) {
        struct kerf_schedule_request other = *request;
        other.chunks = 0; /* its own first, since those that have one number refuse any other */
        other.progress = NULL;
        int32_t stages = 0;
        if (rule_stages(rule, &other, &stages, NULL) != KERF_OK) continue;
        if (stages != frame->stages) other.chunks = frame->chunks;
        try_rule(search, frame, rule, &other, order, best);
    }
    arena_free(&arena);
}

/* One micro-batch after the other, which fits whenever anything does. */
void best_one_by_one(struct best_search *search) {
    const struct best_problem *problem = &search->problem;
    struct arena arena = {NULL};
    int32_t *order = arena_alloc(&arena, (size_t)problem->ops, sizeof *order);
    if (order == NULL) return;
    for (int32_t d = 0; d < problem->devices; d++) {
        int64_t at = problem->begin[d];
        int32_t begin = problem->on_begin[d], end = problem->on_begin[d + 1], most = 0;
        for (int32_t k = begin; k < end; k++)
            most = most > problem->units[problem->on[k]] ? most : problem->units[problem->on[k]];
        for (int32_t replica = 0; replica < problem->replicas; replica++)
            for (int32_t unit = 0; unit < most; unit++) {
                for (int32_t k = begin; k < end; k++) {
                    int32_t s = problem->on[k];
                    if (problem->replica[s] == replica && unit < problem->units[s]) order[at++] = lane_of(s, LANE_F);
                }
                for (int32_t k = end; k-- > begin;) {
                    int32_t s = problem->on[k];
                    if (problem->replica[s] != replica || unit >= problem->units[s]) continue;
                    order[at++] = lane_of(s, LANE_I);
                    order[at++] = lane_of(s, LANE_W);
                }
            }
    }
    best_offer(search, order);
    arena_free(&arena);
}
