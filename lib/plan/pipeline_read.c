/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline of a plan, read from the plan's JSON (docs/json.md): what kerf_pipeline_json writes, wherever it stands in
 * the answer of a search or of an estimate. What else stands there is not looked at; of the pipeline every key is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error_fill.h"
#include "base/json_read.h"
#include "kerf/plan.h"
#include "kerf/schedule.h"

static const double LARGEST = 1e15; /* seconds or bytes: what a file of times may say */

struct owned_pipeline {
    struct kerf_pipeline pipeline;
    struct arena arena;
};

struct kerf_pipeline *kerf_pipeline_free(struct kerf_pipeline *pipeline) {
    if (pipeline == NULL) return NULL;
    struct owned_pipeline *owned = (struct owned_pipeline *)(void *)pipeline;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

/* ---- Which plan ----------------------------------------------------------------------------------------------- */

static size_t num_plans(const json_t *search) { return json_array_size(json_object_get(search, "plans")); }

static int32_t no_such_rank(const struct json_object *search, int32_t rank, struct kerf_error *err) {
    const size_t count = num_plans(search->json);
    return json_fail(search, "plans", KERF_EINVALID, err, "no plan of rank %d: there %s %zu", rank,
                     count == 1 ? "is" : "are", count);
}

/* The one search with plans. */
static int32_t find_search(const struct json_object *root, struct json_object *ret_search, struct kerf_error *err) {
    const json_t *searches = json_object_get(root->json, "searches");
    size_t count = 0, found = 0;
    if (!json_is_array(searches))
        return json_fail(root, "searches", KERF_EINVALID, err, "\"searches\" must be an array");
    for (size_t i = 0; i < json_array_size(searches); i++)
        if (num_plans(json_array_get(searches, i)) > 0) found = i, count++;
    if (count == 0) return json_fail(root, "searches", KERF_EINVALID, err, "no search here has found a plan");
    if (count > 1)
        return json_fail(root, "searches", KERF_EINVALID, err,
                         "%zu searches here have plans; write those of one model, system, strategy and number of "
                         "accelerators",
                         count);
    return json_get_element(root, "searches", found, ret_search, err);
}

/* search is the caller's: plan points to it. */
static int32_t find_plan(const struct json_object *root, int32_t rank, struct json_object *search,
                         struct json_object *ret_plan, struct kerf_error *err) {
    if (!json_has(root, "searches")) {
        if (!json_has(root, "step_time_s"))
            return json_fail(root, NULL, KERF_EINVALID, err,
                             "this is no plan; `kerf plan --format json` and `kerf estimate --format json` write one");
        if (rank != 1) return json_fail(root, NULL, KERF_EINVALID, err, "no plan of rank %d: there is 1", rank);
        *ret_plan = *root;
        return KERF_OK;
    }
    int32_t code = find_search(root, search, err);
    if (code != KERF_OK) return code;
    if (rank < 1 || (size_t)rank > num_plans(search->json)) return no_such_rank(search, rank, err);
    return json_get_element(search, "plans", (size_t)rank - 1, ret_plan, err);
}

/* ---- Its pipeline --------------------------------------------------------------------------------------------- */

static int32_t read_number(const struct json_object *object, const char *key, const json_t *json, double *ret,
                           struct kerf_error *err) {
    const double value = json_number_value(json);
    if (!json_is_number(json) || !(value >= 0 && value <= LARGEST))
        return json_fail(object, key, KERF_EINVALID, err, "\"%s\" must have numbers from 0 to %g", key, LARGEST);
    *ret = value;
    return KERF_OK;
}

static int32_t read_array(const struct json_object *object, const char *key, size_t count, struct arena *arena,
                          const double **ret, struct kerf_error *err) {
    const json_t *json = json_object_get(object->json, key);
    if (json == NULL) return json_fail(object, NULL, KERF_EINVALID, err, "\"%s\" is missing", key);
    if (!json_is_array(json) || json_array_size(json) != count)
        return json_fail(object, key, KERF_EINVALID, err,
                         "\"%s\" must be an array of %zu numbers, one for each stage of a device", key, count);
    double *values = arena_alloc(arena, count, sizeof *values);
    if (values == NULL) return error_no_memory(err, "the pipeline");
    for (size_t i = 0; i < count; i++) {
        int32_t code = read_number(object, key, json_array_get(json, i), &values[i], err);
        if (code != KERF_OK) return code;
    }
    *ret = values;
    return KERF_OK;
}

/* The whole backward pass is the sum of its parts, and is there for readers of times. */
static int32_t check_backward(const struct json_object *object, const struct kerf_pipeline *pipeline,
                              struct arena *arena, struct kerf_error *err) {
    const double *whole = NULL;
    if (!json_has(object, "backward")) return KERF_OK;
    int32_t code = read_array(object, "backward", (size_t)pipeline->num_stages, arena, &whole, err);
    for (int32_t k = 0; code == KERF_OK && k < pipeline->num_stages; k++) {
        const double sum = pipeline->backward_input_s[k] + pipeline->backward_weight_s[k];
        if (fabs(whole[k] - sum) > 1e-9 * sum)
            code = json_fail(object, "backward", KERF_EINVALID, err,
                             "\"backward\"[%d] must be the sum of its parts, %.17g, not %.17g", k, sum, whole[k]);
    }
    return code;
}

/* The schedule, and its sizes, which its rule must take. */
static int32_t read_sizes(const struct json_object *object, struct kerf_pipeline *pipeline, struct kerf_error *err) {
    int64_t devices = 0, chunks = 0, microbatches = 0;
    const char *name = NULL;
    struct kerf_error why = {.code = KERF_OK};
    int32_t code = json_get_string(object, "schedule", JSON_REQUIRED, &name, err);
    if (code == KERF_OK) code = json_get_integer(object, "devices", JSON_REQUIRED, 1, 4096, &devices, err);
    if (code == KERF_OK) code = json_get_integer(object, "chunks", JSON_REQUIRED, 1, 4096, &chunks, err);
    if (code == KERF_OK) code = json_get_integer(object, "microbatches", JSON_REQUIRED, 1, 1048576, &microbatches, err);
    if (code != KERF_OK) return code;
    if (strlen(name) >= sizeof pipeline->schedule)
        return json_fail(object, "schedule", KERF_EUNKNOWN, err, "no schedule '%.64s'", name);
    strcpy(pipeline->schedule, name);
    const struct kerf_schedule_request request = {.rule = pipeline->schedule,
                                                  .devices = (int32_t)devices,
                                                  .chunks = (int32_t)chunks,
                                                  .microbatches = (int32_t)microbatches};
    code = kerf_schedule_stages(&request, &pipeline->num_stages, &why);
    if (code != KERF_OK) return json_fail(object, "schedule", code, err, "%s", why.message);
    pipeline->devices = request.devices;
    pipeline->chunks = request.chunks;
    pipeline->microbatches = request.microbatches;
    return KERF_OK;
}

static int32_t read_pipeline(const struct json_object *object, struct owned_pipeline *owned, struct kerf_error *err) {
    static const char *const keys[] = {"schedule", "devices",          "chunks",         "microbatches",
                                       "forward",  "backward",         "backward_input", "backward_weight",
                                       "p2p",      "activation_bytes", "makespan_s"};
    struct kerf_pipeline *pipeline = &owned->pipeline;
    const struct {
        const char *key;
        const double **ret;
    } arrays[] = {{"forward", &pipeline->forward_s},
                  {"backward_input", &pipeline->backward_input_s},
                  {"backward_weight", &pipeline->backward_weight_s},
                  {"activation_bytes", &pipeline->activation_bytes}};
    int32_t code = json_check_keys(object, keys, sizeof keys / sizeof *keys, err);
    if (code == KERF_OK) code = read_sizes(object, pipeline, err);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && code == KERF_OK; i++)
        code = read_array(object, arrays[i].key, (size_t)pipeline->num_stages, &owned->arena, arrays[i].ret, err);
    if (code == KERF_OK) code = check_backward(object, pipeline, &owned->arena, err);
    const json_t *p2p = json_object_get(object->json, "p2p"), *makespan = json_object_get(object->json, "makespan_s");
    if (code == KERF_OK && p2p) code = read_number(object, "p2p", p2p, &pipeline->p2p_s, err);
    if (code == KERF_OK && makespan) code = read_number(object, "makespan_s", makespan, &pipeline->makespan_s, err);
    return code;
}

static int32_t read_plan(const struct json_object *plan, int32_t rank, struct owned_pipeline *owned,
                         struct kerf_error *err) {
    struct json_object pipeline;
    if (!json_has(plan, "pipeline"))
        return json_fail(plan, NULL, KERF_EINVALID, err,
                         "the plan of rank %d has no pipeline: only the cost model analytic simulates one", rank);
    int32_t code = json_get_object(plan, "pipeline", JSON_REQUIRED, &pipeline, err);
    if (code == KERF_OK) code = read_pipeline(&pipeline, owned, err);
    const json_t *pipeline_s = json_object_get(plan->json, "pipeline_s");
    if (code == KERF_OK && pipeline_s && owned->pipeline.makespan_s == 0)
        code = read_number(plan, "pipeline_s", pipeline_s, &owned->pipeline.makespan_s, err);
    return code;
}

int32_t kerf_pipeline_parse(const char *text, size_t length, const char *name, int32_t rank,
                            struct kerf_pipeline **ret_pipeline, struct kerf_error *err) {
    struct json_document document = {.root = NULL};
    struct json_object root, search, plan;
    struct owned_pipeline *owned = calloc(1, sizeof *owned);
    if (owned == NULL) return error_no_memory(err, "the pipeline");
    int32_t code = json_document_parse(&document, text, length, name, &root, err);
    if (code == KERF_OK) code = find_plan(&root, rank, &search, &plan, err);
    if (code == KERF_OK) code = read_plan(&plan, rank, owned, err);
    json_document_free(&document);
    if (code != KERF_OK) {
        kerf_pipeline_free(&owned->pipeline);
        return code;
    }
    *ret_pipeline = &owned->pipeline;
    return KERF_OK;
}
