/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of Megatron-Bridge: the overrides of a recipe as YAML. The rules are Megatron-LM's; the keys are those of
 * GPTModelProvider, which has TransformerConfig's, and of TrainingConfig, DistributedDataParallelConfig and
 * GPTDatasetConfig. */
#include <string.h>
#include "launch/launch_writing.h"

static int refuses_model(const struct kerf_problem *problem, const struct kerf_launch_model *shape,
                         struct kerf_text *why) {
    if (problem->has_bf16_gradients && problem->precision == KERF_PRECISION_FP16)
        return launch_refuse(why, "in fp16 it sums gradients in fp32 alone");
    return launch_megatron_refuses_model(problem, shape, why);
}

/* A size; null where the model or the layout has none, and the recipe might. */
static void add_or_null(struct launch_writing *w, const char *key, int64_t value) {
    if (value)
        writing_integer(w, key, value);
    else
        writing_literal(w, key, "null");
}

/* Which layers have experts, a number for each; the provider knows no other way where not all have. */
static void add_expert_layers(struct launch_writing *w) {
    const struct kerf_launch_model *m = &w->shape;
    struct kerf_text list = {0};
    if (m->first_dense_layers == 0 && m->expert_layer_step <= 1) return;
    for (int64_t i = 0; i < m->num_hidden_layers; i++) {
        int has_experts = i >= m->first_dense_layers && (i + 1) % m->expert_layer_step == 0;
        kerf_text_printf(&list, "%s%d", i ? ", " : "[", has_experts);
    }
    kerf_text_add(&list, "]");
    writing_literal(w, "model.moe_layer_freq", list.failed ? NULL : arena_strdup(w->arena, list.data));
    kerf_text_free(&list);
}

static void add_shape(struct launch_writing *w) {
    const struct kerf_launch_model *m = &w->shape;
    writing_integer(w, "model.num_layers", m->num_hidden_layers);
    writing_integer(w, "model.hidden_size", m->hidden_size);
    writing_integer(w, "model.ffn_hidden_size", m->intermediate_size);
    writing_integer(w, "model.num_attention_heads", m->num_attention_heads);
    writing_boolean(w, "model.multi_latent_attention", m->kv_lora_rank > 0);
    if (m->kv_lora_rank) {
        if (m->q_lora_rank) writing_integer(w, "model.q_lora_rank", m->q_lora_rank);
        writing_integer(w, "model.kv_lora_rank", m->kv_lora_rank);
        writing_integer(w, "model.qk_head_dim", m->qk_nope_head_dim);
        writing_integer(w, "model.qk_pos_emb_head_dim", m->qk_rope_head_dim);
        writing_integer(w, "model.v_head_dim", m->v_head_dim);
    } else {
        writing_integer(w, "model.kv_channels", m->head_dim);
        writing_integer(w, "model.num_query_groups", m->num_key_value_heads);
    }
    if (m->sliding_window)
        writing_literal(w, "model.window_size", arena_printf(w->arena, "[%lld, 0]", (long long)m->sliding_window - 1));
    writing_boolean(w, "model.qk_layernorm", m->has_qk_norm || m->kv_lora_rank); /* with latents: of these */
    writing_boolean(w, "model.gated_linear_unit", m->is_gated);
    writing_word(w, "model.normalization", m->is_rms_norm ? "RMSNorm" : "LayerNorm");
    writing_boolean(w, "model.add_bias_linear", m->has_linear_bias);
    writing_boolean(w, "model.add_qkv_bias", m->has_qkv_bias);
    writing_boolean(w, "model.share_embeddings_and_output_weights", m->is_tied);
    writing_word(w, "model.position_embedding_type", m->has_learned_positions ? "learned_absolute" : "rope");
    writing_integer(w, "model.max_position_embeddings", m->max_position_embeddings);
    writing_integer(w, "model.seq_length", w->problem->seq_length);
    if (m->vocab_size) writing_integer(w, "model.vocab_size", m->vocab_size);
    writing_literal(w, "model.attention_dropout", "0.0");
    writing_literal(w, "model.hidden_dropout", "0.0");
    add_or_null(w, "model.mtp_num_layers", m->mtp_layers);
    if (m->num_experts == 0) return;
    writing_integer(w, "model.num_moe_experts", m->num_experts);
    writing_integer(w, "model.moe_ffn_hidden_size", m->moe_intermediate_size);
    writing_integer(w, "model.moe_router_topk", m->num_experts_per_tok);
    add_expert_layers(w);
    if (m->shared_expert_intermediate_size)
        writing_integer(w, "model.moe_shared_expert_intermediate_size", m->shared_expert_intermediate_size);
    writing_boolean(w, "model.moe_shared_expert_gate", m->has_shared_gate > 0);
    writing_boolean(w, "model.moe_grouped_gemm", 1);
    writing_word(w, "model.moe_token_dispatcher_type", "alltoall");
}

/* The layers of the stages; what else a recipe may split them by is turned off. */
static void add_split(struct launch_writing *w) {
    const struct kerf_layout *l = w->layout;
    const char *text = l->pp > 1 && !writing_is_even(w) ? launch_pipeline_text(w) : "null";
    writing_literal(w, "model.pipeline_model_parallel_layout",
                    text && strcmp(text, "null") != 0 ? arena_printf(w->arena, "\"%s\"", text) : text);
    add_or_null(w, "model.virtual_pipeline_model_parallel_size", l->vpp > 1 ? l->vpp : 0);
    writing_literal(w, "model.num_layers_in_first_pipeline_stage", "null");
    writing_literal(w, "model.num_layers_in_last_pipeline_stage", "null");
    writing_boolean(w, "model.account_for_embedding_in_pipeline_split", 0);
    writing_boolean(w, "model.account_for_loss_in_pipeline_split", 0);
}

static void add_recompute(struct launch_writing *w) {
    const struct kerf_layout *l = w->layout;
    int is_block = l->recompute == KERF_RECOMPUTE_BLOCK, is_whole = is_block || l->recompute == KERF_RECOMPUTE_FULL;
    writing_literal(w, "model.recompute_granularity",
                    is_whole                                   ? "\"full\""
                    : l->recompute == KERF_RECOMPUTE_SELECTIVE ? "\"selective\""
                                                               : "null");
    if (l->recompute == KERF_RECOMPUTE_SELECTIVE) writing_literal(w, "model.recompute_modules", "[core_attn]");
    writing_literal(w, "model.recompute_method", is_block ? "\"block\"" : is_whole ? "\"uniform\"" : "null");
    add_or_null(w, "model.recompute_num_layers", is_block ? l->recompute_layers : is_whole);
}

static void add_layout(struct launch_writing *w) {
    static const char *const comms[KERF_CP_COMM_COUNT] = {"p2p", "p2p", "all_gather", "a2a"}; /* TransformerEngine's */
    const struct kerf_layout *l = w->layout;
    writing_integer(w, "model.tensor_model_parallel_size", l->tp1);
    writing_boolean(w, "model.sequence_parallel", l->tp1 > 1);
    writing_integer(w, "model.context_parallel_size", l->cp);
    if (l->cp > 1) writing_word(w, "model.cp_comm_type", comms[l->cp_comm]);
    writing_integer(w, "model.pipeline_model_parallel_size", l->pp);
    add_split(w);
    if (w->shape.num_experts) {
        writing_integer(w, "model.expert_model_parallel_size", l->ep);
        writing_integer(w, "model.expert_tensor_parallel_size", l->etp);
    }
    add_recompute(w);
}

/* The precisions that have names sum gradients in fp32, and overwrite what ddp says. */
static void add_precision(struct launch_writing *w) {
    static const char *const names[KERF_PRECISION_COUNT] = {
        [KERF_PRECISION_BF16] = "bf16_mixed",
        [KERF_PRECISION_FP16] = "fp16_mixed",
        [KERF_PRECISION_FP8] = "bf16_with_fp8_delayed_scaling_mixed",
    };
    if (!w->problem->has_bf16_gradients) {
        writing_word(w, "mixed_precision", names[w->problem->precision]);
        return;
    }
    writing_boolean(w, "mixed_precision.bf16", 1);
    writing_boolean(w, "mixed_precision.grad_reduce_in_fp32", 0);
    int is_fp8 = w->problem->precision == KERF_PRECISION_FP8;
    writing_literal(w, "mixed_precision.fp8", is_fp8 ? "\"hybrid\"" : "null");
    if (is_fp8) writing_word(w, "mixed_precision.fp8_recipe", "delayed");
    writing_boolean(w, "mixed_precision.fp8_param_gather", is_fp8 && w->layout->zero);
}

static void add_keys(struct launch_writing *w) {
    const struct kerf_layout *l = w->layout;
    add_shape(w);
    add_layout(w);
    writing_integer(w, "train.micro_batch_size", l->micro_batch);
    writing_integer(w, "train.global_batch_size", w->problem->global_batch);
    writing_integer(w, "dataset.seq_length", w->problem->seq_length);
    /* each of these two switches turns on both, so both are written */
    writing_boolean(w, "optimizer.use_distributed_optimizer", l->zero);
    writing_boolean(w, "ddp.use_distributed_optimizer", l->zero);
    writing_boolean(w, "ddp.overlap_grad_reduce", l->dp * l->cp > 1);
    writing_boolean(w, "ddp.overlap_param_gather", l->zero);
    writing_boolean(w, "ddp.grad_reduce_in_fp32", !w->problem->has_bf16_gradients);
    writing_boolean(w, "dist.use_tp_pp_dp_mapping", l->order == KERF_ORDER_TP_CP_PP_DP);
    writing_boolean(w, "comm_overlap.tp_comm_overlap", l->tp1 > 1);
    writing_boolean(w, "comm_overlap.overlap_grad_reduce", l->dp * l->cp > 1);
    writing_boolean(w, "comm_overlap.overlap_param_gather", l->zero);
    add_precision(w);
}

static void print(const struct launch_writing *w, struct kerf_text *out) {
    const char *const lines[] = {
        "Overrides for a pretraining recipe of Megatron-Bridge; data, tokenizer, optimizer and checkpoints are the "
        "recipe's.",
        w->problem->has_bf16_gradients ? "Its mixed_precision must be a MixedPrecisionConfig: no name stands for sums "
                                         "of gradients in bf16."
                                       : NULL,
        NULL};
    launch_print_head(w, out, lines);
    launch_print_yaml(w, out);
}

const struct launch_writer launch_write_megatron_bridge = {
    .runner = {.name = "megatron-bridge", .takes = launch_runner_takes},
    .framework = KERF_FRAMEWORK_MEGATRON_BRIDGE,
    .ending = "yaml",
    LAUNCH_MEGATRON_CORE,
    .refuses_model = refuses_model,
    .add_keys = add_keys,
    .print = print,
};
