/* SPDX-License-Identifier: Apache-2.0 */
/* A study while it runs: asks the decision what to measure, has it measured, writes it into the journal, tells the
 * decision, until that is confident, the budget is spent, the machine is too noisy, or Ctrl-C. */
#ifndef KERF_STUDY_STUDY_RUN_H
#define KERF_STUDY_STUDY_RUN_H

#include "study/study_journal.h"

enum study_stop {
    STUDY_CONFIDENT,
    STUDY_BUDGET,
    STUDY_INTERRUPTED,
    STUDY_TOO_NOISY,
    STUDY_NOTHING /* nothing could be measured */
};
const char *study_stop_word(int32_t stop);

/* How the reason begins of a trial by which a slot is compared with the others; the number of the slot follows. */
#define STUDY_ANCHOR_REASON "anchor of slot "

/* What is known: of a study that has ended, of one that runs, or of a journal. */
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
    int32_t num_earlier;      /* observations of earlier studies that count */
    int32_t num_studies;      /* how many such studies */
    int32_t stop;             /* enum study_stop */
    char reason[400];         /* why it stopped, one line */
    int32_t broke_off;        /* kerf itself could not go on: the disk was full, or there was no memory */
    double elapsed_s;         /* of all its runs */
    double run_s;             /* of this one, which is what a budget is for */
    int64_t loads;
    const char *measuring; /* the setting that is being measured, and why; "" */
};

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

struct study_run;

/* Runs it to its end. An error is one that leaves no study: bad input, a journal that cannot be made. One that comes
 * when something was measured ends the study, with what is known. */
int32_t study_run(const struct study_plan *plan, struct study_run **ret_run, struct kerf_error *err);

/* A study as a journal holds it, without running anything. The record has to live as long. */
int32_t study_replay(const struct study_record *record, const char *policy, struct study_run **ret_run,
                     struct kerf_error *err);

struct study_state *study_run_state(struct study_run *run);
struct study_run *study_run_free(struct study_run *run);

#endif
