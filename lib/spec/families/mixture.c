/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mixtures of experts with the attention of Llama. Each row follows the family's modelling file in transformers (or its
 * authors').
 */
#include "spec/families/family.h"

/* DBRX describes attention and experts in objects of their own. */
static void dbrx_parts(struct reading *reading) {
    struct config *config = reading->config, inner;
    struct kerf_layer_kind *layer = &reading->layer;
    struct json_object object;
    if (config_inner(config, "attn_config", &object, &inner)) {
        config_has(&inner, "model_type");
        layer->attention.kv_heads = config_integer(&inner, "kv_n_heads", 1, HEADS_MAX, 1);
        if (inner.code == KERF_OK) config_note_ignored(&inner, reading->model);
        config_join(config, &inner);
    }
    if (config_inner(config, "ffn_config", &object, &inner)) {
        config_has(&inner, "model_type");
        layer->mlp.experts = config_integer(&inner, "moe_num_experts", 1, EXPERTS_MAX, 4);
        layer->mlp.top_k = config_integer(&inner, "moe_top_k", 1, layer->mlp.experts, 1);
        layer->mlp.expert_width = config_integer(&inner, "ffn_hidden_size", 1, WIDTH_MAX, 3584);
        if (inner.code == KERF_OK) config_note_ignored(&inner, reading->model);
        config_join(config, &inner);
    } else {
        config_fail(config, NULL, KERF_EINVALID, "\"ffn_config\" is missing: how many experts has a layer?");
    }
    reading->model->intermediate_size = layer->mlp.expert_width;
}

/* gpt-oss: each head has a learned sink beside the tokens. */
static void gpt_oss_sinks(struct reading *reading) { reading->layer.attention.sinks = 1; }

/*
 * Llama 4: the last of every interleave_moe_layer_step layers is a mixture with a shared expert; dense layers have a width
 * of their own. Rotary layers, those that no_rope_layers has a 1 for or else all but every fourth, see blocks of
 * attention_chunk_size tokens. The query and key norms learn nothing.
 */
static void llama4_layers(struct reading *reading) {
    struct config *config = reading->config;
    struct kerf_layer_kind *layer = &reading->layer;
    int says_null = json_is_null(json_object_get(config->object->json, "attention_chunk_size"));
    config_has(config, "use_qk_norm");
    layer->mlp.width = config_integer(config, "intermediate_size_mlp", 1, WIDTH_MAX, 16384);
    layer->mlp.shared_width = layer->mlp.expert_width;
    reading->windows = WINDOW_PATTERN;
    reading->window = config_integer(config, "attention_chunk_size", 1, KERF_COUNT_MAX, says_null ? 0 : 8192);
    reading->period = config_integer(config, "no_rope_layer_interval", 1, LAYERS_MAX, 4);
    layer->attention.is_chunked = 1;
    if (json_array_size(config_array(config, "no_rope_layers")) > 0) /* [] is as if it were missing */
        reading->windowed = config_integers(config, "no_rope_layers", reading->model->num_hidden_layers);
}

/* MiniMax M2: each of num_mtp_modules predicts with mtp_transformer_layers layers. All its layers have full attention,
 * which attn_type_list calls 1. */
static void minimax_layers(struct reading *reading) {
    struct config *config = reading->config;
    const json_t *types = config_integers(config, "attn_type_list", 0), *type;
    size_t i;
    json_array_foreach(types, i, type) {
        if (json_number_value(type) != 1)
            config_fail(config, "attn_type_list", KERF_EUNKNOWN,
                        "linear attention (lightning attention) cannot be priced");
    }
    int64_t modules = config_integer(config, "num_mtp_modules", 0, 64, 0);
    int64_t layers = config_integer(config, "mtp_transformer_layers", 1, 64, 1);
    reading->model->mtp_layers = config_boolean(config, "use_mtp", 0) ? modules * layers : 0;
    reading->layer.mlp.shared_width = config_integer(config, "shared_intermediate_size", 0, WIDTH_MAX, 0);
}

/* Qwen3-Coder's files have more keys than their class: a bias that is off, and no shared expert. */
static void qwen3_extras(struct reading *reading) {
    reading->layer.attention.qkv_bias |= config_boolean(reading->config, "qkv_bias", 0);
}

/* ERNIE 4.5: mixtures stand between two layers, each moe_layer_interval. */
static void ernie_layers(struct reading *reading) {
    struct config *config = reading->config;
    int64_t last = config_integer(config, "moe_layer_end_index", -1, LAYERS_MAX, -1);
    if (last >= 0 && last < reading->model->num_hidden_layers - 1)
        config_fail(config, "moe_layer_end_index", KERF_EUNKNOWN, "dense layers after the mixtures cannot be read yet");
}

const struct family mixture_families[] = {
    {.types = {"mixtral"},
     .architectures = {"MixtralForCausalLM"},
     .kv_heads = 8,
     .windows = WINDOW_ALL,
     .experts = {.are = EXPERTS_REQUIRED}},
    {.types = {"phimoe"},
     .architectures = {"PhimoeForCausalLM", "PhiMoEForCausalLM"},
     .norm = KERF_NORM_LAYER,
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .head_bias = SAID_BY("lm_head_bias", 0),
     .kv_heads = 8,
     .windows = WINDOW_ALL,
     .experts = {.are = EXPERTS_REQUIRED}},
    {.types = {"qwen2_moe"},
     .architectures = {"Qwen2MoeForCausalLM"},
     .qkv_bias = SAID_BY("qkv_bias", 1),
     .windows = WINDOW_UPPER,
     .window = 4096,
     .window_from = 28,
     .experts = {.are = EXPERTS_REQUIRED,
                 .width = "moe_intermediate_size",
                 .shared_width = "shared_expert_intermediate_size",
                 .shared = 5632,
                 .shared_gate = 1,
                 .every = "decoder_sparse_step",
                 .is_last = 1}},
    {.types = {"qwen3_moe", "qwen3_vl_moe", "qwen3_vl_moe_text"},
     .architectures = {"Qwen3MoeForCausalLM", "Qwen3VLMoeForConditionalGeneration"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .qk_norm = SAID_BY("use_qk_norm", 1),
     .qk_norm_kind = KERF_QK_NORM_HEAD,
     .kv_heads = 4,
     .windows = WINDOW_UPPER,
     .window = 4096,
     .experts = {.are = EXPERTS_REQUIRED,
                 .width = "moe_intermediate_size",
                 .shared_width = "shared_expert_intermediate_size",
                 .every = "decoder_sparse_step",
                 .is_last = 1},
     .adjust = qwen3_extras},
    {.types = {"olmoe"},
     .architectures = {"OlmoeForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .qk_norm = ALWAYS,
     .qk_norm_kind = KERF_QK_NORM_WHOLE,
     .experts = {.are = EXPERTS_REQUIRED}},
    {.types = {"dbrx"},
     .architectures = {"DbrxForCausalLM"},
     .norm = KERF_NORM_LAYER_PLAIN,
     .is_wide = 1,
     .adjust = dbrx_parts},
    {.types = {"grok-1", "grok_1", "grok"},
     .architectures = {"Grok1ModelForCausalLM", "Grok1ForCausalLM"},
     .norms = 4,
     .is_tied = 1,
     .experts = {.are = EXPERTS_REQUIRED}},
    {.types = {"gpt_oss"},
     .architectures = {"GptOssForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 1),
     .output_bias = SAID_BY("attention_bias", 1),
     .kv_heads = 8,
     .head_size = 64,
     .windows = WINDOW_PATTERN,
     .window = 128,
     .period = 2,
     .experts = {.are = EXPERTS_REQUIRED, .output_bias = 1, .bias = 1},
     .adjust = gpt_oss_sinks},
    {.types = {"llama4_text", "llama4"},
     .architectures = {"Llama4ForConditionalGeneration", "Llama4ForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .kv_heads = 8,
     .head_size = 128,
     .experts = {.are = EXPERTS_REQUIRED, .every = "interleave_moe_layer_step", .is_last = 1},
     .adjust = llama4_layers},
    {.types = {"minimax_m2"},
     .architectures = {"MiniMaxM2ForCausalLM"},
     .qk_norm = SAID_BY("use_qk_norm", 1),
     .qk_norm_kind = KERF_QK_NORM_WHOLE,
     .experts = {.are = EXPERTS_REQUIRED, .score_bias = SAID_BY("use_routing_bias", 1)},
     .adjust = minimax_layers},
    {.types = {"glm4_moe"},
     .architectures = {"Glm4MoeForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .qk_norm = SAID_BY("use_qk_norm", 0),
     .qk_norm_kind = KERF_QK_NORM_HEAD,
     .kv_heads = 8,
     .mtp_key = "num_nextn_predict_layers",
     .experts = {.are = EXPERTS_REQUIRED,
                 .width = "moe_intermediate_size",
                 .shared_count = "n_shared_experts",
                 .shared = 1,
                 .dense_first = "first_k_dense_replace",
                 .dense = 1,
                 .score_bias = ALWAYS}},
    {.types = {"deepseek"},
     .architectures = {"DeepseekForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .experts = {.are = EXPERTS_REQUIRED,
                 .width = "moe_intermediate_size",
                 .shared_count = "n_shared_experts",
                 .dense_first = "first_k_dense_replace",
                 .every = "moe_layer_freq"}},
    {.types = {"granitemoe", "granitemoeshared"},
     .architectures = {"GraniteMoeForCausalLM", "GraniteMoeSharedForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .experts = {.are = EXPERTS_REQUIRED, .shared_width = "shared_intermediate_size"}},
    {.types = {"ernie4_5_moe"},
     .architectures = {"Ernie4_5_MoeForCausalLM"},
     .qkv_bias = SAID_BY("use_bias", 0),
     .output_bias = SAID_BY("use_bias", 0),
     .mlp_bias = SAID_BY("use_bias", 0),
     .is_tied = 1,
     .experts = {.are = EXPERTS_REQUIRED,
                 .width = "moe_intermediate_size",
                 .shared_count = "moe_num_shared_experts",
                 .shared = 2,
                 .dense_first = "moe_layer_start_index",
                 .dense = 1,
                 .every = "moe_layer_interval",
                 .score_bias = ALWAYS},
     .adjust = ernie_layers},
    {.types = {NULL}},
};
