/* SPDX-License-Identifier: Apache-2.0 */
/* kerf jobs list, export: everything, page by page; show: a job, its arms, and its latest trials with their reasons. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "base/quantity.h"
#include "cli/cells.h"
#include "cli/command.h"
#include "cli/jobs_request.h"
#include "cli/render.h"
#include "kerf/jobs.h"

/* ---- list --------------------------------------------------------------------------------------------------- */

static const struct render_format list_formats[] = {{.name = "table", .ending = "txt"},
                                                    {.name = "json", .ending = "json"},
                                                    {.name = "csv", .ending = "csv"},
                                                    {.name = NULL}};

static int32_t collect(void *context, const json_t *row, struct kerf_error *err) {
    json_t *rows = context;
    if (json_array_append(rows, (json_t *)row) == 0) return KERF_OK;
    return error_no_memory(err, "the list");
}

static void put_joules(struct kerf_text *out, double joules, int digits, const char *none) {
    if (isnan(joules))
        kerf_text_add(out, none);
    else
        quantity_joules(out, joules, digits);
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
    kerf_text_add(&cells, "job\tstage\ttrials\tlowest cost\twith batch size\tpolicy\taccelerators\n");
    json_array_foreach(jobs, i, job) {
        const json_t *spec = json_object_get(job, "spec");
        double cost = jobs_real(job, "min_cost");
        jobs_cell(&cells, jobs_text(job, "job_id"));
        kerf_text_printf(&cells, "\t%s\t%" PRId64 "\t", jobs_text(job, "stage"),
                         jobs_integer(job, "last_trial_number"));
        put_joules(&cells, cost, 6, "-");
        if (isnan(cost))
            kerf_text_add(&cells, "\t-");
        else
            kerf_text_printf(&cells, "\t%" PRId64, jobs_integer(job, "min_cost_batch_size"));
        kerf_text_printf(&cells, "\t%s\t%" PRId64 " ", jobs_text(spec, "policy"), jobs_integer(spec, "number_of_gpus"));
        jobs_cell(&cells, jobs_text(spec, "gpu_model"));
        kerf_text_add(&cells, "\n");
    }
    terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    kerf_text_free(&cells);
}

static void jobs_put_quoted(struct kerf_text *out, const char *text) {
    kerf_text_add(out, "\"");
    for (; *text; text++) {
        if (*text == '"') kerf_text_add(out, "\"");
        kerf_text_write(out, text, 1);
    }
    kerf_text_add(out, "\"");
}

static void list_csv(struct kerf_text *out, const json_t *jobs) {
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
        list_csv(out, jobs);
    } else {
        put_table(out, jobs, style);
    }
    return KERF_OK;
}

int jobs_list(struct jobs_request *request) {
    struct kerf_error err = {.code = KERF_OK};
    json_t *jobs = json_array();
    const struct render render = {list_formats, request->options->format, &request->options->outputs, write_list, jobs};
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

/* ---- show ------------------------------------------------------------------------------------------------------ */

enum { LATEST = 10 };

struct shown {
    json_t *job, *page; /* page: the latest trials */
};

static const struct render_format formats[] = {{.name = "table", .ending = "txt"},
                                               {.name = "json", .ending = "json"},
                                               {.name = "csv", .ending = "csv"},
                                               {.name = NULL}};

static const json_t *trials_of(const struct shown *shown) { return json_object_get(shown->page, "trials"); }

/* ---- For people --------------------------------------------------------------------------------------------- */

static void put_time(struct kerf_text *out, double time_s) {
    time_t seconds = (time_t)time_s;
    struct tm parts;
    char words[32];
    if (gmtime_r(&seconds, &parts) && strftime(words, sizeof words, "%Y-%m-%d %H:%M:%S UTC", &parts))
        kerf_text_add(out, words);
}

static void put_sizes(struct kerf_text *out, const json_t *spec) {
    const json_t *size;
    size_t i;
    json_array_foreach(json_object_get(spec, "batch_sizes"), i, size)
        kerf_text_printf(out, "%s%" JSON_INTEGER_FORMAT, i ? ", " : "", json_integer_value(size));
    kerf_text_printf(out, " (default %" PRId64 ")", jobs_integer(spec, "default_batch_size"));
}

static void put_summary(struct kerf_text *out, const json_t *job) {
    const json_t *spec = json_object_get(job, "spec");
    double cost = jobs_real(job, "min_cost"), beta = jobs_real(spec, "beta_knob");
    int higher = json_is_true(json_object_get(spec, "higher_is_better_metric"));
    jobs_cell(out, jobs_text(job, "job_id"));
    int64_t trials = jobs_integer(job, "last_trial_number");
    kerf_text_printf(out, ": stage %s, policy %s, %" PRId64 " trial%s\n", jobs_text(job, "stage"),
                     jobs_text(spec, "policy"), trials, trials == 1 ? "" : "s");
    kerf_text_add(out, "created       ");
    put_time(out, jobs_real(job, "created_s"));
    kerf_text_printf(out, "\nruns on       %" PRId64 " ", jobs_integer(spec, "number_of_gpus"));
    jobs_cell(out, jobs_text(spec, "gpu_model"));
    kerf_text_printf(out, ", %.6g W at most\nbatch sizes   ", jobs_real(spec, "max_power"));
    put_sizes(out, spec);
    kerf_text_printf(out, "\ntarget        metric %s %.6g within %" PRId64 " epochs\n",
                     higher ? ">=" : "<=", jobs_real(spec, "target_metric"), jobs_integer(spec, "max_epochs"));
    kerf_text_printf(out, "cost          %.6g x energy + %.6g x max_power x time; ", jobs_real(spec, "eta_knob"),
                     1 - jobs_real(spec, "eta_knob"));
    if (isnan(beta))
        kerf_text_add(out, "runs are never stopped for their cost\n");
    else
        kerf_text_printf(out, "runs are stopped at %.6g x the lowest cost\n", beta);
    kerf_text_add(out, "lowest cost   ");
    put_joules(out, cost, 6, "none yet");
    if (!isnan(cost)) kerf_text_printf(out, " with batch size %" PRId64, jobs_integer(job, "min_cost_batch_size"));
    kerf_text_add(out, "\n");
}

/* An arm's mean cost and its standard error, in joules. The policy zeus learns the cost, kerf its logarithm, whose
 * error is the relative error of the cost; rewards are minus either. */
static void put_cost(struct kerf_text *out, const json_t *arm, int is_logarithm) {
    double mean = -jobs_real(arm, "param_mean"), error = 1 / sqrt(jobs_real(arm, "param_precision"));
    if (is_logarithm) mean = exp(mean), error *= mean;
    int is_known = jobs_integer(arm, "num_observations") > 0;
    put_joules(out, is_known ? mean : NAN, 6, "-");
    kerf_text_add(out, "\t");
    put_joules(out, is_known && isfinite(error) ? error : NAN, 3, "-");
}

static void put_arms(struct kerf_text *out, const json_t *job, const struct render_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{1, 0}, {1, 0}, {1, 2}, {1, 1}};
    const json_t *arms = json_object_get(job, "arms"), *arm;
    int is_logarithm = strcmp(jobs_text(json_object_get(job, "spec"), "policy"), "kerf") == 0;
    struct kerf_text cells = {0};
    size_t i;
    if (json_array_size(arms) == 0) return;
    kerf_text_add(&cells, "batch size\tmean cost\tstandard error\truns\n");
    json_array_foreach(arms, i, arm) {
        kerf_text_printf(&cells, "%" PRId64 "\t", jobs_integer(arm, "batch_size"));
        put_cost(&cells, arm, is_logarithm);
        kerf_text_printf(&cells, "\t%" PRId64 "\n", jobs_integer(arm, "num_observations"));
    }
    kerf_text_add(out, "\nArms\n");
    terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    kerf_text_free(&cells);
}

/* "45 s", "12 min", "3 h", "5 d": how long ago that was. */
static void put_age(struct kerf_text *out, double span_s) {
    static const struct {
        double span_s;
        const char *unit;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    size_t i = 0;
    while (i < 3 && span_s < 2 * units[i].span_s) i++; /* two of it at least: 90 min, 36 h */
    kerf_text_printf(out, "%.0f %s", floor(fmax(span_s, 0) / units[i].span_s), units[i].unit);
}

/* "Succeeded, converged"; "Dispatched 12 min ago", and when it was last heard of. */
static void put_status(struct kerf_text *out, const json_t *trial, double now_s) {
    double dispatched_s = jobs_real(trial, "dispatched_s"), seen_s = jobs_real(trial, "seen_s");
    kerf_text_add(out, jobs_text(trial, "status"));
    if (json_is_true(json_object_get(trial, "converged"))) kerf_text_add(out, ", converged");
    if (json_is_true(json_object_get(trial, "lease_ended"))) kerf_text_add(out, ", lease ended");
    if (strcmp(jobs_text(trial, "status"), kerf_trial_status_name(KERF_TRIAL_DISPATCHED)) != 0) return;
    kerf_text_add(out, " ");
    put_age(out, now_s - dispatched_s);
    kerf_text_add(out, " ago");
    if (seen_s <= dispatched_s) return;
    kerf_text_add(out, ", reported ");
    put_age(out, now_s - seen_s);
    kerf_text_add(out, " ago");
}

/* On a terminal reasons are cut to its width; elsewhere they are whole. */
static void put_trials(struct kerf_text *out, const json_t *trials, const struct render_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{1, 0}, {1, 0}, {0, 1}, {0, 0},
                                                                   {1, 0}, {1, 0}, {0, 0}};
    const json_t *trial;
    struct kerf_text cells = {0};
    double now_s = clock_now_s();
    size_t i;
    if (json_array_size(trials) == 0) return;
    kerf_text_add(&cells, "trial\tbatch size\ttype\tstatus\ttime\tenergy\treason\n");
    json_array_foreach(trials, i, trial) {
        double time_s = jobs_real(trial, "time_s"), energy_j = jobs_real(trial, "energy_j");
        kerf_text_printf(&cells, "%" PRId64 "\t%" PRId64 "\t%s\t", jobs_integer(trial, "trial_number"),
                         jobs_integer(trial, "batch_size"), jobs_text(trial, "type"));
        put_status(&cells, trial, now_s);
        kerf_text_add(&cells, "\t");
        if (isnan(time_s))
            kerf_text_add(&cells, "-\t");
        else
            kerf_text_printf(&cells, "%.6g s\t", time_s);
        put_joules(&cells, energy_j, 6, "-");
        kerf_text_add(&cells, "\t");
        jobs_cell(&cells, jobs_text(trial, "reason"));
        kerf_text_add(&cells, "\n");
    }
    kerf_text_add(out, "\nLatest trials\n");
    int32_t whole = terminal_table_width(&cells);
    terminal_table(out, &cells, columns, style->is_terminal ? style->columns : whole, style->colour, -1);
    kerf_text_free(&cells);
}

/* ---- For programs ------------------------------------------------------------------------------------------- */

static void put_number(struct kerf_text *out, double value) {
    if (!isnan(value)) kerf_text_number(out, value);
    kerf_text_add(out, ",");
}

static void put_csv(struct kerf_text *out, const json_t *trials) {
    const json_t *trial;
    size_t i;
    kerf_text_add(out, "trial_number,batch_size,type,status,converged,time_s,energy_j,dispatched_s,seen_s,reason\n");
    json_array_foreach(trials, i, trial) {
        const json_t *converged = json_object_get(trial, "converged");
        kerf_text_printf(out, "%" PRId64 ",%" PRId64 ",%s,%s,%s,", jobs_integer(trial, "trial_number"),
                         jobs_integer(trial, "batch_size"), jobs_text(trial, "type"), jobs_text(trial, "status"),
                         !json_is_boolean(converged) ? ""
                         : json_is_true(converged)   ? "true"
                                                     : "false");
        put_number(out, jobs_real(trial, "time_s"));
        put_number(out, jobs_real(trial, "energy_j"));
        put_number(out, jobs_real(trial, "dispatched_s"));
        put_number(out, jobs_real(trial, "seen_s"));
        jobs_put_quoted(out, jobs_text(trial, "reason"));
        kerf_text_add(out, "\n");
    }
}

static int32_t write_shown(void *context, struct kerf_text *out, const struct render_format *format,
                           const struct render_style *style, struct kerf_error *err) {
    const struct shown *shown = context;
    (void)err;
    if (strcmp(format->name, "json") == 0) {
        kerf_text_printf(out, "{\"kerf\":\"%s\",\"job\":", kerf_version());
        jobs_put_json(out, shown->job);
        kerf_text_add(out, ",\"trials\":");
        if (shown->page)
            jobs_put_json(out, trials_of(shown));
        else
            kerf_text_add(out, "[]");
        kerf_text_add(out, "}\n");
    } else if (strcmp(format->name, "csv") == 0) {
        put_csv(out, trials_of(shown));
    } else {
        put_summary(out, shown->job);
        put_arms(out, shown->job, style);
        put_trials(out, trials_of(shown), style);
    }
    return KERF_OK;
}

/* ---- The questions ------------------------------------------------------------------------------------------ */

static int32_t ask(struct jobs_request *request, const char *job_id, const char *rest, json_t **ret_json,
                   struct kerf_error *err) {
    struct kerf_text target = {0};
    jobs_target(&target, job_id, rest);
    int32_t code = target.failed
                       ? error_no_memory(err, "a request")
                       : service_ask(request->client, "GET", target.data, NULL, &request->answer, ret_json, err);
    kerf_text_free(&target);
    return code;
}

int jobs_show(struct jobs_request *request) {
    struct kerf_error err = {.code = KERF_OK};
    struct shown shown = {NULL, NULL};
    const struct jobs_options *options = request->options;
    const struct render render = {formats, options->format, &options->outputs, write_shown, &shown};
    const char *job_id = jobs_name(request, &err);
    struct kerf_text rest = {0};
    int64_t limit = options->limit < 0 ? LATEST : options->limit;
    kerf_text_printf(&rest, "/trials?order=desc&limit=%" PRId64, limit);
    int32_t code = job_id ? render_check(&render, &err) : err.code;
    if (code == KERF_OK) code = ask(request, job_id, "", &shown.job, &err);
    if (code == KERF_OK && limit > 0 && !rest.failed) code = ask(request, job_id, rest.data, &shown.page, &err);
    if (code == KERF_OK) code = render_all(&render, &err);
    json_decref(shown.job);
    json_decref(shown.page);
    kerf_text_free(&rest);
    return code == KERF_OK ? EXIT_ANSWERED : jobs_fail(&err);
}
