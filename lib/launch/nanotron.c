/* SPDX-License-Identifier: Apache-2.0 */
/* nanotron: a YAML config, or a command that names one. The rules are those of its config.py and parallel context: dp x tp x
 * pp x cp accelerators, and batches of dp x micro-batch x accumulation. */
#include <string.h>
#include "launch/launch_reading.h"

static const char *const model_key = "model.model_config.";

static int64_t of_model(struct launch_reading *r, const char *key, int64_t otherwise) {
    const char *whole = arena_printf(r->arena, "%s%s", model_key, key);
    return whole ? reading_integer(r, whole, otherwise) : otherwise;
}

static void read_model(struct launch_reading *r) {
    struct kerf_launch_model *m = &r->launch->config;
    m->hidden_size = of_model(r, "hidden_size", 4096);
    m->intermediate_size = of_model(r, "intermediate_size", 11008);
    m->num_hidden_layers = of_model(r, "num_hidden_layers", 32);
    m->num_attention_heads = of_model(r, "num_attention_heads", 32);
    m->num_key_value_heads = of_model(r, "num_key_value_heads", m->num_attention_heads);
    m->max_position_embeddings = of_model(r, "max_position_embeddings", 2048);
    m->vocab_size = of_model(r, "vocab_size", 32000);
    if (m->num_attention_heads > 0) m->head_dim = m->hidden_size / m->num_attention_heads;
    m->is_gated = m->is_rms_norm = 1;
    m->is_tied = (int8_t)reading_flag(r, "model.model_config.tie_word_embeddings");
    m->has_linear_bias = 0;
    m->has_qkv_bias = (int8_t)reading_flag(r, "model.model_config.attention_bias");
    m->has_learned_positions = m->has_qk_norm = 0;
    int64_t experts =
        of_model(r, "moe_config.num_experts", of_model(r, "moe_num_experts", of_model(r, "num_experts", 0)));
    if (experts <= 1) return;
    m->num_experts = experts;
    m->num_experts_per_tok = of_model(r, "moe_config.top_k", of_model(r, "num_experts_per_tok", 1));
    int is_old = reading_has(r, "model.model_config.moe_num_experts");
    m->moe_intermediate_size = of_model(r, "moe_config.moe_intermediate_size", is_old ? m->intermediate_size : 1408);
    if (reading_flag(r, "model.model_config.moe_config.enable_shared_expert"))
        m->shared_expert_intermediate_size = of_model(r, "moe_config.shared_expert_intermediate_size", 5632);
    m->expert_layer_step = 1;
}

static void read(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    struct kerf_layout *layout = &l->layout;
    if (r->form == LAUNCH_SCRIPT) {
        const char *file = reading_word(r, "config-file");
        if (file && !reading_file(r, file, LAUNCH_YAML, "", &r->table))
            reading_fail(
                r, 0, "the launch takes its config from %.100s, which cannot be read: put it beside the launch", file);
        if (r->code != KERF_OK) return;
    }
    read_model(r);
    layout->dp = reading_integer(r, "parallelism.dp", 1);
    layout->tp1 = reading_integer(r, "parallelism.tp", 1);
    layout->pp = reading_integer(r, "parallelism.pp", 1);
    layout->cp = (int32_t)reading_integer(r, "parallelism.context_parallel_size", 1);
    layout->ep = (int32_t)reading_integer(r, "parallelism.expert_parallel_size", 1);
    layout->etp = layout->vpp = 1;
    if (layout->cp > 1) layout->cp_comm = KERF_CP_COMM_RING;
    int64_t stage = reading_integer(r, "optimizer.zero_stage", 0);
    if (stage < 0 || stage > 1) reading_refuse(r, "OptimizerArgs", "zero_stage is 0 or 1, not %lld", (long long)stage);
    layout->zero = (int8_t)(stage < 0 ? 0 : stage > 3 ? 3 : stage);
    layout->recompute = reading_flag(r, "parallelism.recompute_layer") ? KERF_RECOMPUTE_FULL : KERF_RECOMPUTE_NONE;
    const char *engine = reading_word(r, "parallelism.pp_engine"), *mode = reading_word(r, "parallelism.tp_mode");
    if (layout->pp > 1 && (engine == NULL || strcmp(engine, "1f1b") != 0)) strcpy(layout->schedule, "gpipe");
    l->has_sequence_parallel = mode && strcmp(mode, "REDUCE_SCATTER") == 0 && layout->tp1 > 1;
    layout->micro_batch = reading_integer(r, "tokens.micro_batch_size", 0);
    l->seq_length = reading_integer(r, "tokens.sequence_length", 0);
    int64_t product = 0;
    if (!__builtin_mul_overflow(launch_product(layout->dp, layout->micro_batch, 1, 1),
                                reading_integer(r, "tokens.batch_accumulation_per_replica", 1), &product))
        l->global_batch = product;
    const char *type = reading_word(r, "model.dtype");
    strcpy(l->precision, type == NULL || strstr(type, "bfloat16") ? "bf16" : strstr(type, "float16") ? "fp16" : "fp32");
    if (type == NULL) reading_assume(r, "precision", "bf16, the default of model.dtype");
    strcpy(l->gradients, reading_flag(r, "optimizer.accumulate_grad_in_fp32") ? "fp32" : l->precision);
    l->gpus = launch_product(layout->dp, layout->tp1, layout->pp, layout->cp);
}

static void check(struct launch_reading *r) {
    const struct kerf_launch *l = r->launch;
    const struct kerf_launch_model *m = &l->config;
    const struct kerf_layout *layout = &l->layout;
    int64_t dp = reading_integer(r, "parallelism.dp", 1);
    if (dp != layout->dp)
        reading_refuse(r, "ParallelContext", "dp %lld x tp %lld x pp %lld x cp %d is not %lld accelerators",
                       (long long)dp, (long long)layout->tp1, (long long)layout->pp, layout->cp, (long long)l->gpus);
    if (m->num_attention_heads % layout->tp1)
        reading_refuse(r, "CausalSelfAttention", "%lld attention heads are not divisible by tp %lld",
                       (long long)m->num_attention_heads, (long long)layout->tp1);
    if (m->num_key_value_heads % layout->tp1)
        reading_refuse(r, "CausalSelfAttention", "%lld key/value heads are not divisible by tp %lld",
                       (long long)m->num_key_value_heads, (long long)layout->tp1);
    if (m->num_key_value_heads && m->num_attention_heads % m->num_key_value_heads)
        reading_refuse(r, "CausalSelfAttention", "%lld attention heads are not divisible by %lld key/value heads",
                       (long long)m->num_attention_heads, (long long)m->num_key_value_heads);
    if (layout->tp1 > 1 && l->has_sequence_parallel && l->seq_length % layout->tp1)
        reading_refuse(r, "TensorParallelRowLinear", "sequence length %lld is not divisible by tp %lld",
                       (long long)l->seq_length, (long long)layout->tp1);
    if (layout->pp > m->num_hidden_layers)
        reading_refuse(r, "PipelineBlock", "pp %lld is more than %lld layers", (long long)layout->pp,
                       (long long)m->num_hidden_layers);
    if (m->num_experts && m->num_experts % layout->ep)
        reading_refuse(r, "MoEConfig", "%lld experts are not divisible by ep %d", (long long)m->num_experts,
                       layout->ep);
}

static int32_t score(struct launch_reading *r) {
    if (r->form == LAUNCH_SCRIPT)
        return (strstr(r->program, "run_train.py") || strstr(r->program, "nanotron")) && reading_has(r, "config-file")
                   ? 5
                   : 0;
    int32_t found =
        launch_find(&r->table, "parallelism.dp") != NULL && launch_find(&r->table, "parallelism.tp") != NULL;
    return found ? 10 : 0;
}

const struct launch_reader launch_nanotron = {KERF_FRAMEWORK_NANOTRON, score, read, check};
