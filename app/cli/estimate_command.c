/* SPDX-License-Identifier: Apache-2.0 */
/* kerf estimate: what one layout costs, as a whole or operation by operation. */
#include <string.h>
#include "cli/command.h"
#include "cli/estimate_lines.h"
#include "cli/model_table.h"
#include "cli/output.h"
#include "cli/estimate_table.h"
#include "cli/plan_flat.h"
#include "cli/terminal.h"

struct estimate_options {
    struct string_list models, sets;
    const char *system, *layout, *strategy, *attention, *cost_model, *catalogue, *format, *output;
    int64_t scale_up_size, gpus, global_batch, seq_length;
    int32_t layers, lines;
};

#define AT(field) .offset = offsetof(struct estimate_options, field)
static const struct option options[] = {
    {.name = "system",
     .letter = 's',
     .type = OPTION_STRING,
     AT(system),
     .value = "SYSTEM",
     .help = "The hardware: a name from `kerf systems` or a file."},
    {.name = "layout",
     .letter = 'l',
     .type = OPTION_STRING,
     AT(layout),
     .value = "PARTS",
     .help = "The layout: dp, tp1, tp2, pp, micro_batch, summa_blocks, scale_up.tp1, scale_up.tp2, scale_up.dp and "
             "scale_up.pp, "
             "each as NAME=N, between commas. What is not named is 1 (summa_blocks: 0); of the placements (scale_up.*) "
             "that agree with those named, the fastest is taken. Rows of kerf plan's tables hold such text."},
    {.name = "gpus",
     .letter = 'n',
     .type = OPTION_INTEGER,
     AT(gpus),
     .value = "N",
     .minimum = 1,
     .maximum = 1073741824,
     .help = "How many accelerators (default: the product of dp, tp1, tp2 and pp)."},
    {.name = "global-batch",
     .letter = 'b',
     .type = OPTION_INTEGER,
     AT(global_batch),
     .value = "N",
     .minimum = 1,
     .maximum = 1073741824,
     .help = "Samples in a step of the optimizer."},
    {.name = "seq-length",
     .type = OPTION_INTEGER,
     AT(seq_length),
     .value = "N",
     .minimum = 1,
     .maximum = 1073741824,
     .help = "Tokens in a sample (default: the model's max_position_embeddings)."},
    {.name = "strategy",
     .type = OPTION_CHOICE,
     AT(strategy),
     .value = "NAME",
     .choices = "1d,summa,seqp",
     .help = "How tensors are split (default: summa where the layout has summa_blocks, seqp where tp2 is above 1, else "
             "1d)."},
    {.name = "attention",
     .type = OPTION_CHOICE,
     AT(attention),
     .value = "KIND",
     .choices = "fused,unfused,recomputed,summa",
     .help = "How attention is computed (default: fused). recomputed is for 1d, summa for summa."},
    {.name = "scale-up-size",
     .type = OPTION_INTEGER,
     AT(scale_up_size),
     .value = "N",
     .minimum = 1,
     .maximum = 1048576,
     .help = "Accelerators in a scale-up (NVLink) domain (default: the system's)."},
    {.name = "set",
     .type = OPTION_STRINGS,
     AT(sets),
     .value = "KEY=VALUE",
     .help = "Change a field of the system or model, such as scale_up.bandwidth_bytes_per_s=450GB/s; several between "
             "commas, or by giving it several times."},
    {.name = "catalogue", .type = OPTION_STRING, AT(catalogue), .value = "DIR", .help = CLI_CATALOGUE_HELP},
    {.name = "cost-model",
     .type = OPTION_STRING,
     AT(cost_model),
     .value = "NAME",
     .help = "What prices the layout (default: reference, the model of arXiv 2410.00273)."},
    {.name = "layers", .type = OPTION_FLAG, AT(layers), .help = "Also say what each operation of a layer costs."},
    {.name = "format",
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json,csv",
     .help =
         "How to print the answer (default: by the name of --output, else table). csv holds the table of --layers."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRING,
     AT(output),
     .value = "FILE",
     .help = "Write to FILE, in the format of its name - .json .csv .txt - instead of standard output."},
    {.name = "lines",
     .type = OPTION_FLAG,
     AT(lines),
     .help = "For programs: read one JSON request a line from standard input and answer each with one line "
             "(docs/json.md)."},
    {.name = NULL},
};

static const char *const examples[] = {
    "What one layout costs",
    "kerf estimate gpt3_1t -s a100 -b 4096 --layout dp=2,tp1=8,pp=64,scale_up.tp1=4",
    "Which operations take the time",
    "kerf estimate gpt3_1t -s a100 -b 4096 --layout dp=2,tp1=8,pp=64,scale_up.tp1=4 --layers",
    "Many layouts, asked by a program",
    "kerf estimate --lines < requests.jsonl > answers.jsonl",
    NULL,
};

static const struct command_exit exits[] = {{"0", "the layout fits"},
                                            {"1", "the layout does not fit: what it needs was printed"},
                                            {"2", "bad usage or input"},
                                            {"3", "failed while running"},
                                            {NULL, NULL}};

static const struct command table = {
    .name = "estimate",
    .summary = "what one layout costs in time and memory, operation by operation",
    .arguments = "MODEL",
    .description =
        "Predicts the time of a step and the memory of an accelerator for one layout, whether it fits or not, and says "
        "by how much.\n\n"
        "With --lines it answers a stream of requests, one JSON object a line, as long as they come.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct estimate_options, models),
    .exits = exits,
};

static int32_t missing(const char *what, const char *example, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID, "%s is missing, such as %s; `kerf help estimate` tells more", what,
                          example);
}

static int32_t read_problem(const struct estimate_options *values, struct kerf_problem *problem,
                            struct kerf_layout *layout, struct kerf_error *err) {
    if (values->models.count == 0) return missing("the model", "gpt3_1t or path/to/config.json", err);
    if (values->models.count > 1)
        return kerf_error_set(err, KERF_EINVALID, "one model at a time, not '%.64s' too", values->models.items[1]);
    if (values->system == NULL) return missing("--system", "--system a100", err);
    if (values->layout == NULL) return missing("--layout", "--layout dp=2,tp1=8,pp=64", err);
    if (values->global_batch == 0) return missing("--global-batch", "--global-batch 4096", err);
    int32_t code = kerf_model_load(values->models.items[0], &problem->model, err);
    if (code == KERF_OK) code = kerf_system_load(values->system, &problem->system, err);
    if (code == KERF_OK) code = cli_set(&problem->model, &problem->system, &values->sets, err);
    if (code == KERF_OK)
        code = kerf_attention_parse(values->attention ? values->attention : "fused", &problem->attention, err);
    if (code == KERF_OK) code = kerf_layout_parse(values->layout, layout, err);
    if (code == KERF_OK && values->strategy) code = kerf_strategy_parse(values->strategy, &problem->strategy, err);
    if (code != KERF_OK) return code;
    if (!values->strategy) problem->strategy = kerf_layout_strategy(layout);
    if (values->scale_up_size) problem->system.scale_up.size = values->scale_up_size;
    problem->seq_length = values->seq_length ? values->seq_length : problem->model.max_position_embeddings;
    if (problem->seq_length == 0)
        return kerf_error_set(err, KERF_EINVALID, "%s has no max_position_embeddings: give --seq-length",
                              problem->model.name);
    problem->global_batch = values->global_batch;
    problem->gpus = values->gpus ? values->gpus : layout->dp * layout->tp1;
    if (!values->gpus && (__builtin_mul_overflow(problem->gpus, layout->tp2, &problem->gpus) ||
                          __builtin_mul_overflow(problem->gpus, layout->pp, &problem->gpus)))
        return kerf_error_set(err, KERF_EINVALID, "layout: the product of dp, tp1, tp2 and pp is too large");
    return KERF_OK;
}

/* "json", "csv" or "table". */
static int32_t find_format(const struct estimate_options *values, const char **ret_format, struct kerf_error *err) {
    const char *end = values->output && !output_is_special(values->output) ? output_ending(values->output) : NULL;
    const char *by_name = end == NULL || strcmp(end, "txt") == 0 ? "table"
                          : strcmp(end, "json") == 0             ? "json"
                          : strcmp(end, "csv") == 0              ? "csv"
                                                                 : NULL;
    int32_t code = values->output ? output_check(values->output, err) : KERF_OK;
    *ret_format = values->format ? values->format : by_name;
    if (code != KERF_OK || *ret_format) return code;
    return kerf_error_set(err, KERF_EINVALID, "--output %.200s: end the name in .json .csv or .txt, or give --format",
                          values->output);
}

static int answer(const struct estimate_options *values) {
    struct kerf_error err;
    struct kerf_problem problem = {.gpus = 0};
    struct kerf_layout layout;
    const struct kerf_cost_model *cost_model;
    struct kerf_estimate estimate;
    struct kerf_layer layers[KERF_LAYERS_MAX];
    int32_t num_layers = 0;
    const char *format;
    cli_use_catalogue(values->catalogue);
    int32_t code = kerf_cost_model_find(values->cost_model, &cost_model, &err);
    if (code == KERF_OK) code = read_problem(values, &problem, &layout, &err);
    if (code == KERF_OK) code = find_format(values, &format, &err);
    if (code == KERF_OK) code = kerf_layout_estimate(cost_model, &problem, &layout, &estimate, &err);
    if (code == KERF_OK)
        code = kerf_layout_estimate_layers(cost_model, &problem, &estimate.layout, layers, &num_layers, &err);
    if (code != KERF_OK) return cli_fail(&err);
    model_notes(&problem.model, cost_model);

    struct kerf_text out = {0};
    int to_stdout = values->output == NULL || output_is_stdout(values->output);
    int was_placed = kerf_layout_compare(&layout, &estimate.layout) != 0;
    struct print_style style = {to_stdout ? terminal_columns() : 100, to_stdout && terminal_colour()};
    if (strcmp(format, "json") == 0) {
        struct kerf_json json;
        kerf_json_begin(&json, &out);
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "kerf", kerf_version());
        kerf_estimate_json(&json, &estimate, 0);
        if (values->layers) kerf_layers_json(&json, layers, num_layers);
        kerf_json_close(&json, '}');
        kerf_text_add(&out, "\n");
    } else if (strcmp(format, "csv") == 0) {
        print_layers_csv(&out, layers, num_layers);
    } else {
        print_estimate_table(&out, &problem, &estimate, was_placed, layers, values->layers ? num_layers : 0,
                             values->cost_model, &style);
        terminal_plain(&out);
    }
    code = output_file(values->output ? values->output : "-", &out, &err);
    kerf_text_free(&out);
    if (code != KERF_OK) return cli_fail(&err);
    return estimate.fits ? EXIT_ANSWERED : EXIT_NO_ANSWER;
}

/* Requests say everything themselves; an option that would be passed over is a mistake. */
static int answer_lines(const struct estimate_options *values) {
    struct kerf_error err;
    const char *other = values->models.count    ? values->models.items[0]
                        : values->system        ? "--system"
                        : values->layout        ? "--layout"
                        : values->gpus          ? "--gpus"
                        : values->global_batch  ? "--global-batch"
                        : values->seq_length    ? "--seq-length"
                        : values->strategy      ? "--strategy"
                        : values->attention     ? "--attention"
                        : values->scale_up_size ? "--scale-up-size"
                        : values->sets.count    ? "--set"
                        : values->layers        ? "--layers"
                        : values->format        ? "--format"
                        : values->output        ? "--output"
                                                : NULL;
    if (other == NULL) return estimate_lines(values->cost_model);
    kerf_error_set(&err, KERF_EINVALID, "--lines reads all but --cost-model from its requests; leave out %.64s", other);
    return cli_fail(&err);
}

static int run(int argc, char **argv) {
    struct estimate_options values = {.cost_model = "reference"};
    int status = cli_parse(&estimate_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = values.lines ? answer_lines(&values) : answer(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command estimate_cli = {&table, run};
