/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Megatron-Bridge: the assignments of a recipe as JSON or YAML (model, train, ddp, mixed_precision). The shape is that of the
 * model in the recipe's name where the file does not give it; what a recipe does not assign is Megatron-Bridge's default. The
 * rules are Megatron-LM's.
 */
#include <string.h>
#include <strings.h>
#include "base/error_fill.h"
#include "launch/launch_reading.h"
#include "launch/megatron_patterns.h"

static int64_t number(struct launch_reading *r, const char *key, int64_t otherwise) {
    const char *whole = arena_printf(r->arena, "model.%s", key);
    return whole ? reading_integer(r, whole, otherwise) : otherwise;
}

/* model.moe_layer_freq as Megatron-LM's flag has it: a list is its first way to be written. */
static const char *layer_frequency(struct launch_reading *r) {
    const struct launch_entry *entry = launch_find(&r->table, "model.moe_layer_freq");
    if (entry == NULL || entry->num_values < 2) return reading_word(r, "model.moe_layer_freq");
    struct kerf_text list = {0};
    for (int32_t i = 0; i < entry->num_values; i++) kerf_text_printf(&list, "%c%s", i ? ',' : '[', entry->values[i]);
    kerf_text_add(&list, "]");
    const char *text = list.failed ? NULL : arena_strdup(r->arena, list.data);
    kerf_text_free(&list);
    if (text == NULL) r->code = error_no_memory(r->err, "a launch");
    return text;
}

/* A switch of the model; otherwise where it is not there. */
static int8_t is_on(struct launch_reading *r, const char *key, int8_t otherwise) {
    const char *whole = arena_printf(r->arena, "model.%s", key);
    return whole && reading_has(r, whole) ? (int8_t)reading_flag(r, whole) : otherwise;
}

/* What GPTModelProvider has beside sizes; where a recipe names the model, its own is the default, else the provider's. */
static void read_switches(struct launch_reading *r, int is_known) {
    struct kerf_launch_model *m = &r->launch->config;
    const char *norm = reading_word(r, "model.normalization"),
               *position = reading_word(r, "model.position_embedding_type");
    m->is_gated = is_on(r, "gated_linear_unit", is_known ? m->is_gated : 0);
    m->is_tied = is_on(r, "share_embeddings_and_output_weights", is_known ? m->is_tied : 1);
    m->has_linear_bias = is_on(r, "add_bias_linear", is_known ? m->has_linear_bias : 1);
    m->has_qkv_bias = m->has_linear_bias || is_on(r, "add_qkv_bias", is_known ? m->has_qkv_bias : 0);
    m->has_qk_norm = is_on(r, "qk_layernorm", is_known ? m->has_qk_norm : 0);
    if (norm || !is_known) m->is_rms_norm = norm && strcmp(norm, "RMSNorm") == 0;
    if (position || !is_known) m->has_learned_positions = !position || strcmp(position, "learned_absolute") == 0;
    m->max_position_embeddings = number(r, "max_position_embeddings", m->max_position_embeddings);
    m->sliding_window = launch_window(r, "model.window_size");
    if (is_on(r, "multi_latent_attention", 0)) {
        m->has_qk_norm = 0; /* the norms of latents, which such a model always has here */
        m->q_lora_rank = number(r, "q_lora_rank", m->q_lora_rank);
        m->kv_lora_rank = number(r, "kv_lora_rank", m->kv_lora_rank ? m->kv_lora_rank : 32);
        m->qk_nope_head_dim = number(r, "qk_head_dim", m->qk_nope_head_dim ? m->qk_nope_head_dim : 128);
        m->qk_rope_head_dim = number(r, "qk_pos_emb_head_dim", m->qk_rope_head_dim ? m->qk_rope_head_dim : 64);
        m->v_head_dim = number(r, "v_head_dim", m->v_head_dim ? m->v_head_dim : 128);
    }
    if (m->num_experts == 0) return;
    m->shared_expert_intermediate_size =
        number(r, "moe_shared_expert_intermediate_size", m->shared_expert_intermediate_size);
    m->has_shared_gate = is_on(r, "moe_shared_expert_gate", m->has_shared_gate);
    const char *frequency = layer_frequency(r);
    if (m->expert_layer_step == 0) m->expert_layer_step = 1;
    if (frequency && !launch_layer_pattern(frequency, &m->first_dense_layers, &m->expert_layer_step))
        reading_assume(r, "moe_layer_freq", "all layers have experts, for '%.60s' is not of a kind that kerf prices",
                       frequency);
}

static void read_shape(struct launch_reading *r) {
    struct kerf_launch_model *m = &r->launch->config;
    const char *recipe = reading_word(r, "recipe");
    int is_known = recipe && launch_shape(m, recipe);
    if (is_known)
        reading_assume(r, "model", "the shape in the recipe's name, %.80s", recipe);
    else if (recipe)
        reading_assume(r, "model", "not known: kerf does not know the model of the recipe %.80s", recipe);
    m->num_hidden_layers = number(r, "num_layers", m->num_hidden_layers);
    m->hidden_size = number(r, "hidden_size", m->hidden_size);
    m->intermediate_size = number(r, "ffn_hidden_size", m->intermediate_size);
    m->num_attention_heads = number(r, "num_attention_heads", m->num_attention_heads);
    m->num_key_value_heads = number(r, "num_query_groups", m->num_key_value_heads);
    m->head_dim = number(r, "kv_channels", m->head_dim);
    m->vocab_size = number(r, "vocab_size", m->vocab_size);
    m->num_experts = number(r, "num_moe_experts", m->num_experts);
    m->num_experts_per_tok = number(r, "moe_router_topk", m->num_experts_per_tok);
    m->moe_intermediate_size = number(r, "moe_ffn_hidden_size", m->moe_intermediate_size);
    m->mtp_layers = number(r, "mtp_num_layers", m->mtp_layers);
    if (m->head_dim == 0 && m->num_attention_heads > 0) m->head_dim = m->hidden_size / m->num_attention_heads;
    if (m->num_key_value_heads == 0) m->num_key_value_heads = m->num_attention_heads;
    if (m->num_experts && m->moe_intermediate_size == 0) m->moe_intermediate_size = m->intermediate_size;
    read_switches(r, is_known);
    int64_t length = r->launch->seq_length = reading_integer(
        r, "dataset.seq_length", reading_integer(r, "dataset.sequence_length", number(r, "seq_length", 0)));
    if (length == 0 && recipe) {
        r->launch->seq_length = strstr(recipe, "llama3") || strstr(recipe, "llama_3") ? 8192 : 4096;
        reading_assume(r, "seq_length", "%lld, the base recipe's", (long long)r->launch->seq_length);
    }
}

/* Whether mixed_precision, a name such as bf16_with_fp8_delayed_scaling_mixed or a MixedPrecisionConfig, says this. */
static int has_precision(struct launch_reading *r, const char *name, const char *what) {
    const char *key = arena_printf(r->arena, "mixed_precision.%s", what);
    const char *word = key ? reading_word(r, key) : NULL;
    return (name && strstr(name, what)) || (word && strcasecmp(word, "false") != 0);
}

/* What products are computed in, and what gradients are summed in: a mixed_precision overwrites what ddp says. */
static void read_precision(struct launch_reading *r) {
    static const char *const sums = "mixed_precision.grad_reduce_in_fp32", *const of_ddp = "ddp.grad_reduce_in_fp32";
    struct kerf_launch *l = r->launch;
    const char *name = reading_word(r, "mixed_precision");
    int is_bf16 = has_precision(r, name, "bf16");
    const char *precision = has_precision(r, name, "fp4")                ? "fp4"
                            : has_precision(r, name, "fp8")              ? "fp8"
                            : has_precision(r, name, "fp16") && !is_bf16 ? "fp16"
                                                                         : "bf16";
    strcpy(l->precision, precision);
    if (!is_bf16 && precision[0] == 'b') reading_assume(r, "precision", "bf16, Megatron-Bridge's default");
    const char *key = name == NULL && !reading_has(r, sums) ? of_ddp : sums;
    int is_bf16_sum = reading_has(r, key) && !reading_flag(r, key);
    strcpy(l->gradients, is_bf16_sum ? "bf16" : "fp32");
    if (name && reading_has(r, of_ddp) && !reading_flag(r, of_ddp))
        reading_assume(r, of_ddp, "true, for %.60s overwrites it", name);
}

static void read(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    struct kerf_layout *layout = &l->layout;
    int32_t stages[4096];
    read_shape(r);
    layout->tp1 = number(r, "tensor_model_parallel_size", 1);
    layout->pp = number(r, "pipeline_model_parallel_size", 1);
    layout->cp = (int32_t)number(r, "context_parallel_size", 1);
    layout->ep = (int32_t)number(r, "expert_model_parallel_size", 1);
    layout->etp = (int32_t)number(r, "expert_tensor_parallel_size", 1);
    launch_cp_comm(r, "model.cp_comm_type");
    int64_t vpp = number(r, "virtual_pipeline_model_parallel_size", 1);
    layout->vpp = vpp >= 1 && vpp <= 4096 ? (int32_t)vpp : 1;
    const char *text = reading_word(r, "model.pipeline_model_parallel_layout");
    int32_t count = text ? launch_pipeline_layout(text, stages, 4096) : 0;
    if (count && layout->pp > 0 && count % layout->pp == 0) layout->vpp = (int32_t)(count / layout->pp);
    if (text && (count == 0 || layout->pp < 1 || count % layout->pp))
        reading_refuse(r, "PipelineParallelLayerLayout",
                       "pipeline_model_parallel_layout has %d stages, which pp %lld does not "
                       "divide",
                       count, (long long)layout->pp);
    else if (text)
        launch_stage_layers(r, stages, count);
    layout->micro_batch = reading_integer(r, "train.micro_batch_size", 0);
    l->global_batch = reading_integer(r, "train.global_batch_size", 0);
    if (reading_flag(r, "dist.use_tp_pp_dp_mapping")) layout->order = KERF_ORDER_TP_CP_PP_DP;
    /* either of the two switches turns both on, and a recipe's optimizer is distributed */
    int is_named = reading_has(r, "optimizer.use_distributed_optimizer");
    int is_sharded = reading_flag(r, "ddp.use_distributed_optimizer");
    layout->zero = !is_named || is_sharded || reading_flag(r, "optimizer.use_distributed_optimizer");
    if (!is_named && !is_sharded) reading_assume(r, "zero", "1, Megatron-Bridge's default");
    if (reading_flag(r, "ddp.use_megatron_fsdp") || reading_flag(r, "dist.use_megatron_fsdp")) layout->zero = 3;

    const char *granularity = reading_word(r, "model.recompute_granularity");
    const char *method = reading_word(r, "model.recompute_method");
    int has_modules = launch_find(&r->table, "model.recompute_modules") != NULL;
    layout->recompute = KERF_RECOMPUTE_NONE;
    if (granularity && strcmp(granularity, "full") == 0) {
        int64_t layers = number(r, "recompute_num_layers", 1);
        int is_block = method && strcmp(method, "block") == 0;
        layout->recompute = is_block ? KERF_RECOMPUTE_BLOCK : KERF_RECOMPUTE_FULL;
        if (!is_block && layers > 1)
            reading_assume(r, "recompute", "full, a layer at a time: kerf prices no chunks of %lld", (long long)layers);
        layout->recompute_layers = is_block && layers > 0 && layers < 1 << 20 ? (int32_t)layers : 0;
    } else if (granularity || (has_modules && launch_find(&r->table, "model.recompute_granularity") == NULL)) {
        layout->recompute = KERF_RECOMPUTE_SELECTIVE;
        if (has_modules)
            reading_assume(r, "recompute", "selective: the core of attention, for kerf prices no other modules");
    }
    read_precision(r);
    l->has_sequence_parallel = reading_flag(r, "model.sequence_parallel") && layout->tp1 > 1;
    if (l->gpus == 0) l->gpus = reading_integer(r, "num_gpus", 0);
}

static void check(struct launch_reading *r) {
    const struct kerf_launch *l = r->launch;
    const struct kerf_layout *layout = &l->layout;
    int64_t model = (int64_t)layout->ep * layout->etp * layout->pp, layers = l->config.num_hidden_layers;
    int has_split = reading_has(r, "model.pipeline_model_parallel_layout") ||
                    reading_has(r, "model.num_layers_in_first_pipeline_stage") ||
                    reading_has(r, "model.num_layers_in_last_pipeline_stage") ||
                    reading_flag(r, "model.account_for_embedding_in_pipeline_split") ||
                    reading_flag(r, "model.account_for_loss_in_pipeline_split");
    launch_batch_rule(r, "num_microbatches_calculator");
    if (l->config.num_attention_heads % layout->tp1)
        reading_refuse(r, "TransformerConfig", "%lld attention heads are not divisible by tp %lld",
                       (long long)l->config.num_attention_heads, (long long)layout->tp1);
    if (layers && !has_split && reading_word(r, "recipe") == NULL && layers % (layout->pp * layout->vpp))
        reading_refuse(r, "TransformerConfig", "%lld layers do not divide over pp %lld x vpp %d", (long long)layers,
                       (long long)layout->pp, layout->vpp);
    if (l->config.num_experts && l->config.num_experts % layout->ep)
        reading_refuse(r, "TransformerConfig", "%lld experts are not divisible by ep %d",
                       (long long)l->config.num_experts, layout->ep);
    if (l->config.num_experts && l->gpus % model)
        reading_refuse_gpus(r, "initialize_model_parallel",
                            "etp %d x ep %d x pp %lld = %lld does not divide %lld accelerators", layout->etp,
                            layout->ep, (long long)layout->pp, (long long)model, (long long)l->gpus);
}

static int32_t score(struct launch_reading *r) {
    if (r->form != LAUNCH_JSON && r->form != LAUNCH_YAML) return 0;
    return launch_find(&r->table, "model.tensor_model_parallel_size") || launch_find(&r->table, "recipe") ? 8 : 0;
}

const struct launch_reader launch_megatron_bridge = {KERF_FRAMEWORK_MEGATRON_BRIDGE, score, read, check};
