/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report says and changes, after zeus/optimizer/batch_size/server/optimizer.py (report, end_trial) and mab.py
 * (report). A run ends when it converged, when it reached max_epochs, or when it costs more than beta_knob times the
 * cheapest run; the messages are the reference's to the letter.
 *
 * Mended where not compat: a trial of the stage Pruning whose result comes in the stage MAB counts for min_cost and for
 * the arm of its size, if there is one; and so does one whose lease ended. In the reference both are refused.
 */
#include <inttypes.h>
#include <math.h>
#include "jobs/policy.h"

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

/* ---- Messages ---------------------------------------------------------------------------------------------- */

static void say_unknown(const struct kerf_job *job, const struct kerf_report *report, struct kerf_text *out) {
    kerf_text_add(out, "Unknown trial job_id=");
    kerf_text_python_string(out, job->spec.job_id);
    kerf_text_printf(out, " batch_size=%" PRId64 " trial_number=%" PRId64 " time=", report->batch_size,
                     report->trial_number);
    kerf_text_python_float(out, report->time_s);
    kerf_text_add(out, " energy=");
    kerf_text_python_float(out, report->energy_j);
    kerf_text_add(out, " metric=");
    kerf_text_python_float(out, report->metric);
    kerf_text_printf(out, " current_epoch=%" PRId64, report->current_epoch);
}

static void say_optional(struct kerf_text *out, int32_t there, double value) {
    if (there)
        kerf_text_python_float(out, value);
    else
        kerf_text_add(out, "None");
}

static void say_end(const struct kerf_job *job, const struct kerf_report *report, const struct judged *judged,
                    struct kerf_text *out) {
    if (judged->within && judged->converged) {
        kerf_text_add(out, "Train succeeded");
    } else if (judged->within) {
        kerf_text_printf(out, "Train failed to converge within max_epoch(%" PRId64 ")", job->spec.max_epochs);
    } else {
        kerf_text_printf(out, "Batch Size(%" PRId64 ") exceeded the cost upper bound: current cost(",
                         report->batch_size);
        kerf_text_python_float(out, judged->cost);
        kerf_text_add(out, ") >\n                    beta_knob(");
        say_optional(out, job->spec.has_beta_knob, job->spec.beta_knob);
        kerf_text_add(out, ")*min_cost(");
        say_optional(out, job->row.has_min_cost, job->row.min_cost);
        kerf_text_add(out, ")");
    }
}

/* 1, and the reference's words, when a final report's numbers cannot be stored. */
static int say_invalid(const struct kerf_report *report, struct kerf_text *out) {
    int bad_time = !(report->time_s >= 0), bad_energy = !(report->energy_j >= 0), count = bad_time + bad_energy;
    if (count == 0) return 0;
    kerf_text_printf(out, "%d validation error%s for UpdateTrial", count, count > 1 ? "s" : "");
    for (int i = 0; i < 2; i++)
        if (i == 0 ? bad_time : bad_energy)
            kerf_text_printf(out,
                             "\n%s\n  ensure this value is greater than or equal to 0 "
                             "(type=value_error.number.not_ge; limit_value=0)",
                             i == 0 ? "time" : "energy");
    return 1;
}

static int is_number(const struct kerf_report *report) {
    return isfinite(report->time_s) && isfinite(report->energy_j) && isfinite(report->metric) && report->time_s >= 0 &&
           report->energy_j >= 0;
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
static int learn(struct kerf_job *job, int32_t size, const struct judged *judged) {
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
                  struct kerf_answer *answer, struct kerf_text *out) {
    int32_t size = job_find_size(job, trial->batch_size), at = size >= 0 ? job->sizes[size].arm : -1;
    if (!job->compat || job->row.stage != KERF_JOB_MAB || at < 0) return 0;
    struct kerf_arm arm = job->arms[at];
    job->policy->learn(job, &arm, &job->sizes[size].costs, judged->cost, judged->within && judged->converged);
    if (!job_refuses_arm(job, &arm, out)) return 0;
    answer->status = KERF_JOB_WEDGED;
    return 1;
}

static int32_t finish(struct kerf_job *job, struct kerf_trial *trial, const struct kerf_report *report,
                      const struct judged *judged) {
    int32_t size = job_find_size(job, trial->batch_size), converged = judged->within && judged->converged;
    int32_t changes = KERF_JOB_CHANGED_ROW | KERF_JOB_CHANGED_TRIAL;
    if (learn(job, size, judged)) changes |= KERF_JOB_CHANGED_ARM;
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

/* What the reference refuses in the stage MAB. */
static int refused(const struct kerf_job *job, const struct kerf_trial *trial, struct kerf_answer *answer,
                   struct kerf_text *out) {
    if (!job->compat || job->row.stage != KERF_JOB_MAB) return 0;
    int32_t size = job_find_size(job, trial->batch_size);
    if (size < 0 || job->sizes[size].arm < 0) {
        answer->status = KERF_JOB_NO_ARM;
        kerf_text_printf(out, "MAB stage but Arm for batch size(%" PRId64 ") is not found.", trial->batch_size);
        return 1;
    }
    if (trial->type == KERF_TRIAL_MAB) return 0;
    answer->status = KERF_JOB_NOT_FROM_MAB;
    kerf_text_add(out, "Cannot update an arm since this trial is not issued from MAB stage.");
    return 1;
}

/* ---- Reports ----------------------------------------------------------------------------------------------- */

/* A trial that waits for its result: it was dispatched, or its lease ended meanwhile. */
static int is_open(const struct kerf_trial *trial) {
    return trial->status == KERF_TRIAL_DISPATCHED || (trial->status == KERF_TRIAL_FAILED && trial->lease_ended);
}

static void answer_ended(const struct kerf_trial *trial, struct kerf_answer *answer, struct kerf_text *out) {
    if (trial->converged < 0) {
        answer->status = KERF_JOB_TRIAL_FAILED;
        kerf_text_printf(out, "Trial(%" PRId64 ") is already reported but converged is not set.", trial->number);
        return;
    }
    answer->stop_train = 1;
    answer->converged = trial->converged;
    kerf_text_printf(out, "Result for this trial(%" PRId64 ") is already reported.", trial->number);
}

static int32_t answer_open(struct kerf_job *job, struct kerf_trial *trial, const struct kerf_report *report,
                           double now_s, struct kerf_answer *answer, struct kerf_text *out, struct kerf_error *err) {
    struct judged judged = judge(job, report);
    if (!judged.ends) {
        answer->changes |= KERF_JOB_CHANGED_SEEN;
        kerf_text_add(out, "Stop condition not met, keep training");
        lease_note_sign_of_life(job, trial, now_s);
        return KERF_OK;
    }
    if (say_invalid(report, out)) {
        answer->status = KERF_JOB_INVALID_RESULT;
        return KERF_OK;
    }
    if (refused(job, trial, answer, out)) return KERF_OK;
    int32_t code = reserve(job, job_find_size(job, trial->batch_size), err);
    if (code != KERF_OK || wedges(job, trial, &judged, answer, out)) return code;
    say_end(job, report, &judged, out);
    lease_note_sign_of_life(job, trial, now_s);
    answer->changes |= finish(job, trial, report, &judged);
    answer->stop_train = 1;
    answer->converged = trial->converged;
    return KERF_OK;
}

int32_t kerf_job_report(struct kerf_job *job, struct kerf_trial *trial, const struct kerf_report *report, double now_s,
                        struct kerf_answer *ret_answer, struct kerf_text *out, struct kerf_error *err) {
    struct kerf_answer answer = {.status = KERF_JOB_ANSWERED};
    int32_t code = KERF_OK;
    if (trial == NULL) {
        answer.status = KERF_JOB_UNKNOWN_TRIAL;
        say_unknown(job, report, out);
    } else if (!job->compat && !is_number(report)) {
        answer.status = KERF_JOB_INVALID_RESULT;
        kerf_text_add(out, "time, energy and metric must be finite, time and energy not negative");
    } else {
        answer.changes = kerf_job_expire(job, trial, now_s);
        if (is_open(trial))
            code = answer_open(job, trial, report, now_s, &answer, out, err);
        else
            answer_ended(trial, &answer, out);
    }
    if (code == KERF_OK) *ret_answer = answer;
    return code;
}

/* ---- PATCH /trials ----------------------------------------------------------------------------------------- */

int32_t kerf_job_end(struct kerf_job *job, struct kerf_trial *trial, int64_t batch_size, int64_t trial_number,
                     double now_s, struct kerf_answer *ret_answer, struct kerf_text *out) {
    struct kerf_answer answer = {.status = KERF_JOB_ANSWERED};
    if (trial == NULL) {
        answer.status = KERF_JOB_UNKNOWN_TRIAL;
        kerf_job_text_unknown_trial(job->spec.job_id, batch_size, trial_number, out);
    } else if (is_open(trial)) {
        lease_note_sign_of_life(job, trial, now_s);
        job_drop_exploration(job, trial->batch_size, trial->number);
        trial->status = KERF_TRIAL_FAILED;
        trial->lease_ended = 0; /* from now on it is one that was given up */
        job->row.trials_ended++;
        answer.changes = KERF_JOB_CHANGED_ROW | KERF_JOB_CHANGED_TRIAL;
    }
    *ret_answer = answer;
    return KERF_OK;
}

void kerf_job_text_unknown_predict(const char *job_id, struct kerf_text *out) {
    kerf_text_add(out, "Unknown job(");
    kerf_text_add(out, job_id);
    kerf_text_add(out, "). Please register the job first");
}

void kerf_job_text_unknown_report(const char *job_id, struct kerf_text *out) {
    kerf_text_add(out, "Unknown job ");
    kerf_text_add(out, job_id);
}

void kerf_job_text_unknown_trial(const char *job_id, int64_t batch_size, int64_t trial_number, struct kerf_text *out) {
    kerf_text_add(out, "Could not find the trial: job_id=");
    kerf_text_python_string(out, job_id);
    kerf_text_printf(out, " batch_size=%" PRId64 " trial_number=%" PRId64, batch_size, trial_number);
}
