/* SPDX-License-Identifier: Apache-2.0 */
/* The printers of kerf plan, estimate and models: tables, rows, pictures, and the words that they share. */
#ifndef KERF_CLI_PLAN_PRINT_H
#define KERF_CLI_PLAN_PRINT_H

#include "kerf/cost.h"
#include "kerf/kerf.h"

struct print_style {
    int32_t columns;  /* width of the terminal */
    int32_t colour;   /* 1: escape sequences may be used */
    int32_t is_whole; /* 1: for a file or another program, where reasons and layouts may be as wide as they are */
};

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Parts of time or memory, ready to be drawn: names for people ("TP communication") and values. */
struct part_list {
    const char *names[KERF_PARTS_MAX];
    double values[KERF_PARTS_MAX];
    int32_t count;
};
void words_time_parts(const struct kerf_estimate *estimate, struct part_list *ret_parts);
void words_memory_parts(const struct kerf_estimate *estimate, struct part_list *ret_parts);

/* Of hybrid layouts: ", bf16, gradients in bf16, 1 layer of multi-token prediction". */
void words_training(struct kerf_text *out, const struct kerf_problem *problem);
void words_problem(struct kerf_text *out, const struct kerf_problem *problem); /* "gpt3_1t on 1,024 a100, ..." */
/* "128 layers, hidden size 25,600, ...; 80.0 GB on each accelerator; set: num_hidden_layers 48": what the numbers
 * depend on and the names of model and system do not say. */
void words_dimensions(struct kerf_text *out, const struct kerf_problem *problem);
void words_model(struct kerf_text *out, const struct kerf_model *model);
void words_layout(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout);
void words_layout_short(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout);
void words_layout_detail(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout);
void words_rate(struct kerf_text *out, double per_second); /* "15.73", "2,631,706" */
/* "Nothing fits. The least memory ...": why the search has no answer, and what would have one. */
void words_no_answer(struct kerf_text *out, const struct kerf_search *search);
/* In which parts of the time a runner-up differs most from the best: "TP comm +9.0 s, bubble -2.1 s". */
void words_trade(struct kerf_text *out, const struct kerf_estimate *best, const struct kerf_estimate *other,
                 int32_t most);

/* How a model or system is called where several stand beside each other: with its dimensions where another of the plan
 * has the same name. */
void words_model_name(struct kerf_text *out, const struct kerf_plan *plan, const struct kerf_model *model);
void words_system_name(struct kerf_text *out, const struct kerf_plan *plan, const struct kerf_system *system);

/* Whether searches are of one series: they differ in the number of accelerators alone. */
int plan_same_series(const struct kerf_problem *a, const struct kerf_problem *b);

/* What the searches of a plan differ in. */
struct variety {
    int model, system, domain, strategy, gpus, seq_length;
};
struct variety plan_variety(const struct kerf_plan *plan);

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* Plans for a person at a terminal: the answer in words, with bars; a sweep as a table. */
void print_plan_table(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style);

/* Plans as rows, for programs, spreadsheets and reports. */
void print_plan_csv(struct kerf_text *out, const struct kerf_plan *plan);
void print_plan_markdown(struct kerf_text *out, const struct kerf_plan *plan);
void print_layers_csv(struct kerf_text *out, const struct kerf_layer *layers, int32_t num_layers);

/* The best of one search as bars; a sweep as scaling curves with the parts of the time. */
int32_t print_plan_picture(struct kerf_text *out, const struct kerf_plan *plan, enum kerf_picture_format format,
                           struct kerf_error *err);

/* The least time within each memory, of every search, with layouts that come near. */
int32_t print_front_picture(struct kerf_text *out, const struct kerf_plan *plan, enum kerf_picture_format format,
                            struct kerf_error *err);

/* ---- One layout, and what the tables of searches share with it --------------------------------------------------- */

/* The answer of kerf estimate. was_placed: the placement was not named, and the fastest was taken. cost_model: its
 * name. */
void print_estimate_table(struct kerf_text *out, const struct kerf_problem *problem,
                          const struct kerf_estimate *estimate, int was_placed, const struct kerf_layer *layers,
                          int32_t num_layers, const char *cost_model, const struct print_style *style);

/* Words broken between columns `indent` and the right edge, one that is wider than a line within; ends the line. */
void table_words(struct kerf_text *out, const struct kerf_text *words, int32_t indent, const struct print_style *style);
/* Words that stand out; they are given back. */
void table_headline(struct kerf_text *out, struct kerf_text *words, const struct print_style *style);
/* What is asked; and what the names of model and system do not say. */
void table_problem(struct kerf_text *out, const struct kerf_problem *problem, const struct print_style *style);
void table_dimensions(struct kerf_text *out, const struct kerf_problem *problem, const struct print_style *style);
/* "260 s a step, 15.73 samples/s, ..." */
void table_rate(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate);
/* How long a run takes and what it costs, where that was asked. */
void table_training(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate,
                    const struct print_style *style);
/* Why the best is the best, and what would make another layout win. */
void table_why(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style);
/* Where nothing fits: which options would help. */
void table_mends(struct kerf_text *out, const struct kerf_search *search, const struct print_style *style);
/* The layout in words, and its time and memory as bars. */
void table_estimate(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate,
                    const struct print_style *style);

/* ---- Models ------------------------------------------------------------------------------------------------------ */

/* What kerf understood of a model, for a person: its size, its kinds of layers, where its parameters are. */
void model_table(struct kerf_text *out, const struct kerf_model *model, int64_t seq_length);

/* What the sizes of the problem's model cost at the layout's shards. */
void size_table(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout,
                const struct kerf_advice *advice);

/* Tells on standard error which keys of a model's file are ignored, what was assumed, and what of the model the cost
 * model (NULL: none is asked) does not price. */
void model_notes(const struct kerf_model *model, const struct kerf_cost_model *cost_model);

#endif
