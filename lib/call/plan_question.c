/* SPDX-License-Identifier: Apache-2.0 */
#include "call/plan_question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "call/set_without_effect.h"

enum { PROBLEMS_MAX = 200000 };
static const double SAFE = 0.05; /* --safe: the chance to run out of memory */

static int32_t add_problems(struct plan_question *question, struct kerf_error *err) {
    struct kerf_problem *problem = &question->next;
    struct kerf_model model = problem->model;
    software_apply(&question->software, problem);
    int32_t code = call_set(&problem->model, &problem->system, &question->values->sets, err);
    if (code != KERF_OK) return code;
    if (question->values->seq_length) problem->seq_length = question->values->seq_length;
    if (problem->seq_length == 0) problem->seq_length = problem->model.max_position_embeddings;
    if (problem->seq_length == 0)
        return kerf_error_set(err, KERF_EINVALID, "%s has no max_position_embeddings: give --seq-length",
                              problem->model.name);
    int32_t num_domains = question->domains.count ? question->domains.count : 1;
    size_t more = (size_t)num_domains * (size_t)question->choice.count * (size_t)question->gpus.count;
    if (question->num_problems + more > PROBLEMS_MAX)
        return kerf_error_set(err, KERF_EINVALID, "a sweep of more than %d searches; ask for fewer at once",
                              PROBLEMS_MAX);
    struct kerf_problem *problems = realloc(question->problems, (question->num_problems + more) * sizeof *problems);
    if (problems == NULL) return error_no_memory(err, "the sweep");
    question->problems = problems;
    for (int32_t d = 0; d < num_domains; d++)
        for (int32_t s = 0; s < question->choice.count; s++)
            for (int32_t g = 0; g < question->gpus.count; g++) {
                struct kerf_problem *one = &problems[question->num_problems++];
                *one = *problem;
                one->strategy = question->choice.of[s];
                one->gpus = question->gpus.values[g];
                if (question->domains.count) one->system.scale_up.size = question->domains.values[d];
            }
    problem->model = model; /* as it was before --set, for the next system */
    if (question->values->launch == NULL) problem->seq_length = 0;
    return KERF_OK;
}

static int32_t add_system(void *context, const char *word, struct kerf_error *err) {
    struct plan_question *question = context;
    int32_t code = call_system(&question->values->sources, word, &question->next.system, err);
    return code == KERF_OK ? add_problems(question, err) : code;
}

static int32_t add_systems(struct plan_question *question, struct kerf_error *err) {
    return words_each(question->values->system, "--system", add_system, question, err);
}

static int32_t add_model(void *context, const char *word, struct kerf_error *err) {
    struct plan_question *question = context;
    int32_t code = call_model(&question->values->sources, word, &question->next.model, err);
    return code == KERF_OK ? add_systems(question, err) : code;
}

/* What the launch says, where nothing else is given. */
static int32_t read_launch(struct plan_question *question, struct kerf_error *err) {
    const struct plan_values *values = question->values;
    if (values->models.count)
        return kerf_error_set(err, KERF_EINVALID, "the launch says the model: leave out '%.64s', or --launch",
                              values->models.items[0]);
    return kerf_launch_problem(values->launch, &question->next, &question->today, err);
}

/* The numbers of accelerators: those that are named, else the launch's. */
static int32_t read_gpus(struct plan_question *question, struct kerf_error *err) {
    char of_launch[24];
    snprintf(of_launch, sizeof of_launch, "%lld", (long long)question->next.gpus);
    return range_parse(question->values->gpus ? question->values->gpus : of_launch, "--gpus", 1, 1 << 30,
                       &question->gpus, err);
}

static int32_t missing(const char *what, const char *example, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID, "%s is missing, such as %s; `kerf help plan` tells more", what, example);
}

static int is_hybrid(const struct plan_question *question) { return question->choice.of[0] == KERF_STRATEGY_HYBRID; }

/* An option that would be ignored is a mistake. */
static int32_t check_options(const struct plan_values *values, const struct plan_question *question,
                             struct kerf_error *err) {
    const char *given = space_first_given(&values->space);
    if (given == NULL) given = training_first_given(&values->training);
    if (given == NULL && values->framework) given = "--for";
    if (given == NULL && values->safe) given = "--safe";
    if (given == NULL && (values->why || values->exhaustive)) given = values->why ? "--why" : "--exhaustive";
    if (given && !is_hybrid(question))
        return kerf_error_set(err, KERF_EINVALID, "%s is for strategy hybrid, and not for %s", given,
                              kerf_strategy_name(question->choice.of[0]));
    return KERF_OK;
}

/* --for: each problem has a space of its own, narrowed to what the framework can run of its model. */
static int32_t narrow(struct plan_question *question, struct kerf_error *err) {
    enum kerf_framework framework;
    int32_t code = kerf_framework_parse(question->values->framework, &framework, err);
    if (code != KERF_OK) return code;
    question->spaces = calloc(question->num_problems, sizeof *question->spaces);
    if (question->spaces == NULL) return error_no_memory(err, "the sweep");
    for (size_t i = 0; i < question->num_problems && code == KERF_OK; i++) {
        struct kerf_problem *problem = &question->problems[i];
        if (problem->space) question->spaces[i] = *problem->space;
        problem->space = &question->spaces[i];
        code = kerf_framework_narrow(framework, problem, &question->spaces[i], err);
    }
    return code;
}

static int32_t read_question(struct plan_question *question, struct kerf_error *err) {
    const struct plan_values *values = question->values;
    int32_t code = values->launch ? read_launch(question, err) : KERF_OK;
    if (code != KERF_OK) return code;
    if (values->launch == NULL && values->models.count == 0)
        return missing("the model", "gpt3_1t or path/to/config.json", err);
    if (values->system == NULL) return missing("--system", "--system a100", err);
    if (values->gpus == NULL && question->next.gpus == 0) return missing("--gpus", "--gpus 1024", err);
    if (values->global_batch) question->next.global_batch = values->global_batch;
    if (question->next.global_batch == 0) return missing("--global-batch", "--global-batch 4096", err);
    code = strategy_choose(values->strategy, values->cost_model, &question->choice, err);
    if (code == KERF_OK) code = check_options(values, question, err);
    if (code == KERF_OK)
        code = kerf_attention_parse(values->attention ? values->attention : "fused", &question->next.attention, err);
    if (code == KERF_OK) code = space_read(&values->space, &question->space, &question->stage_layers, err);
    if (code == KERF_OK) code = training_read(&values->training, &question->next, err);
    if (code == KERF_OK)
        code = software_read(&values->sources, values->training.stack, values->training.calibration,
                             &question->software, err);
    if (code == KERF_OK) code = software_check_gradients(&question->software, values->training.gradients, err);
    if (values->safe) question->next.memory_share = kerf_memory_share(SAFE);
    if (code == KERF_OK && space_first_given(&values->space)) question->next.space = &question->space;
    if (code == KERF_OK) code = read_gpus(question, err);
    if (code == KERF_OK && values->scale_up_size)
        code = range_parse(values->scale_up_size, "--scale-up-size", 1, 1 << 20, &question->domains, err);
    for (int32_t i = 0; i < values->models.count && code == KERF_OK; i++)
        code = words_each(values->models.items[i], "MODEL", add_model, question, err);
    if (code == KERF_OK && values->launch) code = add_systems(question, err);
    if (code == KERF_OK && values->framework) code = narrow(question, err);
    return code;
}

int32_t plan_question_read(const struct plan_values *values, struct plan_question *ret_question,
                           struct kerf_error *err) {
    *ret_question = (struct plan_question){.values = values};
    int32_t code = read_question(ret_question, err);
    if (code != KERF_OK) plan_question_free(ret_question);
    return code;
}

void plan_question_json(struct kerf_json *json, const struct plan_question *question,
                        const struct launch_better *better, const struct kerf_plan *plan) {
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "kerf", kerf_version());
    software_json(json, &question->software, software_of_problems(question->problems, question->num_problems));
    set_without_effect_json(json, &question->set_without_effect);
    if (better) launch_better_json(json, better);
    kerf_plan_searches_json(json, plan);
    kerf_json_close(json, '}');
}

void plan_question_free(struct plan_question *question) {
    free(question->problems);
    free(question->spaces);
    free(question->stage_layers);
    software_free(&question->software);
    range_free(&question->gpus);
    range_free(&question->domains);
    kerf_text_free(&question->set_without_effect);
    *question = (struct plan_question){.values = question->values};
}

struct kerf_plan_options plan_question_options(const struct plan_question *question, struct call_progress progress) {
    return (struct kerf_plan_options){.cost_model = question->choice.cost_model,
                                      .top = (int32_t)question->values->top,
                                      .threads = (int32_t)question->values->threads,
                                      .exhaustive = question->values->exhaustive,
                                      .progress = progress.tell,
                                      .progress_context = progress.context};
}

int32_t plan_question_search(const struct plan_question *question, struct call_progress progress,
                             struct kerf_plan **ret_plan, struct kerf_error *err) {
    struct kerf_plan_options options = plan_question_options(question, progress);
    return kerf_plan_search(question->problems, question->num_problems, &options, ret_plan, err);
}

struct asked {
    const struct plan_question *question;
    const struct kerf_plan *plan;
    struct call_progress progress;
};

/* Whether another search finds the same: a layout that is not listed may be the best without what is set. */
static int finds_same(const struct plan_question *other, const struct asked *asked) {
    const struct kerf_plan *plan = asked->plan;
    struct kerf_plan *found = NULL;
    struct kerf_error err;
    if (plan_question_search(other, asked->progress, &found, &err) != KERF_OK) return 0;
    int same = found->complete;
    for (size_t i = 0; same && i < plan->num_searches; i++) {
        const struct kerf_search *a = &plan->searches[i], *b = &found->searches[i];
        same = a->num_plans == b->num_plans;
        for (int32_t k = 0; same && k < a->num_plans; k++)
            same = kerf_layout_compare(&a->plans[k].layout, &b->plans[k].layout) == 0;
    }
    kerf_plan_free(found);
    return same;
}

/* Most fields that count are found by the layouts that are listed, without a search. */
static int is_same_with(void *context, const struct string_list *sets) {
    const struct asked *asked = context;
    const struct kerf_plan *plan = asked->plan;
    const struct plan_question *question = asked->question;
    struct plan_values values = *question->values;
    struct plan_question other;
    struct kerf_error err;
    values.sets = *sets;
    if (kerf_plan_best(plan, NULL) == NULL || plan_question_read(&values, &other, &err) != KERF_OK) return 0;
    int same = other.num_problems == plan->num_searches;
    for (size_t i = 0; same && i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        for (int32_t k = 0; same && k < search->num_plans; k++)
            same = set_same_cost(question->choice.cost_model, &search->problem, &other.problems[i], &search->plans[k]);
    }
    same = same && finds_same(&other, asked);
    plan_question_free(&other);
    return same;
}

int32_t plan_question_explain(struct plan_question *question, struct call_progress progress, struct kerf_plan *plan,
                              struct kerf_error *err) {
    struct kerf_plan_options options = plan_question_options(question, progress);
    struct asked asked = {question, plan, progress};
    set_without_effect_find(&question->values->sets, is_same_with, &asked, &question->set_without_effect);
    int32_t code = kerf_plan_best(plan, NULL) ? KERF_OK : kerf_plan_mend(plan, &options, err);
    return code == KERF_OK && question->values->why ? kerf_plan_why(plan, &options, err) : code;
}
