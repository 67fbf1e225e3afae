/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from an estimate, and estimates as JSON; the keys are documented in docs/json.md. */
#include <assert.h>
#include <string.h>
#include "kerf/cost.h"

double kerf_part_value(const struct kerf_parts *parts, const char *name) {
    for (int32_t i = 0; i < parts->count; i++)
        if (strcmp(parts->of[i].name, name) == 0) return parts->of[i].value;
    return 0;
}

static void parts_json(struct kerf_json *json, const char *key, const struct kerf_parts *parts) {
    kerf_json_open(json, key, '{');
    for (int32_t i = 0; i < parts->count; i++) kerf_json_number(json, parts->of[i].name, parts->of[i].value);
    kerf_json_close(json, '}');
}

double kerf_estimate_tokens_per_s(const struct kerf_problem *problem, const struct kerf_estimate *estimate) {
    return estimate->throughput * (double)problem->seq_length / (double)problem->gpus;
}

double kerf_estimate_days(const struct kerf_problem *problem, const struct kerf_estimate *estimate) {
    double per_s = estimate->throughput * (double)problem->seq_length;
    return problem->training_tokens > 0 ? problem->training_tokens / per_s / 86400 : 0;
}

double kerf_estimate_price(const struct kerf_problem *problem, const struct kerf_estimate *estimate) {
    return kerf_estimate_days(problem, estimate) * 24 * (double)problem->gpus * problem->device_hour_price;
}

double kerf_estimate_gap(const struct kerf_estimate *estimate) {
    const struct kerf_pipeline *pipeline = estimate->pipeline;
    if (pipeline == NULL || !(pipeline->bound_s > 0)) return -1;
    return pipeline->makespan_s <= pipeline->bound_s * (1 + 1e-12) ? 0 : pipeline->makespan_s / pipeline->bound_s - 1;
}

static void numbers_json(struct kerf_json *json, const char *key, const double *values, int32_t count) {
    kerf_json_open(json, key, '[');
    for (int32_t i = 0; i < count; i++) kerf_json_number(json, NULL, values[i]);
    kerf_json_close(json, ']');
}

void kerf_pipeline_json(struct kerf_json *json, const char *key, const struct kerf_pipeline *pipeline) {
    kerf_json_open(json, key, '{');
    kerf_json_string(json, "schedule", pipeline->schedule);
    kerf_json_integer(json, "devices", pipeline->devices);
    kerf_json_integer(json, "chunks", pipeline->chunks);
    kerf_json_integer(json, "microbatches", pipeline->microbatches);
    numbers_json(json, "forward", pipeline->forward_s, pipeline->num_stages);
    numbers_json(json, "backward_input", pipeline->backward_input_s, pipeline->num_stages);
    numbers_json(json, "backward_weight", pipeline->backward_weight_s, pipeline->num_stages);
    kerf_json_number(json, "p2p", pipeline->p2p_s);
    numbers_json(json, "activation_bytes", pipeline->activation_bytes, pipeline->num_stages);
    kerf_json_close(json, '}');
}

static void training_json(struct kerf_json *json, const struct kerf_problem *problem,
                          const struct kerf_estimate *estimate) {
    if (!(problem->training_tokens > 0)) return;
    kerf_json_open(json, "training", '{');
    kerf_json_number(json, "tokens", problem->training_tokens);
    kerf_json_number(json, "days", kerf_estimate_days(problem, estimate));
    if (problem->device_hour_price > 0) kerf_json_number(json, "cost", kerf_estimate_price(problem, estimate));
    kerf_json_close(json, '}');
}

static void layout_text_json(struct kerf_json *json, const struct kerf_problem *problem,
                             const struct kerf_layout *layout) {
    struct kerf_text text = {0};
    kerf_layout_text(&text, problem, layout);
    kerf_json_string(json, "layout_text", text.data ? text.data : "");
    kerf_text_free(&text);
}

/* What only the cost model "analytic" finds stands in its estimates alone: programs know the others' keys. */
void kerf_estimate_json(struct kerf_json *json, const struct kerf_problem *problem,
                        const struct kerf_estimate *estimate, int32_t rank) {
    const struct kerf_pipeline *pipeline = estimate->pipeline;
    assert(rank >= 0 && estimate->time_s.count > 0 && estimate->memory.count > 0);
    if (rank > 0) kerf_json_integer(json, "rank", rank);
    kerf_json_number(json, "throughput", estimate->throughput);
    kerf_json_number(json, "step_time_s", estimate->step_time_s);
    if (pipeline) {
        kerf_json_number(json, "step_low_s", estimate->step_low_s);
        kerf_json_number(json, "step_high_s", estimate->step_high_s);
        kerf_json_integer(json, "comparable_runs", estimate->comparable_runs);
        kerf_json_number(json, "p_oom", estimate->p_oom);
        kerf_json_number(json, "pipeline_s", estimate->pipeline_s);
        if (pipeline->bound_s > 0) {
            kerf_json_number(json, "pipeline_lower_bound_s", pipeline->bound_s);
            kerf_json_number(json, "pipeline_above_optimum", kerf_estimate_gap(estimate));
        }
        kerf_json_number(json, "tokens_per_s_per_device", kerf_estimate_tokens_per_s(problem, estimate));
        kerf_json_number(json, "mfu", estimate->mfu);
        kerf_json_number(json, "model_flops", estimate->model_flops);
        kerf_json_number(json, "parameters_per_device", estimate->parameters_per_device);
    }
    kerf_json_number(json, "memory_bytes", estimate->memory_bytes);
    kerf_json_boolean(json, "fits", estimate->fits);
    kerf_layout_json(json, "layout", &estimate->layout);
    if (pipeline) layout_text_json(json, problem, &estimate->layout);
    parts_json(json, "time_s", &estimate->time_s);
    parts_json(json, "memory", &estimate->memory);
    kerf_json_number(json, "flops_per_gpu", estimate->flops_per_gpu);
    if (pipeline) kerf_pipeline_json(json, "pipeline", pipeline);
    training_json(json, problem, estimate);
}

void kerf_layers_json(struct kerf_json *json, const struct kerf_layer *layers, int32_t count) {
    static const char *const modules[KERF_MODULE_COUNT] = {"mlp", "sa"};
    kerf_json_open(json, "layers", '{');
    for (int module = 0; module < KERF_MODULE_COUNT; module++) {
        kerf_json_open(json, modules[module], '[');
        for (int32_t i = 0; i < count; i++) {
            const struct kerf_layer *layer = &layers[i];
            if ((int)layer->module != module) continue;
            kerf_json_open(json, NULL, '{');
            kerf_json_string(json, "name", layer->name);
            kerf_json_number(json, "flops_fwd", layer->flops_fwd);
            kerf_json_number(json, "flops_bwd", layer->flops_bwd);
            kerf_json_number(json, "weights_bytes", layer->weights_bytes);
            kerf_json_number(json, "activation_bytes", layer->activation_bytes);
            kerf_json_number(json, "t_fwd_s", layer->t_fwd_s);
            kerf_json_number(json, "t_bwd_s", layer->t_bwd_s);
            kerf_json_number(json, "t_fwd_comp_s", layer->t_fwd_comp_s);
            kerf_json_number(json, "t_fwd_mem_s", layer->t_fwd_mem_s);
            kerf_json_number(json, "t_fwd_comm_s", layer->t_fwd_comm_s);
            kerf_json_number(json, "t_bwd_comp_s", layer->t_bwd_comp_s);
            kerf_json_number(json, "t_bwd_mem_s", layer->t_bwd_mem_s);
            kerf_json_number(json, "t_bwd_comm_s", layer->t_bwd_comm_s);
            kerf_json_close(json, '}');
        }
        kerf_json_close(json, ']');
    }
    kerf_json_close(json, '}');
}
