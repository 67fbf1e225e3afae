/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a launch that was read: its JSON, the model that kerf can price, and the question that it answers. */
#include <string.h>
#include "launch/launch_reading.h"

/* ---- The model ---------------------------------------------------------------------------------------------------- */

static void lay_attention(const struct kerf_launch_model *m, struct kerf_layer_kind *kind) {
    kind->attention.heads = m->num_attention_heads;
    kind->attention.kv_heads = m->kv_lora_rank > 0 ? m->num_attention_heads : m->num_key_value_heads;
    kind->attention.qk_size = kind->attention.v_size = m->head_dim;
    if (m->kv_lora_rank > 0) {
        kind->attention.qk_size = m->qk_nope_head_dim + m->qk_rope_head_dim;
        kind->attention.v_size = m->v_head_dim;
        kind->attention.q_rank = m->q_lora_rank;
        kind->attention.kv_rank = m->kv_lora_rank;
        kind->attention.rope_size = m->qk_rope_head_dim;
    }
    kind->attention.window = m->sliding_window;
    kind->attention.qkv_bias = m->has_qkv_bias > 0;
    kind->attention.output_bias = m->has_linear_bias > 0;
    kind->attention.qk_norm = m->has_qk_norm > 0 ? KERF_QK_NORM_HEAD : KERF_QK_NORM_NONE;
    kind->mlp.is_gated = m->is_gated > 0;
    kind->mlp.bias = kind->mlp.expert_bias = m->has_linear_bias > 0;
    kind->norms = 2;
}

static int is_size(int64_t value, int64_t most) { return value >= 1 && value <= most; }

/* Adds layers to the last run where they are of its kind. */
static int add_layer(struct kerf_model *model, int32_t kind) {
    struct kerf_layer_run *last = model->num_runs ? &model->runs[model->num_runs - 1] : NULL;
    if (last && last->kind == kind) {
        last->count++;
        return 1;
    }
    if (model->num_runs == KERF_RUNS_MAX) return 0;
    model->runs[model->num_runs++] = (struct kerf_layer_run){1, kind};
    return 1;
}

void launch_model(struct kerf_launch *launch) {
    const struct kerf_launch_model *m = &launch->config;
    struct kerf_model *model = &launch->model;
    int64_t kv_heads = m->num_key_value_heads,
            width = m->intermediate_size ? m->intermediate_size : m->moe_intermediate_size;
    launch->has_model = 0;
    if (!is_size(m->hidden_size, 1 << 24) || !is_size(m->num_hidden_layers, 1 << 20) ||
        !is_size(m->num_attention_heads, 1 << 20) || !is_size(width, 1 << 26) || !is_size(m->head_dim, 1 << 20) ||
        !is_size(kv_heads, m->num_attention_heads) || m->num_attention_heads % kv_heads || m->vocab_size < 0 ||
        m->vocab_size > KERF_COUNT_MAX)
        return;
    if (m->num_experts &&
        (!is_size(m->num_experts_per_tok, m->num_experts) || !is_size(m->moe_intermediate_size, 1 << 26)))
        return;
    *model = (struct kerf_model){.hidden_size = m->hidden_size,
                                 .intermediate_size = width,
                                 .num_hidden_layers = m->num_hidden_layers,
                                 .num_attention_heads = m->num_attention_heads,
                                 .vocab_size = m->vocab_size,
                                 .embedding_size = m->hidden_size,
                                 .is_causal = 1,
                                 .final_norm = 1,
                                 .is_tied = m->is_tied > 0};
    strcpy(model->name, "launch");
    strcpy(model->family, "launch");
    if (is_size(m->max_position_embeddings, KERF_COUNT_MAX))
        model->max_position_embeddings = m->max_position_embeddings;
    if (m->has_learned_positions > 0) model->position_rows = model->max_position_embeddings;
    model->mtp_layers = m->mtp_layers > 0 ? m->mtp_layers : 0;
    model->norm = m->is_rms_norm > 0 ? KERF_NORM_RMS : KERF_NORM_LAYER;
    if (m->vocab_size == 0) model->assumed |= KERF_ASSUMED_VOCABULARY;
    lay_attention(m, &model->kinds[0]);
    model->kinds[1] = model->kinds[0];
    model->kinds[0].mlp.width = width;
    model->kinds[1].mlp.experts = m->num_experts;
    model->kinds[1].mlp.top_k = m->num_experts_per_tok;
    model->kinds[1].mlp.expert_width = m->moe_intermediate_size;
    model->kinds[1].mlp.shared_width = m->shared_expert_intermediate_size;
    model->kinds[1].mlp.shared_gate = m->has_shared_gate > 0;
    int64_t step = m->expert_layer_step > 0 ? m->expert_layer_step : 1, used[2] = {0, 0};
    for (int64_t i = 0; i < m->num_hidden_layers; i++) {
        int32_t kind = m->num_experts > 0 && i >= m->first_dense_layers && (i + 1) % step == 0;
        used[kind] = 1;
        if (!add_layer(model, kind)) return;
    }
    model->num_kinds = 2;
    if (!used[0] || !used[1]) { /* one kind alone */
        model->kinds[0] = model->kinds[used[1]];
        model->num_kinds = 1;
        model->runs[0].kind = 0;
    }
    launch->has_model = 1;
}

/* ---- JSON ----------------------------------------------------------------------------------------------------------- */

static void integer_or_null(struct kerf_json *json, const char *key, int64_t value) {
    if (value > 0)
        kerf_json_integer(json, key, value);
    else
        kerf_json_null(json, key);
}

static void switch_or_null(struct kerf_json *json, const char *key, int8_t value, int is_known) {
    if (value >= 0 && is_known)
        kerf_json_boolean(json, key, value);
    else
        kerf_json_null(json, key);
}

static void config_json(struct kerf_json *json, const struct kerf_launch_model *m) {
    int is_known = m->hidden_size > 0;
    kerf_json_open(json, "model", '{');
    integer_or_null(json, "hidden_size", m->hidden_size);
    integer_or_null(json, "num_hidden_layers", m->num_hidden_layers);
    integer_or_null(json, "intermediate_size", m->intermediate_size);
    integer_or_null(json, "num_attention_heads", m->num_attention_heads);
    integer_or_null(json, "num_key_value_heads", m->num_key_value_heads);
    integer_or_null(json, "head_dim", m->head_dim);
    integer_or_null(json, "vocab_size", m->vocab_size);
    integer_or_null(json, "max_position_embeddings", m->max_position_embeddings);
    integer_or_null(json, "num_experts", m->num_experts);
    integer_or_null(json, "num_experts_per_tok", m->num_experts_per_tok);
    integer_or_null(json, "moe_intermediate_size", m->moe_intermediate_size);
    integer_or_null(json, "shared_expert_intermediate_size", m->shared_expert_intermediate_size);
    integer_or_null(json, "first_k_dense_replace", m->first_dense_layers);
    integer_or_null(json, "decoder_sparse_step", m->expert_layer_step);
    integer_or_null(json, "q_lora_rank", m->q_lora_rank);
    integer_or_null(json, "kv_lora_rank", m->kv_lora_rank);
    integer_or_null(json, "qk_nope_head_dim", m->qk_nope_head_dim);
    integer_or_null(json, "qk_rope_head_dim", m->qk_rope_head_dim);
    integer_or_null(json, "v_head_dim", m->v_head_dim);
    integer_or_null(json, "num_nextn_predict_layers", m->mtp_layers);
    integer_or_null(json, "sliding_window", m->sliding_window);
    switch_or_null(json, "gated_mlp", m->is_gated, is_known);
    switch_or_null(json, "tie_word_embeddings", m->is_tied, is_known);
    switch_or_null(json, "mlp_bias", m->has_linear_bias, is_known);
    switch_or_null(json, "attention_bias", m->has_qkv_bias, is_known);
    switch_or_null(json, "qk_norm", m->has_qk_norm, is_known);
    switch_or_null(json, "rms_norm", m->is_rms_norm, is_known);
    switch_or_null(json, "learned_positions", m->has_learned_positions, is_known);
    kerf_json_close(json, '}');
}

static void layout_json(struct kerf_json *json, const struct kerf_launch *launch) {
    const struct kerf_layout *layout = &launch->layout;
    struct kerf_text recompute = {0};
    if (layout->recompute >= 0) kerf_layout_value(&recompute, layout, "recompute");
    kerf_json_open(json, "layout", '{');
    integer_or_null(json, "dp", layout->dp);
    kerf_json_integer(json, "tp", layout->tp1);
    kerf_json_integer(json, "cp", layout->cp / launch->ulysses);
    kerf_json_integer(json, "ulysses", launch->ulysses);
    kerf_json_integer(json, "pp", layout->pp);
    kerf_json_integer(json, "vpp", layout->vpp);
    kerf_json_integer(json, "ep", layout->ep);
    kerf_json_integer(json, "etp", layout->etp);
    if (layout->zero >= 0)
        kerf_json_integer(json, "zero", layout->zero);
    else
        kerf_json_null(json, "zero");
    integer_or_null(json, "micro_batch", layout->micro_batch);
    kerf_json_string(json, "recompute", recompute.data);
    kerf_json_string(json, "schedule", layout->schedule);
    kerf_json_boolean(json, "sequence_parallel", launch->has_sequence_parallel);
    kerf_json_string(json, "cp_comm", layout->cp > 1 ? kerf_cp_comm_name((enum kerf_cp_comm)layout->cp_comm) : NULL);
    if (layout->stage_layers) {
        kerf_json_open(json, "stage_layers", '[');
        for (int64_t i = 0; i < layout->pp * layout->vpp; i++) kerf_json_integer(json, NULL, layout->stage_layers[i]);
        kerf_json_close(json, ']');
    } else {
        kerf_json_null(json, "stage_layers");
    }
    kerf_json_string(json, "order", kerf_order_name((enum kerf_order)layout->order));
    kerf_json_close(json, '}');
    kerf_text_free(&recompute);
}

static void list_json(struct kerf_json *json, const char *key, const char *const *items, int32_t count) {
    kerf_json_open(json, key, '[');
    for (int32_t i = 0; i < count; i++) kerf_json_string(json, NULL, items[i]);
    kerf_json_close(json, ']');
}

void kerf_launch_json(struct kerf_json *json, const struct kerf_launch *launch) {
    kerf_json_string(json, "framework", kerf_framework_name((enum kerf_framework)launch->framework));
    kerf_json_integer(json, "gpus", launch->gpus);
    integer_or_null(json, "global_batch", launch->global_batch);
    integer_or_null(json, "seq_length", launch->seq_length);
    config_json(json, &launch->config);
    layout_json(json, launch);
    kerf_json_string(json, "precision", launch->precision[0] ? launch->precision : NULL);
    kerf_json_string(json, "gradients", launch->gradients[0] ? launch->gradients : NULL);
    list_json(json, "ignored", launch->ignored, launch->num_ignored);
    kerf_json_open(json, "assumed", '{');
    for (int32_t i = 0; i < launch->num_assumed; i++)
        kerf_json_string(json, launch->assumed[i].key, launch->assumed[i].value);
    kerf_json_close(json, '}');
    list_json(json, "invalid", launch->invalid, launch->num_invalid);
}

/* ---- The question --------------------------------------------------------------------------------------------------- */

int32_t kerf_launch_problem(const struct kerf_launch *launch, struct kerf_problem *ret_problem,
                            struct kerf_layout *ret_layout, struct kerf_error *err) {
    struct kerf_problem problem = {.model = launch->model,
                                   .strategy = KERF_STRATEGY_HYBRID,
                                   .attention = KERF_ATTENTION_FUSED,
                                   .gpus = launch->gpus,
                                   .global_batch = launch->global_batch,
                                   .seq_length = launch->seq_length,
                                   .mtp_layers = launch->has_model ? launch->model.mtp_layers : 0};
    const char *missing = !launch->has_model               ? "the whole shape of the model"
                          : launch->global_batch < 1       ? "the global batch"
                          : launch->seq_length < 1         ? "the sequence length"
                          : launch->layout.micro_batch < 1 ? "the micro-batch"
                          : launch->layout.zero < 0        ? "the ZeRO stage"
                          : launch->layout.recompute < 0   ? "what is recomputed"
                          : launch->layout.dp < 1          ? "a number of replicas that its accelerators divide into"
                                                           : NULL;
    if (missing)
        return kerf_error_set(err, KERF_EINVALID, "the launch does not say %s, which its price needs", missing);
    if (strcmp(launch->precision, "fp16") == 0)
        problem.precision = KERF_PRECISION_FP16;
    else if (strcmp(launch->precision, "fp8") == 0)
        problem.precision = KERF_PRECISION_FP8;
    else if (strcmp(launch->precision, "bf16") == 0)
        problem.precision = KERF_PRECISION_BF16;
    else
        return kerf_error_set(err, KERF_EINVALID, "the launch computes in %s; kerf prices bf16, fp16 and fp8",
                              launch->precision[0] ? launch->precision : "a precision that it does not tell");
    problem.has_bf16_gradients = strcmp(launch->gradients, "fp32") != 0; /* 16 bits of either kind */
    *ret_problem = problem;
    *ret_layout = launch->layout;
    ret_layout->stage_layers = launch->split;
    return KERF_OK;
}
