/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases: a trial that gives no sign of life for this long counts as failed, so that exploration goes on when a client
 * died without a word. In the reference such a job waits for ever.
 *
 * What is long is learnt: 5 times the longest silence of this job's trials that still gave a sign of life afterwards,
 * a late one included; as long as only few trials have ended, a day. At most a month: a clock that was set forward makes
 * a silence of years, and the job would wait for its next dead client as long. Trials whose lease ended don't teach: they would
 * shorten the lease with each death.
 */
#include "jobs/job_state.h"

#include <math.h>
#include <stdlib.h>
#include "base/error_fill.h"

enum { ENDED_ENOUGH = 3, FIRST_LEASE_S = 24 * 3600, LEAST_LEASE_S = 600, MOST_LEASE_S = 30 * 24 * 3600, GAPS = 5 };

double kerf_job_lease_s(const struct kerf_job *job) {
    if (job->compat) return INFINITY;
    if (job->spec.lease_s > 0) return job->spec.lease_s;
    if (job->row.trials_ended < ENDED_ENOUGH) return FIRST_LEASE_S;
    return fmin(fmax(GAPS * job->row.longest_gap_s, LEAST_LEASE_S), MOST_LEASE_S);
}

int32_t lease_is_over(const struct kerf_job *job, double seen_s, double now_s) {
    return now_s - seen_s > kerf_job_lease_s(job);
}

void lease_note_sign_of_life(struct kerf_job *job, struct kerf_trial *trial, double now_s) {
    double gap = now_s - trial->seen_s; /* below 0 when the clock was set back */
    if (gap > job->row.longest_gap_s && isfinite(gap)) job->row.longest_gap_s = gap;
    trial->seen_s = now_s;
    struct exploration *exploration = job_running_exploration(job, trial->batch_size, trial->number);
    if (exploration) exploration->seen_s = now_s;
}

int32_t kerf_job_expire(struct kerf_job *job, struct kerf_trial *trial, double now_s) {
    if (trial->status != KERF_TRIAL_DISPATCHED || !lease_is_over(job, trial->seen_s, now_s)) return 0;
    trial->status = KERF_TRIAL_FAILED;
    trial->lease_ended = 1;
    if (trial->type == KERF_TRIAL_EXPLORATION) job_drop_exploration(job, trial->batch_size, trial->number);
    return KERF_JOB_CHANGED_TRIAL;
}

static int32_t tell_expired(struct kerf_job *job, const struct size *size, const struct exploration *exploration) {
    if (job->num_expired == job->room_expired) {
        int32_t room = job->room_expired ? 2 * job->room_expired : 2;
        struct kerf_trial *more = realloc(job->expired, (size_t)room * sizeof *more);
        if (more == NULL) return KERF_ENOMEM;
        job->expired = more;
        job->room_expired = room;
    }
    job->expired[job->num_expired++] = (struct kerf_trial){.number = exploration->trial,
                                                           .batch_size = size->batch_size,
                                                           .type = KERF_TRIAL_EXPLORATION,
                                                           .status = KERF_TRIAL_FAILED,
                                                           .converged = -1,
                                                           .lease_ended = 1,
                                                           .seen_s = exploration->seen_s};
    return KERF_OK;
}

int32_t lease_end_explorations(struct kerf_job *job, double now_s, struct kerf_error *err) {
    job->num_expired = 0;
    for (int32_t i = 0; i < job->spec.num_batch_sizes; i++) {
        struct size *size = &job->sizes[i];
        for (int32_t k = size->num_explorations - 1; k >= 0; k--) {
            struct exploration *exploration = &size->explorations[k];
            if (!exploration->running || !lease_is_over(job, exploration->seen_s, now_s)) continue;
            if (tell_expired(job, size, exploration) != KERF_OK) return error_no_memory(err, "ended leases");
            job_drop_exploration(job, size->batch_size, exploration->trial);
        }
    }
    return KERF_OK;
}
