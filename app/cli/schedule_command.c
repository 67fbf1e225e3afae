/* SPDX-License-Identifier: Apache-2.0 */
/* kerf schedule: makes pipeline schedules, simulates them and says what they cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/error_fill.h"
#include "base/input.h"
#include "base/quantity.h"
#include "call/schedule_frontier.h"
#include "cli/command.h"
#include "cli/schedule_print.h"
#include "cli/terminal.h"

static int is(const char *value, const char *choice) { return strcmp(value, choice) == 0; }

struct schedule_options {
    struct schedule_values ask;
    struct string_list outputs;
    double from, to;
    const char *certificate, *recv, *format;
    int32_t list;
};

#define AT(field) .offset = offsetof(struct schedule_options, field)
#define SECONDS   .value = "TIME", .maximum = INFINITY
#define SHOWS     .uses = "SCHEDULE,compare,--plan"
static const struct option options[] = {
    SCHEDULE_OPTIONS(struct schedule_options, ask),
    {.name = "certificate",
     .type = OPTION_STRING,
     AT(certificate),
     .value = "FILE",
     .uses = "best",
     .help = "Write a proof of the lower bound, and the order, to FILE, for `kerf schedule verify`. For one answer, "
             "not for a comparison."},
    {.name = "from",
     .type = OPTION_DURATION,
     AT(from),
     SECONDS,
     SHOWS,
     .help = "Draw the timeline from here (default: its start)."},
    {.name = "to",
     .type = OPTION_DURATION,
     AT(to),
     SECONDS,
     SHOWS,
     .help = "Draw the timeline to here (default: its end)."},
    {.name = "list",
     .type = OPTION_FLAG,
     AT(list),
     .help = "Show the schedules with their constraints, bubble and memory."},
    {.name = "format",
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json,csv,torch,torch-comms,text,chrome,svg,png,pdf,html",
     .help = "What to print on standard output (default: table). torch is PyTorch's compute_only CSV, torch-comms its "
             "compute_comms; text is kerf's text form with every operation; chrome is a trace for Perfetto or "
             "chrome://tracing."},
    {.name = "recv",
     .type = OPTION_CHOICE,
     AT(recv),
     .value = "WHEN",
     .choices = "early,late",
     SHOWS,
     .help = "For torch-comms: early puts receives where PyTorch's own lowering puts them (default); late puts them "
             "right before the operation that needs them, as PyTorch since January 2026."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRINGS,
     AT(outputs),
     .value = "FILE",
     .help =
         "Write FILE too, in the format of its name: .svg .png .pdf .html draw the answer; .json .csv .txt (the table) "
         ".sched (the text form) hold it, and are then written instead of standard output, unless --format names "
         "another form (.csv and .json as --format says, where that is one). May be given several times; - is standard "
         "output."},
    {.name = NULL},
};

static const char *const examples[] = {
    "What 1F1B costs on eight devices",
    "kerf schedule 1f1b --devices 8 --microbatches 32",
    "Zero bubble with your own times, as a page that you can zoom into",
    "kerf schedule zb_h1 -p 8 -m 32 --forward 1 --backward-input 1.1 --backward-weight 0.8 --p2p 0.05 -o zb_h1.html",
    "Which schedule is best, with the same devices, layers and micro-batches",
    "kerf schedule compare 1f1b interleaved_1f1b zb_h1 dualpipe -p 8 -m 32 --chunks 2",
    "How much time more memory saves",
    "kerf schedule compare zb_1p best -p 8 -m 16 --p2p 0.5 --memory-cap 8..16 -o frontier.svg",
    "The pipeline of the best plan, beside other schedules",
    "kerf schedule --plan plan.json --compare zb_h1,zb_v -o pipeline.html",
    "The times of a measured run",
    "kerf schedule fit traces/ -o times.json",
    "The same times with another schedule, drawn below the trace",
    "kerf schedule zb_h1 --trace traces/ -o both.html",
    "A proof that no order is shorter, and its check",
    "kerf schedule best -p 8 -m 16 --memory-cap 8 --certificate proof.txt && kerf schedule verify proof.txt",
    "A schedule file for PyTorch",
    "kerf schedule zb_v -p 4 -m 8 --format torch -o zb_v.csv",
    NULL,
};

static const struct command_use uses[] = {{"SCHEDULE", "[SCHEDULE|FILE]"},
                                          {"compare", "compare SCHEDULE|FILE..."},
                                          {"fit", "fit DIR"},
                                          {"--plan", "--plan FILE"},
                                          {"verify", "verify FILE"},
                                          {"--list", "--list"},
                                          {NULL, NULL}};

static int is_use(const void *context, const char *use) {
    const struct schedule_options *values = context;
    const struct string_list *names = &values->ask.names;
    const char *first = values->list ? "--list" : names->count && !values->ask.plan ? names->items[0] : "";
    if (values->list || is(first, "fit") || is(first, "verify")) return is(first, use);
    return schedule_question_is_use(&values->ask, use);
}

static const struct command_exit exits[] = {
    {"0", "answered"},
    {"1", "no schedule keeps within --memory-cap; the nearest one is named"},
    {"2", "bad usage or input"},
    {"3", "failed while running"},
    {"130", "interrupted with Ctrl-C; the results so far were printed"},
    {NULL, NULL},
};

static const struct command table = {
    .name = "schedule",
    .summary = "what a pipeline schedule costs in time and memory, by simulation",
    .description =
        "Makes the schedule by its rule, simulates every operation with the given times, and prints how long a step "
        "takes, how idle the devices are by three definitions, how much memory the activations take, and a lower bound "
        "for every order of the same operations.\n\n"
        "`kerf schedule --list` shows the schedules. FILE is a schedule of your own: PyTorch's schedule CSV (.csv), or "
        "the "
        "text form that docs/schedule-files.md describes. `compare` gives several schedules the same devices, layers "
        "and micro-batches. The given times are then those of all stages of a device together: each stage of a "
        "schedule with v chunks takes a v-th of them, and arrays of --times are summed or split to match the number of "
        "stages. "
        "`--plan` simulates the pipeline of a plan. "
        "`fit` reads a trace, a measured run, and prints how long its operations and messages took; -o writes these "
        "times "
        "as a file for --times. "
        "`verify` checks the proof that --certificate wrote, without any code of the search.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct schedule_options, ask.names),
    .uses = uses,
    .is_use = is_use,
    .exits = exits,
};

static int32_t missing(const char *what, const char *example, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID, "%s is missing, such as %s; `kerf help schedule` tells more", what,
                          example);
}

/* ---- From the answers to what is printed ------------------------------------------------------------------ */

static const struct render_format formats[] = {
    {.name = "table", .ending = "txt"},
    {.name = "json", .ending = "json"},
    {.name = "csv", .ending = "csv"},
    {.name = "torch", .ending = "csv"},
    {.name = "torch-comms", .ending = "csv"},
    {.name = "text", .ending = "sched"},
    {.name = "chrome", .ending = "json"},
    RENDER_PICTURES,
    {.name = NULL},
};

static int32_t write_one(const struct schedule_answers *answers, struct kerf_text *out, const char *format,
                         struct kerf_error *err) {
    const struct schedule_answer *answer = &answers->items[0];
    if (is(format, "text")) return kerf_schedule_text(out, answer->schedule, err);
    if (is(format, "chrome")) return kerf_schedule_chrome(out, answer->schedule, answer->times, answer->timeline, err);
    return kerf_schedule_torch(out, answer->schedule,
                               is(format, "torch")      ? KERF_TORCH_COMPUTE
                               : answers->late_receives ? KERF_TORCH_COMMS_LATE
                                                        : KERF_TORCH_COMMS,
                               err);
}

static int32_t write_answers(void *context, struct kerf_text *out, const struct render_format *format,
                             const struct render_style *style, struct kerf_error *err) {
    const struct schedule_answers *answers = context;
    if (format->is_picture) return schedule_picture(out, answers, format->picture, err);
    if (is(format->name, "json"))
        schedule_answers_json(out, answers);
    else if (is(format->name, "csv"))
        print_schedule_csv(out, answers);
    else if (is(format->name, "table"))
        print_schedule_table(out, answers, style);
    else
        return write_one(answers, out, format->name, err);
    return KERF_OK;
}

/* Whether a schedule keeps its cap; else the nearest miss is explained. */
static int within_cap(const struct schedule_answers *answers) {
    const struct schedule_answer *nearest = NULL;
    for (int32_t i = 0; i < answers->count; i++) {
        const struct schedule_answer *answer = &answers->items[i];
        if (answer->timeline == NULL) continue;
        if (answer->timeline->over_cap < 0) return 1;
        if (nearest == NULL || answer_peak(answer) < answer_peak(nearest)) nearest = answer;
    }
    if (nearest == NULL) return 1;
    int32_t device = nearest->timeline->over_cap;
    struct kerf_text held = {0};
    if (nearest->times->cap_in_bytes) {
        quantity_bytes(&held, nearest->timeline->peak_bytes[device]);
        kerf_text_add(&held, ", more than its cap of ");
        quantity_bytes(&held, nearest->times->cap[device]);
    } else {
        words_microbatches(&held, nearest->timeline->peak_activations[device], 6);
        kerf_text_printf(&held, ", more than its cap of %.6g", nearest->times->cap[device]);
    }
    fprintf(stderr, "kerf: %s holds %s on device %d\n", nearest->schedule->name, held.data ? held.data : "?", device);
    kerf_text_free(&held);
    return 0;
}

/* Refuses an option that no output uses, which would be ignored. */
static int32_t check_unused(const struct schedule_options *values, const struct schedule_question *question,
                            const struct render *render, struct kerf_error *err) {
    const char *part = !isnan(values->from) ? "--from" : !isnan(values->to) ? "--to" : NULL;
    const int is_several = schedule_question_is_several(question);
    const int has_table = render_writes(render, "table"), has_picture = render_writes(render, "picture");
    if (values->recv && !render_writes(render, "torch-comms"))
        return kerf_error_set(err, KERF_EINVALID, "--recv is only for --format torch-comms");
    if (values->to == 0) return kerf_error_set(err, KERF_EINVALID, "--to must lie behind the start, not at 0");
    if (!isnan(values->from) && !isnan(values->to) && !(values->from < values->to))
        return kerf_error_set(err, KERF_EINVALID, "--from %g must lie before --to %g", values->from, values->to);
    if (part && !has_table && !has_picture)
        return kerf_error_set(err, KERF_EINVALID, "%s is for tables and pictures; %s has the whole timeline", part,
                              values->format);
    if (part && !has_picture && (is_several || values->ask.no_ops))
        return kerf_error_set(err, KERF_EINVALID, "%s is of a timeline: there is none in %s", part,
                              is_several ? "the table of several schedules" : "a table with --no-ops");
    if (values->ask.no_ops && !has_table && !has_picture && !render_writes(render, "json") && !is_several)
        return kerf_error_set(err, KERF_EINVALID, "--no-ops is for tables and JSON; %s consists of operations",
                              values->format);
    return KERF_OK;
}

/* Formats of other programs: what they cannot hold is told before the search. */
static int32_t check_formats(const struct schedule_question *question, const struct render *render,
                             struct kerf_error *err) {
    static const char *const of_one[] = {"torch", "torch-comms", "text", "chrome"};
    int32_t code = KERF_OK;
    for (size_t i = 0; i < sizeof of_one / sizeof *of_one && code == KERF_OK; i++)
        if (render_writes(render, of_one[i]))
            code = schedule_question_check_format(question, of_one[i], strncmp(of_one[i], "torch", 5) == 0, err);
    return code;
}

/* The file of times may be for other schedules too. */
static void tell_ignored(const char *times, const struct schedule_answers *answers) {
    for (int32_t i = 0; i < answers->num_ignored; i++)
        fprintf(stderr, i ? ", %s" : "kerf: %s: ignored: %s", i ? answers->ignored[i] : times, answers->ignored[i]);
    if (answers->num_ignored > 0) fprintf(stderr, "\n");
}

/* What is missing of the trace, or was shifted in it: its times are those of the simulation. */
static void tell_notes(const char *path, const struct kerf_trace *trace) {
    const char *note = trace ? trace->notes : "";
    for (; *note; note += strcspn(note, "\n") + 1)
        fprintf(stderr, "kerf: %s: %.*s\n", path, (int)strcspn(note, "\n"), note);
}

/* Refuses a part that has nothing of any timeline. */
static int32_t check_part(const struct schedule_answers *answers, struct kerf_error *err) {
    double end_s = answers->trace ? answers->trace->timeline->makespan_s : 0;
    for (int32_t i = 0; i < answers->count; i++)
        if (answers->items[i].timeline) end_s = fmax(end_s, answers->items[i].timeline->makespan_s);
    if (answers->from == 0 || answers->from < end_s) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "--from %g lies behind the end of all, %g s", answers->from, end_s);
}

/* A plan of another version, or one that was edited, is simulated all the same. */
static void check_plan(const struct kerf_pipeline *pipeline, const struct schedule_answers *answers) {
    const struct kerf_timeline *timeline = answers->items[0].timeline;
    const double said_s = pipeline->makespan_s;
    if (said_s <= 0 || timeline == NULL || fabs(timeline->makespan_s - said_s) <= 1e-9 * said_s) return;
    fprintf(stderr, "kerf: the simulated pipeline takes %.10g s; the plan says %.10g s\n", timeline->makespan_s,
            said_s);
}

/* Refuses -o with the name of the certificate's file, or that file by another name as soon as it is there. */
static int32_t check_files(const struct schedule_options *values, struct kerf_error *err) {
    struct stat one, other;
    int exists = stat(values->certificate, &one) == 0;
    for (int32_t i = 0; i < values->outputs.count; i++) {
        const char *output = values->outputs.items[i];
        if (is(values->certificate, output) ||
            (exists && stat(output, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino))
            return kerf_error_set(err, KERF_EINVALID,
                                  "--certificate and -o name one file, %.200s, which holds either of them",
                                  values->certificate);
    }
    return KERF_OK;
}

/* The user should know before the search that a certificate cannot be written. */
static int32_t check_certificate(const struct schedule_options *values, const struct schedule_question *question,
                                 struct kerf_error *err) {
    if (values->certificate == NULL) return KERF_OK;
    if (schedule_question_is_several(question))
        return kerf_error_set(err, KERF_EINVALID, "--certificate is for one answer of best, not for several");
    int32_t code = check_files(values, err);
    return code == KERF_OK ? output_check(values->certificate, err) : code;
}

static int32_t write_certificate(const struct schedule_options *values, const struct schedule_answers *answers,
                                 struct kerf_error *err) {
    if (values->certificate == NULL || answers->items[0].schedule == NULL) return KERF_OK;
    const char *certificate = answers->items[0].schedule->certificate;
    struct kerf_text text = {0};
    kerf_text_add(&text, certificate ? certificate : "");
    int32_t code = output_file(values->certificate, &text, err);
    kerf_text_free(&text);
    return code == KERF_OK ? check_files(values, err) : code;
}

static int answer(const struct schedule_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct schedule_question question;
    struct schedule_answers answers = {.with_ops = !values->ask.no_ops,
                                       .late_receives = values->recv && is(values->recv, "late"),
                                       .from = isnan(values->from) ? 0 : values->from,
                                       .to = isnan(values->to) ? 0 : values->to};
    const struct render render = {formats, values->format, &values->outputs, write_answers, &answers};
    struct terminal_progress progress = {.what = "simulating"};
    int32_t code = schedule_question_read(&values->ask, &question, &err);
    if (code != KERF_OK) return cli_fail(&err);
    code = render_check(&render, &err);
    if (code == KERF_OK) code = check_unused(values, &question, &render, &err);
    if (code == KERF_OK) code = check_formats(&question, &render, &err);
    if (code == KERF_OK) code = check_certificate(values, &question, &err);
    answers.trace = question.trace;
    answers.trace_fit = question.trace_fit;
    interrupt_catch();
    if (code == KERF_OK)
        code = schedule_answers_make(
            &question, (struct call_progress){terminal_progress, &progress, terminal_progress_found}, &answers, &err);
    terminal_progress_end(&progress);
    if (code == KERF_OK && answers.frontier) schedule_frontier(&answers);
    if (code == KERF_OK && question.pipeline) check_plan(question.pipeline, &answers);
    if (code == KERF_OK) tell_ignored(question.times.file, &answers);
    if (code == KERF_OK) tell_notes(values->ask.trace, answers.trace);
    if (code == KERF_OK) code = check_part(&answers, &err);
    if (code == KERF_OK) code = write_certificate(values, &answers, &err);
    if (code == KERF_OK) code = render_all(&render, &err);
    int status = code != KERF_OK        ? cli_fail(&err)
                 : answers.interrupted  ? EXIT_INTERRUPTED
                 : within_cap(&answers) ? EXIT_ANSWERED
                                        : EXIT_NO_ANSWER;
    schedule_answers_free(&answers);
    schedule_question_free(&question);
    return status;
}

/* fit and verify take one name behind theirs. */
static int32_t check_one(const struct schedule_options *values, const char *what, const char *example,
                         struct kerf_error *err) {
    const struct string_list *names = &values->ask.names;
    if (names->count < 2) return missing(what, example, err);
    if (names->count == 2) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s takes %s, not also '%.64s'", names->items[0], what, names->items[2]);
}

/* ---- Fitting ---------------------------------------------------------------------------------------------- */

static const struct render_format plain_formats[] = {
    {.name = "table", .ending = "txt"}, {.name = "json", .ending = "json"}, {.name = NULL}};

struct measured {
    struct kerf_trace *trace;
    struct kerf_trace_fit *fit;
};

static int32_t write_fit(void *context, struct kerf_text *out, const struct render_format *format,
                         const struct render_style *style, struct kerf_error *err) {
    const struct measured *measured = context;
    (void)err;
    if (is(format->name, "json"))
        schedule_fit_json(out, measured->fit, measured->trace);
    else
        print_fit_table(out, measured->trace, measured->fit, style);
    return KERF_OK;
}

static int fit(const struct schedule_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct measured measured = {NULL, NULL};
    const struct render render = {plain_formats, values->format, &values->outputs, write_fit, &measured};
    int32_t code = check_one(values, "the folder of a trace", "kerf schedule fit traces/", &err);
    if (code == KERF_OK && !is(values->format, "table") && !is(values->format, "json"))
        code = kerf_error_set(&err, KERF_EINVALID, "fit prints a table or json, not %s", values->format);
    if (code == KERF_OK) code = render_check(&render, &err);
    if (code == KERF_OK)
        code = kerf_trace_load(values->ask.names.items[1], (int32_t)values->ask.trace_step, &measured.trace, &err);
    if (code == KERF_OK) code = kerf_trace_fit_make(measured.trace, &measured.fit, &err);
    if (code == KERF_OK && !render_writes(&render, "table")) tell_notes(values->ask.names.items[1], measured.trace);
    if (code == KERF_OK) code = render_all(&render, &err);
    kerf_trace_fit_free(measured.fit);
    kerf_trace_free(measured.trace);
    return code == KERF_OK ? EXIT_ANSWERED : cli_fail(&err);
}

/* ---- Verifying -------------------------------------------------------------------------------------------- */

static int32_t verify_file(const char *path, struct kerf_schedule_verdict *ret_verdict, struct kerf_error *err) {
    enum { BYTES_MAX = 512 << 20 };
    struct kerf_text text = {0};
    int32_t code = input_read(path, BYTES_MAX, &text, err);
    if (code == KERF_OK) code = kerf_schedule_verify(text.data ? text.data : "", text.length, path, ret_verdict, err);
    kerf_text_free(&text);
    return code;
}

static void print_verdict_json(struct kerf_text *out, const struct kerf_schedule_verdict *verdict) {
    struct kerf_json json;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_boolean(&json, "verified", 1);
    kerf_json_string(&json, "objective", verdict->objective == KERF_OBJECTIVE_SPAN ? "span" : "makespan");
    kerf_json_integer(&json, "devices", verdict->devices);
    kerf_json_integer(&json, "stages", verdict->stages);
    kerf_json_integer(&json, "microbatches", verdict->microbatches);
    kerf_json_number(&json, "lower_bound_s", verdict->bound_s);
    if (!isnan(verdict->takes_s)) kerf_json_number(&json, "order_s", verdict->takes_s);
    kerf_json_boolean(&json, "optimal", verdict->optimal);
    kerf_json_integer(&json, "steps", verdict->steps);
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}

static int32_t write_verdict(void *context, struct kerf_text *out, const struct render_format *format,
                             const struct render_style *style, struct kerf_error *err) {
    (void)err;
    if (is(format->name, "json"))
        print_verdict_json(out, context);
    else
        print_verdict_table(out, context, style->columns);
    return KERF_OK;
}

static int verify(const struct schedule_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_schedule_verdict verdict = {0};
    const struct render render = {plain_formats, values->format, &values->outputs, write_verdict, &verdict};
    int32_t code = check_one(values, "a certificate", "kerf schedule verify proof.txt", &err);
    if (code == KERF_OK && !is(values->format, "table") && !is(values->format, "json"))
        code = kerf_error_set(&err, KERF_EINVALID, "verify prints a table or json, not %s", values->format);
    if (code == KERF_OK) code = render_check(&render, &err);
    if (code == KERF_OK) code = verify_file(values->ask.names.items[1], &verdict, &err);
    if (code == KERF_OK) code = render_all(&render, &err);
    return code == KERF_OK ? EXIT_ANSWERED : cli_fail(&err);
}

/* ---- Listing ---------------------------------------------------------------------------------------------- */

static int32_t write_list(void *context, struct kerf_text *out, const struct render_format *format,
                          const struct render_style *style, struct kerf_error *err) {
    (void)context, (void)err;
    if (is(format->name, "json"))
        print_schedule_list_json(out);
    else
        print_schedule_list(out, style->columns);
    return KERF_OK;
}

static int list(const struct schedule_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    const struct render render = {plain_formats, values->format, &values->outputs, write_list, NULL};
    int32_t code = KERF_OK;
    if (!is(values->format, "table") && !is(values->format, "json"))
        code = kerf_error_set(&err, KERF_EINVALID, "--list prints a table or json, not %s", values->format);
    if (code == KERF_OK && values->ask.names.count > 0)
        code = kerf_error_set(&err, KERF_EINVALID, "--list shows all schedules, not '%.64s' alone",
                              values->ask.names.items[0]);
    if (code == KERF_OK) code = render_check(&render, &err);
    if (code == KERF_OK) code = render_all(&render, &err);
    return code == KERF_OK ? EXIT_ANSWERED : cli_fail(&err);
}

static int run(int argc, char **argv) {
    struct schedule_options values = {.ask = SCHEDULE_VALUES, .from = NAN, .to = NAN, .format = render_usual};
    int status = cli_parse(&schedule_cli, argc, argv, &values);
    if (status >= 0) return status;
    values.ask.wants_certificate = values.certificate != NULL;
    int fits = values.ask.names.count > 0 && values.ask.plan == NULL && is(values.ask.names.items[0], "fit");
    int verifies = values.ask.names.count > 0 && values.ask.plan == NULL && is(values.ask.names.items[0], "verify");
    status = values.list ? list(&values) : fits ? fit(&values) : verifies ? verify(&values) : answer(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command schedule_cli = {&table, run};
