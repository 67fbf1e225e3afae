/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPT-2 and the dense decoders built like it: LayerNorm, biases, an MLP of two matrices, and all that came between it and
 * Llama. Each row follows the family's modelling file in transformers (or its authors').
 */
#include "spec/families/family.h"

#include <string.h>

/* Queries, keys and values of one head each where multi_query is true, as it is by default. */
static void bigcode_heads(struct reading *reading) {
    if (config_boolean(reading->config, "multi_query", 1)) reading->layer.attention.kv_heads = 1;
}

/* GPT-NeoX has two normalisations whether its branches are parallel or not. */
static void neox_parallel(struct reading *reading) {
    reading->layer.is_parallel = config_boolean(reading->config, "use_parallel_residual", 1);
}

/* OPT keeps two rows of positions for padding; its smallest has a narrower embedding and normalises after the blocks. */
static void opt_embedding(struct reading *reading) {
    struct config *config = reading->config;
    struct kerf_model *model = reading->model;
    int32_t learned = config_boolean(config, "layer_norm_elementwise_affine", 1);
    int32_t biases = config_boolean(config, "enable_bias", 1);
    int32_t before = config_boolean(config, "do_layer_norm_before", 1);
    model->position_rows += 2;
    model->embedding_size = config_integer(config, "word_embed_proj_dim", 1, HIDDEN_MAX, model->hidden_size);
    model->final_norm = before && !config_boolean(config, "_remove_final_layer_norm", 0);
    if (!learned) model->norm = KERF_NORM_FIXED;
    reading->layer.attention.qkv_bias = reading->layer.attention.output_bias = reading->layer.mlp.bias = biases;
}

/*
 * Falcon: the new decoder has num_kv_heads groups and two normalisations, the old one a single key-value head (7B) or as
 * many as heads (RW), and one normalisation where attention and MLP are parallel. "RefinedWeb" is the name that the 40B
 * was published under, "RefinedWebModel" the 7B's.
 */
static void falcon_decoder(struct reading *reading) {
    struct config *config = reading->config;
    struct kerf_layer_kind *layer = &reading->layer;
    int is_refined_web = strcmp(config_string(config, "model_type", ""), "RefinedWeb") == 0;
    int32_t is_new = config_boolean(config, "new_decoder_architecture", is_refined_web);
    int32_t one_head = config_boolean(config, "multi_query", !is_refined_web);
    layer->is_parallel = config_boolean(config, "parallel_attn", 1);
    int64_t norms = config_integer(config, "num_ln_in_parallel_attn", 1, 2, is_new ? 2 : 1);
    layer->norms = layer->is_parallel ? (int32_t)norms : 2;
    if (!is_new) layer->attention.kv_heads = one_head ? 1 : layer->attention.heads;
}

/* MPT describes its attention in an object of its own, and has learned positions unless ALiBi replaces them. */
static void mpt_attention(struct reading *reading) {
    struct config *config = reading->config, inner;
    struct kerf_layer_kind *layer = &reading->layer;
    struct json_object object;
    int32_t bias = !config_boolean(config, "no_bias", 1), alibi = 0;
    int64_t ratio = config_integer(config, "expansion_ratio", 1, 64, 4);
    layer->mlp.width = reading->model->intermediate_size = ratio * reading->model->hidden_size;
    if (config_inner(config, "attn_config", &object, &inner)) {
        const char *type = config_string(&inner, "attn_type", "multihead_attention");
        alibi = config_boolean(&inner, "alibi", 0);
        layer->attention.qk_norm = config_boolean(&inner, "qk_ln", 0) ? KERF_QK_NORM_WHOLE : KERF_QK_NORM_NONE;
        int64_t groups = config_integer(&inner, "kv_n_heads", 1, HEADS_MAX, layer->attention.heads);
        if (strcmp(type, "grouped_query_attention") == 0) layer->attention.kv_heads = groups;
        if (strcmp(type, "multiquery_attention") == 0) layer->attention.kv_heads = 1;
        if (inner.code == KERF_OK) config_note_ignored(&inner, reading->model);
        config_join(config, &inner);
    }
    int32_t learned = config_boolean(config, "learned_pos_emb", 1) && !alibi;
    reading->model->position_rows = learned ? reading->model->max_position_embeddings : 0;
    reading->model->norm = bias ? KERF_NORM_LAYER : KERF_NORM_LAYER_PLAIN;
    layer->mlp.bias = layer->attention.output_bias = layer->attention.qkv_bias = bias;
}

/* StarCoder 2 may have a gated MLP. */
static void starcoder_mlp(struct reading *reading) {
    reading->layer.mlp.is_gated = strcmp(config_string(reading->config, "mlp_type", "default"), "gated") == 0;
}

const struct family gpt_families[] = {
    {.types = {"gpt2"},
     .architectures = {"GPT2LMHeadModel"},
     .norm = KERF_NORM_LAYER,
     .is_plain = 1,
     .is_wide = 1,
     .qkv_bias = ALWAYS,
     .output_bias = ALWAYS,
     .mlp_bias = ALWAYS,
     .has_positions = 1,
     .is_tied = 1},
    {.types = {"gpt_bigcode"},
     .architectures = {"GPTBigCodeForCausalLM"},
     .norm = KERF_NORM_LAYER,
     .is_plain = 1,
     .is_wide = 1,
     .qkv_bias = ALWAYS,
     .output_bias = ALWAYS,
     .mlp_bias = ALWAYS,
     .has_positions = 1,
     .is_tied = 1,
     .adjust = bigcode_heads},
    {.types = {"gpt_neox"},
     .architectures = {"GPTNeoXForCausalLM"},
     .norm = KERF_NORM_LAYER,
     .is_plain = 1,
     .qkv_bias = SAID_BY("attention_bias", 1),
     .output_bias = SAID_BY("attention_bias", 1),
     .mlp_bias = ALWAYS,
     .adjust = neox_parallel},
    {.types = {"gptj", "codegen"},
     .architectures = {"GPTJForCausalLM", "CodeGenForCausalLM"},
     .norm = KERF_NORM_LAYER,
     .norms = 1,
     .is_plain = 1,
     .is_parallel = 1,
     .is_wide = 1,
     .mlp_bias = ALWAYS,
     .head_bias = ALWAYS},
    {.types = {"phi", "phi-msft"},
     .architectures = {"PhiForCausalLM"},
     .norm = KERF_NORM_LAYER,
     .norms = 1,
     .is_plain = 1,
     .is_parallel = 1,
     .is_wide = 1,
     .qkv_bias = ALWAYS,
     .output_bias = ALWAYS,
     .mlp_bias = ALWAYS,
     .head_bias = ALWAYS,
     .qk_norm = SAID_BY("qk_layernorm", 0),
     .qk_norm_kind = KERF_QK_NORM_HEAD,
     .qk_norm_bias = 1},
    {.types = {"opt"},
     .architectures = {"OPTForCausalLM"},
     .norm = KERF_NORM_LAYER,
     .is_plain = 1,
     .has_positions = 1,
     .is_tied = 1,
     .adjust = opt_embedding},
    {.types = {"bloom"},
     .architectures = {"BloomForCausalLM"},
     .norm = KERF_NORM_LAYER,
     .is_plain = 1,
     .is_wide = 1,
     .qkv_bias = ALWAYS,
     .output_bias = ALWAYS,
     .mlp_bias = ALWAYS,
     .embedding_norm = 1,
     .is_tied = 1},
    {.types = {"falcon", "RefinedWeb", "RefinedWebModel"},
     .architectures = {"FalconForCausalLM", "RWForCausalLM"},
     .norm = KERF_NORM_LAYER,
     .is_plain = 1,
     .is_wide = 1,
     .qkv_bias = SAID_BY("bias", 0),
     .output_bias = SAID_BY("bias", 0),
     .mlp_bias = SAID_BY("bias", 0),
     .is_tied = 1,
     .adjust = falcon_decoder},
    {.types = {"mpt"},
     .architectures = {"MPTForCausalLM", "MptForCausalLM"},
     .norm = KERF_NORM_LAYER_PLAIN,
     .is_plain = 1,
     .is_wide = 1,
     .is_tied = 1,
     .adjust = mpt_attention},
    {.types = {"starcoder2"},
     .architectures = {"Starcoder2ForCausalLM"},
     .norm = KERF_NORM_LAYER,
     .is_plain = 1,
     .qkv_bias = SAID_BY("use_bias", 1),
     .output_bias = SAID_BY("use_bias", 1),
     .mlp_bias = SAID_BY("use_bias", 1),
     .is_tied = 1,
     .kv_heads = 2,
     .windows = WINDOW_ALL,
     .adjust = starcoder_mlp},
    {.types = {"nemotron"},
     .architectures = {"NemotronForCausalLM"},
     .norm = KERF_NORM_LAYER,
     .is_plain = 1,
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .mlp_bias = SAID_BY("mlp_bias", 0)},
    {.types = {"arcee"},
     .architectures = {"ArceeForCausalLM"},
     .is_plain = 1,
     .qkv_bias = SAID_BY("attention_bias", 0),
     .output_bias = SAID_BY("attention_bias", 0),
     .mlp_bias = SAID_BY("mlp_bias", 0)},
    {.types = {NULL}},
};
