/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as JSON; the keys are documented in docs/json.md. */
#include "kerf/plan.h"

static void not_priced_json(struct kerf_json *json, const struct kerf_search *search) {
    const struct kerf_cost_model *cost_model;
    struct kerf_text gaps = {0};
    if (kerf_cost_model_find(search->cost_model, &cost_model, NULL) != KERF_OK) return;
    kerf_cost_model_gaps(cost_model, &search->problem.model, &gaps);
    if (gaps.length) kerf_json_string(json, "not_priced", gaps.data);
    kerf_text_free(&gaps);
}

static void search_json(struct kerf_json *json, const struct kerf_search *search) {
    const struct kerf_problem *problem = &search->problem;
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "model", problem->model.name);
    kerf_json_string(json, "system", problem->system.name);
    kerf_json_integer(json, "scale_up_size", problem->system.scale_up.size);
    kerf_json_string(json, "strategy", kerf_strategy_name(problem->strategy));
    kerf_json_string(json, "attention", kerf_attention_name(problem->attention));
    kerf_json_integer(json, "gpus", problem->gpus);
    kerf_json_integer(json, "global_batch", problem->global_batch);
    kerf_json_integer(json, "seq_length", problem->seq_length);
    kerf_json_string(json, "cost_model", search->cost_model);
    kerf_json_open(json, "dimensions", '{');
    kerf_json_integer(json, "hidden_size", problem->model.hidden_size);
    kerf_json_integer(json, "intermediate_size", problem->model.intermediate_size);
    kerf_json_integer(json, "num_hidden_layers", problem->model.num_hidden_layers);
    kerf_json_integer(json, "num_attention_heads", problem->model.num_attention_heads);
    kerf_json_close(json, '}');
    kerf_model_notes_json(json, &problem->model);
    not_priced_json(json, search);
    kerf_json_number(json, "memory_capacity_bytes", problem->system.memory_capacity_bytes);
    kerf_problem_set_json(json, "set", &problem->model, &problem->system);
    kerf_json_integer(json, "candidates", search->candidates);
    kerf_json_integer(json, "feasible", search->feasible);
    if (!search->complete) kerf_json_boolean(json, "complete", 0);
    kerf_json_open(json, "plans", '[');
    for (int32_t i = 0; i < search->num_plans; i++) {
        kerf_json_open(json, NULL, '{');
        kerf_estimate_json(json, &search->plans[i], i + 1);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    if (search->num_plans == 0) {
        if (search->nearest) {
            kerf_json_open(json, "nearest", '{');
            kerf_estimate_json(json, search->nearest, 0);
            kerf_json_close(json, '}');
        } else {
            kerf_json_null(json, "nearest");
        }
        if (search->least_gpus)
            kerf_json_integer(json, "least_gpus", search->least_gpus);
        else
            kerf_json_null(json, "least_gpus");
    }
    if (search->reason) {
        kerf_json_string(json, "reason", search->reason);
        kerf_json_open(json, "gpus_that_work", '[');
        for (int i = 0; i < 2; i++)
            if (search->gpus_that_work[i]) kerf_json_integer(json, NULL, search->gpus_that_work[i]);
        kerf_json_close(json, ']');
    }
    kerf_json_close(json, '}');
}

void kerf_plan_json(struct kerf_json *json, const struct kerf_plan *plan) {
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "kerf", kerf_version());
    kerf_json_open(json, "searches", '[');
    for (size_t i = 0; i < plan->num_searches; i++) search_json(json, &plan->searches[i]);
    kerf_json_close(json, ']');
    kerf_json_close(json, '}');
}
