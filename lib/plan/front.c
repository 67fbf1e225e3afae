/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time against memory: the least time within each memory. From MOST times the capacity downwards, each search has a
 * capacity a little below what the best layout of the one before needs; so every point is the best of all layouts within
 * its memory, and a layout of the front that lies between two points needs nearly as much memory as the larger. It ends
 * where steps are SLOWEST times as long as the fastest.
 */
#include <string.h>
#include "base/error_fill.h"
#include "plan/ask_again.h"

enum { POINTS_MAX = 64, NEAR = 10 }; /* near: layouts that are kept of each search */
static const double STEP = 0.98, MOST = 2, SLOWEST = 2;

static int is_among(const struct kerf_estimate *estimates, int32_t count, const struct kerf_estimate *one) {
    for (int32_t i = 0; i < count; i++)
        if (kerf_layout_compare(&estimates[i].layout, &one->layout) == 0) return 1;
    return 0;
}

static void set_fits(struct kerf_estimate *estimate, double capacity_bytes) {
    estimate->fits = estimate->memory_bytes <= capacity_bytes;
}

static int32_t find_front(struct asker *asker, const struct kerf_search *search, struct arena *arena,
                          const struct kerf_front **ret_front, struct kerf_error *err) {
    struct kerf_front *front = arena_alloc(arena, 1, sizeof *front);
    struct kerf_estimate *best = arena_take(arena, POINTS_MAX, sizeof *best);
    struct kerf_estimate *near = arena_take(arena, (size_t)POINTS_MAX * NEAR, sizeof *near), found[NEAR];
    double capacity_bytes = search->problem.system.memory_capacity_bytes;
    int32_t code = KERF_OK, count = 1;
    if (front == NULL || best == NULL || near == NULL) return error_no_memory(err, "the front");
    front->best = best, front->near = near;
    struct kerf_problem problem = search->problem;
    problem.system.memory_capacity_bytes *= MOST;
    if (search->nearest && search->nearest->memory_bytes > capacity_bytes)
        problem.system.memory_capacity_bytes = MOST * search->nearest->memory_bytes;
    while (front->num_best < POINTS_MAX && code == KERF_OK) {
        code = ask_best(asker, &problem, found, &count, err);
        ask_step(asker);
        if (code != KERF_OK || count == 0) break;
        double slowest_s = SLOWEST * (front->num_best ? best[0].step_time_s : found[0].step_time_s);
        if (found[0].step_time_s > slowest_s) break;
        for (int32_t i = 0; i < count; i++) {
            set_fits(&found[i], capacity_bytes);
            if (i == 0)
                best[front->num_best++] = found[0];
            else if (found[i].step_time_s <= slowest_s && !is_among(near, front->num_near, &found[i]))
                near[front->num_near++] = found[i];
        }
        problem.system.memory_capacity_bytes = STEP * found[0].memory_bytes;
    }
    int32_t kept = 0; /* what became a best one later is not near */
    for (int32_t i = 0; i < front->num_near; i++)
        if (!is_among(best, front->num_best, &near[i])) near[kept++] = near[i];
    front->num_near = kept;
    front->complete = !asker->stopped;
    *ret_front = front;
    return code;
}

int32_t kerf_plan_front(struct kerf_plan *plan, const struct kerf_plan_options *options, struct kerf_error *err) {
    struct owned_plan *owned = owned_of(plan);
    struct asker asker;
    int32_t code = KERF_OK;
    ask_begin(&asker, options, owned, NEAR, (double)plan->num_searches * POINTS_MAX);
    for (size_t i = 0; i < plan->num_searches && code == KERF_OK && !asker.stopped; i++) {
        asker.share_before = (double)i / (double)plan->num_searches;
        if (owned->searches[i].candidates > 0)
            code = find_front(&asker, &owned->searches[i], &owned->arena, &owned->searches[i].front, err);
    }
    return code;
}
