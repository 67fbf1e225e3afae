/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of `kerf plan`, and its answer: from the values of the options to problems, and from these to a plan.
 * The command line reads the values from its arguments, kerf_call from a JSON request. */
#ifndef KERF_CALL_PLAN_QUESTION_H
#define KERF_CALL_PLAN_QUESTION_H

#include "call/launch_better.h"
#include "call/ranges.h"
#include "call/software.h"
#include "call/sources.h"
#include "call/space_options.h"

struct plan_values {
    struct string_list models, sets;
    const char *system, *scale_up_size, *gpus, *strategy, *attention, *cost_model, *framework;
    int64_t global_batch, seq_length, top, threads;
    struct space_options space;
    struct training_options training;
    int32_t why, exhaustive, safe;
    struct call_sources sources;
    /* the job whose model, accelerators, batch, sequence length and precision are meant where nothing else is given;
     * NULL: none */
    const struct kerf_launch *launch;
};

/* Those that are not given. */
#define PLAN_VALUES                                                                                                    \
    { .top = 10, .training.mtp_layers = -1 }

#define PLAN_VALUE(owner, of, member, option_name, what, words) SPACE_OPTION(owner, of.member, option_name, what, words)
#define PLAN_NUMBER(owner, of, member, option_name, least, most, words)                                                \
    .name = option_name, .type = OPTION_INTEGER, .offset = offsetof(owner, of.member), .value = "N", .minimum = least, \
    .maximum = most, .help = words

/* Rows of an option table for a struct `owner` whose member `of` is a struct plan_values. */
#define PLAN_OPTIONS(owner, of)                                                                                        \
    {.name = "system",                                                                                                 \
     .letter = 's',                                                                                                    \
     .type = OPTION_STRING,                                                                                            \
     .offset = offsetof(owner, of.system),                                                                             \
     .value = "SYSTEM[,...]",                                                                                          \
     .help = "The hardware: a name from `kerf systems` or a file. Several multiply into a sweep."},                    \
        {.name = "gpus",                                                                                               \
         .letter = 'n',                                                                                                \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.gpus),                                                                           \
         .value = "N[,...]",                                                                                           \
         .help = "How many accelerators: 1024, a list 256,512, or a range 4..16384:x2 or 64..512:+64."},               \
        PROBLEM_OPTIONS(owner, of),                                                                                    \
        SPACE_WORDS(owner, of.strategy, "strategy", "LIST", "hybrid,1d,summa,seqp,all",                                \
                    "Which family of layouts: hybrid (the default), what frameworks of today have; or 1d, summa, "     \
                    "seqp, a list of these three, or all of them, priced by the cost model reference."),               \
        SPACE_OPTIONS(owner, of.space),                                                                                \
        PLAN_VALUE(owner, of, framework, "for", "FRAMEWORK",                                                           \
                   "Only layouts that this framework can run: megatron, deepspeed, torchtitan, nanotron or "           \
                   "megatron-bridge (docs/launch.md)."),                                                               \
        {.name = "safe",                                                                                               \
         .type = OPTION_FLAG,                                                                                          \
         .offset = offsetof(owner, of.safe),                                                                           \
         .help = "Only layouts that run out of memory with a chance of at most 5 %, as predictions of memory are "     \
                 "some per cent off."},                                                                                \
        {.name = "exhaustive",                                                                                         \
         .type = OPTION_FLAG,                                                                                          \
         .offset = offsetof(owner, of.exhaustive),                                                                     \
         .help = "Price every layout, whatever bounds prove; the answer is the same."},                                \
        TRAINING_OPTIONS(owner, of.training),                                                                          \
        PLAN_VALUE(owner, of, scale_up_size, "scale-up-size", "N[,...]",                                               \
                   "Accelerators in a scale-up (NVLink) domain: a number, list or range (default: the system's)."),    \
        {PLAN_NUMBER(owner, of, top, "top", 1, KERF_TOP_MAX,                                                           \
                     "How many layouts to keep of each search (default: 10).")},                                       \
        SPACE_WORDS(owner, of.cost_model, "cost-model", "NAME", "analytic,reference",                                  \
                    "What prices a layout: analytic for hybrid (the default), reference, the model of arXiv "          \
                    "2410.00273, for 1d, summa and seqp."),                                                            \
        {.name = "why",                                                                                                \
         .type = OPTION_FLAG,                                                                                          \
         .offset = offsetof(owner, of.why),                                                                            \
         .help = "Also say why the best is the best: against the runner-up, against the best layout with another "     \
                 "value of each dimension, and which memory, bandwidth or batch would make another layout win."},      \
    {                                                                                                                  \
        .letter = 't',                                                                                                 \
        PLAN_NUMBER(owner, of, threads, "threads", 0, 256,                                                             \
                    "Threads to search with (default: 0, all processors). The answer does not depend on it.")          \
    }

/* The problems of a question; a list of models, systems, domain sizes, strategies and numbers of accelerators multiplies
 * into a sweep. Given back with plan_question_free; it points into the values. */
struct plan_question {
    const struct plan_values *values;
    struct range gpus, domains;
    struct strategy_choice choice;
    struct kerf_space space;
    struct kerf_space *spaces; /* [num_problems] with --for; NULL */
    int32_t *stage_layers;     /* of the space */
    struct software software;
    struct kerf_problem *problems;
    size_t num_problems;
    struct kerf_problem next; /* the model and system at hand */
    struct kerf_layout today; /* of the launch */
    /* of --set, without each of which all layouts of the answer cost the same: "a=1, b=2" */
    struct kerf_text set_without_effect;
};

int32_t plan_question_read(const struct plan_values *values, struct plan_question *ret_question,
                           struct kerf_error *err);
void plan_question_free(struct plan_question *question);

/* The answer; better: with --launch, else NULL. */
void plan_question_json(struct kerf_json *json, const struct plan_question *question,
                        const struct launch_better *better, const struct kerf_plan *plan);

/* Who is told how far the work is, and may end it; all zeros: nobody. */
struct call_progress {
    kerf_progress tell;
    void *context;
    /* NULL, or told what the search of one schedule knows: the objective of the best order (INFINITY: none yet), and what
     * no order is below. */
    void (*found)(void *context, double found_s, double bound_s);
};

/* How the question is searched. */
struct kerf_plan_options plan_question_options(const struct plan_question *question, struct call_progress progress);

int32_t plan_question_search(const struct plan_question *question, struct call_progress progress,
                             struct kerf_plan **ret_plan, struct kerf_error *err);
/* What would help where nothing fits, --why, and what --set changes in vain. */
int32_t plan_question_explain(struct plan_question *question, struct call_progress progress, struct kerf_plan *plan,
                              struct kerf_error *err);

#endif
