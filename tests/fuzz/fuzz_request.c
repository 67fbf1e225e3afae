/* SPDX-License-Identifier: Apache-2.0 */
/* The input is one line of `kerf estimate --lines`: it is read, estimated and answered as the program does.
 */
#include "invariants.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const char source[] = "request";
static const int64_t COUNT_MAX = INT64_C(1) << 30;

/* The machine's files are no part of the input, apart from those that are the same everywhere. */
static int names_a_local_file(const json_t *root, const char *key) {
    const char *name = json_string_value(json_object_get(root, key));
    struct stat status;
    return name && strcmp(name, "/dev/null") != 0 && stat(name, &status) == 0 && !S_ISDIR(status.st_mode);
}

static int reads_files(const uint8_t *data, size_t size) {
    json_t *root = json_loadb((const char *)data, size, 0, NULL);
    int reads = names_a_local_file(root, "model") || names_a_local_file(root, "system");
    json_decref(root);
    return reads;
}

static int64_t sum_of_layers(const struct kerf_layer *layers, int32_t count, double *ret_weights, double *ret_flops) {
    int64_t modules = 0;
    for (int32_t i = 0; i < count; i++) {
        const struct kerf_layer *layer = &layers[i];
        CHECK(layer->name && is_plain(layer->name));
        CHECK((int)layer->module >= 0 && layer->module < KERF_MODULE_COUNT);
        modules |= 1 << layer->module;
        const double parts[] = {layer->flops_fwd,    layer->flops_bwd,    layer->weights_bytes, layer->activation_bytes,
                                layer->t_fwd_comp_s, layer->t_fwd_mem_s,  layer->t_fwd_comm_s,  layer->t_bwd_comp_s,
                                layer->t_bwd_mem_s,  layer->t_bwd_comm_s, layer->t_fwd_s,       layer->t_bwd_s};
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) CHECK(parts[p] >= 0 && isfinite(parts[p]));
        *ret_weights += layer->weights_bytes;
        *ret_flops += layer->flops_fwd + layer->flops_bwd;
    }
    return modules;
}

static void check_layers(const struct kerf_request *request, const struct kerf_estimate *estimate,
                         const struct kerf_layer *layers, int32_t count) {
    const struct kerf_layout *layout = &request->layout;
    double weights = 0, flops = 0;
    CHECK(count >= 1 && count <= KERF_LAYERS_MAX);
    CHECK(sum_of_layers(layers, count, &weights, &flops) == (1 << KERF_MODULE_COUNT) - 1);
    double depth = (double)(request->problem.model.num_hidden_layers / layout->pp);
    double passes = depth * (double)(request->problem.global_batch / layout->dp / layout->micro_batch);
    CHECK(weights * depth == kerf_part_value(&estimate->memory, "weights"));
    CHECK(fabs(flops * passes - estimate->flops_per_gpu) <= 1e-12 * estimate->flops_per_gpu);
}

static void check_layers_json(const json_t *object, const struct kerf_layer *layers, int32_t count) {
    const json_t *lists[KERF_MODULE_COUNT] = {json_object_get(object, "mlp"), json_object_get(object, "sa")};
    size_t next[KERF_MODULE_COUNT] = {0};
    for (int32_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(lists[layers[i].module], next[layers[i].module]++);
        const char *name = json_string_value(json_object_get(one, "name"));
        CHECK(name && strcmp(name, layers[i].name) == 0);
        check_number(one, "flops_fwd", layers[i].flops_fwd);
        check_number(one, "flops_bwd", layers[i].flops_bwd);
        check_number(one, "weights_bytes", layers[i].weights_bytes);
        check_number(one, "activation_bytes", layers[i].activation_bytes);
        check_number(one, "t_fwd_s", layers[i].t_fwd_s);
        check_number(one, "t_bwd_s", layers[i].t_bwd_s);
        check_number(one, "t_fwd_comp_s", layers[i].t_fwd_comp_s);
        check_number(one, "t_fwd_mem_s", layers[i].t_fwd_mem_s);
        check_number(one, "t_fwd_comm_s", layers[i].t_fwd_comm_s);
        check_number(one, "t_bwd_comp_s", layers[i].t_bwd_comp_s);
        check_number(one, "t_bwd_mem_s", layers[i].t_bwd_mem_s);
        check_number(one, "t_bwd_comm_s", layers[i].t_bwd_comm_s);
    }
    for (int module = 0; module < KERF_MODULE_COUNT; module++) CHECK(json_array_size(lists[module]) == next[module]);
}

static void check_request(const struct kerf_request *request) {
    const struct kerf_problem *problem = &request->problem;
    check_model(&problem->model);
    check_system(&problem->system);
    CHECK((int)problem->strategy >= 0 && problem->strategy < KERF_STRATEGY_COUNT);
    CHECK((int)problem->attention >= 0 && problem->attention < KERF_ATTENTION_COUNT);
    CHECK(problem->gpus >= 1 && problem->gpus <= COUNT_MAX);
    CHECK(problem->global_batch >= 1 && problem->global_batch <= COUNT_MAX);
    CHECK(problem->seq_length >= 1 && problem->seq_length <= COUNT_MAX);
    CHECK(request->layers == 0 || request->layers == 1);
    CHECK(is_plain(request->cost_model));
    CHECK(kerf_layout_check(problem, &request->layout, NULL) == KERF_OK);
}

/* A layout of hybrid: parts add up, and the JSON has all its keys. */
static void check_hybrid(const struct kerf_request *request, const struct kerf_estimate *estimate) {
    static const char *const keys[] = {"throughput",    "step_time_s",
                                       "pipeline_s",    "tokens_per_s_per_device",
                                       "mfu",           "model_flops",
                                       "layout",        "parameters_per_device",
                                       "memory_bytes",  "fits",
                                       "layout_text",   "time_s",
                                       "memory",        "pipeline",
                                       "flops_per_gpu", "step_low_s",
                                       "step_high_s",   "comparable_runs",
                                       "p_oom"};
    double time_s = 0, bytes = 0;
    for (int32_t i = 0; i < estimate->time_s.count; i++) time_s += estimate->time_s.of[i].value;
    for (int32_t i = 0; i < estimate->memory.count; i++) bytes += estimate->memory.of[i].value;
    CHECK(estimate->step_time_s > 0 && fabs(time_s / estimate->step_time_s - 1) < 1e-9);
    CHECK(estimate->memory_bytes > 0 && fabs(bytes / estimate->memory_bytes - 1) < 1e-9);
    CHECK(estimate->pipeline_s <= estimate->step_time_s * (1 + 1e-12) && estimate->pipeline != NULL);
    CHECK(estimate->mfu >= 0);
    struct kerf_text text = {0};
    struct kerf_json json;
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_estimate_json(&json, &request->problem, estimate, 0);
    kerf_json_close(&json, '}');
    json_t *root = read_back(&text);
    CHECK(json_object_size(root) == sizeof keys / sizeof *keys);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) CHECK(json_object_get(root, keys[i]));
    json_decref(root);
    kerf_text_free(&text);
}

static void answer(const struct kerf_request *request) {
    const struct kerf_cost_model *cost_model;
    struct kerf_estimate estimate;
    struct kerf_layer layers[KERF_LAYERS_MAX];
    struct kerf_error err;
    int32_t count;
    poison(&err, sizeof err);
    int32_t code = KERF_OK;
    cost_model = kerf_cost_model_of(request->problem.strategy);
    if (request->cost_model[0]) code = kerf_cost_model_find(request->cost_model, &cost_model, &err);
    if (code != KERF_OK) {
        check_error(code, &err, source, NULL, 0);
        return;
    }
    code = kerf_layout_estimate(cost_model, &request->problem, &request->layout, &estimate, &err);
    CHECK((code == KERF_OK) == kerf_cost_model_has(cost_model, request->problem.strategy));
    if (code != KERF_OK) {
        check_error(code, &err, source, NULL, 0);
        return;
    }
    if (request->problem.strategy == KERF_STRATEGY_HYBRID) {
        check_hybrid(request, &estimate);
        kerf_estimate_release(&estimate);
        return;
    }
    CHECK(kerf_layout_estimate_layers(cost_model, &request->problem, &request->layout, layers, &count, &err) ==
          KERF_OK);
    check_estimate(&request->problem, &request->layout, &estimate);
    check_layers(request, &estimate, layers, count);

    struct kerf_text text = {0};
    struct kerf_json json;
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_estimate_json(&json, &request->problem, &estimate, 0);
    kerf_layers_json(&json, layers, count);
    kerf_json_close(&json, '}');
    json_t *root = read_back(&text);
    check_estimate_json(root, &estimate);
    check_layers_json(json_object_get(root, "layers"), layers, count);
    json_decref(root);
    kerf_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct kerf_request request;
    struct kerf_error err;
    if (reads_files(data, size)) return 0;
    poison(&request, sizeof request);
    poison(&err, sizeof err);
    int32_t code = kerf_request_parse((const char *)data, size, source, NULL, &request, &err);
    if (code == KERF_OK) {
        check_request(&request);
        answer(&request);
        kerf_layout_release(&request.layout);
    } else {
        check_error(code, &err, source, (const char *)data, size);
        CHECK(err.file[0] != 0);
        CHECK(is_poisoned(&request, sizeof request));
    }
    CHECK(kerf_request_parse((const char *)data, size, source, NULL, &request, NULL) == code);
    if (code == KERF_OK) kerf_layout_release(&request.layout);
    return 0;
}
