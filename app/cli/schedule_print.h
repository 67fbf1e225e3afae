/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of `kerf schedule`, printed for people, spreadsheets and other programs. */
#ifndef KERF_CLI_SCHEDULE_PRINT_H
#define KERF_CLI_SCHEDULE_PRINT_H

#include "call/schedule_answers.h"
#include "cli/render.h"

void words_microbatches(struct kerf_text *out, double count, int digits); /* "1 micro-batch", "7.5 micro-batches" */
/* "8 micro-batches through 4 stages on 4 devices" */
void words_size(struct kerf_text *out, const struct kerf_schedule *schedule);
void words_percent(struct kerf_text *out, double share, int digits, int with_sign); /* "3.50 %", never "-0.00 %" */
void words_cap(struct kerf_text *out, const struct schedule_answer *answer);        /* "8 micro-batches", "40 GB" */

void print_schedule_list(struct kerf_text *out);
void print_schedule_list_json(struct kerf_text *out);
void print_schedule_table(struct kerf_text *out, const struct schedule_answers *answers,
                          const struct render_style *style);

/* What a trace says of times. */
void print_fit_table(struct kerf_text *out, const struct kerf_trace *trace, const struct kerf_trace_fit *fit,
                     const struct render_style *style);

/* What a certificate proves, once it is checked: schedule_verify.c. */
int32_t schedule_verify_file(const char *path, struct kerf_schedule_verdict *ret_verdict, struct kerf_error *err);
void print_verdict_table(struct kerf_text *out, const struct kerf_schedule_verdict *verdict);
void print_verdict_json(struct kerf_text *out, const struct kerf_schedule_verdict *verdict);

void print_schedule_csv(struct kerf_text *out, const struct schedule_answers *answers);

/* One schedule or several as timelines, a sweep as curves. */
int32_t print_schedule_picture(struct kerf_text *out, const struct schedule_answers *answers,
                               enum kerf_picture_format format, struct kerf_error *err);
/* The timeline of one answer for a terminal. */
void print_schedule_timeline(struct kerf_text *out, const struct schedule_answers *answers,
                             const struct schedule_answer *answer, const struct render_style *style);

#endif
