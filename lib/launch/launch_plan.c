/* SPDX-License-Identifier: Apache-2.0 */
/* The question and one layout of a plan's JSON (docs/json.md): what a launch is written from. */
#include <string.h>
#include "base/error_fill.h"
#include "base/json_read.h"
#include "kerf/launch.h"
#include "spec/description.h"
#include "spec/layout.h"
#include "spec/model_shape.h"

static size_t num_plans(const json_t *search) { return json_array_size(json_object_get(search, "plans")); }

/* The object that has the question, and the one that has the layout: a search and its plan, or an estimate twice. */
static int32_t find_objects(const struct json_object *root, int32_t rank, struct json_object *ret_question,
                            struct json_object *ret_plan, struct kerf_error *err) {
    const json_t *searches = json_object_get(root->json, "searches");
    size_t count = 0, found = 0;
    *ret_question = *ret_plan = *root;
    if (!json_has(root, "searches") && json_has(root, "layout") && rank == 1) return KERF_OK;
    if (!json_is_array(searches))
        return json_fail(root, NULL, KERF_EINVALID, err,
                         "this is no plan%s; `kerf plan --format json` and `kerf estimate --format json` write one",
                         json_has(root, "layout") ? " of several ranks" : "");
    for (size_t i = 0; i < json_array_size(searches); i++)
        if (num_plans(json_array_get(searches, i)) > 0) found = i, count++;
    if (count != 1)
        return json_fail(root, "searches", KERF_EINVALID, err,
                         count ? "%zu searches here have plans; write those of one model, system and number of "
                                 "accelerators"
                               : "%zu searches here have found a plan",
                         count);
    int32_t code = json_get_element(root, "searches", found, ret_question, err);
    if (code != KERF_OK) return code;
    size_t plans = num_plans(ret_question->json);
    if (rank < 1 || (size_t)rank > plans)
        return json_fail(ret_question, "plans", KERF_EINVALID, err, "no plan of rank %d: there %s %zu", rank,
                         plans == 1 ? "is" : "are", plans);
    return json_get_element(ret_question, "plans", (size_t)rank - 1, ret_plan, err);
}

static int32_t read_question(const struct json_object *question, struct kerf_problem *problem, struct kerf_error *err) {
    struct json_object shape;
    const char *model = NULL, *system = NULL, *precision = NULL, *gradients = NULL;
    int64_t domain = 1;
    if (!json_has(question, "shape"))
        return json_fail(question, NULL, KERF_EINVALID, err,
                         "this plan does not say the model's \"shape\": it must be the whole answer of kerf plan or "
                         "kerf estimate, of strategy hybrid, by kerf 0.2.0 or later");
    int32_t code = json_get_string(question, "model", JSON_REQUIRED, &model, err);
    if (code == KERF_OK) code = json_get_string(question, "system", JSON_REQUIRED, &system, err);
    if (code == KERF_OK) code = json_get_object(question, "shape", JSON_REQUIRED, &shape, err);
    if (code == KERF_OK) code = model_shape_read(&shape, &problem->model, err);
    if (code == KERF_OK) code = json_get_integer(question, "scale_up_size", JSON_REQUIRED, 1, 1 << 20, &domain, err);
    if (code == KERF_OK)
        code = json_get_integer(question, "gpus", JSON_REQUIRED, 1, KERF_COUNT_MAX, &problem->gpus, err);
    if (code == KERF_OK)
        code =
            json_get_integer(question, "global_batch", JSON_REQUIRED, 1, KERF_COUNT_MAX, &problem->global_batch, err);
    if (code == KERF_OK)
        code = json_get_integer(question, "seq_length", JSON_REQUIRED, 1, KERF_COUNT_MAX, &problem->seq_length, err);
    if (code == KERF_OK)
        code = json_get_integer(question, "mtp_layers", JSON_REQUIRED, 0, problem->model.mtp_layers,
                                &problem->mtp_layers, err);
    if (code == KERF_OK) code = json_get_string(question, "precision", JSON_REQUIRED, &precision, err);
    if (code == KERF_OK) code = json_get_string(question, "gradients", JSON_REQUIRED, &gradients, err);
    if (code != KERF_OK) return code;
    struct kerf_error why;
    if (kerf_precision_parse(precision, &problem->precision, &why) != KERF_OK)
        return json_fail(question, "precision", KERF_EINVALID, err, "%s", why.message);
    if (strcmp(gradients, "bf16") != 0 && strcmp(gradients, "fp32") != 0)
        return json_fail(question, "gradients", KERF_EINVALID, err, "\"gradients\" are bf16 or fp32");
    problem->has_bf16_gradients = gradients[0] == 'b';
    problem->system.scale_up.size = domain;
    problem->strategy = KERF_STRATEGY_HYBRID;
    problem->attention = KERF_ATTENTION_FUSED;
    name_copy(problem->model.name, model); /* it stands in a comment of the launch: one line, whatever it holds */
    name_copy(problem->system.name, system);
    return KERF_OK;
}

/* What layouts of a plan obey, so that nothing that is written from it divides by 0 or counts too far. */
static int32_t check_layout(const struct json_object *plan, const struct kerf_problem *problem,
                            const struct kerf_layout *l, struct kerf_error *err) {
    int64_t stages = l->pp * l->vpp, layers = problem->model.num_hidden_layers, sum = 0;
    if (l->dp < 1 || l->dp > KERF_COUNT_MAX || kerf_layout_devices(l) != problem->gpus)
        return json_fail(plan, "layout", KERF_EINVALID, err, "the layout is not one of %lld accelerators",
                         (long long)problem->gpus);
    if (problem->global_batch % l->dp || problem->global_batch / l->dp % l->micro_batch)
        return json_fail(plan, "layout", KERF_EINVALID, err,
                         "the global batch %lld does not divide over dp %lld x micro_batch %lld",
                         (long long)problem->global_batch, (long long)l->dp, (long long)l->micro_batch);
    if (stages > layers || stages > KERF_STAGES_MAX)
        return json_fail(plan, "layout", KERF_EINVALID, err, "%lld virtual stages for %lld layers", (long long)stages,
                         (long long)layers);
    for (int64_t i = 0; l->stage_layers && i < stages; i++) sum += l->stage_layers[i];
    if (l->stage_layers && sum != layers)
        return json_fail(plan, "layout", KERF_EINVALID, err,
                         "stage_layers add up to %lld layers, and the model has %lld", (long long)sum,
                         (long long)layers);
    return KERF_OK;
}

int32_t kerf_launch_plan_parse(const char *text, size_t length, const char *name, int32_t rank,
                               struct kerf_problem *ret_problem, struct kerf_layout *ret_layout,
                               struct kerf_error *err) {
    struct json_document document;
    struct json_object root, question, plan, layout_object;
    struct kerf_problem problem = {.gpus = 0};
    struct kerf_layout layout;
    int32_t code = json_document_parse(&document, text, length, name, &root, err);
    if (code == KERF_OK) code = find_objects(&root, rank, &question, &plan, err);
    if (code == KERF_OK) code = read_question(&question, &problem, err);
    if (code == KERF_OK) code = json_get_object(&plan, "layout", JSON_REQUIRED, &layout_object, err);
    if (code == KERF_OK) code = layout_from_object(&layout_object, LAYOUT_HYBRID, &layout, err);
    if (code == KERF_OK) {
        code = check_layout(&plan, &problem, &layout, err);
        if (code != KERF_OK) kerf_layout_release(&layout);
    }
    json_document_free(&document);
    if (code != KERF_OK) return code;
    *ret_problem = problem;
    *ret_layout = layout;
    return KERF_OK;
}
