/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker writes: one JSON object a line. docs/workers.md is its manual. */
#ifndef KERF_TRIAL_WORKER_ANSWER_H
#define KERF_TRIAL_WORKER_ANSWER_H

#include <stddef.h>
#include <stdint.h>

enum worker_says {
    WORKER_OTHER, /* not an answer to the question; it is ignored */
    WORKER_READY,
    WORKER_VALUE,
    WORKER_CENSORED,
    WORKER_ERROR,
    WORKER_BAD /* an invalid answer to the question: `text` says why */
};

struct worker_answer {
    enum worker_says says;
    double value;          /* of VALUE and CENSORED, finite */
    double start_s, end_s; /* by its own clock; NAN: not told */
    int32_t failure;       /* of ERROR: enum kerf_tune_failure */
    char text[160];        /* of ERROR and BAD */
};

/* Reads one line. id: of the open question; 0: none is open, and only `ready` is awaited. */
void worker_answer_read(const char *line, size_t length, int64_t id, struct worker_answer *ret_answer);

/* ---- Its clock ---------------------------------------------------------------------------------------------- */

/*
 * One clock for a study, made of its workers' clocks. A worker may tell when it measured by a clock of its own, which
 * may count from anywhere and may begin again with each of its lives; drift needs one clock that never goes back.
 *
 * The clock of the first life is taken as it is. The next life continues it if its clock is ahead by at least the time
 * that passed by kerf's clock in between: one clock for all lives is, and so is a simulated one that runs fast. A
 * clock that began again, or was set back, is shifted: its first time lies behind the last answer by the time that
 * passed by kerf's clock.
 */
struct worker_clock {
    int is_told;    /* a worker told its time */
    int64_t life;   /* which one it was */
    double shift_s; /* from its clock to the study's */
    double end_s;   /* end of the last answer that told a time, by the study's clock; before that one, of any trial */
    double kerf_end_s; /* the same by kerf's clock */
};

struct time_span {
    double start_s, end_s;
};

/* From an answer's times by the worker's clock and by kerf's: its times by the study's clock. */
struct time_span worker_clock_answer(struct worker_clock *clock, int64_t life, struct time_span told,
                                     struct time_span kerfs);

/* The same for an answer, or a failure, without the worker's times. */
struct time_span worker_clock_silence(struct worker_clock *clock, struct time_span kerfs);

#endif
