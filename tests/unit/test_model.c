/* SPDX-License-Identifier: Apache-2.0 */
/* Model files: Hugging Face's config.json of several families, and what is wrong with bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kerf/spec.h"
#include "spec/files.h"
#include "spec/model.h"
#include "spec/names.h"

static const char *line_of(const struct kerf_error *err) {
    static char line[1024];
    kerf_error_format(err, line, sizeof line);
    return line;
}

static int32_t parse(const char *json, struct kerf_model *model, struct kerf_error *err) {
    return kerf_model_parse(json, strlen(json), "m.json", model, err);
}

static void expect_model(const char *json, int64_t e, int64_t f, int64_t layers, int64_t heads, int64_t length) {
    struct kerf_model model;
    struct kerf_error err = {.message = ""};
    memset(&model, 0x5A, sizeof model);
    if (parse(json, &model, &err) != KERF_OK) fail_msg("%s\n%s", json, line_of(&err));
    assert_int_equal(model.hidden_size, e);
    assert_int_equal(model.intermediate_size, f);
    assert_int_equal(model.num_hidden_layers, layers);
    assert_int_equal(model.num_attention_heads, heads);
    assert_int_equal(model.max_position_embeddings, length);
}

/* The result stays as it was, and the error is this line to the letter. */
static void expect_refused(const char *json, int32_t code, const char *line) {
    struct kerf_model model, before;
    struct kerf_error err;
    memset(&model, 0x5A, sizeof model);
    before = model;
    assert_int_equal(parse(json, &model, &err), code);
    assert_int_equal(err.code, code);
    assert_string_equal(line_of(&err), line);
    assert_memory_equal(&model, &before, sizeof model);
    assert_int_equal(parse(json, &model, NULL), code);
}

/* ---- What is taken ------------------------------------------------------------------------------------ */

static void reads_a_subset(void **state) {
    (void)state;
    expect_model(
        "{\"hidden_size\":12288,\"intermediate_size\":49152,\"num_hidden_layers\":96,\"num_attention_heads\":96}",
        12288, 49152, 96, 96, 0);
    expect_model("{\"hidden_size\":1,\"intermediate_size\":1,\"num_hidden_layers\":1,\"num_attention_heads\":1,"
                 "\"max_position_embeddings\":1}",
                 1, 1, 1, 1, 1);
    expect_model("{\"hidden_size\":16777216,\"intermediate_size\":67108864,\"num_hidden_layers\":1048576,"
                 "\"num_attention_heads\":1048576,\"max_position_embeddings\":1073741824}",
                 16777216, 67108864, 1048576, 1048576, 1073741824);
    expect_model(
        "{\"hidden_size\":1.024e3,\"intermediate_size\":4096.0,\"num_hidden_layers\":8,\"num_attention_heads\":16}",
        1024, 4096, 8, 16, 0);
}

static void reads_the_families(void **state) {
    (void)state;
    expect_model(
        "{\"model_type\":\"gpt2\",\"n_ctx\":1024,\"n_embd\":1600,\"n_head\":25,\"n_layer\":48,\"n_positions\":1024,"
        "\"n_inner\":null,\"resid_pdrop\":0.1,\"task_specific_params\":{\"text-generation\":{\"max_length\":50}}}",
        1600, 6400, 48, 25, 1024);
    expect_model(
        "{\"model_type\":\"gptj\",\"n_embd\":4096,\"n_head\":16,\"n_inner\":8192,\"n_layer\":28,\"n_positions\":2048}",
        4096, 8192, 28, 16, 2048);
    expect_model(
        "{\"model_type\":\"bloom\",\"n_embed\":14336,\"n_layer\":70,\"num_attention_heads\":112,\"seq_length\":2048}",
        14336, 57344, 70, 112, 2048);
    expect_model("{\"model_type\":\"bloom\",\"hidden_size\":1024,\"n_layer\":24,\"n_head\":16,\"n_inner\":null}", 1024,
                 4096, 24, 16, 0);
    expect_model("{\"model_type\":\"falcon\",\"hidden_size\":4544,\"num_attention_heads\":71,\"num_hidden_layers\":32,"
                 "\"num_kv_heads\":71,\"multi_query\":true}",
                 4544, 18176, 32, 71, 0);
    expect_model(
        "{\"model_type\":\"falcon\",\"hidden_size\":8192,\"ffn_hidden_size\":32768,\"num_attention_heads\":128,"
        "\"num_hidden_layers\":60,\"max_position_embeddings\":2048}",
        8192, 32768, 60, 128, 2048);
    expect_model("{\"model_type\":\"RefinedWebModel\",\"hidden_size\":4544,\"n_head\":71,\"n_layer\":32}", 4544, 18176,
                 32, 71, 0);
    expect_model("{\"model_type\":\"opt\",\"ffn_dim\":3072,\"hidden_size\":768,\"num_attention_heads\":12,\"num_hidden_"
                 "layers\":12,"
                 "\"max_position_embeddings\":2048,\"word_embed_proj_dim\":768}",
                 768, 3072, 12, 12, 2048);
    expect_model("{\"architectures\":[\"LlamaForCausalLM\"],\"hidden_size\":8192,\"intermediate_size\":28672,\"num_"
                 "attention_heads\":64,"
                 "\"num_hidden_layers\":80,\"num_key_value_heads\":8,\"max_position_embeddings\":131072,"
                 "\"rope_scaling\":{\"factor\":8.0,\"nested\":{\"deeper\":[1,{\"hidden_size\":\"not this "
                 "one\"}]}},\"vocab_size\":128256}",
                 8192, 28672, 80, 64, 131072);
    expect_model("{\"hidden_size\":64,\"intermediate_size\":256,\"num_layers\":4,\"num_attention_heads\":4}", 64, 256,
                 4, 4, 0);
    /* said twice, the same: fine */
    expect_model(
        "{\"hidden_size\":64,\"n_embd\":64,\"n_layer\":2,\"num_layers\":2,\"n_head\":4,\"n_positions\":9,\"n_ctx\":9}",
        64, 256, 2, 4, 9);
}

/* ---- What is refused ---------------------------------------------------------------------------------- */

#define LAYERS "\"num_hidden_layers\": 8"
#define HEADS  "\"num_attention_heads\": 16"
#define WIDTHS "\"hidden_size\": 1024, \"intermediate_size\": 4096"

static void refuses_bad_values(void **state) {
    (void)state;
    expect_refused("{" WIDTHS ",\n " LAYERS ",\n \"num_attention_heads\": 0}", KERF_EINVALID,
                   "m.json:3:25: \"num_attention_heads\" must lie between 1 and 1048576, not 0");
    expect_refused("{" WIDTHS ", " LAYERS ",\n\"num_attention_heads\":\n\t7}", KERF_EINVALID,
                   "m.json:3:2: 7 heads do not divide hidden_size 1024");
    expect_refused("{\"n_embd\": 10, \"n_layer\": 1,\n \"n_head\": 3}", KERF_EINVALID,
                   "m.json:2:12: 3 heads do not divide hidden_size 10");
    expect_refused("{\"hidden_size\": -4096, \"intermediate_size\": 4096, " LAYERS ", " HEADS "}", KERF_EINVALID,
                   "m.json:1:17: \"hidden_size\" must lie between 1 and 16777216, not -4096");
    expect_refused("{\"hidden_size\": 16777217, \"intermediate_size\": 4096, " LAYERS ", " HEADS "}", KERF_EINVALID,
                   "m.json:1:17: \"hidden_size\" must lie between 1 and 16777216, not 16777217");
    expect_refused(
        "{\"hidden_size\": 4611686018427387904, \"intermediate_size\": 4611686018427387904, " LAYERS ", " HEADS "}",
        KERF_EINVALID, "m.json:1:17: \"hidden_size\" must lie between 1 and 16777216, not 4.6116860184273879e+18");
    expect_refused("{\"hidden_size\": 1024, \"intermediate_size\": 67108865, " LAYERS ", " HEADS "}", KERF_EINVALID,
                   "m.json:1:44: \"intermediate_size\" must lie between 1 and 67108864, not 67108865");
    expect_refused("{" WIDTHS ", \"num_hidden_layers\": 1048577, " HEADS "}", KERF_EINVALID,
                   "m.json:1:71: \"num_hidden_layers\" must lie between 1 and 1048576, not 1048577");
    expect_refused("{" WIDTHS ", \"num_hidden_layers\": 2.5, " HEADS "}", KERF_EINVALID,
                   "m.json:1:71: \"num_hidden_layers\" must be a whole number, not 2.5");
    expect_refused("{" WIDTHS ", " LAYERS ", " HEADS ", \"max_position_embeddings\": 1073741825}", KERF_EINVALID,
                   "m.json:1:128: \"max_position_embeddings\" must lie between 1 and 1073741824, not 1073741825");
    expect_refused("{\"hidden_size\": \"many\", \"intermediate_size\": 4096, " LAYERS ", " HEADS "}", KERF_EINVALID,
                   "m.json:1:17: \"hidden_size\" must be a whole number between 1 and 16777216, not text");
    expect_refused("{\"hidden_size\": null, \"intermediate_size\": 4096, " LAYERS ", " HEADS "}", KERF_EINVALID,
                   "m.json:1:17: \"hidden_size\" must be a whole number between 1 and 16777216, not null");
    expect_refused("{\"hidden_size\": [1024], \"intermediate_size\": 4096, " LAYERS ", " HEADS "}", KERF_EINVALID,
                   "m.json:1:17: \"hidden_size\" must be a whole number between 1 and 16777216, not an array");
    expect_refused("{\"name\": 7, " WIDTHS ", " LAYERS ", " HEADS "}", KERF_EINVALID,
                   "m.json:1:10: \"name\" must be text, not a number");
}

static void says_what_is_missing(void **state) {
    (void)state;
#define NEEDS "is missing; a model needs hidden_size, intermediate_size, num_hidden_layers and num_attention_heads"
    expect_refused("{}", KERF_EINVALID, "m.json:1:1: \"hidden_size\" " NEEDS);
    expect_refused("\n\n {\"hidden_size\": 1024}", KERF_EINVALID, "m.json:3:2: \"intermediate_size\" " NEEDS);
    expect_refused("{" WIDTHS "}", KERF_EINVALID, "m.json:1:1: \"num_hidden_layers\" " NEEDS);
    expect_refused("{" WIDTHS ", " LAYERS "}", KERF_EINVALID, "m.json:1:1: \"num_attention_heads\" " NEEDS);
    expect_refused("{\"model_type\": \"llama\", \"hidden_size\": 64, " LAYERS ", " HEADS "}", KERF_EINVALID,
                   "m.json:1:1: \"intermediate_size\" " NEEDS); /* four times as wide is no rule there */
}

static void says_which_names_conflict(void **state) {
    (void)state;
    expect_refused("{" WIDTHS ", \"n_embd\": 2048, " LAYERS ", " HEADS "}", KERF_EINVALID,
                   "m.json:1:60: \"n_embd\" says otherwise than \"hidden_size\"; keep one of them");
    expect_refused("{\"n_embd\": 64, \"n_layer\": 2,\n\"num_layers\": 3, \"n_head\": 4}", KERF_EINVALID,
                   "m.json:2:15: \"num_layers\" says otherwise than \"n_layer\"; keep one of them");
    expect_refused("{\"n_embd\": 64, \"n_layer\": 2, \"n_head\": 4, \"n_positions\": 1024, \"n_ctx\": 512}",
                   KERF_EINVALID, "m.json:1:73: \"n_ctx\" says otherwise than \"n_positions\"; keep one of them");
}

static void takes_numbers_of_any_length_in_keys_of_others(void **state) {
    (void)state;
    static const char json[] =
        "{" WIDTHS ", " LAYERS ", " HEADS ", \"model_max_length\": 1000000000000000019884624838656}";
    struct kerf_model model;
    assert_int_equal(kerf_model_parse(json, sizeof json - 1, "m.json", &model, NULL), KERF_OK);
    expect_refused("{" WIDTHS ", \"num_hidden_layers\": 1000000000000000000000000000000, " HEADS "}", KERF_EINVALID,
                   "m.json:1:71: \"num_hidden_layers\" must lie between 1 and 1048576, not 1e+30");
}

/* Words of jansson's are not ours to hold on to; place and hint are. */
static void refuses_what_is_no_json(void **state) {
    (void)state;
    static const struct {
        const char *json, *hint;
        size_t length;
        int32_t line;
    } cases[] = {
        {"", "; the input is empty", 0, 1},
        {"hello", "; a JSON object {...} is expected", 0, 1},
        {"{" WIDTHS ",\n" LAYERS ",\n" HEADS, "; the end is missing", 0, 3},
        {"{\"hidden_size\": 1024, \"name\": \"\xe2\x82", "; save it as UTF-8", 0, 1},
        {"\0\0\0\0\0\0\0\0", "", 8, 1},
        {"{\"hidden_size\": NaN}", "; a number must be finite", 0, 1},
        {"{" WIDTHS ",\n\"num_hidden_layers\": 1e999, " HEADS "}", "; the number is too large", 0, 2},
        {"{" WIDTHS ", " LAYERS ", " HEADS ",\n\"hidden_size\": 2048}", "; give each key once", 0, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_model model;
        struct kerf_error err;
        size_t length = cases[i].length ? cases[i].length : strlen(cases[i].json);
        assert_int_equal(kerf_model_parse(cases[i].json, length, "m.json", &model, &err), KERF_ESYNTAX);
        assert_string_equal(err.file, "m.json");
        assert_int_equal(err.line, cases[i].line);
        assert_true(err.column >= 1);
        if (!strstr(err.message, cases[i].hint)) fail_msg("'%s' lacks '%s'", err.message, cases[i].hint);
    }
    expect_refused("[]", KERF_EINVALID, "m.json:1:1: a JSON object {...} is expected here");
    enum { DEPTH = 200000 };
    char *deep = malloc(DEPTH + 1);
    memset(deep, '[', DEPTH);
    deep[DEPTH] = 0;
    struct kerf_model model;
    struct kerf_error err;
    assert_int_equal(parse(deep, &model, &err), KERF_ESYNTAX);
    assert_non_null(strstr(err.message, "; it nests too deeply"));
    free(deep);
}

/* ---- Names -------------------------------------------------------------------------------------------- */

static const char *name_of(const char *json, const char *source) {
    static struct kerf_model model;
    struct kerf_error err;
    if (kerf_model_parse(json, strlen(json), source, &model, &err) != KERF_OK) fail_msg("%s", line_of(&err));
    return model.name;
}

static void is_named_by_the_file_or_its_path(void **state) {
    (void)state;
    const char *plain = "{" WIDTHS ", " LAYERS ", " HEADS "}";
    assert_string_equal(name_of("{\"name\": \"own\", " WIDTHS ", " LAYERS ", " HEADS "}", "other.json"), "own");
    assert_string_equal(name_of("{\"name\": \"\", " WIDTHS ", " LAYERS ", " HEADS "}", "other.json"), "other");
    assert_string_equal(name_of("{\"name\": null, " WIDTHS ", " LAYERS ", " HEADS "}", "other.json"), "other");
    static const struct {
        const char *path, *name;
    } paths[] = {
        {"llama.json", "llama"},
        {"/models/llama.json", "llama"},
        {"models/Meta-Llama-3-70B/config.json", "Meta-Llama-3-70B"},
        {"models/Meta-Llama-3-70B//config.json", "Meta-Llama-3-70B"},
        {"config.json", "config"},
        {"./config.json", "config"},
        {"../config.json", "config"},
        {"/config.json", "config"},
        {".hidden/config.json", ".hidden"},
        {"a/config.jsonl", "config.jsonl"},
        {"noending", "noending"},
        {".json", ".json"},
        {"a.b.json", "a.b"},
        {"dir.json/x", "x"},
        {"", ""},
        {"/", ""},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char stem[KERF_NAME_SIZE];
        file_stem(paths[i].path, stem);
        if (strcmp(stem, paths[i].name) != 0) fail_msg("%s is '%s', not '%s'", paths[i].path, stem, paths[i].name);
        assert_string_equal(name_of(plain, paths[i].path), paths[i].name);
    }
}

static void names_are_cut_between_letters_and_made_printable(void **state) {
    (void)state;
    char name[KERF_NAME_SIZE], text[200] = "";
    for (int i = 0; i < 40; i++) strcat(text, "\xc3\xa9"); /* 80 bytes; 63 would end within a letter */
    name_copy(name, text);
    assert_int_equal(strlen(name), 62);
    assert_memory_equal(name, text, 62);
    memset(text, 'x', 64), text[63] = 0;
    name_copy(name, text);
    assert_string_equal(name, text);
    name_copy(name, "a\nb\033[31m\xff");
    assert_string_equal(name, "a?b?[31m?");
}

/* ---- Writing ------------------------------------------------------------------------------------------ */

static void writes_what_it_reads(void **state) {
    (void)state;
    static const char *const texts[] = {"{\"name\": \"a \\\"b\\\"\", " WIDTHS ", " LAYERS ", " HEADS
                                        ", \"max_position_embeddings\": 7}",
                                        "{\"n_embd\": 64, \"n_layer\": 2, \"n_head\": 4}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct kerf_model model, again;
        struct kerf_text text = {0};
        struct kerf_json json;
        assert_int_equal(parse(texts[i], &model, NULL), KERF_OK);
        kerf_json_begin(&json, &text);
        model_json(&json, &model);
        assert_int_equal(kerf_model_parse(text.data, text.length, "other.json", &again, NULL), KERF_OK);
        assert_memory_equal(&model, &again, sizeof model);
        kerf_text_free(&text);
    }
}

/* ---- Loading ------------------------------------------------------------------------------------------ */

static void loads_names_and_files(void **state) {
    (void)state;
    struct kerf_model model;
    struct kerf_error err;
    assert_int_equal(kerf_model_load("gpt3_1t", &model, &err), KERF_OK);
    assert_string_equal(model.name, "gpt3_1t");
    assert_int_equal(model.hidden_size, 25600);
    assert_int_equal(kerf_model_load(KERF_SOURCE_DIR "/share/models/vit_era5.json", &model, &err), KERF_OK);
    assert_int_equal(model.max_position_embeddings, 64800);

    assert_int_equal(kerf_model_load("gtp3", &model, &err), KERF_EUNKNOWN);
    assert_string_equal(line_of(&err),
                        "no model or file 'gtp3'; did you mean gpt3? `kerf models` lists the names");
    assert_int_equal(kerf_model_load("quite-another", &model, &err), KERF_EUNKNOWN);
    assert_string_equal(line_of(&err),
                        "no model or file 'quite-another'; `kerf models` lists the names");
    assert_int_equal(kerf_model_load("", &model, &err), KERF_EUNKNOWN);
    assert_int_equal(kerf_model_load("none.json", &model, &err), KERF_EIO);
    assert_string_equal(line_of(&err), "none.json: no such file");
    assert_int_equal(kerf_model_load("/none", &model, &err), KERF_EIO);
    assert_int_equal(kerf_model_load("/", &model, &err), KERF_EIO);
    assert_string_equal(line_of(&err), "/: a folder; name a file in it");

    char folder[] = "/tmp/kerf-test-model-XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/config.json", folder);
    FILE *file = fopen(path, "w");
    fputs("{" WIDTHS ",\n  " LAYERS ", \"num_attention_heads\": 3}", file);
    fclose(file);
    assert_int_equal(kerf_model_load(path, &model, &err), KERF_EINVALID);
    assert_string_equal(err.file, path);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 50);
    file = fopen(path, "w");
    fputs("{" WIDTHS ", " LAYERS ", " HEADS "}", file);
    fclose(file);
    assert_int_equal(kerf_model_load(path, &model, &err), KERF_OK);
    assert_string_equal(model.name, strrchr(folder, '/') + 1);
    unlink(path);
    rmdir(folder);
}

static void standard_input_is_called_so(void **state) {
    (void)state;
    static const char *const texts[] = {"{" WIDTHS ", " LAYERS ", " HEADS "}", "{"};
    int before = dup(STDIN_FILENO);
    struct kerf_model models[2];
    struct kerf_error errs[2];
    int32_t codes[2];
    for (int i = 0; i < 2; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], texts[i], strlen(texts[i])), (int)strlen(texts[i]));
        close(ends[1]);
        dup2(ends[0], STDIN_FILENO);
        codes[i] = kerf_model_load("-", &models[i], &errs[i]);
        close(ends[0]);
    }
    dup2(before, STDIN_FILENO);
    close(before);
    assert_int_equal(codes[0], KERF_OK);
    assert_string_equal(models[0].name, "standard input");
    assert_int_equal(codes[1], KERF_ESYNTAX);
    assert_string_equal(errs[1].file, "standard input");
    assert_int_equal(errs[1].line, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_subset),
        cmocka_unit_test(reads_the_families),
        cmocka_unit_test(refuses_bad_values),
        cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(says_which_names_conflict),
        cmocka_unit_test(takes_numbers_of_any_length_in_keys_of_others),
        cmocka_unit_test(refuses_what_is_no_json),
        cmocka_unit_test(is_named_by_the_file_or_its_path),
        cmocka_unit_test(names_are_cut_between_letters_and_made_printable),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(loads_names_and_files),
        cmocka_unit_test(standard_input_is_called_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
