/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of `kerf calibrate` and its answer: constants from a table of runs. */
#ifndef KERF_CALL_CALIBRATE_QUESTION_H
#define KERF_CALL_CALIBRATE_QUESTION_H

#include "call/measured_run.h"
#include "score/calibrate.h"
#include "score/step_log.h"

struct calibrate_values {
    struct string_list tables;
    const char *system, *stack, *without_set, *calibration;
    int64_t folds;
    int32_t all, leave_set_out;
    const char *log;         /* the name of a log; NULL */
    struct measured_run run; /* whose log it is */
    struct fit_watch watch;  /* who is told how far it is */
};

/* Those that are not given. */
#define CALIBRATE_VALUES                                                                                               \
    { .run = MEASURED_RUN }

struct calibrate_answer {
    struct runs *runs;
    struct calibration *calibration;
    struct step_log log;            /* where there is one */
    struct prediction *predictions; /* [runs->count] of folds or sets left out; else NULL */
};

/* Given back with calibrate_answer_free, which an error has done. with_constants: 0 where predictions alone are wanted. */
int32_t calibrate_answer_make(const struct calibrate_values *values, int with_constants,
                              struct calibrate_answer *ret_answer, struct kerf_error *err);
void calibrate_answer_free(struct calibrate_answer *answer);

void calibrate_answer_json(struct kerf_json *json, const struct calibrate_answer *answer);

#endif
