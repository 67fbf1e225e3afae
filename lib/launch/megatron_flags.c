/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Megatron-LM's flags, and what its validate_args (megatron/training/arguments.py), TransformerConfig and parallel_state
 * would refuse. Megatron-DeepSpeed took the flags over and renamed some.
 */
#include <stdlib.h>
#include <string.h>
#include "launch/launch_flags.h"
#include "launch/launch_reading.h"
#include "launch/megatron_patterns.h"

/* ---- Flags ------------------------------------------------------------------------------------------------------- */

static int64_t either(struct launch_reading *r, const char *key, const char *other, int64_t otherwise) {
    return reading_has(r, key) ? reading_integer(r, key, otherwise) : reading_integer(r, other, otherwise);
}

static void read_shape(struct launch_reading *r) {
    struct kerf_launch_model *m = &r->launch->config;
    m->num_hidden_layers = either(r, "num-layers", "encoder-num-layers", 0);
    m->hidden_size = reading_integer(r, "hidden-size", 0);
    m->num_attention_heads = reading_integer(r, "num-attention-heads", 0);
    const char *glu = reading_word(r, "glu-activation"); /* BigScience's */
    m->is_gated =
        (int8_t)(reading_flag(r, "swiglu") || reading_flag(r, "quick-geglu") || reading_flag(r, "geglu") || glu);
    m->intermediate_size = reading_integer(r, "ffn-hidden-size", 0);
    if (m->intermediate_size == 0 && m->hidden_size > 0) {
        m->intermediate_size = 4 * m->hidden_size;
        if (reading_flag(r, "swiglu")) m->intermediate_size = 4 * m->hidden_size * 2 / 3 / 64 * 64;
    }
    m->num_key_value_heads = m->num_attention_heads;
    if (reading_flag(r, "group-query-attention")) m->num_key_value_heads = reading_integer(r, "num-query-groups", 1);
    m->num_key_value_heads = reading_integer(r, "num-key-value-heads", m->num_key_value_heads);
    m->head_dim = reading_integer(r, "kv-channels", 0);
    if (m->head_dim == 0 && m->num_attention_heads > 0) m->head_dim = m->hidden_size / m->num_attention_heads;
    m->max_position_embeddings = reading_integer(r, "max-position-embeddings", 0);
    m->vocab_size = either(r, "pad-vocab-size-to", "padded-vocab-size", reading_integer(r, "vocab-size", 0));
    m->is_tied = !reading_flag(r, "untie-embeddings-and-output-weights");
    m->has_linear_bias = !reading_flag(r, "disable-bias-linear") && !reading_flag(r, "no-add-bias-linear");
    m->has_qkv_bias = m->has_linear_bias || reading_flag(r, "add-qkv-bias");
    m->has_qk_norm = (int8_t)reading_flag(r, "qk-layernorm");
    const char *norm = reading_word(r, "normalization");
    m->is_rms_norm = norm && (norm[0] == 'R' || norm[0] == 'r');
    const char *position = reading_word(r, "position-embedding-type");
    m->has_learned_positions = position ? strcmp(position, "learned_absolute") == 0 || strcmp(position, "absolute") == 0
                                        : !reading_flag(r, "use-rotary-position-embeddings");
    m->mtp_layers = reading_integer(r, "mtp-num-layers", 0);
    m->sliding_window = launch_window(r, "window-size");
    if (reading_flag(r, "multi-latent-attention")) {
        m->has_qk_norm = 0; /* the norms of latents, which such a model always has here */
        m->q_lora_rank = reading_integer(r, "q-lora-rank", 0);
        m->kv_lora_rank = reading_integer(r, "kv-lora-rank", 32);
        m->qk_nope_head_dim = reading_integer(r, "qk-head-dim", 128);
        m->qk_rope_head_dim = reading_integer(r, "qk-pos-emb-head-dim", 64);
        m->v_head_dim = reading_integer(r, "v-head-dim", 128);
    }
}

static void read_dropout(struct launch_reading *r) {
    static const char *const keys[] = {"attention-dropout", "hidden-dropout"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *share = reading_word_if_known(r, keys[i]);
        if (share && strtod(share, NULL) > 0)
            reading_assume(r, keys[i], "0, for kerf prices no dropout: not %.40s", share);
    }
}

static void read_experts(struct launch_reading *r) {
    struct kerf_launch_model *m = &r->launch->config;
    int is_deepspeed = r->launch->framework == KERF_FRAMEWORK_MEGATRON_DEEPSPEED;
    m->num_experts = reading_integer(r, "num-experts", 0);
    if (m->num_experts <= 1 && is_deepspeed) m->num_experts = 0;
    if (m->num_experts == 0) return;
    m->num_experts_per_tok = is_deepspeed ? reading_integer(r, "topk", 1) : reading_integer(r, "moe-router-topk", 2);
    m->moe_intermediate_size = reading_integer(r, "moe-ffn-hidden-size", m->intermediate_size);
    m->shared_expert_intermediate_size = reading_integer(r, "moe-shared-expert-intermediate-size", 0);
    m->has_shared_gate = (int8_t)reading_flag(r, "moe-shared-expert-gate");
    m->expert_layer_step = is_deepspeed ? reading_integer(r, "expert-interval", 2) : 1;
    const char *frequency = reading_word(r, "moe-layer-freq");
    if (frequency && !launch_layer_pattern(frequency, &m->first_dense_layers, &m->expert_layer_step))
        reading_assume(r, "moe-layer-freq", "all layers have experts, for '%.60s' is not of a kind that kerf prices",
                       frequency);
}

static void read_batch(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    l->layout.micro_batch = either(r, "micro-batch-size", "batch-size", 0);
    l->global_batch = reading_integer(r, "global-batch-size", 0);
    const struct launch_entry *steps = launch_find(&r->table, "step-batch-size-schedule");
    if (steps && steps->num_values) { /* "0:384 200B:768", in one word or in several */
        const char *last = strrchr(steps->values[steps->num_values - 1], ':');
        int64_t batch = 0;
        if (l->global_batch)
            reading_refuse(r, "validate_args", "--step-batch-size-schedule and --global-batch-size exclude each other");
        else if (last && launch_whole_number(last + 1, &batch)) {
            l->global_batch = batch;
            reading_assume(r, "global_batch", "%lld, the last of --step-batch-size-schedule", (long long)batch);
        }
    }
    if (reading_has(r, "rampup-batch-size"))
        reading_assume(r, "global_batch", "%lld, where --rampup-batch-size ends", (long long)l->global_batch);
    l->seq_length = either(r, "seq-length", "encoder-seq-length", 0);
    if (l->layout.micro_batch == 0) reading_refuse(r, "validate_args", "--micro-batch-size is missing");
}

static void read_recompute(struct launch_reading *r) {
    struct kerf_layout *layout = &r->launch->layout;
    const char *granularity = reading_word(r, "recompute-granularity"), *method = reading_word(r, "recompute-method");
    const char *old = reading_word(r, "activations-checkpoint-method");
    int64_t layers = reading_integer(r, "recompute-num-layers", 0);
    layout->recompute = KERF_RECOMPUTE_NONE;
    if (old) {
        granularity = "full", method = old;
        layers = reading_integer(r, "activations-checkpoint-num-layers", 1);
    }
    if (reading_flag(r, "checkpoint-activations") || reading_flag(r, "deepspeed-activation-checkpointing")) {
        layout->recompute = KERF_RECOMPUTE_FULL;
        if (granularity == NULL) return;
    }
    if (reading_flag(r, "recompute-activations") || (granularity && strcmp(granularity, "selective") == 0)) {
        layout->recompute = KERF_RECOMPUTE_SELECTIVE;
        const struct launch_entry *modules = launch_find(&r->table, "recompute-modules");
        for (int32_t i = 0; modules && i < modules->num_values; i++)
            if (strcmp(modules->values[i], "core_attn") != 0) {
                reading_assume(r, "recompute", "selective: the core of attention, for kerf prices no other modules");
                break;
            }
    } else if (granularity && strcmp(granularity, "full") == 0) {
        int is_block = method && strcmp(method, "block") == 0;
        layout->recompute = is_block ? KERF_RECOMPUTE_BLOCK : KERF_RECOMPUTE_FULL;
        if (!is_block && layers > 1)
            reading_assume(r, "recompute", "full, a layer at a time: kerf prices no chunks of %lld", (long long)layers);
        layout->recompute_layers = is_block ? (int32_t)(layers < 1 || layers > 1 << 20 ? 1 : layers) : 0;
        if (method == NULL && r->launch->framework == KERF_FRAMEWORK_MEGATRON)
            reading_refuse(r, "TransformerConfig",
                           "--recompute-granularity full needs --recompute-method uniform or block");
    } else if (granularity) {
        reading_refuse(r, "argparse", "--recompute-granularity is full or selective, not %.40s", granularity);
    }
}

static void read_precision(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    int is_bf16 = reading_flag(r, "bf16"), is_fp16 = reading_flag(r, "fp16");
    int is_fp8 = reading_has(r, "fp8-format") || reading_has(r, "fp8") || reading_flag(r, "fp8-hybrid") ||
                 reading_flag(r, "fp8-e4m3");
    int is_fp4 = reading_has(r, "fp4-format") || reading_has(r, "fp4");
    int gathers_fp8 = reading_flag(r, "fp8-param-gather");
    if (is_fp8 && l->framework == KERF_FRAMEWORK_MEGATRON && l->layout.zero && !gathers_fp8)
        reading_assume(r, "fp8-param-gather", "on, for kerf prices no second copy of the weights in 16 bits with ZeRO");
    if (is_bf16 && is_fp16) reading_refuse(r, "validate_args", "--fp16 and --bf16 exclude each other");
    strcpy(l->precision, is_fp4 ? "fp4" : is_fp8 ? "fp8" : is_bf16 ? "bf16" : is_fp16 ? "fp16" : "fp32");
    const char *grads = reading_word(r, "main-grads-dtype");
    int is_fp32 = reading_flag(r, "accumulate-allreduce-grads-in-fp32") || is_bf16 || !is_fp16;
    strcpy(l->gradients, is_fp32 ? "fp32" : "fp16");
    if (reading_flag(r, "grad-reduce-in-bf16") || (grads && strcmp(grads, "bf16") == 0)) strcpy(l->gradients, "bf16");
}

static void read_sharding(struct launch_reading *r) {
    struct kerf_layout *layout = &r->launch->layout;
    layout->zero = reading_flag(r, "use-distributed-optimizer") ? 1 : 0;
    if (reading_flag(r, "use-torch-fsdp2")) layout->zero = 3;
    if (reading_flag(r, "use-megatron-fsdp") || reading_flag(r, "use-custom-fsdp")) {
        static const char *const names[] = {"no_shard", "optim", "optim_grads", "optim_grads_params"};
        const char *strategy = reading_word(r, "data-parallel-sharding-strategy");
        layout->zero = 3;
        for (int8_t i = 0; strategy && i < 4; i++)
            if (strcmp(strategy, names[i]) == 0) layout->zero = i;
    }
}

/* vpp, and the layers of each stage where they are not equal. */
static void read_pipeline(struct launch_reading *r) {
    enum { STAGES_MAX = 4096 };
    struct kerf_launch *l = r->launch;
    struct kerf_layout *layout = &l->layout;
    int32_t layers[STAGES_MAX];
    int64_t total = l->config.num_hidden_layers,
            per_stage = reading_integer(r, "num-layers-per-virtual-pipeline-stage", 0);
    int64_t first = either(r, "decoder-first-pipeline-num-layers", "num-layers-in-first-pipeline-stage", 0);
    int64_t last = either(r, "decoder-last-pipeline-num-layers", "num-layers-in-last-pipeline-stage", 0);
    int embedding = reading_flag(r, "account-for-embedding-in-pipeline-split");
    int loss = reading_flag(r, "account-for-loss-in-pipeline-split");
    const char *text = reading_word(r, "pipeline-model-parallel-layout");
    const char *method = reading_word(r, "pp-partition-method"); /* BigScience: embedding and head count as layers */
    int is_deepspeed = r->launch->framework == KERF_FRAMEWORK_MEGATRON_DEEPSPEED;
    if (is_deepspeed && method && strstr(method, "embedding")) embedding = loss = 1;
    layout->vpp = (int32_t)reading_integer(r, "num-virtual-stages-per-pipeline-rank", 1);
    if (layout->vpp < 1 || layout->vpp > 4096) {
        reading_refuse(r, "validate_args", "--num-virtual-stages-per-pipeline-rank must be above 0");
        layout->vpp = 1;
    }
    if (layout->pp < 1) return;
    if (text) {
        int32_t stages = launch_pipeline_layout(text, layers, STAGES_MAX);
        if (stages == 0 || stages % layout->pp) {
            reading_refuse(r, "PipelineParallelLayerLayout",
                           "--pipeline-model-parallel-layout has %d stages, which pp %lld "
                           "does not divide",
                           stages, (long long)layout->pp);
            return;
        }
        layout->vpp = (int32_t)(stages / layout->pp);
        int64_t sum = 0;
        for (int32_t i = 0; i < stages; i++) sum += layers[i];
        if (total && sum != total)
            reading_refuse(r, "PipelineParallelLayerLayout",
                           "--pipeline-model-parallel-layout has %lld decoder layers, not "
                           "--num-layers %lld",
                           (long long)sum, (long long)total);
        launch_stage_layers(r, layers, stages);
        return;
    }
    int64_t counted = total + embedding + loss - first - last, ranks = layout->pp - (first > 0) - (last > 0);
    if (total == 0) return;
    if (layout->pp > 1 && (ranks < 0 || (ranks == 0 && counted != 0) || (ranks > 0 && counted % ranks != 0))) {
        if (is_deepspeed) /* its PipelineModule balances what does not divide */
            reading_assume(r, "stage_layers", "the best split, for %lld layers do not divide over pp %lld",
                           (long long)total, (long long)layout->pp);
        else
            reading_refuse(r, "TransformerConfig", "%lld layers do not divide over pp %lld", (long long)total,
                           (long long)layout->pp);
        return;
    }
    int64_t of_rank = ranks > 0 ? counted / ranks : first;
    if (per_stage > 0) {
        if (of_rank % per_stage)
            reading_refuse(r, "validate_args",
                           "%lld layers of a pipeline stage are not divisible by "
                           "--num-layers-per-virtual-pipeline-stage %lld",
                           (long long)of_rank, (long long)per_stage);
        else
            layout->vpp = of_rank / per_stage > 4096 ? 1 : (int32_t)(of_rank / per_stage);
    }
    if (layout->vpp < 1) layout->vpp = 1;
    int64_t stages = layout->pp * layout->vpp;
    if (stages > STAGES_MAX || (first == 0 && last == 0 && !embedding && !loss)) return;
    for (int64_t i = 0; i < stages; i++) {
        int64_t rank = i % layout->pp, here = rank == 0 && first               ? first
                                              : rank == layout->pp - 1 && last ? last
                                                                               : of_rank;
        if (here % layout->vpp) {
            reading_refuse(r, "TransformerConfig",
                           "%lld layers of a pipeline stage are not divisible by %d virtual stages", (long long)here,
                           layout->vpp);
            return;
        }
        layers[i] = (int32_t)(here / layout->vpp);
    }
    layers[0] -= embedding;
    layers[stages - 1] -= loss;
    launch_stage_layers(r, layers, (int32_t)stages);
}

void launch_cp_comm(struct launch_reading *r, const char *key) {
    struct kerf_layout *layout = &r->launch->layout;
    const char *comm = reading_word(r, key);
    if (layout->cp == 1) return;
    layout->cp_comm = KERF_CP_COMM_RING;
    if (comm == NULL || strcmp(comm, "p2p") == 0) return;
    if (strcmp(comm, "a2a") == 0)
        layout->cp_comm = KERF_CP_COMM_ALL_TO_ALL;
    else if (strcmp(comm, "all_gather") == 0 ||
             strcmp(comm, "allgather") == 0) /* the second is that of Megatron's help */
        layout->cp_comm = KERF_CP_COMM_ALL_GATHER;
    else
        reading_assume(r, "cp_comm", "ring, as '%.32s' cannot be priced", comm);
}

void launch_megatron_flags(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    struct kerf_layout *layout = &l->layout;
    layout->tp1 = either(r, "tensor-model-parallel-size", "model-parallel-size", 1);
    layout->pp = reading_integer(r, "pipeline-model-parallel-size", 1);
    layout->cp = (int32_t)reading_integer(r, "context-parallel-size", 1);
    layout->ep = (int32_t)either(r, "expert-model-parallel-size", "moe-expert-parallel-size", 1);
    read_shape(r);
    read_dropout(r);
    read_experts(r);
    read_batch(r);
    read_recompute(r);
    read_sharding(r);
    read_precision(r);
    layout->etp = (int32_t)reading_integer(r, "expert-tensor-parallel-size", l->config.num_experts ? layout->tp1 : 1);
    launch_cp_comm(r, "cp-comm-type");
    l->has_sequence_parallel = reading_flag(r, "sequence-parallel") && layout->tp1 > 1;
    if (reading_flag(r, "use-tp-pp-dp-mapping")) layout->order = KERF_ORDER_TP_CP_PP_DP;
    read_pipeline(r);
}

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

/* Since Megatron-Core 0.16.0 there may be fewer groups than shards. */
static void check_query_groups(struct launch_reading *r) {
    int64_t groups = r->launch->config.num_key_value_heads, tp = r->launch->layout.tp1;
    int is_megatron = r->launch->framework == KERF_FRAMEWORK_MEGATRON;
    if (groups == 0 || groups % tp == 0) return;
    if (!is_megatron || !launch_version_reaches(&launch_flags_megatron, r->version, "0.16.0"))
        reading_refuse(r, is_megatron ? "TransformerConfig" : "divide",
                       "%lld query groups are not divisible by tp %lld", (long long)groups, (long long)tp);
    else if (tp % groups)
        reading_refuse(r, "TransformerConfig", "%lld query groups and tp %lld do not divide each other",
                       (long long)groups, (long long)tp);
}

static void check_shape(struct launch_reading *r) {
    const struct kerf_launch *l = r->launch;
    const struct kerf_launch_model *m = &l->config;
    const struct kerf_layout *layout = &l->layout;
    if (m->num_attention_heads && m->num_attention_heads % layout->tp1)
        reading_refuse(r, "TransformerConfig", "%lld attention heads are not divisible by tp %lld",
                       (long long)m->num_attention_heads, (long long)layout->tp1);
    check_query_groups(r);
    if (m->num_attention_heads && m->num_key_value_heads && m->num_attention_heads % m->num_key_value_heads)
        reading_refuse(r, "TransformerConfig", "%lld attention heads are not divisible by %lld query groups",
                       (long long)m->num_attention_heads, (long long)m->num_key_value_heads);
    if (m->num_attention_heads && m->hidden_size % m->num_attention_heads && !reading_has(r, "kv-channels"))
        reading_refuse(r, "validate_args", "hidden size %lld is not divisible by %lld attention heads",
                       (long long)m->hidden_size, (long long)m->num_attention_heads);
    if (m->intermediate_size % layout->tp1)
        reading_refuse(r, "divide", "ffn hidden size %lld is not divisible by tp %lld", (long long)m->intermediate_size,
                       (long long)layout->tp1);
    if (m->max_position_embeddings && l->seq_length > m->max_position_embeddings)
        reading_refuse(r, "validate_args", "--max-position-embeddings %lld is below --seq-length %lld",
                       (long long)m->max_position_embeddings, (long long)l->seq_length);
    if (layout->cp > 1 && l->seq_length % (2 * (int64_t)layout->cp))
        reading_refuse(r, "get_batch_on_this_cp_rank", "sequence length %lld is not divisible by 2 x cp %d",
                       (long long)l->seq_length, layout->cp);
    if (l->has_sequence_parallel && l->seq_length % layout->tp1)
        reading_refuse(r, "validate_args", "sequence length %lld is not divisible by tp %lld", (long long)l->seq_length,
                       (long long)layout->tp1);
}

static void check_experts(struct launch_reading *r) {
    const struct kerf_launch *l = r->launch;
    const struct kerf_layout *layout = &l->layout;
    int64_t experts = l->config.num_experts, model = (int64_t)layout->ep * layout->etp * layout->pp;
    if (experts == 0 && layout->ep > 1) reading_refuse(r, "validate_args", "expert parallelism needs --num-experts");
    if (experts && experts % layout->ep)
        reading_refuse(r, "TransformerConfig", "%lld experts are not divisible by ep %d", (long long)experts,
                       layout->ep);
    if (experts && l->gpus % model)
        reading_refuse_gpus(r, "initialize_model_parallel",
                            "etp %d x ep %d x pp %lld = %lld does not divide %lld accelerators", layout->etp,
                            layout->ep, (long long)layout->pp, (long long)model, (long long)l->gpus);
    if (experts && layout->etp > 1 && l->config.has_linear_bias && l->framework == KERF_FRAMEWORK_MEGATRON)
        reading_refuse(r, "TransformerConfig", "experts with biases need --expert-tensor-parallel-size 1");
    if (experts && layout->tp1 > 1 && layout->ep > 1 && !l->has_sequence_parallel &&
        l->framework == KERF_FRAMEWORK_MEGATRON)
        reading_refuse(r, "validate_args", "experts with tensor parallelism need --sequence-parallel");
}

void launch_megatron_rules(struct launch_reading *r) {
    const struct kerf_launch *l = r->launch;
    const struct kerf_layout *layout = &l->layout;
    if (l->config.num_hidden_layers == 0) reading_refuse(r, "validate_args", "--num-layers is missing");
    check_shape(r);
    if (layout->vpp > 1 && layout->pp < 2)
        reading_refuse(r, "validate_args", "virtual pipeline stages need a pipeline-model-parallel size above 1");
    launch_batch_rule(r, "num_microbatches_calculator");
}

static void check(struct launch_reading *r) {
    const struct kerf_launch *l = r->launch;
    launch_megatron_rules(r);
    check_experts(r);
    if (reading_flag(r, "use-torch-fsdp2")) {
        if (l->layout.pp > 1) reading_refuse(r, "validate_args", "--use-torch-fsdp2 excludes pipeline parallelism");
        if (l->layout.ep > 1) reading_refuse(r, "validate_args", "--use-torch-fsdp2 excludes expert parallelism");
        if (reading_flag(r, "use-distributed-optimizer"))
            reading_refuse(r, "validate_args", "--use-torch-fsdp2 excludes --use-distributed-optimizer");
    }
    if (reading_flag(r, "use-torch-fsdp2") || reading_flag(r, "use-megatron-fsdp")) return;
    if (reading_flag(r, "overlap-param-gather") && !reading_flag(r, "use-distributed-optimizer"))
        reading_refuse(r, "validate_args", "--overlap-param-gather needs --use-distributed-optimizer");
    if (reading_flag(r, "overlap-param-gather") && !reading_flag(r, "overlap-grad-reduce"))
        reading_refuse(r, "validate_args", "--overlap-param-gather needs --overlap-grad-reduce");
    if (reading_flag(r, "fp8-param-gather") && !reading_flag(r, "use-distributed-optimizer"))
        reading_refuse(r, "validate_args", "--fp8-param-gather needs --use-distributed-optimizer");
}

static int32_t score(struct launch_reading *r) {
    static const char *const keys[] = {"tensor-model-parallel-size",
                                       "pipeline-model-parallel-size",
                                       "micro-batch-size",
                                       "global-batch-size",
                                       "num-layers",
                                       "num-attention-heads"};
    int32_t found = 0;
    if (r->form != LAUNCH_SCRIPT) return 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) found += launch_find(&r->table, keys[i]) != NULL;
    return found >= 2 ? 2 * found : 0;
}

const struct launch_reader launch_megatron = {KERF_FRAMEWORK_MEGATRON, score, launch_megatron_flags, check};
