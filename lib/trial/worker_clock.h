/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One clock for a study from those of its workers. A worker may tell when it measured by a clock of its own, which
 * counts from wherever it likes and may begin anew with each of its lives; drift needs one that never goes back.
 *
 * The first life's clock is taken as it is. It goes on with the next life where it says at least as much time as kerf's
 * clock says went by in between, as one clock for all lives does, or a simulated one that runs ahead. A clock that
 * began anew, or that was set back, is shifted: what it says first lies behind the last answer by as much as kerf's
 * clock says.
 */
#ifndef KERF_TRIAL_WORKER_CLOCK_H
#define KERF_TRIAL_WORKER_CLOCK_H

#include <stdint.h>

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
