/* SPDX-License-Identifier: Apache-2.0 */
/* What decisions do with leases; kerf/jobs.h says what they are. */
#ifndef KERF_JOBS_LEASES_H
#define KERF_JOBS_LEASES_H

#include "jobs/job_state.h"

int32_t lease_is_over(const struct kerf_job *job, double seen_s, double now_s);
void lease_note_sign_of_life(struct kerf_job *job, struct kerf_trial *trial, double now_s);

/* Drops the explorations whose lease has ended, and lists them in job->expired. */
int32_t lease_end_explorations(struct kerf_job *job, double now_s, struct kerf_error *err);

#endif
