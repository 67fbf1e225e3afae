/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a model's file, and the name of one. What is read obeys its bounds and, written again, reads
 * as the same. */
#include "invariants.h"

#include <stdlib.h>
#include <string.h>
#include "spec/model.h"

static const char source[] = "models/input.json";

static void check_round_trip(const struct kerf_model *model) {
    struct kerf_text text = {0};
    struct kerf_json json;
    struct kerf_model again;
    struct kerf_error err;
    kerf_json_begin(&json, &text);
    model_json(&json, model);
    CHECK(kerf_model_parse(text.data, text.length, source, &again, &err) == KERF_OK);
    CHECK(strcmp(again.name, model->name[0] ? model->name : "input") == 0);
    CHECK(again.hidden_size == model->hidden_size);
    CHECK(again.intermediate_size == model->intermediate_size);
    CHECK(again.num_hidden_layers == model->num_hidden_layers);
    CHECK(again.num_attention_heads == model->num_attention_heads);
    CHECK(again.max_position_embeddings == model->max_position_embeddings);
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
    check_round_trip(&model);
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
        check_round_trip(&model);
    } else {
        check_error(code, &err, source, (const char *)data, size);
        CHECK(strcmp(err.file, source) == 0);
        CHECK(is_poisoned(&model, sizeof model));
    }
    CHECK(kerf_model_parse((const char *)data, size, source, &model, NULL) == code);
    read_as_name(data, size);
    return 0;
}
