/* SPDX-License-Identifier: Apache-2.0 */
/* Which layouts are searched or priced: a strategy with its cost model, and for hybrid layouts which of them and how
 * they are trained. The options of plan and of estimate have the same words and rules. */
#ifndef KERF_CALL_SPACE_OPTIONS_H
#define KERF_CALL_SPACE_OPTIONS_H

#include <float.h>
#include "base/option.h"
#include "kerf/kerf.h"

/* ---- Of every question ------------------------------------------------------------------------------------------- */

/* Rows of an option table for a struct `owner` whose member `of` has members global_batch and seq_length. */
#define BATCH_OPTIONS(owner, of)                                                                                       \
    {.name = "global-batch",                                                                                           \
     .letter = 'b',                                                                                                    \
     .type = OPTION_INTEGER,                                                                                           \
     .offset = offsetof(owner, of.global_batch),                                                                       \
     .value = "N",                                                                                                     \
     .minimum = 1,                                                                                                     \
     .maximum = 1073741824,                                                                                            \
     .help = "Samples in a step of the optimizer."},                                                                   \
    {                                                                                                                  \
        .name = "seq-length", .type = OPTION_INTEGER, .offset = offsetof(owner, of.seq_length), .value = "N",          \
        .minimum = 1, .maximum = 1073741824,                                                                           \
        .help = "Tokens in a sample (default: the model's max_position_embeddings)."                                   \
    }

/* Also of its members attention and sets. */
#define PROBLEM_OPTIONS(owner, of)                                                                                     \
    BATCH_OPTIONS(owner, of),                                                                                          \
        {.name = "attention",                                                                                          \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.attention),                                                                      \
         .value = "KIND",                                                                                              \
         .choices = "fused,unfused,recomputed,summa",                                                                  \
         .help = "How attention is computed (default: fused). recomputed is for 1d, summa for summa."},                \
    {                                                                                                                  \
        .name = "set", .type = OPTION_STRINGS, .offset = offsetof(owner, of.sets), .value = "KEY=VALUE",               \
        .help = "Change a field of the system or model, such as scale_up.bandwidth_bytes_per_s=450GB/s; several "      \
                "between commas, or by giving it several times."                                                       \
    }

/* ---- Strategy and cost model ------------------------------------------------------------------------------------- */

/* What --strategy and --cost-model say together: either implies the other, in kerf plan and in kerf estimate. */

enum { STRATEGY_CHOICES_MAX = KERF_STRATEGY_COUNT * 4 };

struct strategy_choice {
    enum kerf_strategy of[STRATEGY_CHOICES_MAX];
    int32_t count;
    const struct kerf_cost_model *cost_model;
    const char *cost_model_name;
};

/* A list of strategies, or all, which is 1d, summa and seqp; and a cost model. NULL: not given. */
int32_t strategy_choose(const char *strategies, const char *cost_model, struct strategy_choice *ret_choice,
                        struct kerf_error *err);

/* The same for one layout, whose parts say the strategy where nothing else does. The layout is given back with
 * kerf_layout_release. */
int32_t strategy_of_layout(const char *layout_text, const char *strategy, const char *cost_model,
                           struct kerf_layout *ret_layout, struct strategy_choice *ret_choice, struct kerf_error *err);

/* ---- Hybrid layouts ---------------------------------------------------------------------------------------------- */

/* What is searched, as text; NULL: not given. */
struct space_options {
    const char *space, *tp, *cp, *pp, *vpp, *ep, *etp, *dp, *zero, *micro_batch, *recompute, *schedules, *order,
        *cp_comm, *stage_layers;
};

#define SPACE_OPTION(owner, member, option_name, what, words) SPACE_WORDS(owner, member, option_name, what, NULL, words)
#define SPACE_WORDS(owner, member, option_name, what, offered, words)                                                  \
    {                                                                                                                  \
        .name = option_name, .type = OPTION_STRING, .offset = offsetof(owner, member), .value = what,                  \
        .choices = offered, .help = words                                                                              \
    }
/* Rows of an option table for a struct `owner` whose member `of` is a struct space_options. */
#define SPACE_OPTIONS(owner, of)                                                                                       \
    SPACE_OPTION(owner, of.tp, "tp", "N[,...]",                                                                        \
                 "Only these sizes of tensor parallelism (with sequence parallelism, where above 1)."),                \
        SPACE_OPTION(owner, of.cp, "cp", "N[,...]", "Only these sizes of context parallelism."),                       \
        SPACE_OPTION(owner, of.pp, "pp", "N[,...]", "Only these numbers of pipeline stages."),                         \
        SPACE_OPTION(owner, of.vpp, "vpp", "N[,...]", "Only these numbers of virtual stages of a device."),            \
        SPACE_OPTION(owner, of.ep, "ep", "N[,...]", "Only these sizes of expert parallelism."),                        \
        SPACE_OPTION(owner, of.etp, "etp", "N[,...]", "Only these sizes of the experts' tensor parallelism."),         \
        SPACE_OPTION(owner, of.dp, "dp", "N[,...]", "Only these numbers of replicas."),                                \
        SPACE_WORDS(owner, of.zero, "zero", "STAGE[,...]", "0,1,2,3",                                                  \
                    "Only these ZeRO stages: 0, 1 (optimizer), 2 (+ gradients), 3 (+ weights). 2 and 3 with "          \
                    "pipelines are searched where they are named."),                                                   \
        SPACE_OPTION(owner, of.micro_batch, "micro-batch", "N[,...]", "Only these samples of a micro-batch."),         \
        SPACE_WORDS(owner, of.recompute, "recompute", "KIND[,...]", "none,selective,full",                             \
                    "Only these kinds of recomputation: none, selective, full, or full:K, the first K layers of "      \
                    "each virtual stage (default: none,selective,full)."),                                             \
        SPACE_OPTION(owner, of.schedules, "schedules", "SCHEDULE[,...]",                                               \
                     "Only these pipeline schedules, such as 1f1b,zb_h1,zb_v,dualpipe_v; `kerf schedule --list` "      \
                     "them (default: 1f1b, and interleaved_1f1b with virtual stages)."),                               \
        SPACE_WORDS(owner, of.order, "order", "ORDER[,...]", "tp-cp-dp-pp,tp-cp-pp-dp",                                \
                    "How ranks are numbered, tp-cp-dp-pp (the default) or tp-cp-pp-dp: who are neighbours in a "       \
                    "scale-up domain."),                                                                               \
        SPACE_WORDS(owner, of.cp_comm, "cp-comm", "KIND[,...]", "ring,all_gather,all_to_all",                          \
                    "How context parallelism communicates: ring, all_gather, all_to_all (default: the cheapest)."),    \
        SPACE_OPTION(owner, of.stage_layers, "stage-layers", "N,N,...",                                                \
                     "Layers of each virtual stage in the order in which a micro-batch goes through them, pp x vpp "   \
                     "numbers (default: the split whose slowest device is fastest)."),                                 \
    {                                                                                                                  \
        .name = "space", .type = OPTION_CHOICE, .offset = offsetof(owner, of.space), .value = "SPACE",                 \
        .choices = "default,wide",                                                                                     \
        .help = "wide searches every order, schedule, number of recomputed layers, kind of cp communication and ZeRO " \
                "stage too (docs/space.md)."                                                                           \
    }

/* Which layouts are searched; ret_stage_layers is given back with free and kept as long as the space. */
int32_t space_read(const struct space_options *options, struct kerf_space *ret_space, int32_t **ret_stage_layers,
                   struct kerf_error *err);

/* How hybrid layouts are trained, and what is asked of a whole run. */
struct training_options {
    const char *precision, *gradients, *tokens;
    const char *stack, *calibration;
    int64_t mtp_layers; /* -1: not given */
    double price;       /* 0: not given */
};

/* Rows of an option table for a struct `owner` whose member `of` is a struct training_options: what is computed. */
#define NUMERICS_OPTIONS(owner, of)                                                                                    \
    {.name = "precision",                                                                                              \
     .type = OPTION_CHOICE,                                                                                            \
     .offset = offsetof(owner, of.precision),                                                                          \
     .value = "NAME",                                                                                                  \
     .choices = "bf16,fp16,fp8",                                                                                       \
     .help = "What matrix products are computed in (default: bf16)."},                                                 \
        {.name = "gradients",                                                                                          \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.gradients),                                                                      \
         .value = "NAME",                                                                                              \
         .choices = "fp32,bf16",                                                                                       \
         .help = "What gradients are kept and reduced in (default: fp32)."},                                           \
    {                                                                                                                  \
        .name = "mtp-layers", .type = OPTION_INTEGER, .offset = offsetof(owner, of.mtp_layers), .value = "N",          \
        .minimum = 0, .maximum = 1048576,                                                                              \
        .help = "Layers of multi-token prediction that are trained, at most those of the model (default: 0)."          \
    }

/* Also by what software, and what is asked of a whole run. */
#define TRAINING_OPTIONS(owner, of)                                                                                    \
    NUMERICS_OPTIONS(owner, of),                                                                                       \
        {.name = "stack",                                                                                              \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.stack),                                                                          \
         .value = "STACK",                                                                                             \
         .help =                                                                                                       \
             "The software, whose overheads count: a name from `kerf stacks` or a file (default: megatron-core)."},    \
        {.name = "calibration",                                                                                        \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.calibration),                                                                    \
         .value = "FILE",                                                                                              \
         .help = "Constants of the system and the stack that `kerf calibrate` wrote."},                                \
        {.name = "tokens",                                                                                             \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.tokens),                                                                         \
         .value = "N",                                                                                                 \
         .help = "Also say how many days it takes to train on so many tokens: 15T, 300B, 2e12."},                      \
    {                                                                                                                  \
        .name = "price", .type = OPTION_NUMBER, .offset = offsetof(owner, of.price), .value = "N", .minimum = DBL_MIN, \
        .maximum = 1e9,                                                                                                \
        .help = "With --tokens, also say what that costs: the price of an accelerator for an hour, in any currency."   \
    }

/* Everything but the space into the problem; what is not given stays as the problem has it. */
int32_t training_read(const struct training_options *options, struct kerf_problem *problem, struct kerf_error *err);

/* The first option that is given and only hybrid layouts have, "--tp"; NULL: none. */
const char *space_first_given(const struct space_options *options);
const char *training_first_given(const struct training_options *options); /* --tokens and --price are for all */

#endif
