/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that kerf writes: read again they are the same job, and they obey what the frameworks themselves check. The
 * checks are said again here, by the words of the launch alone, each with the name of its rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/cost.h"
#include "kerf/launch.h"
#include "launch/launch_flags.h"

enum { ROUNDS = 1000 };

/* ---- Random jobs -------------------------------------------------------------------------------------------------- */

static uint64_t state = 1;

static int64_t below(int64_t n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int64_t)(state % (uint64_t)n);
}

static int64_t power_up_to(int64_t most) {
    int64_t value = 1, bits = 0;
    while (value * 2 <= most) value *= 2, bits++;
    return (int64_t)1 << below(bits + 1);
}

static const char *const models[] = {"llama3_8b",       "llama3_70b",    "llama3_405b", "llama2_7b",   "mistral_7b",
                                     "mixtral_8x7b",    "deepseek_v3",   "kimi_k2",     "qwen2_72b",   "qwen3_8b",
                                     "qwen3_235b_a22b", "qwen3_30b_a3b", "gpt3",        "deepseek_v2", "phi4"};
enum { MODELS = sizeof models / sizeof *models };
static struct kerf_model loaded[MODELS];
static struct kerf_system machine;

static int load_models(void **unused) {
    struct kerf_error err;
    (void)unused;
    for (int i = 0; i < MODELS; i++)
        if (kerf_model_load(models[i], &loaded[i], &err) != KERF_OK) return -1;
    return kerf_system_load("h100", &machine, &err) == KERF_OK ? 0 : -1;
}

struct job {
    struct kerf_problem problem;
    struct kerf_layout layout;
    int32_t stage_layers[512];
};

static void draw_problem(struct job *job) {
    struct kerf_problem *problem = &job->problem;
    *problem = (struct kerf_problem){.strategy = KERF_STRATEGY_HYBRID, .attention = KERF_ATTENTION_FUSED};
    problem->model = loaded[below(MODELS)];
    problem->system = machine;
    problem->gpus = power_up_to(2048) * (below(4) ? 1 : 3);
    problem->global_batch = problem->gpus * power_up_to(16);
    problem->seq_length = 1024 * power_up_to(32);
    if (problem->model.position_rows) problem->seq_length = problem->model.position_rows;
    problem->precision = (enum kerf_precision)below(KERF_PRECISION_COUNT);
    problem->has_bf16_gradients = below(2) != 0;
    problem->mtp_layers = problem->model.mtp_layers ? below(2) : 0;
}

static void draw_layout(struct job *job) {
    static const char *const schedules[] = {"1f1b", "gpipe", "zb_h1", "looped_bfs", "zb_v", "interleaved_zb"};
    const struct kerf_problem *problem = &job->problem;
    struct kerf_layout *l = &job->layout;
    int64_t rest = problem->gpus;
    *l = (struct kerf_layout){.tp2 = 1, .cp = 1, .vpp = 1, .ep = 1, .etp = 1};
    l->tp1 = power_up_to(rest < 8 ? rest : 8);
    rest /= l->tp1;
    l->cp = below(3) ? 1 : (int32_t)power_up_to(rest < 8 ? rest : 8);
    rest /= l->cp;
    l->pp = below(2) ? 1 : power_up_to(rest < 32 ? rest : 32);
    if (rest % 3 == 0 && below(2)) l->pp *= 3;
    l->dp = problem->gpus / (l->tp1 * l->cp * l->pp);
    if (l->pp > 1 && below(2)) l->vpp = 1 + (int32_t)below(4);
    if (problem->model.kinds[0].mlp.experts || problem->model.num_kinds > 1) {
        l->ep = (int32_t)power_up_to(64);
        l->etp = below(2) ? 1 : (int32_t)l->tp1;
    }
    l->zero = (int8_t)below(4);
    l->micro_batch = power_up_to(8);
    l->recompute = (int8_t)below(KERF_RECOMPUTE_COUNT);
    if (l->recompute == KERF_RECOMPUTE_BLOCK) l->recompute_layers = 1;
    if (l->cp > 1) l->cp_comm = (int8_t)(1 + below(KERF_CP_COMM_COUNT - 1));
    l->order = (int8_t)below(KERF_ORDER_COUNT);
    strcpy(l->schedule, l->vpp > 1 ? "interleaved_1f1b" : "1f1b");
    if (below(4) == 0) strcpy(l->schedule, schedules[below(6)]);
    int64_t stages = l->pp * l->vpp, layers = problem->model.num_hidden_layers;
    if (stages > layers || stages > 512) return;
    for (int64_t i = 0; i < stages; i++) job->stage_layers[i] = (int32_t)(layers / stages + (i < layers % stages));
    if (stages > 2 && job->stage_layers[0] > 1 && below(2)) job->stage_layers[0]--, job->stage_layers[stages / 2]++;
    l->stage_layers = job->stage_layers;
}

/* A job that the framework can run. */
static void draw(enum kerf_framework framework, struct job *job) {
    const struct kerf_runner *runner = kerf_framework_runner(framework);
    for (;;) {
        draw_problem(job);
        for (int tries = 0; tries < 50; tries++) {
            draw_layout(job);
            int64_t stages = job->layout.pp * job->layout.vpp;
            if (kerf_layout_devices(&job->layout) != job->problem.gpus) continue;
            if (job->problem.global_batch % (job->layout.dp * job->layout.micro_batch)) continue;
            if (kerf_framework_check(framework, &job->problem, &job->layout, NULL, NULL) != KERF_OK) continue;
            if (runner->split && stages <= 512) runner->split(&job->problem, &job->layout, job->stage_layers);
            if (kerf_layout_check(&job->problem, &job->layout, NULL) == KERF_OK) return;
        }
    }
}

/* ---- Reading them again ------------------------------------------------------------------------------------------- */

static void check_equal(const struct job *job, const struct kerf_launch *launch) {
    const struct kerf_layout *a = &job->layout, *b = &launch->layout;
    const struct kerf_problem *problem = &job->problem;
    assert_int_equal(launch->num_invalid, 0);
    assert_int_equal(b->dp, a->dp);
    assert_int_equal(b->tp1, a->tp1);
    assert_int_equal(b->cp, a->cp);
    assert_int_equal(b->pp, a->pp);
    assert_int_equal(b->vpp, a->vpp);
    assert_int_equal(b->ep, a->ep);
    assert_int_equal(b->etp, a->etp);
    assert_int_equal(b->zero, a->zero);
    assert_int_equal(b->micro_batch, a->micro_batch);
    assert_int_equal(b->recompute, a->recompute);
    assert_int_equal(b->recompute_layers, a->recompute_layers);
    if (a->cp > 1) assert_int_equal(b->cp_comm, a->cp_comm);
    if (a->pp > 1 && a->dp > 1) assert_int_equal(b->order, a->order);
    if (a->pp > 1 && strcmp(a->schedule, "gpipe") != 0) assert_string_equal(b->schedule, a->schedule);
    for (int64_t i = 0; a->pp * a->vpp > 1 && i < a->pp * a->vpp; i++) {
        assert_non_null(launch->split);
        assert_int_equal(launch->split[i], a->stage_layers[i]);
    }
    assert_int_equal(launch->global_batch, problem->global_batch);
    assert_int_equal(launch->seq_length, problem->seq_length);
    assert_string_equal(launch->precision, kerf_precision_name(problem->precision));
    assert_int_equal(strcmp(launch->gradients, "fp32") != 0, problem->has_bf16_gradients);
    assert_true(launch->has_model);
    assert_int_equal(launch->model.num_runs, problem->model.num_runs);
    assert_int_equal(launch->model.is_tied, problem->model.is_tied);
    assert_int_equal(launch->model.vocab_size, problem->model.vocab_size);
    struct kerf_model_counts written, read;
    struct kerf_model model = problem->model;
    for (int32_t k = 0; k < model.num_kinds; k++) model.kinds[k].mlp.router_bias = 0; /* how tokens are routed */
    model.mtp_layers = problem->mtp_layers;
    kerf_model_count(&model, &written);
    kerf_model_count(&launch->model, &read);
    assert_int_equal(read.parameters, written.parameters);
    assert_int_equal(read.active_parameters, written.active_parameters);
    if (problem->mtp_layers) assert_int_equal(launch->model.mtp_layers, problem->mtp_layers);
}

/* ---- The frameworks' own rules ------------------------------------------------------------------------------------ */

/* The number behind a key in the text, otherwise where it is not there. */
static int64_t number(const char *text, const char *key, int64_t otherwise) {
    size_t length = strlen(key);
    for (const char *at = text; (at = strstr(at, key)) != NULL; at += length) {
        if (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '-') continue;
        if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) continue;
        const char *value = at + length + strspn(at + length, " :=\"");
        return isdigit((unsigned char)*value) ? strtoll(value, NULL, 10) : otherwise;
    }
    return otherwise;
}

static int has(const char *text, const char *key) { return strstr(text, key) != NULL; }

static void check_megatron(const char *t, const struct job *job) {
    int64_t tp = number(t, "--tensor-model-parallel-size", 1), pp = number(t, "--pipeline-model-parallel-size", 1);
    int64_t cp = number(t, "--context-parallel-size", 1), ep = number(t, "--expert-model-parallel-size", 1);
    int64_t etp = number(t, "--expert-tensor-parallel-size", tp), world = job->problem.gpus;
    int64_t heads = number(t, "--num-attention-heads", 0), groups = number(t, "--num-query-groups", heads);
    int64_t batch = number(t, "--global-batch-size", 0), micro = number(t, "--micro-batch-size", 0);
    int64_t seq = number(t, "--seq-length", 0), vpp = number(t, "--num-virtual-stages-per-pipeline-rank", 1);
    assert_int_equal(number(t, "--nnodes", 0) * number(t, "--nproc-per-node", 0), world);
    assert_int_equal(world % (tp * pp * cp), 0);  /* initialize_model_parallel */
    assert_int_equal(world % (etp * ep * pp), 0); /* initialize_model_parallel, expert_model_parallel_size */
    assert_int_equal(batch % (micro * (world / (tp * pp * cp))), 0);       /* ConstantNumMicroBatchesCalculator */
    assert_int_equal(heads % tp, 0);                                       /* TransformerConfig.__post_init__ */
    assert_true(groups % tp == 0 || tp % groups == 0);                     /* TransformerConfig.__post_init__ */
    assert_int_equal(number(t, "--ffn-hidden-size", 0) % tp, 0);           /* divide, ColumnParallelLinear */
    assert_int_equal(number(t, "--num-experts", ep) % ep, 0);              /* TransformerConfig, num_moe_experts */
    assert_true(number(t, "--max-position-embeddings", 0) >= seq);         /* validate_args */
    if (cp > 1) assert_int_equal(seq % (2 * cp), 0);                       /* get_batch_on_this_cp_rank */
    if (tp > 1) assert_int_equal(seq % tp, 0);                             /* validate_args, sequence_parallel */
    if (tp > 1 && ep > 1) assert_true(has(t, "--sequence-parallel"));      /* validate_args, MoE with tp */
    if (tp * cp > 1) assert_true(has(t, "CUDA_DEVICE_MAX_CONNECTIONS=1")); /* validate_args */
    if (has(t, "--overlap-param-gather"))
        assert_true(has(t, "--use-distributed-optimizer") && has(t, "--overlap-grad-reduce")); /* validate_args */
    if (has(t, "--tp-comm-overlap")) assert_true(has(t, "--sequence-parallel"));               /* validate_args */
    assert_int_equal(has(t, "--fp16") && has(t, "--bf16"), 0);                                 /* validate_args */
    /* validate_args, "No more than one of the following arguments" */
    assert_int_equal(has(t, "--num-virtual-stages-per-pipeline-rank") && has(t, "--pipeline-model-parallel-layout"), 0);
    if (has(t, "--pipeline-model-parallel-layout")) {
        int64_t stages = 1;
        const char *text = strstr(t, "--pipeline-model-parallel-layout");
        for (; *text != '\n'; text++) stages += *text == '|';
        assert_int_equal(stages % pp, 0); /* validate_args, get_num_stages_from_str */
        vpp = stages / pp;
    } else {
        assert_int_equal(number(t, "--num-layers", 0) % (pp * vpp), 0); /* validate_args, get_num_layers_to_build */
    }
    if (vpp > 1) assert_true(pp > 1); /* validate_args, overlap_p2p_comm */
    if (vpp > 1) assert_int_equal(batch / micro / (world / (tp * pp * cp)) % pp, 0);       /* interleaved schedule */
    if (has(t, "--recompute-granularity full")) assert_true(has(t, "--recompute-method")); /* TransformerConfig */
    if (has(t, "--mtp-num-layers")) assert_true(has(t, "--position-embedding-type rope")); /* validate_args */
    if (number(t, "--moe-router-topk", 2) == 1) assert_true(has(t, "--moe-router-pre-softmax")); /* TransformerConfig */
    assert_non_null(strstr(t, "Dropout as well: none is predicted"));                            /* the recipe's own */
}

static void check_torchtitan(const char *t, const struct job *job) {
    int64_t replicas = number(t, "data_parallel_replicate_degree", 1),
            shards = number(t, "data_parallel_shard_degree", 0);
    int64_t tp = number(t, "tensor_parallel_degree", 1), cp = number(t, "context_parallel_degree", 1);
    int64_t pp = number(t, "pipeline_parallel_degree", 1), ep = number(t, "expert_parallel_degree", 1);
    int64_t etp = number(t, "expert_tensor_parallel_degree", 1), local = number(t, "local_batch_size", 0);
    assert_int_equal(replicas * shards * cp * tp * pp, job->problem.gpus); /* ParallelDims._validate */
    if (ep > 1) assert_true(etp == tp || etp == 1);                        /* ParallelDims._validate */
    if (ep > 1 && etp == tp) assert_true(ep % cp == 0 && shards * cp % ep == 0);
    if (ep > 1 && etp != tp) assert_true(ep % (cp * tp) == 0 && shards * cp * tp % ep == 0);
    if (replicas > 1 && shards * cp == 1) assert_true(tp == 1 && pp == 1);       /* parallelize_llama: DDP is 1D */
    assert_int_equal(number(t, "seq_len", 0) % (tp * (cp > 1 ? 2 * cp : 1)), 0); /* seq_len_divisor */
    assert_int_equal(number(t, "global_batch_size", 0) % (local * replicas * shards), 0); /* Trainer */
    if (pp > 1)
        assert_int_equal(local % number(t, "pipeline_parallel_microbatch_size", 0), 0); /* build_pipeline_schedule */
    assert_true(has(t, "mixed_precision_reduce = \"float32\"")); /* the only choice of TrainingConfig */
    if (job->problem.precision == KERF_PRECISION_FP8) {
        assert_true(has(t, "converters = [\"quantize.linear.float8\"")); /* register_model_converter */
        if (has(t, "expert_parallel_degree"))
            assert_true(has(t, "\"quantize.grouped_mm.float8\"") && pp == 1 && cp == 1); /* Float8GroupedMMConverter */
    }
}

static void check_nanotron(const char *t, const struct job *job) {
    int64_t tp = number(t, "tp", 0), pp = number(t, "pp", 0), dp = number(t, "dp", 0);
    assert_int_equal(dp * tp * pp, job->problem.gpus);             /* ParallelContext */
    assert_int_equal(number(t, "num_attention_heads", 1) % tp, 0); /* CausalSelfAttention */
    assert_int_equal(number(t, "num_key_value_heads", 1) % tp, 0); /* CausalSelfAttention */
    assert_int_equal(number(t, "hidden_size", 1) % number(t, "num_attention_heads", 1), 0);
    assert_true(number(t, "zero_stage", 9) <= 1); /* ZeroDistributedOptimizer */
    assert_int_equal(dp * number(t, "micro_batch_size", 0) * number(t, "batch_accumulation_per_replica", 0),
                     job->problem.global_batch); /* TokensArgs */
}

static void check_deepspeed(const char *t, const struct job *job) {
    int64_t tp = number(t, "--tensor-model-parallel-size", 1), pp = number(t, "--pipeline-model-parallel-size", 1);
    int64_t sp = number(t, "--ds-sequence-parallel-size", 1), dp = job->problem.gpus / (tp * pp * sp);
    int64_t stage = number(t, "\"stage\"", 0), ep = number(t, "--moe-expert-parallel-size", 1);
    assert_int_equal(job->problem.gpus % (tp * pp * sp), 0); /* validate_args */
    assert_int_equal(number(t, "train_batch_size", 0), number(t, "train_micro_batch_size_per_gpu", 0) *
                                                           number(t, "gradient_accumulation_steps", 0) *
                                                           dp);                  /* DeepSpeedConfig._batch_assertion */
    assert_int_equal(number(t, "--zero-stage", 0), stage);                       /* equals the config's */
    if (pp > 1) assert_true(stage <= 1);                                         /* PipelineEngine */
    if (sp > 1) assert_true(tp == 1 && pp == 1);                                 /* initialize_model_parallel */
    if (sp > 1) assert_int_equal(number(t, "--num-attention-heads", 0) % sp, 0); /* DistributedAttention */
    if (has(t, "--no-pipeline-parallel")) assert_int_equal(pp, 1);               /* validate_args */
    assert_int_equal(number(t, "--num-key-value-heads", tp) % tp, 0);            /* ParallelAttention, divide */
    assert_true(has(t, "--attention-dropout 0.0") && has(t, "--hidden-dropout 0.0")); /* no price has dropout */
    assert_int_equal(dp % ep, 0);                                                     /* MoE, groups */
    if (ep > 1) assert_true(stage < 3);                                               /* DeepSpeedEngine with MoE */
}

static void check_bridge(const char *t, const struct job *job) {
    int64_t dp = job->layout.dp * job->layout.cp;
    char switches[160];
    snprintf(switches, sizeof switches,
             "optimizer:\n  use_distributed_optimizer: %s\nddp:\n  use_distributed_optimizer: %s\n",
             job->layout.zero ? "true" : "false", job->layout.zero ? "true" : "false");
    assert_true(has(t, switches)); /* _validate_and_sync_distributed_optimizer_settings */
    /* CommOverlapConfig.setup, which overwrites ddp's */
    snprintf(switches, sizeof switches,
             "  overlap_grad_reduce: %s\n  overlap_param_gather: %s\nmixed_precision:", dp > 1 ? "true" : "false",
             job->layout.zero ? "true" : "false");
    assert_true(has(t, switches));
    if (job->problem.has_bf16_gradients) /* update_config_with_precision_overrides: no name stands for them */
        assert_true(has(t, "mixed_precision:\n  bf16: true\n  grad_reduce_in_fp32: false\n"));
    if (has(t, "moe_layer_freq")) assert_true(has(t, "moe_layer_freq: [0, ")); /* a number or a list */
    assert_true(has(t, "mtp_num_layers: "));                                   /* that of DeepSeek's recipes is 1 */
    if (job->layout.recompute <= KERF_RECOMPUTE_SELECTIVE)                     /* TransformerConfig.__post_init__ */
        assert_true(has(t, "recompute_method: null") && has(t, "recompute_num_layers: null"));
    assert_true(has(t, "pipeline_model_parallel_layout: ")); /* set_deepseek_v3_pipeline_model_parallel_layout */
}

/* ---- Flags ------------------------------------------------------------------------------------------------------------ */

/* The table's flag must take the value, written behind its key. */
static void check_value(const char *key, const struct launch_flag *flag, const char *value, size_t length) {
    int is_number = length > 0 && (isdigit((unsigned char)value[0]) || value[0] == '-');
    if (flag == NULL) fail_msg("no table has %s", key);
    if (strcmp(flag->type, "flag") == 0) {
        int is_switch = length == 0 || strncmp(value, "true", 4) == 0 || strncmp(value, "false", 5) == 0;
        if (!is_switch) fail_msg("%s takes no value, and has %.*s", key, (int)length, value);
        return;
    }
    if (length == 0) fail_msg("%s needs a value", key);
    if (strcmp(flag->type, "int") == 0) {
        for (size_t i = value[0] == '-'; i < length; i++)
            if (!isdigit((unsigned char)value[i]))
                fail_msg("%s takes a whole number, not %.*s", key, (int)length, value);
    } else if (strcmp(flag->type, "bool") == 0) {
        assert_true(strncmp(value, "true", length) == 0 || strncmp(value, "false", length) == 0);
    } else if (strcmp(flag->type, "float") == 0) {
        assert_true(is_number);
    }
    if (flag->choices == NULL || strcmp(flag->type, "list") == 0) return;
    for (const char *choice = flag->choices; *choice; choice += strcspn(choice, "|"), choice += *choice == '|')
        if (strcspn(choice, "|") == length && strncmp(choice, value, length) == 0) return;
    fail_msg("%s is one of %s, not %.*s", key, flag->choices, (int)length, value);
}

/* A script's flags, a line each: "    --key value". The launcher's come first. */
static void check_script_flags(enum kerf_framework framework, const char *text) {
    const char *at = strstr(text, "MODEL_ARGS=(");
    for (; at && (at = strstr(at, "\n    --")) != NULL;) {
        char key[96];
        at += 7;
        size_t length = strcspn(at, " \n"), size;
        assert_true(length < sizeof key);
        memcpy(key, at, length);
        key[length] = 0;
        const char *value = at + length + (at[length] == ' ');
        if (*value == '\'') value++;
        size = strcspn(value, "'\n");
        check_value(key, launch_flags_find(launch_flags_of(framework), key), value, at[length] == ' ' ? size : 0);
    }
}

/* TOML's: "[section]" and "key = value". */
static void check_toml_keys(const char *text) {
    char section[64] = "", key[160];
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        const char *equal = memchr(line, '=', length);
        if (line[0] == '[' && line[1] >= 'a') {
            memcpy(section, line + 1, length - 2);
            section[length - 2] = 0;
        } else if (line[0] != '#' && line[0] != ' ' && equal) {
            const char *value = equal + 2 + (equal[2] == '"');
            snprintf(key, sizeof key, "%s.%.*s", section, (int)(equal - line - 1), line);
            check_value(key, launch_flags_find(&launch_flags_torchtitan, key), value, strcspn(value, "\"\n"));
        }
    }
}

/* YAML's: two blanks a level. */
static void check_yaml_keys(const char *text) {
    char path[4][64] = {"", "", "", ""}, key[320];
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t blanks = strspn(line, " "), depth = blanks / 2, length = strcspn(line + blanks, ":\n");
        const char *value = line + blanks + length + 1;
        if (line[0] == '#') continue;
        assert_true(depth < 4 && length < 64);
        memcpy(path[depth], line + blanks, length);
        path[depth][length] = 0;
        if (*value == '\n') continue; /* a mapping follows */
        snprintf(key, sizeof key, "%s", path[0]);
        for (size_t i = 1; i <= depth; i++) strcat(strcat(key, "."), path[i]);
        value++;
        check_value(key, launch_flags_find(&launch_flags_nanotron, key), value, strcspn(value, "\n"));
    }
}

static void check_flags(enum kerf_framework framework, const char *text) {
    if (framework == KERF_FRAMEWORK_TORCHTITAN) check_toml_keys(text);
    if (framework == KERF_FRAMEWORK_NANOTRON) check_yaml_keys(text);
    if (framework == KERF_FRAMEWORK_MEGATRON || framework == KERF_FRAMEWORK_MEGATRON_DEEPSPEED)
        check_script_flags(framework, text);
}

/* ---- The tests ------------------------------------------------------------------------------------------------------ */

static void check_framework(enum kerf_framework framework, const char *name,
                            void (*check)(const char *text, const struct job *job)) {
    static struct job job;
    int piped = 0, uneven = 0, experts = 0;
    state = 88172645463325252u;
    for (int i = 0; i < ROUNDS; i++) {
        struct kerf_text text = {0};
        struct kerf_error err = {.code = KERF_OK};
        struct kerf_launch *launch = NULL;
        draw(framework, &job);
        if (kerf_launch_write(framework, NULL, &job.problem, &job.layout, &text, &err) != KERF_OK)
            fail_msg("%s", err.message);
        const struct kerf_launch_options options = {.gpus = 0};
        if (kerf_launch_read(text.data, text.length, name, &options, &launch, &err) != KERF_OK)
            fail_msg("%s in\n%s", err.message, text.data);
        assert_int_equal(launch->framework, framework);
        assert_int_equal(launch->gpus, job.problem.gpus);
        check_equal(&job, launch);
        check(text.data, &job);
        check_flags(framework, text.data);
        piped += job.layout.pp > 1;
        uneven += job.layout.pp > 1 && job.problem.model.num_hidden_layers % (job.layout.pp * job.layout.vpp);
        experts += job.layout.ep > 1;
        kerf_launch_free(launch);
        kerf_text_free(&text);
    }
    assert_true(piped > ROUNDS / 20);
    if (framework == KERF_FRAMEWORK_MEGATRON) assert_true(uneven > ROUNDS / 20 && experts > ROUNDS / 20);
}

static void test_megatron(void **unused) {
    (void)unused;
    check_framework(KERF_FRAMEWORK_MEGATRON, "launch.sh", check_megatron);
}

static void test_torchtitan(void **unused) {
    (void)unused;
    check_framework(KERF_FRAMEWORK_TORCHTITAN, "launch.toml", check_torchtitan);
}

static void test_nanotron(void **unused) {
    (void)unused;
    check_framework(KERF_FRAMEWORK_NANOTRON, "launch.yaml", check_nanotron);
}

static void test_deepspeed(void **unused) {
    (void)unused;
    check_framework(KERF_FRAMEWORK_MEGATRON_DEEPSPEED, "launch.sh", check_deepspeed);
}

static void test_megatron_bridge(void **unused) {
    (void)unused;
    check_framework(KERF_FRAMEWORK_MEGATRON_BRIDGE, "launch.yaml", check_bridge);
}

/* ---- What frameworks cannot do --------------------------------------------------------------------------------------- */

static void check_nearest(enum kerf_framework framework, const char *model, const char *layout_text, const char *words,
                          const char *nearest) {
    struct kerf_problem problem = {
        .strategy = KERF_STRATEGY_HYBRID, .gpus = 64, .global_batch = 512, .seq_length = 4096};
    problem.system = machine;
    struct kerf_layout layout, near;
    struct kerf_error err = {.code = KERF_OK};
    assert_int_equal(kerf_model_load(model, &problem.model, &err), KERF_OK);
    assert_int_equal(kerf_layout_parse(layout_text, &layout, &err), KERF_OK);
    assert_int_equal(kerf_framework_check(framework, &problem, &layout, &near, &err), KERF_EINVALID);
    if (strstr(err.message, words) == NULL) fail_msg("'%s' is not in '%s'", words, err.message);
    assert_non_null(strstr(err.message, kerf_framework_name(framework)));
    if (nearest == NULL) {
        assert_int_equal(near.dp, 0);
    } else {
        struct kerf_text text = {0};
        kerf_layout_text(&text, &problem, &near);
        assert_string_equal(text.data, nearest);
        kerf_text_free(&text);
        if (kerf_framework_check(framework, &problem, &near, NULL, &err) != KERF_OK) fail_msg("%s", err.message);
        if (kerf_layout_check(&problem, &near, &err) != KERF_OK) fail_msg("%s", err.message);
    }
    kerf_layout_release(&layout);
}

static void test_refusals(void **unused) {
    (void)unused;
    check_nearest(KERF_FRAMEWORK_MEGATRON, "llama3_70b", "dp=4,tp=4,pp=4,zero=3", "ZeRO stage 3 in a pipeline",
                  "dp=4,tp=4,pp=4");
    check_nearest(KERF_FRAMEWORK_MEGATRON, "llama3_70b", "dp=4,tp=4,pp=4,schedule=zb_h1", "the schedule zb_h1",
                  "dp=4,tp=4,pp=4");
    check_nearest(KERF_FRAMEWORK_MEGATRON_DEEPSPEED, "llama3_70b", "dp=4,tp=4,pp=4,order=tp-cp-pp-dp", "tp-cp-pp-dp",
                  "dp=4,tp=4,pp=4");
    check_nearest(KERF_FRAMEWORK_NANOTRON, "llama3_70b", "dp=4,tp=4,pp=4,vpp=2", "virtual stages", "dp=4,tp=4,pp=4");
    check_nearest(KERF_FRAMEWORK_NANOTRON, "llama3_70b", "dp=8,tp=4,cp=2,pp=1", "context parallelism",
                  "dp=16,tp=4,pp=1");
    check_nearest(KERF_FRAMEWORK_NANOTRON, "llama3_70b", "dp=16,tp=4,pp=1,recompute=full:2", "some layers",
                  "dp=16,tp=4,pp=1,recompute=full");
    check_nearest(KERF_FRAMEWORK_NANOTRON, "llama3_70b", "dp=4,tp=16,pp=1", "key-value heads", "dp=8,tp=8,pp=1");
    check_nearest(KERF_FRAMEWORK_NANOTRON, "deepseek_v3", "dp=64,tp=1,pp=1", "MLA", NULL);
    check_nearest(KERF_FRAMEWORK_NANOTRON, "mixtral_8x7b", "dp=64,tp=1,pp=1", "MoE", NULL);
    check_nearest(KERF_FRAMEWORK_MEGATRON_DEEPSPEED, "llama3_70b", "dp=4,tp=4,pp=4,zero=2",
                  "ZeRO stage 2 in a pipeline", "dp=4,tp=4,pp=4");
    check_nearest(KERF_FRAMEWORK_MEGATRON_DEEPSPEED, "llama3_70b", "dp=4,tp=16,pp=1", "8 key-value heads in 16 parts",
                  "dp=8,tp=8,pp=1");
    check_nearest(KERF_FRAMEWORK_MEGATRON_DEEPSPEED, "deepseek_v3", "dp=64,tp=1,pp=1", "MLA", NULL);
    check_nearest(KERF_FRAMEWORK_TORCHTITAN, "llama3_70b", "dp=16,tp=4,pp=1", "ZeRO stage 1", "dp=16,tp=4,pp=1,zero=2");
    check_nearest(KERF_FRAMEWORK_TORCHTITAN, "mistral_7b", "dp=64,tp=1,pp=1,zero=3", "no flavor", NULL);
    check_nearest(KERF_FRAMEWORK_MEGATRON, "gemma2_27b", "dp=64,tp=1,pp=1", "cannot say", NULL);
    check_nearest(KERF_FRAMEWORK_MEGATRON, "gpt_oss_120b", "dp=64,tp=1,pp=1", "sinks", NULL);
}

struct release {
    enum kerf_framework framework;
    const char *model, *version, *layout;
    const char *has;     /* in what is written; NULL: it is refused */
    const char *refused; /* in the error */
};

/* A release says the same in its own flags, or that it cannot. */
static void check_release(enum kerf_precision precision, const struct release *release) {
    struct kerf_problem problem = {
        .strategy = KERF_STRATEGY_HYBRID, .gpus = 64, .global_batch = 512, .seq_length = 4096, .precision = precision};
    struct kerf_layout layout;
    struct kerf_text text = {0};
    struct kerf_error err = {.code = KERF_OK};
    problem.system = machine;
    assert_int_equal(kerf_model_load(release->model, &problem.model, &err), KERF_OK);
    assert_int_equal(kerf_layout_parse(release->layout, &layout, &err), KERF_OK);
    int32_t code = kerf_launch_write(release->framework, release->version, &problem, &layout, &text, &err);
    if (release->refused) {
        assert_true(code != KERF_OK);
        if (strstr(err.message, release->refused) == NULL)
            fail_msg("'%s' is not in '%s'", release->refused, err.message);
    } else {
        if (code != KERF_OK) fail_msg("%s", err.message);
        if (strstr(text.data, release->has) == NULL) fail_msg("'%s' is not in\n%s", release->has, text.data);
        const struct kerf_launch_options options = {.version = release->version,
                                                    .framework = kerf_framework_name(release->framework)};
        struct kerf_launch *launch = NULL;
        assert_int_equal(kerf_launch_read(text.data, text.length, "launch", &options, &launch, &err), KERF_OK);
        assert_int_equal(launch->num_invalid, 0);
        assert_int_equal(launch->layout.vpp, layout.vpp);
        assert_string_equal(launch->precision, kerf_precision_name(precision));
        kerf_launch_free(launch);
    }
    kerf_layout_release(&layout);
    kerf_text_free(&text);
}

static void test_releases(void **unused) {
    const enum kerf_framework megatron = KERF_FRAMEWORK_MEGATRON, titan = KERF_FRAMEWORK_TORCHTITAN;
    const char *const even = "dp=8,tp=2,pp=4,vpp=2", *const uneven = "dp=8,tp=2,pp=4,stage_layers=19/21/21/19";
    const char *const sharded = "dp=64,tp=1,pp=1,zero=3";
    const struct release releases[] = {
        {megatron, "llama3_70b", NULL, even, "--num-virtual-stages-per-pipeline-rank 2", NULL},
        {megatron, "llama3_70b", "core_v0.9.0", even, "--num-layers-per-virtual-pipeline-stage 10", NULL},
        {megatron, "llama3_70b", "0.19", uneven, "--pipeline-model-parallel-layout", NULL},
        {megatron, "llama3_70b", "0.9", uneven, NULL, "it came with megatron"},
        {megatron, "llama3_70b", "0.1", even, NULL, "kerf knows no megatron 0.1"},
        {megatron, "llama3_70b", "0.15", "dp=4,tp=16,pp=1", NULL,
         "tp 16 over 8 key-value heads: it came with megatron"},
        {megatron, "llama3_70b", "0.16", "dp=4,tp=16,pp=1", "--tensor-model-parallel-size 16", NULL},
        {megatron, "llama4_scout", NULL, "dp=64,tp=1,pp=1", "--moe-router-pre-softmax", NULL},
        {titan, "qwen3_8b", "0.1.0", sharded, NULL, "model qwen3: it came with torchtitan 0.2.0"},
    };
    const struct release in_8_bits[] = {
        {titan, "llama3_8b", NULL, sharded, "converters = [\"quantize.linear.float8\"]", NULL},
        {titan, "llama3_8b", "0.1.0", sharded, "converters = [\"float8\"]", NULL},
        {titan, "qwen3_30b_a3b", NULL, sharded, "\"quantize.grouped_mm.float8\"]", NULL},
        {titan, "qwen3_30b_a3b", NULL, "dp=32,tp=1,pp=2,zero=3", NULL, "experts in 8 bits"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) check_release(KERF_PRECISION_BF16, &releases[i]);
    for (size_t i = 0; i < sizeof in_8_bits / sizeof *in_8_bits; i++) check_release(KERF_PRECISION_FP8, &in_8_bits[i]);
}

/* TransformerConfig: "Bias in Moe is only supported when ETP==1". */
static void test_expert_biases(void **unused) {
    struct kerf_problem problem = {
        .strategy = KERF_STRATEGY_HYBRID, .gpus = 8, .global_batch = 64, .seq_length = 4096, .system = machine};
    struct kerf_layout layout;
    struct kerf_error err = {.code = KERF_OK};
    (void)unused;
    assert_int_equal(kerf_model_load("mixtral_8x7b", &problem.model, &err), KERF_OK);
    struct kerf_layer_kind *kind = &problem.model.kinds[0];
    kind->mlp.bias = kind->mlp.expert_bias = kind->attention.qkv_bias = kind->attention.output_bias = 1;
    assert_int_equal(kerf_layout_parse("dp=4,tp=2,pp=1,ep=4,etp=2", &layout, &err), KERF_OK);
    assert_int_equal(kerf_framework_check(KERF_FRAMEWORK_MEGATRON, &problem, &layout, NULL, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "experts with biases in 2 parts"));
    layout.etp = 1;
    assert_int_equal(kerf_framework_check(KERF_FRAMEWORK_MEGATRON, &problem, &layout, NULL, &err), KERF_OK);
}

static void test_read_only(void **unused) {
    struct kerf_problem problem = {.gpus = 1};
    struct kerf_layout layout = {.dp = 1};
    struct kerf_text text = {0};
    struct kerf_error err = {.code = KERF_OK};
    (void)unused;
    assert_int_equal(kerf_launch_write(KERF_FRAMEWORK_MLPERF_NEMO, NULL, &problem, &layout, &text, &err),
                     KERF_EINVALID);
    assert_non_null(strstr(err.message, "mlperf-nemo"));
    assert_non_null(strstr(err.message, "megatron, megatron-deepspeed"));
    assert_int_equal(kerf_launch_write((enum kerf_framework)99, NULL, &problem, &layout, &text, &err), KERF_EINVALID);
    assert_string_equal(err.message, "framework 99 does not exist");
    assert_null(kerf_framework_runner(KERF_FRAMEWORK_DEEPSPEED_HF));
    kerf_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_megatron),  cmocka_unit_test(test_torchtitan),      cmocka_unit_test(test_nanotron),
        cmocka_unit_test(test_deepspeed), cmocka_unit_test(test_megatron_bridge), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_releases),  cmocka_unit_test(test_expert_biases),   cmocka_unit_test(test_read_only),
    };
    return cmocka_run_group_tests(tests, load_models, NULL);
}
