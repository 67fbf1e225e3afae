/* SPDX-License-Identifier: Apache-2.0 */
/* From what was asked of `kerf schedule` to its answers - every schedule, number of micro-batches and memory cap -, and
 * how they are printed. */
#ifndef KERF_CALL_SCHEDULE_ANSWERS_H
#define KERF_CALL_SCHEDULE_ANSWERS_H

#include "call/plan_question.h"
#include "call/schedule_question.h"

/* ---- The answers ------------------------------------------------------------------------------------------ */

/* One schedule under one set of conditions. */
struct schedule_answer {
    const char *name;          /* as the user wrote it; NULL: the trace's own order */
    int32_t microbatches;      /* 0: a file's own, and it could not be read */
    double cap;                /* --memory-cap of this answer; NAN: none */
    int32_t cap_in_bytes;      /* 1: the cap is in bytes */
    double recompute, offload; /* the shares of this answer; NAN: not said */
    const char *warning;       /* what other programs refuse of it, or NULL */
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    const struct kerf_timeline *timeline; /* NULL where there is no answer, and error says why */
    struct kerf_schedule_steps noisy;     /* samples 0: not asked for */
    struct kerf_schedule_bound bound;     /* the largest that is known of its problem */
    struct kerf_error error;
    struct { /* the same, to give back; not what is a trace's */
        struct kerf_schedule *schedule;
        struct kerf_schedule_times *times;
        struct kerf_timeline *timeline;
    } own;
};

enum { SCHEDULE_IGNORED_MAX = 8 };
struct schedule_answers {
    struct schedule_answer *items;
    int32_t count;
    int32_t interrupted;                       /* 1: progress cut the last of them short .. */
    int32_t not_begun;                         /* .. and so many more that were asked for are missing */
    const struct kerf_trace *trace;            /* drawn above the simulation, or NULL */
    const struct kerf_trace_fit *trace_fit;    /* what it says of times */
    int32_t several;                           /* 1: a comparison or a sweep, 0: one schedule that was asked for */
    int32_t frontier;                          /* 1: the best for each cap alone */
    int32_t of_plan;                           /* 1: the first is a plan's, and others are compared with it */
    const char *ignored[SCHEDULE_IGNORED_MAX]; /* keys of the file of times that no answer uses */
    int32_t num_ignored;
    double from, to;       /* the time that pictures show; both 0: all */
    int32_t late_receives; /* in torch-comms */
    int32_t with_ops;      /* operations in JSON, the timeline in the table */
};

/* Answers all of it; in a comparison or sweep, answers that failed say why in their `error`. Returns an error when
 * there is none to show. Given back with schedule_answers_free. */
int32_t schedule_answers_make(const struct schedule_question *question, struct call_progress progress,
                              struct schedule_answers *answers, struct kerf_error *err);
void schedule_answers_free(struct schedule_answers *answers);

/* ---- Their figures ------------------------------------------------------------------------------- */

double answer_peak(const struct schedule_answer *answer);       /* micro-batches on the fullest device */
double answer_peak_bytes(const struct schedule_answer *answer); /* NAN where bytes are not known */

/* Whether the bound is of orders that hold any amount: then 0 above is the shortest order there is. */
int answer_is_bound_freely(const struct schedule_answer *answer);

/* How far the step is above the bound, as a share: 0 where no order is shorter. */
double answer_gap(const struct schedule_answer *answer);

/* In words. */
void words_microbatches(struct kerf_text *out, double count, int digits); /* "1 micro-batch", "7.5 micro-batches" */
/* "8 micro-batches through 4 stages on 4 devices" */
void words_size(struct kerf_text *out, const struct kerf_schedule *schedule);
void words_percent(struct kerf_text *out, double share, int digits, int with_sign); /* "3.50 %", never "-0.00 %" */
void words_cap(struct kerf_text *out, const struct schedule_answer *answer);        /* "8 micro-batches", "40 GB" */

/* What `kerf schedule --format json` prints. */
void schedule_answers_json(struct kerf_text *out, const struct schedule_answers *answers);

#endif
