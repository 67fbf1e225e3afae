/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a model's file, and the name of one. What is read obeys its bounds, can be counted and told. */
#include "invariants.h"

#include <stdlib.h>
#include <string.h>
#include "spec/description.h"

static const char source[] = "models/input.json";

/* The parts sum up, the counts are of the model's sizes, and what is printed can be read. */
static void check_counts(const struct kerf_model *model) {
    struct kerf_model_counts counts;
    int64_t sum = 0, layers = 0;
    kerf_model_count(model, &counts);
    for (int i = 0; i < KERF_COMPONENT_COUNT; i++) {
        CHECK(counts.components[i] >= 0);
        sum += counts.components[i];
    }
    CHECK(sum == counts.parameters);
    CHECK(counts.active_parameters > 0 && counts.active_parameters <= counts.parameters);
    CHECK(counts.embedding_parameters >= 0 && counts.mtp_parameters >= 0);
    for (int32_t i = 0; i < model->num_runs; i++) {
        CHECK(model->runs[i].count > 0);
        CHECK(i == 0 || model->runs[i].kind != model->runs[i - 1].kind);
        layers += model->runs[i].count;
    }
    CHECK(layers == model->num_hidden_layers);
    double one = kerf_model_flops(model, 1, 0), more = kerf_model_flops(model, 4096, model->mtp_layers);
    CHECK(one > 0 && more > one && more < 1e300);
}

static void check_told(const struct kerf_model *model) {
    struct kerf_text text = {0};
    struct kerf_json json;
    kerf_json_begin(&json, &text);
    kerf_model_json(&json, NULL, model, 2048);
    json_t *told = read_back(&text);
    struct kerf_model_counts counts;
    kerf_model_count(model, &counts);
    check_number(told, "parameters", (double)counts.parameters);
    json_decref(told);
    kerf_text_clear(&text);
    kerf_model_notes(model, &text);
    for (size_t i = 0; i + 1 < text.length; i++) CHECK((unsigned char)text.data[i] >= ' ' || text.data[i] == '\n');
    kerf_text_free(&text);
}

/* A model without a name has its file's, and errors name the file. */
static void read_as_name(const uint8_t *data, size_t size) {
    static const char nameless[] = "{\"n_embd\":1,\"n_layer\":1,\"n_head\":1}";
    struct kerf_model model;
    struct kerf_error err;
    char *path = malloc(size + 1);
    CHECK(path != NULL);
    memcpy(path, data, size);
    path[size] = 0;
    CHECK(kerf_model_parse(nameless, sizeof nameless - 1, path, &model, &err) == KERF_OK);
    check_model(&model);
    CHECK(strlen(model.name) <= strlen(path));
    check_told(&model);
    poison(&err, sizeof err);
    int32_t code = kerf_model_parse("", 0, path, &model, &err);
    if (path[0]) check_error(code, &err, path, NULL, 0);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct kerf_model model;
    struct kerf_error err;
    poison(&model, sizeof model);
    poison(&err, sizeof err);
    int32_t code = kerf_model_parse((const char *)data, size, source, &model, &err);
    if (code == KERF_OK) {
        check_model(&model);
        check_counts(&model);
        check_told(&model);
    } else {
        check_error(code, &err, source, (const char *)data, size);
        CHECK(strcmp(err.file, source) == 0);
        CHECK(is_poisoned(&model, sizeof model));
    }
    CHECK(kerf_model_parse((const char *)data, size, source, &model, NULL) == code);
    read_as_name(data, size);
    return 0;
}
