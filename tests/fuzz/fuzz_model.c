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

/* The place of a syntax error is that of the last code point which jansson read; it miscounts after a NUL. */
static void check_syntax_place(const struct kerf_error *err, const char *text, size_t length) {
    json_error_t error;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    CHECK(root == NULL);
    if (memchr(text, 0, length)) return;
    CHECK(err->line == (error.line > 0 ? error.line : 1));
    const char *start = text;
    for (int line = 1; line < error.line; line++)
        start = (const char *)memchr(start, '\n', (size_t)(text + length - start)) + 1;
    int columns = 0;
    for (const char *c = start; c < start + err->column && c < text + length; c++)
        columns += (*c & 0xC0) != 0x80;
    if (error.column > 0)
        CHECK(columns == error.column);
    else
        CHECK(err->column == 1);
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
        if (code == KERF_ESYNTAX) check_syntax_place(&err, (const char *)data, size);
        CHECK(is_poisoned(&model, sizeof model));
    }
    CHECK(kerf_model_parse((const char *)data, size, source, &model, NULL) == code);
    read_as_name(data, size);
    return 0;
}
