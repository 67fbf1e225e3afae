/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of Megatron-Bridge: the overrides of a recipe as YAML. The rules are Megatron-LM's; the keys are those of
 * GPTModelProvider, which has TransformerConfig's, and of TrainingConfig, DistributedDataParallelConfig and
 * GPTDatasetConfig. */
#include <string.h>
#include "launch/launch_writing.h"

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
    if (m->mtp_layers) writing_integer(w, "model.mtp_num_layers", m->mtp_layers);
    if (m->num_experts == 0) return;
    writing_integer(w, "model.num_moe_experts", m->num_experts);
    writing_integer(w, "model.moe_ffn_hidden_size", m->moe_intermediate_size);
    writing_integer(w, "model.moe_router_topk", m->num_experts_per_tok);
    const char *layers = launch_expert_layers_text(w);
    if (layers) writing_word(w, "model.moe_layer_freq", layers);
    if (m->shared_expert_intermediate_size)
        writing_integer(w, "model.moe_shared_expert_intermediate_size", m->shared_expert_intermediate_size);
    writing_boolean(w, "model.moe_shared_expert_gate", m->has_shared_gate > 0);
    writing_boolean(w, "model.moe_grouped_gemm", 1);
    writing_word(w, "model.moe_token_dispatcher_type", "alltoall");
}

static void add_layout(struct launch_writing *w) {
    static const char *const comms[KERF_CP_COMM_COUNT] = {"p2p", "p2p", "all_gather", "a2a"}; /* TransformerEngine's */
    const struct kerf_layout *l = w->layout;
    writing_integer(w, "model.tensor_model_parallel_size", l->tp1);
    writing_boolean(w, "model.sequence_parallel", l->tp1 > 1);
    writing_integer(w, "model.context_parallel_size", l->cp);
    if (l->cp > 1) writing_word(w, "model.cp_comm_type", comms[l->cp_comm]);
    writing_integer(w, "model.pipeline_model_parallel_size", l->pp);
    if (l->pp > 1 && !writing_is_even(w)) {
        const char *text = launch_pipeline_text(w);
        if (text) writing_word(w, "model.pipeline_model_parallel_layout", text);
        w->failed |= text == NULL;
    }
    writing_literal(w, "model.virtual_pipeline_model_parallel_size",
                    l->vpp > 1 ? arena_printf(w->arena, "%d", l->vpp) : "null");
    if (w->shape.num_experts) {
        writing_integer(w, "model.expert_model_parallel_size", l->ep);
        writing_integer(w, "model.expert_tensor_parallel_size", l->etp);
    }
    int is_whole = l->recompute == KERF_RECOMPUTE_FULL || l->recompute == KERF_RECOMPUTE_BLOCK;
    if (l->recompute == KERF_RECOMPUTE_NONE) {
        writing_literal(w, "model.recompute_granularity", "null");
    } else {
        writing_word(w, "model.recompute_granularity", is_whole ? "full" : "selective");
    }
    if (l->recompute == KERF_RECOMPUTE_SELECTIVE) writing_literal(w, "model.recompute_modules", "[core_attn]");
    if (is_whole) {
        writing_word(w, "model.recompute_method", l->recompute == KERF_RECOMPUTE_BLOCK ? "block" : "uniform");
        writing_integer(w, "model.recompute_num_layers",
                        l->recompute == KERF_RECOMPUTE_BLOCK ? l->recompute_layers : 1);
    }
}

static void add_keys(struct launch_writing *w) {
    static const char *const precisions[KERF_PRECISION_COUNT] = {
        [KERF_PRECISION_BF16] = "bf16_mixed",
        [KERF_PRECISION_FP16] = "fp16_mixed",
        [KERF_PRECISION_FP8] = "bf16_with_fp8_delayed_scaling_mixed",
    };
    const struct kerf_layout *l = w->layout;
    add_shape(w);
    add_layout(w);
    writing_integer(w, "train.micro_batch_size", l->micro_batch);
    writing_integer(w, "train.global_batch_size", w->problem->global_batch);
    writing_integer(w, "dataset.seq_length", w->problem->seq_length);
    writing_boolean(w, "ddp.use_distributed_optimizer", l->zero);
    writing_boolean(w, "ddp.overlap_grad_reduce", l->dp * l->cp > 1);
    writing_boolean(w, "ddp.overlap_param_gather", l->zero);
    writing_boolean(w, "ddp.grad_reduce_in_fp32", !w->problem->has_bf16_gradients);
    if (l->order == KERF_ORDER_TP_CP_PP_DP) writing_boolean(w, "dist.use_tp_pp_dp_mapping", 1);
    writing_boolean(w, "comm_overlap.tp_comm_overlap", l->tp1 > 1);
    writing_word(w, "mixed_precision", precisions[w->problem->precision]);
}

static void print(const struct launch_writing *w, struct kerf_text *out) {
    static const char *const lines[] = {"Overrides for a pretraining recipe of Megatron-Bridge; data, tokenizer, "
                                        "optimizer and checkpoints are the recipe's.",
                                        NULL};
    launch_print_head(w, out, lines);
    launch_print_yaml(w, out);
}

const struct launch_writer launch_write_megatron_bridge = {
    .runner = {.name = "megatron-bridge", .takes = launch_runner_takes},
    .framework = KERF_FRAMEWORK_MEGATRON_BRIDGE,
    .ending = "yaml",
    LAUNCH_MEGATRON_CORE,
    .add_keys = add_keys,
    .print = print,
};
