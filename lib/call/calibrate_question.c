/* SPDX-License-Identifier: Apache-2.0 */
#include "call/calibrate_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "call/score_question.h"
#include "score/constants_file.h"

static int32_t check(const struct calibrate_values *values, struct kerf_error *err) {
    const char *of_log = values->run.launch ? "--launch" : measured_run_given(&values->run);
    if (values->log == NULL && of_log)
        return kerf_error_set(err, KERF_EINVALID, "%s is for the run of a --log", of_log);
    if (values->log && of_log == NULL)
        return kerf_error_set(err, KERF_EINVALID,
                              "--log says times alone: also give the --launch of its run, or its --model, --layout and "
                              "--global-batch");
    if (values->log && values->all)
        return kerf_error_set(err, KERF_EINVALID, "--log is for one site: leave it out, or --all");
    if (values->tables.count == 0 && values->log == NULL)
        return kerf_error_set(err, KERF_EINVALID,
                              "the table of runs is missing, such as runs.csv; `kerf help calibrate` tells more");
    if (values->tables.count > 1)
        return kerf_error_set(err, KERF_EINVALID, "give one table, not also '%.64s'", values->tables.items[1]);
    if (values->all && (values->system || values->stack || values->calibration))
        return kerf_error_set(err, KERF_EINVALID, "%s is for one site: leave it out, or --all",
                              values->system  ? "--system"
                              : values->stack ? "--stack"
                                              : "--calibration");
    if (!values->all && values->system == NULL)
        return kerf_error_set(err, KERF_EINVALID, "--system is missing, such as --system h100; or fit --all constants");
    if (!values->all && (values->folds || values->leave_set_out))
        return kerf_error_set(err, KERF_EINVALID, "%s is for fits of --all constants",
                              values->folds ? "--folds" : "--leave-set-out");
    if (values->folds && values->leave_set_out)
        return kerf_error_set(err, KERF_EINVALID, "give --folds or --leave-set-out, not both");
    if (values->without_set && (values->calibration || values->folds || values->leave_set_out))
        return kerf_error_set(err, KERF_EINVALID, "give --without-set or %s, not both",
                              values->calibration ? "--calibration"
                              : values->folds     ? "--folds"
                                                  : "--leave-set-out");
    return KERF_OK;
}

/* Whose rows --without-set leaves out. */
static int32_t check_set(const struct runs *runs, const char *set, struct kerf_error *err) {
    for (size_t i = 0; i < runs->count; i++)
        if (run_is_of_set(&runs->rows[i], set)) return KERF_OK;
    return kerf_error_set(err, KERF_EUNKNOWN, "--without-set: no run is of the data set '%.64s'", set);
}

static int32_t make_all(const struct calibrate_values *values, int with_constants, struct calibrate_answer *answer,
                        struct kerf_error *err) {
    const struct calibrate_without without = {.set = values->without_set};
    int32_t code = values->without_set ? check_set(answer->runs, values->without_set, err) : KERF_OK;
    if (code == KERF_OK && (values->folds || values->leave_set_out)) {
        answer->predictions = calloc(answer->runs->count + 1, sizeof *answer->predictions);
        code = answer->predictions ? calibrate_predict_apart(answer->runs, (int32_t)values->folds, &values->watch,
                                                             answer->predictions, err)
                                   : error_no_memory(err, "the predictions");
    }
    if (code == KERF_OK && with_constants)
        code = calibrate_all(answer->runs, &without, &values->watch, answer->calibration, err);
    return code;
}

static int32_t read_log(const struct calibrate_values *values, struct calibrate_answer *answer,
                        struct kerf_problem *ret_problem, struct calibrate_logged *ret_logged, struct kerf_error *err) {
    struct kerf_text text = {0};
    int32_t code = score_table_read(values->log, &text, err);
    if (code == KERF_OK) code = step_log_read(text.data ? text.data : "", text.length, values->log, &answer->log, err);
    kerf_text_free(&text);
    if (code == KERF_OK) code = measured_run_problem(&values->run, ret_problem, &ret_logged->layout, err);
    if (code != KERF_OK) return code;
    double tokens = (double)ret_problem->global_batch * (double)ret_problem->seq_length;
    ret_logged->problem = ret_problem;
    ret_logged->stack = values->run.launch ? score_stack_of(values->run.launch->framework) : answer->log.stack;
    ret_logged->step_s = isnan(answer->log.step_s) ? tokens / (answer->log.tokens_per_s * (double)ret_problem->gpus)
                                                   : answer->log.step_s;
    return KERF_OK;
}

static int32_t make_site(const struct calibrate_values *values, struct calibrate_answer *answer,
                         struct kerf_error *err) {
    static const struct runs none;
    struct score_constants *from = malloc(sizeof *from);
    struct kerf_problem *problem = calloc(1, sizeof *problem);
    struct calibrate_logged logged = {.problem = problem};
    int32_t code =
        from && problem ? software_constants(values->calibration, from, err) : error_no_memory(err, "the constants");
    if (code == KERF_OK && values->without_set) code = constants_without(values->without_set, from, err);
    if (code == KERF_OK && values->log) code = read_log(values, answer, problem, &logged, err);
    if (code == KERF_OK)
        code = calibrate_site(answer->runs ? answer->runs : &none, values->log ? &logged : NULL, from, values->system,
                              values->stack, answer->calibration, err);
    kerf_layout_release(&logged.layout);
    free(from);
    free(problem);
    return code;
}

int32_t calibrate_answer_make(const struct calibrate_values *values, int with_constants,
                              struct calibrate_answer *ret_answer, struct kerf_error *err) {
    struct calibrate_answer *answer = ret_answer;
    struct kerf_text text = {0};
    memset(answer, 0, sizeof *answer);
    int32_t code = check(values, err);
    if (code == KERF_OK && values->tables.count) code = score_table_read(values->tables.items[0], &text, err);
    if (code == KERF_OK && values->tables.count)
        code = runs_parse(text.data ? text.data : "", text.length, values->tables.items[0], &answer->runs, err);
    kerf_text_free(&text);
    if (code == KERF_OK) {
        answer->calibration = calloc(1, sizeof *answer->calibration);
        code = answer->calibration == NULL ? error_no_memory(err, "the calibration")
               : values->all               ? make_all(values, with_constants, answer, err)
                                           : make_site(values, answer, err);
    }
    if (code != KERF_OK) calibrate_answer_free(answer);
    return code;
}

void calibrate_answer_free(struct calibrate_answer *answer) {
    runs_free(answer->runs);
    free(answer->calibration);
    free(answer->predictions);
    memset(answer, 0, sizeof *answer);
}

void calibrate_answer_json(struct kerf_json *json, const struct calibrate_answer *answer) {
    constants_file_write(json, answer->calibration);
}
