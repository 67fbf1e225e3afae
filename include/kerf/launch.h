/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: what the scripts and config files of training frameworks say about a job - its model, its layout, its batch -
 * as kerf understands it. docs/launch.md says what is read of each framework.
 *
 * A script is never executed: variables, defaults, arrays, conditions and arithmetic are followed, command substitution
 * never is.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *     int main(void) {
 *         const char *script = "TP=${TP:-4}\n"
 *                              "torchrun --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size $TP \\\n"
 *                              "  --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --micro-batch-size 1\n";
 *         struct kerf_launch_options options = {.gpus = 8};
 *         struct kerf_launch *launch;
 *         struct kerf_error err;
 *         if (kerf_launch_read(script, strlen(script), "train.sh", &options, &launch, &err) != KERF_OK) return 1;
 *         printf("tp %ld on %ld accelerators\n", (long)launch->layout.tp1, (long)launch->gpus);
 *         kerf_launch_free(launch);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     tp 4 on 8 accelerators
 */
#ifndef KERF_LAUNCH_H
#define KERF_LAUNCH_H

#include "kerf/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Frameworks ------------------------------------------------------------------------------------------- */

/* X(constant, name) */
#define KERF_FRAMEWORKS(X)                                                                                             \
    X(KERF_FRAMEWORK_MEGATRON, "megatron")                                                                             \
    X(KERF_FRAMEWORK_MEGATRON_DEEPSPEED, "megatron-deepspeed")                                                         \
    X(KERF_FRAMEWORK_TORCHTITAN, "torchtitan")                                                                         \
    X(KERF_FRAMEWORK_NANOTRON, "nanotron")                                                                             \
    X(KERF_FRAMEWORK_DEEPSPEED_HF, "deepspeed-hf")                                                                     \
    X(KERF_FRAMEWORK_MLPERF_NEMO, "mlperf-nemo")                                                                       \
    X(KERF_FRAMEWORK_MEGATRON_BRIDGE, "megatron-bridge")

enum kerf_framework {
#define KERF_FRAMEWORK_ENUM(name, word) name,
    KERF_FRAMEWORKS(KERF_FRAMEWORK_ENUM)
#undef KERF_FRAMEWORK_ENUM
        KERF_FRAMEWORK_COUNT
};

KERF_API const char *kerf_framework_name(enum kerf_framework framework); /* "megatron", ... */

/** The same from its name; "deepspeed" is megatron-deepspeed too. An unknown one is KERF_EUNKNOWN, and the error names
 * those there are. */
KERF_API int32_t kerf_framework_parse(const char *name, enum kerf_framework *ret, struct kerf_error *err);

/* ---- Reading ---------------------------------------------------------------------------------------------- */

/** The shape of the model, by the keys of a config.json. A number that the launch does not tell is 0, a switch -1. */
struct kerf_launch_model {
    int64_t hidden_size, num_hidden_layers;
    int64_t intermediate_size; /* of a dense MLP */
    int64_t num_attention_heads, num_key_value_heads;
    int64_t head_dim; /* of queries, keys and values, but with multi-latent attention */
    int64_t vocab_size, max_position_embeddings;
    int64_t num_experts, num_experts_per_tok; /* 0: dense */
    int64_t moe_intermediate_size, shared_expert_intermediate_size;
    int64_t first_dense_layers; /* that stand before those with experts */
    int64_t expert_layer_step;  /* each so many layers one has experts, the last of them; 1: all */
    int64_t q_lora_rank, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim, v_head_dim; /* kv_lora_rank 0: no MLA */
    int64_t mtp_layers;
    int64_t sliding_window;
    int8_t is_gated, is_tied, has_linear_bias, has_qkv_bias, has_qk_norm, is_rms_norm, has_learned_positions,
        has_shared_gate;
};

/** Something that kerf took for granted: where it is not written, or where it stands in a comment. */
struct kerf_launch_assumption {
    const char *key, *value; /* "gpus", "64 (comment in line 2)" */
};

/**
 * A launch. Numbers that are not known are 0, words "". The strings and stage_layers live as long as the launch.
 *
 * layout.dp is 0 where the launch fits no number of replicas, and micro_batch 0 where it is not told; zero and recompute
 * are -1 where they are not known. layout is of hybrid: DeepSpeed's Ulysses is its cp with cp_comm all_to_all, and ulysses
 * says how much of cp that is (1: none); ZeRO 3 stands for any FSDP that shards the weights.
 */
struct kerf_launch {
    int32_t framework; /* enum kerf_framework */
    int64_t gpus, global_batch, seq_length;
    struct kerf_launch_model config; /* what the launch says of the model */
    int32_t has_model;               /* 1: enough for model, which kerf can price */
    struct kerf_model model;
    struct kerf_layout layout;
    /* [pp * vpp] layers of each virtual stage: stage_layers, else by the framework's own rule; NULL: one stage, or not
     * known */
    const int32_t *split;
    int32_t ulysses;
    int32_t has_sequence_parallel; /* 1: norms are sharded over tp as well */
    char precision[8];             /* "bf16", "fp16", "fp32", "fp8", "fp4" */
    char gradients[8];             /* what they are summed in: "fp32", "bf16", "fp16" */
    const char *const *ignored;    /* [num_ignored] what changes neither layout nor shape, or is not known to kerf */
    const char *const *keys;       /* [num_keys] all that the launch has, as often as it has them */
    const struct kerf_launch_assumption *assumed; /* [num_assumed] */
    const char *const *invalid; /* [num_invalid] what the framework itself would refuse, and by which rule */
    int32_t num_ignored, num_keys, num_assumed, num_invalid;
};

/** Reads a file that a launch names, such as a DeepSpeed config; name is as the launch has it. KERF_OK and the text, else
 * a negative code. */
typedef int32_t (*kerf_launch_file)(void *context, const char *name, struct kerf_text *ret_text,
                                    struct kerf_error *err);

/** How a launch is read. All zeros: what it says itself. */
struct kerf_launch_options {
    const char *framework; /* its name; NULL: recognised */
    const char *version; /* the release that it is for, such as "0.15.0": flags that it does not have are then refused,
                              as it would; NULL: not checked */
    int64_t gpus;        /* 1 .. 2^30; 0: as the launch says */
    kerf_launch_file file; /* NULL: files that the launch names are not read */
    void *context;         /* of file */
};

/**
 * Reads a launch from text: a shell script, a line of arguments, TOML, YAML or JSON. name is the text's, for errors and for
 * its format. Given back with kerf_launch_free.
 *
 * KERF_ESYNTAX and KERF_EINVALID with file and line where the text cannot be read or followed; KERF_EUNKNOWN where no
 * framework is recognised; KERF_EINVALID where the number of accelerators is neither told nor given.
 */
KERF_API int32_t kerf_launch_read(const char *text, size_t length, const char *name,
                                  const struct kerf_launch_options *options, struct kerf_launch **ret_launch,
                                  struct kerf_error *err);
KERF_API struct kerf_launch *kerf_launch_free(struct kerf_launch *launch); /* always NULL */

/** Whether the launch has the key; '-' and '_' are the same. */
KERF_API int32_t kerf_launch_has_key(const struct kerf_launch *launch, const char *key);

/** Writes "framework":..., "gpus":... and so on into the object that is open; every key always, null where not known. */
KERF_API void kerf_launch_json(struct kerf_json *json, const struct kerf_launch *launch);

/** The question that the launch answers with its layout: model, gpus, batch, sequence length, precision; system and
 * strategy hybrid are the caller's to add. KERF_EINVALID says what the launch leaves open. The layout is a copy whose
 * stage_layers is the launch's. */
KERF_API int32_t kerf_launch_problem(const struct kerf_launch *launch, struct kerf_problem *ret_problem,
                                     struct kerf_layout *ret_layout, struct kerf_error *err);

/* ---- Writing ------------------------------------------------------------------------------------------------------- */

/** What of the layouts of a search the framework can run, for kerf_space.runner; NULL where kerf does not write it. Lives
 * as long as the program. */
KERF_API const struct kerf_runner *kerf_framework_runner(enum kerf_framework framework);

/** How the name of a file ends that holds a launch of it: "sh", "toml" or "yaml"; NULL where kerf does not write it. */
KERF_API const char *kerf_framework_ending(enum kerf_framework framework);

/**
 * Narrows a space to what the framework can run of the problem, its runner included. KERF_EINVALID names the framework and
 * what it lacks: of the model, of the precision, or of what the space names.
 */
KERF_API int32_t kerf_framework_narrow(enum kerf_framework framework, const struct kerf_problem *problem,
                                       struct kerf_space *space, struct kerf_error *err);

/**
 * Whether it can run the problem in this layout. KERF_EINVALID names the framework, what it lacks, and the nearest layout
 * that it can run: *ret_nearest, whose dp is 0 where there is none; NULL: it is not wanted. That layout shares the
 * stage_layers.
 */
KERF_API int32_t kerf_framework_check(enum kerf_framework framework, const struct kerf_problem *problem,
                                      const struct kerf_layout *layout, struct kerf_layout *ret_nearest,
                                      struct kerf_error *err);

/**
 * Appends the launch of a problem in a layout: a script of Megatron-LM or Megatron-DeepSpeed, torchtitan's TOML, YAML of
 * nanotron or Megatron-Bridge. Read again it is the same layout of the same model. A pipeline whose layers do not divide
 * needs stage_layers. version is the release that the launch is for (NULL: the newest that has such launches); a flag that it
 * does not have is an error, unless the release has another way to say it. As kerf_framework_check, and KERF_ENOMEM.
 */
KERF_API int32_t kerf_launch_write(enum kerf_framework framework, const char *version,
                                   const struct kerf_problem *problem, const struct kerf_layout *layout,
                                   struct kerf_text *ret_text, struct kerf_error *err);

/** One key of a launch that changes; before or after is NULL where it is not there, "" where it is a flag. */
typedef void (*kerf_launch_change)(void *context, const char *key, const char *before, const char *after);

/** The releases whose flags kerf knows, from the oldest to the newest, NULL behind the last; NULL: none of this framework. */
KERF_API const char *const *kerf_framework_versions(enum kerf_framework framework);

/** Tells every key whose value differs between the launches of two layouts. As kerf_launch_write. */
KERF_API int32_t kerf_launch_changes(enum kerf_framework framework, const struct kerf_problem *problem,
                                     const struct kerf_layout *from, const struct kerf_layout *to,
                                     kerf_launch_change tell, void *context, struct kerf_error *err);

/**
 * Reads the question and one layout, from 1, of what kerf_plan_json has written, or, rank 1, of what `kerf estimate
 * --format json` has. name is the text's, for errors. The layout is given back with kerf_layout_release. Of the system the
 * problem has the name and the size of a scale-up domain alone. KERF_ESYNTAX and KERF_EINVALID with file, line and column.
 */
KERF_API int32_t kerf_launch_plan_parse(const char *text, size_t length, const char *name, int32_t rank,
                                        struct kerf_problem *ret_problem, struct kerf_layout *ret_layout,
                                        struct kerf_error *err);

#ifdef __cplusplus
}
#endif
#endif
