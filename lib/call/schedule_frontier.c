/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory frontier: of all answers with the same micro-batches and cap the one with the shortest step.
 *
 * What a device may hold under a smaller cap it may hold under a larger one: where nothing shorter was found for the
 * larger cap, the answer of the smaller one is that of both. No choice of schedule and shares is shorter than the least
 * bound of all choices that were asked for, where each has an answer or is proved to have none; a bound of a larger cap is
 * one of every smaller cap.
 */
#include "call/schedule_frontier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "schedule/search_how.h"

static int same_point(const struct schedule_answer *a, const struct schedule_answer *b) {
    return a->microbatches == b->microbatches && a->cap_in_bytes == b->cap_in_bytes && a->cap == b->cap;
}

/* Points whose caps are a smaller and a larger one. */
static int same_curve(const struct schedule_answer *a, const struct schedule_answer *b) {
    return a->microbatches == b->microbatches && a->cap_in_bytes == b->cap_in_bytes;
}

static int by_cap(const void *left, const void *right) {
    const struct schedule_answer *a = left, *b = right;
    if (a->microbatches != b->microbatches) return a->microbatches < b->microbatches ? -1 : 1;
    if (a->cap_in_bytes != b->cap_in_bytes) return a->cap_in_bytes - b->cap_in_bytes;
    return a->cap < b->cap ? -1 : a->cap > b->cap;
}

static int keeps_cap(const struct schedule_answer *answer) {
    return answer->timeline && answer->timeline->over_cap < 0;
}

static void give_back(struct schedule_answer *answer) {
    kerf_timeline_free(answer->own.timeline);
    kerf_schedule_times_free(answer->own.times);
    kerf_schedule_free(answer->own.schedule);
}

static const struct kerf_schedule_bound not_known = {NAN, NAN, NAN};

/* Whether the search only found no order, which does not say that there is none. */
static int is_open(const struct schedule_answer *answer) {
    return answer->timeline == NULL && strncmp(answer->error.message, NO_ORDER_FOUND, sizeof NO_ORDER_FOUND - 1) == 0;
}

/* Keeps the best of the answers from `begin` to `end`, which are of one point, at `begin`; its bound is of all. */
static void keep_best(struct schedule_answer *items, int32_t begin, int32_t end, int is_whole) {
    struct kerf_schedule_bound least = {INFINITY, INFINITY, INFINITY};
    int32_t best = begin;
    for (int32_t i = begin; i < end; i++) {
        const struct schedule_answer *one = &items[i], *other = &items[best];
        is_whole &= !is_open(one);
        if (one->timeline == NULL) continue;
        least.makespan_s = fmin(least.makespan_s, one->bound.makespan_s);
        least.span_s = fmin(least.span_s, one->bound.span_s);
        least.step_s = fmin(least.step_s, one->bound.step_s);
        if (keeps_cap(one) > keeps_cap(other) || other->timeline == NULL ||
            (keeps_cap(one) == keeps_cap(other) && one->timeline->step_s < other->timeline->step_s * (1 - 1e-12)))
            best = i;
    }
    for (int32_t i = begin; i < end; i++)
        if (i != best) give_back(&items[i]);
    items[begin] = items[best];
    if (items[begin].timeline) items[begin].bound = is_whole ? least : not_known;
}

void schedule_frontier(struct schedule_answers *answers) {
    struct schedule_answer *items = answers->items;
    int32_t points = 0;
    qsort(items, (size_t)answers->count, sizeof *items, by_cap);
    for (int32_t begin = 0, end; begin < answers->count; begin = end) {
        for (end = begin + 1; end < answers->count && same_point(&items[begin], &items[end]);) end++;
        keep_best(items, begin, end, answers->not_begun == 0);
        items[points++] = items[begin];
    }
    answers->count = points;
    for (int32_t i = points - 1; i-- > 0;) { /* bounds of larger caps */
        if (!same_curve(&items[i], &items[i + 1]) || !items[i].timeline || !items[i + 1].timeline) continue;
        struct kerf_schedule_bound *bound = &items[i].bound;
        const struct kerf_schedule_bound *larger = &items[i + 1].bound;
        bound->makespan_s = fmax(bound->makespan_s, larger->makespan_s);
        bound->span_s = fmax(bound->span_s, larger->span_s);
        bound->step_s = fmax(bound->step_s, larger->step_s);
    }
    for (int32_t i = 1; i < points; i++) { /* orders of smaller caps */
        const struct schedule_answer smaller = items[i - 1];
        if (!same_curve(&smaller, &items[i]) || !keeps_cap(&smaller)) continue;
        if (keeps_cap(&items[i]) && items[i].timeline->step_s < smaller.timeline->step_s * (1 - 1e-12)) continue;
        struct schedule_answer old = items[i];
        items[i] = smaller;
        items[i].own.schedule = NULL;
        items[i].own.times = NULL;
        items[i].own.timeline = NULL;
        items[i].cap = old.cap;
        if (old.timeline) items[i].bound = old.bound;
        give_back(&old);
    }
}
