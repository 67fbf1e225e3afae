/* SPDX-License-Identifier: Apache-2.0 */
/* From what was asked of `kerf schedule` to its answers - every schedule, number of micro-batches and memory cap -, and
 * how they are printed. */
#ifndef KERF_CLI_SCHEDULE_ANSWERS_H
#define KERF_CLI_SCHEDULE_ANSWERS_H

#include "cli/ranges.h"
#include "cli/render.h"
#include "kerf/kerf.h"

/* ---- What is asked ---------------------------------------------------------------------------------------- */

struct memory_cap {
    double value; /* NAN: none */
    int32_t in_bytes;
};

struct schedule_question {
    const char *const *names; /* [num_names] rules or files */
    int32_t num_names;
    int32_t compare;                  /* 1: on equal footing */
    const struct range *microbatches; /* at least one; 0: the file's own */
    const struct memory_cap *caps;    /* [num_caps], at least one */
    int32_t num_caps;
    struct kerf_schedule_request request;     /* all but rule, micro-batches and times */
    struct kerf_schedule_times_request times; /* all but the cap */
    double jitter;                            /* of operations, NAN: no noise */
    int32_t measured_jitter;                  /* 1: that of the trace */
    const char *straggler, *slow_link;        /* "3:1.5", or NULL */
    int32_t rank_by_p95;                      /* a comparison's rows by the 95th percentile of their steps */
    const struct kerf_trace_fit *trace_fit;   /* of the trace, or NULL */
    const struct kerf_trace *trace;           /* NULL, or what times and sizes come from that are not said */
    const struct kerf_pipeline *pipeline;     /* NULL, or a plan's: the first name is its schedule */
};

/* What `kerf schedule --plan` reads; a question points into it. All zeros: nothing. */
struct schedule_plan {
    struct kerf_pipeline *pipeline;
    struct kerf_text times; /* as a file of times */
    char *words;            /* those of --compare */
    const char **names;     /* the plan's schedule and those */
};

/* The pipeline of the plan of a rank in a file, and the schedules to compare it with, "zb_h1,zb_v" or NULL: fills in
 * what a plan says of the question, all but micro-batches and caps. Given back with schedule_plan_free, also after an
 * error. */
int32_t schedule_plan_read(const char *path, int32_t rank, const char *compare, struct schedule_plan *plan,
                           struct schedule_question *question, struct kerf_error *err);
void schedule_plan_free(struct schedule_plan *plan);

/* Whether a name is that of a schedule, or of a file that is there ("-": standard input); else err says so. */
int32_t schedule_name_check(const char *name, int32_t *ret_is_file, struct kerf_error *err);

/* "8", "4..16", "4,8,12", "40GB,80GB": given back with free(*ret_caps). */
int32_t schedule_caps_parse(const char *text, struct memory_cap **ret_caps, int32_t *ret_count, struct kerf_error *err);

/* ---- The answers ------------------------------------------------------------------------------------------ */

/* One schedule under one set of conditions. */
struct schedule_answer {
    const char *name; /* as the user wrote it; NULL: the trace's own order */
    int32_t microbatches;
    double cap;           /* --memory-cap of this answer; NAN: none */
    int32_t cap_in_bytes; /* 1: the cap is in bytes */
    const char *warning;  /* what other programs refuse of it, or NULL */
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

struct schedule_answers {
    struct schedule_answer *items;
    int32_t count;
    const struct kerf_trace *trace;         /* drawn above the simulation, or NULL */
    const struct kerf_trace_fit *trace_fit; /* what it says of times */
    int32_t several;                        /* 1: a comparison or a sweep, 0: one schedule that was asked for */
    int32_t of_plan;                        /* 1: the first is a plan's, and others are compared with it */
    double from, to;                        /* the time that pictures show; both 0: all */
    int32_t late_receives;                  /* in torch-comms */
    int32_t with_ops;                       /* operations in JSON, the timeline in the table */
};

/* Answers all of it; in a comparison or sweep, answers that failed say why in their `error`. Returns an error when
 * there is none to show. Given back with schedule_answers_free. *ret_complete is 0 after Ctrl-C. */
int32_t schedule_answers_make(const struct schedule_question *question, struct schedule_answers *answers,
                              int32_t *ret_complete, struct kerf_error *err);
void schedule_answers_free(struct schedule_answers *answers);

/* ---- Their figures in words ------------------------------------------------------------------------------- */

double answer_peak(const struct schedule_answer *answer);       /* micro-batches on the fullest device */
double answer_peak_bytes(const struct schedule_answer *answer); /* NAN where bytes are not known */

/* How far the step is above the bound, as a share: 0 where no order is shorter. */
double answer_gap(const struct schedule_answer *answer);

void words_microbatches(struct kerf_text *out, double count, int digits); /* "1 micro-batch", "7.5 micro-batches" */
/* "8 micro-batches through 4 stages on 4 devices" */
void words_size(struct kerf_text *out, const struct kerf_schedule *schedule);
void words_percent(struct kerf_text *out, double share, int digits, int with_sign); /* "3.50 %", never "-0.00 %" */
void words_cap(struct kerf_text *out, const struct schedule_answer *answer);        /* "8 micro-batches", "40 GB" */

/* ---- Printed for people, spreadsheets and other programs ------------------------------------------------------- */

void print_schedule_list(struct kerf_text *out);
void print_schedule_list_json(struct kerf_text *out);
void print_schedule_table(struct kerf_text *out, const struct schedule_answers *answers,
                          const struct render_style *style);

/* What a trace says of times. */
void print_fit_table(struct kerf_text *out, const struct kerf_trace *trace, const struct kerf_trace_fit *fit,
                     const struct render_style *style);
void print_fit_json(struct kerf_text *out, const struct kerf_trace_fit *fit); /* the file that --times reads */

/* What a certificate proves, once it is checked: schedule_verify.c. */
int32_t schedule_verify_file(const char *path, struct kerf_schedule_verdict *ret_verdict, struct kerf_error *err);
void print_verdict_table(struct kerf_text *out, const struct kerf_schedule_verdict *verdict);
void print_verdict_json(struct kerf_text *out, const struct kerf_schedule_verdict *verdict);

void print_schedule_json(struct kerf_text *out, const struct schedule_answers *answers);
void print_schedule_csv(struct kerf_text *out, const struct schedule_answers *answers);

/* One schedule or several as timelines, a sweep as curves. */
int32_t print_schedule_picture(struct kerf_text *out, const struct schedule_answers *answers,
                               enum kerf_picture_format format, struct kerf_error *err);
/* The timeline of one answer for a terminal. */
void print_schedule_timeline(struct kerf_text *out, const struct schedule_answers *answers,
                             const struct schedule_answer *answer, const struct render_style *style);

#endif
