/* SPDX-License-Identifier: Apache-2.0 */
/* kerf explain: a measured run beside the prediction of what ran: what is slower than it should be, and why. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/quantity.h"
#include "call/explain_question.h"
#include "cli/cells.h"
#include "cli/command.h"
#include "cli/launch_file.h"
#include "cli/plan_print.h"
#include "cli/terminal.h"

struct explain_options {
    struct explain_values ask;
    const char *format, *launch;
};

#define AT(field) .offset = offsetof(struct explain_options, field)
static const struct option options[] = {
    {.name = "launch",
     .type = OPTION_STRING,
     AT(launch),
     .value = "FILE",
     .help = "The launch script or config of the run (kerf help launch)."},
    MEASURED_RUN_OPTIONS(struct explain_options, ask.run),
    {.name = "system",
     .letter = 's',
     .type = OPTION_STRING,
     AT(ask.system),
     .value = "SYSTEM",
     .help = "The hardware: a name from `kerf systems` or a file."},
    {.name = "stack",
     .type = OPTION_STRING,
     AT(ask.stack),
     .value = "STACK",
     .help = "The software: a name from `kerf stacks` (default: that of the launch's or the log's "
             "framework)."},
    {.name = "calibration",
     .type = OPTION_STRING,
     AT(ask.calibration),
     .value = "FILE",
     .help = "Constants of the site that `kerf calibrate` wrote."},
    {.name = "format",
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json",
     .help = "How to print the answer (default: table)."},
    {.name = NULL},
};

static const char *const examples[] = {
    "Is this run as fast as it should be?",
    "kerf explain train.log --launch train.sh --system h100",
    "The same without its script",
    "kerf explain train.log --model llama3_70b --layout tp=8,pp=4,dp=16 --global-batch 1024 --system h100",
    "Where does the time of a traced pipeline go?",
    "kerf explain traces/ --launch train.sh --system h100",
    NULL,
};

static const struct command table = {
    .name = "explain",
    .summary = "what is slower in a measured run than it should be",
    .arguments = "LOG|TRACE",
    .description =
        "Puts a measured run beside the prediction of what ran. LOG is a log of Megatron-LM, NeMo, torchtitan or "
        "nanotron; "
        "where Megatron-LM printed its timers (--timing-log-level 1 or 2), part by part. TRACE is a file or folder of "
        "Megatron's or PyTorch's traces (kerf help schedule): passes and waiting of the pipeline.\n\n"
        "It says whether the run lies in the interval of 90 % of such runs, which part exceeds its prediction most, "
        "and what "
        "usually makes it so.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct explain_options, ask.runs),
};

static void print_answer(struct kerf_text *out, const struct explain_answer *answer) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 0}, {1, 0}, {0, TABLE_CUT}};
    const struct explanation *e = &answer->explanation;
    struct print_style style = {terminal_columns(), terminal_colour(), 0};
    struct kerf_text words = {0}, cells = {0};
    explain_words(&words, answer);
    table_words(out, &words, 0, &style);
    kerf_text_free(&words);
    if (e->count) {
        kerf_text_add(out, "\n");
        kerf_text_add(&cells, "part\tmeasured\tpredicted\tmore\tfrom\n");
        for (int32_t i = 0; i < e->count; i++) {
            const struct explain_row *row = &e->rows[i];
            double more_s = row->measured_s - row->predicted_s;
            kerf_text_printf(&cells, "%s\t", row->name);
            quantity_seconds(&cells, row->measured_s);
            kerf_text_add(&cells, "\t");
            quantity_seconds(&cells, row->predicted_s);
            kerf_text_add(&cells, more_s < 0 ? "\t-" : "\t");
            quantity_seconds(&cells, fabs(more_s));
            kerf_text_printf(&cells, "\t%s\n", row->from);
        }
        terminal_table(out, &cells, columns, style.columns, style.colour, -1);
        kerf_text_free(&cells);
    } else {
        kerf_text_add(
            &words,
            "The log has no timers: with --timing-log-level 2 Megatron-LM prints them, and kerf compares them.");
        kerf_text_add(out, "\n");
        table_words(out, &words, 0, &style);
        kerf_text_free(&words);
    }
    terminal_plain(out);
}

static int32_t answer(struct explain_options *values, struct kerf_text *out, struct kerf_error *err) {
    struct kerf_launch *launch = NULL;
    struct explain_answer *made = calloc(1, sizeof *made);
    if (made == NULL) return kerf_error_set(err, KERF_ENOMEM, "no memory for the answer");
    int32_t code = values->launch ? launch_file_read(values->launch, NULL, NULL, 0, &launch, err) : KERF_OK;
    values->ask.run.launch = launch;
    if (code == KERF_OK) code = explain_answer_make(&values->ask, made, err);
    if (code == KERF_OK && launch) launch_file_notes(values->launch, launch);
    if (code == KERF_OK) calibration_notes(&made->software, software_of_problems(&made->problem, 1));
    if (code == KERF_OK && strcmp(values->format, "json") == 0) {
        struct kerf_json json;
        kerf_json_begin(&json, out);
        explain_answer_json(&json, made);
        kerf_text_add(out, "\n");
    } else if (code == KERF_OK) {
        print_answer(out, made);
    }
    if (code == KERF_OK) explain_answer_free(made);
    kerf_launch_free(launch);
    free(made);
    return code;
}

static int run(int argc, char **argv) {
    struct explain_options values = {.ask = EXPLAIN_VALUES, .format = "table"};
    struct kerf_error err;
    struct kerf_text out = {0};
    int status = cli_parse(&explain_cli, argc, argv, &values);
    if (status >= 0) return status;
    int32_t code = answer(&values, &out, &err);
    options_free(&table, &values);
    if (code == KERF_OK) return output_print(&out);
    kerf_text_free(&out);
    return cli_fail(&err);
}

const struct cli_command explain_cli = {&table, run};
