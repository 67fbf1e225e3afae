/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of Megatron-LM, and those of its flags that Megatron-DeepSpeed has too. The rules are those of validate_args
 * (megatron/training/arguments.py), TransformerConfig and parallel_state beyond what any layout obeys. ZeRO 2 and 3 are
 * Megatron FSDP there, which decides checkpoints and environment as well, and which pipelines exclude: they are not
 * written.
 */
#include <string.h>
#include "launch/launch_writing.h"

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

int launch_megatron_refuses_model(const struct kerf_problem *problem, const struct kerf_launch_model *shape,
                                  struct kerf_text *why) {
    if (shape->has_learned_positions && shape->max_position_embeddings < problem->seq_length)
        return launch_refuse(why, "sequences of %lld tokens, and %lld learned positions",
                             (long long)problem->seq_length, (long long)shape->max_position_embeddings);
    if (shape->has_learned_positions && shape->mtp_layers)
        return launch_refuse(why, "multi-token prediction with learned positions");
    return 0;
}

int launch_megatron_refuses(const struct kerf_problem *problem, const struct kerf_layout *l, struct kerf_text *why) {
    int64_t micro_batches = problem->global_batch / l->dp / l->micro_batch;
    if (l->vpp > 1 && micro_batches % l->pp)
        return launch_refuse(why, "interleaved schedule of %lld micro-batches over %lld stages",
                             (long long)micro_batches, (long long)l->pp);
    for (int32_t k = 0; k < problem->model.num_kinds; k++) {
        const struct kerf_layer_kind *kind = &problem->model.kinds[k];
        int64_t window = kind->attention.window;
        if (l->cp > 1 && l->cp_comm == KERF_CP_COMM_RING && window && window < problem->seq_length)
            return launch_refuse(why, "ring context parallelism with a sliding window (TransformerEngine)");
        int64_t groups = kind->attention.kv_heads / l->tp1;
        if (kind->mlp.width % l->tp1 || kind->mlp.shared_width % l->tp1)
            return launch_refuse(why, "MLP of %lld features in %lld parts",
                                 (long long)(kind->mlp.width ? kind->mlp.width : kind->mlp.shared_width),
                                 (long long)l->tp1);
        if (kind->mlp.expert_width % l->etp)
            return launch_refuse(why, "experts of %lld features in %d parts", (long long)kind->mlp.expert_width,
                                 l->etp);
        if (kind->mlp.experts && kind->mlp.expert_bias && l->etp > 1)
            return launch_refuse(why, "experts with biases in %d parts", l->etp);
        if (l->cp > 1 && l->cp_comm == KERF_CP_COMM_ALL_TO_ALL && (groups < 1 || groups % l->cp))
            return launch_refuse(why, "all-to-all context parallelism over %d with %lld key-value heads of a shard",
                                 l->cp, (long long)groups);
    }
    return 0;
}

/* Fewer key-value heads than shards. */
static const char *needs_release(const struct launch_writing *w, struct kerf_text *what) {
    if (w->shape.kv_lora_rank || w->shape.num_key_value_heads % w->layout->tp1 == 0) return NULL;
    kerf_text_printf(what, "tp %lld over %lld key-value heads", (long long)w->layout->tp1,
                     (long long)w->shape.num_key_value_heads);
    return "0.16.0";
}

/* ---- The small languages of its flags --------------------------------------------------------------------------- */

const char *launch_pipeline_text(struct launch_writing *w) {
    const struct kerf_layout *l = w->layout;
    struct kerf_text out = {0};
    int64_t stages = l->pp * l->vpp;
    for (int64_t i = 0; i < stages; i++) {
        if (i) kerf_text_add(&out, "|");
        if (i == 0) kerf_text_add(&out, "E");
        kerf_text_add(&out, "t");
        if (l->stage_layers[i] > 1) kerf_text_printf(&out, "*%d", l->stage_layers[i]);
        if (i + 1 < stages) continue;
        for (int64_t m = 0; m < w->shape.mtp_layers; m++) kerf_text_add(&out, "m");
        kerf_text_add(&out, "L");
    }
    const char *text = out.failed ? NULL : arena_strdup(w->arena, out.data);
    kerf_text_free(&out);
    return text;
}

/* The layers with experts in the language of --moe-layer-freq; NULL: all. */
static const char *expert_layers_text(struct launch_writing *w) {
    const struct kerf_launch_model *m = &w->shape;
    long long layers = m->num_hidden_layers, first = m->first_dense_layers, step = m->expert_layer_step;
    if (first == 0 && step <= 1) return NULL;
    if (step <= 1) return arena_printf(w->arena, "([0]*%lld+[1]*%lld)", first, layers - first);
    long long before = first ? first : step - 1, whole = (layers - before - 1) / step;
    long long after = layers - before - 1 - whole * step;
    struct kerf_text out = {0};
    kerf_text_printf(&out, "([0]*%lld+[1]+([0]*%lld+[1])*%lld", before, step - 1, whole);
    if (after) kerf_text_printf(&out, "+[0]*%lld", after);
    kerf_text_add(&out, ")");
    const char *text = out.failed ? NULL : arena_strdup(w->arena, out.data);
    kerf_text_free(&out);
    if (text == NULL) w->failed = 1;
    return text;
}

/* ---- Keys ---------------------------------------------------------------------------------------------------------- */

static void add_shape(struct launch_writing *w) {
    const struct kerf_launch_model *m = &w->shape;
    w->group = "MODEL_ARGS";
    writing_integer(w, "num-layers", m->num_hidden_layers);
    writing_integer(w, "hidden-size", m->hidden_size);
    writing_integer(w, "ffn-hidden-size", m->intermediate_size);
    writing_integer(w, "num-attention-heads", m->num_attention_heads);
    if (m->kv_lora_rank) {
        writing_flag(w, "multi-latent-attention");
        if (m->q_lora_rank) writing_integer(w, "q-lora-rank", m->q_lora_rank);
        writing_integer(w, "kv-lora-rank", m->kv_lora_rank);
        writing_integer(w, "qk-head-dim", m->qk_nope_head_dim);
        writing_integer(w, "qk-pos-emb-head-dim", m->qk_rope_head_dim);
        writing_integer(w, "v-head-dim", m->v_head_dim);
    } else {
        writing_integer(w, "kv-channels", m->head_dim);
        if (m->num_key_value_heads != m->num_attention_heads) {
            writing_flag(w, "group-query-attention");
            writing_integer(w, "num-query-groups", m->num_key_value_heads);
        }
    }
    if (m->sliding_window)
        writing_literal(w, "window-size", arena_printf(w->arena, "%lld,0", (long long)m->sliding_window - 1));
    if (m->has_qk_norm || m->kv_lora_rank) writing_flag(w, "qk-layernorm"); /* with latents: of these */
    if (m->is_gated) writing_flag(w, "swiglu");
    writing_word(w, "normalization", m->is_rms_norm ? "RMSNorm" : "LayerNorm");
    if (!m->has_linear_bias) writing_flag(w, "disable-bias-linear");
    if (!m->has_linear_bias && m->has_qkv_bias) writing_flag(w, "add-qkv-bias");
    if (!m->is_tied) writing_flag(w, "untie-embeddings-and-output-weights");
    writing_word(w, "position-embedding-type", m->has_learned_positions ? "learned_absolute" : "rope");
    writing_integer(w, "max-position-embeddings", m->max_position_embeddings);
    writing_integer(w, "seq-length", w->problem->seq_length);
    if (m->vocab_size) writing_integer(w, "vocab-size", m->vocab_size);
    if (m->mtp_layers) writing_integer(w, "mtp-num-layers", m->mtp_layers);
}

static void add_experts(struct launch_writing *w) {
    const struct kerf_launch_model *m = &w->shape;
    if (m->num_experts == 0) return;
    const char *layers = expert_layers_text(w);
    w->group = "MOE_ARGS";
    writing_integer(w, "num-experts", m->num_experts);
    if (m->moe_intermediate_size != m->intermediate_size ||
        writing_has(w, KERF_FRAMEWORK_MEGATRON, "moe-ffn-hidden-size"))
        writing_integer(w, "moe-ffn-hidden-size", m->moe_intermediate_size);
    writing_integer(w, "moe-router-topk", m->num_experts_per_tok);
    /* the softmax over one expert that is chosen would have no gradient: TransformerConfig refuses it */
    if (m->num_experts_per_tok == 1 && writing_has(w, KERF_FRAMEWORK_MEGATRON, "moe-router-pre-softmax"))
        writing_flag(w, "moe-router-pre-softmax");
    if (layers) writing_literal(w, "moe-layer-freq", layers);
    if (m->shared_expert_intermediate_size)
        writing_integer(w, "moe-shared-expert-intermediate-size", m->shared_expert_intermediate_size);
    if (m->has_shared_gate) writing_flag(w, "moe-shared-expert-gate");
    writing_flag(w, "moe-grouped-gemm");
    writing_word(w, "moe-token-dispatcher-type", "alltoall");
}

static void add_pipeline(struct launch_writing *w) {
    const struct kerf_layout *l = w->layout;
    writing_integer(w, "pipeline-model-parallel-size", l->pp);
    if (l->pp == 1) return;
    if (!writing_is_even(w))
        writing_literal(w, "pipeline-model-parallel-layout", launch_pipeline_text(w));
    else if (l->vpp > 1 && writing_has(w, KERF_FRAMEWORK_MEGATRON, "num-virtual-stages-per-pipeline-rank"))
        writing_integer(w, "num-virtual-stages-per-pipeline-rank", l->vpp);
    else if (l->vpp > 1)
        writing_integer(w, "num-layers-per-virtual-pipeline-stage", w->shape.num_hidden_layers / l->pp / l->vpp);
}

static void add_layout(struct launch_writing *w) {
    static const char *const comms[KERF_CP_COMM_COUNT] = {"p2p", "p2p", "all_gather", "a2a"}; /* TransformerEngine's */
    const struct kerf_layout *l = w->layout;
    w->group = "PARALLEL_ARGS";
    writing_integer(w, "tensor-model-parallel-size", l->tp1);
    if (l->tp1 > 1) {
        writing_flag(w, "sequence-parallel");
        writing_flag(w, "tp-comm-overlap");
    }
    writing_integer(w, "context-parallel-size", l->cp);
    int has_comm = l->cp_comm != KERF_CP_COMM_RING || writing_has(w, KERF_FRAMEWORK_MEGATRON, "cp-comm-type");
    if (l->cp > 1 && has_comm) writing_word(w, "cp-comm-type", comms[l->cp_comm]);
    add_pipeline(w);
    if (w->shape.num_experts) {
        writing_integer(w, "expert-model-parallel-size", l->ep);
        if (l->etp != l->tp1 || writing_has(w, KERF_FRAMEWORK_MEGATRON, "expert-tensor-parallel-size"))
            writing_integer(w, "expert-tensor-parallel-size", l->etp);
    }
    if (l->order == KERF_ORDER_TP_CP_PP_DP) writing_flag(w, "use-tp-pp-dp-mapping");
    if (l->zero) writing_flag(w, "use-distributed-optimizer");
    if (l->dp * l->cp > 1) writing_flag(w, "overlap-grad-reduce");
    if (l->zero) writing_flag(w, "overlap-param-gather");
}

static void add_training(struct launch_writing *w) {
    const struct kerf_layout *l = w->layout;
    w->group = "TRAINING_ARGS";
    writing_integer(w, "micro-batch-size", l->micro_batch);
    writing_integer(w, "global-batch-size", w->problem->global_batch);
    writing_flag(w, w->problem->precision == KERF_PRECISION_FP16 ? "fp16" : "bf16");
    if (w->problem->precision == KERF_PRECISION_FP8) {
        writing_word(w, "fp8-format", "hybrid");
        if (writing_has(w, KERF_FRAMEWORK_MEGATRON, "fp8-recipe")) writing_word(w, "fp8-recipe", "delayed");
        /* with ZeRO weights are priced without a copy in 16 bits */
        if (l->zero && writing_has(w, KERF_FRAMEWORK_MEGATRON, "fp8-param-gather")) writing_flag(w, "fp8-param-gather");
    }
    if (!w->problem->has_bf16_gradients)
        writing_flag(w, "accumulate-allreduce-grads-in-fp32");
    else if (w->problem->precision != KERF_PRECISION_FP16)
        writing_flag(w, "grad-reduce-in-bf16");
    if (l->recompute == KERF_RECOMPUTE_NONE) return;
    writing_word(w, "recompute-granularity", l->recompute == KERF_RECOMPUTE_SELECTIVE ? "selective" : "full");
    if (l->recompute == KERF_RECOMPUTE_SELECTIVE) {
        if (writing_has(w, KERF_FRAMEWORK_MEGATRON, "recompute-modules")) /* before, there was no other module */
            writing_word(w, "recompute-modules", "core_attn");
        return;
    }
    int is_block = l->recompute == KERF_RECOMPUTE_BLOCK;
    writing_word(w, "recompute-method", is_block ? "block" : "uniform");
    writing_integer(w, "recompute-num-layers", is_block ? l->recompute_layers : 1);
}

static void add_keys(struct launch_writing *w) {
    int64_t node = writing_node_size(w->problem);
    w->group = "LAUNCH_ARGS";
    writing_integer(w, "nnodes", w->problem->gpus / node);
    writing_integer(w, "nproc-per-node", node);
    writing_literal(w, "node-rank", "${NODE_RANK:-0}");
    writing_literal(w, "master-addr", "${MASTER_ADDR:-localhost}");
    writing_literal(w, "master-port", "${MASTER_PORT:-6000}");
    add_shape(w);
    add_experts(w);
    add_layout(w);
    add_training(w);
}

static void print(const struct launch_writing *w, struct kerf_text *out) {
    static const char *const lines[] = {
        "Yours to add behind the script's name: data, tokenizer, optimizer and its schedule, checkpoints,",
        "and what of the model changes no cost: the activation of the gate, rotary scaling, how tokens are routed.",
        "Dropout as well: none is predicted, and Megatron-LM has 0.1, of attention and hidden states, unless it is "
        "told 0.",
        NULL};
    static const char *const groups[] = {"LAUNCH_ARGS", "MODEL_ARGS", "MOE_ARGS", "PARALLEL_ARGS", "TRAINING_ARGS"};
    kerf_text_add(out, "#!/bin/bash\n");
    launch_print_head(w, out, lines);
    if (w->layout->tp1 * w->layout->cp > 1)
        kerf_text_add(out, "\n# before Blackwell, tensor and context parallelism need it\n"
                           "export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (i == 2 && w->shape.num_experts == 0) continue;
        kerf_text_add(out, "\n");
        launch_print_array(w, out, groups[i]);
    }
    kerf_text_add(out, "\ntorchrun \"${LAUNCH_ARGS[@]}\" pretrain_gpt.py \"${MODEL_ARGS[@]}\"");
    if (w->shape.num_experts) kerf_text_add(out, " \"${MOE_ARGS[@]}\"");
    kerf_text_add(out, " \\\n    \"${PARALLEL_ARGS[@]}\" \"${TRAINING_ARGS[@]}\" \"$@\"\n");
}

const char *const launch_megatron_schedules[] = {"1f1b", "interleaved_1f1b", NULL};

const struct launch_writer launch_write_megatron = {
    .runner = {.name = "megatron", .takes = launch_runner_takes},
    .framework = KERF_FRAMEWORK_MEGATRON,
    .ending = "sh",
    LAUNCH_MEGATRON_CORE,
    .refuses_model = launch_megatron_refuses_model,
    .needs_release = needs_release,
    .add_keys = add_keys,
    .print = print,
};
