/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of nanotron that decide what a job costs (src/nanotron/config), by release. */
#include "launch/flag_tables.h"

static const char *const versions[] = {"0.4", "main", NULL};

/* key, type, default, choices, the version that brought it, the last one that has it */
static const struct launch_flag flags[] = {
    {"parallelism.dp", "int", NULL, NULL, "0.4", NULL},
    {"parallelism.pp", "int", NULL, NULL, "0.4", NULL},
    {"parallelism.tp", "int", NULL, NULL, "0.4", NULL},
    {"parallelism.pp_engine", "word", NULL, "1f1b|afab", "0.4", NULL},
    {"parallelism.tp_mode", "word", NULL, "ALL_REDUCE|REDUCE_SCATTER", "0.4", NULL},
    {"parallelism.tp_linear_async_communication", "bool", NULL, NULL, "0.4", NULL},
    {"parallelism.recompute_layer", "bool", "False", NULL, "main", NULL},
    {"parallelism.tp_recompute_allgather", "bool", "True", NULL, "main", NULL},
    {"parallelism.expert_parallel_size", "int", "1", NULL, "0.4", NULL},
    {"parallelism.context_parallel_size", "int", "1", NULL, "main", NULL},
    {"tokens.sequence_length", "int", NULL, NULL, "0.4", NULL},
    {"tokens.train_steps", "int", NULL, NULL, "0.4", NULL},
    {"tokens.micro_batch_size", "int", NULL, NULL, "0.4", NULL},
    {"tokens.batch_accumulation_per_replica", "int", NULL, NULL, "0.4", NULL},
    {"optimizer.zero_stage", "int", NULL, NULL, "0.4", NULL},
    {"optimizer.clip_grad", "float", NULL, NULL, "0.4", NULL},
    {"optimizer.accumulate_grad_in_fp32", "bool", NULL, NULL, "0.4", NULL},
    {"model.dtype", "word", NULL, NULL, "0.4", NULL},
    {"model.make_vocab_size_divisible_by", "int", "1", NULL, "0.4", NULL},
    {"model.ddp_bucket_cap_mb", "int", "25", NULL, "0.4", NULL},
    {"model.model_config.hidden_size", "int", "4096", NULL, "0.4", NULL},
    {"model.model_config.intermediate_size", "int", "11008", NULL, "0.4", NULL},
    {"model.model_config.num_hidden_layers", "int", "32", NULL, "0.4", NULL},
    {"model.model_config.num_attention_heads", "int", "32", NULL, "0.4", NULL},
    {"model.model_config.num_key_value_heads", "int", NULL, NULL, "0.4", NULL},
    {"model.model_config.vocab_size", "int", "32000", NULL, "0.4", NULL},
    {"model.model_config.tie_word_embeddings", "bool", "False", NULL, "0.4", NULL},
    {"model.model_config.max_position_embeddings", "int", "2048", NULL, "0.4", NULL},
    {"model.model_config.attention_bias", "bool", "False", NULL, "main", NULL},
    {"model.model_config.is_llama_config", "bool", "True", NULL, "0.4", NULL},
    {"model.model_config.is_qwen2_config", "bool", "True", NULL, "main", NULL},
    {"model.model_config.sliding_window_size", "int", NULL, NULL, "0.4", NULL},
    {"model.model_config.moe_config", "word", NULL, NULL, "main", NULL},
    {"model.model_config.moe_config.num_experts", "int", "8", NULL, "main", NULL},
    {"model.model_config.moe_config.top_k", "int", "2", NULL, "0.4", NULL},
    {"model.model_config.moe_config.moe_intermediate_size", "int", "1408", NULL, "main", NULL},
    {"model.model_config.moe_config.shared_expert_intermediate_size", "int", "5632", NULL, "main", NULL},
    {"model.model_config.moe_config.enable_shared_expert", "bool", "False", NULL, "main", NULL},
    {"model.model_config.moe_config.layers", "int", "[-1]", NULL, "main", NULL},
    {"model.model_config.moe_config.token_dispatcher_type", "word", "alltoall", NULL, "main", NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

const struct launch_flags launch_flags_nanotron = {versions, flags};
