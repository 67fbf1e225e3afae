/* SPDX-License-Identifier: Apache-2.0 */
/* Running a study: asks the decision what to measure, has it measured, writes it into the journal, tells the decision,
 * until that is confident, the budget is spent, the machine is too noisy, or Ctrl-C. */
#ifndef KERF_STUDY_STUDY_RUN_H
#define KERF_STUDY_STUDY_RUN_H

#include "study/study_state.h"

struct study_plan {
    const struct study_request *request;
    const struct study_record *resumed; /* NULL: a new study */
    const double *prior_log;            /* [num_settings] or NULL: as kerf_tune_question */
    const char *const *skipped; /* [num_settings] why a setting must not be measured, NULL: it may; or NULL. What the
                                   resumed study's journal says counts instead */
    char id[STUDY_ID_SIZE];     /* "" or the new study's name */
    double budget_s;            /* 0: none */
    double patience_s;          /* for how long a busy machine is waited for; 0: 31 */
    int32_t keep_journal, use_earlier;
    int wake_fd;                    /* readable after Ctrl-C; -1: none */
    void (*warn)(void *show_context, const char *line); /* what the person should know; NULL */
    int (*interrupted)(void);
    void (*show)(void *context, struct study_state *state); /* after every change and once a second; NULL */
    void *show_context;
};

/* Runs it to its end. An error is one that leaves no study: bad input, a journal that cannot be made. One that comes
 * when something was measured ends the study, with what is known. What the plan points to lives as long as the state. */
int32_t study_run(const struct study_plan *plan, struct study_state **ret_state, struct kerf_error *err);

#endif
