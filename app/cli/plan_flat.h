/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as rows, for programs, spreadsheets and reports. */
#ifndef KERF_CLI_PLAN_FLAT_H
#define KERF_CLI_PLAN_FLAT_H

#include "kerf/kerf.h"

void print_plan_csv(struct kerf_text *out, const struct kerf_plan *plan);
void print_plan_markdown(struct kerf_text *out, const struct kerf_plan *plan);
void print_layers_csv(struct kerf_text *out, const struct kerf_layer *layers, int32_t num_layers);

#endif
