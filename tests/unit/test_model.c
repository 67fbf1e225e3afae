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
#include "spec/description.h"

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
    expect_model("{\"hidden_size\":16777216,\"intermediate_size\":67108864,\"num_hidden_layers\":1024,"
                 "\"num_attention_heads\":1048576,\"max_position_embeddings\":1073741824}",
                 16777216, 67108864, 1024, 1048576, 1073741824);
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
                   "m.json:1:1: \"hidden_size\" is missing; a model needs hidden_size, intermediate_size, "
                   "num_hidden_layers and num_attention_heads");
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
                   "m.json:1:60: \"hidden_size\" and \"n_embd\" differ; keep one of them");
    expect_refused("{\"n_embd\": 64, \"n_layer\": 2,\n\"num_layers\": 3, \"n_head\": 4}", KERF_EINVALID,
                   "m.json:2:15: \"n_layer\" and \"num_layers\" differ; keep one of them");
    expect_refused("{\"n_embd\": 64, \"n_layer\": 2, \"n_head\": 4, \"n_positions\": 1024, \"n_ctx\": 512}",
                   KERF_EINVALID, "m.json:1:73: \"n_positions\" and \"n_ctx\" differ; keep one of them");
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

/* ---- Layers ------------------------------------------------------------------------------------------- */

#define LLAMA "{\"model_type\":\"llama\",\"vocab_size\":1000," WIDTHS "," LAYERS "," HEADS

static struct kerf_model model_of(const char *json) {
    struct kerf_model model;
    struct kerf_error err;
    if (parse(json, &model, &err) != KERF_OK) fail_msg("%s\n%s", json, line_of(&err));
    return model;
}

/* "2x0 1x1": the runs and their kinds. */
static const char *runs_of(const struct kerf_model *model) {
    static char text[512];
    text[0] = 0;
    for (int32_t i = 0; i < model->num_runs; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%dx%d", i ? " " : "", model->runs[i].count,
                 model->runs[i].kind);
    return text;
}

static void finds_the_runs_of_equal_layers(void **state) {
    (void)state;
#define SHAPE "\"hidden_size\":64,\"intermediate_size\":96,\"num_attention_heads\":4,\"vocab_size\":9"
#define MOE   "\"num_experts\":4,\"num_experts_per_tok\":2,\"moe_intermediate_size\":8"
#define LLAMA4                                                                                                         \
    "{\"model_type\":\"llama4_text\",\"num_hidden_layers\":5,\"num_local_experts\":4,\"num_experts_per_tok\":1,"       \
    "\"num_key_value_heads\":4,"
    static const struct {
        const char *json, *runs;
    } cases[] = {
        {"{\"model_type\":\"llama\",\"num_hidden_layers\":7," SHAPE "}", "7x0"},
        {"{\"model_type\":\"gemma2\",\"num_hidden_layers\":3," SHAPE "}", "1x0 1x1 1x0"},
        {"{\"model_type\":\"gemma2\",\"num_hidden_layers\":3,\"sliding_window\":null," SHAPE "}", "3x0"},
        {"{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":8," SHAPE "}", "5x0 1x1 2x0"},
        {"{\"model_type\":\"exaone4\",\"num_hidden_layers\":5,\"sliding_window\":16,"
         "\"sliding_window_pattern\":\"LLG\"," SHAPE "}",
         "2x0 1x1 2x0"},
        {"{\"model_type\":\"qwen2\",\"num_hidden_layers\":5,\"sliding_window\":16,\"max_window_layers\":3," SHAPE "}",
         "5x0"},
        {"{\"model_type\":\"qwen2\",\"num_hidden_layers\":5,\"sliding_window\":16,\"max_window_layers\":3,"
         "\"use_sliding_window\":true," SHAPE "}",
         "3x0 2x1"},
        {"{\"model_type\":\"qwen2\",\"num_hidden_layers\":30,\"use_sliding_window\":true," SHAPE "}", "28x0 2x1"},
        {"{\"model_type\":\"qwen3\",\"num_hidden_layers\":30,\"use_sliding_window\":true,\"sliding_window\":null," SHAPE
         "}",
         "30x0"},
        {"{\"model_type\":\"exaone4\",\"num_hidden_layers\":5," SHAPE "}", "3x0 1x1 1x0"},
        {LLAMA4 SHAPE "}", "3x0 1x1 1x0"},
        {LLAMA4 "\"no_rope_layers\":[]," SHAPE "}", "3x0 1x1 1x0"},
        {LLAMA4 "\"no_rope_layers\":[1,0,0,1,1]," SHAPE "}", "1x0 2x1 2x0"},
        {LLAMA4 "\"attention_chunk_size\":null," SHAPE "}", "5x0"},
        {"{\"model_type\":\"llama\",\"num_hidden_layers\":3,\"sliding_window\":16,\"layer_types\":["
         "\"full_attention\",\"sliding_attention\",\"full_attention\"]," SHAPE "}",
         "1x0 1x1 1x0"},
        {"{\"model_type\":\"qwen3_moe\",\"num_hidden_layers\":4," MOE "," SHAPE "}", "4x0"},
        {"{\"model_type\":\"qwen3_moe\",\"num_hidden_layers\":4,\"decoder_sparse_step\":2," MOE "," SHAPE "}",
         "1x0 1x1 1x0 1x1"},
        {"{\"model_type\":\"qwen3_moe\",\"num_hidden_layers\":4,\"mlp_only_layers\":[0,3]," MOE "," SHAPE "}",
         "1x0 2x1 1x0"},
        {"{\"model_type\":\"glm4_moe\",\"num_hidden_layers\":4,\"first_k_dense_replace\":3,\"num_key_value_heads\":"
         "2," MOE "," SHAPE "}",
         "3x0 1x1"},
        {"{\"model_type\":\"deepseek\",\"num_hidden_layers\":4,\"first_k_dense_replace\":1,\"moe_layer_freq\":2," MOE
         "," SHAPE "}",
         "2x0 1x1 1x0"},
        {"{\"model_type\":\"deepseek\",\"num_hidden_layers\":3,\"moe_layer_freq\":[0,1,1]," MOE "," SHAPE "}",
         "1x0 2x1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_model model = model_of(cases[i].json);
        if (strcmp(runs_of(&model), cases[i].runs) != 0)
            fail_msg("%s\nis %s, not %s", cases[i].json, runs_of(&model), cases[i].runs);
        assert_int_equal(model.num_ignored, 0);
    }
}

static void tells_kinds_of_attention(void **state) {
    (void)state;
    static const struct {
        const char *kv, *kind;
    } cases[] = {{"", "mha"},
                 {",\"num_key_value_heads\":16", "mha"},
                 {",\"num_key_value_heads\":4", "gqa"},
                 {",\"num_key_value_heads\":1", "mqa"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[512];
        snprintf(json, sizeof json, LLAMA "%s}", cases[i].kv);
        struct kerf_model model = model_of(json);
        assert_string_equal(kerf_attention_kind(&model.kinds[0]), cases[i].kind);
    }
    struct kerf_model model;
    assert_int_equal(kerf_model_load("deepseek_v3", &model, NULL), KERF_OK);
    assert_string_equal(kerf_attention_kind(&model.kinds[0]), "mla");
    assert_int_equal(model.kinds[0].attention.qk_size, 192);
    assert_int_equal(model.kinds[0].attention.v_size, 128);
}

static void reads_the_text_of_multimodal_files(void **state) {
    (void)state;
    struct kerf_model model = model_of(
        "{\"architectures\":[\"Gemma3ForConditionalGeneration\"],\"model_type\":\"gemma3\",\"vision_config\":{},"
        "\"new_key\":1,\"text_config\":{\"model_type\":\"gemma3_text\",\"hidden_size\":2560,"
        "\"intermediate_size\":10240,\"num_hidden_layers\":34,\"inner_key\":2,\"sliding_window\":1024}}");
    assert_string_equal(model.architecture, "Gemma3ForConditionalGeneration");
    assert_string_equal(model.family, "gemma3_text");
    assert_int_equal(model.num_attention_heads, 8);
    assert_int_equal(model.kinds[0].attention.kv_heads, 4);
    assert_int_equal(model.kinds[0].attention.qk_size, 256);
    assert_int_equal(model.kinds[0].attention.window, 1024);
    assert_int_equal(model.vocab_size, 262208);
    assert_int_equal(model.assumed, KERF_ASSUMED_SIZES | KERF_ASSUMED_HEADS | KERF_ASSUMED_VOCABULARY);
    assert_string_equal(model.ignored, "text_config.inner_key\nnew_key\n");
    model = model_of("{\"model_type\":\"qwen3_vl\",\"tie_word_embeddings\":true,\"text_config\":{\"model_type\":"
                     "\"qwen3_vl_text\",\"vocab_size\":9," WIDTHS "," LAYERS "," HEADS "}}");
    assert_int_equal(model.is_tied, 1);
    expect_refused("{\"text_config\":{\"model_type\":\"mamba2\"}}", KERF_EUNKNOWN,
                   "m.json:1:30: 'mamba2' has state-space (Mamba) layers, which kerf cannot price");
}

/* ---- Notes -------------------------------------------------------------------------------------------- */

static void names_the_keys_that_it_ignores(void **state) {
    (void)state;
    struct kerf_model model = model_of(LLAMA ",\"num_mystery_heads\":4,\"rope_theta\":1e6,\"num_experts\":8,"
                                             "\"something_null\":null,\"bos_token_id\":1}");
    struct kerf_text text = {0};
    struct kerf_json json;
    assert_int_equal(model.num_ignored, 2);
    assert_string_equal(model.ignored, "num_mystery_heads\nnum_experts\n");
    kerf_model_notes(&model, &text);
    assert_string_equal(text.data, "m: unknown keys are ignored: num_mystery_heads, num_experts\n");
    kerf_text_clear(&text);
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_model_notes_json(&json, &model);
    kerf_json_close(&json, '}');
    assert_string_equal(text.data, "{\"ignored\":[\"num_mystery_heads\",\"num_experts\"],\"assumed\":{}}");
    kerf_text_free(&text);
}

static void counts_the_ignored_keys_that_it_cannot_name(void **state) {
    (void)state;
    char json[8192] = LLAMA;
    for (int i = 0; i < 200; i++)
        snprintf(json + strlen(json), sizeof json - strlen(json), ",\"a_key_of_no_meaning_%d\":1", i);
    strcat(json, "}");
    struct kerf_model model = model_of(json);
    struct kerf_text text = {0};
    assert_int_equal(model.num_ignored, 200);
    assert_true(strlen(model.ignored) < sizeof model.ignored);
    kerf_model_notes(&model, &text);
    assert_non_null(strstr(text.data, " more\n"));
    kerf_text_free(&text);
}

static void says_what_it_assumes(void **state) {
    (void)state;
    struct kerf_model model = model_of("{" WIDTHS "," LAYERS "," HEADS "}"), completed;
    struct kerf_text text = {0};
    struct kerf_json json;
    assert_int_equal(model.assumed, KERF_ASSUMED_FAMILY | KERF_ASSUMED_VOCABULARY);
    kerf_model_notes(&model, &text);
    assert_string_equal(
        text.data, "m: assumed: the layers of GPT-2 (there is no model_type); neither embedding nor head (there is no "
                   "vocab_size)\n");
    kerf_text_clear(&text);
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_model_notes_json(&json, &model);
    kerf_json_close(&json, '}');
    assert_string_equal(text.data, "{\"ignored\":[],\"assumed\":{\"model_type\":\"transformer\",\"gated\":false,"
                                   "\"tie_word_embeddings\":true,\"vocab_size\":0}}");
    kerf_text_free(&text);
    /* a program that gives the five sizes alone gets the same */
    memset(&completed, 0, sizeof completed);
    strcpy(completed.name, "m");
    completed.hidden_size = 1024, completed.intermediate_size = 4096;
    completed.num_hidden_layers = 8, completed.num_attention_heads = 16;
    assert_int_equal(model_check(&completed, NULL), KERF_OK);
    kerf_model_complete(&completed);
    assert_memory_equal(&completed, &model, sizeof model);
    kerf_model_complete(&completed);
    assert_memory_equal(&completed, &model, sizeof model);
    assert_int_equal(model_check(&completed, NULL), KERF_OK);
}

/* ---- What cannot be priced ---------------------------------------------------------------------------- */

/* Keys that speak of another model than the rest are mistakes, not details. */
static void refuses_what_contradicts_itself(void **state) {
    (void)state;
    expect_refused("{\"architectures\":[\"LlamaForCausalLM\",\"MixtralForCausalLM\"]}", KERF_EINVALID,
                   "m.json:1:18: \"architectures\" names different families, 'LlamaForCausalLM' and "
                   "'MixtralForCausalLM': keep one of them");
    expect_refused("{\"architectures\":\"LlamaForCausalLM\"}", KERF_EINVALID,
                   "m.json:1:18: \"architectures\" must be a list of names, such as [\"LlamaForCausalLM\"]");
    expect_refused("{\"model_type\":\"llama\",\"architectures\":[5]}", KERF_EINVALID,
                   "m.json:1:39: \"architectures\" must be a list of names, and number 1 of it is none");
    expect_refused(
        "{\"hidden_act\":\"sine\"," WIDTHS "," LAYERS "," HEADS "}", KERF_EUNKNOWN,
        "m.json:1:15: does \"sine\" have a gate? silu, swish, swiglu, geglu and reglu have one, gelu, relu and "
        "relu2 none");
    expect_refused("{\"model_type\":\"mixtral\",\"architectures\":[\"LlamaForCausalLM\"]," WIDTHS "," LAYERS "," HEADS
                   "}",
                   KERF_EINVALID,
                   "m.json:1:15: \"model_type\" 'mixtral' and \"architectures\" 'LlamaForCausalLM' are of different "
                   "families: leave one out");
    expect_refused("{\"text_config\":{}}", KERF_EINVALID,
                   "m.json:1:16: \"text_config\" is empty: it describes the decoder, or is left out");
#define NUMBER_MISSING                                                                                                 \
    "is a mixture of experts, but their number is missing (num_experts, num_local_experts or n_routed_experts; 0: "    \
    "none)"
    expect_refused("{\"model_type\":\"mixtral\"," WIDTHS "," LAYERS "," HEADS "}", KERF_EINVALID,
                   "m.json:1:1: mixtral " NUMBER_MISSING);
    expect_refused("{\"model_type\":\"mixtral\"," WIDTHS "," LAYERS "," HEADS ",\n\"num_experts_per_tok\":2}",
                   KERF_EINVALID, "m.json:2:23: a model with \"num_experts_per_tok\" " NUMBER_MISSING);
    expect_refused("{\"model_type\":\"dbrx\"," WIDTHS "," LAYERS "," HEADS "}", KERF_EINVALID,
                   "m.json:1:1: \"ffn_config\" is missing: how many experts has a layer?");
    struct kerf_model dense =
        model_of("{\"model_type\":\"deepseek_v3\",\"n_routed_experts\":null," WIDTHS "," LAYERS "," HEADS "}");
    assert_int_equal(dense.kinds[0].mlp.experts, 0);
}

static void says_which_heads_it_assumes(void **state) {
    (void)state;
    struct kerf_text text = {0};
    struct kerf_model latent = model_of("{\"model_type\":\"deepseek_v3\",\"n_routed_experts\":0,\"q_lora_rank\":null,"
                                        "\"kv_lora_rank\":256,\"vocab_size\":100," WIDTHS "," LAYERS "," HEADS "}");
    struct kerf_model grouped = model_of(
        "{\"model_type\":\"mixtral\",\"num_local_experts\":0,\"vocab_size\":100," WIDTHS "," LAYERS "," HEADS "}");
    assert_int_equal(latent.assumed, KERF_ASSUMED_HEADS);
    kerf_model_notes(&latent, &text);
    kerf_model_notes(&grouped, &text);
    assert_string_equal(
        text.data,
        "m: assumed: queries of full rank, keys and values of rank 256, heads of 128 + 64 and 128 (deepseek_v3's "
        "default)\nm: assumed: 8 key-value heads of 64 (mixtral's default)\n");
    kerf_text_clear(&text);
    latent =
        model_of("{\"model_type\":\"deepseek_v3\",\"n_routed_experts\":0,\"kv_lora_rank\":512,\"qk_nope_head_dim\":128,"
                 "\"qk_rope_head_dim\":64,\"v_head_dim\":128,\"vocab_size\":100," WIDTHS "," LAYERS "," HEADS "}");
    kerf_model_notes(&latent, &text);
    assert_string_equal(text.data, "m: assumed: queries of rank 1536, keys and values of rank 512, heads of 128 + 64 "
                                   "and 128 (deepseek_v3's default)\n");
    kerf_text_free(&text);
}

/* Their configuration classes in transformers say so; null says that there are none. */
static void says_which_experts_and_dense_layers_it_assumes(void **state) {
    (void)state;
#define MIXTURE(type)                                                                                                  \
    "{\"model_type\":\"" type "\",\"vocab_size\":100,\"num_experts\":4,\"num_experts_per_tok\":2,"                     \
    "\"moe_intermediate_size\":8,\"num_hidden_layers\":6,\"num_key_value_heads\":4," SHAPE_WITHOUT_VOCABULARY
#define SHAPE_WITHOUT_VOCABULARY "\"hidden_size\":64,\"intermediate_size\":96,\"num_attention_heads\":4"
#define RANKS                    ",\"q_lora_rank\":null,\"kv_lora_rank\":8,\"qk_nope_head_dim\":8,\"qk_rope_head_dim\":8,\"v_head_dim\":8"
    static const struct {
        const char *json, *runs, *note;
        int64_t shared_width;
    } cases[] = {
        {MIXTURE("deepseek_v3") RANKS "}", "3x0 3x1",
         "m: assumed: shared experts of 8 features (deepseek_v3's default); 3 dense layers before the first mixture "
         "(deepseek_v3's default)\n",
         8},
        {MIXTURE("deepseek_v3") RANKS ",\"n_shared_experts\":2}", "3x0 3x1",
         "m: assumed: 3 dense layers before the first mixture (deepseek_v3's default)\n", 16},
        {MIXTURE("deepseek_v3") RANKS ",\"first_k_dense_replace\":9}", "6x0", "", 0}, /* no mixture at all */
        {MIXTURE("deepseek_v3") RANKS ",\"n_shared_experts\":null,\"first_k_dense_replace\":0}", "6x0", "", 0},
        {MIXTURE("deepseek_v3") RANKS ",\"n_shared_experts\":1,\"moe_layer_freq\":[0,1,1,1,1,1]}", "1x0 5x1", "", 8},
        {MIXTURE("deepseek_v2") RANKS "}", "6x0",
         "m: assumed: shared experts of 16 features (deepseek_v2's default); 0 dense layers before the first mixture "
         "(deepseek_v2's default)\n",
         16},
        {MIXTURE("glm4_moe_lite") RANKS ",\"n_shared_experts\":1}", "1x0 5x1",
         "m: assumed: 1 dense layer before the first mixture (glm4_moe_lite's default)\n", 8},
        {MIXTURE("glm4_moe_lite") RANKS ",\"n_shared_experts\":1,\"mlp_layer_types\":[\"dense\",\"dense\",\"sparse\","
                                        "\"sparse\",\"sparse\",\"sparse\"]}",
         "2x0 4x1", "", 8},
        {MIXTURE("glm4_moe") ",\"first_k_dense_replace\":2}", "2x0 4x1",
         "m: assumed: shared experts of 8 features (glm4_moe's default)\n", 8},
        {MIXTURE("deepseek") ",\"first_k_dense_replace\":1}", "1x0 5x1",
         "m: assumed: no shared experts (deepseek's default)\n", 0},
        {MIXTURE("ernie4_5_moe") "}", "1x0 5x1",
         "m: assumed: shared experts of 16 features (ernie4_5_moe's default); 1 dense layer before the first mixture "
         "(ernie4_5_moe's default)\n",
         16},
        {MIXTURE("qwen2_moe") "}", "6x0", "m: assumed: shared experts of 5632 features (qwen2_moe's default)\n", 5632},
        {MIXTURE("qwen2_moe") ",\"shared_expert_intermediate_size\":0}", "6x0", "", 0},
        {MIXTURE("qwen3_moe") "}", "6x0", "", 0}, /* the class has none */
    };
    struct kerf_text text = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_model model = model_of(cases[i].json);
        kerf_text_clear(&text);
        kerf_model_notes(&model, &text);
        assert_string_equal(text.data ? text.data : "", cases[i].note);
        assert_string_equal(runs_of(&model), cases[i].runs);
        assert_int_equal(model.kinds[model.runs[model.num_runs - 1].kind].mlp.shared_width, cases[i].shared_width);
    }
    expect_refused(MIXTURE("qwen3_moe") ",\"mlp_layer_types\":[\"sparse\"]}", KERF_EINVALID,
                   "m.json:1:238: \"mlp_layer_types\" has 1 entries for 6 layers");
    expect_refused(MIXTURE("qwen3_moe") ",\"mlp_layer_types\":[1,1,1,1,1,1]}", KERF_EUNKNOWN,
                   "m.json:1:238: \"mlp_layer_types\" knows dense and sparse, not \"?\"");
    struct kerf_model model = model_of(cases[0].json);
    struct kerf_json json;
    kerf_text_clear(&text);
    kerf_json_begin(&json, &text);
    kerf_json_open(&json, NULL, '{');
    kerf_model_notes_json(&json, &model);
    kerf_json_close(&json, '}');
    assert_string_equal(text.data, "{\"ignored\":[],\"assumed\":{\"shared_expert_intermediate_size\":8,"
                                   "\"first_k_dense_replace\":3}}");
    kerf_text_free(&text);
}

/* MiniCPM3-4B's file has no v_head_dim, as values have hidden_size / heads features, and no tie_word_embeddings. */
static void each_latent_family_has_its_own_defaults(void **state) {
    (void)state;
    struct kerf_model model = model_of(
        "{\"model_type\":\"minicpm3\",\"hidden_size\":2560,\"intermediate_size\":6400,\"num_hidden_layers\":62,"
        "\"num_attention_heads\":40,\"num_key_value_heads\":40,\"q_lora_rank\":768,\"kv_lora_rank\":256,"
        "\"qk_nope_head_dim\":64,\"qk_rope_head_dim\":32,\"vocab_size\":73448}");
    struct kerf_model_counts counts;
    kerf_model_count(&model, &counts);
    assert_int_equal(model.kinds[0].attention.v_size, 64);
    assert_int_equal(model.is_tied, 1);
    assert_int_equal(counts.parameters, 4073875968);
    model = model_of("{\"model_type\":\"glm4_moe_lite\",\"n_routed_experts\":0," WIDTHS "," LAYERS "," HEADS "}");
    assert_int_equal(model.kinds[0].attention.q_rank, 768);
    assert_int_equal(model.kinds[0].attention.qk_size, 256);
    assert_int_equal(model.kinds[0].attention.v_size, 256);
}

static void refuses_what_it_cannot_price(void **state) {
    (void)state;
    static const struct {
        const char *json, *line;
    } cases[] = {
        {"{\"model_type\": \"mamba2\"}",
         "m.json:1:16: 'mamba2' has state-space (Mamba) layers, which kerf cannot price"},
        {"{\"architectures\": [\"T5ForConditionalGeneration\"]}",
         "m.json:1:19: 'T5ForConditionalGeneration' has an encoder beside the decoder, which kerf cannot price"},
        {"{\"model_type\": \"qwen3_next\"}",
         "m.json:1:16: 'qwen3_next' has linear attention (gated delta nets), which kerf cannot price"},
        {"{\"model_type\": \"lama\"}", "m.json:1:16: unknown architecture 'lama'; did you mean llama? docs/models.md "
                                       "lists those that kerf can price"},
        {"{\"model_type\": \"zorblax\", \"architectures\": [\"ZorblaxForCausalLM\"]}",
         "m.json:1:16: unknown architecture 'zorblax' (ZorblaxForCausalLM); docs/models.md lists those that kerf can "
         "price"},
        {LLAMA ",\"layer_types\":[\"full_attention\",\"linear_attention\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]}",
         "m.json:1:151: layers of the type \"linear_attention\" cannot be priced; kerf knows full_attention, "
         "sliding_attention and chunked_attention"},
        {LLAMA ",\"is_encoder_decoder\":true}", "m.json:1:158: an encoder beside the decoder cannot be priced"},
        {LLAMA ",\"add_cross_attention\":true}", "m.json:1:159: cross-attention cannot be priced"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(cases[i].json, KERF_EUNKNOWN, cases[i].line);
}

static void refuses_hostile_configs(void **state) {
    (void)state;
#define MIXTRAL "{\"model_type\":\"mixtral\"," WIDTHS "," LAYERS "," HEADS ",\"num_experts_per_tok\":2,"
    static const struct {
        const char *json, *message;
    } cases[] = {
        {MIXTRAL "\"num_local_experts\":1e30}", "\"num_local_experts\" must lie between 0 and 1048576, not 1e+30"},
        {MIXTRAL "\"num_local_experts\":-8}", "\"num_local_experts\" must lie between 0 and 1048576, not -8"},
        {MIXTRAL "\"num_local_experts\":1}", "a token cannot visit 2 of 1 experts"},
        {"{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"layer_types\":[\"sliding_attention\"]," SHAPE "}",
         "\"layer_types\" has sliding_attention, and the file does not say how many tokens its layers see"},
        {MIXTRAL "\"num_local_experts\":8,\"sliding_window\":-1}",
         "\"sliding_window\" must lie between 1 and 1073741824, not -1"},
        {LLAMA ",\"num_key_value_heads\":0}", "\"num_key_value_heads\" must lie between 1 and 1048576, not 0"},
        {LLAMA ",\"num_key_value_heads\":3}", "3 key-value heads do not divide 16 heads"},
        {LLAMA ",\"num_key_value_heads\":32}", "32 key-value heads do not divide 16 heads"},
        {LLAMA ",\"head_dim\":1e9}", "\"head_dim\" must lie between 1 and 67108864, not 1000000000"},
        {LLAMA ",\"attention_bias\":\"yes\"}", "\"attention_bias\" must be true or false, not text"},
        {LLAMA ",\"layer_types\":[]}", "\"layer_types\" has 0 entries for 8 layers"},
        {LLAMA ",\"layer_types\":7}", "\"layer_types\" must be an array [...]"},
        {"{\"model_type\":\"qwen3_moe\",\"num_hidden_layers\":4,\"mlp_only_layers\":[\"3\"]," MOE "," SHAPE "}",
         "\"mlp_only_layers\" must be an array of whole numbers"},
        {"{\"model_type\":\"deepseek\",\"num_hidden_layers\":3,\"moe_layer_freq\":[0,1]," MOE "," SHAPE "}",
         "\"moe_layer_freq\" has 2 entries for 3 layers"},
        {LLAMA4 "\"no_rope_layers\":[1,1,1,true,0]," SHAPE "}", "\"no_rope_layers\" must be an array of whole numbers"},
        {LLAMA4 "\"no_rope_layers\":[1,1]," SHAPE "}", "\"no_rope_layers\" has 2 entries for 5 layers"},
        {LLAMA4 "\"no_rope_layers\":1," SHAPE "}", "\"no_rope_layers\" must be an array [...]"},
        {"{\"model_type\":\"mixtral\",\"hidden_size\":16777216,\"intermediate_size\":67108864,"
         "\"num_hidden_layers\":1048576," HEADS ",\"num_local_experts\":1048576,\"num_experts_per_tok\":1}",
         "the model has more than 2^62 parameters"},
        {"{\"model_type\":\"gemma2\",\"num_hidden_layers\":1000," WIDTHS "," HEADS "}",
         "the layers change kind more than 127 times"},
        {"{\"text_config\":7}", "\"text_config\" must be an object {...}, not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_model model;
        struct kerf_error err = {.message = ""};
        assert_int_equal(parse(cases[i].json, &model, &err), KERF_EINVALID);
        assert_string_equal(err.message, cases[i].message);
    }
    enum { DEPTH = 1000 };
    struct kerf_text deep = {0};
    struct kerf_model model;
    struct kerf_error err;
    kerf_text_repeat(&deep, "{\"text_config\":", DEPTH);
    kerf_text_add(&deep, "{}");
    kerf_text_repeat(&deep, "}", DEPTH);
    assert_int_equal(parse(deep.data, &model, &err), KERF_EINVALID);
    assert_string_equal(err.message, "\"text_config\" nests more than 4 deep");
    kerf_text_free(&deep);
}

/* ---- Setting fields ----------------------------------------------------------------------------------- */

static struct kerf_model set(const char *name, const char *assignments, int32_t code) {
    struct kerf_model model;
    struct kerf_system system_;
    assert_int_equal(kerf_model_load(name, &model, NULL), KERF_OK);
    assert_int_equal(kerf_system_load("a100", &system_, NULL), KERF_OK);
    assert_int_equal(kerf_problem_set(&model, &system_, assignments, NULL), code);
    return model;
}

static void layers_follow_the_fields_that_are_set(void **state) {
    (void)state;
    struct kerf_model model = set("llama3_70b", "num_hidden_layers=4,hidden_size=4096,num_attention_heads=32", KERF_OK);
    assert_string_equal(runs_of(&model), "4x0");
    assert_int_equal(model.kinds[0].attention.heads, 32);
    assert_int_equal(model.kinds[0].attention.kv_heads, 8);
    assert_int_equal(model.kinds[0].attention.qk_size, 128);
    model = set("gpt3", "num_attention_heads=64,intermediate_size=1000,vocab_size=50257", KERF_OK);
    assert_int_equal(model.kinds[0].attention.kv_heads, 64);
    assert_int_equal(model.kinds[0].attention.qk_size, 192);
    assert_int_equal(model.kinds[0].mlp.width, 1000);
    assert_int_equal(model.vocab_size, 50257);
    model = set("deepseek_v3", "num_hidden_layers=5", KERF_OK);
    assert_string_equal(runs_of(&model), "3x0 2x1");
    model = set("deepseek_v3", "num_hidden_layers=2", KERF_OK);
    assert_string_equal(runs_of(&model), "2x0");
    model = set("deepseek_v3", "num_hidden_layers=63", KERF_OK);
    assert_string_equal(runs_of(&model), "3x0 60x1");
    model = set("gemma2_27b", "num_hidden_layers=3", KERF_OK);
    assert_string_equal(runs_of(&model), "1x0 1x1 1x0");
    set("gemma2_27b", "num_hidden_layers=47", KERF_EINVALID); /* which of the two would the last one be? */
    set("gpt3", "num_attention_heads=7", KERF_EINVALID);
    set("llama3_70b", "num_attention_heads=4", KERF_EINVALID); /* 8 key-value heads */
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
    assert_string_equal(line_of(&err), "no model or file 'gtp3'; did you mean gpt3? `kerf models` lists the names");
    assert_int_equal(kerf_model_load("quite-another", &model, &err), KERF_EUNKNOWN);
    assert_string_equal(line_of(&err), "no model or file 'quite-another'; `kerf models` lists the names");
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
        cmocka_unit_test(refuses_what_contradicts_itself),
        cmocka_unit_test(says_which_heads_it_assumes),
        cmocka_unit_test(says_which_experts_and_dense_layers_it_assumes),
        cmocka_unit_test(each_latent_family_has_its_own_defaults),
        cmocka_unit_test(refuses_what_is_no_json),
        cmocka_unit_test(is_named_by_the_file_or_its_path),
        cmocka_unit_test(names_are_cut_between_letters_and_made_printable),
        cmocka_unit_test(finds_the_runs_of_equal_layers),
        cmocka_unit_test(tells_kinds_of_attention),
        cmocka_unit_test(reads_the_text_of_multimodal_files),
        cmocka_unit_test(names_the_keys_that_it_ignores),
        cmocka_unit_test(counts_the_ignored_keys_that_it_cannot_name),
        cmocka_unit_test(says_what_it_assumes),
        cmocka_unit_test(refuses_what_it_cannot_price),
        cmocka_unit_test(refuses_hostile_configs),
        cmocka_unit_test(layers_follow_the_fields_that_are_set),
        cmocka_unit_test(loads_names_and_files),
        cmocka_unit_test(standard_input_is_called_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
