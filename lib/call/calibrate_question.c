/* SPDX-License-Identifier: Apache-2.0 */
#include "call/calibrate_question.h"

#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "call/score_question.h"
#include "score/constants_file.h"

static int32_t check(const struct calibrate_values *values, struct kerf_error *err) {
    if (values->tables.count == 0)
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
    return KERF_OK;
}

static int32_t make_all(const struct calibrate_values *values, int with_constants, struct calibrate_answer *answer,
                        struct kerf_error *err) {
    const struct calibrate_without without = {.set = values->without_set};
    int32_t code = KERF_OK;
    if (values->folds || values->leave_set_out) {
        answer->predictions = calloc(answer->runs->count + 1, sizeof *answer->predictions);
        code = answer->predictions
                   ? calibrate_predict_apart(answer->runs, (int32_t)values->folds, answer->predictions, err)
                   : error_no_memory(err, "the predictions");
    }
    if (code == KERF_OK && with_constants) code = calibrate_all(answer->runs, &without, answer->calibration, err);
    return code;
}

static int32_t make_site(const struct calibrate_values *values, struct calibrate_answer *answer,
                         struct kerf_error *err) {
    struct score_constants *from = malloc(sizeof *from);
    int32_t code =
        from ? score_constants_read(values->calibration, NULL, from, err) : error_no_memory(err, "the constants");
    if (code == KERF_OK && values->without_set) code = constants_without(values->without_set, from, err);
    if (code == KERF_OK)
        code = calibrate_site(answer->runs, from, values->system, values->stack, answer->calibration, err);
    free(from);
    return code;
}

int32_t calibrate_answer_make(const struct calibrate_values *values, int with_constants,
                              struct calibrate_answer *ret_answer, struct kerf_error *err) {
    struct calibrate_answer *answer = ret_answer;
    struct kerf_text text = {0};
    memset(answer, 0, sizeof *answer);
    int32_t code = check(values, err);
    if (code == KERF_OK) code = score_table_read(values->tables.items[0], &text, err);
    if (code == KERF_OK)
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
