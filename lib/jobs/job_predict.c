/* SPDX-License-Identifier: Apache-2.0 */
/* The next run's batch size, after zeus/optimizer/batch_size/server/optimizer.py (predict): explore while pruning, then
 * the arms. What may run out of memory is done before the job changes. */
#include <assert.h>
#include "jobs/leases.h"

static int32_t reserve_window(struct kerf_job *job, struct kerf_error *err) {
    int64_t most = 0;
    for (int32_t i = 0; i < job->spec.num_batch_sizes; i++)
        if (job->sizes[i].num_explorations > most) most = job->sizes[i].num_explorations;
    return job_reserve_window(job, most, err);
}

static void dispatch(struct kerf_job *job, int32_t type, int64_t batch_size, double now_s,
                     struct kerf_decision *decision) {
    decision->trial = (struct kerf_trial){.number = ++job->row.last_trial_number,
                                          .batch_size = batch_size,
                                          .type = type,
                                          .status = KERF_TRIAL_DISPATCHED,
                                          .converged = -1,
                                          .dispatched_s = now_s,
                                          .seen_s = now_s};
    decision->reason.batch_size = batch_size;
    decision->reason.num_arms = job->num_arms;
    decision->changes |= KERF_JOB_CHANGED_ROW | KERF_JOB_CHANGED_TRIAL;
}

static int32_t explore(struct kerf_job *job, int32_t size, double now_s, struct kerf_decision *decision,
                       struct kerf_error *err) {
    if (decision->reason.why == KERF_WHY_CONCURRENT) {
        dispatch(job, KERF_TRIAL_CONCURRENT, job->row.min_cost_batch_size, now_s, decision);
        return KERF_OK;
    }
    assert(size >= 0 && size < job->spec.num_batch_sizes);
    struct exploration exploration = {
        .trial = job->row.last_trial_number + 1, .seen_s = now_s, .running = 1, .converged = 0};
    int32_t code = job_reserve_exploration(job, size, err);
    if (code != KERF_OK) return code;
    job_add_exploration(job, size, &exploration);
    dispatch(job, KERF_TRIAL_EXPLORATION, job->sizes[size].batch_size, now_s, decision);
    return KERF_OK;
}

static void pick(struct kerf_job *job, double now_s, struct kerf_decision *decision) {
    int32_t arm = job->policy->pick(job, now_s, &decision->reason);
    assert(arm >= 0 && arm < job->num_arms && job->sizes[job_find_size(job, job->arms[arm].batch_size)].arm == arm);
    dispatch(job, KERF_TRIAL_MAB, job->arms[arm].batch_size, now_s, decision);
}

/* The reference takes back what it cannot store, and tries the same at each request. */
static void check_arms(struct kerf_job *job, struct kerf_decision *decision) {
    for (int32_t i = 0; i < job->num_arms && decision->fault == KERF_FAULT_NONE; i++)
        decision->fault = job_fault_of_arm(job, &job->arms[i]);
    if (decision->fault == KERF_FAULT_NONE) return;
    job_drop_arms(job);
    decision->status = KERF_JOB_WEDGED;
    decision->changes = 0;
}

int32_t kerf_job_predict(struct kerf_job *job, double now_s, struct kerf_decision *ret_decision,
                         struct kerf_error *err) {
    struct kerf_decision decision = {.status = KERF_JOB_ANSWERED};
    int32_t code = lease_end_explorations(job, now_s, err);
    if (code == KERF_OK) code = reserve_window(job, err);
    if (code == KERF_OK && job->row.stage == KERF_JOB_PRUNING) {
        struct next next = job->policy->explore(job, &decision.reason);
        decision.status = next.status;
        decision.fault = next.fault;
        if (next.status == KERF_JOB_ANSWERED && next.size >= 0) {
            code = explore(job, next.size, now_s, &decision, err);
        } else if (next.status == KERF_JOB_ANSWERED) {
            job_begin_arms(job, job->good, next.num_arms);
            decision.changes |= KERF_JOB_CHANGED_ARMS;
            check_arms(job, &decision);
        }
    }
    if (code != KERF_OK) return code;
    if (job->row.stage == KERF_JOB_MAB) {
        if (job->num_arms == 0) return kerf_error_set(err, KERF_EINVALID, "the job exploits, but no arm was restored");
        pick(job, now_s, &decision);
    }
    decision.expired = job->expired;
    decision.num_expired = job->num_expired;
    *ret_decision = decision;
    return KERF_OK;
}
