/* SPDX-License-Identifier: Apache-2.0 */
/* One layout for a person at a terminal, and what the tables of searches share with it. */
#ifndef KERF_CLI_ESTIMATE_TABLE_H
#define KERF_CLI_ESTIMATE_TABLE_H

#include "cli/plan_words.h"

/* The answer of kerf estimate. was_placed: the placement was not named, and the fastest was taken. cost_model: its name. */
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
/* The layout in words, and its time and memory as bars. */
void table_estimate(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_estimate *estimate,
                    const struct print_style *style);

#endif
