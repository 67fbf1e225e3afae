/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Megatron-DeepSpeed: Megatron-LM's flags and a DeepSpeed config, in a file beside the script or in a here-document of it.
 * Its rules are those of DeepSpeed's runtime/config.py (the batch is micro-batch x accumulation x dp) and pipe/engine.py.
 */
#include <string.h>
#include "launch/launch_reading.h"

/* The DeepSpeed config: keys behind "ds". */
static void read_config(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    const char *file = NULL;
    const struct launch_entry *entry = launch_find(&r->table, "deepspeed_config");
    if (entry && entry->num_values) file = entry->values[0];
    int64_t of_flag = reading_integer(r, "zero-stage", -1);
    int is_read = file && reading_file(r, file, LAUNCH_JSON, "ds", &r->table);
    if (file && !is_read)
        reading_assume(r, "deepspeed_config", "not read: %.100s is neither beside the launch nor written by it", file);
    int64_t stage = reading_integer(r, "ds.zero_optimization.stage", is_read ? 0 : -1);
    if (stage < 0) stage = of_flag;
    l->layout.zero = (int8_t)(stage > 3 ? 3 : stage);
    if (stage > 3)
        reading_refuse(r, "DeepSpeedZeroConfig", "zero_optimization.stage is 0 to 3, not %lld", (long long)stage);
    int64_t train = reading_integer(r, "ds.train_batch_size", 0);
    int64_t micro = reading_integer(r, "ds.train_micro_batch_size_per_gpu", 0);
    int64_t steps = reading_integer(r, "ds.gradient_accumulation_steps", 0);
    if (l->global_batch == 0) l->global_batch = train;
    if (l->layout.micro_batch == 0) l->layout.micro_batch = micro;
    if (micro && l->layout.micro_batch != micro)
        reading_refuse(r, "DeepSpeedEngine", "train_micro_batch_size_per_gpu %lld is not --micro-batch-size %lld",
                       (long long)micro, (long long)l->layout.micro_batch);
    if (train && l->global_batch != train)
        reading_refuse(r, "DeepSpeedEngine", "train_batch_size %lld is not --global-batch-size %lld", (long long)train,
                       (long long)l->global_batch);
    /* where both are written they tell dp, and so the accelerators */
    int64_t dp = micro && steps && train % (micro * steps) == 0 ? train / (micro * steps) : 0;
    if (dp && l->gpus == 0) {
        l->gpus = launch_product(dp, l->layout.tp1, l->layout.pp, l->layout.cp);
        reading_assume(r, "gpus", "%lld, from the DeepSpeed config's batches", (long long)l->gpus);
    }
    if (strcmp(l->precision, "fp32") == 0 && reading_flag(r, "ds.bf16.enabled")) strcpy(l->precision, "bf16");
    if (strcmp(l->precision, "fp32") == 0 && reading_flag(r, "ds.fp16.enabled")) strcpy(l->precision, "fp16");
    if (strcmp(l->precision, "fp16") == 0) strcpy(l->gradients, "fp16");
    const char *grads = reading_word(r, "ds.data_types.grad_accum_dtype");
    if (grads) strcpy(l->gradients, strcmp(grads, "fp32") == 0 ? "fp32" : strcmp(grads, "bf16") == 0 ? "bf16" : "fp16");
}

static void read(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    launch_megatron_flags(r);
    int64_t ulysses = reading_integer(r, "ds-sequence-parallel-size", 1);
    if (ulysses > 1 && ulysses < 1 << 20) {
        l->ulysses = (int32_t)ulysses;
        l->layout.cp = (int32_t)ulysses;
        l->layout.cp_comm = KERF_CP_COMM_ALL_TO_ALL;
    }
    if (l->config.num_experts && !reading_flag(r, "enable-expert-tensor-parallelism") &&
        !reading_has(r, "expert-tensor-parallel-size"))
        l->layout.etp = 1;
    read_config(r);
}

static void check(struct launch_reading *r) {
    const struct kerf_launch *l = r->launch;
    launch_megatron_rules(r);
    if (l->layout.pp > 1 && l->layout.zero >= 2)
        reading_refuse(r, "PipelineEngine", "ZeRO %d excludes pipeline parallelism", l->layout.zero);
    if (l->layout.pp > 1 && reading_flag(r, "no-pipeline-parallel"))
        reading_refuse(r, "validate_args", "--no-pipeline-parallel needs a pipeline-model-parallel size of 1");
    if (l->ulysses > 1 && l->config.num_attention_heads % l->ulysses)
        reading_refuse(r, "DistributedAttention",
                       "%lld attention heads are not divisible by a sequence-parallel size of %d",
                       (long long)l->config.num_attention_heads, l->ulysses);
    if (l->config.num_experts % l->layout.ep)
        reading_refuse(r, "MoE", "%lld experts are not divisible by ep %d", (long long)l->config.num_experts,
                       l->layout.ep);
}

static int32_t score(struct launch_reading *r) {
    int32_t found = launch_megatron.score(r);
    int is_deepspeed =
        launch_find(&r->table, "deepspeed") != NULL || launch_find(&r->table, "deepspeed_config") != NULL ||
        launch_find(&r->table, "zero-stage") != NULL || launch_find(&r->table, "ds-sequence-parallel-size") != NULL;
    return found && is_deepspeed ? found + 1 : 0;
}

const struct launch_reader launch_megatron_deepspeed = {KERF_FRAMEWORK_MEGATRON_DEEPSPEED, score, read, check};
