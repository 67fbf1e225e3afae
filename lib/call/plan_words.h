/* SPDX-License-Identifier: Apache-2.0 */
/* Plans in words, as tables and pictures have them. */
#ifndef KERF_CALL_PLAN_WORDS_H
#define KERF_CALL_PLAN_WORDS_H

#include "kerf/cost.h"
#include "kerf/kerf.h"

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
/* Whether layouts fit, but none as safely as --safe asks. */
int words_is_only_unsafe(const struct kerf_search *search);

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

#endif
