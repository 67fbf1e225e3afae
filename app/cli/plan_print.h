/* SPDX-License-Identifier: Apache-2.0 */
/* The printers of kerf plan, estimate and models: tables and rows. */
#ifndef KERF_CLI_PLAN_PRINT_H
#define KERF_CLI_PLAN_PRINT_H

#include "call/plan_words.h"
#include "call/software.h"

struct print_style {
    int32_t columns;  /* width of the terminal */
    int32_t colour;   /* 1: escape sequences may be used */
    int32_t is_whole; /* 1: for a file or another program, where reasons and layouts may be as wide as they are */
};

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* Plans for a person at a terminal: the answer in words, with bars; a sweep as a table. */
void print_plan_table(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style);

/* Plans as rows, for programs, spreadsheets and reports. */
void print_plan_csv(struct kerf_text *out, const struct kerf_plan *plan);
void print_plan_markdown(struct kerf_text *out, const struct kerf_plan *plan);
void print_layers_csv(struct kerf_text *out, const struct kerf_layer *layers, int32_t num_layers);

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
void table_interval(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate,
                    const struct print_style *style); /* how sure it is */
/* How long a run takes and what it costs, where that was asked; and the words alone, where it was. */
void table_training(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate,
                    const struct print_style *style);
void words_days(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate);
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

/* The same of a --calibration that has nothing for what was priced. */
void calibration_notes(const struct software *software, struct software_uses uses);

/* The same of what --set changes in vain: "a=1, b=2". */
void set_notes(const struct kerf_text *ignored);

#endif
