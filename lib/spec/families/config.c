/* SPDX-License-Identifier: Apache-2.0 */
#include "spec/families/config.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/characters.h"

/* ---- Harmless keys ------------------------------------------------------------------------------------------- */

/*
 * Keys that are known and change neither the number of parameters nor the time of a training step: how positions turn,
 * which tokens mean what, how weights were initialised and stored, what is drawn at random, how text is generated.
 */
static const char *const keys[] = {
    /* clang-format off */
    /* of the file itself */
    "name", "source", "_name_or_path", "auto_map", "transformers_version", "_from_model_config", "tokenizer_class",
    "license", "task_specific_params", "finetuning_task", "problem_type", "id2label", "label2id", "unsloth_version",
    "is_llama_config", "transformers.js_config", "for_llm_compressor",
    /* how weights are stored and computed with */
    "torch_dtype", "dtype", "quantization_config", "compression_config", "bf16", "use_flash_attn", "flash_attn",
    "flash_rotary", "fused_dense", "attn_implementation", "_attn_implementation", "_attn_implementation_autoset",
    "attn_impl", "init_device", "init_config", "fc_type", "attention_softmax_in_fp32",
    "scale_attention_softmax_in_fp32", "masked_softmax_fusion", "bias_dropout_fusion", "skip_bias_add",
    "skip_bias_add_qkv", "slow_but_exact", "pretraining_tp", "ep_size", "use_bfloat16", "fp32_residual_connection",
    "residual_in_fp32", "keys_to_ignore_at_inference", "torchscript", "mamba_ssm_dtype", "is_decoder",
    "runner_max_sequence_length", "cache_implementation", "use_cache", "chunk_size_feed_forward", "pruned_heads",
    "tf_legacy_loss", "z_loss_weight", "layer_switch",
    /* positions */
    "rotary", "rotary_dim", "rotary_pct", "rotary_emb_base", "rotary_scaling_factor", "partial_rotary_factor",
    "original_rope", "original_max_position_embeddings", "initial_context_length", "max_sequence_length",
    "max_seq_len", "model_max_length", "max_length", "seq_length", "n_ctx", "alibi", "alibi_bias_max", "offset_alibi",
    "position_embedding_type", "no_rope_layers", "no_rope_layer_interval", "use_dynamic_ntk", "use_logn_attn",
    "attn_temperature_tuning", "attn_scale", "floor_scale", "use_mrope", "attn_uses_sequence_id", "prefix_lm",
    "interpolate_factor",
    /* activations, and numbers that scale something */
    "hidden_act", "hidden_activation", "activation_function", "swiglu_limit", "swiglu_alpha", "attention_multiplier",
    "embedding_multiplier", "residual_multiplier", "logits_scaling", "logit_scale", "embedding_multiplier_scale",
    "output_multiplier_scale", "attn_output_multiplier", "max_attn_value", "attn_logit_softcapping",
    "final_logit_softcapping", "query_pre_attn_scalar", "clip_qkv", "softmax_scale", "scale_attn_weights",
    "scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn", "scale_emb", "scale_depth", "dim_model_base",
    "apply_query_key_layer_scaling", "embedding_fraction", "apply_residual_connection_post_layernorm", "norm_type",
    /* how a token is routed */
    "norm_topk_prob", "routed_scaling_factor", "scoring_func", "topk_group", "n_group", "topk_method", "seq_aux",
    "aux_loss_alpha", "router_aux_loss_coef", "output_router_logits", "router_jitter_noise", "input_jitter_noise",
    "moe_jitter_eps", "moe_loss_weight", "moe_normalize_expert_weights", "uniform_expert_assignment",
    "moe_router_scaling_factor", "qk_norm_type",
    /* drawing at random, starting, regularising */
    "initializer_range", "initializer_factor", "init_std", "attention_dropout", "hidden_dropout",
    "hidden_dropout_prob", "activation_dropout", "classifier_dropout", "residual_dropout", "embedding_dropout",
    "emb_dropout_prob", "attn_dropout_prob", "dropout", "layerdrop", "rescale_prenorm_residual", "verbose",
    "resid_dropout", "param_init_fn",
    /* generating */
    "prefix", "forced_eos_token_id", "num_logits_to_keep", "do_sample", "temperature", "top_p", "top_k", "typical_p",
    "repetition_penalty", "length_penalty", "num_beams", "num_return_sequences", "min_length", "early_stopping",
    "output_attentions", "output_hidden_states", "return_dict", "return_dict_in_generate", "bad_words_ids",
    "suppress_tokens", "begin_suppress_tokens", "no_repeat_ngram_size", "summary_activation", "summary_first_dropout",
    "summary_proj_to_labels", "summary_type", "summary_use_proj", "gradient_checkpointing", "classifier_activation",
    "pre_seq_len", "prefix_projection", "quantization_bit", "cross_attention_hidden_size", "tie_encoder_decoder",
    "decoder_start_token_id", "diversity_penalty", "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty",
    "num_beam_groups", "output_scores", "remove_invalid_values", "predict_special_tokens", "n_special",
    /* towers beside the text decoder, which are not counted */
    "vision_config", "audio_config", "visual", "vision_feature_layer", "vision_feature_select_strategy",
    "mm_tokens_per_image", "projector_hidden_act", "multimodal_projector_bias", "spatial_merge_size", "img_processor",
    "image_seq_length", "image_grid_pinpoints", "embd_layer", "media_placeholder_token_id", "video_config",
    "ignore_index", "use_unified_vision_chunk", "video_placeholder",
    /* clang-format on */
};

/* Endings of keys that are harmless, whatever begins them: epsilons, tokens, dropout. */
static const char *const endings[] = {"_eps",         "_epsilon", "_token_id",    "_token_ids",
                                      "_token_index", "_pdrop",   "_jitter_noise"};

/* Beginnings: how rotary positions turn. */
static const char *const beginnings[] = {"rope_", "_rope", "summary_"};

static int key_is_harmless(const char *key) {
    size_t length = strlen(key);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0) return 1;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t size = strlen(endings[i]);
        if (length > size && strcmp(key + length - size, endings[i]) == 0) return 1;
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(key, beginnings[i], strlen(beginnings[i])) == 0) return 1;
    return 0;
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

static int is_asked(const struct config *config, const char *key) {
    for (int32_t i = 0; i < config->num_asked; i++)
        if (strcmp(config->asked[i], key) == 0) return 1;
    return 0;
}

static void remember(struct config *config, const char *key) {
    if (is_asked(config, key)) return;
    assert(config->num_asked < CONFIG_KEYS_MAX);
    config->asked[config->num_asked++] = key;
}

int config_has(struct config *config, const char *key) {
    remember(config, key);
    return json_has(config->object, key);
}

void config_fail(struct config *config, const char *key, int32_t code, const char *format, ...) {
    char message[256];
    va_list args;
    if (config->code != KERF_OK) return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    config->code = json_fail(config->object, key, code, config->err, "%s", message);
}

int64_t config_integer(struct config *config, const char *key, int64_t least, int64_t most, int64_t fallback) {
    int64_t value = fallback;
    if (!config_has(config, key) || config->code != KERF_OK) return fallback;
    config->code = json_get_integer(config->object, key, JSON_REQUIRED, least, most, &value, config->err);
    return config->code == KERF_OK ? value : fallback;
}

int32_t config_boolean(struct config *config, const char *key, int32_t fallback) {
    int32_t value = fallback;
    if (!config_has(config, key) || config->code != KERF_OK) return fallback;
    config->code = json_get_boolean(config->object, key, JSON_REQUIRED, &value, config->err);
    return config->code == KERF_OK ? value : fallback;
}

const char *config_string(struct config *config, const char *key, const char *fallback) {
    const char *value = fallback;
    if (!config_has(config, key) || config->code != KERF_OK) return fallback;
    config->code = json_get_string(config->object, key, JSON_REQUIRED, &value, config->err);
    return config->code == KERF_OK ? value : fallback;
}

int64_t config_named(struct config *config, config_names names, int64_t least, int64_t most, int64_t fallback,
                     const char **ret_key) {
    const char *first = NULL;
    int64_t found = fallback;
    for (int i = 0; names[i] && config->code == KERF_OK; i++) {
        if (!config_has(config, names[i])) continue;
        int64_t value = config_integer(config, names[i], least, most, fallback);
        if (first && config->code == KERF_OK && value != found)
            config_fail(config, names[i], KERF_EINVALID, "\"%s\" and \"%s\" differ; keep one of them", first, names[i]);
        if (first == NULL) first = names[i], found = value;
    }
    if (ret_key) *ret_key = first;
    return found;
}

const json_t *config_array(struct config *config, const char *key) {
    if (!config_has(config, key)) return NULL;
    const json_t *array = json_object_get(config->object->json, key);
    if (json_is_array(array)) return array;
    config_fail(config, key, KERF_EINVALID, "\"%s\" must be an array [...]", key);
    return NULL;
}

const json_t *config_integers(struct config *config, const char *key, int64_t least) {
    const json_t *array = config_array(config, key), *number;
    size_t i;
    json_array_foreach(array, i, number) {
        if (!json_is_number(number) || json_number_value(number) != floor(json_number_value(number)))
            config_fail(config, key, KERF_EINVALID, "\"%s\" must be an array of whole numbers", key);
    }
    if (array && (int64_t)json_array_size(array) < least)
        config_fail(config, key, KERF_EINVALID, "\"%s\" has %zu entries for %lld layers", key, json_array_size(array),
                    (long long)least);
    return array;
}

int config_inner(struct config *config, const char *key, struct json_object *ret_object, struct config *ret_inner) {
    if (!config_has(config, key) || config->code != KERF_OK) return 0;
    config->code = json_get_object(config->object, key, JSON_REQUIRED, ret_object, config->err);
    if (config->code != KERF_OK) return 0;
    *ret_inner = (struct config){.object = ret_object, .root = config->root, .err = config->err};
    return 1;
}

void config_join(struct config *config, const struct config *inner) {
    if (config->code == KERF_OK) config->code = inner->code;
}

/* Adds a key to the list; a name that does not fit is counted alone. */
static void add_ignored(struct kerf_model *model, const char *outer, const char *key) {
    size_t used = strlen(model->ignored);
    char name[128];
    snprintf(name, sizeof name, "%s%s%s", outer ? outer : "", outer ? "." : "", key);
    utf8_clean(name);
    model->num_ignored++;
    if (used + strlen(name) + 2 > sizeof model->ignored) return;
    snprintf(model->ignored + used, sizeof model->ignored - used, "%s\n", name);
}

void config_note_ignored(const struct config *config, struct kerf_model *model) {
    const char *key;
    json_t *value;
    json_object_foreach(config->object->json, key, value) {
        if (!is_asked(config, key) && !json_is_null(value) && !key_is_harmless(key))
            add_ignored(model, config->object->key, key);
    }
}
