/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a study from the command line: on a terminal with a live table, to its report and its exit status. */
#ifndef KERF_CLI_TUNE_RUN_H
#define KERF_CLI_TUNE_RUN_H

#include "cli/tune_print.h"

struct tune_run {
    struct kerf_study_plan plan;
    const struct llama_preset *llama; /* NULL: another program */
    const char *format;
    const struct string_list *outputs;
};

/* After interrupt_catch. An error is one that leaves no report. */
int32_t tune_run(const struct tune_run *run, int *ret_status, struct kerf_error *err);

#endif
