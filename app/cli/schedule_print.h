/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of `kerf schedule`, printed for people, spreadsheets and other programs. */
#ifndef KERF_CLI_SCHEDULE_PRINT_H
#define KERF_CLI_SCHEDULE_PRINT_H

#include "call/pictures.h"
#include "cli/render.h"

void print_schedule_list(struct kerf_text *out, int32_t columns);
void print_schedule_list_json(struct kerf_text *out);
void print_schedule_table(struct kerf_text *out, const struct schedule_answers *answers,
                          const struct render_style *style);

/* What a trace says of times. */
void print_fit_table(struct kerf_text *out, const struct kerf_trace *trace, const struct kerf_trace_fit *fit,
                     const struct render_style *style);

/* What is true of a certificate. */
void print_verdict_table(struct kerf_text *out, const struct kerf_schedule_verdict *verdict, int32_t columns);

void print_schedule_csv(struct kerf_text *out, const struct schedule_answers *answers);

#endif
