/* SPDX-License-Identifier: Apache-2.0 */
/* One layout: checked, placed where its placement is not named, and priced. */
#include "plan/estimate_layout.h"

#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "cost/cost_model.h"
#include "cost/strategy.h"
#include "plan/pipeline_rules.h"
#include "plan/ranking.h"

static int is_placed(const struct kerf_layout *layout) {
    return layout->scale_up.tp1 && layout->scale_up.tp2 && layout->scale_up.dp && layout->scale_up.pp;
}

static int agrees(int64_t asked, int64_t placed) { return asked == 0 || asked == placed; }

static int agrees_with(const struct kerf_layout *layout, const struct kerf_layout *placement) {
    return agrees(layout->scale_up.tp1, placement->scale_up.tp1) &&
           agrees(layout->scale_up.tp2, placement->scale_up.tp2) &&
           agrees(layout->scale_up.dp, placement->scale_up.dp) && agrees(layout->scale_up.pp, placement->scale_up.pp);
}

/* Tries the placements that fill a domain of this size and agree with the layout; 0 when there is none. */
static int try_domain(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem, int64_t size,
                      const struct kerf_layout *layout, struct arena *arena, struct kerf_estimate *ret_estimate,
                      int *ret_out_of_memory) {
    struct kerf_problem smaller = *problem;
    smaller.system.scale_up.size = size;
    const struct space space = {.problem = &smaller, .pipeliner = &pipeline_rules};
    const struct space whole = {.problem = problem, .pipeliner = &pipeline_rules};
    int32_t count;
    int found = 0;
    arena_reset(arena);
    const struct kerf_layout *placements = strategy_of(problem->strategy)->neighbours(&space, layout, arena, &count);
    if (placements == NULL) *ret_out_of_memory = 1;
    for (int32_t i = 0; placements && i < count; i++) {
        struct kerf_estimate one;
        if (!agrees_with(layout, &placements[i])) continue;
        if (!cost_model->estimate(&whole, &placements[i], arena, &one)) {
            *ret_out_of_memory = 1;
            return 0;
        }
        struct ranked a = {one.throughput, one.memory_bytes, one.layout};
        struct ranked b = {ret_estimate->throughput, ret_estimate->memory_bytes, ret_estimate->layout};
        if (!found || ranked_compare(&a, &b) < 0) *ret_estimate = one;
        found = 1;
    }
    return found;
}

/* The fastest placement that fills the domain or, where none does, as much of it as any. */
static int32_t place(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                     const struct kerf_layout *layout, struct kerf_estimate *ret_estimate, struct kerf_error *err) {
    struct arena arena = {NULL};
    struct kerf_estimate best;
    struct divisors sizes; /* what is placed divides each axis, and so the product of all */
    int out_of_memory = 0, found = 0;
    divisors_find(problem->gpus, &sizes);
    if (problem->gpus <= problem->system.scale_up.size) /* all of it, unless less is asked for */
        found = try_domain(cost_model, problem, problem->system.scale_up.size, layout, &arena, &best, &out_of_memory);
    for (int32_t i = sizes.count - 1; i >= 0 && !found && !out_of_memory; i--)
        if (sizes.of[i] < problem->gpus && sizes.of[i] <= problem->system.scale_up.size)
            found = try_domain(cost_model, problem, sizes.of[i], layout, &arena, &best, &out_of_memory);
    arena_free(&arena);
    if (out_of_memory) return error_no_memory(err, "the placements");
    assert(found); /* with as many neighbours as are asked for, and 1 of each other kind */
    *ret_estimate = best;
    return KERF_OK;
}

int32_t estimate_layout(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                        const struct kerf_layout *layout, struct arena *arena, struct kerf_estimate *ret_estimate,
                        struct kerf_error *err) {
    int32_t code = kerf_layout_check(problem, layout, err);
    if (code == KERF_OK) code = cost_model_check(cost_model, problem->strategy, err);
    if (code == KERF_OK) code = layout_check_schedule(problem, layout, err);
    if (code != KERF_OK) return code;
    if (strategy_of(problem->strategy)->neighbours && !is_placed(layout))
        return place(cost_model, problem, layout, ret_estimate, err);
    const struct space space = {.problem = problem, .pipeliner = &pipeline_rules};
    if (!cost_model->estimate(&space, layout, arena, ret_estimate)) return error_no_memory(err, "the layout");
    return KERF_OK;
}

/* A block of its own for the pipeline and its arrays. NULL when memory ran out. */
static struct kerf_pipeline *pipeline_copy(const struct kerf_pipeline *from) {
    size_t count = (size_t)from->num_stages, doubles = count * sizeof(double);
    struct kerf_pipeline *copy = malloc(sizeof *copy + 4 * doubles + count * sizeof(int32_t));
    if (copy == NULL) return NULL;
    double *values = (double *)(void *)(copy + 1);
    *copy = *from;
    copy->forward_s = memcpy(values, from->forward_s, doubles);
    copy->backward_input_s = memcpy(values + count, from->backward_input_s, doubles);
    copy->backward_weight_s = memcpy(values + 2 * count, from->backward_weight_s, doubles);
    copy->activation_bytes = memcpy(values + 3 * count, from->activation_bytes, doubles);
    copy->stage_layers = memcpy(values + 4 * count, from->stage_layers, count * sizeof(int32_t));
    return copy;
}

int32_t kerf_layout_estimate(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                             const struct kerf_layout *layout, struct kerf_estimate *ret_estimate,
                             struct kerf_error *err) {
    struct arena arena = {NULL};
    struct kerf_estimate estimate;
    int32_t code = estimate_layout(cost_model, problem, layout, &arena, &estimate, err);
    if (code == KERF_OK && estimate.pipeline) {
        estimate.pipeline = pipeline_copy(estimate.pipeline);
        if (estimate.pipeline == NULL)
            code = error_no_memory(err, "the pipeline");
        else
            estimate.layout.stage_layers = estimate.pipeline->stage_layers;
    }
    arena_free(&arena);
    if (code == KERF_OK) *ret_estimate = estimate;
    return code;
}

int32_t kerf_layout_estimate_layers(const struct kerf_cost_model *cost_model, const struct kerf_problem *problem,
                                    const struct kerf_layout *layout, struct kerf_layer layers[KERF_LAYERS_MAX],
                                    int32_t *ret_count, struct kerf_error *err) {
    struct kerf_estimate estimate;
    if (cost_model->estimate_layers == NULL)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "the cost model %s has no table by operation", cost_model->name);
    int32_t code = kerf_layout_estimate(cost_model, problem, layout, &estimate, err);
    if (code == KERF_OK) *ret_count = cost_model->estimate_layers(problem, &estimate.layout, layers);
    return code;
}

void kerf_estimate_release(struct kerf_estimate *estimate) {
    free((void *)(uintptr_t)estimate->pipeline); /* one block with its arrays */
    estimate->pipeline = NULL;
    estimate->layout.stage_layers = NULL;
}
