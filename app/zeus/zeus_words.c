/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of zeus/optimizer/batch_size/server, spelled as there: clients may read them. Numbers and strings in them
 * are Python's repr. Words of its database (SQLite's NOT NULL) stand where its server answers 500.
 */
#include "zeus/zeus.h"

#include <inttypes.h>
#include "zeus/python_values.h"

void zeus_say_no_job_to_predict(const char *job_id, struct kerf_text *out) {
    kerf_text_add(out, "Unknown job(");
    kerf_text_add(out, job_id);
    kerf_text_add(out, "). Please register the job first");
}

void zeus_say_no_job_to_report(const char *job_id, struct kerf_text *out) {
    kerf_text_add(out, "Unknown job ");
    kerf_text_add(out, job_id);
}

void zeus_say_no_trial(const char *job_id, int64_t batch_size, int64_t trial_number, struct kerf_text *out) {
    kerf_text_add(out, "Could not find the trial: job_id=");
    python_string_repr(job_id, out);
    kerf_text_printf(out, " batch_size=%" PRId64 " trial_number=%" PRId64, batch_size, trial_number);
}

static void say_fault(const struct kerf_job *job, int32_t fault, struct kerf_text *out) {
    static const char not_null[] = "NOT NULL constraint failed: GaussianTsArmState.";
    switch ((enum kerf_job_fault)fault) {
    case KERF_FAULT_NONE: return;
    case KERF_FAULT_NO_START: kerf_text_add(out, "0 is not in list"); return;
    case KERF_FAULT_NO_ROUNDS: /* a KeyError of the first size */
        kerf_text_printf(out, "%" PRId64, kerf_job_spec_of(job)->batch_sizes[0]);
        return;
    case KERF_FAULT_PARAM_MEAN: kerf_text_printf(out, "%sparam_mean", not_null); return;
    case KERF_FAULT_PARAM_PRECISION: kerf_text_printf(out, "%sparam_precision", not_null); return;
    case KERF_FAULT_REWARD_PRECISION: kerf_text_printf(out, "%sreward_precision", not_null); return;
    }
}

void zeus_say_decision(const struct kerf_job *job, const struct kerf_decision *decision, struct kerf_text *out) {
    if (decision->status == KERF_JOB_WEDGED)
        say_fault(job, decision->fault, out);
    else
        kerf_text_add(out, "No converged batch sizes has observed. Reconfigure batch_sizes and re-launch the job.");
}

/* ---- Reports ------------------------------------------------------------------------------------------------ */

static void say_unknown(const struct kerf_job *job, const struct kerf_report *report, struct kerf_text *out) {
    kerf_text_add(out, "Unknown trial job_id=");
    python_string_repr(kerf_job_spec_of(job)->job_id, out);
    kerf_text_printf(out, " batch_size=%" PRId64 " trial_number=%" PRId64 " time=", report->batch_size,
                     report->trial_number);
    python_float_repr(report->time_s, out);
    kerf_text_add(out, " energy=");
    python_float_repr(report->energy_j, out);
    kerf_text_add(out, " metric=");
    python_float_repr(report->metric, out);
    kerf_text_printf(out, " current_epoch=%" PRId64, report->current_epoch);
}

static void say_optional(struct kerf_text *out, int32_t there, double value) {
    if (there)
        python_float_repr(value, out);
    else
        kerf_text_add(out, "None");
}

/* As pydantic says it of a model; kerf has words of its own, as it refuses more. */
static void say_invalid(const struct kerf_job *job, int32_t invalid, struct kerf_text *out) {
    static const char *const names[] = {"time", "energy"};
    int32_t count = (invalid & KERF_REPORT_TIME ? 1 : 0) + (invalid & KERF_REPORT_ENERGY ? 1 : 0);
    if (!(kerf_job_flags_of(job) & KERF_JOB_COMPAT)) {
        kerf_text_add(out, "time, energy and metric must be finite, time and energy not negative");
        return;
    }
    kerf_text_printf(out, "%d validation error%s for UpdateTrial", (int)count, count > 1 ? "s" : "");
    for (int i = 0; i < 2; i++)
        if (invalid & (i == 0 ? KERF_REPORT_TIME : KERF_REPORT_ENERGY))
            kerf_text_printf(out,
                             "\n%s\n  ensure this value is greater than or equal to 0 "
                             "(type=value_error.number.not_ge; limit_value=0)",
                             names[i]);
}

static void say_end(const struct kerf_job *job, const struct kerf_report *report, const struct kerf_answer *answer,
                    struct kerf_text *out) {
    const struct kerf_job_spec *spec = kerf_job_spec_of(job);
    switch ((enum kerf_run_end)answer->end) {
    case KERF_END_NONE: kerf_text_add(out, "Stop condition not met, keep training"); return;
    case KERF_END_CONVERGED: kerf_text_add(out, "Train succeeded"); return;
    case KERF_END_EPOCHS:
        kerf_text_printf(out, "Train failed to converge within max_epoch(%" PRId64 ")", spec->max_epochs);
        return;
    case KERF_END_COST:
        kerf_text_printf(out, "Batch Size(%" PRId64 ") exceeded the cost upper bound: current cost(",
                         report->batch_size);
        python_float_repr(answer->cost, out);
        kerf_text_add(out, ") >\n                    beta_knob(");
        say_optional(out, spec->has_beta_knob, spec->beta_knob);
        kerf_text_add(out, ")*min_cost(");
        say_optional(out, answer->has_min_cost, answer->min_cost);
        kerf_text_add(out, ")");
        return;
    case KERF_END_BEFORE:
        kerf_text_printf(out, "Result for this trial(%" PRId64 ") is already reported.", report->trial_number);
        return;
    }
}

void zeus_say_answer(const struct kerf_job *job, const struct kerf_report *report, const struct kerf_answer *answer,
                     struct kerf_text *out) {
    switch ((enum kerf_job_status)answer->status) {
    case KERF_JOB_ANSWERED: say_end(job, report, answer, out); return;
    case KERF_JOB_UNKNOWN_TRIAL: say_unknown(job, report, out); return;
    case KERF_JOB_TRIAL_FAILED:
        kerf_text_printf(out, "Trial(%" PRId64 ") is already reported but converged is not set.", report->trial_number);
        return;
    case KERF_JOB_INVALID_RESULT: say_invalid(job, answer->invalid, out); return;
    case KERF_JOB_WEDGED: say_fault(job, answer->fault, out); return;
    case KERF_JOB_NO_ARM:
        kerf_text_printf(out, "MAB stage but Arm for batch size(%" PRId64 ") is not found.", report->batch_size);
        return;
    case KERF_JOB_NOT_FROM_MAB:
        kerf_text_add(out, "Cannot update an arm since this trial is not issued from MAB stage.");
        return;
    case KERF_JOB_NOTHING_CONVERGED: /* of decisions alone */
    case KERF_JOB_STATUSES_COUNT: return;
    }
}
