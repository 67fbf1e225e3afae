/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules and their timelines for people, spreadsheets and other programs. */
#ifndef KERF_CLI_SCHEDULE_PRINT_H
#define KERF_CLI_SCHEDULE_PRINT_H

#include "cli/render.h"

/* One schedule under one set of conditions. */
struct schedule_answer {
    const char *name; /* as the user wrote it; NULL: the run's own order */
    int32_t microbatches;
    double cap;           /* --memory-cap of this answer; NAN: none */
    int32_t cap_in_bytes; /* 1: the cap is in bytes */
    const char *warning;  /* what other programs say of it, or NULL */
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    const struct kerf_timeline *timeline; /* NULL where there is no answer, and error says why */
    double lower_bound_s;
    struct kerf_error error;
    struct { /* the same, to give back; not what is a run's */
        struct kerf_schedule *schedule;
        struct kerf_schedule_times *times;
        struct kerf_timeline *timeline;
    } own;
};

struct schedule_answers {
    struct schedule_answer *items;
    int32_t count;
    const struct kerf_trace *run;         /* drawn above the simulation, or NULL */
    const struct kerf_trace_fit *run_fit; /* what it says of times */
    int32_t several;                    /* 1: a comparison or a sweep, 0: one schedule that was asked for */
    double from, to;                    /* the time that pictures show; both 0: all */
    int32_t late_receives;              /* in torch-comms */
    int32_t with_ops;                   /* operations in JSON, the timeline in the table */
};

/* schedule_table.c */
void print_schedule_list(struct kerf_text *out);
void print_schedule_list_json(struct kerf_text *out);
void print_schedule_table(struct kerf_text *out, const struct schedule_answers *answers,
                          const struct render_style *style);
double answer_peak(const struct schedule_answer *answer);                    /* micro-batches on the fullest device */
void words_cap(struct kerf_text *out, const struct schedule_answer *answer); /* "8 micro-batches", "40 GB" */

/* schedule_fit.c: what a run says of times. */
void print_fit_table(struct kerf_text *out, const struct kerf_trace *run, const struct kerf_trace_fit *fit,
                     const struct render_style *style);
void print_fit_json(struct kerf_text *out, const struct kerf_trace_fit *fit); /* the file that --times reads */

/* schedule_flat.c */
void print_schedule_json(struct kerf_text *out, const struct schedule_answers *answers);
void print_schedule_csv(struct kerf_text *out, const struct schedule_answers *answers);

/* schedule_picture.c: one schedule or several as timelines, a sweep as curves. */
int32_t print_schedule_picture(struct kerf_text *out, const struct schedule_answers *answers,
                               enum kerf_picture_format format, struct kerf_error *err);
/* The timeline of one answer for a terminal. */
void print_schedule_timeline(struct kerf_text *out, const struct schedule_answers *answers,
                             const struct schedule_answer *answer, const struct render_style *style);

#endif
