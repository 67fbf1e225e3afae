/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Llama and the dense decoders built like it: normalisation before attention and MLP, rotary positions, a gated MLP.
 * Each row follows the family's modelling file in transformers (or, for those with "remote code", its authors').
 */
#include "spec/families/family.h"

/* StableLM has one normalisation where its branches are parallel. */
static void stablelm_parallel(struct reading *reading) {
    if (!config_boolean(reading->config, "use_parallel_residual", 0)) return;
    reading->layer.is_parallel = 1;
    reading->layer.norms = 1;
}

/* Phi-4-mini says that every layer attends to all tokens: to each first of one. */
static void phi3_attention(struct reading *reading) { config_integer(reading->config, "full_attn_mod", 1, 1, 1); }

/* Qwen's first generation: intermediate_size is the gate's and the up projection's together. */
static void qwen_halves(struct reading *reading) {
    int32_t has_bias = !config_boolean(reading->config, "no_bias", 1);
    reading->layer.mlp.width /= 2;
    reading->layer.mlp.bias = reading->layer.attention.output_bias = has_bias;
}

/* ChatGLM says the key-value heads in words of its own. */
static void chatglm_groups(struct reading *reading) {
    struct config *config = reading->config;
    int64_t groups = config_integer(config, "multi_query_group_num", 1, HEADS_MAX, 1);
    if (config_boolean(config, "multi_query_attention", 0)) reading->layer.attention.kv_heads = groups;
    reading->layer.mlp.bias |= config_boolean(config, "add_bias_linear", 0);
    reading->layer.attention.output_bias = reading->layer.mlp.bias;
    reading->layer.attention.qkv_bias |= reading->layer.mlp.bias;
    reading->model->norm = config_boolean(config, "rmsnorm", 1) ? KERF_NORM_RMS : KERF_NORM_LAYER;
    reading->model->final_norm = config_boolean(config, "post_layer_norm", 1);
}

const struct family llama_families[] = {
    {.types = {"llama", "Yi", "aquila"},
     .architectures = {"LlamaForCausalLM", "LLaMAForCausalLM", "YiForCausalLM", "AquilaForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .mlp_bias = SAID_BY("mlp_bias", 0),
     .text = {4096, 11008, 32, 32, 0, 32000}},

    {.types = {"mistral"},
     .architectures = {"MistralForCausalLM"},
     .windows = WINDOW_ALL,
     .window = 4096,
     .kv_heads = 8,
     .text = {4096, 14336, 32, 32, 8, 32000}},
    {.types = {"ministral"},
     .architectures = {"MinistralForCausalLM"},
     .windows = WINDOW_ALL,
     .window = 4096,
     .kv_heads = 8},
    {.types = {"ministral3"},
     .architectures = {"Ministral3ForCausalLM"},
     .windows = WINDOW_ALL,
     .kv_heads = 8,
     .head_size = 128},

    {.types = {"qwen2", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"},
     .architectures = {"Qwen2ForCausalLM", "Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration"},
     .qkv_bias = ALWAYS,
     .windows = WINDOW_UPPER,
     .window = 4096,
     .window_from = 28},
    {.types = {"qwen3", "qwen3_vl", "qwen3_vl_text"},
     .architectures = {"Qwen3ForCausalLM", "Qwen3VLForConditionalGeneration"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .qk_norm = ALWAYS,
     .qk_norm_kind = KERF_QK_NORM_HEAD,
     .head_size = 128,
     .windows = WINDOW_UPPER,
     .window = 4096,
     .window_from = 28},
    {.types = {"qwen"}, .architectures = {"QWenLMHeadModel"}, .qkv_bias = ALWAYS, .adjust = qwen_halves},
    {.types = {"mimo"},
     .architectures = {"MiMoForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 1),
     .windows = WINDOW_UPPER,
     .window = 4096,
     .window_from = 28,
     .mtp_key = "num_nextn_predict_layers"},

    {.types = {"baichuan"}, .architectures = {"BaichuanForCausalLM", "BaiChuanForCausalLM"}},
    {.types = {"orion"}, .architectures = {"OrionForCausalLM"}, .norm = KERF_NORM_LAYER},
    {.types = {"internlm"},
     .architectures = {"InternLMForCausalLM"},
     .qkv_bias = SAID_BY("bias", 1),
     .output_bias = SAID_BY("bias", 1)},
    {.types = {"internlm2"},
     .architectures = {"InternLM2ForCausalLM"},
     .qkv_bias = SAID_BY("bias", 0),
     .output_bias = SAID_BY("bias", 0)},
    {.types = {"internlm3"},
     .architectures = {"InternLM3ForCausalLM"},
     .qkv_bias = SAID_BY("qkv_bias", 0),
     .output_bias = SAID_BY("bias", 0),
     .mlp_bias = SAID_BY("bias", 0)},

    {.types = {"exaone"}, .architectures = {"ExaoneForCausalLM"}},
    {.types = {"exaone4"},
     .architectures = {"Exaone4ForCausalLM"},
     .qk_norm = ALWAYS,
     .qk_norm_kind = KERF_QK_NORM_HEAD,
     .windows = WINDOW_PATTERN,
     .window = 4096,
     .period = 4},

    {.types = {"olmo"},
     .architectures = {"OlmoForCausalLM"},
     .norm = KERF_NORM_FIXED,
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0)},
    {.types = {"olmo2"},
     .architectures = {"Olmo2ForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .qk_norm = ALWAYS,
     .qk_norm_kind = KERF_QK_NORM_WHOLE},
    {.types = {"olmo3"},
     .architectures = {"Olmo3ForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .qk_norm = ALWAYS,
     .qk_norm_kind = KERF_QK_NORM_WHOLE,
     .windows = WINDOW_PATTERN,
     .window = 4096,
     .period = 4},

    {.types = {"granite"},
     .architectures = {"GraniteForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .mlp_bias = SAID_BY("mlp_bias", 0)},
    {.types = {"minicpm"}, .architectures = {"MiniCPMForCausalLM"}, .is_tied = 1, .experts = {.are = EXPERTS_OPTIONAL}},
    {.types = {"smollm3"},
     .architectures = {"SmolLM3ForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .mlp_bias = SAID_BY("mlp_bias", 0),
     .kv_heads = 4,
     .is_tied = 1,
     .windows = WINDOW_UPPER},
    {.types = {"seed_oss"},
     .architectures = {"SeedOssForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 1),
     .output_bias = SAID_BY("attention_out_bias", 0),
     .mlp_bias = SAID_BY("mlp_bias", 0),
     .head_size = 128},
    {.types = {"ernie4_5"},
     .architectures = {"Ernie4_5ForCausalLM", "Ernie4_5_ForCausalLM"},
     .qkv_bias = SAID_BY("use_bias", 0),
     .output_bias = SAID_BY("use_bias", 0),
     .mlp_bias = SAID_BY("use_bias", 0),
     .head_size = 128,
     .is_tied = 1},

    {.types = {"phi3", "phi3_v"},
     .architectures = {"Phi3ForCausalLM", "Phi3VForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .mlp_bias = SAID_BY("mlp_bias", 0),
     .head_bias = SAID_BY("lm_head_bias", 0),
     .windows = WINDOW_ALL,
     .adjust = phi3_attention},

    {.types = {"glm"},
     .architectures = {"GlmForCausalLM"},
     .qkv_bias = SAID_BY("attention_bias", 0),
     .kv_heads = 2,
     .head_size = 128},
    {.types = {"glm4"},
     .architectures = {"Glm4ForCausalLM"},
     .norms = 4,
     .qkv_bias = SAID_BY("attention_bias", 0),
     .kv_heads = 2,
     .head_size = 128},
    {.types = {"chatglm"},
     .architectures = {"ChatGLMModel", "ChatGLMForConditionalGeneration"},
     .qkv_bias = SAID_BY("add_qkv_bias", 0),
     .adjust = chatglm_groups},

    {.types = {"cohere"},
     .architectures = {"CohereForCausalLM"},
     .norm = KERF_NORM_LAYER_PLAIN,
     .norms = 1,
     .is_parallel = 1,
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .qk_norm = SAID_BY("use_qk_norm", 0),
     .qk_norm_kind = KERF_QK_NORM_WHOLE,
     .is_tied = 1},
    {.types = {"cohere2"},
     .architectures = {"Cohere2ForCausalLM"},
     .norm = KERF_NORM_LAYER_PLAIN,
     .norms = 1,
     .is_parallel = 1,
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .is_tied = 1,
     .windows = WINDOW_PATTERN,
     .window = 4096,
     .period = 4},

    {.types = {"stablelm", "stablelm_epoch"},
     .architectures = {"StableLmForCausalLM", "StableLMEpochForCausalLM"},
     .norm = KERF_NORM_LAYER,
     .qkv_bias = SAID_BY("use_qkv_bias", 0),
     .qk_norm = SAID_BY("qk_layernorm", 0),
     .qk_norm_kind = KERF_QK_NORM_WHOLE,
     .adjust = stablelm_parallel},

    {.types = {NULL}},
};
