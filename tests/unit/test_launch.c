/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of each framework: what is read of them, how a script is followed, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "kerf/launch.h"

static struct kerf_launch *read_named(const char *name, const char *text, int64_t gpus) {
    const struct kerf_launch_options options = {.gpus = gpus};
    struct kerf_launch *launch = NULL;
    struct kerf_error err = {.code = KERF_OK};
    if (kerf_launch_read(text, strlen(text), name, &options, &launch, &err) != KERF_OK) fail_msg("%s", err.message);
    return launch;
}

static void check_refused(const char *name, const char *text, int32_t code, const char *words) {
    struct kerf_launch *launch = NULL;
    struct kerf_error err = {.code = KERF_OK};
    assert_int_equal(kerf_launch_read(text, strlen(text), name, NULL, &launch, &err), code);
    if (strstr(err.message, words) == NULL) fail_msg("'%s' is not in '%s'", words, err.message);
    assert_null(launch);
    assert_null(strchr(err.message, '\n'));
}

static const char *assumed(const struct kerf_launch *launch, const char *key) {
    for (int32_t i = 0; i < launch->num_assumed; i++)
        if (strcmp(launch->assumed[i].key, key) == 0) return launch->assumed[i].value;
    return NULL;
}

/* ---- Scripts ------------------------------------------------------------------------------------------------------ */

#define SHAPE "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 --micro-batch-size 2 "

/* The tensor-parallel size that the lines before the command give. */
static int64_t tp_of(const char *lines, const char *word) {
    char text[2048];
    snprintf(text, sizeof text,
             "%s\ntorchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py " SHAPE
             "--global-batch-size 256 --tensor-model-parallel-size %s\n",
             lines, word);
    struct kerf_launch *launch = read_named("launch.sh", text, 0);
    int64_t tp = launch->layout.tp1;
    kerf_launch_free(launch);
    return tp;
}

static void test_variables(void **state) {
    (void)state;
    assert_int_equal(tp_of("TP=4", "$TP"), 4);
    assert_int_equal(tp_of("", "${TP:-8}"), 8);
    assert_int_equal(tp_of("TP=2", "${TP:-8}"), 2);
    assert_int_equal(tp_of("TP=; A=16", "${TP:-$A}"), 16);
    assert_int_equal(tp_of(": ${TP:=4}", "$TP"), 4);
    assert_int_equal(tp_of("NAME=gpt_tp4_pp2; X=${NAME#*tp}", "${X%%_*}"), 4);
    assert_int_equal(tp_of("GPUS=8 NODES=4", "1"), 1);
    assert_int_equal(tp_of("export GPUS=8\nNODES=4", "$((GPUS * NODES / 16))"), 2);
    assert_int_equal(tp_of("SIZES=(1 2 4 8)", "${SIZES[2]}"), 4);
}

static void test_statements(void **state) {
    (void)state;
    assert_int_equal(tp_of("if [ 2 -gt 1 ]; then TP=4; else TP=8; fi", "$TP"), 4);
    assert_int_equal(tp_of("if [[ abc == a* ]]; then\n TP=2\nfi", "$TP"), 2);
    assert_int_equal(tp_of("case 13B in\n 7B) TP=1 ;;\n 13B | 30B) TP=2 ;;\n *) TP=8 ;;\nesac", "$TP"), 2);
    assert_int_equal(tp_of("TP=1; for i in 1 2 3; do TP=$((TP * 2)); done", "$TP"), 8);
    assert_int_equal(tp_of("f() { TP=$1; }\nf 4", "$TP"), 4);
    assert_int_equal(tp_of("TP=8 # TP=2", "$TP"), 8);
}

static void test_array_of_flags(void **state) {
    (void)state;
    struct kerf_launch *launch = read_named(
        "launch.sh",
        "ARGS=(\n  --num-layers 32   # of the 7B\n  --hidden-size 4096\n  --num-attention-heads 32\n"
        "  --group-query-attention\n  --num-query-groups 8\n  --ffn-hidden-size 14336 --swiglu\n)\n"
        "ARGS+=(--seq-length 8192 --micro-batch-size 1 --global-batch-size 128)\n"
        "torchrun --nnodes 2 --nproc_per_node=8 pretrain_gpt.py \"${ARGS[@]}\" \\\n  --bf16 --sequence-parallel \\\n"
        "  --tensor-model-parallel-size 2 --use-distributed-optimizer --recompute-granularity full "
        "--recompute-method block --recompute-num-layers 3 --lr 1e-4\n",
        0);
    assert_int_equal(launch->framework, KERF_FRAMEWORK_MEGATRON);
    assert_int_equal(launch->gpus, 16);
    assert_int_equal(launch->global_batch, 128);
    assert_int_equal(launch->seq_length, 8192);
    assert_int_equal(launch->config.num_key_value_heads, 8);
    assert_int_equal(launch->config.intermediate_size, 14336);
    assert_int_equal(launch->layout.dp, 8);
    assert_int_equal(launch->layout.zero, 1);
    assert_int_equal(launch->layout.recompute, KERF_RECOMPUTE_BLOCK);
    assert_int_equal(launch->layout.recompute_layers, 3);
    assert_true(launch->has_sequence_parallel);
    assert_string_equal(launch->precision, "bf16");
    assert_int_equal(launch->num_invalid, 0);
    assert_int_equal(launch->num_ignored, 1);
    assert_string_equal(launch->ignored[0], "lr");
    kerf_launch_free(launch);
}

/* What would have to be run or is not set is an error where it matters, and nothing where it does not. */
static void test_never_run(void **state) {
    (void)state;
    assert_int_equal(tp_of("MASTER=$(hostname)\nDATA=`pwd`/$HOME", "4 --data-path $DATA"), 4);
    check_refused("a.sh", "torchrun pretrain_gpt.py " SHAPE "--tensor-model-parallel-size $(nproc)\n", KERF_EINVALID,
                  "never run");
    check_refused("a.sh", "torchrun pretrain_gpt.py " SHAPE "--tensor-model-parallel-size $TP\n", KERF_EINVALID, "$TP");
    check_refused("a.sh", "f() { f; f; }\nf\n", KERF_ESYNTAX, "deep");
    check_refused("a.sh", "echo hello\n", KERF_EUNKNOWN, "--framework");
    check_refused("a.sh", "pretrain_gpt.py " SHAPE "--tensor-model-parallel-size 2\n", KERF_EINVALID, "--gpus");
    for (int64_t gpus = -1; gpus <= KERF_COUNT_MAX + 1; gpus += KERF_COUNT_MAX + 2) {
        const char *text = "#SBATCH --nodes 2\ntorchrun --nproc-per-node 8 pretrain_gpt.py " SHAPE "\n";
        const struct kerf_launch_options options = {.gpus = gpus};
        struct kerf_launch *launch = NULL;
        struct kerf_error err;
        assert_int_equal(kerf_launch_read(text, strlen(text), "a.sh", &options, &launch, &err), KERF_EINVALID);
        assert_string_equal(err.message, "gpus must lie between 1 and 1073741824, or be 0: as the launch says");
    }
    check_refused("a.sh", "torchrun pretrain_gpt.py " SHAPE "--pipeline-model-parallel-size two\n", KERF_EINVALID,
                  "whole number");
}

/* ---- Frameworks --------------------------------------------------------------------------------------------------- */

static void test_megatron_defaults(void **state) {
    (void)state;
    struct kerf_launch *launch =
        read_named("launch.sh",
                   "python pretrain_gpt.py " SHAPE "--num-experts 8 --expert-model-parallel-size 4 --sequence-parallel "
                   "--tensor-model-parallel-size 2 --disable-bias-linear --global-batch-size 64\n",
                   16);
    assert_int_equal(launch->config.intermediate_size, 4096); /* 4 x hidden */
    assert_int_equal(launch->config.num_key_value_heads, 16);
    assert_int_equal(launch->config.num_experts_per_tok, 2);
    assert_int_equal(launch->layout.etp, 2); /* tp's */
    assert_int_equal(launch->layout.dp, 8);
    assert_int_equal(launch->num_invalid, 0);
    kerf_launch_free(launch);
}

static void test_megatron_rules(void **state) {
    (void)state;
    static const struct {
        const char *flags, *words;
    } cases[] = {
        {"--global-batch-size 64 --pipeline-model-parallel-size 16", "24 layers do not divide over pp 16"},
        {"--global-batch-size 60", "global batch 60 is not divisible"},
        {"--global-batch-size 64 --bf16 --fp16", "exclude each other"},
        {"--global-batch-size 64 --recompute-granularity full", "--recompute-method"},
        {"--global-batch-size 64 --num-experts 6 --expert-model-parallel-size 4", "6 experts are not divisible"},
        {"--global-batch-size 64 --overlap-param-gather", "needs --use-distributed-optimizer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        int is_said = 0;
        snprintf(text, sizeof text, "python pretrain_gpt.py " SHAPE "%s\n", cases[i].flags);
        struct kerf_launch *launch = read_named("launch.sh", text, 16);
        for (int32_t k = 0; k < launch->num_invalid; k++) is_said |= strstr(launch->invalid[k], cases[i].words) != NULL;
        if (!is_said) fail_msg("'%s' is not said of %s", cases[i].words, cases[i].flags);
        kerf_launch_free(launch);
    }
}

/* A number of accelerators that the caller gave is not the launch's mistake. */
static void test_accelerators_told(void **state) {
    (void)state;
    struct kerf_launch *launch = read_named(
        "launch.sh", "python pretrain_gpt.py " SHAPE "--global-batch-size 64 --context-parallel-size 32\n", 16);
    assert_int_equal(launch->num_invalid, 0);
    assert_int_equal(launch->layout.dp, 0);
    assert_non_null(strstr(assumed(launch, "gpus"), "does not divide 16 accelerators"));
    kerf_launch_free(launch);
    launch = read_named("launch.sh",
                        "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py " SHAPE
                        "--global-batch-size 64 --context-parallel-size 32\n",
                        0);
    int is_said = 0;
    for (int32_t i = 0; i < launch->num_invalid; i++)
        is_said |= strstr(launch->invalid[i], "does not divide 16 accelerators") != NULL;
    assert_true(is_said);
    kerf_launch_free(launch);
}

static void test_arguments_of_script(void **state) {
    (void)state;
    struct kerf_launch *launch =
        read_named("launch.sh",
                   "EXTRA=()\ntorchrun --nproc_per_node 8 pretrain_gpt.py " SHAPE "--fp16 \"${EXTRA[@]}\" \"$@\"\n", 0);
    assert_string_equal(launch->precision, "fp16"); /* nothing is no value of --fp16 */
    kerf_launch_free(launch);
}

static void test_pipeline_layout(void **state) {
    (void)state;
    struct kerf_launch *launch = read_named(
        "launch.sh",
        "python pretrain_gpt.py --num-layers 10 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 "
        "--micro-batch-size 1 --global-batch-size 8 --pipeline-model-parallel-size 2 "
        "--pipeline-model-parallel-layout 'Et*2|t*3|t*3|t*2L'\n",
        2);
    static const int32_t layers[] = {2, 3, 3, 2};
    assert_int_equal(launch->layout.vpp, 2);
    assert_non_null(launch->layout.stage_layers);
    assert_memory_equal(launch->layout.stage_layers, layers, sizeof layers);
    assert_int_equal(launch->num_invalid, 0);
    kerf_launch_free(launch);
}

static void test_megatron_deepspeed(void **state) {
    (void)state;
    struct kerf_launch *launch = read_named(
        "launch.sh",
        "cat > ds.json <<EOT\n{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2,\n"
        "\"zero_optimization\": {\"stage\": 3}, \"bf16\": {\"enabled\": true}}\nEOT\n"
        "deepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py " SHAPE
        "--global-batch-size 64 --deepspeed --deepspeed_config ds.json --ds-sequence-parallel-size 4 --bf16\n",
        0);
    assert_int_equal(launch->framework, KERF_FRAMEWORK_MEGATRON_DEEPSPEED);
    assert_int_equal(launch->gpus, 16);
    assert_int_equal(launch->layout.zero, 3);
    assert_int_equal(launch->layout.cp, 4);
    assert_int_equal(launch->ulysses, 4);
    assert_int_equal(launch->layout.dp, 4);
    assert_int_equal(launch->num_invalid, 0);
    kerf_launch_free(launch);
}

static void test_torchtitan(void **state) {
    (void)state;
    struct kerf_launch *launch =
        read_named("llama3.toml",
                   "# runs on 64 GPUs\n[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\n"
                   "seq_len = 8192\n[parallelism]\ntensor_parallel_degree = 4\ndata_parallel_shard_degree = -1\n"
                   "[activation_checkpoint]\nmode = \"selective\"\n",
                   0);
    assert_int_equal(launch->framework, KERF_FRAMEWORK_TORCHTITAN);
    assert_int_equal(launch->gpus, 64);
    assert_non_null(strstr(assumed(launch, "gpus"), "comment"));
    assert_int_equal(launch->layout.dp, 16);
    assert_int_equal(launch->layout.zero, 3);
    assert_int_equal(launch->global_batch, 32);
    assert_int_equal(launch->config.num_hidden_layers, 32);
    assert_int_equal(launch->layout.recompute, KERF_RECOMPUTE_SELECTIVE);
    kerf_launch_free(launch);
}

static void test_nanotron(void **state) {
    (void)state;
    static const char text[] =
        "parallelism:\n  dp: 2\n  tp: 2\n  pp: 2\n  pp_engine: 1f1b\n  tp_mode: REDUCE_SCATTER\n"
        "tokens:\n  micro_batch_size: 4\n  sequence_length: 1024\n  batch_accumulation_per_replica: 8\n"
        "optimizer:\n  zero_stage: 1\nmodel:\n  dtype: bfloat16\n  model_config:\n    hidden_size: 1024\n"
        "    num_hidden_layers: 10\n    num_attention_heads: 8\n    intermediate_size: 4096\n    vocab_size: 49152\n";
    struct kerf_launch *launch = read_named("nano.yaml", text, 0);
    assert_int_equal(launch->framework, KERF_FRAMEWORK_NANOTRON);
    assert_int_equal(launch->gpus, 8);
    assert_int_equal(launch->global_batch, 64);
    assert_int_equal(launch->layout.zero, 1);
    assert_true(launch->has_sequence_parallel);
    assert_int_equal(launch->num_invalid, 0);
    kerf_launch_free(launch);
    launch = read_named("nano.yaml", text, 16); /* its degrees tell another number */
    assert_int_equal(launch->num_invalid, 1);
    kerf_launch_free(launch);
}

static void test_deepspeed_hf(void **state) {
    (void)state;
    struct kerf_launch *launch = read_named(
        "run.sh",
        "deepspeed --num_gpus 8 main.py --model_name_or_path facebook/opt-66b --zero_stage 3 "
        "--per_device_train_batch_size 4 --gradient_accumulation_steps 2 --gradient_checkpointing --deepspeed\n",
        8);
    assert_int_equal(launch->framework, KERF_FRAMEWORK_DEEPSPEED_HF);
    assert_int_equal(launch->global_batch, 64);
    assert_int_equal(launch->config.num_hidden_layers, 64);
    assert_int_equal(launch->layout.recompute, KERF_RECOMPUTE_FULL);
    assert_non_null(assumed(launch, "seq_length"));
    kerf_launch_free(launch);
}

static void test_mlperf(void **state) {
    (void)state;
    struct kerf_launch *launch = read_named("config.sh",
                                            "export DGXNNODES=64 DGXNGPU=8\nexport TENSOR_MODEL_PARALLEL=4\n"
                                            "export PIPELINE_MODEL_PARALLEL=8\nexport MINIBS=128 MICRO_BATCH_SIZE=2\n"
                                            "export INTERLEAVED_PIPELINE=4 FP8=True\n",
                                            0);
    assert_int_equal(launch->framework, KERF_FRAMEWORK_MLPERF_NEMO);
    assert_int_equal(launch->gpus, 512);
    assert_int_equal(launch->layout.dp, 16);
    assert_int_equal(launch->global_batch, 2048);
    assert_int_equal(launch->layout.vpp, 4);
    assert_string_equal(launch->precision, "fp8");
    kerf_launch_free(launch);
    check_refused("config.sh", "export DGXNNODES=64 DGXNGPU=8 MINIBS=many\n", KERF_EINVALID, "MINIBS");
    check_refused("config.sh", "export DGXNNODES=64 DGXNGPU=8 MINIBS=$(x)\n", KERF_EINVALID, "MINIBS");
}

static void test_bridge(void **state) {
    (void)state;
    struct kerf_launch *launch = read_named(
        "recipe.json",
        "{\"recipe\": \"qwen3_30b_a3b_pretrain\", \"num_gpus\": 16, \"model\": {\"tensor_model_parallel_size\": 1, "
        "\"expert_model_parallel_size\": 16}, \"train\": {\"global_batch_size\": 1024, \"micro_batch_size\": 1}, "
        "\"mixed_precision\": \"bf16_with_fp8_current_scaling_mixed\"}",
        0);
    assert_int_equal(launch->framework, KERF_FRAMEWORK_MEGATRON_BRIDGE);
    assert_int_equal(launch->gpus, 16);
    assert_int_equal(launch->config.num_experts, 128);
    assert_int_equal(launch->layout.ep, 16);
    assert_string_equal(launch->precision, "fp8");
    assert_int_equal(launch->num_invalid, 0);
    kerf_launch_free(launch);
}

/* What Megatron-Bridge makes of switches that stand in two places, and of lists. */
static void test_bridge_switches(void **state) {
    (void)state;
    static const char *const model = "model:\n  tensor_model_parallel_size: 1\n  num_layers: 4\n  num_moe_experts: 8\n "
                                     " moe_layer_freq: [0, 1, 1, 1]\n"
                                     "train:\n  micro_batch_size: 1\n  global_batch_size: 64\n";
    char text[1024];
    snprintf(text, sizeof text,
             "%smixed_precision:\n  bf16: true\n  fp8: \"hybrid\"\n  grad_reduce_in_fp32: false\n"
             "optimizer:\n  use_distributed_optimizer: false\nddp:\n  use_distributed_optimizer: false\n",
             model);
    struct kerf_launch *launch = read_named("recipe.yaml", text, 8);
    assert_int_equal(launch->layout.zero, 0);
    assert_int_equal(launch->config.first_dense_layers, 1);
    assert_string_equal(launch->precision, "fp8");
    assert_string_equal(launch->gradients, "bf16");
    kerf_launch_free(launch);
    snprintf(text, sizeof text,
             "%smixed_precision: bf16_mixed\n"
             "ddp:\n  use_distributed_optimizer: false\n  grad_reduce_in_fp32: false\n",
             model);
    launch = read_named("recipe.yaml", text, 8);
    assert_int_equal(launch->layout.zero, 1); /* the recipe's optimizer turns it on */
    assert_non_null(assumed(launch, "zero"));
    assert_string_equal(launch->gradients, "fp32");
    assert_non_null(assumed(launch, "ddp.grad_reduce_in_fp32"));
    kerf_launch_free(launch);
}

static void check_window(const char *window, int64_t size) {
    char text[400];
    snprintf(text, sizeof text, "python pretrain_gpt.py " SHAPE "--global-batch-size 64 --window-size %s\n", window);
    if (size < 0) {
        check_refused("launch.sh", text, KERF_EINVALID, "--window-size must be");
        return;
    }
    const struct kerf_launch_options options = {.gpus = 8};
    struct kerf_launch *launch = NULL;
    struct kerf_error err = {.code = KERF_OK};
    if (kerf_launch_read(text, strlen(text), "launch.sh", &options, &launch, &err) != KERF_OK)
        fail_msg("%s", err.message);
    assert_int_equal(launch->config.sliding_window, size);
    kerf_launch_free(launch);
}

static void test_windows(void **state) {
    (void)state;
    check_window("4095,0", 4096);
    check_window("'(127, 0)'", 128);
    check_window("-1,0", 0);
    check_window("many", -1);
    check_window("4096", -1);
    check_window("9223372036854775807,0", -1);
}

/* What the price takes for granted is said where the launch has it otherwise. */
static void test_taken_for_granted(void **state) {
    (void)state;
    static const char *const command = "python pretrain_gpt.py " SHAPE "--global-batch-size 64 --group-query-attention "
                                       "--num-query-groups 2 --tensor-model-parallel-size ";
    char text[512];
    snprintf(text, sizeof text, "%s4 --hidden-dropout 0.1\n", command);
    struct kerf_launch *launch = read_named("launch.sh", text, 8);
    assert_non_null(assumed(launch, "sequence_parallel"));
    assert_non_null(assumed(launch, "hidden-dropout"));
    assert_int_equal(launch->num_invalid, 0);
    kerf_launch_free(launch);
    snprintf(
        text, sizeof text,
        "%s2 --sequence-parallel --bf16 --fp8-format hybrid --recompute-granularity full --recompute-method uniform "
        "--recompute-num-layers 4\n",
        command);
    launch = read_named("launch.sh", text, 8);
    assert_null(assumed(launch, "fp8-param-gather")); /* priced with both */
    assert_non_null(assumed(launch, "recompute"));
    kerf_launch_free(launch);
    snprintf(text, sizeof text, "%s2 --sequence-parallel --bf16 --fp8-format hybrid --use-distributed-optimizer\n",
             command);
    launch = read_named("launch.sh", text, 8);
    assert_non_null(assumed(launch, "fp8-param-gather"));
    kerf_launch_free(launch);
    snprintf(text, sizeof text, "%s2 --sequence-parallel --bf16 --fp8-format hybrid --fp8-param-gather\n", command);
    launch = read_named("launch.sh", text, 8);
    assert_int_equal(launch->num_invalid, 1);
    assert_non_null(strstr(launch->invalid[0], "--fp8-param-gather needs --use-distributed-optimizer"));
    kerf_launch_free(launch);
    snprintf(text, sizeof text,
             "%s2 --hidden-dropout 0.0 --sequence-parallel --bf16 --fp8-format hybrid --fp8-param-gather "
             "--use-distributed-optimizer "
             "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1\n",
             command);
    launch = read_named("launch.sh", text, 8);
    assert_int_equal(launch->num_assumed, 0);
    kerf_launch_free(launch);
    /* fewer groups than shards came with a release */
    snprintf(text, sizeof text, "%s4\n", command);
    const struct kerf_launch_options options = {.gpus = 8, .version = "0.15.0"};
    struct kerf_error err = {.code = KERF_OK};
    assert_int_equal(kerf_launch_read(text, strlen(text), "launch.sh", &options, &launch, &err), KERF_OK);
    assert_int_equal(launch->num_invalid, 1);
    assert_non_null(strstr(launch->invalid[0], "2 query groups are not divisible by tp 4"));
    kerf_launch_free(launch);
}

/* What is priced of a launch is the launch's. */
static void test_problem(void **state) {
    (void)state;
    struct kerf_problem problem;
    struct kerf_layout layout;
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_launch *launch =
        read_named("launch.sh",
                   "python pretrain_gpt.py " SHAPE "--vocab-size 50257 --bf16 --global-batch-size 64 "
                   "--tensor-model-parallel-size 2\n",
                   8);
    if (kerf_launch_problem(launch, &problem, &layout, &err) != KERF_OK) fail_msg("%s", err.message);
    assert_int_equal(problem.gpus, 8);
    assert_int_equal(problem.global_batch, 64);
    assert_int_equal(problem.seq_length, 2048);
    assert_int_equal(layout.tp1, 2);
    assert_int_equal(layout.dp, 4);
    kerf_launch_free(launch);
}

static void test_names(void **state) {
    (void)state;
    enum kerf_framework framework;
    struct kerf_error err = {.code = KERF_OK};
    for (int32_t i = 0; i < KERF_FRAMEWORK_COUNT; i++) {
        assert_int_equal(kerf_framework_parse(kerf_framework_name((enum kerf_framework)i), &framework, &err), KERF_OK);
        assert_int_equal(framework, i);
    }
    assert_int_equal(kerf_framework_parse("deepspeed", &framework, &err), KERF_OK);
    assert_int_equal(framework, KERF_FRAMEWORK_MEGATRON_DEEPSPEED);
    assert_int_equal(kerf_framework_parse("jax", &framework, &err), KERF_EUNKNOWN);
    assert_null(kerf_launch_free(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_array_of_flags),
        cmocka_unit_test(test_never_run),
        cmocka_unit_test(test_megatron_defaults),
        cmocka_unit_test(test_megatron_rules),
        cmocka_unit_test(test_accelerators_told),
        cmocka_unit_test(test_arguments_of_script),
        cmocka_unit_test(test_pipeline_layout),
        cmocka_unit_test(test_megatron_deepspeed),
        cmocka_unit_test(test_torchtitan),
        cmocka_unit_test(test_nanotron),
        cmocka_unit_test(test_deepspeed_hf),
        cmocka_unit_test(test_mlperf),
        cmocka_unit_test(test_bridge),
        cmocka_unit_test(test_bridge_switches),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_taken_for_granted),
        cmocka_unit_test(test_problem),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
