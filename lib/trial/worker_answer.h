/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker writes: one JSON object a line. docs/workers.md is its manual. */
#ifndef KERF_TRIAL_WORKER_ANSWER_H
#define KERF_TRIAL_WORKER_ANSWER_H

#include <stddef.h>
#include <stdint.h>

enum worker_says {
    WORKER_OTHER, /* nothing that was awaited */
    WORKER_READY,
    WORKER_VALUE,
    WORKER_CENSORED,
    WORKER_ERROR,
    WORKER_BAD /* an answer to the question, and none that can be used: `text` says why */
};

struct worker_answer {
    enum worker_says says;
    double value;          /* of VALUE and CENSORED, finite */
    double start_s, end_s; /* of its own clock; NAN: it told none */
    int32_t failure;       /* of ERROR: enum kerf_tune_failure */
    char text[160];        /* of ERROR and BAD */
};

/* id: of the question that was asked; 0: none was, and only `ready` is awaited. */
void worker_answer_read(const char *line, size_t length, int64_t id, struct worker_answer *ret_answer);

/* ---- Its clock ---------------------------------------------------------------------------------------------------- */

/*
 * One clock for a study from those of its workers. A worker may tell when it measured by a clock of its own, which
 * counts from wherever it likes and may begin anew with each of its lives; drift needs one that never goes back.
 *
 * The first life's clock is taken as it is. It goes on with the next life where it says at least as much time as kerf's
 * clock says went by in between, as one clock for all lives does, or a simulated one that runs ahead. A clock that
 * began anew, or that was set back, is shifted: what it says first lies behind the last answer by as much as kerf's
 * clock says.
 */
struct worker_clock {
    int is_told;       /* a worker told its time */
    int64_t life;      /* which one it was */
    double shift_s;    /* from its clock to the study's */
    double end_s;      /* of the last answer that told it, by the study's clock; before the first one of any trial */
    double kerf_end_s; /* and by kerf's */
};

struct time_span {
    double start_s, end_s;
};

/* told: by the worker's clock; kerfs: by kerf's. By the study's. */
struct time_span worker_clock_answer(struct worker_clock *clock, int64_t life, struct time_span told,
                                     struct time_span kerfs);

/* The same of an answer, or a failure, without the worker's times. */
struct time_span worker_clock_silence(struct worker_clock *clock, struct time_span kerfs);

#endif
