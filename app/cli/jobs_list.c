/* SPDX-License-Identifier: Apache-2.0 */
/* kerf jobs list, export: everything, page by page. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/error_fill.h"
#include "cli/jobs_request.h"
#include "cli/output.h"
#include "cli/render.h"
#include "cli/terminal.h"

/* ---- list --------------------------------------------------------------------------------------------------- */

static const struct render_format formats[] = {{.name = "table", .ending = "txt"},
                                               {.name = "json", .ending = "json"},
                                               {.name = "csv", .ending = "csv"},
                                               {.name = NULL}};

static int32_t collect(void *context, const json_t *row, struct kerf_error *err) {
    json_t *rows = context;
    if (json_array_append(rows, (json_t *)row) == 0) return KERF_OK;
    return error_no_memory(err, "the list");
}

static void put_table(struct kerf_text *out, const json_t *jobs, const struct render_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {0, 1}, {1, 2}, {1, 0},
                                                                   {1, 0}, {0, 4}, {0, 3}};
    struct kerf_text cells = {0};
    const json_t *job;
    size_t i;
    if (json_array_size(jobs) == 0) {
        kerf_text_add(out, "No jobs yet.\n");
        return;
    }
    kerf_text_add(&cells, "job\tstage\ttrials\tleast cost\twith batch size\tpolicy\taccelerators\n");
    json_array_foreach(jobs, i, job) {
        const json_t *spec = json_object_get(job, "spec");
        double cost = jobs_real(job, "min_cost");
        jobs_cell(&cells, jobs_text(job, "job_id"));
        kerf_text_printf(&cells, "\t%s\t%" PRId64 "\t", jobs_text(job, "stage"),
                         jobs_integer(job, "last_trial_number"));
        jobs_put_real(&cells, cost, "-");
        if (isnan(cost))
            kerf_text_add(&cells, "\t-");
        else
            kerf_text_printf(&cells, " J\t%" PRId64, jobs_integer(job, "min_cost_batch_size"));
        kerf_text_printf(&cells, "\t%s\t%" PRId64 " ", jobs_text(spec, "policy"), jobs_integer(spec, "number_of_gpus"));
        jobs_cell(&cells, jobs_text(spec, "gpu_model"));
        kerf_text_add(&cells, "\n");
    }
    terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    kerf_text_free(&cells);
}

void jobs_put_quoted(struct kerf_text *out, const char *text) {
    kerf_text_add(out, "\"");
    for (; *text; text++) {
        if (*text == '"') kerf_text_add(out, "\"");
        kerf_text_write(out, text, 1);
    }
    kerf_text_add(out, "\"");
}

static void put_csv(struct kerf_text *out, const json_t *jobs) {
    const json_t *job;
    size_t i;
    kerf_text_add(out, "job_id,stage,last_trial_number,trials_ended,min_cost,min_cost_batch_size,policy,"
                       "number_of_gpus,gpu_model,created_s\n");
    json_array_foreach(jobs, i, job) {
        const json_t *spec = json_object_get(job, "spec");
        double cost = jobs_real(job, "min_cost");
        jobs_put_quoted(out, jobs_text(job, "job_id"));
        kerf_text_printf(out, ",%s,%" PRId64 ",%" PRId64 ",", jobs_text(job, "stage"),
                         jobs_integer(job, "last_trial_number"), jobs_integer(job, "trials_ended"));
        if (!isnan(cost)) kerf_text_number(out, cost);
        kerf_text_printf(out, ",%" PRId64 ",%s,%" PRId64 ",", jobs_integer(job, "min_cost_batch_size"),
                         jobs_text(spec, "policy"), jobs_integer(spec, "number_of_gpus"));
        jobs_put_quoted(out, jobs_text(spec, "gpu_model"));
        kerf_text_add(out, ",");
        kerf_text_number(out, jobs_real(job, "created_s"));
        kerf_text_add(out, "\n");
    }
}

static int32_t write_list(void *context, struct kerf_text *out, const struct render_format *format,
                          const struct render_style *style, struct kerf_error *err) {
    const json_t *jobs = context;
    (void)err;
    if (strcmp(format->name, "json") == 0) {
        kerf_text_printf(out, "{\"kerf\":\"%s\",\"jobs\":", kerf_version());
        jobs_put_json(out, jobs);
        kerf_text_add(out, "}\n");
    } else if (strcmp(format->name, "csv") == 0) {
        put_csv(out, jobs);
    } else {
        put_table(out, jobs, style);
    }
    return KERF_OK;
}

int jobs_list(struct jobs_request *request) {
    struct kerf_error err = {.code = KERF_OK};
    json_t *jobs = json_array();
    const struct render render = {formats, request->options->format, &request->options->outputs, write_list, jobs};
    int32_t code = render_check(&render, &err);
    if (code == KERF_OK) code = jobs_each(request, "/api/v1/jobs", "jobs", collect, jobs, &err);
    if (code == KERF_OK) code = render_all(&render, &err);
    json_decref(jobs);
    return code == KERF_OK ? EXIT_ANSWERED : jobs_fail(&err);
}

/* ---- export ------------------------------------------------------------------------------------------------- */

struct export {
    struct jobs_request *request;
    struct kerf_text line;
    const char *job_id; /* at hand */
};

static int32_t put_line(struct export *export, struct kerf_error *err) {
    kerf_text_add(&export->line, "\n");
    int32_t code = output_stream(&export->line, err);
    kerf_text_clear(&export->line);
    return code;
}

static int32_t export_row(struct export *export, const char *key, const json_t *row, struct kerf_error *err) {
    json_t *job_id = json_string_nocheck(export->job_id);
    kerf_text_add(&export->line, "{\"job_id\":");
    jobs_put_json(&export->line, job_id);
    kerf_text_printf(&export->line, ",\"%s\":", key);
    jobs_put_json(&export->line, row);
    kerf_text_add(&export->line, "}");
    json_decref(job_id);
    return put_line(export, err);
}

static int32_t export_trial(void *context, const json_t *trial, struct kerf_error *err) {
    return export_row(context, "trial", trial, err);
}

static int32_t export_cost(void *context, const json_t *cost, struct kerf_error *err) {
    return export_row(context, "cost", cost, err);
}

static int32_t export_job(struct export *export, const char *job_id, struct kerf_error *err) {
    struct kerf_text target = {0};
    json_t *job = NULL;
    jobs_target(&target, job_id, "");
    int32_t code = target.failed ? error_no_memory(err, "a request")
                                 : service_ask(export->request->client, "GET", target.data, NULL,
                                               &export->request->answer, &job, err);
    if (code == KERF_OK) {
        kerf_text_printf(&export->line, "{\"kerf\":\"%s\",\"job\":", kerf_version());
        jobs_put_json(&export->line, job);
        kerf_text_add(&export->line, "}");
        code = put_line(export, err);
        export->job_id = job_id;
        kerf_text_clear(&target);
        jobs_target(&target, job_id, "/trials");
        code = jobs_each(export->request, target.data, "trials", export_trial, export, err);
    }
    if (code == KERF_OK) {
        kerf_text_clear(&target);
        jobs_target(&target, job_id, "/costs");
        code = jobs_each(export->request, target.data, "costs", export_cost, export, err);
    }
    json_decref(job);
    kerf_text_free(&target);
    return code;
}

static int32_t export_listed(void *context, const json_t *row, struct kerf_error *err) {
    int32_t code = export_job(context, jobs_text(row, "job_id"), err);
    return code == KERF_EUNKNOWN ? KERF_OK : code; /* deleted meanwhile */
}

int jobs_export(struct jobs_request *request) {
    const struct jobs_options *options = request->options;
    struct kerf_error err = {.code = KERF_OK};
    struct export export = {.request = request};
    int32_t code;
    if (options->outputs.count) {
        code = kerf_error_set(&err, KERF_EINVALID, "export prints on standard output: `kerf jobs export --all > FILE`");
    } else if (options->all && options->words.count > 1) {
        code = kerf_error_set(&err, KERF_EINVALID, "export one job, or --all of them");
    } else if (options->all) {
        code = jobs_each(request, "/api/v1/jobs", "jobs", export_listed, &export, &err);
    } else if (options->words.count < 2) {
        code = kerf_error_set(&err, KERF_EINVALID, "the job is missing: `kerf jobs export JOB`, or --all");
    } else {
        code = KERF_OK;
        for (int32_t i = 1; i < options->words.count && code == KERF_OK; i++)
            code = export_job(&export, options->words.items[i], &err);
    }
    kerf_text_free(&export.line);
    if (code == KERF_EINTERRUPTED) return EXIT_ANSWERED; /* the reader has seen enough */
    return code == KERF_OK ? EXIT_ANSWERED : jobs_fail(&err);
}
