/* SPDX-License-Identifier: Apache-2.0 */
/* kerf plan: searches the layouts of every model, system, domain size, strategy and number of accelerators asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/model_table.h"
#include "cli/plan_flat.h"
#include "cli/plan_picture.h"
#include "cli/plan_table.h"
#include "cli/ranges.h"
#include "cli/render.h"
#include "cli/terminal.h"

enum { PROBLEMS_MAX = 200000 };

struct plan_options {
    struct string_list models, sets, outputs;
    const char *system, *scale_up_size, *gpus, *strategy, *attention, *cost_model, *catalogue, *format;
    int64_t global_batch, seq_length, top, threads;
};

#define AT(field) .offset = offsetof(struct plan_options, field)
static const struct option options[] = {
    {.name = "system",
     .letter = 's',
     .type = OPTION_STRING,
     AT(system),
     .value = "SYSTEM[,...]",
     .help = "The hardware: a name from `kerf systems` or a file. Several multiply into a sweep."},
    {.name = "gpus",
     .letter = 'n',
     .type = OPTION_STRING,
     AT(gpus),
     .value = "N[,...]",
     .help = "How many accelerators: 1024, a list 256,512, or a range 4..16384:x2 or 64..512:+64."},
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
     .type = OPTION_STRING,
     AT(strategy),
     .value = "LIST",
     .help = "How tensors are split: 1d, summa, seqp, a list of them, or all (the default)."},
    {.name = "attention",
     .type = OPTION_CHOICE,
     AT(attention),
     .value = "KIND",
     .choices = "fused,unfused,recomputed,summa",
     .help = "How attention is computed (default: fused). recomputed is for 1d, summa for summa."},
    {.name = "scale-up-size",
     .type = OPTION_STRING,
     AT(scale_up_size),
     .value = "N[,...]",
     .help = "Accelerators in a scale-up (NVLink) domain: a number, list or range (default: the system's)."},
    {.name = "set",
     .type = OPTION_STRINGS,
     AT(sets),
     .value = "KEY=VALUE",
     .help = "Change a field of the system or model, such as scale_up.bandwidth_bytes_per_s=450GB/s; several between "
             "commas, or by giving it several times."},
    {.name = "top",
     .type = OPTION_INTEGER,
     AT(top),
     .value = "N",
     .minimum = 1,
     .maximum = KERF_TOP_MAX,
     .help = "How many layouts to keep of each search (default: 10)."},
    {.name = "catalogue", .type = OPTION_STRING, AT(catalogue), .value = "DIR", .help = CLI_CATALOGUE_HELP},
    {.name = "cost-model",
     .type = OPTION_STRING,
     AT(cost_model),
     .value = "NAME",
     .help = "What prices a layout (default: reference, the model of arXiv 2410.00273)."},
    {.name = "format",
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json,csv,markdown,svg,png,pdf,html",
     .help = "What to print on standard output (default: table)."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRINGS,
     AT(outputs),
     .value = "FILE",
     .help = "Write FILE too, in the format of its name: .svg .png .pdf .html draw the answer; .json .csv .md .txt "
             "hold it, and are then written instead of standard output, unless --format names another form. May be "
             "given several times; - is standard output."},
    {.name = "threads",
     .letter = 't',
     .type = OPTION_INTEGER,
     AT(threads),
     .value = "N",
     .minimum = 0,
     .maximum = 256,
     .help = "Threads to search with (default: 0, all processors). The answer does not depend on it."},
    {.name = NULL},
};

static const char *const examples[] = {
    "The ten best layouts of GPT-3 1T on 1,024 A100",
    "kerf plan gpt3_1t --system a100 --gpus 1024 --global-batch 4096 --strategy 1d",
    "The same with a picture",
    "kerf plan gpt3_1t -s a100 -n 1024 -b 4096 -o plan.svg",
    "How an own model scales on two systems",
    "kerf plan config.json -s a100,b200 --scale-up-size 8 -n 64..4096:x2 -b 1024 --strategy 1d,seqp -o scaling.svg",
    "What a faster scale-up network would bring",
    "kerf plan gpt3 -s h200 -n 512 -b 2048 --set scale_up.bandwidth_bytes_per_s=900GB/s",
    NULL,
};

static const struct command table = {
    .name = "plan",
    .summary = "the best layouts of a model over N accelerators, by model",
    .arguments = "MODEL[,MODEL...]",
    .description = "Searches every parallel layout of a transformer over the given accelerators - data, tensor, "
                   "context and pipeline "
                   "parallelism, the micro-batch, and which of them are neighbours in a scale-up (NVLink) domain - and "
                   "predicts the time "
                   "of a step and the memory of an accelerator for each. Layouts are ranked by throughput, then by "
                   "less memory.\n\n"
                   "MODEL is a name from `kerf models` or a Hugging Face config.json. Lists of models, systems, domain "
                   "sizes, strategies "
                   "and numbers of accelerators multiply into a sweep.\n\n"
                   "When nothing fits, it says what the layout nearest to fitting needs and how many accelerators "
                   "would do, and exits "
                   "with status 1.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct plan_options, models),
};

/* ---- From options to problems ----------------------------------------------------------------------------- */

struct question {
    const struct plan_options *options;
    struct range gpus, domains;
    enum kerf_strategy strategies[KERF_STRATEGY_COUNT * 4];
    int32_t num_strategies;
    enum kerf_attention attention;
    struct kerf_problem *problems;
    size_t num_problems;
    struct kerf_problem next; /* the model and system at hand */
};

static int32_t add_strategy(void *context, const char *word, struct kerf_error *err) {
    struct question *question = context;
    enum kerf_strategy strategy = KERF_STRATEGY_1D;
    int all = strcmp(word, "all") == 0;
    if (!all) {
        int32_t code = kerf_strategy_parse(word, &strategy, err);
        if (code != KERF_OK) return code;
    }
    for (int s = 0; s < KERF_STRATEGY_COUNT; s++) {
        if (!all && s != (int)strategy) continue;
        if ((size_t)question->num_strategies == sizeof question->strategies / sizeof *question->strategies)
            return kerf_error_set(err, KERF_EINVALID, "--strategy names too many");
        question->strategies[question->num_strategies++] = (enum kerf_strategy)s;
    }
    return KERF_OK;
}

static int32_t add_problems(struct question *question, struct kerf_error *err) {
    struct kerf_problem *problem = &question->next;
    struct kerf_model model = problem->model;
    int32_t code = cli_set(&problem->model, &problem->system, &question->options->sets, err);
    if (code != KERF_OK) return code;
    problem->seq_length =
        question->options->seq_length ? question->options->seq_length : problem->model.max_position_embeddings;
    if (problem->seq_length == 0)
        return kerf_error_set(err, KERF_EINVALID, "%s has no max_position_embeddings: give --seq-length",
                              problem->model.name);
    int32_t num_domains = question->domains.count ? question->domains.count : 1;
    size_t more = (size_t)num_domains * (size_t)question->num_strategies * (size_t)question->gpus.count;
    if (question->num_problems + more > PROBLEMS_MAX)
        return kerf_error_set(err, KERF_EINVALID, "a sweep of more than %d searches; ask for fewer at once",
                              PROBLEMS_MAX);
    struct kerf_problem *problems = realloc(question->problems, (question->num_problems + more) * sizeof *problems);
    if (problems == NULL) return error_no_memory(err, "the sweep");
    question->problems = problems;
    for (int32_t d = 0; d < num_domains; d++)
        for (int32_t s = 0; s < question->num_strategies; s++)
            for (int32_t g = 0; g < question->gpus.count; g++) {
                struct kerf_problem *one = &problems[question->num_problems++];
                *one = *problem;
                one->strategy = question->strategies[s];
                one->gpus = question->gpus.values[g];
                if (question->domains.count) one->system.scale_up.size = question->domains.values[d];
            }
    problem->model = model; /* as it was before --set, for the next system */
    return KERF_OK;
}

static int32_t add_system(void *context, const char *word, struct kerf_error *err) {
    struct question *question = context;
    int32_t code = kerf_system_load(word, &question->next.system, err);
    return code == KERF_OK ? add_problems(question, err) : code;
}

static int32_t add_model(void *context, const char *word, struct kerf_error *err) {
    struct question *question = context;
    int32_t code = kerf_model_load(word, &question->next.model, err);
    return code == KERF_OK ? words_each(question->options->system, "--system", add_system, question, err) : code;
}

static int32_t missing(const char *what, const char *example, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID, "%s is missing, such as %s; `kerf help plan` tells more", what, example);
}

static int32_t read_question(const struct plan_options *values, struct question *question, struct kerf_error *err) {
    if (values->models.count == 0) return missing("the model", "gpt3_1t or path/to/config.json", err);
    if (values->system == NULL) return missing("--system", "--system a100", err);
    if (values->gpus == NULL) return missing("--gpus", "--gpus 1024", err);
    if (values->global_batch == 0) return missing("--global-batch", "--global-batch 4096", err);
    question->options = values;
    question->next.global_batch = values->global_batch;
    int32_t code = kerf_attention_parse(values->attention, &question->next.attention, err);
    if (code == KERF_OK) code = range_parse(values->gpus, "--gpus", 1, 1 << 30, &question->gpus, err);
    if (code == KERF_OK && values->scale_up_size)
        code = range_parse(values->scale_up_size, "--scale-up-size", 1, 1 << 20, &question->domains, err);
    if (code == KERF_OK) code = words_each(values->strategy, "--strategy", add_strategy, question, err);
    for (int32_t i = 0; i < values->models.count && code == KERF_OK; i++)
        code = words_each(values->models.items[i], "MODEL", add_model, question, err);
    return code;
}

/* ---- From the plan to what is printed --------------------------------------------------------------------- */

static const struct render_format formats[] = {
    {.name = "table", .ending = "txt"},
    {.name = "markdown", .ending = "md"},
    {.name = "json", .ending = "json"},
    {.name = "csv", .ending = "csv"},
    RENDER_PICTURES,
    {.name = NULL},
};

static int32_t write_answer(void *context, struct kerf_text *out, const struct render_format *format,
                            const struct render_style *style, struct kerf_error *err) {
    const struct kerf_plan *plan = *(const struct kerf_plan *const *)context;
    const struct print_style print = {style->columns, style->colour};
    struct kerf_json json;
    if (format->is_picture) return print_plan_picture(out, plan, format->picture, err);
    if (strcmp(format->name, "json") == 0) {
        kerf_json_begin(&json, out);
        kerf_plan_json(&json, plan);
        kerf_text_add(out, "\n");
    } else if (strcmp(format->name, "csv") == 0) {
        print_plan_csv(out, plan);
    } else if (strcmp(format->name, "markdown") == 0) {
        print_plan_markdown(out, plan);
    } else {
        print_plan_table(out, plan, &print);
    }
    return KERF_OK;
}

static int answer(const struct plan_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct question question = {.options = values};
    const struct kerf_cost_model *cost_model = NULL;
    struct kerf_plan *plan = NULL;
    struct terminal_progress progress = {.what = "searching"};
    const struct render render = {formats, values->format, &values->outputs, write_answer, &plan};
    int status;
    cli_use_catalogue(values->catalogue);
    int32_t code = kerf_cost_model_find(values->cost_model, &cost_model, &err);
    if (code == KERF_OK) code = read_question(values, &question, &err);
    if (code == KERF_OK) code = render_check(&render, &err);
    if (code == KERF_OK) {
        struct kerf_plan_options search = {cost_model, (int32_t)values->top, (int32_t)values->threads,
                                           terminal_progress, &progress};
        interrupt_catch();
        code = kerf_plan_search(question.problems, question.num_problems, &search, &plan, &err);
        terminal_progress_end(&progress);
    }
    for (size_t i = 0; code == KERF_OK && i < question.num_problems;
         i++) /* once a model: its problems stand together */
        if (i == 0 || strcmp(question.problems[i].model.name, question.problems[i - 1].model.name) != 0)
            model_notes(&question.problems[i].model, cost_model);
    if (code == KERF_OK) code = render_all(&render, &err);
    if (code != KERF_OK)
        status = cli_fail(&err);
    else if (!plan->complete)
        status = EXIT_INTERRUPTED;
    else
        status = kerf_plan_best(plan, NULL) ? EXIT_ANSWERED : EXIT_NO_ANSWER;
    kerf_plan_free(plan);
    free(question.problems);
    range_free(&question.gpus);
    range_free(&question.domains);
    return status;
}

static int run(int argc, char **argv) {
    struct plan_options values = {
        .strategy = "all", .attention = "fused", .cost_model = "reference", .format = "table", .top = 10};
    int status = cli_parse(&plan_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = answer(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command plan_cli = {&table, run};
