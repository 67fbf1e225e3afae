/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/analytic/composition.h"

#include <math.h>
#include <string.h>
#include "cost/analytic/device.h"
#include "cost/stage_split.h"
#include "spec/parameters.h"

/* ---- Room ------------------------------------------------------------------------------------------------- */

int composition_begin(struct composition *composition, const struct analytic_device *device, const struct space *space,
                      struct arena *arena, struct arena *scratch) {
    int64_t layers = space->problem->model.num_hidden_layers;
    size_t room = (size_t)layers; /* every virtual stage has a layer */
    struct composition c = {
        .device = device,
        .space = space,
        .arena = scratch,
        .scale = analytic_scale(device, space->problem->gpus),
        .room = (int32_t)layers,
    };
    c.device_of = arena_take(arena, room, sizeof *c.device_of);
    c.stage_layers = arena_take(arena, room, sizeof *c.stage_layers);
    c.parameters = arena_take(arena, room, sizeof *c.parameters);
    double **const arrays[] = {&c.forward_s,        &c.backward_input_s, &c.backward_weight_s,
                               &c.activation_bytes, &c.in_flight,        &c.device_s,
                               &c.device_bytes,     &c.peak_bytes,       &c.device_backward_s};
    int good = c.device_of && c.stage_layers && c.parameters;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = arena_take(arena, room, sizeof **arrays[i]);
        good &= *arrays[i] != NULL;
    }
    c.pipelines = space->pipeliner->begin();
    *composition = c;
    return good && c.pipelines;
}

void composition_end(struct composition *composition) {
    if (composition->pipelines) composition->space->pipeliner->end(composition->pipelines);
    composition->pipelines = NULL;
}

/* ---- Items ------------------------------------------------------------------------------------------------ */

static double item_s(const struct analytic_item *item) {
    return item->pass_s[ANALYTIC_FORWARD] + item->pass_s[ANALYTIC_BACKWARD_INPUT] +
           item->pass_s[ANALYTIC_BACKWARD_WEIGHT];
}

static void add_parameters(struct analytic_parameters *sum, const struct analytic_parameters *more, double times) {
    sum->dense += more->dense * times;
    sum->experts += more->experts * times;
    sum->doubled += more->doubled * times;
}

static void find_parameters(struct composition *composition, const struct kerf_layout *layout) {
    struct composition_parameters *of = &composition->of_items;
    if (of->tp == layout->tp1 && of->ep == layout->ep && of->etp == layout->etp) return;
    for (int32_t k = 0; k < composition->space->problem->model.num_kinds; k++)
        of->kinds[k] = analytic_layer_parameters(composition->device, layout, k);
    of->embedding = analytic_embedding_parameters(composition->device, layout);
    of->head = analytic_head_parameters(composition->device, layout, 0);
    of->head_copy = analytic_head_parameters(composition->device, layout, 1);
    of->mtp = analytic_mtp_parameters(composition->device, layout);
    of->tp = layout->tp1, of->ep = layout->ep, of->etp = layout->etp;
}

/* Bytes of state that a parameter takes. */
struct rates {
    double dense, experts, doubled;
};

static double state_sum(const struct composition *composition, const struct kerf_layout *layout,
                        const struct analytic_parameters *parameters) {
    struct analytic_state_bytes state = analytic_state(composition->device, layout, parameters);
    return state.weights + state.gradients + state.optimizer;
}

static struct rates rates_of(const struct composition *composition, const struct kerf_layout *layout) {
    static const struct analytic_parameters one_dense = {.dense = 1}, one_expert = {.experts = 1},
                                            one_more = {.doubled = 1};
    return (struct rates){state_sum(composition, layout, &one_dense), state_sum(composition, layout, &one_expert),
                          state_sum(composition, layout, &one_more)};
}

static double state_bytes(const struct rates *rates, const struct analytic_parameters *parameters) {
    return rates->dense * parameters->dense + rates->experts * parameters->experts +
           rates->doubled * parameters->doubled;
}

static double working_bytes(const struct composition *composition, const struct kerf_layout *layout,
                            const struct analytic_shape *shape) {
    const struct kerf_model *model = &composition->space->problem->model;
    double most = shape->embedding.working_bytes;
    if (shape->head.working_bytes > most) most = shape->head.working_bytes;
    if (shape->mtp.working_bytes > most) most = shape->mtp.working_bytes;
    for (int32_t k = 0; k < model->num_kinds; k++) {
        if (shape->kinds[k].working_bytes > most) most = shape->kinds[k].working_bytes;
        if (layout->recompute_layers && shape->recomputed_kinds[k].working_bytes > most)
            most = shape->recomputed_kinds[k].working_bytes;
    }
    return most;
}

/* ---- Splitting -------------------------------------------------------------------------------------------- */

static void begin_layout(struct composition *composition, const struct kerf_layout *layout) {
    const struct pipeliner *pipeliner = composition->space->pipeliner;
    composition->num_devices = (int32_t)layout->pp;
    composition->num_stages = (int32_t)layout->pp * layout->vpp;
    composition->micro_batches = composition->space->problem->global_batch / layout->dp / layout->micro_batch;
    assert(composition->num_stages <= composition->room && composition->micro_batches > 0);
    pipeliner->devices(layout->schedule, composition->num_devices, layout->vpp, composition->device_of);
}

/* The first layers of a stage that full:K recomputes are left out: the split is that without recomputation. */
static struct stage_split_question times_question(const struct composition *composition,
                                                  const struct analytic_shape *shape) {
    const struct kerf_problem *problem = composition->space->problem;
    const struct kerf_model *model = &problem->model;
    struct stage_split_question question = {
        .runs = model->runs,
        .num_runs = model->num_runs,
        .num_stages = composition->num_stages,
        .num_devices = composition->num_devices,
        .is_even = 1, /* a device with all its layers on one virtual stage makes the pipeline wait */
        .device_of = composition->device_of,
        .first_s = item_s(&shape->embedding),
        .last_s = item_s(&shape->head) + (double)problem->mtp_layers * item_s(&shape->mtp),
        .stage_s = item_s(&shape->every_stage),
    };
    for (int32_t k = 0; k < model->num_kinds; k++) question.layer_s[k] = item_s(&shape->kinds[k]);
    return question;
}

double composition_least_device_s(struct composition *composition, const struct kerf_layout *layout,
                                  const struct analytic_shape *shape) {
    begin_layout(composition, layout);
    struct stage_split_question question = times_question(composition, shape);
    return stage_split_least_s(&question, composition->arena);
}

/* What a device holds besides its layers. */
static void find_device_bytes(struct composition *composition, const struct kerf_layout *layout,
                              const struct analytic_shape *shape, const struct rates *rates) {
    const struct composition_parameters *of = &composition->of_items;
    int32_t first = composition->device_of[0], last = composition->device_of[composition->num_stages - 1];
    double head = state_bytes(rates, first == last ? &of->head : &of->head_copy);
    double mtp_layers = (double)composition->space->problem->mtp_layers;
    (void)layout;
    for (int32_t d = 0; d < composition->num_devices; d++) composition->device_bytes[d] = 0;
    composition->device_bytes[first] += state_bytes(rates, &of->embedding);
    composition->device_bytes[last] += head + mtp_layers * state_bytes(rates, &of->mtp) + shape->logits_bytes;
}

static int split(struct composition *composition, const struct kerf_layout *layout,
                 const struct analytic_shape *shape) {
    const struct kerf_model *model = &composition->space->problem->model;
    if (layout->stage_layers && !layout->has_best_split) {
        memcpy(composition->stage_layers, layout->stage_layers,
               (size_t)composition->num_stages * sizeof *composition->stage_layers);
        return 1;
    }
    const struct kerf_space *asked = composition->space->problem->space;
    if (asked && asked->runner && asked->runner->split) {
        asked->runner->split(composition->space->problem, layout, composition->stage_layers);
        return 1;
    }
    composition->space->pipeliner->in_flight(layout->schedule, composition->num_devices, layout->vpp,
                                             (int32_t)composition->micro_batches, composition->in_flight);
    struct stage_split_question question = times_question(composition, shape);
    struct rates rates = rates_of(composition, layout);
    for (int32_t k = 0; k < model->num_kinds; k++) {
        question.layer_bytes[k] = state_bytes(&rates, &composition->of_items.kinds[k]);
        question.activation_bytes[k] = shape->kinds[k].activation_bytes;
    }
    find_device_bytes(composition, layout, shape, &rates);
    question.in_flight = composition->in_flight;
    question.device_bytes = composition->device_bytes;
    struct stage_split ignored;
    return stage_split_find(&question, composition->arena, composition->stage_layers, &ignored);
}

/* ---- Stages ----------------------------------------------------------------------------------------------- */

static void add_item(struct composition *composition, int32_t stage, const struct analytic_item *item, double times) {
    composition->forward_s[stage] += times * item->pass_s[ANALYTIC_FORWARD];
    composition->backward_input_s[stage] += times * item->pass_s[ANALYTIC_BACKWARD_INPUT];
    composition->backward_weight_s[stage] += times * item->pass_s[ANALYTIC_BACKWARD_WEIGHT];
    composition->activation_bytes[stage] += times * item->activation_bytes;
}

/* Where in the model's runs the next layer is. */
struct cursor {
    int32_t run, done; /* done: layers of the run before the next one */
};

/* The next layers, of which the first `again` are those of full:K. */
static void add_layers(struct composition *composition, int32_t stage, const struct analytic_shape *shape,
                       int32_t count, int32_t again, struct cursor *at) {
    const struct kerf_model *model = &composition->space->problem->model;
    struct analytic_parameters *parameters = &composition->parameters[composition->device_of[stage]];
    while (count > 0) {
        const struct kerf_layer_run *run = &model->runs[at->run];
        int32_t here = run->count - at->done < count ? run->count - at->done : count;
        int32_t recomputed = again < here ? again : here;
        if (recomputed) add_item(composition, stage, &shape->recomputed_kinds[run->kind], recomputed);
        if (here > recomputed) add_item(composition, stage, &shape->kinds[run->kind], here - recomputed);
        composition->layers[run->kind] += here - recomputed;
        composition->recomputed_layers[run->kind] += recomputed;
        add_parameters(parameters, &composition->of_items.kinds[run->kind], here);
        count -= here;
        again -= recomputed;
        at->done += here;
        if (at->done == run->count) *at = (struct cursor){at->run + 1, 0};
    }
}

static void add_ends(struct composition *composition, const struct analytic_shape *shape) {
    const struct composition_parameters *of = &composition->of_items;
    double mtp_layers = (double)composition->space->problem->mtp_layers;
    int32_t last = composition->num_stages - 1, on_first = composition->device_of[0];
    int32_t on_last = composition->device_of[last];
    add_item(composition, 0, &shape->embedding, 1);
    add_item(composition, last, &shape->head, 1);
    add_parameters(&composition->parameters[on_first], &of->embedding, 1);
    add_parameters(&composition->parameters[on_last], on_first == on_last ? &of->head : &of->head_copy, 1);
    if (mtp_layers == 0) return;
    add_item(composition, last, &shape->mtp, mtp_layers);
    add_parameters(&composition->parameters[on_last], &of->mtp, mtp_layers);
}

static void add_hops(struct composition *composition, const struct kerf_layout *layout) {
    composition->latency_s = composition->sender_s = 0;
    if (layout->pp == 1) return;
    struct analytic_hop hop = analytic_hop(composition->device, layout);
    composition->latency_s = hop.latency_s;
    for (int32_t s = 0; s + 1 < composition->num_stages; s++) {
        if (composition->device_of[s] == composition->device_of[s + 1]) continue;
        composition->forward_s[s] += hop.sender_s;
        composition->backward_input_s[s + 1] += hop.sender_s;
        composition->sender_s += 2 * hop.sender_s;
    }
}

int composition_lay(struct composition *composition, const struct kerf_layout *layout,
                    const struct analytic_shape *shape) {
    struct cursor at = {0, 0};
    const struct analytic_item *every = &shape->every_stage;
    begin_layout(composition, layout);
    find_parameters(composition, layout);
    if (!split(composition, layout, shape)) return 0;
    memset(composition->layers, 0, sizeof composition->layers);
    memset(composition->recomputed_layers, 0, sizeof composition->recomputed_layers);
    for (int32_t d = 0; d < composition->num_devices; d++) {
        composition->parameters[d] = (struct analytic_parameters){0};
        composition->device_s[d] = composition->device_backward_s[d] = 0;
    }
    for (int32_t s = 0; s < composition->num_stages; s++) {
        int32_t count = composition->stage_layers[s];
        composition->forward_s[s] = every->pass_s[ANALYTIC_FORWARD];
        composition->backward_input_s[s] = every->pass_s[ANALYTIC_BACKWARD_INPUT];
        composition->backward_weight_s[s] = every->pass_s[ANALYTIC_BACKWARD_WEIGHT];
        composition->activation_bytes[s] = every->activation_bytes;
        add_layers(composition, s, shape, count, layout->recompute_layers < count ? layout->recompute_layers : count,
                   &at);
    }
    assert(at.run == composition->space->problem->model.num_runs);
    add_ends(composition, shape);
    add_hops(composition, layout);
    for (int32_t s = 0; s < composition->num_stages; s++) {
        double backward_s = composition->backward_input_s[s] + composition->backward_weight_s[s];
        composition->device_backward_s[composition->device_of[s]] += backward_s;
        composition->device_s[composition->device_of[s]] += composition->forward_s[s] + backward_s;
    }
    return 1;
}

/* ---- The pipeline ----------------------------------------------------------------------------------------- */

static struct pipeliner_question question_of(const struct composition *composition, const struct kerf_layout *layout) {
    return (struct pipeliner_question){
        .schedule = layout->schedule,
        .devices = composition->num_devices,
        .chunks = layout->vpp,
        .microbatches = (int32_t)composition->micro_batches,
        .forward_s = composition->forward_s,
        .backward_input_s = composition->backward_input_s,
        .backward_weight_s = composition->backward_weight_s,
        .activation_bytes = composition->activation_bytes,
        .latency_s = composition->latency_s,
    };
}

double composition_least_step_s(const struct composition *composition, const struct kerf_layout *layout) {
    struct pipeliner_question question = question_of(composition, layout);
    return composition->space->pipeliner->least_s(&question) * composition->scale;
}

int composition_run(struct composition *composition, const struct kerf_layout *layout) {
    struct pipeliner_question question = question_of(composition, layout);
    return composition->space->pipeliner->time(composition->pipelines, &question, composition->arena,
                                               &composition->makespan_s, &composition->bound_s,
                                               composition->peak_bytes);
}

/* ---- The step --------------------------------------------------------------------------------------------- */

static int are_equal(const struct composition *composition, int32_t a, int32_t b) {
    const struct analytic_parameters *x = &composition->parameters[a], *y = &composition->parameters[b];
    return x->dense == y->dense && x->experts == y->experts &&
           composition->device_backward_s[a] == composition->device_backward_s[b];
}

/* What the step adds on the slowest device. Neighbours are often alike. */
static struct analytic_step_extras slowest_extras(const struct composition *composition,
                                                  const struct kerf_layout *layout) {
    struct analytic_step_extras slowest = {0, 0, 0};
    for (int32_t d = 0; d < composition->num_devices; d++) {
        if (d > 0 && are_equal(composition, d, d - 1)) continue;
        struct analytic_step_extras extras = analytic_step_extras(
            composition->device, layout, &composition->parameters[d], composition->device_backward_s[d]);
        if (d == 0 || extras.dp_s + extras.optimizer_s > slowest.dp_s + slowest.optimizer_s) slowest = extras;
    }
    return slowest;
}

/* The device that holds most, and what it holds. Logits and what a layer needs while it runs are not there together. */
static int32_t fullest_device(const struct composition *composition, const struct kerf_layout *layout,
                              const struct analytic_shape *shape, double *ret_bytes) {
    int32_t last = composition->device_of[composition->num_stages - 1], fullest = 0;
    struct rates rates = rates_of(composition, layout);
    double working = working_bytes(composition, layout, shape), most = -1;
    for (int32_t d = 0; d < composition->num_devices; d++) {
        double passing = d == last && shape->logits_bytes > working ? shape->logits_bytes : working;
        double bytes = state_bytes(&rates, &composition->parameters[d]) + composition->peak_bytes[d] + passing;
        if (bytes > most) most = bytes, fullest = d;
    }
    *ret_bytes =
        most + analytic_buffer_bytes(composition->device, layout) + analytic_runtime_bytes(composition->device, layout);
    return fullest;
}

double composition_peak(struct composition *composition, const struct kerf_layout *layout,
                        const struct analytic_shape *shape) {
    struct pipeliner_question question = question_of(composition, layout);
    double bytes;
    int known = composition->space->pipeliner->peak(composition->pipelines, &question, composition->peak_bytes);
    if (known <= 0) return known ? -1 : -2;
    fullest_device(composition, layout, shape, &bytes);
    return bytes;
}

struct composition_result composition_result(const struct composition *composition, const struct kerf_layout *layout,
                                             const struct analytic_shape *shape) {
    struct composition_result result;
    struct analytic_step_extras extras = slowest_extras(composition, layout);
    result.step_time_s =
        (composition->makespan_s + extras.dp_s + extras.optimizer_s) * composition->scale + extras.fixed_s;
    fullest_device(composition, layout, shape, &result.memory_bytes);
    return result;
}

/* ---- One layout in full ----------------------------------------------------------------------------------- */

static void add_part(struct kerf_parts *parts, const char *name, double value) {
    assert(parts->count < KERF_PARTS_MAX);
    parts->of[parts->count++] = (struct kerf_part){name, value};
}

/* Of all devices and one micro-batch. */
static double part_of_all(const struct composition *composition, const struct analytic_shape *shape, int part) {
    const struct kerf_problem *problem = composition->space->problem;
    double sum = 0;
    for (int pass = 0; pass < ANALYTIC_PASSES; pass++) {
        sum += shape->embedding.part_s[pass][part] + shape->head.part_s[pass][part];
        sum += (double)problem->mtp_layers * shape->mtp.part_s[pass][part];
        sum += composition->num_stages * shape->every_stage.part_s[pass][part];
        for (int32_t k = 0; k < problem->model.num_kinds; k++) {
            sum += (double)composition->layers[k] * shape->kinds[k].part_s[pass][part];
            if (composition->recomputed_layers[k])
                sum += (double)composition->recomputed_layers[k] * shape->recomputed_kinds[k].part_s[pass][part];
        }
    }
    return sum;
}

static void time_parts(const struct composition *composition, const struct kerf_layout *layout,
                       const struct analytic_shape *shape, struct kerf_parts *ret_parts) {
    static const char *const names[ANALYTIC_PARTS] = {
        [ANALYTIC_GEMM] = "gemm",     [ANALYTIC_ATTENTION] = "attention",
        [ANALYTIC_MEMORY] = "memory", [ANALYTIC_LAUNCH] = "launch",
        [ANALYTIC_TP] = "tp",         [ANALYTIC_CP] = "cp",
        [ANALYTIC_EP] = "ep",         [ANALYTIC_DP] = "dp",
    };
    struct analytic_step_extras extras = slowest_extras(composition, layout);
    double m = (double)composition->micro_batches, devices = composition->num_devices, mean_s = 0, most_s = 0;
    for (int32_t d = 0; d < composition->num_devices; d++) {
        mean_s += composition->device_s[d] / devices;
        if (composition->device_s[d] > most_s) most_s = composition->device_s[d];
    }
    double imbalance_s = m * (most_s - mean_s), bubble_s = composition->makespan_s - m * most_s;
    ret_parts->count = 0;
    for (int part = 0; part < ANALYTIC_PARTS; part++) {
        double value = part_of_all(composition, shape, part) * m / devices;
        if (part == ANALYTIC_LAUNCH) value += extras.fixed_s;
        if (part == ANALYTIC_DP) value += extras.dp_s;
        add_part(ret_parts, names[part], value);
    }
    add_part(ret_parts, "pp", composition->sender_s * m / devices);
    add_part(ret_parts, "bubble", bubble_s > 0 ? bubble_s : 0); /* below 0 by rounding alone */
    add_part(ret_parts, "imbalance", imbalance_s > 0 ? imbalance_s : 0);
    add_part(ret_parts, "optimizer", extras.optimizer_s);
    add_part(ret_parts, "stragglers",
             (composition->scale - 1) * (composition->makespan_s + extras.dp_s + extras.optimizer_s));
}

static void memory_parts(const struct composition *composition, const struct kerf_layout *layout,
                         const struct analytic_shape *shape, struct kerf_parts *ret_parts) {
    double bytes, working = working_bytes(composition, layout, shape);
    int32_t d = fullest_device(composition, layout, shape, &bytes);
    double logits = d == composition->device_of[composition->num_stages - 1] ? shape->logits_bytes : 0;
    struct analytic_state_bytes state = analytic_state(composition->device, layout, &composition->parameters[d]);
    ret_parts->count = 0;
    add_part(ret_parts, "weights", state.weights);
    add_part(ret_parts, "gradients", state.gradients);
    add_part(ret_parts, "optimizer", state.optimizer);
    add_part(ret_parts, "activations", composition->peak_bytes[d] + (working > logits ? working - logits : 0));
    add_part(ret_parts, "logits", logits);
    add_part(ret_parts, "buffers", analytic_buffer_bytes(composition->device, layout));
    add_part(ret_parts, "runtime", analytic_runtime_bytes(composition->device, layout));
}

/* How sure the estimate is, from measured runs of the same stack. */
static void set_interval(const struct composition *composition, struct kerf_estimate *estimate) {
    const struct kerf_problem *problem = composition->space->problem;
    int has_experts = 0;
    for (int32_t k = 0; k < problem->model.num_kinds; k++) has_experts |= problem->model.kinds[k].mlp.experts > 0;
    double width =
        stack_half_width(&composition->device->stack, problem->system.name, has_experts, &estimate->comparable_runs);
    estimate->step_low_s = estimate->step_time_s * exp(-width);
    estimate->step_high_s = estimate->step_time_s * exp(width);
    estimate->p_oom = stack_p_oom(estimate->memory_bytes, problem->system.memory_capacity_bytes);
}

void composition_describe(const struct composition *composition, const struct kerf_layout *layout,
                          const struct analytic_shape *shape, struct kerf_estimate *ret_estimate) {
    const struct kerf_problem *problem = composition->space->problem;
    double gpus = (double)problem->gpus, samples = (double)problem->global_batch;
    struct composition_result result = composition_result(composition, layout, shape);
    struct kerf_estimate estimate;
    memset(&estimate, 0, sizeof estimate);
    estimate.layout = *layout;
    estimate.step_time_s = result.step_time_s;
    estimate.memory_bytes = result.memory_bytes;
    estimate.throughput = samples / estimate.step_time_s;
    estimate.fits = estimate.memory_bytes <= problem_memory(problem);
    estimate.pipeline_s = composition->makespan_s;
    estimate.model_flops = 3 * kerf_model_flops(&problem->model, problem->seq_length, problem->mtp_layers) * samples *
                           (double)problem->seq_length;
    estimate.flops_per_gpu = estimate.model_flops / gpus;
    estimate.mfu = estimate.flops_per_gpu / (analytic_peak(composition->device) * estimate.step_time_s);
    for (int32_t d = 0; d < composition->num_devices; d++) {
        double here = composition->parameters[d].dense + composition->parameters[d].experts;
        if (here > estimate.parameters_per_device) estimate.parameters_per_device = here;
    }
    set_interval(composition, &estimate);
    time_parts(composition, layout, shape, &estimate.time_s);
    memory_parts(composition, layout, shape, &estimate.memory);
    *ret_estimate = estimate;
}
