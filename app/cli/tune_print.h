/* SPDX-License-Identifier: Apache-2.0 */
/* A study in its forms: sentences and a table, JSON, CSV, Markdown, and what a terminal shows while it runs. */
#ifndef KERF_CLI_TUNE_PRINT_H
#define KERF_CLI_TUNE_PRINT_H

#include "cli/render.h"
#include "cli/tune_report.h"

void print_tune_table(struct kerf_text *out, const struct tune_report *report, const struct render_style *style);
void print_tune_markdown(struct kerf_text *out, const struct tune_report *report);
void print_tune_json(struct kerf_text *out, const struct tune_report *report);
void print_tune_csv(struct kerf_text *out, const struct tune_report *report);

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
