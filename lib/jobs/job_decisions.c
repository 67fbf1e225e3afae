/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decisions, after zeus/optimizer/batch_size/server/optimizer.py (predict, report, end_trial) and mab.py (report): which
 * batch size the next run gets - explore while pruning, then the arms -, and what a report changes. A run ends when it
 * converged, when it reached max_epochs, or when it costs more than beta_knob times the cheapest run.
 *
 * Mended where not compat: a trial of the stage Pruning whose result comes in the stage MAB counts for min_cost and for
 * the arm of its size, if there is one; and so does one whose lease ended. In the reference both are refused.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include "jobs/job_state.h"

/* ---- What a run gets ------------------------------------------------------------------------------------------- */

/* What may run out of memory is done before the job changes. */

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

/* ---- What a report changes ------------------------------------------------------------------------------------- */

struct judged { /* a report against the job */
    double cost;
    int within; /* below the bound */
    int converged;
    int ends;
};

static struct judged judge(const struct kerf_job *job, const struct kerf_report *report) {
    const struct kerf_job_spec *spec = &job->spec;
    struct judged judged = {.cost = kerf_job_cost(spec, report->energy_j, report->time_s)};
    double bound = spec->has_beta_knob && job->row.has_min_cost ? spec->beta_knob * job->row.min_cost : INFINITY;
    judged.within = bound >= judged.cost;
    judged.converged =
        spec->higher_is_better_metric ? spec->target_metric <= report->metric : spec->target_metric >= report->metric;
    judged.ends = !judged.within || report->current_epoch >= spec->max_epochs || judged.converged;
    return judged;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------- */

/* What the reference cannot store at the end of a run. A set of enum kerf_report_number. */
static int32_t negative_numbers(const struct kerf_report *report) {
    return (report->time_s >= 0 ? 0 : KERF_REPORT_TIME) | (report->energy_j >= 0 ? 0 : KERF_REPORT_ENERGY);
}

static int32_t invalid_numbers(const struct kerf_report *report) {
    return negative_numbers(report) | (isfinite(report->time_s) ? 0 : KERF_REPORT_TIME) |
           (isfinite(report->energy_j) ? 0 : KERF_REPORT_ENERGY) | (isfinite(report->metric) ? 0 : KERF_REPORT_METRIC);
}

/* ---- The end of a run -------------------------------------------------------------------------------------- */

/* Room for what finish stores, so that it cannot fail. */
static int32_t reserve(struct kerf_job *job, int32_t size, struct kerf_error *err) {
    if (size < 0) return KERF_OK;
    struct costs *costs = &job->sizes[size].costs;
    int64_t wanted = job->policy->costs_wanted(job), window = job->spec.window_size;
    if (kerf_job_costs_wanted(job, job->spec.batch_sizes[size]) > 0)
        return kerf_error_set(err, KERF_EINVALID, "the costs of batch size %" PRId64 " have to be restored first",
                              job->spec.batch_sizes[size]);
    if (!costs->held || wanted == 0) return KERF_OK;
    int32_t code = costs_reserve(costs, 1, err);
    if (code == KERF_OK && window > 0 && costs->count >= window) code = job_reserve_window(job, window, err);
    return code;
}

/* In the stage MAB: one more result for the arm of this size, and 1 when there is one. */
static int teach_arm(struct kerf_job *job, int32_t size, const struct judged *judged) {
    int32_t arm = size >= 0 ? job->sizes[size].arm : -1;
    if (job->row.stage != KERF_JOB_MAB || arm < 0) return 0;
    job->policy->learn(job, &job->arms[arm], &job->sizes[size].costs, judged->cost,
                       judged->within && judged->converged);
    return 1;
}

static void keep_cost(struct kerf_job *job, int32_t size, int64_t trial, double cost) {
    int64_t most = job->policy->costs_wanted(job);
    if (size >= 0 && job->sizes[size].costs.held && most > 0) costs_insert(&job->sizes[size].costs, trial, cost, most);
}

/* Whether the reference would fail to store what this result makes of its arm. */
static int wedges(struct kerf_job *job, const struct kerf_trial *trial, const struct judged *judged,
                  struct kerf_answer *answer) {
    int32_t size = job_find_size(job, trial->batch_size), at = size >= 0 ? job->sizes[size].arm : -1;
    if (!job->compat || job->row.stage != KERF_JOB_MAB || at < 0) return 0;
    struct kerf_arm arm = job->arms[at];
    job->policy->learn(job, &arm, &job->sizes[size].costs, judged->cost, judged->within && judged->converged);
    answer->fault = job_fault_of_arm(job, &arm);
    if (answer->fault) answer->status = KERF_JOB_WEDGED;
    return answer->fault != KERF_FAULT_NONE;
}

static int32_t finish(struct kerf_job *job, struct kerf_trial *trial, const struct kerf_report *report,
                      const struct judged *judged) {
    int32_t size = job_find_size(job, trial->batch_size), converged = judged->within && judged->converged;
    int32_t changes = KERF_JOB_CHANGED_ROW | KERF_JOB_CHANGED_TRIAL;
    assert(trial->status != KERF_TRIAL_SUCCEEDED && report->time_s >= 0 && report->energy_j >= 0);
    if (teach_arm(job, size, judged)) changes |= KERF_JOB_CHANGED_ARM;
    keep_cost(job, size, trial->number, judged->cost);
    struct exploration *exploration = job_running_exploration(job, trial->batch_size, trial->number);
    if (exploration) {
        exploration->running = 0;
        exploration->converged = converged;
        exploration->cost = judged->cost;
    }
    trial->status = KERF_TRIAL_SUCCEEDED;
    trial->converged = converged;
    trial->time_s = report->time_s;
    trial->energy_j = report->energy_j;
    job->row.trials_ended++;
    if (!job->row.has_min_cost || job->row.min_cost > judged->cost) { /* converged or not */
        job->row.has_min_cost = 1;
        job->row.min_cost = judged->cost;
        job->row.min_cost_batch_size = trial->batch_size;
    }
    return changes;
}

/* What the reference refuses in the stage MAB. enum kerf_job_status. */
static int32_t refusal_of(const struct kerf_job *job, const struct kerf_trial *trial) {
    int32_t size = job_find_size(job, trial->batch_size);
    if (!job->compat || job->row.stage != KERF_JOB_MAB) return KERF_JOB_ANSWERED;
    if (size < 0 || job->sizes[size].arm < 0) return KERF_JOB_NO_ARM;
    return trial->type == KERF_TRIAL_MAB ? KERF_JOB_ANSWERED : KERF_JOB_NOT_FROM_MAB;
}

/* ---- Reports ----------------------------------------------------------------------------------------------- */

/* A trial that waits for its result: it was dispatched, or its lease ended meanwhile. */
static int is_open(const struct kerf_trial *trial) {
    return trial->status == KERF_TRIAL_DISPATCHED || (trial->status == KERF_TRIAL_FAILED && trial->lease_ended);
}

static void answer_ended(const struct kerf_trial *trial, struct kerf_answer *answer) {
    if (trial->converged < 0) {
        answer->status = KERF_JOB_TRIAL_FAILED;
        return;
    }
    answer->stop_train = 1;
    answer->converged = trial->converged;
    answer->end = KERF_END_BEFORE;
}

static int32_t answer_open(struct kerf_job *job, struct kerf_trial *trial, const struct kerf_report *report,
                           double now_s, struct kerf_answer *answer, struct kerf_error *err) {
    struct judged judged = judge(job, report);
    if (!judged.ends) {
        answer->changes |= KERF_JOB_CHANGED_SEEN;
        lease_note_sign_of_life(job, trial, now_s);
        return KERF_OK;
    }
    answer->invalid = negative_numbers(report);
    answer->status = answer->invalid ? KERF_JOB_INVALID_RESULT : refusal_of(job, trial);
    if (answer->status != KERF_JOB_ANSWERED) return KERF_OK;
    int32_t code = reserve(job, job_find_size(job, trial->batch_size), err);
    if (code != KERF_OK || wedges(job, trial, &judged, answer)) return code;
    answer->end = !judged.within ? KERF_END_COST : judged.converged ? KERF_END_CONVERGED : KERF_END_EPOCHS;
    answer->cost = judged.cost;
    answer->has_min_cost = job->row.has_min_cost;
    answer->min_cost = job->row.min_cost;
    lease_note_sign_of_life(job, trial, now_s);
    answer->changes |= finish(job, trial, report, &judged);
    answer->stop_train = 1;
    answer->converged = trial->converged;
    return KERF_OK;
}

int32_t kerf_job_report(struct kerf_job *job, struct kerf_trial *trial, const struct kerf_report *report, double now_s,
                        struct kerf_answer *ret_answer, struct kerf_error *err) {
    struct kerf_answer answer = {.status = KERF_JOB_ANSWERED};
    int32_t code = KERF_OK, invalid = job->compat ? 0 : invalid_numbers(report);
    if (trial == NULL) {
        answer.status = KERF_JOB_UNKNOWN_TRIAL;
    } else if (invalid) {
        answer.status = KERF_JOB_INVALID_RESULT;
        answer.invalid = invalid;
    } else {
        answer.changes = kerf_job_expire(job, trial, now_s);
        if (is_open(trial))
            code = answer_open(job, trial, report, now_s, &answer, err);
        else
            answer_ended(trial, &answer);
    }
    if (code == KERF_OK) *ret_answer = answer;
    return code;
}

/* ---- Giving up --------------------------------------------------------------------------------------------- */

struct kerf_answer kerf_job_end(struct kerf_job *job, struct kerf_trial *trial, double now_s) {
    struct kerf_answer answer = {.status = trial ? KERF_JOB_ANSWERED : KERF_JOB_UNKNOWN_TRIAL};
    if (trial == NULL || !is_open(trial)) return answer;
    lease_note_sign_of_life(job, trial, now_s);
    job_drop_exploration(job, trial->batch_size, trial->number);
    trial->status = KERF_TRIAL_FAILED;
    trial->lease_ended = 0; /* from now on it is one that was given up */
    job->row.trials_ended++;
    answer.changes = KERF_JOB_CHANGED_ROW | KERF_JOB_CHANGED_TRIAL;
    return answer;
}
