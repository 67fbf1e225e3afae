/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a study: of one that runs, of one that has ended, or of one that a journal tells of. */
#ifndef KERF_STUDY_STUDY_STATE_H
#define KERF_STUDY_STUDY_STATE_H

#include "study/study_earlier.h"

enum study_stop {
    STUDY_CONFIDENT,
    STUDY_BUDGET,
    STUDY_INTERRUPTED,
    STUDY_TOO_NOISY,
    STUDY_NOTHING, /* nothing could be measured */
    STUDY_STOPS
};
const char *study_stop_word(int32_t stop);

/* How the reason begins of a trial by which a slot is compared with the others; the number of the slot follows. */
#define STUDY_ANCHOR_REASON "anchor of slot "

struct study_state {
    char id[STUDY_ID_SIZE]; /* "" without a journal */
    const struct study_request *request;
    const struct kerf_tune_space *space;
    struct kerf_tune_study *study;
    const struct study_entry *entries; /* [num_entries] */
    int32_t num_entries;
    int32_t num_disturbed;    /* observations */
    int32_t remeasured;       /* of these, made again */
    int32_t disturbed_counts; /* 1: all were disturbed, and count all the same: better than no answer */
    int32_t num_studies;      /* earlier studies that it began with; the answer tells how many still count */
    int32_t stop;             /* enum study_stop */
    char reason[400];         /* why it stopped, one line */
    int32_t broke_off;        /* kerf itself could not go on: the disk was full, or there was no memory */
    double elapsed_s;         /* of all its runs */
    double run_s;             /* of this one, which is what a budget is for */
    int64_t loads;
    const char *measuring; /* the setting that is being measured, and why; "" */

    struct study_own *own; /* what the above points to */
};

/* From what a state is made. */
struct study_origin {
    const struct study_request *request; /* its strings live as long as the state */
    const struct study_record *record;   /* whose measurements it takes over; NULL: none. Lives as long */
    const char *policy;                  /* NULL: the request's */
    const double *prior_log;             /* [num_settings] or NULL: as kerf_tune_question */
    const char *const *skipped; /* [num_settings] why a setting must not be measured, NULL: it may; or NULL. What the
                                   record says counts instead */
    int32_t find_earlier;       /* 1: earlier studies are looked for; 0: those that the request names count */
};

int32_t study_state_create(const struct study_origin *origin, struct study_state **ret_state, struct kerf_error *err);
struct study_state *study_state_free(struct study_state *state);

/* Adds a measurement and tells the decision. */
int32_t study_state_add(struct study_state *state, const struct study_entry *entry, struct kerf_error *err);

/* Why settings are skipped, as in struct study_origin; NULL: no setting is. */
const char *const *study_state_skipped(const struct study_state *state);

/* Where nothing was measured but on a busy machine, that is what is known: the decision is told of it. */
int32_t study_state_count_disturbed(struct study_state *state, struct kerf_error *err);

void study_state_stop(struct study_state *state, int32_t stop, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A study as a journal holds it, without running anything. policy: NULL for its own. The record lives as long. */
int32_t study_replay(const struct study_record *record, const char *policy, struct study_state **ret_state,
                     struct kerf_error *err);

#endif
