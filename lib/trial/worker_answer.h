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

#endif
