/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on further numbers of a run: what kerf measures of it, or what the program says in JSON beside the objective. */
#ifndef KERF_TRIAL_LIMITS_H
#define KERF_TRIAL_LIMITS_H

#include <jansson.h>
#include "base/output_limit.h"
#include "kerf/trial.h"

struct limits { /* all zeros: none */
    struct output_limit of[OUTPUT_LIMITS_MAX];
    int32_t count;
    char wanted[OUTPUT_NAME_SIZE]; /* a number that a run has to tell, without a limit on it; "": none */
    int are_told;                  /* one of them is of a number that the program says */
};

int32_t limits_add(struct limits *limits, const char *text, struct kerf_error *err);
int32_t limits_want(struct limits *limits, const char *name, struct kerf_error *err);

static inline int limits_are_asked(const struct limits *limits) { return limits->count > 0 || limits->wanted[0]; }

/* KERF_TUNE_FAILURE_NONE where a run keeps them; KERF_TUNE_FAILURE_LIMIT, or _OUTPUT where a number is missing, and words
 * say which. told: what the program said; NULL: nothing, and silence says why. *ret_wanted: the number that is wanted, where
 * one is and the run keeps the limits. */
int32_t limits_check(const struct limits *limits, const struct kerf_trial_result *result, const json_t *told,
                     const char *silence, double *ret_wanted, char *words, size_t size);

#endif
