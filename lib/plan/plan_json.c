/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as JSON; the keys are documented in docs/json.md. */
#include "kerf/plan.h"

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
