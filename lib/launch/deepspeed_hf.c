/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeepSpeed around a Hugging Face model: DeepSpeed-Chat's scripts, and transformers' Trainer with a DeepSpeed config. There is
 * data parallelism alone; the batch is micro-batch x accumulation x dp (DeepSpeed's runtime/config.py).
 */
#include <string.h>
#include "launch/launch_reading.h"

/* The first of these keys that is there. */
static int64_t first_of(struct launch_reading *r, const char *const *keys, int64_t otherwise) {
    for (; *keys; keys++)
        if (reading_has(r, *keys)) return reading_integer(r, *keys, otherwise);
    return otherwise;
}

/* A number of the DeepSpeed config, which may be "auto". */
static int64_t of_config(struct launch_reading *r, const char *key, int64_t otherwise) {
    const char *word = reading_word(r, key);
    return word == NULL || strcmp(word, "auto") == 0 ? otherwise : reading_integer(r, key, otherwise);
}

static void read(struct launch_reading *r) {
    static const char *const lengths[] = {
        "max_seq_len", "max_seq_length", "model_max_length", "block_size", "cutoff_len", "max_length", NULL};
    struct kerf_launch *l = r->launch;
    struct kerf_layout *layout = &l->layout;
    const struct launch_entry *entry = launch_find(&r->table, "deepspeed");
    const char *file = entry && entry->num_values ? entry->values[0] : NULL;
    if (file == NULL) file = reading_word_if_known(r, "deepspeed_config");
    if (file && !reading_file(r, file, LAUNCH_JSON, "ds", &r->table))
        reading_assume(r, "deepspeed_config", "not read: %.100s is neither beside the launch nor written by it", file);
    const char *name = reading_word(r, "model_name_or_path");
    if (name == NULL) name = reading_word(r, "actor_model_name_or_path");
    if (name && launch_shape(&l->config, name))
        reading_assume(r, "model", "the shape of %.80s", name);
    else if (name)
        reading_assume(r, "model", "not known: kerf does not know the shape of %.80s", name);
    layout->tp1 = layout->pp = layout->cp = layout->vpp = layout->ep = layout->etp = 1;
    layout->micro_batch = reading_integer(r, "per_device_train_batch_size", 0);
    if (layout->micro_batch == 0) layout->micro_batch = of_config(r, "ds.train_micro_batch_size_per_gpu", 8);
    l->seq_length = first_of(r, lengths, 0);
    if (l->seq_length == 0 && strstr(r->program, "main.py")) {
        l->seq_length = 512;
        reading_assume(r, "seq_length", "512, the default of --max_seq_len");
    }
    int64_t stage = reading_integer(r, "zero_stage", reading_integer(r, "actor_zero_stage", -1));
    if (stage < 0) stage = of_config(r, "ds.zero_optimization.stage", reading_has(r, "ds.zero_optimization") ? 0 : -1);
    if (stage < 0 && !file) stage = 0;
    if (stage > 3) reading_refuse(r, "DeepSpeedZeroConfig", "the ZeRO stage is 0 to 3, not %lld", (long long)stage);
    layout->zero = (int8_t)(stage > 3 ? 3 : stage);
    layout->recompute = reading_flag(r, "gradient_checkpointing") ? KERF_RECOMPUTE_FULL : KERF_RECOMPUTE_NONE;
    const char *type = reading_word(r, "dtype");
    int is_bf16 = reading_flag(r, "bf16") || reading_flag(r, "ds.bf16.enabled") || (type && strstr(type, "bf"));
    int is_fp16 = reading_flag(r, "fp16") || reading_flag(r, "ds.fp16.enabled");
    int is_chat = strstr(r->program, "main.py") != NULL && reading_has(r, "zero_stage");
    strcpy(l->precision, is_bf16 ? "bf16" : is_fp16 || is_chat ? "fp16" : "fp32");
    if (is_chat && !is_bf16 && !is_fp16 && type == NULL)
        reading_assume(r, "precision", "fp16, the default of DeepSpeed-Chat's scripts");
    strcpy(l->gradients, l->precision);
    if (reading_has(r, "lora_dim") && reading_integer(r, "lora_dim", 0) > 0)
        reading_assume(r, "model", "all of its weights are trained, for kerf does not price LoRA");
}

static void check(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    int64_t steps =
        reading_integer(r, "gradient_accumulation_steps", of_config(r, "ds.gradient_accumulation_steps", 1));
    if (l->layout.dp > 0) l->global_batch = launch_product(l->layout.micro_batch, steps, l->layout.dp, 1);
    int64_t train = of_config(r, "ds.train_batch_size", 0);
    if (train && train != l->global_batch)
        reading_refuse(r, "DeepSpeedConfig",
                       "train_batch_size %lld is not micro-batch %lld x accumulation %lld x dp %lld", (long long)train,
                       (long long)l->layout.micro_batch, (long long)steps, (long long)l->layout.dp);
}

static int32_t score(struct launch_reading *r) {
    int is_model = launch_find(&r->table, "model_name_or_path") || launch_find(&r->table, "actor_model_name_or_path");
    int is_deepspeed = launch_find(&r->table, "deepspeed") || launch_find(&r->table, "zero_stage") ||
                       launch_find(&r->table, "per_device_train_batch_size");
    return r->form == LAUNCH_SCRIPT && is_model && is_deepspeed ? 5 : 0;
}

const struct launch_reader launch_deepspeed_hf = {KERF_FRAMEWORK_DEEPSPEED_HF, score, read, check};
