/* SPDX-License-Identifier: Apache-2.0 */
/* A study in its forms: words and a table, JSON, CSV, Markdown, a heat map, and what a terminal shows meanwhile. */
#ifndef KERF_CLI_TUNE_PRINT_H
#define KERF_CLI_TUNE_PRINT_H

#include "cli/render.h"
#include "kerf/study.h"

/* A study's state and what it knows by now. */
struct tune_report {
    struct kerf_study_state *state;
    struct kerf_tune_answer answer;
    int32_t most_to_go_on; /* 0: the study goes on as it is; N: with --max-observations N; -1: it has nothing to do */
    const struct llama_preset *llama; /* NULL: of another program */
};

int32_t tune_report_make(struct kerf_study_state *state, struct tune_report *ret_report, struct kerf_error *err);

/* All formats of a study. */
extern const struct render_format tune_formats[];
int32_t print_tune(void *report, struct kerf_text *out, const struct render_format *format,
                   const struct render_style *style, struct kerf_error *err); /* report: struct tune_report * */

void print_tune_table(struct kerf_text *out, const struct tune_report *report, const struct render_style *style);
void print_tune_markdown(struct kerf_text *out, const struct tune_report *report);
void print_tune_json(struct kerf_text *out, const struct tune_report *report);
void print_tune_csv(struct kerf_text *out, const struct tune_report *report);
int32_t print_tune_picture(struct kerf_text *out, const struct tune_report *report, enum kerf_picture_format format,
                           struct kerf_error *err);

/* Settings in the order in which people want them: those most likely the best first, then the others by their mean,
 * then what failed or was left out. [num_settings], to be freed; NULL when memory ran out. */
int32_t *tune_order(const struct tune_report *report);

/* Policies that tell no interval, and settings of which too little is known, have none. */
int tune_is_interval(const double interval[2]);

/* Whether the answer is more probably right than not: with a stated probability below one half there is no answer yet.
 * Policies that state none are taken at their word. */
int tune_is_answered(const struct tune_report *report);

/* Whether how many times as good as the default the best is can be said: both are known, and above 0. */
int tune_has_gain(const struct tune_report *report);

/* A value of the objective with its unit: "470 ms", "1.2 GB", "35.6". */
void words_objective(struct kerf_text *out, const struct kerf_study_request *request, double value);

/* "461 ms to 480 ms"; between is what stands between the two. Only where it is an interval. */
void words_interval(struct kerf_text *out, const struct kerf_study_request *request, const double interval[2],
                    const char *between);

/* A share as it was given: "3 %", "2.5 %", "99.9999 %". */
void words_share(struct kerf_text *out, double share);

/* "96 %", with a decimal near 0 and 1; ">99.9 %" where draws tell no more. */
void words_chance(struct kerf_text *out, double probability);

/* The study in sentences, a paragraph each. bold: 1 where escape sequences may be used. */
void words_study(struct kerf_text *out, const struct tune_report *report, int32_t bold);

/* Of a study of llama.cpp: the options of its programs, and memory. */
void words_llama(struct kerf_text *out, const struct tune_report *report);
void json_llama(struct kerf_json *json, const struct tune_report *report);

/* ---- While it runs ------------------------------------------------------------------------------------------- */

struct tune_live {
    double budget_s; /* 0: none */
    int32_t lines;   /* that stand on the terminal now */
};
/* As struct kerf_study_plan has it: a small table on standard error, drawn over itself. */
void tune_live_show(void *live, struct kerf_study_state *state);
void tune_live_end(struct tune_live *live);

#endif
