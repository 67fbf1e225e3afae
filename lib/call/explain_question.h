/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of `kerf explain` and its answer: a log or a trace beside the prediction of its launch. */
#ifndef KERF_CALL_EXPLAIN_QUESTION_H
#define KERF_CALL_EXPLAIN_QUESTION_H

#include "call/measured_run.h"
#include "call/software.h"
#include "score/explain.h"
#include "score/step_log.h"

struct explain_values {
    struct string_list runs; /* one: a log, or a trace's file or folder */
    const char *system, *stack, *calibration;
    struct measured_run run;
};

/* Those that are not given. */
#define EXPLAIN_VALUES                                                                                                 \
    { .run = MEASURED_RUN }

struct explain_answer {
    struct software software;
    struct kerf_problem problem;
    struct kerf_estimate estimate;
    struct explanation explanation;
    struct step_log log; /* steps 0: a trace */
};

/* Given back with explain_answer_free, which an error has done. */
int32_t explain_answer_make(const struct explain_values *values, struct explain_answer *ret_answer,
                            struct kerf_error *err);
void explain_answer_free(struct explain_answer *answer);

/* The run as a whole, in words: "It takes 12 % longer than predicted, ..." */
void explain_words(struct kerf_text *out, const struct explain_answer *answer);

void explain_answer_json(struct kerf_json *json, const struct explain_answer *answer);

#endif
