/* SPDX-License-Identifier: Apache-2.0 */
/* kerf jobs add, next, report, delete: one question each. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/error_fill.h"
#include "cli/command.h"
#include "cli/jobs_request.h"

/* `next` and `report` answer with one object, which has no columns. */
static int32_t check_format(const struct jobs_request *request, struct kerf_error *err) {
    const struct jobs_options *options = request->options;
    if (options->outputs.count)
        return kerf_error_set(err, KERF_EINVALID, "`kerf jobs %s` prints only to standard output; leave out --output",
                              options->words.items[0]);
    if (strcmp(options->format, "csv") != 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "`kerf jobs %s` prints a table or json, not csv",
                          options->words.items[0]);
}

static int is_json(const struct jobs_request *request) { return strcmp(request->options->format, "json") == 0; }

/* The server's object as it came in. */
static int print_answer(const struct jobs_request *request) {
    struct kerf_text out = {0};
    kerf_text_write(&out, request->answer.body.data ? request->answer.body.data : "", request->answer.body.length);
    kerf_text_add(&out, "\n");
    return output_print(&out);
}

/* ---- next, report ------------------------------------------------------------------------------------------- */

int jobs_next(struct jobs_request *request) {
    struct kerf_error err = {.code = KERF_OK};
    struct service_trial trial = {0};
    struct kerf_text out = {0};
    const char *job_id = jobs_name(request, &err);
    int32_t code = job_id ? check_format(request, &err) : err.code;
    if (code == KERF_OK) code = service_next(request->client, job_id, &request->answer, &trial, &err);
    if (code != KERF_OK) return jobs_fail(&err);
    if (is_json(request)) return print_answer(request);
    kerf_text_printf(&out, "%" PRId64 " %" PRId64 "\n", trial.batch_size, trial.number);
    return output_print(&out);
}

static int32_t read_report(const struct jobs_options *options, struct service_report *ret_report,
                           struct kerf_error *err) {
    const struct {
        int is_missing;
        const char *name;
    } wanted[] = {{options->batch_size == INT64_MIN, "--batch-size"},
                  {options->trial == INT64_MIN, "--trial"},
                  {isnan(options->time_s), "--time"},
                  {isnan(options->energy_j), "--energy"},
                  {isnan(options->metric), "--metric"},
                  {options->epoch == INT64_MIN, "--epoch"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (wanted[i].is_missing)
            return kerf_error_set(err, KERF_EINVALID, "%s is missing; `kerf help jobs` tells more", wanted[i].name);
    *ret_report = (struct service_report){.trial = {options->batch_size, options->trial},
                                          .time_s = options->time_s,
                                          .energy_j = options->energy_j,
                                          .metric = options->metric,
                                          .epoch = options->epoch};
    return KERF_OK;
}

int jobs_report(struct jobs_request *request) {
    struct kerf_error err = {.code = KERF_OK};
    struct service_report report;
    struct service_verdict verdict = {0};
    struct kerf_text out = {0};
    const char *job_id = jobs_name(request, &err);
    int32_t code = job_id ? check_format(request, &err) : err.code;
    if (code == KERF_OK) code = read_report(request->options, &report, &err);
    if (code == KERF_OK) code = service_report(request->client, job_id, &report, &request->answer, &verdict, &err);
    if (code != KERF_OK) return jobs_fail(&err);
    if (!is_json(request))
        kerf_text_printf(&out, "%s: %s\n",
                         !verdict.stop       ? "keep training"
                         : verdict.converged ? "stop, converged"
                                             : "stop",
                         verdict.message);
    int status = is_json(request) ? print_answer(request) : output_print(&out);
    return status != EXIT_ANSWERED ? status : verdict.stop ? EXIT_ANSWERED : EXIT_KEEP_TRAINING;
}

/* ---- add, delete -------------------------------------------------------------------------------------------- */

static int32_t read_file(const char *path, struct kerf_text *ret_text, struct kerf_error *err) {
    enum { MOST = 1 << 20 };
    char piece[4096];
    size_t count;
    int is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    if (file == NULL) return kerf_error_set(err, KERF_EINVALID, "%.200s: %m", path);
    while ((count = fread(piece, 1, sizeof piece, file)) > 0 && ret_text->length <= MOST)
        kerf_text_write(ret_text, piece, count);
    int failed = ferror(file);
    if (!is_stdin) fclose(file);
    if (failed) return kerf_error_set(err, KERF_EINVALID, "%.200s cannot be read", path);
    if (ret_text->failed) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for %.200s", path);
    if (ret_text->length > MOST)
        return kerf_error_set(err, KERF_EINVALID, "%.200s is not a job: it is larger than 1 MiB", path);
    return KERF_OK;
}

/* Invalid JSON is refused here, with its place; the server checks the rest. */
static int32_t check_json(const char *path, const struct kerf_text *text, struct kerf_error *err) {
    json_error_t why;
    json_t *json = json_loadb(text->data ? text->data : "", text->length, JSON_ALLOW_NUL, &why);
    int is_object = json_is_object(json);
    json_decref(json);
    if (is_object) return KERF_OK;
    if (json) return kerf_error_set(err, KERF_EINVALID, "%.200s is not a JSON object", path);
    kerf_error_set(err, KERF_ESYNTAX, "%s", why.text);
    snprintf(err->file, sizeof err->file, "%s", path);
    err->line = why.line, err->column = why.column;
    return err->code;
}

int jobs_add(struct jobs_request *request) {
    const struct string_list *words = &request->options->words;
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_text body = {0}, out = {0};
    json_t *job = NULL;
    if (words->count < 2) {
        kerf_error_set(&err, KERF_EINVALID, "the file is missing, such as `kerf jobs add job.json`");
        return jobs_fail(&err);
    }
    int32_t code = check_format(request, &err);
    if (code == KERF_OK) code = read_file(words->items[1], &body, &err);
    if (code == KERF_OK) code = check_json(words->items[1], &body, &err);
    if (code == KERF_OK) code = service_ask(request->client, "POST", "/jobs", body.data, &request->answer, &job, &err);
    kerf_text_free(&body);
    if (code != KERF_OK) return jobs_fail(&err);
    if (!is_json(request)) {
        jobs_cell(&out, jobs_text(job, "job_id"));
        kerf_text_add(&out, "\n");
    }
    json_decref(job);
    return is_json(request) ? print_answer(request) : output_print(&out);
}

int jobs_delete(struct jobs_request *request) {
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_text target = {0};
    const char *job_id = jobs_name(request, &err);
    if (job_id == NULL) return jobs_fail(&err);
    kerf_text_add(&target, "/jobs?job_id=");
    service_escape(&target, job_id);
    int32_t code = target.failed
                       ? error_no_memory(&err, "a request")
                       : service_ask(request->client, "DELETE", target.data, NULL, &request->answer, NULL, &err);
    kerf_text_free(&target);
    return code == KERF_OK ? EXIT_ANSWERED : jobs_fail(&err);
}
