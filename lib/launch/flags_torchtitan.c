/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of torchtitan that decide what a job costs, by release: up to 0.2.2 those of its TOML (JobConfig), since then those of
 * its Python configs. */
#include "launch/flag_tables.h"

static const char *const versions[] = {"0.1.0", "0.2.0", "0.2.1", "0.2.2", "main", NULL};

/* key, type, default, choices, the version that brought it, the last one that has it */
static const struct launch_flag flags[] = {
    {"training.num_tokens_per_microbatch_per_dp_rank", "int", "16384", NULL, "main", NULL},
    {"training.num_tokens_per_train_step", "int", "-1", NULL, "main", NULL},
    {"training.max_context_length", "int", "2048", NULL, "main", NULL},
    {"training.max_norm", "float", "1.0", NULL, "0.1.0", NULL},
    {"training.steps", "int", "10000", NULL, "0.1.0", NULL},
    {"training.enable_cpu_offload", "flag", NULL, NULL, "0.1.0", NULL},
    {"training.disable_cuda_graphs", "flag", NULL, NULL, "main", NULL},
    {"training.dtype", "word", "float32", "bfloat16|float32", "0.2.0", NULL},
    {"training.mixed_precision_param", "word", "bfloat16", "bfloat16|float32", "0.1.0", NULL},
    {"training.mixed_precision_reduce", "word", "float32", "float32", "0.1.0", NULL},
    {"parallelism.data_parallel_replicate_degree", "int", "1", NULL, "0.1.0", NULL},
    {"parallelism.data_parallel_shard_degree", "int", "-1", NULL, "0.1.0", NULL},
    {"parallelism.fsdp_reshard_after_forward", "word", "default", "default|always|never", "0.1.0", NULL},
    {"parallelism.enable_fsdp_symm_mem", "flag", NULL, NULL, "main", NULL},
    {"parallelism.tensor_parallel_degree", "int", "1", NULL, "0.1.0", NULL},
    {"parallelism.enable_sequence_parallel", "flag", NULL, NULL, "main", NULL},
    {"parallelism.spmd_backend", "word", "spmd_types", "partial_dtensor|spmd_types", "main", NULL},
    {"parallelism.pipeline_parallel_degree", "int", "1", NULL, "0.1.0", NULL},
    {"parallelism.module_fqns_per_model_part", "lists", NULL, NULL, "0.2.0", NULL},
    {"parallelism.pipeline_parallel_first_stage_less_layers", "int", "1", NULL, "0.2.0", NULL},
    {"parallelism.pipeline_parallel_last_stage_less_layers", "int", "1", NULL, "0.2.0", NULL},
    {"parallelism.pipeline_parallel_layers_per_stage", "int", NULL, NULL, "0.1.0", NULL},
    {"parallelism.pipeline_parallel_schedule", "word", "1F1B", NULL, "0.1.0", NULL},
    {"parallelism.pipeline_parallel_schedule_csv", "word", NULL, NULL, "0.1.0", NULL},
    {"parallelism.num_pp_microbatches", "int", "1", NULL, "main", NULL},
    {"parallelism.context_parallel_degree", "int", "1", NULL, "0.1.0", NULL},
    {"parallelism.context_parallel_load_balancer", "word", "headtail", NULL, "0.2.2", NULL},
    {"parallelism.expert_parallel_degree", "int", "1", NULL, "0.2.0", NULL},
    {"compile.enable", "flag", NULL, NULL, "0.2.0", NULL},
    {"compile.enable_async_tensor_parallel", "flag", NULL, NULL, "main", NULL},
    {"module", "word", NULL, NULL, "main", NULL},
    {"config", "word", NULL, NULL, "main", NULL},
    {"activation_checkpoint", "word", NULL, "None|FullAC|SelectiveAC|MemoryBudgetAC", "main", NULL},
    {"activation_checkpoint.memory_budget", "float", "0.5", NULL, "0.2.0", NULL},
    {"training.batch_size", "int", "8", NULL, "0.1.0", "0.1.0"},
    {"training.local_batch_size", "int", "8", NULL, "0.1.0", "0.2.2"},
    {"training.global_batch_size", "int", "-1", NULL, "0.1.0", "0.2.2"},
    {"training.seq_len", "int", "2048", NULL, "0.1.0", "0.2.2"},
    {"training.compile", "bool", "False", NULL, "0.1.0", "0.1.0"},
    {"parallelism.enable_async_tensor_parallel", "bool", "False", NULL, "0.1.0", "0.2.2"},
    {"parallelism.pipeline_parallel_microbatch_size", "int", "1", NULL, "0.1.0", "0.2.2"},
    {"parallelism.expert_tensor_parallel_degree", "int", "1", NULL, "0.2.0", "0.2.2"},
    {"activation_checkpoint.mode", "word", "selective", "none|selective|full|memory_budget", "0.1.0", "0.2.2"},
    {"activation_checkpoint.selective_ac_option", "word", "2", "int|op", "0.1.0", "0.2.2"},
    {"model.name", "word", "llama3", NULL, "0.1.0", "0.2.2"},
    {"model.flavor", "word", "debugmodel", NULL, "0.1.0", "0.2.2"},
    {"model.converters", "list", "[]", "float8|mx|quantize.linear.float8|quantize.grouped_mm.float8", "0.1.0", "0.2.2"},
    {"float8.enable_fsdp_float8_all_gather", "bool", "False", NULL, "0.1.0", "0.1.0"},
    {"parallelism.context_parallel_rotate_method", "word", "allgather", "allgather|alltoall", "0.1.0", "0.2.2"},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

const struct launch_flags launch_flags_torchtitan = {versions, flags};
