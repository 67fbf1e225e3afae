/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of `kerf estimate`, and its answer: from the values of the options to one layout and its cost. */
#ifndef KERF_CALL_ESTIMATE_QUESTION_H
#define KERF_CALL_ESTIMATE_QUESTION_H

#include "call/software.h"
#include "call/sources.h"
#include "call/space_options.h"

struct estimate_values {
    struct string_list models, sets;
    const char *system, *layout, *strategy, *attention, *cost_model;
    int64_t scale_up_size, gpus, global_batch, seq_length;
    struct training_options training;
    int32_t layers;
    struct call_sources sources;
    const struct kerf_launch *launch; /* the job that is meant: its model, layout and batch; NULL: none */
    int64_t operations;               /* more of them its pipeline's schedule may not have; 0: any number */
};

/* Those that are not given. */
#define ESTIMATE_VALUES                                                                                                \
    { .training.mtp_layers = -1 }

#define ESTIMATE_NUMBER(owner, of, member, option_name, most, words)                                                   \
    .name = option_name, .type = OPTION_INTEGER, .offset = offsetof(owner, of.member), .value = "N", .minimum = 1,     \
    .maximum = most, .help = words

/* Rows of an option table for a struct `owner` whose member `of` is a struct estimate_values. */
#define ESTIMATE_OPTIONS(owner, of)                                                                                    \
    {.name = "system",                                                                                                 \
     .letter = 's',                                                                                                    \
     .type = OPTION_STRING,                                                                                            \
     .offset = offsetof(owner, of.system),                                                                             \
     .value = "SYSTEM",                                                                                                \
     .help = "The hardware: a name from `kerf systems` or a file."},                                                   \
        {.name = "layout",                                                                                             \
         .letter = 'l',                                                                                                \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.layout),                                                                         \
         .value = "PARTS",                                                                                             \
         .help = "The layout: tp, cp, pp, vpp, ep, etp, dp, zero, micro_batch, recompute, schedule, order, cp_comm "   \
                 "and stage_layers (such as 20/20/21/19), each as NAME=VALUE, between commas; or dp, tp1, tp2, pp, "   \
                 "micro_batch, summa_blocks, scale_up.tp1, scale_up.tp2, scale_up.dp and scale_up.pp of 1d, summa "    \
                 "and seqp. What is not named is 1, none, 1f1b or interleaved_1f1b, zero 1 where dp x cp is above 1 "  \
                 "(summa_blocks: 0; scale_up.*: the fastest placement that agrees with those named). Rows of kerf "    \
                 "plan's tables hold such text."},                                                                     \
        {.letter = 'n',                                                                                                \
         ESTIMATE_NUMBER(owner, of, gpus, "gpus", 1073741824,                                                          \
                         "How many accelerators (default: as many as the layout has).")},                              \
        PROBLEM_OPTIONS(owner, of),                                                                                    \
        {.name = "strategy",                                                                                           \
         .type = OPTION_CHOICE,                                                                                        \
         .offset = offsetof(owner, of.strategy),                                                                       \
         .value = "NAME",                                                                                              \
         .choices = "hybrid,1d,summa,seqp",                                                                            \
         .help = "Which family of layouts it is of (default: summa where it has summa_blocks, seqp where tp2 is "      \
                 "above 1, 1d where it has tp1, else hybrid)."},                                                       \
        {ESTIMATE_NUMBER(owner, of, scale_up_size, "scale-up-size", 1048576,                                           \
                         "Accelerators in a scale-up (NVLink) domain (default: the system's).")},                      \
        {.name = "cost-model",                                                                                         \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.cost_model),                                                                     \
         .value = "NAME",                                                                                              \
         .choices = "analytic,reference",                                                                              \
         .help = "What prices the layout (default: analytic for hybrid layouts, else reference, the model of "         \
                 "arXiv 2410.00273)."},                                                                                \
        TRAINING_OPTIONS(owner, of.training), {                                                                        \
        .name = "layers", .type = OPTION_FLAG, .offset = offsetof(owner, of.layers),                                   \
        .help = "Also the cost of each operation of a layer."                                                          \
    }

struct estimate_question {
    const struct estimate_values *values;
    struct software software;
    struct kerf_problem problem;
    struct kerf_layout layout; /* as it was asked for */
    struct strategy_choice choice;
    struct kerf_estimate estimate;
    struct kerf_layer layers[KERF_LAYERS_MAX]; /* of layouts other than hybrid */
    int32_t num_layers;
    struct kerf_text set_without_effect; /* of --set, without each of which the layout costs the same: "a=1, b=2" */
};

/* Reads the question and answers it. Given back with estimate_question_free, which an error has done. */
int32_t estimate_question_answer(const struct estimate_values *values, struct estimate_question *ret_question,
                                 struct kerf_error *err);
void estimate_question_free(struct estimate_question *question);

/* The answer as an object. */
void estimate_question_json(struct kerf_json *json, const struct estimate_question *question);

#endif
