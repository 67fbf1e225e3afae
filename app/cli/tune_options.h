/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `kerf tune`, and what they ask of a study. */
#ifndef KERF_CLI_TUNE_OPTIONS_H
#define KERF_CLI_TUNE_OPTIONS_H

#include "base/option.h"
#include "kerf/study.h"

struct tune_options {
    struct string_list params, wheres, words, outputs, key_env;
    const char *defaults, *prefer, *within, *margin, *confidence, *policy;
    const char *objective, *protocol, *prepare, *cleanup, *launcher, *interference;
    const char *memory_cap, *study, *format;
    const char *also, *logits;                                    /* of the preset llama, as the next ones */
    double budget_s, patience_s, load_timeout_s, trial_timeout_s; /* 0: not said */
    int64_t context, threads, gpu_layers;
    int64_t warmups, seed, slots, max_observations;
    int32_t minimize, maximize, resume, no_journal, fresh, show_output, conform_to_imatrix;
};

enum { TUNE_NOT_GIVEN = INT32_MIN }; /* where 0 is a number that may be asked for */
extern const struct tune_options tune_options_unset;

/* Of struct tune_options; ends with one that has no name. */
extern const struct option tune_option_table[];

/* Fills in the whole request, which points into the values. */
int32_t tune_options_request(const struct tune_options *values, struct kerf_study_request *request,
                             struct kerf_error *err);

#endif
