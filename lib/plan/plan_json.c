/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as JSON; the keys are documented in docs/json.md. */
#include "kerf/plan.h"

/* Its searches have keys that programs do not know of the others. */
static int is_hybrid(const struct kerf_problem *problem) { return problem->strategy == KERF_STRATEGY_HYBRID; }

static void not_priced_json(struct kerf_json *json, const struct kerf_search *search) {
    const struct kerf_cost_model *cost_model;
    struct kerf_text gaps = {0};
    if (kerf_cost_model_find(search->cost_model, &cost_model, NULL) != KERF_OK) return;
    kerf_cost_model_gaps(cost_model, &search->problem.model, &gaps);
    if (gaps.length) kerf_json_string(json, "not_priced", gaps.data);
    kerf_text_free(&gaps);
}

void kerf_problem_json(struct kerf_json *json, const struct kerf_problem *problem) {
    kerf_json_string(json, "model", problem->model.name);
    kerf_json_string(json, "system", problem->system.name);
    kerf_json_integer(json, "scale_up_size", problem->system.scale_up.size);
    kerf_json_string(json, "strategy", kerf_strategy_name(problem->strategy));
    kerf_json_string(json, "attention", kerf_attention_name(problem->attention));
    kerf_json_integer(json, "gpus", problem->gpus);
    kerf_json_integer(json, "global_batch", problem->global_batch);
    kerf_json_integer(json, "seq_length", problem->seq_length);
    if (!is_hybrid(problem)) return;
    kerf_json_string(json, "precision", kerf_precision_name(problem->precision));
    kerf_json_string(json, "gradients", problem->has_bf16_gradients ? "bf16" : "fp32");
    kerf_json_integer(json, "mtp_layers", problem->mtp_layers);
    kerf_json_string(json, "stack", kerf_stack_name(problem->stack));
    kerf_model_shape_json(json, "shape", &problem->model);
}

static void proof_json(struct kerf_json *json, const struct kerf_search *search) {
    kerf_json_integer(json, "priced", search->priced);
    kerf_json_boolean(json, "proved", search->proved);
    if (search->bound_s > 0)
        kerf_json_number(json, "bound_s", search->bound_s);
    else
        kerf_json_null(json, "bound_s");
}

/* ---- What was asked for besides ---------------------------------------------------------------------------- */

/* An estimate in brief. */
static void brief_json(struct kerf_json *json, const struct kerf_problem *problem,
                       const struct kerf_estimate *estimate) {
    struct kerf_text text = {0};
    kerf_json_number(json, "step_time_s", estimate->step_time_s);
    kerf_json_number(json, "memory_bytes", estimate->memory_bytes);
    kerf_layout_text(&text, problem, &estimate->layout);
    kerf_json_string(json, "layout_text", text.data ? text.data : "");
    kerf_text_free(&text);
}

/* What it takes more than the best, as a whole and in parts that differ. */
static void against_json(struct kerf_json *json, const struct kerf_estimate *best, const struct kerf_estimate *other) {
    kerf_json_number(json, "slower_s", other->step_time_s - best->step_time_s);
    kerf_json_number(json, "more_bytes", other->memory_bytes - best->memory_bytes);
    kerf_json_open(json, "time_s", '{');
    for (int32_t i = 0; i < best->time_s.count; i++) {
        const struct kerf_part *part = &best->time_s.of[i];
        double more_s = kerf_part_value(&other->time_s, part->name) - part->value;
        if (more_s != 0) kerf_json_number(json, part->name, more_s);
    }
    kerf_json_close(json, '}');
}

static void value_json(struct kerf_json *json, const char *key, const struct kerf_layout *layout,
                       const char *dimension) {
    struct kerf_text text = {0};
    kerf_layout_value(&text, layout, dimension);
    kerf_json_string(json, key, text.data ? text.data : "");
    kerf_text_free(&text);
}

static void turn_json(struct kerf_json *json, const struct kerf_problem *problem, const struct kerf_turn *turn) {
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "quantity", turn->quantity);
    kerf_json_number(json, "now", turn->now);
    kerf_json_number(json, "limit", turn->limit);
    if (turn->at > 0)
        kerf_json_number(json, "at", turn->at);
    else
        kerf_json_null(json, "at");
    if (turn->at > 0) kerf_json_boolean(json, "fits", !turn->is_end);
    if (turn->at > 0 && !turn->is_end) {
        brief_json(json, problem, &turn->winner);
        if (turn->present_s > 0)
            kerf_json_number(json, "present_s", turn->present_s);
        else
            kerf_json_null(json, "present_s");
    }
    kerf_json_close(json, '}');
}

static void why_json(struct kerf_json *json, const struct kerf_search *search) {
    const struct kerf_why *why = search->why;
    const struct kerf_estimate *best = &search->plans[0];
    kerf_json_open(json, "why", '{');
    if (why->has_runner_up) {
        kerf_json_open(json, "runner_up", '{');
        brief_json(json, &search->problem, &why->runner_up);
        against_json(json, best, &why->runner_up);
        kerf_json_close(json, '}');
    } else {
        kerf_json_null(json, "runner_up");
    }
    kerf_json_open(json, "others", '[');
    for (int32_t i = 0; i < why->num_others; i++) {
        const struct kerf_other *other = &why->others[i];
        kerf_json_open(json, NULL, '{');
        kerf_json_string(json, "dimension", other->dimension);
        value_json(json, "value", &other->estimate.layout, other->dimension);
        value_json(json, "best", &best->layout, other->dimension);
        brief_json(json, &search->problem, &other->estimate);
        against_json(json, best, &other->estimate);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    kerf_json_open(json, "turns", '[');
    for (int32_t i = 0; i < why->num_turns; i++) turn_json(json, &search->problem, &why->turns[i]);
    kerf_json_close(json, ']');
    kerf_json_boolean(json, "complete", why->complete);
    kerf_json_close(json, '}');
}

static void points_json(struct kerf_json *json, const char *key, const struct kerf_problem *problem,
                        const struct kerf_estimate *estimates, int32_t count) {
    kerf_json_open(json, key, '[');
    for (int32_t i = 0; i < count; i++) {
        kerf_json_open(json, NULL, '{');
        brief_json(json, problem, &estimates[i]);
        kerf_json_boolean(json, "fits", estimates[i].fits);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
}

static void besides_json(struct kerf_json *json, const struct kerf_search *search) {
    if (search->why) why_json(json, search);
    if (search->front) points_json(json, "front", &search->problem, search->front->best, search->front->num_best);
    if (search->num_mends == 0) return;
    kerf_json_open(json, "mends", '[');
    for (int32_t i = 0; i < search->num_mends; i++) {
        kerf_json_open(json, NULL, '{');
        kerf_json_string(json, "change", search->mends[i].change);
        brief_json(json, &search->problem, &search->mends[i].estimate);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
}

/* ---- Searches ---------------------------------------------------------------------------------------------- */

static void search_json(struct kerf_json *json, const struct kerf_search *search) {
    const struct kerf_problem *problem = &search->problem;
    kerf_json_open(json, NULL, '{');
    kerf_problem_json(json, problem);
    kerf_json_string(json, "cost_model", search->cost_model);
    if (is_hybrid(problem))
        kerf_json_string(json, "space", problem->space && problem->space->is_wide ? "wide" : "default");
    if (problem->space && problem->space->runner) kerf_json_string(json, "for", problem->space->runner->name);
    kerf_json_open(json, "dimensions", '{');
    kerf_json_integer(json, "hidden_size", problem->model.hidden_size);
    kerf_json_integer(json, "intermediate_size", problem->model.intermediate_size);
    kerf_json_integer(json, "num_hidden_layers", problem->model.num_hidden_layers);
    kerf_json_integer(json, "num_attention_heads", problem->model.num_attention_heads);
    kerf_json_close(json, '}');
    kerf_model_notes_json(json, &problem->model);
    not_priced_json(json, search);
    kerf_json_number(json, "memory_capacity_bytes", problem->system.memory_capacity_bytes);
    if (problem->memory_share > 0) kerf_json_number(json, "memory_share", problem->memory_share);
    kerf_problem_set_json(json, "set", &problem->model, &problem->system);
    kerf_json_integer(json, "candidates", search->candidates);
    kerf_json_integer(json, "feasible", search->feasible);
    if (is_hybrid(problem)) proof_json(json, search);
    if (!search->complete) kerf_json_boolean(json, "complete", 0);
    kerf_json_open(json, "plans", '[');
    for (int32_t i = 0; i < search->num_plans; i++) {
        kerf_json_open(json, NULL, '{');
        kerf_estimate_json(json, problem, &search->plans[i], i + 1);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    if (search->num_plans == 0) {
        if (search->nearest) {
            kerf_json_open(json, "nearest", '{');
            kerf_estimate_json(json, problem, search->nearest, 0);
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
    besides_json(json, search);
    kerf_json_close(json, '}');
}

void kerf_plan_searches_json(struct kerf_json *json, const struct kerf_plan *plan) {
    kerf_json_open(json, "searches", '[');
    for (size_t i = 0; i < plan->num_searches; i++) search_json(json, &plan->searches[i]);
    kerf_json_close(json, ']');
}

void kerf_plan_json(struct kerf_json *json, const struct kerf_plan *plan) {
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "kerf", kerf_version());
    kerf_plan_searches_json(json, plan);
    kerf_json_close(json, '}');
}
