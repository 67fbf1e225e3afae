/* SPDX-License-Identifier: Apache-2.0 */
/* A study in its forms: sentences and a table, JSON, CSV, Markdown, and how the command line runs one. */
#ifndef KERF_CLI_TUNE_PRINT_H
#define KERF_CLI_TUNE_PRINT_H

#include "base/arena.h"
#include "cli/render.h"
#include "kerf/study.h"

/* A study's state and what it knows by now. */
struct tune_report {
    struct kerf_study_state *state;
    struct kerf_tune_answer answer;
    struct kerf_tune_modes modes;
    int32_t most_to_go_on; /* 0: the study goes on as it is; N: with --max-observations N; -1: it has nothing to do */
    const char *journal;   /* the study's, where it was named by its path; else NULL */
    const struct llama_preset *llama;       /* NULL: of another program */
    struct kerf_tune_importance importance; /* without effects until tune_report_weigh */
    const int32_t *slice; /* [num_params] values that the surface is drawn at, -1: any; NULL: the recommendation's */
    /* of two objectives: the second one's name, and the front of both */
    int32_t has_front, maximizes_second;
    char second[KERF_STUDY_NAME_SIZE];
    struct kerf_tune_front front;
};

int32_t tune_report_make(struct kerf_study_state *state, struct tune_report *ret_report, struct kerf_error *err);

/* What matters, for a report that is printed and not only shown while the study runs: it takes a while. */
int32_t tune_report_weigh(struct tune_report *report, struct kerf_error *err);

/* Settings in the order of reports: the best, the other measured ones by their mean, then those whose runs were all stopped, then the
 * others. [num_settings], to be freed; NULL when memory ran out. */
int32_t *tune_order(const struct tune_report *report);

/* "1000000"; of a large grid with constraints "about 410000000". */
void words_number_of_settings(struct kerf_text *out, const struct kerf_tune_space *space);

/* 0: there is no interval, because the policy tells none or too little is known of the setting. */
int tune_is_interval(const double interval[2]);

/* Whether the answer is probably right: with a stated probability below one half there is no answer yet. The answer of
 * a policy that states no probability counts. */
int tune_is_answered(const struct tune_report *report);

/* Whether a policy of this name has a model: then it says how probable it is that a setting is within the margin, and earlier
 * studies help it. */
int tune_has_model(const char *policy);

/* Whether the gain over the default is a ratio: both means are known, and above 0. */
int tune_has_gain(const struct tune_report *report);

/* A value of the objective with its unit: "470 ms", "1.2 GB", "35.6". */
void words_objective(struct kerf_text *out, const struct kerf_study_request *request, double value);

/* "461 ms to 480 ms", with `between` for " to "; nothing where it is not an interval. */
void words_interval(struct kerf_text *out, const struct kerf_study_request *request, const double interval[2],
                    const char *between);

/* A share as it was given: "3 %", "2.5 %", "99.9999 %". */
void words_share(struct kerf_text *out, double share);

/* With two digits, "0.96 %", or as many as it has before the point, "213 %". */
void words_deviation(struct kerf_text *out, double share);

/* "96 %", with a decimal near 0 and 1; ">99.9 %" where random draws cannot tell more. */
void words_chance(struct kerf_text *out, double probability);

void print_tune_table(struct kerf_text *out, const struct tune_report *report, const struct render_style *style);
void print_tune_markdown(struct kerf_text *out, const struct tune_report *report);
void print_tune_json(struct kerf_text *out, const struct tune_report *report);
void print_tune_csv(struct kerf_text *out, const struct tune_report *report);

/* The titles of the parameters' columns, each with a comma behind it: "param_" stands before one that is among the other
 * titles, which stand in one text with commas between. */
void csv_params(struct kerf_text *out, const struct kerf_tune_space *space, const char *others);

/* The study in sentences, a paragraph each. bold: 1 where escape sequences may be used. */
void words_study(struct kerf_text *out, const struct tune_report *report, int32_t bold);

/* ---- Two objectives (tune_pareto.c) ------------------------------------------------------------------------------- */

/* A value of the second objective with its unit. */
void words_second(struct kerf_text *out, const struct tune_report *report, double value);

/* What the first one is called: "wall", "tokens_per_s". */
void words_first(struct kerf_text *out, const struct tune_report *report);

/* The probability that no setting beats it in both objectives; NAN where it is not on the front. */
double tune_unbeaten(const struct tune_report *report, int32_t setting);
int tune_is_on_front(const struct tune_report *report, int32_t setting);

/* The front, then the other settings that were tried, `most` rows in all or as many as the front has. Returns how many were not
 * tried; *ret_cut: how many of the others are not shown. */
int32_t front_rows(struct kerf_text *cells, const struct tune_report *report, int32_t most, int32_t *ret_cut);

void json_front(struct kerf_json *json, const struct tune_report *report); /* "pareto" */

/* All measured settings over both objectives; 0: there is none. */
int tune_front_scatter(const struct tune_report *report, struct sketch *sketch, struct kerf_panel *ret_panel);

/* ---- llama.cpp --------------------------------------------------------------------------------------------------- */

/* Of a study of llama.cpp: the options of its programs, and memory. */
void words_llama(struct kerf_text *out, const struct tune_report *report);
void json_llama(struct kerf_json *json, const struct tune_report *report);

/* ---- As a picture ------------------------------------------------------------------------------------------------ */

/* The surface of a study as a heat map: two of its parameters, the others as in the slice, else in the recommended setting.
 * 1 and the panel, or 0 where there is no surface: nothing measured, one parameter alone, or too many values. */
int tune_surface(const struct tune_report *report, struct sketch *sketch, struct kerf_panel *ret_panel);

/* The same of one parameter: a bar with its interval for each value. */
int tune_whiskers(const struct tune_report *report, struct sketch *sketch, struct kerf_panel *ret_panel);

/* "Shown with threads=4, as recommended; --slice NAME=VALUE shows others."; nothing where all parameters are shown. */
void words_shown(struct kerf_text *out, const struct tune_report *report);

/* "threads=8,kv=f16": [num_params] values, -1 of a parameter that is not named; to be freed. KERF_EUNKNOWN. Nothing that is
 * rendered showing it is KERF_EINVALID. */
int32_t tune_slice_read(const char *text, const struct kerf_tune_space *space, const struct render *render,
                        int32_t **ret_slice, struct kerf_error *err);

int32_t print_tune_picture(struct kerf_text *out, const struct tune_report *report, enum kerf_picture_format format,
                           struct kerf_error *err);

/* ---- A study from the command line: on a terminal with a live table, to its report and its exit status --------- */

/* All formats of a study. */
extern const struct render_format tune_formats[];
int32_t print_tune(void *report, struct kerf_text *out, const struct render_format *format,
                   const struct render_style *style, struct kerf_error *err); /* report: struct tune_report * */

struct tune_run {
    struct kerf_study_plan plan;
    const char *journal;              /* the path by which a study that goes on was named, or NULL */
    const struct llama_preset *llama; /* NULL: another program */
    const char *format, *slice;       /* slice NULL: where the recommendation is */
    const struct string_list *outputs;
};

/* Call it after interrupt_catch. An error means that there is no report. */
int32_t tune_run(const struct tune_run *run, int *ret_status, struct kerf_error *err);

#endif
