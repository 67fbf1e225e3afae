/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of imports: jobs that go through some runs, and go on after they were taken over by another server, exactly
 * like those that stayed.
 */
#ifndef KERF_TESTS_JOB_RUNS_H
#define KERF_TESTS_JOB_RUNS_H

#include "kerf/text.h"
#include "serve_client.h"

enum { JOBS = 4 };
extern const char *const jobs[JOBS];

/* last_spec: of the last job; NULL: the usual one. A run of each is not over when this returns. */
void begin_jobs(const struct place *place, const char *last_spec);

/* Finishes it, and many more; the answers are added to said. */
void go_on(const struct place *place, struct kerf_text *said);
void state_of(struct client *client, const char *job_id, struct kerf_text *said);

/* The test fails with the first line that differs. */
void is_same(const struct kerf_text *want, const struct kerf_text *got);

#endif
