/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules and their timelines for people, spreadsheets and other programs. */
#ifndef KERF_CLI_SCHEDULE_PRINT_H
#define KERF_CLI_SCHEDULE_PRINT_H

#include "cli/render.h"
#include "cli/schedule_answers.h"

/* schedule_table.c */
void print_schedule_list(struct kerf_text *out);
void print_schedule_list_json(struct kerf_text *out);
void print_schedule_table(struct kerf_text *out, const struct schedule_answers *answers,
                          const struct render_style *style);

/* schedule_fit.c: what a trace says of times. */
void print_fit_table(struct kerf_text *out, const struct kerf_trace *trace, const struct kerf_trace_fit *fit,
                     const struct render_style *style);
void print_fit_json(struct kerf_text *out, const struct kerf_trace_fit *fit); /* the file that --times reads */

/* schedule_flat.c */
void print_schedule_json(struct kerf_text *out, const struct schedule_answers *answers);
void print_schedule_csv(struct kerf_text *out, const struct schedule_answers *answers);

/* schedule_picture.c: one schedule or several as timelines, a sweep as curves. */
int32_t print_schedule_picture(struct kerf_text *out, const struct schedule_answers *answers,
                               enum kerf_picture_format format, struct kerf_error *err);
/* The timeline of one answer for a terminal. */
void print_schedule_timeline(struct kerf_text *out, const struct schedule_answers *answers,
                             const struct schedule_answer *answer, const struct render_style *style);

#endif
