/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kerf's own family: what a file without model_type is read as, and a model of which a program gives five sizes alone. Its
 * layer is GPT-2's, the one that the cost model "reference" prices; a file may say otherwise.
 */
#include "spec/families/family.h"

#include <stdio.h>
#include <string.h>

/* A gate is a third matrix of the MLP: an activation that says neither way is no guess. */
static int has_gate(struct config *config) {
    static const char *const gated[] = {"silu", "swish", "swiglu", "geglu", "reglu"};
    static const char *const plain[] = {
        "gelu",          "gelu_new",         "gelu_fast",  "gelu_python", "gelu_10", "gelu_pytorch_tanh",
        "gelu_accurate", "gelu_python_tanh", "quick_gelu", "relu",        "relu2",   "squared_relu"};
    const char *activation = config_string(config, "hidden_act", plain[0]);
    for (size_t i = 0; i < sizeof gated / sizeof *gated; i++)
        if (strcmp(activation, gated[i]) == 0) return 1;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(activation, plain[i]) == 0) return 0;
    config_fail(config, "hidden_act", KERF_EUNKNOWN,
                "does \"%.40s\" have a gate? silu, swish, swiglu, geglu and reglu have one, gelu, relu and relu2 none",
                activation);
    return 0;
}

static void plain_layer(struct reading *reading) {
    struct config *config = reading->config;
    reading->layer.mlp.is_gated = has_gate(config);
    reading->model->norm = config_has(config, "rms_norm_eps") ? KERF_NORM_RMS : KERF_NORM_LAYER;
    reading->model->is_causal = config_boolean(config, "is_causal", 1);
    if (!config_has(config, "model_type")) reading->model->assumed |= KERF_ASSUMED_FAMILY;
}

const struct family plain_family = {
    .types = {"transformer"},
    .norm = KERF_NORM_LAYER,
    .is_plain = 1,
    .qkv_bias = SAID_BY("attention_bias", 1),
    .output_bias = SAID_BY("attention_bias", 1),
    .mlp_bias = SAID_BY("mlp_bias", 1),
    .is_tied = 1,
    .experts = {.are = EXPERTS_OPTIONAL},
    .adjust = plain_layer,
};

void kerf_model_complete(struct kerf_model *model) {
    if (model->num_runs > 0) return;
    int64_t heads = model->num_attention_heads, size = model->hidden_size / heads;
    snprintf(model->family, sizeof model->family, "%s", plain_family.types[0]);
    snprintf(model->architecture, sizeof model->architecture, "%s", plain_family.types[0]);
    model->embedding_size = model->hidden_size;
    model->norm = (int32_t)plain_family.norm;
    model->is_tied = model->final_norm = model->is_causal = 1;
    model->assumed |= KERF_ASSUMED_FAMILY | (model->vocab_size ? 0 : KERF_ASSUMED_VOCABULARY);
    model->num_kinds = model->num_runs = 1;
    model->runs[0] = (struct kerf_layer_run){.count = (int32_t)model->num_hidden_layers};
    model->kinds[0] = (struct kerf_layer_kind){
        .attention =
            {.heads = heads, .kv_heads = heads, .qk_size = size, .v_size = size, .qkv_bias = 1, .output_bias = 1},
        .mlp = {.width = model->intermediate_size, .bias = 1},
        .norms = 2,
    };
}
