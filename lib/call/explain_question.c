/* SPDX-License-Identifier: Apache-2.0 */
#include "call/explain_question.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include "base/error_fill.h"
#include "base/quantity.h"
#include "call/score_question.h"
#include "kerf/plan.h"
#include "kerf/version.h"

static int is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Chrome traces and Megatron's timers are JSON; logs are not. */
static int is_trace(const char *path) {
    size_t length = strlen(path);
    return is_folder(path) || (length > 5 && strcmp(path + length - 5, ".json") == 0) ||
           (length > 8 && strcmp(path + length - 8, ".json.gz") == 0);
}

static int32_t price(const struct explain_values *values, struct explain_answer *answer, struct kerf_error *err) {
    static const struct call_sources anywhere;
    const struct kerf_launch *launch = values->run.launch;
    const char *stack = values->stack ? values->stack : launch ? score_stack_of(launch->framework) : answer->log.stack;
    struct kerf_layout layout;
    int32_t code = measured_run_problem(&values->run, &answer->problem, &layout, err);
    if (code != KERF_OK) return code;
    code = kerf_system_load(values->system, &answer->problem.system, err);
    if (code == KERF_OK) code = software_read(&anywhere, stack, values->calibration, &answer->software, err);
    if (code == KERF_OK) {
        software_apply(&answer->software, &answer->problem);
        code = kerf_layout_estimate(kerf_cost_model_of(KERF_STRATEGY_HYBRID), &answer->problem, &layout,
                                    &answer->estimate, err);
    }
    kerf_layout_release(&layout);
    return code;
}

static int32_t explain_log_file(const struct explain_values *values, struct explain_answer *answer,
                                struct kerf_error *err) {
    struct kerf_text text = {0};
    struct timer_log timers;
    const char *path = values->runs.items[0];
    int32_t code = score_table_read(path, &text, err);
    const char *data = text.data ? text.data : "";
    if (code == KERF_OK) code = step_log_read(data, text.length, path, &answer->log, err);
    if (code == KERF_OK) code = timer_log_read(data, text.length, &timers, err);
    kerf_text_free(&text);
    if (code == KERF_OK) code = price(values, answer, err);
    if (code != KERF_OK) return code;
    const struct kerf_problem *problem = &answer->problem;
    double tokens = (double)problem->global_batch * (double)problem->seq_length;
    double step_s =
        isnan(answer->log.step_s) ? tokens / (answer->log.tokens_per_s * (double)problem->gpus) : answer->log.step_s;
    explain_timers(&answer->estimate, step_s, &timers, &answer->explanation);
    return KERF_OK;
}

static int32_t explain_trace_path(const struct explain_values *values, struct explain_answer *answer,
                                  struct kerf_error *err) {
    struct kerf_trace *trace = NULL;
    struct kerf_trace_fit *fit = NULL;
    int32_t code = price(values, answer, err);
    if (code == KERF_OK) code = kerf_trace_load(values->runs.items[0], -1, &trace, err);
    if (code == KERF_OK) code = kerf_trace_fit_make(trace, &fit, err);
    if (code == KERF_OK) code = explain_trace(&answer->estimate, trace, fit, &answer->explanation, err);
    kerf_trace_fit_free(fit);
    kerf_trace_free(trace);
    return code;
}

int32_t explain_answer_make(const struct explain_values *values, struct explain_answer *ret_answer,
                            struct kerf_error *err) {
    memset(ret_answer, 0, sizeof *ret_answer);
    if (values->runs.count != 1)
        return kerf_error_set(err, KERF_EINVALID,
                              values->runs.count ? "give one log or trace, not also '%.64s'"
                                                 : "the log or trace is missing%s",
                              values->runs.count ? values->runs.items[1] : ", such as train.log");
    if (values->run.launch == NULL && measured_run_given(&values->run) == NULL)
        return kerf_error_set(err, KERF_EINVALID,
                              "--launch is missing: the script or config of the run; or say what ran by --model, "
                              "--layout and --global-batch");
    if (values->system == NULL) return kerf_error_set(err, KERF_EINVALID, "--system is missing, such as --system h100");
    int32_t code = is_trace(values->runs.items[0]) ? explain_trace_path(values, ret_answer, err)
                                                   : explain_log_file(values, ret_answer, err);
    if (code != KERF_OK) explain_answer_free(ret_answer);
    return code;
}

void explain_answer_free(struct explain_answer *answer) {
    kerf_estimate_release(&answer->estimate);
    software_free(&answer->software);
}

/* ---- Words and JSON ---------------------------------------------------------------------------------------- */

void explain_words(struct kerf_text *out, const struct explain_answer *answer) {
    const struct explanation *e = &answer->explanation;
    const struct explain_row *worst = explain_worst(e);
    double percent = round(100 * (e->measured_s / e->predicted_s - 1));
    const char *what = answer->log.steps ? "A step takes " : "The pipeline takes ";
    kerf_text_add(out, what);
    quantity_seconds(out, e->measured_s);
    kerf_text_add(out, "; the prediction is ");
    quantity_seconds(out, e->predicted_s);
    kerf_text_printf(out, " (%+.0f %%), and 90 %% of such runs take ", percent == 0 ? 0 : percent); /* not -0 */
    quantity_seconds(out, e->low_s);
    kerf_text_add(out, " to ");
    quantity_seconds(out, e->high_s);
    kerf_text_add(out, e->measured_s > e->high_s  ? ": this one is slower than it should be."
                       : e->measured_s < e->low_s ? ": this one is faster than runs of this kind."
                                                  : ": nothing unusual.");
    if (e->comparable_runs == 0) kerf_text_add(out, " Nothing like it was measured, so the interval is wide.");
    if (worst == NULL) {
        if (e->count) kerf_text_add(out, " No part takes much longer than predicted.");
        return;
    }
    kerf_text_printf(out, " Most is lost in %s: ", worst->name);
    quantity_seconds(out, worst->measured_s - worst->predicted_s);
    kerf_text_printf(out, " a step, %.0f %% of it, more than predicted. Usually: %s.",
                     100 * (worst->measured_s - worst->predicted_s) / e->measured_s, worst->cause);
}

void explain_answer_json(struct kerf_json *json, const struct explain_answer *answer) {
    const struct explanation *e = &answer->explanation;
    const struct explain_row *worst = explain_worst(e);
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "kerf", kerf_version());
    software_json(json, &answer->software, software_of_problems(&answer->problem, 1));
    kerf_problem_json(json, &answer->problem);
    kerf_json_string(json, "measured", answer->log.steps ? answer->log.framework : "trace");
    if (answer->log.steps) kerf_json_integer(json, "steps", answer->log.steps);
    kerf_json_number(json, "measured_s", e->measured_s);
    kerf_json_number(json, "step_time_s", e->predicted_s);
    kerf_json_number(json, "step_low_s", e->low_s);
    kerf_json_number(json, "step_high_s", e->high_s);
    kerf_json_integer(json, "comparable_runs", e->comparable_runs);
    kerf_json_open(json, "parts", '[');
    for (int32_t i = 0; i < e->count; i++) {
        kerf_json_open(json, NULL, '{');
        kerf_json_string(json, "name", e->rows[i].name);
        kerf_json_string(json, "from", e->rows[i].from);
        kerf_json_number(json, "measured_s", e->rows[i].measured_s);
        kerf_json_number(json, "predicted_s", e->rows[i].predicted_s);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    if (worst) {
        kerf_json_open(json, "worst", '{');
        kerf_json_string(json, "name", worst->name);
        kerf_json_number(json, "excess_s", worst->measured_s - worst->predicted_s);
        kerf_json_string(json, "cause", worst->cause);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, '}');
}
