/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torchtitan: a TOML config, a command whose flags change it (the command wins), or, of late, a config that lives in Python
 * and that CONFIG names. The rules are those of ParallelDims (torchtitan/distributed/parallel_dims.py): dp_replicate x
 * dp_shard x cp x tp x pp is the number of accelerators, and ep divides dp_shard x cp x tp.
 */
#include <string.h>
#include "launch/launch_reading.h"

/* Configs that live in Python alone: what they say beside the flavor. */
struct preset {
    const char *name, *model, *flavor;
    int64_t micro_batch, seq_length;
    int32_t tp, pp, ep;
    int8_t recompute, is_fp8;
};

static const struct preset presets[] = {
    {"llama3_8b", "llama3", "8B", 1, 8192, 1, 1, 1, KERF_RECOMPUTE_SELECTIVE, 0},
    {"llama3_70b", "llama3", "70B", 8, 8192, 8, 1, 1, KERF_RECOMPUTE_FULL, 0},
    {"llama3_405b", "llama3", "405B", 2, 8192, 8, 1, 1, KERF_RECOMPUTE_FULL, 1},
    {"deepseek_v3_16b", "deepseek_v3", "16B", 4, 4096, 1, 1, 8, KERF_RECOMPUTE_SELECTIVE, 0},
    {"deepseek_v3_671b", "deepseek_v3", "671B", 4, 4096, 1, 1, 1, KERF_RECOMPUTE_SELECTIVE, 0},
    {"llama4_17bx16e", "llama4", "17bx16e", 8, 8192, 8, 1, 1, KERF_RECOMPUTE_FULL, 0},
    {"llama4_17bx128e", "llama4", "17bx128e", 1, 8192, 8, 4, 1, KERF_RECOMPUTE_FULL, 0},
    {"qwen3_0_6b", "qwen3", "0.6B", 4, 4096, 1, 1, 1, KERF_RECOMPUTE_SELECTIVE, 0},
    {"qwen3_1_7b", "qwen3", "1.7B", 4, 4096, 1, 1, 1, KERF_RECOMPUTE_SELECTIVE, 0},
    {"qwen3_14b", "qwen3", "14B", 4, 4096, 1, 1, 1, KERF_RECOMPUTE_FULL, 0},
    {"qwen3_32b", "qwen3", "32B", 2, 4096, 1, 1, 1, KERF_RECOMPUTE_FULL, 0},
};

static const struct preset *find_preset(struct launch_reading *r) {
    const char *name = reading_word_if_known(r, "config");
    if (name == NULL) name = reading_variable_word(r, "CONFIG");
    for (size_t i = 0; name && i < sizeof presets / sizeof *presets; i++)
        if (strcmp(presets[i].name, name) == 0) return &presets[i];
    if (name && r->form == LAUNCH_SCRIPT && !reading_has(r, "model.flavor"))
        reading_assume(r, "config",
                       "%.60s is not one of the configs that kerf knows: only what the launch says is read", name);
    return NULL;
}

/* The config file of a command; what the command says comes after it, and so wins. */
static void read_config_file(struct launch_reading *r) {
    if (r->form != LAUNCH_SCRIPT) return;
    const char *file = reading_word_if_known(r, "job.config_file");
    if (file == NULL) file = reading_word_if_known(r, "job.config-file");
    if (file == NULL) file = reading_variable_word(r, "CONFIG_FILE");
    if (file == NULL) return;
    struct launch_table whole = {.arena = r->arena};
    if (!reading_file(r, file, LAUNCH_TOML, "", &whole)) {
        reading_fail(r, 0, "the launch takes its config from %.100s, which cannot be read: put it beside the launch",
                     file);
        return;
    }
    for (int32_t i = 0; i < r->table.count; i++) {
        const struct launch_entry *entry = &r->table.entries[i];
        const char *yes = "true";
        struct launch_entry *added = entry->num_values
                                         ? launch_add(&whole, entry->key, entry->values, entry->num_values, entry->line)
                                         : launch_add(&whole, entry->key, &yes, 1, entry->line);
        if (added) added->is_used = entry->is_used;
    }
    r->table = whole;
}

static int has_converter(struct launch_reading *r, const char *what) {
    static const char *const keys[] = {"model.converters", "model-converters.converters",
                                       "model_converters.converters"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const struct launch_entry *entry = launch_find(&r->table, keys[k]);
        for (int32_t i = 0; entry && i < entry->num_values; i++)
            if (strstr(entry->values[i], what)) return 1;
    }
    return 0;
}

/* The schedules of torch that kerf has, by the names of their classes. */
static const struct {
    const char *of_torch, *name;
} schedules[] = {{"1F1B", "1f1b"},
                 {"Interleaved1F1B", "interleaved_1f1b"},
                 {"GPipe", "gpipe"},
                 {"LoopedBFS", "looped_bfs"},
                 {"InterleavedZeroBubble", "interleaved_zb"},
                 {"ZBVZeroBubble", "zb_v"},
                 {"DualPipeV", "dualpipe_v"}};

static void read_schedule(struct launch_reading *r, const char *schedule) {
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++)
        if (strcasecmp(schedules[i].of_torch, schedule) == 0) strcpy(r->launch->layout.schedule, schedules[i].name);
    if (r->launch->layout.schedule[0] == 0)
        reading_assume(r, "schedule", "1f1b, or interleaved_1f1b with virtual stages, for kerf has no %.40s", schedule);
}

/* module_fqns_per_model_part: a list of modules for each virtual stage. 1: it is there. */
static int read_modules(struct launch_reading *r) {
    enum { STAGES_MAX = 4096 };
    struct kerf_layout *layout = &r->launch->layout;
    int32_t layers[STAGES_MAX], stages = 0;
    for (; stages < STAGES_MAX; stages++) {
        const char *key = arena_printf(r->arena, "parallelism.module_fqns_per_model_part.%d", stages);
        const struct launch_entry *entry = key ? launch_find(&r->table, key) : NULL;
        if (entry == NULL) break;
        layers[stages] = 0;
        for (int32_t i = 0; i < entry->num_values; i++) layers[stages] += strncmp(entry->values[i], "layers.", 7) == 0;
    }
    if (stages == 0) return 0;
    if (stages % layout->pp) {
        reading_refuse(r, "pipeline_llm", "module_fqns_per_model_part has %d stages, which pp %lld does not divide",
                       stages, (long long)layout->pp);
        return 1;
    }
    layout->vpp = (int32_t)(stages / layout->pp);
    launch_stage_layers(r, layers, stages);
    return 1;
}

static void read_pipeline(struct launch_reading *r, const struct preset *preset, int64_t local_batch) {
    struct kerf_launch *l = r->launch;
    struct kerf_layout *layout = &l->layout;
    layout->pp = reading_integer(r, "parallelism.pipeline_parallel_degree",
                                 reading_integer(r, "experimental.pipeline_parallel_degree", preset ? preset->pp : 1));
    layout->vpp = 1;
    layout->micro_batch = local_batch;
    const char *schedule = reading_word(r, "parallelism.pipeline_parallel_schedule");
    int64_t per_stage = reading_integer(r, "parallelism.pipeline_parallel_layers_per_stage", 0);
    int64_t first = reading_integer(r, "parallelism.pipeline_parallel_first_stage_less_layers", 1);
    int64_t last = reading_integer(r, "parallelism.pipeline_parallel_last_stage_less_layers", 1);
    if (layout->pp <= 1) return;
    int is_looped = schedule && (strstr(schedule, "Interleaved") || strstr(schedule, "Looped") ||
                                 strstr(schedule, "ZBV") || strstr(schedule, "DualPipe"));
    int64_t layers = l->config.num_hidden_layers + first + last;
    if (schedule) read_schedule(r, schedule);
    if (read_modules(r)) {
        /* all is said */
    } else if (per_stage > 0 && l->config.num_hidden_layers) {
        int64_t stages = (layers + per_stage - 1) / per_stage;
        if (stages % layout->pp)
            reading_refuse(r, "generate_llm_fqn_per_model_part", "%lld stages do not divide over pp %lld",
                           (long long)stages, (long long)layout->pp);
        else if (stages / layout->pp <= 4096)
            layout->vpp = (int32_t)(stages / layout->pp);
    } else if (is_looped) {
        layout->vpp = 2;
    }
    int64_t micro = reading_integer(r, "parallelism.pipeline_parallel_microbatch_size", 0);
    int64_t count = reading_integer(r, "parallelism.num_pp_microbatches",
                                    reading_integer(r, "experimental.pipeline_parallel_microbatches", 0));
    if (micro == 0 && count == 0)
        reading_assume(r, "micro_batch", "1, the default of pipeline_parallel_microbatch_size");
    layout->micro_batch = micro ? micro : count && local_batch % count == 0 ? local_batch / count : 1;
    if (local_batch % layout->micro_batch)
        reading_refuse(r, "build_pipeline_schedule",
                       "local batch %lld is not divisible by a pipeline micro-batch of %lld", (long long)local_batch,
                       (long long)layout->micro_batch);
}

static void read_batch(struct launch_reading *r, const struct preset *preset, int64_t *ret_local) {
    struct kerf_launch *l = r->launch;
    l->seq_length = reading_integer(
        r, "training.seq_len", reading_integer(r, "training.max_context_length", preset ? preset->seq_length : 2048));
    int64_t local = reading_integer(r, "training.local_batch_size", reading_integer(r, "training.batch_size", 0));
    int64_t tokens = reading_integer(r, "training.num_tokens_per_microbatch_per_dp_rank", 0);
    if (local == 0 && tokens && l->seq_length) local = tokens / l->seq_length;
    if (local == 0) local = preset ? preset->micro_batch : 8;
    int64_t step_tokens = reading_integer(r, "training.num_tokens_per_train_step", -1);
    l->global_batch = reading_integer(r, "training.global_batch_size", -1);
    if (l->global_batch < 0 && step_tokens > 0 && l->seq_length) l->global_batch = step_tokens / l->seq_length;
    if (l->global_batch < 0) l->global_batch = 0;
    *ret_local = local;
}

static void read(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    struct kerf_layout *layout = &l->layout;
    int64_t local = 0;
    read_config_file(r);
    const struct preset *preset = find_preset(r);
    const char *model = reading_word(r, "model.name"), *flavor = reading_word(r, "model.flavor");
    if (preset) model = preset->model, flavor = flavor ? flavor : preset->flavor;
    if (preset) reading_assume(r, "config", "%s as it is in torchtitan's Python", preset->name);
    const char *shape = model && flavor ? arena_printf(r->arena, "%s-%s", model, flavor) : NULL;
    if (shape && !launch_shape(&l->config, shape))
        reading_assume(r, "model", "not known: kerf does not know the flavor %.40s of %.40s", flavor, model);
    else if (shape)
        reading_assume(r, "model", "the flavor %.40s of %.40s", flavor, model);
    read_batch(r, preset, &local);
    layout->tp1 = reading_integer(r, "parallelism.tensor_parallel_degree",
                                  reading_integer(r, "training.tensor_parallel_degree", preset ? preset->tp : 1));
    layout->cp = (int32_t)reading_integer(r, "parallelism.context_parallel_degree",
                                          reading_integer(r, "experimental.context_parallel_degree", 1));
    layout->ep = (int32_t)reading_integer(r, "parallelism.expert_parallel_degree", preset ? preset->ep : 1);
    layout->etp = (int32_t)reading_integer(r, "parallelism.expert_tensor_parallel_degree", 1);
    const char *rotate = reading_word(r, "parallelism.context_parallel_rotate_method");
    int is_rotated = rotate && strcmp(rotate, "alltoall") == 0; /* blocks of keys and values go round */
    if (layout->cp > 1) layout->cp_comm = is_rotated ? KERF_CP_COMM_RING : KERF_CP_COMM_ALL_GATHER;
    read_pipeline(r, preset, local);

    const char *mode = reading_word(r, "activation_checkpoint.mode");
    layout->recompute = mode == NULL                     ? (preset ? preset->recompute : KERF_RECOMPUTE_SELECTIVE)
                        : strcmp(mode, "full") == 0      ? KERF_RECOMPUTE_FULL
                        : strcmp(mode, "selective") == 0 ? KERF_RECOMPUTE_SELECTIVE
                                                         : KERF_RECOMPUTE_NONE;
    if (mode && strcmp(mode, "full") && strcmp(mode, "selective") && strcmp(mode, "none") &&
        strcmp(mode, "memory_budget"))
        reading_refuse(r, "apply_ac", "activation_checkpoint.mode is none, selective, full or memory_budget, not %.40s",
                       mode);
    const char *type = reading_word(r, "training.dtype"), *reduce = reading_word(r, "training.mixed_precision_reduce");
    const char *param = reading_word(r, "training.mixed_precision_param");
    int is_fp32 = param && strcmp(param, "float32") == 0 && !(type && strcmp(type, "bfloat16") == 0);
    int is_fp8 = has_converter(r, "float8") || has_converter(r, "mx") ||
                 reading_flag(r, "float8.enable_float8_linear") || (preset && preset->is_fp8);
    strcpy(l->precision, is_fp8 ? "fp8" : is_fp32 ? "fp32" : "bf16");
    strcpy(l->gradients, reduce && strcmp(reduce, "bfloat16") == 0 ? "bf16" : "fp32");
    l->has_sequence_parallel = layout->tp1 > 1;

    int64_t replicas = reading_integer(r, "parallelism.data_parallel_replicate_degree",
                                       reading_integer(r, "training.data_parallel_replicate_degree", 1));
    int64_t shards = reading_integer(r, "parallelism.data_parallel_shard_degree",
                                     reading_integer(r, "training.data_parallel_shard_degree", -1));
    const char *reshard = reading_word(r, "parallelism.fsdp_reshard_after_forward");
    layout->zero = shards == 1 && layout->cp == 1 ? 0 : reshard && strcmp(reshard, "never") == 0 ? 2 : 3;
    int64_t known = launch_product(launch_product(replicas, shards, layout->tp1, 1), layout->cp, layout->pp, 1);
    if (l->gpus == 0 && shards > 0 && known > 0) {
        l->gpus = known;
        reading_assume(r, "gpus", "%lld, the product of the degrees", (long long)known);
    }
}

static void check(struct launch_reading *r) {
    struct kerf_launch *l = r->launch;
    struct kerf_layout *layout = &l->layout;
    int64_t shards = reading_integer(r, "parallelism.data_parallel_shard_degree", -1);
    int64_t replicas = reading_integer(r, "parallelism.data_parallel_replicate_degree", 1);
    int64_t local = reading_integer(r, "training.local_batch_size", reading_integer(r, "training.batch_size", 0));
    int64_t model = layout->tp1 * layout->cp * layout->pp;
    if (shards > 0 && replicas > 0 && launch_product(replicas, shards, model, 1) != l->gpus)
        reading_refuse(r, "ParallelDims",
                       "dp_replicate %lld x dp_shard %lld x cp %d x tp %lld x pp %lld is not %lld accelerators",
                       (long long)replicas, (long long)shards, layout->cp, (long long)layout->tp1,
                       (long long)layout->pp, (long long)l->gpus);
    int64_t rest = l->gpus / model / (replicas > 0 ? replicas : 1);
    if (layout->ep > 1 && (rest * layout->cp * layout->tp1) % layout->ep)
        reading_refuse(r, "ParallelDims", "ep %d does not divide dp_shard %lld x cp %d x tp %lld", layout->ep,
                       (long long)rest, layout->cp, (long long)layout->tp1);
    if (l->config.num_experts && l->config.num_experts % layout->ep)
        reading_refuse(r, "ExpertParallel", "%lld experts are not divisible by ep %d", (long long)l->config.num_experts,
                       layout->ep);
    if (l->global_batch == 0 && layout->dp > 0) {
        int64_t of_rank = layout->pp > 1 && local ? local : layout->micro_batch;
        l->global_batch = of_rank * layout->dp;
        reading_assume(r, "global_batch", "%lld, a local batch of %lld on each of dp %lld", (long long)l->global_batch,
                       (long long)of_rank, (long long)layout->dp);
    }
    int64_t part = (local ? local : layout->micro_batch) * layout->dp;
    if (part > 0 && l->global_batch % part)
        reading_refuse(r, "Trainer", "global batch %lld is not divisible by local batch x dp = %lld",
                       (long long)l->global_batch, (long long)part);
    if (l->seq_length % (layout->tp1 * (layout->cp > 1 ? 2 * layout->cp : 1)))
        reading_refuse(r, "seq_len_divisor", "sequence length %lld is not divisible by tp %lld x 2 cp %d",
                       (long long)l->seq_length, (long long)layout->tp1, layout->cp);
    if (l->config.num_key_value_heads && l->config.num_attention_heads % layout->tp1)
        reading_refuse(r, "parallelize", "%lld attention heads are not divisible by tp %lld",
                       (long long)l->config.num_attention_heads, (long long)layout->tp1);
}

static int32_t score(struct launch_reading *r) {
    int32_t found = 0;
    for (int32_t i = 0; i < r->table.count; i++) {
        const char *key = r->table.entries[i].key;
        found += strncmp(key, "parallelism.", 12) == 0 && strstr(key, "parallel_") != NULL;
        found += strncmp(key, "training.", 9) == 0 || strncmp(key, "job.", 4) == 0 ||
                 strncmp(key, "activation_checkpoint.", 22) == 0 || strcmp(key, "model.flavor") == 0;
    }
    if (strstr(r->program, "torchtitan") || (strstr(r->program, "run_train.sh") && reading_variable_word(r, "CONFIG")))
        found += 10;
    if (reading_variable_word(r, "CONFIG_FILE") && strstr(reading_variable_word(r, "CONFIG_FILE"), ".toml"))
        found += 10;
    return r->form == LAUNCH_YAML ? 0 : found;
}

const struct launch_reader launch_torchtitan = {KERF_FRAMEWORK_TORCHTITAN, score, read, check};
