/* SPDX-License-Identifier: Apache-2.0 */
#include "call/estimate_question.h"

#include <string.h>
#include "base/error_fill.h"
#include "call/set_without_effect.h"
#include "schedule/pipeline.h"

static int32_t missing(const char *what, const char *example, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID, "%s is missing, such as %s; `kerf help estimate` tells more", what,
                          example);
}

/* An option that would be ignored is a mistake. */
static int32_t check_options(const struct estimate_values *values, const struct strategy_choice *choice,
                             struct kerf_error *err) {
    const char *given = training_first_given(&values->training);
    if (choice->of[0] == KERF_STRATEGY_HYBRID) {
        if (!values->layers) return KERF_OK;
        return kerf_error_set(err, KERF_EINVALID, "--layers is for layouts of 1d, summa and seqp, not of hybrid");
    }
    if (given == NULL) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s is for layouts of strategy hybrid, and this is one of %s", given,
                          kerf_strategy_name(choice->of[0]));
}

/* The job of a launch, on a system. The layout's stages are copied, for it is the question's. */
static int32_t read_launch(const struct estimate_values *values, const struct software *software,
                           struct kerf_problem *problem, struct kerf_layout *layout, struct strategy_choice *choice,
                           struct kerf_error *err) {
    const char *given = values->models.count   ? values->models.items[0]
                        : values->layout       ? "--layout"
                        : values->gpus         ? "--gpus"
                        : values->global_batch ? "--global-batch"
                        : values->seq_length   ? "--seq-length"
                        : values->strategy     ? "--strategy"
                        : values->layers       ? "--layers"
                                               : NULL;
    if (given) return kerf_error_set(err, KERF_EINVALID, "the launch says it: leave out %.64s, or --launch", given);
    if (values->system == NULL) return missing("--system", "--system a100", err);
    struct kerf_layout of_launch;
    struct kerf_text text = {0};
    int32_t code = kerf_launch_problem(values->launch, problem, &of_launch, err);
    if (code == KERF_OK) code = call_system(&values->sources, values->system, &problem->system, err);
    if (code == KERF_OK) software_apply(software, problem);
    if (code == KERF_OK) code = call_set(&problem->model, &problem->system, &values->sets, err);
    if (code == KERF_OK && values->attention) code = kerf_attention_parse(values->attention, &problem->attention, err);
    if (code == KERF_OK) code = training_read(&values->training, problem, err);
    if (code != KERF_OK) return code;
    if (values->scale_up_size) problem->system.scale_up.size = values->scale_up_size;
    kerf_layout_text(&text, problem, &of_launch);
    code = text.failed ? error_no_memory(err, "the layout")
                       : strategy_of_layout(text.data, NULL, values->cost_model, layout, choice, err);
    kerf_text_free(&text);
    return code;
}

static int32_t read_problem(const struct estimate_values *values, const struct software *software,
                            struct kerf_problem *problem, struct kerf_layout *layout, struct strategy_choice *choice,
                            struct kerf_error *err) {
    if (values->launch) return read_launch(values, software, problem, layout, choice, err);
    if (values->models.count == 0) return missing("the model", "gpt3_1t or path/to/config.json", err);
    if (values->models.count > 1)
        return kerf_error_set(err, KERF_EINVALID, "give one model, not also '%.64s'", values->models.items[1]);
    if (values->system == NULL) return missing("--system", "--system a100", err);
    if (values->layout == NULL) return missing("--layout", "--layout tp=8,pp=4,dp=16", err);
    if (values->global_batch == 0) return missing("--global-batch", "--global-batch 4096", err);
    int32_t code = call_model(&values->sources, values->models.items[0], &problem->model, err);
    if (code == KERF_OK) code = call_system(&values->sources, values->system, &problem->system, err);
    if (code == KERF_OK) software_apply(software, problem);
    if (code == KERF_OK) code = call_set(&problem->model, &problem->system, &values->sets, err);
    if (code == KERF_OK)
        code = kerf_attention_parse(values->attention ? values->attention : "fused", &problem->attention, err);
    if (code == KERF_OK)
        code = strategy_of_layout(values->layout, values->strategy, values->cost_model, layout, choice, err);
    if (code == KERF_OK) code = check_options(values, choice, err);
    if (code == KERF_OK) code = training_read(&values->training, problem, err);
    if (code != KERF_OK) return code;
    problem->strategy = choice->of[0];
    if (values->scale_up_size) problem->system.scale_up.size = values->scale_up_size;
    problem->seq_length = values->seq_length ? values->seq_length : problem->model.max_position_embeddings;
    if (problem->seq_length == 0)
        return kerf_error_set(err, KERF_EINVALID, "%s has no max_position_embeddings: give --seq-length",
                              problem->model.name);
    problem->global_batch = values->global_batch;
    problem->gpus = values->gpus ? values->gpus : kerf_layout_devices(layout);
    if (problem->gpus == INT64_MAX) return kerf_error_set(err, KERF_EINVALID, "layout: it has too many accelerators");
    return KERF_OK;
}

/* Who asks with a limit must not wait long, nor make the machine run out of memory: nothing ends an estimate. */
static int32_t check_operations(const struct estimate_question *question, struct kerf_error *err) {
    const struct kerf_layout *layout = &question->layout;
    const struct kerf_problem *problem = &question->problem;
    const double most = (double)question->values->operations;
    if (problem->strategy != KERF_STRATEGY_HYBRID || most <= 0) return KERF_OK;
    int32_t code = kerf_layout_check(problem, layout, err);
    if (code != KERF_OK) return code;
    double operations = pipeline_operations(layout->schedule, (int32_t)layout->pp, layout->vpp,
                                            (int32_t)(problem->global_batch / (layout->dp * layout->micro_batch)));
    if (operations <= most) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "the schedule of its pipeline has about %.0f operations, and %.0f are allowed here",
                          operations, most);
}

static int32_t price(struct estimate_question *question, struct kerf_error *err) {
    const struct kerf_problem *problem = &question->problem;
    const struct kerf_cost_model *cost_model = question->choice.cost_model;
    int32_t code = check_operations(question, err);
    if (code == KERF_OK) code = kerf_layout_estimate(cost_model, problem, &question->layout, &question->estimate, err);
    if (code != KERF_OK || problem->strategy == KERF_STRATEGY_HYBRID) return code;
    return kerf_layout_estimate_layers(cost_model, problem, &question->estimate.layout, question->layers,
                                       &question->num_layers, err);
}

static int32_t read_question(const struct estimate_values *values, struct estimate_question *ret_question,
                             struct kerf_error *err) {
    memset(ret_question, 0, sizeof *ret_question);
    ret_question->values = values;
    int32_t code = software_read(&values->sources, values->training.stack, values->training.calibration,
                                 &ret_question->software, err);
    if (code == KERF_OK) code = software_check_gradients(&ret_question->software, values->training.gradients, err);
    if (code == KERF_OK)
        code = read_problem(values, &ret_question->software, &ret_question->problem, &ret_question->layout,
                            &ret_question->choice, err);
    if (code != KERF_OK) estimate_question_free(ret_question);
    return code;
}

static int is_same_with(void *context, const struct string_list *sets) {
    const struct estimate_question *question = context;
    struct estimate_values values = *question->values;
    struct estimate_question other;
    struct kerf_error err;
    values.sets = *sets;
    if (read_question(&values, &other, &err) != KERF_OK) return 0;
    int same = set_same_cost(question->choice.cost_model, &question->problem, &other.problem, &question->estimate);
    estimate_question_free(&other);
    return same;
}

int32_t estimate_question_answer(const struct estimate_values *values, struct estimate_question *ret_question,
                                 struct kerf_error *err) {
    int32_t code = read_question(values, ret_question, err);
    if (code != KERF_OK) return code;
    code = price(ret_question, err);
    if (code == KERF_OK)
        set_without_effect_find(&values->sets, is_same_with, ret_question, &ret_question->set_without_effect);
    if (code != KERF_OK) estimate_question_free(ret_question);
    return code;
}

void estimate_question_free(struct estimate_question *question) {
    kerf_estimate_release(&question->estimate);
    kerf_layout_release(&question->layout);
    software_free(&question->software);
    kerf_text_free(&question->set_without_effect);
}

void estimate_question_json(struct kerf_json *json, const struct estimate_question *question) {
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "kerf", kerf_version());
    software_json(json, &question->software, software_of_problems(&question->problem, 1));
    set_without_effect_json(json, &question->set_without_effect);
    if (question->problem.strategy == KERF_STRATEGY_HYBRID) {
        kerf_json_string(json, "cost_model", question->choice.cost_model_name);
        kerf_problem_json(json, &question->problem);
        kerf_model_notes_json(json, &question->problem.model);
        kerf_problem_set_json(json, "set", &question->problem.model, &question->problem.system);
    }
    kerf_estimate_json(json, &question->problem, &question->estimate, 0);
    if (question->values->layers) kerf_layers_json(json, question->layers, question->num_layers);
    kerf_json_close(json, '}');
}
