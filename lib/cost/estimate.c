/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates as JSON; the keys are documented in docs/json.md. */
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

void kerf_estimate_json(struct kerf_json *json, const struct kerf_estimate *estimate, int32_t rank) {
    assert(rank >= 0 && estimate->time_s.count > 0 && estimate->memory.count > 0);
    if (rank > 0) kerf_json_integer(json, "rank", rank);
    kerf_json_number(json, "throughput", estimate->throughput);
    kerf_json_number(json, "step_time_s", estimate->step_time_s);
    kerf_json_number(json, "memory_bytes", estimate->memory_bytes);
    kerf_json_boolean(json, "fits", estimate->fits);
    kerf_layout_json(json, "layout", &estimate->layout);
    parts_json(json, "time_s", &estimate->time_s);
    parts_json(json, "memory", &estimate->memory);
    kerf_json_number(json, "flops_per_gpu", estimate->flops_per_gpu);
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
