/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a study: made, and measurements added to it; and the slots that measure. */
#ifndef KERF_STUDY_STUDY_STATE_H
#define KERF_STUDY_STUDY_STATE_H

#include "study/study_journal.h"

/* What a state is made from. */
struct study_origin {
    const struct kerf_study_request *request; /* its strings live as long as the state */
    const struct kerf_tune_space *space;      /* the record's, in which settings are numbered; NULL: the request's */
    const struct kerf_study_record *record;   /* whose measurements are taken over; NULL: none. Lives as long */
    const char *key;                          /* of the earlier studies that the request names; NULL: any */
    const char *policy;                       /* NULL: the request's */
    const double *prior_log;                  /* [num_settings] or NULL: as kerf_tune_question */
    const char *const *skipped; /* [num_settings] why a setting must not be measured, NULL: it may; or NULL. What the
                                   record says counts instead */
    const struct study_sizes *sizes; /* of the machine; NULL: not known. What the record says counts instead */
    int32_t find_earlier;            /* 1: earlier studies are looked for; 0: those that the request names count */
};

int32_t study_state_create(const struct study_origin *origin, struct kerf_study_state **ret_state,
                           struct kerf_error *err);

/* Adds a measurement, for the decision too. second: of the second objective, where the study has one; else not used. */
int32_t study_state_add(struct kerf_study_state *state, const struct kerf_study_entry *entry, double second,
                        struct kerf_error *err);

/* Why settings are skipped, as in struct study_origin; NULL: no setting is. */
const char *const *study_state_skipped(const struct kerf_study_state *state);

/* Where all measurements were disturbed, they count after all: the decision gets them. */
int32_t study_state_count_disturbed(struct kerf_study_state *state, struct kerf_error *err);

void study_state_stop(struct kerf_study_state *state, int32_t stop, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- The slots of a study (study_slots.c) ---------------------------------------------------------------------- */

/* Places that run trials, each with what it does, what it waits for and what went wrong there. */
enum {
    SLOT_DISTURBED_MAX = 6, /* times in a row, with longer and longer waits between them: the machine is too noisy */
    SLOT_START_FAILURES = 5 /* in a row, to load or to be started at all: the slot takes no part any more */
};

struct slot {
    int32_t busy;    /* 1: a trial runs */
    int32_t planned; /* 1: a trial is to be started, the first time or, as it was disturbed, once more */
    int32_t setting, warmup;
    double limit;
    char why[200];
    double not_before_s; /* a planned trial waits until then */
    int32_t warmups_left, anchor_tries;
    int32_t anchored;       /* 1: the anchor was measured there */
    int32_t disturbed;      /* times in a row */
    int32_t failures;       /* of trials */
    int32_t has_worked;     /* 1: a trial ended there with a number, or was stopped */
    int32_t start_failures; /* in a row, to load or to be started at all */
};

struct study_slots {
    struct slot *items; /* [count] */
    int32_t count;
    int32_t anchor;           /* the setting that every slot measures first, so that slots can be compared; -1: none */
    int32_t anchored;         /* slots where it was measured */
    int32_t measured, failed; /* trials with a number; trials without one, except for want of memory */
    double longest_s;         /* of the trials that ended by themselves */
};

int32_t study_slots_create(int32_t count, int32_t warmups, struct study_slots *ret_slots, struct kerf_error *err);
void study_slots_free(struct study_slots *slots);

/* Takes note of a measurement, new or of a journal. */
void study_slots_note(struct study_slots *slots, const struct kerf_study_entry *entry);

/* 1: the trial failed on a slot where none has worked yet, and its setting worked on another one: what fails is the slot, as
 * where a launcher cannot reach its machine. Want of memory is the setting's. */
int study_slots_is_own_failure(const struct study_slots *slots, const struct kerf_study_state *state,
                               const struct kerf_tune_observation *seen);

/* 1: trials failed on the slot and none has worked anywhere: the others' results tell whether it is the slot or the
 * program. */
int study_slots_must_wait(const struct study_slots *slots, int32_t index);

/* Plans what was decided for a free slot: a warm-up or, where slots have to be compared, the anchor comes before it. */
void study_slots_plan(struct study_slots *slots, const struct kerf_study_state *state, int32_t index,
                      const struct kerf_tune_decision *decision);

/* Marks a measurement that was disturbed, and plans it again after a wait; all waits together are patience_s (0: 31).
 * 1: it was disturbed too often, and entry's message says by what. */
int study_slots_judge(struct slot *slot, struct kerf_study_entry *entry, double now_s, double patience_s);

/* What is being measured or planned, into pending [count]; returns how many. */
int32_t study_slots_pending(const struct study_slots *slots, int32_t *pending);

int32_t study_slots_busy(const struct study_slots *slots); /* how many run a trial */

/* 1: no trial could be started there, too often in a row; it takes no part any more. */
int study_slots_is_retired(const struct slot *slot);

/* 1: after this last trial the study should end. */
int study_slots_are_hopeless(const struct study_slots *slots, const struct kerf_trial_result *last);

/* The time-out of a trial where none was given: a trial that takes ten times as long as any before it hangs. */
double study_slots_timeout_s(const struct study_slots *slots);

#endif
