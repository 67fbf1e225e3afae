/* SPDX-License-Identifier: Apache-2.0 */
/* Making the state of a study, and adding measurements to it. */
#ifndef KERF_STUDY_STUDY_STATE_H
#define KERF_STUDY_STUDY_STATE_H

#include "kerf/study.h"

/* From what a state is made. */
struct study_origin {
    const struct kerf_study_request *request; /* its strings live as long as the state */
    const struct kerf_study_record *record;   /* whose measurements it takes over; NULL: none. Lives as long */
    const char *policy;                       /* NULL: the request's */
    const double *prior_log;                  /* [num_settings] or NULL: as kerf_tune_question */
    const char *const *skipped; /* [num_settings] why a setting must not be measured, NULL: it may; or NULL. What the
                                   record says counts instead */
    int32_t find_earlier;       /* 1: earlier studies are looked for; 0: those that the request names count */
};

int32_t study_state_create(const struct study_origin *origin, struct kerf_study_state **ret_state,
                           struct kerf_error *err);

/* Adds a measurement and tells the decision. */
int32_t study_state_add(struct kerf_study_state *state, const struct kerf_study_entry *entry, struct kerf_error *err);

/* Why settings are skipped, as in struct study_origin; NULL: no setting is. */
const char *const *study_state_skipped(const struct kerf_study_state *state);

/* Where nothing was measured but on a busy machine, that is what is known: the decision is told of it. */
int32_t study_state_count_disturbed(struct kerf_study_state *state, struct kerf_error *err);

void study_state_stop(struct kerf_study_state *state, int32_t stop, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
