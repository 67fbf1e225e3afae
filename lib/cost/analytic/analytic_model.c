/* SPDX-License-Identifier: Apache-2.0 */
/* The row of the cost model "analytic", and one layout in full. */
#include <string.h>
#include "cost/analytic/composition.h"
#include "cost/analytic/pricer.h"

static void gaps(const struct kerf_model *model, struct kerf_text *out) {
    (void)model, (void)out; /* what spec/families reads, it prices */
}

static const double *copy_of(const double *values, int32_t count, struct arena *arena) {
    double *copy = arena_take(arena, (size_t)count, sizeof *copy);
    if (copy) memcpy(copy, values, (size_t)count * sizeof *copy);
    return copy;
}

/* What was simulated. NULL when memory ran out. */
static const struct kerf_pipeline *pipeline_of(const struct composition *composition, const struct kerf_layout *layout,
                                               struct arena *arena) {
    struct kerf_pipeline *pipeline = arena_alloc(arena, 1, sizeof *pipeline);
    int32_t count = composition->num_stages;
    int32_t *layers = arena_take(arena, (size_t)count, sizeof *layers);
    if (pipeline == NULL || layers == NULL) return NULL;
    memcpy(layers, composition->stage_layers, (size_t)count * sizeof *layers);
    memcpy(pipeline->schedule, layout->schedule, sizeof pipeline->schedule);
    pipeline->devices = composition->num_devices;
    pipeline->chunks = layout->vpp;
    pipeline->microbatches = (int32_t)composition->micro_batches;
    pipeline->num_stages = count;
    pipeline->stage_layers = layers;
    pipeline->forward_s = copy_of(composition->forward_s, count, arena);
    pipeline->backward_input_s = copy_of(composition->backward_input_s, count, arena);
    pipeline->backward_weight_s = copy_of(composition->backward_weight_s, count, arena);
    pipeline->activation_bytes = copy_of(composition->activation_bytes, count, arena);
    pipeline->p2p_s = composition->latency_s;
    pipeline->makespan_s = composition->makespan_s;
    int good = pipeline->forward_s && pipeline->backward_input_s && pipeline->backward_weight_s;
    return good && pipeline->activation_bytes ? pipeline : NULL;
}

static int estimate(const struct space *space, const struct kerf_layout *asked, struct arena *arena,
                    struct kerf_estimate *ret_estimate) {
    struct kerf_layout own = *asked;
    const struct kerf_layout *layout = &own;
    if (own.has_best_split) own.stage_layers = NULL; /* it may be another one here */
    struct composition composition = {.pipelines = NULL};
    struct analytic_shape shape;
    struct arena scratch = {NULL};
    const struct analytic_device *device = analytic_device(space->problem, arena);
    int good = device && composition_begin(&composition, device, space, arena, &scratch);
    if (good) {
        analytic_shape(device, layout, &shape);
        good = composition_lay(&composition, layout, &shape) && composition_run(&composition, layout);
    }
    if (good) {
        composition_describe(&composition, layout, &shape, ret_estimate);
        ret_estimate->pipeline = pipeline_of(&composition, layout, arena);
        good = ret_estimate->pipeline != NULL;
    }
    if (good) {
        ret_estimate->layout.stage_layers = ret_estimate->pipeline->stage_layers;
        ret_estimate->layout.has_best_split = layout->stage_layers == NULL;
        ret_estimate->layout.cp_comm = shape.cp_comm;
    }
    composition_end(&composition);
    arena_free(&scratch);
    return good;
}

const struct kerf_cost_model analytic_model = {
    .name = "analytic",
    .summary = "kerf's own: kernels, links and pipelines of today's machines (docs/cost-model.md)",
    .layouts = LAYOUT_HYBRID,
    .gaps = gaps,
    .estimate = estimate,
    .begin = pricer_begin,
    .end = pricer_end,
    .enter = pricer_enter,
    .prepare = pricer_prepare,
    .price = pricer_price,
};
