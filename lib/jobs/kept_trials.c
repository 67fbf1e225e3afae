/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What decisions still need of a trial. What a job knows by itself - its stage, the cheapest cost, the newest trial's
 * number, the longest silence, its arms - is in the job's row and the arms' rows, and needs no trial.
 *
 * What is said here once stays true: stages only go forward, arms are made once, and a new result pushes an older one
 * out of the window but never brings one back. So it may be acted on without the job's lock.
 */
#include "jobs/policy.h"

int64_t kerf_job_costs_counted(const struct kerf_job *job, int64_t batch_size) {
    int32_t size = job_find_size(job, batch_size);
    if (size < 0 || (job->row.stage == KERF_JOB_MAB && job->sizes[size].arm < 0)) return 0;
    return job->policy->costs_wanted(job);
}

int32_t kerf_job_need(const struct kerf_job *job, const struct kerf_trial *trial) {
    int explores = trial->type == KERF_TRIAL_EXPLORATION && !trial->lease_ended;
    switch (trial->status) {
    case KERF_TRIAL_SUCCEEDED:
        if (explores && job->row.stage == KERF_JOB_PRUNING) return KERF_NEED_TRIAL;
        return kerf_job_costs_counted(job, trial->batch_size) > 0 ? KERF_NEED_COST : KERF_NEED_NOTHING;
    case KERF_TRIAL_FAILED: return trial->lease_ended ? KERF_NEED_TRIAL : KERF_NEED_NOTHING;
    default: return KERF_NEED_TRIAL;
    }
}
