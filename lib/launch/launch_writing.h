/* SPDX-License-Identifier: Apache-2.0 */
/* A launch while it is written. Each framework that kerf writes is one file and one entry of launch_writers: what the
 * framework can run, as a table and as rules, and the keys with their values, which launch_forms.c then prints. */
#ifndef KERF_LAUNCH_WRITING_H
#define KERF_LAUNCH_WRITING_H

#include "base/arena.h"
#include "kerf/launch.h"

struct launch_key {
    const char *group; /* of a script: the array that it stands in; "": behind the program; of a config file NULL */
    const char *key;   /* "tensor-model-parallel-size"; "parallelism.dp" */
    const char *value; /* NULL: a flag without one */
    int8_t is_text;    /* quoted where the form has quotes */
};

struct launch_writing {
    struct arena *arena;
    const struct kerf_problem *problem;
    const struct kerf_layout *layout; /* its stage_layers are known where there are several stages */
    struct kerf_launch_model shape;
    int32_t version;   /* of the framework's releases */
    const char *group; /* of the keys that follow */
    struct launch_key *keys;
    int32_t count, capacity;
    int32_t failed; /* memory ran out */
};

/* What of a problem or a layout cannot be written, appended to `why`, which may be NULL. Always 1. */
int launch_refuse(struct kerf_text *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct launch_writer {
    struct kerf_runner runner; /* the first member, so that the runner can find its writer */
    enum kerf_framework framework;
    const char *ending;             /* of a file that holds what it prints */
    const char *version;            /* that is written for unless another is named; NULL: the newest */
    const char *const *schedules;   /* by kerf's names; NULL behind the last */
    uint8_t zeros, zeros_of_stages; /* bits of ZeRO stages: of one pipeline stage, of several */
    uint8_t recomputes, cp_comms;   /* bits of enum kerf_recompute and kerf_cp_comm; no cp_comms: no cp */
    uint8_t precisions, orders;     /* bits of enum kerf_precision and kerf_order */
    int8_t has_experts, has_virtual_stages, has_bf16_gradients;
    /* Whether the model is one that it cannot run, or that kerf cannot write for it. */
    int (*refuses_model)(const struct kerf_problem *problem, const struct kerf_launch_model *shape,
                         struct kerf_text *why);
    /* The same of a layout, beyond what stands in the table. */
    int (*refuses_layout)(const struct kerf_problem *problem, const struct kerf_layout *layout, struct kerf_text *why);
    /* The release since which the framework runs what no key tells, such as a size, and that appended to `what`; NULL:
     * all of them do. May be NULL. */
    const char *(*needs_release)(const struct launch_writing *writing, struct kerf_text *what);
    /* Adds all keys. */
    void (*add_keys)(struct launch_writing *writing);
    /* Prints them with what belongs around them. */
    void (*print)(const struct launch_writing *writing, struct kerf_text *out);
};

#define LAUNCH_BIT(value) ((uint8_t)(1u << (value)))

int launch_runner_takes(const struct kerf_runner *runner, const struct kerf_problem *problem,
                        const struct kerf_layout *layout, struct kerf_text *why);

extern const struct launch_writer launch_write_megatron, launch_write_megatron_deepspeed, launch_write_torchtitan,
    launch_write_nanotron, launch_write_megatron_bridge;

/* What Megatron-Core runs, whichever program drives it. */
#define LAUNCH_MEGATRON_CORE                                                                                           \
    .schedules = launch_megatron_schedules, .zeros = LAUNCH_BIT(0) | LAUNCH_BIT(1),                                    \
    .zeros_of_stages = LAUNCH_BIT(0) | LAUNCH_BIT(1),                                                                  \
    .recomputes = LAUNCH_BIT(KERF_RECOMPUTE_NONE) | LAUNCH_BIT(KERF_RECOMPUTE_SELECTIVE) |                             \
                  LAUNCH_BIT(KERF_RECOMPUTE_FULL) | LAUNCH_BIT(KERF_RECOMPUTE_BLOCK),                                  \
    .cp_comms =                                                                                                        \
        LAUNCH_BIT(KERF_CP_COMM_RING) | LAUNCH_BIT(KERF_CP_COMM_ALL_GATHER) | LAUNCH_BIT(KERF_CP_COMM_ALL_TO_ALL),     \
    .precisions = LAUNCH_BIT(KERF_PRECISION_BF16) | LAUNCH_BIT(KERF_PRECISION_FP16) | LAUNCH_BIT(KERF_PRECISION_FP8),  \
    .orders = LAUNCH_BIT(KERF_ORDER_TP_CP_DP_PP) | LAUNCH_BIT(KERF_ORDER_TP_CP_PP_DP), .has_experts = 1,               \
    .has_virtual_stages = 1, .has_bf16_gradients = 1, .refuses_layout = launch_megatron_refuses

extern const char *const launch_megatron_schedules[];

/* ---- The table --------------------------------------------------------------------------------------------------- */

static inline int launch_has_bit(uint8_t bits, int32_t bit) { return bits >> bit & 1; }
int launch_writer_has_schedule(const struct launch_writer *writer, const char *schedule);
/* Whether it has the layout's ZeRO stage with the layout's number of pipeline stages. */
int launch_writer_has_zero(const struct launch_writer *writer, const struct kerf_layout *layout);
/* Whether it cannot run the layout, by its table or by its own rules. */
int launch_writer_refuses(const struct launch_writer *writer, const struct kerf_problem *problem,
                          const struct kerf_layout *layout, struct kerf_text *why);

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

/* Whether the release that is written for has the key. */
int writing_has(const struct launch_writing *writing, enum kerf_framework framework, const char *key);

void writing_integer(struct launch_writing *writing, const char *key, int64_t value);
void writing_word(struct launch_writing *writing, const char *key, const char *value);
void writing_flag(struct launch_writing *writing, const char *key);
void writing_boolean(struct launch_writing *writing, const char *key, int value);
void writing_literal(struct launch_writing *writing, const char *key, const char *value); /* as it is printed */

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

int64_t writing_micro_batches(const struct launch_writing *writing);
/* Whether all virtual stages have equally many layers. */
int writing_is_even(const struct launch_writing *writing);
/* Accelerators of a node as far as the system tells, and nodes. */
int64_t writing_node_size(const struct kerf_problem *problem);

/* The shape of the model in the words of a launch; 0 where these do not say all that its cost depends on, and `why`, which
 * may be NULL, gets the first thing that they do not. */
int launch_shape_of(const struct kerf_problem *problem, struct kerf_launch_model *ret_shape, struct kerf_text *why);

/* Megatron-LM's own rules, which Megatron-Bridge has too. */
int launch_megatron_refuses_model(const struct kerf_problem *problem, const struct kerf_launch_model *shape,
                                  struct kerf_text *why);
int launch_megatron_refuses(const struct kerf_problem *problem, const struct kerf_layout *layout,
                            struct kerf_text *why);
/* The stages in the language of --pipeline-model-parallel-layout. NULL when memory ran out. */
const char *launch_pipeline_text(struct launch_writing *writing);

/* ---- Forms ------------------------------------------------------------------------------------------------------- */

/* Lines that begin with '#': what the launch is, and how it is started. */
void launch_print_head(const struct launch_writing *writing, struct kerf_text *out, const char *const *lines);
/* NAME=( ... ) of one group, a flag a line. */
void launch_print_array(const struct launch_writing *writing, struct kerf_text *out, const char *group);
/* Keys of a group (NULL: of none) as TOML's tables, YAML's mappings or a JSON object. */
void launch_print_toml(const struct launch_writing *writing, struct kerf_text *out);
void launch_print_yaml(const struct launch_writing *writing, struct kerf_text *out);
void launch_print_json(const struct launch_writing *writing, struct kerf_text *out, const char *group);

#endif
