/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of Megatron-DeepSpeed: one script with its DeepSpeed config. The rules are those of its validate_args and
 * initialize_model_parallel (Ulysses excludes tp and pp), of PipelineEngine (ZeRO 2 and 3 exclude pipelines) and of
 * DeepSpeed's MoE (experts go with data parallelism alone). Layers must divide over the stages: what PipelineModule does
 * else is its own.
 */
#include <string.h>
#include "launch/launch_writing.h"

static int refuses_model(const struct kerf_problem *problem, const struct kerf_launch_model *shape,
                         struct kerf_text *why) {
    if (shape->kv_lora_rank) return launch_refuse(why, "it has no multi-latent attention (MLA)");
    if (shape->has_qk_norm) return launch_refuse(why, "it has no norms of queries and keys");
    if (shape->sliding_window) return launch_refuse(why, "it has no sliding windows");
    if (shape->mtp_layers) return launch_refuse(why, "it has no multi-token prediction");
    if (shape->has_qkv_bias && !shape->has_linear_bias)
        return launch_refuse(why, "it has no biases of queries, keys and values alone");
    if (shape->has_learned_positions && shape->max_position_embeddings < problem->seq_length)
        return launch_refuse(why, "sequences of %lld tokens, and %lld learned positions",
                             (long long)problem->seq_length, (long long)shape->max_position_embeddings);
    if (shape->num_experts == 0) return 0;
    if (shape->shared_expert_intermediate_size) return launch_refuse(why, "it has no shared experts");
    if (shape->first_dense_layers) return launch_refuse(why, "it has no dense layers before those with experts");
    if (shape->moe_intermediate_size != shape->intermediate_size)
        return launch_refuse(why, "its experts are as wide as its dense layers");
    return 0;
}

static int refuses_layout(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_text *why) {
    int has_experts = 0;
    for (int32_t k = 0; k < problem->model.num_kinds; k++) {
        const struct kerf_layer_kind *kind = &problem->model.kinds[k];
        has_experts |= kind->mlp.experts > 0;
        if (kind->mlp.width % l->tp1)
            return launch_refuse(why, "MLP of %lld features in %lld parts", (long long)kind->mlp.width,
                                 (long long)l->tp1);
        if (kind->attention.kv_heads % l->tp1)
            return launch_refuse(why, "%lld key-value heads in %lld parts", (long long)kind->attention.kv_heads,
                                 (long long)l->tp1);
        if (l->cp > 1 && kind->attention.kv_heads % l->cp)
            return launch_refuse(why, "Ulysses over %d with %lld key-value heads", l->cp,
                                 (long long)kind->attention.kv_heads);
    }
    const struct kerf_space *space = problem->space;
    if (l->cp > 1 && space && space->runner && (space->cp.count == 0 || space->cp.are_excluded))
        return launch_refuse(why, "context parallelism unless --cp names Ulysses' sizes");
    if (l->cp > 1 && (l->tp1 > 1 || l->pp > 1))
        return launch_refuse(why, "Ulysses beside tensor or pipeline parallelism");
    if (problem->model.num_hidden_layers % l->pp)
        return launch_refuse(why, "split that kerf can foretell where %lld layers do not divide over pp %lld",
                             (long long)problem->model.num_hidden_layers, (long long)l->pp);
    if (!has_experts) return 0;
    if (l->tp1 > 1 || l->pp > 1 || l->cp > 1)
        return launch_refuse(why, "experts beside tensor, pipeline or sequence parallelism as kerf prices them");
    if (l->dp % l->ep) return launch_refuse(why, "ep %d that does not divide dp %lld", l->ep, (long long)l->dp);
    if (l->etp > 1) return launch_refuse(why, "tensor parallelism inside experts");
    if (l->zero > 2) return launch_refuse(why, "ZeRO stage 3 with experts");
    return 0;
}

/* Equal stages: the rule of a pipeline in which the layers divide. */
static void split(const struct kerf_problem *problem, const struct kerf_layout *layout, int32_t *ret_layers) {
    for (int64_t i = 0; i < layout->pp; i++) ret_layers[i] = (int32_t)(problem->model.num_hidden_layers / layout->pp);
}

/* ---- Keys ---------------------------------------------------------------------------------------------------------- */

static void add_model(struct launch_writing *w) {
    const struct kerf_launch_model *m = &w->shape;
    w->group = "MODEL_ARGS";
    writing_integer(w, "num-layers", m->num_hidden_layers);
    writing_integer(w, "hidden-size", m->hidden_size);
    writing_integer(w, "ffn-hidden-size", m->intermediate_size);
    writing_integer(w, "num-attention-heads", m->num_attention_heads);
    writing_integer(w, "num-key-value-heads", m->num_key_value_heads);
    if (m->head_dim * m->num_attention_heads != m->hidden_size) writing_integer(w, "kv-channels", m->head_dim);
    if (m->is_gated) writing_flag(w, "swiglu");
    writing_word(w, "normalization", m->is_rms_norm ? "rmsnorm" : "layernorm");
    if (!m->has_linear_bias) writing_flag(w, "disable-bias-linear");
    if (!m->is_tied) writing_flag(w, "untie-embeddings-and-output-weights");
    if (!m->has_learned_positions) writing_flag(w, "use-rotary-position-embeddings");
    writing_integer(w, "max-position-embeddings", m->max_position_embeddings);
    writing_integer(w, "seq-length", w->problem->seq_length);
    if (m->vocab_size) writing_integer(w, "vocab-size", m->vocab_size);
    writing_literal(w, "attention-dropout", "0.0"); /* no price has any; the defaults are 0.1 */
    writing_literal(w, "hidden-dropout", "0.0");
    if (m->num_experts == 0) return;
    writing_integer(w, "num-experts", m->num_experts);
    writing_integer(w, "topk", m->num_experts_per_tok);
    writing_integer(w, "expert-interval", m->expert_layer_step);
}

static void add_layout(struct launch_writing *w) {
    const struct kerf_layout *l = w->layout;
    w->group = "PARALLEL_ARGS";
    writing_integer(w, "tensor-model-parallel-size", l->tp1);
    if (l->tp1 > 1) writing_flag(w, "sequence-parallel");
    writing_integer(w, "pipeline-model-parallel-size", l->pp);
    if (l->pp == 1) writing_flag(w, "no-pipeline-parallel");
    if (l->cp > 1) writing_integer(w, "ds-sequence-parallel-size", l->cp);
    if (w->shape.num_experts) writing_integer(w, "moe-expert-parallel-size", l->ep);
    w->group = "TRAINING_ARGS";
    writing_integer(w, "micro-batch-size", l->micro_batch);
    writing_integer(w, "global-batch-size", w->problem->global_batch);
    writing_flag(w, w->problem->precision == KERF_PRECISION_FP16 ? "fp16" : "bf16");
    if (l->recompute == KERF_RECOMPUTE_FULL) {
        writing_flag(w, "checkpoint-activations");
        writing_flag(w, "deepspeed-activation-checkpointing");
    }
    if (l->recompute == KERF_RECOMPUTE_SELECTIVE) writing_word(w, "recompute-granularity", "selective");
    writing_flag(w, "deepspeed");
    writing_word(w, "deepspeed_config", "ds_config.json");
    writing_integer(w, "zero-stage", l->zero);
}

static void add_config(struct launch_writing *w) {
    const struct kerf_layout *l = w->layout;
    int is_fp16 = w->problem->precision == KERF_PRECISION_FP16;
    w->group = "ds_config.json";
    writing_integer(w, "train_batch_size", w->problem->global_batch);
    writing_integer(w, "train_micro_batch_size_per_gpu", l->micro_batch);
    writing_integer(w, "gradient_accumulation_steps", writing_micro_batches(w));
    writing_integer(w, "zero_optimization.stage", l->zero);
    writing_boolean(w, is_fp16 ? "fp16.enabled" : "bf16.enabled", 1);
    writing_word(w, "data_types.grad_accum_dtype",
                 !w->problem->has_bf16_gradients ? "fp32"
                 : is_fp16                       ? "fp16"
                                                 : "bf16");
}

static void add_keys(struct launch_writing *w) {
    int64_t node = writing_node_size(w->problem);
    w->group = "LAUNCH_ARGS";
    writing_integer(w, "num_nodes", w->problem->gpus / node);
    writing_integer(w, "num_gpus", node);
    add_model(w);
    add_layout(w);
    add_config(w);
}

static void print(const struct launch_writing *w, struct kerf_text *out) {
    static const char *const lines[] = {
        "Yours to add behind the script's name: data, tokenizer, optimizer and its schedule, checkpoints, and what of "
        "the",
        "model changes no cost, such as rotary scaling. Several nodes need --hostfile in LAUNCH_ARGS.", NULL};
    static const char *const groups[] = {"LAUNCH_ARGS", "MODEL_ARGS", "PARALLEL_ARGS", "TRAINING_ARGS"};
    kerf_text_add(out, "#!/bin/bash\n");
    launch_print_head(w, out, lines);
    if (w->layout->tp1 > 1) kerf_text_add(out, "\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n");
    kerf_text_add(out, "\ncat > ds_config.json <<'END'\n");
    launch_print_json(w, out, "ds_config.json");
    kerf_text_add(out, "END\n");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        kerf_text_add(out, "\n");
        launch_print_array(w, out, groups[i]);
    }
    kerf_text_add(out, "\ndeepspeed \"${LAUNCH_ARGS[@]}\" pretrain_gpt.py \"${MODEL_ARGS[@]}\" \\\n"
                       "    \"${PARALLEL_ARGS[@]}\" \"${TRAINING_ARGS[@]}\" \"$@\"\n");
}

static const char *const schedules[] = {"1f1b", NULL};

const struct launch_writer launch_write_megatron_deepspeed = {
    .runner = {.name = "megatron-deepspeed", .takes = launch_runner_takes, .split = split},
    .framework = KERF_FRAMEWORK_MEGATRON_DEEPSPEED,
    .ending = "sh",
    .schedules = schedules,
    .zeros = LAUNCH_BIT(0) | LAUNCH_BIT(1) | LAUNCH_BIT(2) | LAUNCH_BIT(3),
    .zeros_of_stages = LAUNCH_BIT(0) | LAUNCH_BIT(1),
    .recomputes =
        LAUNCH_BIT(KERF_RECOMPUTE_NONE) | LAUNCH_BIT(KERF_RECOMPUTE_SELECTIVE) | LAUNCH_BIT(KERF_RECOMPUTE_FULL),
    .cp_comms = LAUNCH_BIT(KERF_CP_COMM_ALL_TO_ALL),
    .precisions = LAUNCH_BIT(KERF_PRECISION_BF16) | LAUNCH_BIT(KERF_PRECISION_FP16),
    .orders = LAUNCH_BIT(KERF_ORDER_TP_CP_DP_PP),
    .has_experts = 1,
    .has_bf16_gradients = 1,
    .refuses_model = refuses_model,
    .refuses_layout = refuses_layout,
    .add_keys = add_keys,
    .print = print,
};
