/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_CLI_PLAN_TABLE_H
#define KERF_CLI_PLAN_TABLE_H

#include "cli/plan_words.h"

/* Plans for a person at a terminal: the answer in words, with bars; a sweep as a table. */
void print_plan_table(struct kerf_text *out, const struct kerf_plan *plan, const struct print_style *style);

#endif
