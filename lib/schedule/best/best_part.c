/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact search (best_model.c) for an order in which some operations may move, all others staying in their order, and
 * the whole takes less by a step. After each better order it asks for one that is better again by as much.
 */
#include "schedule/best/best_part.h"

#include <math.h>

static int32_t stop(void *context, int64_t steps) { return best_spend(context, steps); }

void part_look(struct part *part) {
    const double ticks = part->search->value / part->model.ticks.tick_s;
    part->known = (int64_t)floor(part->model.ticks.exact ? ticks + 0.5 : ticks);
    part->least_step = part->model.ticks.exact ? 1 : 1 + part->known / 1000000;
}

void part_set_step(struct part *part, int64_t step) { part->step = step > part->least_step ? step : part->least_step; }

int32_t part_ask_less(struct part *part) {
    if (part->step <= part->least_step) return 0;
    part_set_step(part, part->step / 4);
    return 1;
}

int32_t part_make(struct part *part, struct best_search *search, int64_t conflicts) {
    const size_t devices = (size_t)search->problem.devices;
    *part = (struct part){.search = search, .conflicts = conflicts};
    if (!model_make(&part->model, &search->problem, search->problem.objective, search->value)) return 0;
    part->from = arena_alloc(&part->model.arena, devices, sizeof *part->from);
    part->to = arena_alloc(&part->model.arena, devices, sizeof *part->to);
    part_look(part);
    part_set_step(part, part->known / 500);
    return part->from != NULL && part->to != NULL;
}

void part_free(struct part *part) { model_free(&part->model); }

int32_t part_try(struct part *part, int64_t begin, int64_t end) {
    struct best_search *search = part->search;
    struct model *model = &part->model;
    const int64_t before = part->known;
    int64_t goal = part->known - part->step;
    model_window(model, search->order, begin, end, part->from, part->to);
    if (goal < 0) return 0;
    const int32_t built = model_build(model, search->order, part->from, part->to, goal);
    /* of freed operations the pairs fill tables that are larger than what a window's take */
    best_spend(search->budget, 4 * search->problem.ops + model_steps(model) + (model->freed ? 4 * model->entries : 0));
    if (!built) return 0;
    while (!best_is_done(search)) {
        if (lazy_solve(model->solver, part->conflicts, stop, search->budget) != LAZY_SOLVED) break;
        model_read(model);
        if (model_refine(model) > 0) continue;
        if (!best_offer(search, model->order)) break;
        part_look(part);
        goal = part->known - part->step;
        if (goal >= model->goal || goal < 0) break;
        model_set_goal(model, goal);
    }
    return part->known < before;
}
