/* SPDX-License-Identifier: Apache-2.0 */
/* kerf calibrate: constants of one's own site from a few runs, or every constant from a corpus. */
#include <math.h>
#include <string.h>
#include "call/calibrate_question.h"
#include "call/score_question.h"
#include "cli/cells.h"
#include "cli/command.h"
#include "cli/launch_file.h"
#include "cli/terminal.h"

struct calibrate_options {
    struct calibrate_values ask;
    const char *output, *predictions, *launch;
};

#define AT(field) .offset = offsetof(struct calibrate_options, field)
static const struct option options[] = {
    {.name = "system",
     .letter = 's',
     .type = OPTION_STRING,
     AT(ask.system),
     .value = "SYSTEM",
     .help = "The site's hardware: a name from `kerf systems`. Rows of others are passed over."},
    {.name = "stack",
     .type = OPTION_STRING,
     AT(ask.stack),
     .value = "STACK",
     .help = "The site's software: a name from `kerf stacks` (default: the stack of each row's framework)."},
    {.name = "calibration",
     .type = OPTION_STRING,
     AT(ask.calibration),
     .value = "FILE",
     .help = "Start from what `kerf calibrate` wrote before (default: the constants that come with kerf)."},
    {.name = "without-set",
     .type = OPTION_STRING,
     AT(ask.without_set),
     .value = "NAME",
     .help = "Start from constants that were fitted without the data set NAME: what a site of its own could expect. "
             "With --all: leave its rows out."},
    {.name = "all",
     .type = OPTION_FLAG,
     AT(ask.all),
     .help = "Fit every constant of all systems and stacks, as those that come with kerf were made."},
    {.name = "folds",
     .type = OPTION_INTEGER,
     AT(ask.folds),
     .value = "N",
     .minimum = 2,
     .maximum = 100,
     .help = "With --all and --predictions: predict each row by constants that were fitted without its group (model, "
             "gpus, seq, precision), in N folds."},
    {.name = "leave-set-out",
     .type = OPTION_FLAG,
     AT(ask.leave_set_out),
     .help = "With --all and --predictions: predict each row by constants that were fitted without its data set."},
    {.name = "log",
     .type = OPTION_STRING,
     AT(ask.log),
     .value = "FILE",
     .help = "Also, or instead of a table, take the step times of a log of Megatron-LM, NeMo, torchtitan or nanotron; "
             "--launch says what ran, or --model, --layout and --global-batch."},
    {.name = "launch",
     .type = OPTION_STRING,
     AT(launch),
     .value = "FILE",
     .help = "The launch script or config of the log's run (kerf help launch)."},
    MEASURED_RUN_OPTIONS(struct calibrate_options, ask.run),
    {.name = "predictions",
     .type = OPTION_STRING,
     AT(predictions),
     .value = "FILE",
     .help = "Where the predictions of --folds or --leave-set-out go, as CSV."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRING,
     AT(output),
     .value = "FILE",
     .help = "Where the constants go, as JSON for --calibration."},
    {.name = NULL},
};

static const char *const examples[] = {
    "Constants of one's own site from five runs",
    "kerf calibrate few.csv --system h100 -o site.json",
    "The same from the log of one run",
    "kerf calibrate --log train.log --launch train.sh --system h100 -o site.json",
    "The same without its script",
    "kerf calibrate --log train.log --model llama3_70b --layout tp=8,pp=4,dp=16 -b 1024 --system h100 -o site.json",
    "Predict with them",
    "kerf score rest.csv --calibration site.json",
    "Every constant, and each row predicted by constants that never saw its group",
    "kerf calibrate runs.csv --all --folds 3 --predictions apart.csv -o all.json",
    NULL,
};

static const struct command table = {
    .name = "calibrate",
    .summary = "fits the model's constants to measured runs",
    .arguments = "[RUNS.csv]",
    .description =
        "From a few runs of one site it fits how fast computing, attention, memory traffic, network, overlap and host "
        "are there, each held by a prior: five rows move a constant only as far as they prove. It prints how far each "
        "moved, how much the runs tell of it, and the error before and after; the error after is that of each run by a "
        "fit without it.\n\n"
        "With --all it fits every constant to a corpus. docs/accuracy.md has what came of it.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct calibrate_options, ask.tables),
};

static void print_knobs(struct kerf_text *out, const struct fit_report *report) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 0}, {1, 1}};
    struct kerf_text cells = {0};
    kerf_text_add(&cells, "constant\tmoved\tthe runs tell\truns\n");
    for (int32_t k = 0; k < report->count; k++) {
        const struct fit_knob *knob = &report->knobs[k];
        if (knob->evidence < 0.005 && fabs(log(knob->factor)) < 0.005) continue;
        kerf_text_printf(&cells, "%s\tx %.3f\t%.0f %%\t%d\n", knob->name, knob->factor, 100 * fmax(knob->evidence, 0),
                         knob->rows);
    }
    terminal_table(out, &cells, columns, terminal_columns(), terminal_colour(), -1);
    kerf_text_free(&cells);
}

static void print_answer(struct kerf_text *out, const struct calibrate_options *values,
                         const struct calibrate_answer *answer) {
    const struct calibration *c = answer->calibration;
    if (values->ask.log)
        kerf_text_printf(out, "%s: %d steps of %s, median %.4g %s, two thirds within %.1f %%\n", values->ask.log,
                         answer->log.steps, answer->log.framework,
                         isnan(answer->log.step_s) ? answer->log.tokens_per_s : answer->log.step_s,
                         isnan(answer->log.step_s) ? "tokens/s an accelerator" : "s", 100 * answer->log.deviation);
    print_knobs(out, &c->times);
    if (values->ask.all) print_knobs(out, &c->memory);
    if (values->ask.all && isnan(c->error_after))
        kerf_text_printf(out, "%d runs of %d data sets\n", c->rows, c->num_sets);
    else if (values->ask.all)
        kerf_text_printf(out, "%d runs of %d data sets; %.1f %% off where a run's group was left out of the fit\n",
                         c->rows, c->num_sets, 100 * c->error_after);
    else
        kerf_text_printf(out, "%d run%s: %.1f %% off before, %.1f %% after (each by a fit without it)%s\n", c->rows,
                         c->rows == 1 ? "" : "s", 100 * c->error_before, 100 * c->error_after,
                         c->is_kept ? ": these runs do not make it better, and nothing was changed" : "");
    if (c->refused) kerf_text_printf(out, "%d rows were passed over\n", c->refused);
    terminal_plain(out);
}

static int32_t write_predictions(const char *path, const struct calibrate_answer *answer, struct kerf_error *err) {
    struct kerf_text text = {0};
    score_predictions_csv(&text, answer->runs, answer->predictions);
    int32_t code = output_file(path, &text, err);
    kerf_text_free(&text);
    return code;
}

static int32_t write_constants(const char *path, const struct calibrate_answer *answer, struct kerf_error *err) {
    struct kerf_text text = {0};
    struct kerf_json json;
    kerf_json_begin(&json, &text);
    calibrate_answer_json(&json, answer);
    kerf_text_add(&text, "\n");
    int32_t code = output_file(path, &text, err);
    kerf_text_free(&text);
    return code;
}

static int32_t answer(const struct calibrate_options *values, struct kerf_text *out, struct kerf_error *err) {
    struct calibrate_answer made;
    int apart = values->ask.folds || values->ask.leave_set_out;
    if (apart != (values->predictions != NULL))
        return kerf_error_set(err, KERF_EINVALID,
                              apart ? "--predictions is missing: where the predictions go"
                                    : "--predictions is for --folds or --leave-set-out");
    struct calibrate_values ask = values->ask;
    struct kerf_launch *launch = NULL;
    int32_t code = values->predictions ? output_check(values->predictions, err) : KERF_OK;
    if (code == KERF_OK && values->output) code = output_check(values->output, err);
    if (code == KERF_OK && values->launch) code = launch_file_read(values->launch, NULL, NULL, 0, &launch, err);
    ask.run.launch = launch;
    struct terminal_progress progress = {.what = "fitting"};
    interrupt_catch();
    ask.watch = (struct fit_watch){.tell = terminal_progress, .context = &progress};
    if (code == KERF_OK) code = calibrate_answer_make(&ask, !apart || values->output, &made, err);
    terminal_progress_end(&progress);
    if (code == KERF_OK && launch) launch_file_notes(values->launch, launch);
    kerf_launch_free(launch);
    if (code != KERF_OK) return code;
    if (values->predictions) code = write_predictions(values->predictions, &made, err);
    if (code == KERF_OK && values->output) code = write_constants(values->output, &made, err);
    if (code == KERF_OK && made.calibration->rows) print_answer(out, values, &made);
    calibrate_answer_free(&made);
    return code;
}

static int run(int argc, char **argv) {
    struct calibrate_options values = {.ask = CALIBRATE_VALUES};
    struct kerf_error err;
    struct kerf_text out = {0};
    int status = cli_parse(&calibrate_cli, argc, argv, &values);
    if (status >= 0) return status;
    int32_t code = answer(&values, &out, &err);
    options_free(&table, &values);
    if (code == KERF_OK) return output_print(&out);
    kerf_text_free(&out);
    if (code == KERF_EINTERRUPTED) return EXIT_INTERRUPTED;
    return cli_fail(&err);
}

const struct cli_command calibrate_cli = {&table, run};
