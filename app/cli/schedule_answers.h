/* SPDX-License-Identifier: Apache-2.0 */
/* From what was asked of `kerf schedule` to its answers: every schedule, number of micro-batches and memory cap. */
#ifndef KERF_CLI_SCHEDULE_ANSWERS_H
#define KERF_CLI_SCHEDULE_ANSWERS_H

#include "cli/ranges.h"
#include "cli/schedule_print.h"

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
    const struct kerf_trace *run;               /* NULL, or what times and sizes come from that are not said */
};

/* Whether a name is that of a file: rules have neither a dot nor a slash in theirs. */
int schedule_is_file(const char *name);

/* "8", "4..16", "4,8,12", "40GB,80GB": given back with free(*ret_caps). */
int32_t schedule_caps_parse(const char *text, struct memory_cap **ret_caps, int32_t *ret_count, struct kerf_error *err);

/* Answers all of it; of a comparison or sweep those without an answer say why in their `error`. Returns an error when
 * there is none to show. Given back with schedule_answers_free. *ret_complete is 0 after Ctrl-C. */
int32_t schedule_answers_make(const struct schedule_question *question, struct schedule_answers *answers,
                              int32_t *ret_complete, struct kerf_error *err);
void schedule_answers_free(struct schedule_answers *answers);

#endif
