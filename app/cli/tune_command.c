/* SPDX-License-Identifier: Apache-2.0 */
/* kerf tune: the fastest setting of a program, found by running it. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/amounts.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/tune_print.h"

struct tune_options {
    struct kerf_strings params, wheres, words, outputs;
    const char *defaults, *prefer, *within, *margin, *confidence, *policy;
    const char *objective, *protocol, *prepare, *cleanup, *launcher, *interference;
    const char *budget, *load_timeout, *trial_timeout, *memory_cap, *study, *format;
    int64_t warmups, seed, slots, max_observations;
    int32_t minimize, maximize, resume, no_journal, fresh, show_output;
};

#define AT(field) .offset = offsetof(struct tune_options, field)
static const struct kerf_option options[] = {
    {.name = "param",
     .letter = 'p',
     .type = KERF_OPTION_STRINGS,
     AT(params),
     .value = "NAME=VALUES",
     .help = "A parameter, which stands as {NAME} in COMMAND: batch=16..2048:x2 (times 2), threads=1..16, "
             "layers=0..32:+8, kv=f16,q8_0 (a choice), or map?=--no-mmap (these words or nothing)."},
    {.name = "where",
     .letter = 'w',
     .type = KERF_OPTION_STRINGS,
     AT(wheres),
     .value = "CONDITION",
     .help = "Settings that are allowed: 'ubatch <= batch && batch * seqs < 4096'. May be given several times."},
    {.name = "default",
     .letter = 'd',
     .type = KERF_OPTION_STRING,
     AT(defaults),
     .value = "SETTING",
     .help =
         "What is used today, such as batch=2048,ubatch=512: it is measured first, and the gain is told against it."},
    {.name = "prefer",
     .type = KERF_OPTION_STRING,
     AT(prefer),
     .value = "ORDER",
     .help =
         "Of the settings that are within the margin recommend the first in this order: smaller:ubatch,batch; lists "
         "are joined by ';'."},
    {.name = "within",
     .type = KERF_OPTION_STRING,
     AT(within),
     .value = "SHARE",
     .help = "How near to the best of all settings the answer is to be (default: 3%)."},
    {.name = "margin",
     .type = KERF_OPTION_STRING,
     AT(margin),
     .value = "SHARE",
     .help = "What is as good, for --prefer and the list of equivalent settings (default: 5%)."},
    {.name = "confidence",
     .type = KERF_OPTION_STRING,
     AT(confidence),
     .value = "SHARE",
     .help = "With which probability, and of the intervals (default: 95%)."},
    {.name = "objective",
     .type = KERF_OPTION_STRING,
     AT(objective),
     .value = "WHAT",
     .help = "What is to be least (default: wall): wall or cpu (seconds), memory (bytes at the peak), regex:EXPRESSION "
             "(its first group, of the last match in the output), json:PATH (into the last JSON value of the output), "
             "or value (what a worker says, no time)."},
    {.name = "minimize", .type = KERF_OPTION_FLAG, AT(minimize), .help = "Less is better, which is the default."},
    {.name = "maximize", .type = KERF_OPTION_FLAG, AT(maximize), .help = "More is better."},
    {.name = "protocol",
     .type = KERF_OPTION_CHOICE,
     AT(protocol),
     .value = "HOW",
     .choices = "exit,lines,worker,llama-bench",
     .help =
         "How COMMAND is measured (default: exit): exit: from its start to its end; lines: each line of its output is "
         "a sample; worker: it is started once and asked on its standard input; llama-bench: by its JSON lines."},
    {.name = "policy",
     .type = KERF_OPTION_CHOICE,
     AT(policy),
     .value = "NAME",
     .choices = "kerf,race,exhaustive,random,best_bub,null",
     .help = "What decides (default: kerf). The others are for comparison; race is for settings without any order."},
    {.name = "warmup",
     .type = KERF_OPTION_INTEGER,
     AT(warmups),
     .value = "N",
     .minimum = 0,
     .maximum = 1000,
     .help = "Measurements at the beginning that only warm up (default: 0)."},
    {.name = "prepare",
     .type = KERF_OPTION_STRING,
     AT(prepare),
     .value = "COMMAND",
     .help = "For the shell before each measurement, and not measured: 'sync; echo 3 > /proc/sys/vm/drop_caches'."},
    {.name = "cleanup",
     .type = KERF_OPTION_STRING,
     AT(cleanup),
     .value = "COMMAND",
     .help = "For the shell after each measurement, and when kerf is interrupted."},
    {.name = "budget",
     .letter = 'b',
     .type = KERF_OPTION_STRING,
     AT(budget),
     .value = "TIME",
     .help = "When to stop in any case, such as 10m (default: never)."},
    {.name = "max-observations",
     .type = KERF_OPTION_INTEGER,
     AT(max_observations),
     .value = "N",
     .minimum = 1,
     .maximum = 1000000,
     .help = "How many measurements at most (default: what the policy finds useful)."},
    {.name = "load-timeout",
     .type = KERF_OPTION_STRING,
     AT(load_timeout),
     .value = "TIME",
     .help = "Until a worker is ready, or the first line of its output (default: 10m)."},
    {.name = "trial-timeout",
     .type = KERF_OPTION_STRING,
     AT(trial_timeout),
     .value = "TIME",
     .help = "Of one measurement from then on; a longer one hangs (default: ten times the longest one seen, and at "
             "least a minute; an hour for the first)."},
    {.name = "memory-cap",
     .type = KERF_OPTION_STRING,
     AT(memory_cap),
     .value = "SIZE",
     .help = "Memory that a measurement may take with its children, such as 16GiB (default: what there is)."},
    {.name = "interference",
     .type = KERF_OPTION_CHOICE,
     AT(interference),
     .value = "WHAT",
     .choices = "remeasure,ignore",
     .help = "When something else kept the machine busy: measure again (default), or do not look."},
    {.name = "slots",
     .type = KERF_OPTION_INTEGER,
     AT(slots),
     .value = "N",
     .minimum = 1,
     .maximum = 256,
     .help = "Measurements at a time (default: 1): with --launcher, which brings each to a machine of its own."},
    {.name = "launcher",
     .type = KERF_OPTION_STRING,
     AT(launcher),
     .value = "WORDS",
     .help = "Words before COMMAND, such as 'srun --exclusive -n1'."},
    {.name = "seed",
     .type = KERF_OPTION_INTEGER,
     AT(seed),
     .value = "N",
     .minimum = 0,
     .maximum = 9007199254740991,
     .help = "Of the policy's random numbers (default: 0)."},
    {.name = "study",
     .type = KERF_OPTION_STRING,
     AT(study),
     .value = "NAME",
     .help = "The study's name in `kerf studies` "
             "(default: one made of the time)."},
    {.name = "resume",
     .type = KERF_OPTION_FLAG,
     AT(resume),
     .help = "Go on with --study NAME, or with the newest study, where it was: nothing else has to be said again."},
    {.name = "fresh",
     .type = KERF_OPTION_FLAG,
     AT(fresh),
     .help = "Use nothing of earlier studies of the same command, files and machine."},
    {.name = "no-journal", .type = KERF_OPTION_FLAG, AT(no_journal), .help = "Keep nothing of this study."},
    {.name = "show-output",
     .type = KERF_OPTION_FLAG,
     AT(show_output),
     .help = "What COMMAND prints goes on to standard error."},
    {.name = "format",
     .letter = 'f',
     .type = KERF_OPTION_CHOICE,
     AT(format),
     .value = "FORM",
     .choices = "table,json,csv,markdown",
     .help = "What is printed (default: table)."},
    {.name = "output",
     .letter = 'o',
     .type = KERF_OPTION_STRINGS,
     AT(outputs),
     .value = "FILE",
     .help =
         "Write FILE too, in the format of its name: .svg .png .pdf .html draw the surface; .json .csv .md .txt hold "
         "the answer, and are then written instead of standard output. May be given several times."},
    {.name = NULL},
};

static const char *const examples[] = {
    "Batch and micro-batch of a benchmark",
    "kerf tune -p batch=16..2048:x2 -p ubatch=2..2048:x2 -w 'ubatch <= batch' -d batch=2048,ubatch=512 "
    "--prefer smaller:ubatch,batch -- ./bench -b {batch} -ub {ubatch}",
    "Threads and a compiler's flag, ten minutes at most",
    "kerf tune -p threads=1..16 -p 'lto?=-flto' --budget 10m -- make -j{threads} CFLAGS={lto}",
    "Tokens per second that a program prints",
    "kerf tune -p batch=1..64:x2 --objective 'regex:([0-9.]+) tokens/s' --maximize -- ./serve --batch {batch}",
    "Where it was",
    "kerf tune --resume",
    NULL,
};

static const struct kerf_command table = {
    .name = "tune",
    .summary = "the fastest setting of a program, found in few runs",
    .arguments = "-- COMMAND...",
    .description =
        "Runs COMMAND with one setting after the other, and decides by what it saw which to measure next, until the "
        "answer is within --within of the best of all settings with the probability --confidence. It then says so in "
        "words: the setting, the gain over the default, what is as good, and how many measurements it took.\n\n"
        "Every measurement is a fresh run, or a fresh context of a worker (docs/workers.md). Those that something else "
        "disturbed are made again. Each is in a journal before the next begins: `kerf studies` lists them, --resume "
        "goes on after whatever happened.\n\n"
        "Ends with 0 when it is confident, 1 when the time was spent or the machine too noisy, 130 after Ctrl-C, which "
        "prints what is known, 3 when nothing could be measured.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct tune_options, words),
};

/* ---- From the options to the plan ---------------------------------------------------------------------------- */

static int32_t read_shares(const struct tune_options *values, struct study_request *request, struct kerf_error *err) {
    int32_t code = KERF_OK;
    if (values->within) code = amount_of_share("--within", values->within, &request->within, err);
    if (code == KERF_OK && values->margin) code = amount_of_share("--margin", values->margin, &request->margin, err);
    if (code == KERF_OK && values->confidence)
        code = amount_of_share("--confidence", values->confidence, &request->confidence, err);
    return code;
}

static int32_t read_times(const struct tune_options *values, struct study_request *request, struct kerf_error *err) {
    int32_t code = KERF_OK;
    if (values->load_timeout)
        code = amount_of_time("--load-timeout", values->load_timeout, &request->load_timeout_s, err);
    if (code == KERF_OK && values->trial_timeout)
        code = amount_of_time("--trial-timeout", values->trial_timeout, &request->trial_timeout_s, err);
    return code;
}

static int32_t read_memory_cap(const struct tune_options *values, struct study_request *request,
                               struct kerf_error *err) {
    struct kerf_error why;
    double bytes;
    if (values->memory_cap == NULL) return KERF_OK;
    if (kerf_quantity_parse(values->memory_cap, "B", &bytes, &why) != KERF_OK || !(bytes >= 1 && bytes < 0x1p62))
        return kerf_error_set(err, KERF_EINVALID, "--memory-cap '%.64s' must be a size such as 16GiB",
                              values->memory_cap);
    request->memory_cap_bytes = (int64_t)bytes;
    return KERF_OK;
}

static int32_t read_request(const struct tune_options *values, struct study_request *request, struct kerf_error *err) {
    study_request_defaults(request);
    request->params = values->params;
    request->wheres = values->wheres;
    request->words = values->words;
    request->defaults = values->defaults;
    request->prefer = values->prefer;
    if (values->policy) request->policy = values->policy;
    if (values->objective) request->objective = values->objective;
    if (values->protocol) request->protocol = values->protocol;
    request->prepare = values->prepare;
    request->cleanup = values->cleanup;
    request->launcher = values->launcher;
    request->max_observations = values->max_observations;
    request->seed = values->seed;
    request->maximize = values->maximize;
    request->slots = (int32_t)values->slots;
    request->warmups = (int32_t)values->warmups;
    request->ignore_interference = strcmp(values->interference, "ignore") == 0;
    request->show_output = values->show_output;
    if (values->minimize && values->maximize)
        return kerf_error_set(err, KERF_EINVALID, "--minimize and --maximize exclude each other");
    if (values->params.count == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--param is missing, such as --param batch=16..2048:x2; `kerf help tune` tells more");
    if (values->words.count == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "the command is missing, such as -- ./bench -b {batch}; `kerf help tune` tells more");
    int32_t code = read_shares(values, request, err);
    if (code == KERF_OK) code = read_times(values, request, err);
    return code == KERF_OK ? read_memory_cap(values, request, err) : code;
}

/* The study to go on with: the one that was named, or the newest. */
static int32_t read_resumed(const struct tune_options *values, struct study_record **ret_record,
                            struct kerf_error *err) {
    struct kerf_strings ids = {0};
    if (values->params.count || values->words.count)
        return kerf_error_set(err, KERF_EINVALID,
                              "--resume goes on with what the study was asked: leave out --param and COMMAND");
    if (values->study) return study_record_read(values->study, ret_record, err);
    int32_t code = study_ids(&ids, err);
    if (code == KERF_OK && ids.count == 0) code = kerf_error_set(err, KERF_EUNKNOWN, "there is no study to go on with");
    if (code == KERF_OK) code = study_record_read(ids.items[0], ret_record, err);
    study_ids_free(&ids);
    return code;
}

/* ---- Running it ---------------------------------------------------------------------------------------------- */

static int status_of(const struct study_state *state) {
    if (state->journal_failed) return EXIT_FAILED;
    switch (state->stop) {
    case STUDY_CONFIDENT: return EXIT_ANSWERED;
    case STUDY_INTERRUPTED: return EXIT_INTERRUPTED;
    case STUDY_NOTHING: return EXIT_FAILED;
    default: return EXIT_NO_ANSWER;
    }
}

static int32_t run_and_report(const struct tune_options *values, const struct study_plan *plan, int *ret_status,
                              struct kerf_error *err) {
    struct tune_report report = {0};
    struct study_run *run = NULL;
    const struct render render = {tune_formats, values->format, &values->outputs, print_tune, &report};
    struct tune_live live = {.budget_s = plan->budget_s};
    struct study_plan shown = *plan;
    if (isatty(STDERR_FILENO)) {
        shown.show = tune_live_show;
        shown.show_context = &live;
    }
    int32_t code = render_check(&render, err);
    if (code == KERF_OK) code = study_run(&shown, &run, err);
    tune_live_end(&live);
    if (code == KERF_OK) code = tune_report_make(study_run_state(run), &report, err);
    if (code == KERF_OK) code = render_all(&render, err);
    if (code == KERF_OK) {
        *ret_status = status_of(report.state);
        if (report.state->journal_failed) fprintf(stderr, "kerf: %s\n", report.state->reason);
    }
    study_run_free(run);
    return code;
}

static int answer(const struct tune_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct study_request request;
    struct study_record *record = NULL;
    struct study_plan plan = {
        .keep_journal = !values->no_journal, .use_earlier = !values->fresh, .interrupted = interrupted};
    int status = EXIT_FAILED;
    interrupt_catch();
    plan.wake_fd = interrupt_fd();
    int32_t code = values->resume ? read_resumed(values, &record, &err) : read_request(values, &request, &err);
    if (code == KERF_OK && values->budget) code = amount_of_time("--budget", values->budget, &plan.budget_s, &err);
    if (code == KERF_OK) {
        plan.request = record ? &record->request : &request;
        plan.resumed = record;
        if (values->study && !record) snprintf(plan.id, sizeof plan.id, "%s", values->study);
        code = run_and_report(values, &plan, &status, &err);
    }
    study_record_free(record);
    return code == KERF_OK ? status : cli_fail(&err);
}

static int run(int argc, char **argv) {
    struct tune_options values = {.slots = 1, .interference = "remeasure", .format = "table"};
    int status = cli_parse(&tune_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = answer(&values);
    kerf_options_free(&table, &values);
    return status;
}

const struct cli_command tune_cli = {&table, run};
