/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row of the cost model "analytic": one layout in full, and many for a search.
 *
 * Of many layouts what a prefix has in common is worked out once, and bounds say early what cannot be among the best.
 *
 * Devices together do m micro-batches of all layers on pp devices, so the slowest of them, and with it the step, takes at
 * least m / pp times the work of one micro-batch; and m / pp = batch * tp * cp / (gpus * micro_batch) is known before pp
 * is chosen. With pp, vpp and schedule chosen the best split gives the slowest device's time, and the split itself a
 * bound of the schedule; only what passes that is simulated.
 *
 * A bound may exceed what it bounds by rounding, so that all are taken a little lower.
 */
#include <string.h>
#include "cost/analytic/composition.h"
#include "cost/hybrid_space.h"
#include "spec/parameters.h"

static const double ROUNDING = 1 - 1e-12;

struct cost_pricer {
    const struct kerf_problem *problem;
    const struct cost_sink *sink;
    const struct analytic_device *device;
    struct arena scratch; /* of splits and simulations */
    struct composition composition;
    struct kerf_layout prefix;    /* where the walk is */
    struct analytic_shape shape;  /* of the prefix */
    struct analytic_shape fitted; /* the shape with the zero of the layout at hand, where it matters */
    double scale;
    double state_bytes;               /* of a device on average, at the best zero that may follow */
    double fixed_bytes;               /* buffers and runtime */
    struct composition_result result; /* of the whole prefix */
    int has_run;                      /* composition holds the prefix of the level before ZERO, with this split: */
    int32_t run_zero_class;           /* 0: zero 0 or 1; else zero */
    int32_t *run_layers;              /* [stages] */
};

static void pricer_end(struct cost_pricer *pricer) {
    composition_end(&pricer->composition);
    arena_free(&pricer->scratch);
}

static struct cost_pricer *pricer_begin(const struct space *space, const struct cost_sink *sink, struct arena *arena) {
    struct cost_pricer *pricer = arena_take(arena, 1, sizeof *pricer);
    if (pricer == NULL) return NULL;
    memset(pricer, 0, sizeof *pricer);
    pricer->problem = space->problem;
    pricer->sink = sink;
    pricer->device = analytic_device(space->problem, arena);
    pricer->run_layers = arena_take(arena, (size_t)space->problem->model.num_hidden_layers, sizeof(int32_t));
    if (pricer->device == NULL || pricer->run_layers == NULL ||
        !composition_begin(&pricer->composition, pricer->device, space, arena, &pricer->scratch)) {
        pricer_end(pricer);
        return NULL;
    }
    pricer->scale = analytic_scale(pricer->device, space->problem->gpus);
    return pricer;
}

/* The shape of the least that may follow: zero 0 or 1, nothing recomputed where a number of layers follows. */
static void price_shape(struct cost_pricer *pricer) {
    struct kerf_layout layout = pricer->prefix;
    layout.zero = 0;
    layout.dp = 1;
    analytic_shape(pricer->device, &layout, &pricer->shape);
}

/* m / pp */
static double rounds_of(const struct cost_pricer *pricer) {
    const struct kerf_layout *l = &pricer->prefix;
    return (double)pricer->problem->global_batch * (double)l->tp1 * (double)l->cp /
           ((double)pricer->problem->gpus * (double)l->micro_batch);
}

static double bound_of(const struct cost_pricer *pricer, double device_s) {
    return device_s * pricer->scale * ROUNDING;
}

/* A device holds at least the mean of all states at the best zero, and the activations of one virtual stage. */
static double least_memory(struct cost_pricer *pricer) {
    struct kerf_layout layout = pricer->prefix;
    const struct kerf_model *model = &pricer->problem->model;
    struct analytic_parameters sum = analytic_embedding_parameters(pricer->device, &layout);
    double least = -1;
    if (layout.pp == 1) {
        struct analytic_parameters head = analytic_head_parameters(pricer->device, &layout, 0);
        sum.dense += head.dense;
    }
    for (int32_t r = 0; r < model->num_runs; r++) {
        struct analytic_parameters one = analytic_layer_parameters(pricer->device, &layout, model->runs[r].kind);
        sum.dense += one.dense * model->runs[r].count;
        sum.experts += one.experts * model->runs[r].count;
        sum.doubled += one.doubled * model->runs[r].count;
    }
    for (int zero = 0; zero <= 3; zero++) {
        layout.zero = (int8_t)zero;
        struct analytic_state_bytes state = analytic_state(pricer->device, &layout, &sum);
        double bytes = state.weights + state.gradients + state.optimizer;
        if (least < 0 || bytes < least) least = bytes;
    }
    return least / (double)layout.pp * ROUNDING;
}

/* The layout's own shape: that of zero 2 and 3 depends on dp. */
static const struct analytic_shape *shape_of(struct cost_pricer *pricer, const struct kerf_layout *layout) {
    if (layout->zero < 2) return &pricer->shape;
    analytic_shape(pricer->device, layout, &pricer->fitted);
    return &pricer->fitted;
}

/* Whether the pipeline of the layout before is that of what is laid now. */
static int ran_before(const struct cost_pricer *pricer, int32_t zero_class) {
    const struct composition *composition = &pricer->composition;
    size_t bytes = (size_t)composition->num_stages * sizeof *pricer->run_layers;
    return pricer->has_run && pricer->run_zero_class == zero_class &&
           memcmp(pricer->run_layers, composition->stage_layers, bytes) == 0;
}

/* Prices the whole prefix, or says only that it is beyond the sink's limits. */
static int price(struct cost_pricer *pricer, struct cost_bound *ret_bound) {
    const struct kerf_layout *layout = &pricer->prefix;
    struct composition *composition = &pricer->composition;
    int32_t zero_class = layout->zero < 2 ? 0 : layout->zero;
    const struct analytic_shape *shape = shape_of(pricer, layout);
    arena_reset(&pricer->scratch);
    if (!composition_lay(composition, layout, shape)) return 0;
    int has_run = ran_before(pricer, zero_class);
    if (!has_run) {
        double least_s = composition_least_step_s(composition, layout) * ROUNDING;
        if (least_s > pricer->sink->cutoff_s) {
            *ret_bound = (struct cost_bound){pricer->state_bytes + pricer->fixed_bytes, least_s};
            pricer->has_run = 0;
            return 1;
        }
    }
    double bytes = composition_peak(composition, layout, shape);
    if (bytes == -2) return 0;
    if (bytes > pricer->sink->capacity_bytes) {
        *ret_bound = (struct cost_bound){bytes, 0};
        return 1;
    }
    if (!has_run) {
        if (!composition_run(composition, layout)) return 0;
        memcpy(pricer->run_layers, composition->stage_layers,
               (size_t)composition->num_stages * sizeof *pricer->run_layers);
        pricer->run_zero_class = zero_class;
        pricer->has_run = 1;
    }
    pricer->result = composition_result(composition, layout, shape);
    *ret_bound = (struct cost_bound){pricer->result.memory_bytes, pricer->result.step_time_s};
    return 1;
}

static int pricer_enter(struct cost_pricer *pricer, int32_t level, const struct kerf_layout *prefix,
                        struct cost_bound *ret_bound) {
    pricer->prefix = *prefix;
    ret_bound->memory_bytes = ret_bound->step_time_s = 0;
    pricer->has_run &= level == HYBRID_LEVEL_ZERO;
    switch ((enum hybrid_level)level) {
    case HYBRID_LEVEL_SHARDS:
    case HYBRID_LEVEL_EXPERTS:
    case HYBRID_LEVEL_MICRO_BATCH: return 1;
    case HYBRID_LEVEL_RECOMPUTE:
        price_shape(pricer);
        ret_bound->step_time_s = bound_of(pricer, rounds_of(pricer) * pricer->shape.least_s);
        return 1;
    case HYBRID_LEVEL_STAGES:
        pricer->state_bytes = least_memory(pricer);
        pricer->fixed_bytes = analytic_runtime_bytes(pricer->device, prefix);
        ret_bound->memory_bytes = pricer->state_bytes + pricer->fixed_bytes;
        ret_bound->step_time_s = bound_of(pricer, rounds_of(pricer) * pricer->shape.least_s);
        return 1;
    case HYBRID_LEVEL_SCHEDULE: {
        arena_reset(&pricer->scratch);
        double m = (double)(pricer->problem->global_batch / prefix->dp / prefix->micro_batch);
        double device_s = composition_least_device_s(&pricer->composition, prefix, &pricer->shape);
        ret_bound->memory_bytes = pricer->state_bytes + pricer->fixed_bytes;
        ret_bound->step_time_s = bound_of(pricer, m * device_s);
        double mean_s = bound_of(pricer, rounds_of(pricer) * pricer->shape.least_s);
        if (mean_s > ret_bound->step_time_s) ret_bound->step_time_s = mean_s;
        return 1;
    }
    case HYBRID_LEVEL_BLOCK: ret_bound->memory_bytes = pricer->state_bytes + pricer->fixed_bytes; return 1;
    case HYBRID_LEVEL_ZERO: return price(pricer, ret_bound);
    case HYBRID_LEVELS: break;
    }
    assert(!"a level of the space");
    return 0;
}

static int pricer_prepare(struct cost_pricer *pricer, const struct kerf_layout *variants, int32_t num_variants) {
    (void)pricer, (void)variants, (void)num_variants; /* there is one: the prefix itself */
    return 1;
}

static int pricer_price(struct cost_pricer *pricer, struct cost_sink *sink) {
    if (pricer->result.step_time_s <= sink->cutoff_s)
        sink->take(sink, &pricer->prefix, pricer->result.memory_bytes, pricer->result.step_time_s);
    return 1;
}

/* ---- One layout, and the row ------------------------------------------------------------------------------------- */

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
    pipeline->bound_s = composition->bound_s;
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
        const struct kerf_space *asked_for = space->problem->space;
        int is_split = asked_for && asked_for->runner && asked_for->runner->split && layout->pp * layout->vpp > 1;
        int is_given = layout->stage_layers || is_split;
        ret_estimate->layout.has_best_split = (int8_t)!is_given;
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
