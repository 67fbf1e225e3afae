/* SPDX-License-Identifier: Apache-2.0 */
#include "spec/model_shape.h"

#include <stddef.h>
#include <string.h>

/* X(key, member, least, most) */
#define MODEL_MEMBERS(X)                                                                                               \
    X("hidden_size", hidden_size, 1, 1 << 24)                                                                          \
    X("intermediate_size", intermediate_size, 1, 1 << 26)                                                              \
    X("num_hidden_layers", num_hidden_layers, 1, 1 << 20)                                                              \
    X("num_attention_heads", num_attention_heads, 1, 1 << 20)                                                          \
    X("max_position_embeddings", max_position_embeddings, 0, KERF_COUNT_MAX)                                           \
    X("vocab_size", vocab_size, 0, KERF_COUNT_MAX)                                                                     \
    X("embedding_size", embedding_size, 0, 1 << 24)                                                                    \
    X("position_rows", position_rows, 0, KERF_COUNT_MAX)                                                               \
    X("mtp_layers", mtp_layers, 0, 1 << 20)                                                                            \
    X("norm", norm, 0, KERF_NORM_COUNT - 1)                                                                            \
    X("is_tied", is_tied, 0, 1)                                                                                        \
    X("head_bias", head_bias, 0, 1)                                                                                    \
    X("embedding_norm", embedding_norm, 0, 1)                                                                          \
    X("final_norm", final_norm, 0, 1)                                                                                  \
    X("is_causal", is_causal, 0, 1)

#define KIND_MEMBERS(X)                                                                                                \
    X("heads", attention.heads, 1, 1 << 20)                                                                            \
    X("kv_heads", attention.kv_heads, 1, 1 << 20)                                                                      \
    X("qk_size", attention.qk_size, 1, 1 << 20)                                                                        \
    X("v_size", attention.v_size, 1, 1 << 20)                                                                          \
    X("q_rank", attention.q_rank, 0, 1 << 24)                                                                          \
    X("kv_rank", attention.kv_rank, 0, 1 << 24)                                                                        \
    X("rope_size", attention.rope_size, 0, 1 << 20)                                                                    \
    X("window", attention.window, 0, KERF_COUNT_MAX)                                                                   \
    X("is_chunked", attention.is_chunked, 0, 1)                                                                        \
    X("qkv_bias", attention.qkv_bias, 0, 1)                                                                            \
    X("output_bias", attention.output_bias, 0, 1)                                                                      \
    X("qk_norm", attention.qk_norm, 0, KERF_QK_NORM_COUNT - 1)                                                         \
    X("qk_norm_bias", attention.qk_norm_bias, 0, 1)                                                                    \
    X("sinks", attention.sinks, 0, 1)                                                                                  \
    X("width", mlp.width, 0, 1 << 26)                                                                                  \
    X("experts", mlp.experts, 0, 1 << 20)                                                                              \
    X("top_k", mlp.top_k, 0, 1 << 20)                                                                                  \
    X("expert_width", mlp.expert_width, 0, 1 << 26)                                                                    \
    X("shared_width", mlp.shared_width, 0, 1 << 26)                                                                    \
    X("is_gated", mlp.is_gated, 0, 1)                                                                                  \
    X("bias", mlp.bias, 0, 1)                                                                                          \
    X("expert_bias", mlp.expert_bias, 0, 1)                                                                            \
    X("router_bias", mlp.router_bias, 0, 2)                                                                            \
    X("shared_gate", mlp.shared_gate, 0, 1)                                                                            \
    X("norms", norms, 0, 16)                                                                                           \
    X("is_parallel", is_parallel, 0, 1)

void kerf_model_shape_json(struct kerf_json *json, const char *key, const struct kerf_model *model) {
    kerf_json_open(json, key, '{');
#define MEMBER(name, member, least, most) kerf_json_integer(json, name, model->member);
    MODEL_MEMBERS(MEMBER)
#undef MEMBER
    kerf_json_open(json, "kinds", '[');
    for (int32_t k = 0; k < model->num_kinds; k++) {
        kerf_json_open(json, NULL, '{');
#define MEMBER(name, member, least, most)                                                                              \
    if (model->kinds[k].member) kerf_json_integer(json, name, model->kinds[k].member);
        KIND_MEMBERS(MEMBER)
#undef MEMBER
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    kerf_json_open(json, "runs", '[');
    for (int32_t i = 0; i < model->num_runs; i++) {
        kerf_json_open(json, NULL, '{');
        kerf_json_integer(json, "count", model->runs[i].count);
        kerf_json_integer(json, "kind", model->runs[i].kind);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    kerf_json_close(json, '}');
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

static int32_t read_kind(const struct json_object *object, struct kerf_layer_kind *ret, struct kerf_error *err) {
    struct kerf_layer_kind kind = {.norms = 0};
    int32_t code = KERF_OK;
    int64_t value;
#define MEMBER(name, member, least, most)                                                                              \
    value = 0;                                                                                                         \
    if (code == KERF_OK)                                                                                               \
        code = json_get_integer(object, name, (least) > 0 ? JSON_REQUIRED : JSON_OPTIONAL, least, most, &value, err);  \
    kind.member = (__typeof__(kind.member))value;
    KIND_MEMBERS(MEMBER)
#undef MEMBER
    if (code != KERF_OK) return code;
    if (kind.attention.heads % kind.attention.kv_heads)
        return json_fail(object, "kv_heads", KERF_EINVALID, err, "\"kv_heads\" must divide \"heads\"");
    if (kind.mlp.experts == 0 ? kind.mlp.width == 0 : kind.mlp.expert_width == 0 || kind.mlp.top_k == 0)
        return json_fail(object, "width", KERF_EINVALID, err, "a layer needs a width, or experts with theirs");
    if (kind.mlp.top_k > kind.mlp.experts)
        return json_fail(object, "top_k", KERF_EINVALID, err, "\"top_k\" is at most \"experts\"");
    if (kind.attention.rope_size >= kind.attention.qk_size)
        return json_fail(object, "rope_size", KERF_EINVALID, err, "\"rope_size\" is a part of \"qk_size\"");
    *ret = kind;
    return KERF_OK;
}

static size_t count_of(const struct json_object *object, const char *key) {
    return json_array_size(json_object_get(object->json, key));
}

static int32_t read_runs(const struct json_object *shape, struct kerf_model *model, struct kerf_error *err) {
    int64_t sum = 0;
    int32_t code = KERF_OK;
    for (int32_t i = 0; code == KERF_OK && i < model->num_runs; i++) {
        struct json_object run;
        int64_t count = 0, kind = 0;
        code = json_get_element(shape, "runs", (size_t)i, &run, err);
        if (code == KERF_OK) code = json_get_integer(&run, "count", JSON_REQUIRED, 1, 1 << 20, &count, err);
        if (code == KERF_OK) code = json_get_integer(&run, "kind", JSON_REQUIRED, 0, model->num_kinds - 1, &kind, err);
        model->runs[i] = (struct kerf_layer_run){(int32_t)count, (int32_t)kind};
        sum += count;
        if (code == KERF_OK && i > 0 && model->runs[i - 1].kind == kind)
            return json_fail(&run, "kind", KERF_EINVALID, err, "runs that follow each other are of different kinds");
    }
    if (code == KERF_OK && sum != model->num_hidden_layers)
        return json_fail(shape, "runs", KERF_EINVALID, err, "the runs have %lld layers, and the model %lld",
                         (long long)sum, (long long)model->num_hidden_layers);
    return code;
}

int32_t model_shape_read(const struct json_object *shape, struct kerf_model *ret_model, struct kerf_error *err) {
    struct kerf_model model = {.name = ""};
    int32_t code = KERF_OK;
    int64_t value;
#define MEMBER(name, member, least, most)                                                                              \
    value = 0;                                                                                                         \
    if (code == KERF_OK) code = json_get_integer(shape, name, JSON_REQUIRED, least, most, &value, err);                \
    model.member = (__typeof__(model.member))value;
    MODEL_MEMBERS(MEMBER)
#undef MEMBER
    size_t kinds = count_of(shape, "kinds"), runs = count_of(shape, "runs");
    if (code == KERF_OK && (kinds < 1 || kinds > KERF_KINDS_MAX))
        code = json_fail(shape, "kinds", KERF_EINVALID, err, "\"kinds\" must be an array of 1 to %d kinds of layers",
                         KERF_KINDS_MAX);
    if (code == KERF_OK && (runs < 1 || runs > KERF_RUNS_MAX))
        code = json_fail(shape, "runs", KERF_EINVALID, err, "\"runs\" must be an array of 1 to %d runs", KERF_RUNS_MAX);
    if (code != KERF_OK) return code;
    model.num_kinds = (int32_t)kinds;
    model.num_runs = (int32_t)runs;
    for (int32_t k = 0; code == KERF_OK && k < model.num_kinds; k++) {
        struct json_object kind;
        code = json_get_element(shape, "kinds", (size_t)k, &kind, err);
        if (code == KERF_OK) code = read_kind(&kind, &model.kinds[k], err);
    }
    if (code == KERF_OK) code = read_runs(shape, &model, err);
    if (code == KERF_OK) *ret_model = model;
    return code;
}
