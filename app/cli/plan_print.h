/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and estimates for people and spreadsheets. */
#ifndef KERF_CLI_PLAN_PRINT_H
#define KERF_CLI_PLAN_PRINT_H

#include "kerf/kerf.h"

struct print_style {
    const char *cost_model; /* its name */
    int32_t columns;        /* width of the terminal */
    int32_t colour;         /* 1: escape sequences may be used */
};

/* plan_table.c: the answer in words, with bars. */
void print_plan_table(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style);
void print_estimate_table(struct kerf_text *out, const struct kerf_problem *problem,
                          const struct kerf_estimate *estimate, const struct kerf_layer *layers, int32_t num_layers,
                          const struct print_style *style);

/* plan_flat.c: one row a plan. */
void print_plan_csv(struct kerf_text *out, const struct kerf_plan *plan);
void print_plan_markdown(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style);
void print_layers_csv(struct kerf_text *out, const struct kerf_layer *layers, int32_t num_layers);

/* plan_picture.c: the best of one search as bars; a sweep as scaling curves with the parts of the time. */
int32_t print_plan_picture(struct kerf_text *out, const struct kerf_plan *plan, enum kerf_picture_format format,
                           const struct print_style *style, struct kerf_error *err);

/* plan_words.c: what all of them say in the same words. */
enum { TIME_PARTS = 6, MEMORY_PARTS = 4 };
extern const char *const time_part_names[TIME_PARTS], *const memory_part_names[MEMORY_PARTS];
void time_parts(const struct kerf_estimate *estimate, double ret_seconds[TIME_PARTS]);
void memory_parts(const struct kerf_estimate *estimate, double ret_bytes[MEMORY_PARTS]);
void words_problem(struct kerf_text *out, const struct kerf_problem *problem); /* "gpt3_1t on 1,024 a100, ..." */
void words_layout(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout);
void words_layout_short(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout);
void words_placement_short(struct kerf_text *out, const struct kerf_problem *problem, const struct kerf_layout *layout);
void words_rate(struct kerf_text *out, double per_second); /* "15.73", "2,631,706" */
/* In which parts of the time a runner-up differs most from the best: "TP comm +9.0 s, bubble -2.1 s". */
void words_trade(struct kerf_text *out, const struct kerf_estimate *best, const struct kerf_estimate *other,
                 int32_t most);

#endif
