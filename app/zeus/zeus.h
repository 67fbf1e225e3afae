/* SPDX-License-Identifier: Apache-2.0 */
/* What exists for clients of Zeus's batch-size server: its API, which `kerf serve` adds to its own, and its wording. */
#ifndef KERF_ZEUS_ZEUS_H
#define KERF_ZEUS_ZEUS_H

#include "kerf/jobs.h"
#include "server/server.h"

extern const struct server_addition zeus_api;

/* ---- Wording (zeus_words.c) -------------------------------------------------------------------------------------- */

/* What Zeus's server says beside a decision, to the letter (zeus/optimizer/batch_size/server/{optimizer,mab}.py). */

/* Of a job that the server does not have: in GET /jobs/batch_size and in POST /report. */
void zeus_say_no_job_to_predict(const char *job_id, struct kerf_text *out);
void zeus_say_no_job_to_report(const char *job_id, struct kerf_text *out);

/* Of a job or a trial that the server does not have: in PATCH /trials. */
void zeus_say_no_trial(const char *job_id, int64_t batch_size, int64_t trial_number, struct kerf_text *out);

/* Of a decision whose status is not ANSWERED. */
void zeus_say_decision(const struct kerf_job *job, const struct kerf_decision *decision, struct kerf_text *out);

/* Of every answer to a report. */
void zeus_say_answer(const struct kerf_job *job, const struct kerf_report *report, const struct kerf_answer *answer,
                     struct kerf_text *out);

#endif
