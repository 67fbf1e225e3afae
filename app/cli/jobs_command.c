/* SPDX-License-Identifier: Apache-2.0 */
/* kerf jobs: what scripts and people ask a kerf server; and the actions that are one question each. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"
#include "cli/command.h"
#include "cli/jobs_request.h"
#include "cli/render.h"

/* ---- add, next, report, delete ------------------------------------------------------------------------------- */

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

static int jobs_next(struct jobs_request *request) {
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

static int jobs_report(struct jobs_request *request) {
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

static int jobs_add(struct jobs_request *request) {
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

static int jobs_delete(struct jobs_request *request) {
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

/* ---- The command ---------------------------------------------------------------------------------------------- */

#define AT(field) .offset = offsetof(struct jobs_options, field)
static const struct option options[] = {
    {.name = "server",
     .type = OPTION_STRING,
     AT(server),
     .value = "URL",
     .uses = "list,show,add,next,report,run,delete,export",
     .help = "The server (default: $KERF_SERVER, else http://127.0.0.1:8000). https and proxies work as with curl: "
             "$https_proxy, $http_proxy, $no_proxy."},
    {.name = "ca",
     .type = OPTION_STRING,
     AT(ca),
     .value = "FILE",
     .uses = "list,show,add,next,report,run,delete,export",
     .help = "For https: trust the certificates in this file, in PEM (default: $KERF_CA, else those that the system "
             "trusts)."},
    {.name = "token",
     .type = OPTION_STRING,
     AT(token),
     .value = "TOKEN",
     .uses = "list,show,add,next,report,run,delete,export",
     .help = "The access token (default: $KERF_TOKEN, else the user part of the URL). Others on this machine see a "
             "command's options, but not its environment."},
    {.name = "timeout",
     .type = OPTION_DURATION,
     AT(timeout_s),
     .value = "TIME",
     .minimum = 0.001,
     .maximum = 86400,
     .uses = "list,show,add,next,report,run,delete,export",
     .help = "How long an answer may take (default: 30)."},
    {.name = "format",
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json,csv",
     .uses = "list,show,add,next,report",
     .help = "What to print on standard output (default: table). With json, `next` and `report` print the server's "
             "object. csv is for `list`, and for the trials of `show`."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRINGS,
     AT(outputs),
     .value = "FILE",
     .uses = "list,show",
     .help = "Write FILE instead, in the format of its name: .txt, .json, .csv. May be given several "
             "times; - is standard output."},
    {.name = "batch-size",
     .type = OPTION_INTEGER,
     AT(batch_size),
     .value = "B",
     .uses = "report",
     .help = "The batch size of the run."},
    {.name = "trial",
     .type = OPTION_INTEGER,
     AT(trial),
     .value = "T",
     .uses = "report",
     .help = "The run's trial number."},
    {.name = "time",
     .type = OPTION_DURATION,
     AT(time_s),
     .value = "TIME",
     .uses = "report",
     .help = "Since the run began."},
    {.name = "energy",
     .type = OPTION_NUMBER,
     AT(energy_j),
     .value = "JOULES",
     .uses = "report",
     .help = "Since the run began."},
    {.name = "metric",
     .type = OPTION_NUMBER,
     AT(metric),
     .value = "M",
     .uses = "report",
     .help = "The metric that the run has reached; it is compared with the job's target."},
    {.name = "epoch",
     .type = OPTION_INTEGER,
     AT(epoch),
     .value = "E",
     .uses = "report",
     .help = "The number of finished epochs."},
    {.name = "all", .type = OPTION_FLAG, AT(all), .uses = "export", .help = "All jobs."},
    {.name = "store",
     .type = OPTION_STRING,
     AT(store),
     .value = "FILE",
     .uses = "backup,import",
     .help = "The store that `backup` copies, or that `import` writes to (default: kerf.db), in the form of `kerf "
             "serve --store`."},
    {.name = "create",
     .type = OPTION_FLAG,
     AT(create),
     .uses = "import",
     .help = "Make the store if it does not exist."},
    {.name = "force", .type = OPTION_FLAG, AT(force), .uses = "backup", .help = "Replace FILE if it exists."},
    {.name = "limit",
     .type = OPTION_INTEGER,
     AT(limit),
     .value = "N",
     .minimum = 0,
     .maximum = 1000,
     .uses = "list,show,export",
     .help =
         "`show`: how many of the latest trials (default: 10). `list`, `export`: how many rows to ask for at a time "
         "(default: 1000)."},
    {.name = "metric-regex",
     .type = OPTION_STRING,
     AT(metric_regex),
     .value = "REGEX",
     .uses = "run",
     .help = "An extended regular expression that finds the metric in the script's output; its first group is the "
             "number: 'accuracy: ([0-9.]+)'. Each line that it matches is a report; the last match of a line counts."},
    {.name = "epoch-regex",
     .type = OPTION_STRING,
     AT(epoch_regex),
     .value = "REGEX",
     .uses = "run",
     .help = "The same for the number of finished epochs (default: metrics are counted)."},
    {.name = "meter",
     .type = OPTION_CHOICE,
     AT(meter),
     .value = "METER",
     .choices = "auto,nvml,rapl",
     .uses = "run",
     .help = "What measures energy: nvml for NVIDIA's GPUs, rapl for the processors (default: auto, which is nvml if "
             "there is a GPU, else rapl)."},
    {.name = "gpus",
     .type = OPTION_STRING,
     AT(gpus),
     .value = "LIST",
     .uses = "run",
     .help = "Which GPUs, as numbers of nvidia-smi or UUIDs: 0,1 (default: $CUDA_VISIBLE_DEVICES, else all)."},
    {.name = "power",
     .type = OPTION_NUMBER,
     AT(power_w),
     .value = "WATTS",
     .minimum = DBL_MIN,
     .maximum = 1e9,
     .uses = "run",
     .help = "Assume this constant power instead of measuring energy."},
    {.name = "grace",
     .type = OPTION_DURATION,
     AT(grace_s),
     .value = "TIME",
     .minimum = 0,
     .maximum = 86400,
     .uses = "run",
     .help = "How long the script has to end after SIGTERM, before it is killed (default: 30)."},
    {.name = NULL},
};

static const char *const examples[] = {
    "All jobs",
    "kerf jobs list --server http://trainer:8000",
    "Why a job has the batch size that it has",
    "kerf jobs show mnist-nightly",
    "Register a job, from the JSON that POST /jobs takes",
    "kerf jobs add mnist-nightly.json",
    "The batch size and the trial number of the next run",
    "kerf jobs next mnist-nightly",
    "What the run has reached so far; status 10: train on, 0: stop",
    "kerf jobs report mnist-nightly --batch-size 128 --trial 7 --time 340 --energy 61000 --metric 0.81 --epoch 3",
    "All of that around a script",
    "kerf jobs run mnist-nightly --metric-regex 'accuracy: ([0-9.]+)' -- ./train.sh --batch-size {batch_size}",
    "Everything that the server knows, a JSON value a line",
    "kerf jobs export --all > jobs.jsonl",
    "From a SQLite store to a new PostgreSQL store",
    "kerf jobs import jobs.jsonl --store postgresql://kerf@db/kerf --create",
    "A copy of the store, while the server runs",
    "kerf jobs backup kerf.backup.db --store /var/lib/kerf/kerf.db",
    NULL,
};

static const struct command_use uses[] = {
    {"list", "list"},
    {"show", "show JOB"},
    {"add", "add FILE"},
    {"next", "next JOB"},
    {"report", "report JOB"},
    {"run", "run JOB -- SCRIPT..."},
    {"delete", "delete JOB"},
    {"export", "export JOB...|--all"},
    {"backup", "backup FILE"},
    {"import", "import FILE"},
    {NULL, NULL},
};

static const struct command_exit exits[] = {
    {"0", "answered; `report`: the run is to stop; `run`: the script was told to stop, or ended with 0"},
    {"2", "bad usage, or the server refused"},
    {"3", "the server cannot be reached or cannot answer now; `run` also: there was no metric, or the last report did "
          "not arrive"},
    {"10", "`report`: continue training"},
    {"126, 127", "`run`: the script cannot be started, or is not found"},
    {"130", "`backup`: interrupted with Ctrl-C"},
    {"N", "`run`: any other status is the script's; 128 plus the signal's number if a signal ended it"},
    {NULL, NULL},
};

static const struct command table = {
    .name = "jobs",
    .summary = "jobs, batch sizes and reports of a kerf server",
    .description =
        "`next` asks which batch size the job's next run is to use, and prints it and the trial number. `report` tells "
        "the server what the run has reached, after an epoch or at the end. It exits with status 0 if the run is to "
        "stop and 10 if it is to continue. `add` registers a job from a JSON file (-: standard input) as POST /jobs "
        "takes it.\n\n"
        "`run` does all of this for a script. It replaces {batch_size} and {trial_number} in the script's words and "
        "sets $KERF_BATCH_SIZE and $KERF_TRIAL_NUMBER. It measures time and energy, and reads the metric from the "
        "script's output. If the service says stop, the script gets SIGTERM; if the script fails, is interrupted, or "
        "ends before that, the trial is given up. The exit status is the script's; 0 if it was told to stop; 3 if "
        "there was no metric or the last report did not arrive.\n\n"
        "`show` prints a job's stage, its arms, and its latest trials with their reasons. `delete` deletes a job with "
        "everything that was learned. `export` prints one JSON value on each line: each job, followed by its trials "
        "and by the costs of removed trials. `import` reads that into a SQLite or PostgreSQL store. Each job continues "
        "with the decision that it would have made in the old store; jobs that the store already has stay unchanged. "
        "Export while no run reports, and import while no server uses the SQLite file. `backup` copies the store into "
        "FILE, also while a server runs. FILE is a store itself, and has everything that was answered before the "
        "backup began. `import` and `backup` ask no server.\n\n"
        "Status 2 means bad usage or that the server refused; 3 means that the server cannot be reached or cannot "
        "answer now.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct jobs_options, words),
    .uses = uses,
    .exits = exits,
};

struct action {
    const char *name;
    int (*act)(struct jobs_request *request);
    int32_t words; /* how many there are, with the name; 0: the action checks them */
    int32_t alone; /* 1: without a server */
};

static const struct action actions[] = {
    {"list", jobs_list, 1, 0},     {"show", jobs_show, 2, 0},     {"add", jobs_add, 2, 0},
    {"next", jobs_next, 2, 0},     {"report", jobs_report, 2, 0}, {"run", jobs_run, 0, 0},
    {"delete", jobs_delete, 2, 0}, {"export", jobs_export, 0, 0}, {"backup", jobs_backup, 2, 1},
    {"import", jobs_import, 2, 1},
};
enum { NUM_ACTIONS = sizeof actions / sizeof *actions };

static const struct action *find(const char *name, struct kerf_error *err) {
    const char *names[NUM_ACTIONS];
    for (int i = 0; i < NUM_ACTIONS; i++) {
        names[i] = actions[i].name;
        if (strcmp(names[i], name) == 0) return &actions[i];
    }
    const char *nearest = nearest_name(name, names, NUM_ACTIONS);
    if (nearest)
        kerf_error_set(err, KERF_EUNKNOWN, "kerf jobs knows no '%.64s'; did you mean %s?", name, nearest);
    else
        kerf_error_set(err, KERF_EUNKNOWN, "kerf jobs knows no '%.64s'; `kerf help jobs` tells what it does", name);
    return NULL;
}

/* Defaults from the environment. */
static const char *or_environment(const char *value, const char *name, const char *otherwise) {
    const char *set = getenv(name);
    return value ? value : set && set[0] ? set : otherwise;
}

static int32_t check(const struct jobs_options *values, const struct action **ret_action, struct kerf_error *err) {
    if (values->words.count == 0)
        return kerf_error_set(err, KERF_EINVALID, "the action is missing, such as `kerf jobs list`");
    const struct action *action = find(values->words.items[0], err);
    if (action == NULL) return err->code;
    if (action->words && values->words.count > action->words)
        return kerf_error_set(err, KERF_EINVALID, "`kerf jobs %s` takes no argument '%.64s'", action->name,
                              values->words.items[action->words]);
    *ret_action = action;
    return KERF_OK;
}

static int act(const struct jobs_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    const struct action *action = NULL;
    struct jobs_request request = {.options = values};
    const struct http_options http = {.url = or_environment(values->server, "KERF_SERVER", "http://127.0.0.1:8000"),
                                      .token = or_environment(values->token, "KERF_TOKEN", NULL),
                                      .ca = or_environment(values->ca, "KERF_CA", NULL),
                                      .timeout_s = values->timeout_s};
    int32_t code = check(values, &action, &err);
    if (code == KERF_OK && action && !action->alone) code = http_open(&http, &request.client, &err);
    int status = code == KERF_OK && action ? action->act(&request) : jobs_fail(&err);
    http_close(request.client);
    kerf_text_free(&request.answer.body);
    return status;
}

static int run(int argc, char **argv) {
    struct jobs_options values = {.format = render_usual,
                                  .store = "kerf.db",
                                  .timeout_s = 30,
                                  .meter = "auto",
                                  .grace_s = 30,
                                  .limit = -1,
                                  .batch_size = INT64_MIN,
                                  .trial = INT64_MIN,
                                  .epoch = INT64_MIN,
                                  .time_s = NAN,
                                  .energy_j = NAN,
                                  .metric = NAN,
                                  .power_w = NAN};
    int status = cli_parse(&jobs_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = act(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command jobs_cli = {&table, run};
