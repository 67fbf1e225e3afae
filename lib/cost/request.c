/* SPDX-License-Identifier: Apache-2.0 */
/* One request of a stream: a problem and a layout in one JSON object. */
#include "kerf/cost.h"

#include <stdio.h>
#include <string.h>
#include "cost/cost_model.h"
#include "cost/strategy.h"
#include "spec/layout.h"
#include "spec/description.h"

static const char *const keys[] = {"model",        "system",     "scale_up_size", "strategy",   "gpus",
                                   "global_batch", "seq_length", "layout",        "cost_model", "attention",
                                   "layers",       "precision",  "gradients",     "mtp_layers"};

/* An error about a part that came from elsewhere than the request keeps its own place. */
static int32_t placed(int32_t code, const struct json_object *root, const char *key, struct kerf_error *err) {
    if (code != KERF_OK && err && err->file[0] == 0) {
        char message[sizeof err->message];
        snprintf(message, sizeof message, "%s", err->message);
        json_fail(root, key, code, err, "%s", message);
    }
    return code;
}

/* A model or a system: the name or file in *ret_name, or with NULL there the object. Standard input is where requests
 * come from; neither can be there too. */
static int32_t find_source(const struct json_object *root, const char *key, const char **ret_name,
                           struct json_object *ret_inner, struct kerf_error *err) {
    const json_t *json = json_object_get(root->json, key);
    *ret_name = json_string_value(json);
    if (json == NULL || json_is_object(json)) return json_get_object(root, key, JSON_REQUIRED, ret_inner, err);
    if (*ret_name && strcmp(*ret_name, "-") != 0) return KERF_OK;
    return json_fail(root, key, KERF_EINVALID, err, "\"%s\" must be a name, a file or an object {...}", key);
}

static int32_t read_model(const struct json_object *root, struct kerf_model *model, struct kerf_error *err) {
    struct json_object inner;
    const char *name;
    int32_t code = find_source(root, "model", &name, &inner, err);
    if (code != KERF_OK) return code;
    return name ? placed(kerf_model_load(name, model, err), root, "model", err)
                : model_from_object(&inner, "inline", model, err);
}

static int32_t read_system(const struct json_object *root, struct kerf_system *system, struct kerf_error *err) {
    struct json_object inner;
    const char *name;
    int32_t code = find_source(root, "system", &name, &inner, err);
    if (code != KERF_OK) return code;
    return name ? placed(kerf_system_load(name, system, err), root, "system", err)
                : system_from_object(&inner, "inline", system, err);
}

/* What hybrid layouts alone take. */
static int32_t read_training(const struct json_object *root, struct kerf_problem *problem, struct kerf_error *err) {
    static const char *const words[] = {"precision", "gradients", "mtp_layers"};
    const char *precision = "bf16", *gradients = "fp32";
    for (size_t i = 0; problem->strategy != KERF_STRATEGY_HYBRID && i < sizeof words / sizeof *words; i++)
        if (json_object_get(root->json, words[i]))
            return json_fail(root, words[i], KERF_EINVALID, err, "\"%s\" is for hybrid layouts alone", words[i]);
    int32_t code = json_get_string(root, "precision", JSON_OPTIONAL, &precision, err);
    if (code == KERF_OK)
        code = placed(kerf_precision_parse(precision, &problem->precision, err), root, "precision", err);
    if (code == KERF_OK) code = json_get_string(root, "gradients", JSON_OPTIONAL, &gradients, err);
    problem->has_bf16_gradients = strcmp(gradients, "bf16") == 0;
    if (code == KERF_OK && !problem->has_bf16_gradients && strcmp(gradients, "fp32") != 0)
        code = json_fail(root, "gradients", KERF_EINVALID, err, "\"gradients\" must be \"fp32\" or \"bf16\"");
    if (code == KERF_OK)
        code = json_get_integer(root, "mtp_layers", JSON_OPTIONAL, 0, 1 << 20, &problem->mtp_layers, err);
    return code;
}

static int32_t read_request(const struct json_object *root, const struct kerf_cost_model *unnamed,
                            struct kerf_request *request, struct kerf_error *err) {
    struct kerf_problem *problem = &request->problem;
    struct json_object layout;
    const char *strategy = NULL, *attention = "fused", *cost_model = "";
    int32_t code = json_check_keys(root, keys, sizeof keys / sizeof *keys, err);
    if (code == KERF_OK) code = read_model(root, &problem->model, err);
    if (code == KERF_OK) code = read_system(root, &problem->system, err);
    if (code == KERF_OK)
        code = json_get_integer(root, "scale_up_size", JSON_OPTIONAL, 1, 1 << 20, &problem->system.scale_up.size, err);
    if (code == KERF_OK) code = json_get_string(root, "strategy", JSON_OPTIONAL, &strategy, err);
    if (code == KERF_OK && strategy)
        code = placed(kerf_strategy_parse(strategy, &problem->strategy, err), root, "strategy", err);
    if (code == KERF_OK) code = json_get_string(root, "attention", JSON_OPTIONAL, &attention, err);
    if (code == KERF_OK)
        code = placed(kerf_attention_parse(attention, &problem->attention, err), root, "attention", err);
    if (code == KERF_OK)
        code = json_get_integer(root, "global_batch", JSON_REQUIRED, 1, KERF_COUNT_MAX, &problem->global_batch, err);
    problem->seq_length = problem->model.max_position_embeddings;
    if (code == KERF_OK)
        code = json_get_integer(root, "seq_length", JSON_OPTIONAL, 1, KERF_COUNT_MAX, &problem->seq_length, err);
    if (code == KERF_OK && problem->seq_length == 0)
        code = json_fail(root, NULL, KERF_EINVALID, err,
                         "\"seq_length\" is missing, and the model has no max_position_embeddings");
    if (code == KERF_OK) code = json_get_object(root, "layout", JSON_REQUIRED, &layout, err);
    if (code == KERF_OK) code = json_get_string(root, "cost_model", JSON_OPTIONAL, &cost_model, err);
    if (code == KERF_OK && cost_model[0]) kerf_cost_model_find(cost_model, &unnamed, NULL); /* an unknown one: later */
    enum layout_kind kind = strategy  ? strategy_of(problem->strategy)->layouts
                            : unnamed ? unnamed->layouts
                                      : LAYOUT_ANY;
    if (code == KERF_OK) code = layout_from_object(&layout, kind, &request->layout, err);
    if (code != KERF_OK) return code;
    const struct kerf_layout *l = &request->layout;
    if (strategy == NULL && layout_is_hybrid(l)) problem->strategy = KERF_STRATEGY_HYBRID;
    problem->gpus = kerf_layout_devices(l);
    code = read_training(root, problem, err);
    if (code == KERF_OK) code = json_get_integer(root, "gpus", JSON_OPTIONAL, 1, KERF_COUNT_MAX, &problem->gpus, err);
    if (code == KERF_OK) code = json_get_boolean(root, "layers", JSON_OPTIONAL, &request->layers, err);
    if (code == KERF_OK) name_copy(request->cost_model, cost_model);
    if (code == KERF_OK) code = placed(kerf_layout_check(problem, l, err), root, "layout", err);
    return code;
}

int32_t kerf_request_parse(const char *json, size_t length, const char *source, const struct kerf_cost_model *unnamed,
                           struct kerf_request *ret_request, struct kerf_error *err) {
    struct json_document document;
    struct json_object root;
    struct kerf_request request;
    memset(&request, 0, sizeof request);
    int32_t code = json_document_parse(&document, json, length, source, &root, err);
    if (code == KERF_OK) code = read_request(&root, unnamed, &request, err);
    if (code == KERF_OK)
        *ret_request = request;
    else
        kerf_layout_release(&request.layout);
    json_document_free(&document);
    return code;
}
