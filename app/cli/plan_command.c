/* SPDX-License-Identifier: Apache-2.0 */
/* kerf plan: searches the layouts of every model, system, domain size, strategy and number of accelerators asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "cli/command.h"
#include "cli/plan_print.h"
#include "cli/ranges.h"
#include "cli/render.h"
#include "cli/space_options.h"
#include "cli/terminal.h"

enum { PROBLEMS_MAX = 200000 };

struct plan_options {
    struct string_list models, sets, outputs;
    const char *system, *scale_up_size, *gpus, *strategy, *attention, *cost_model, *catalogue, *format, *picture;
    int64_t global_batch, seq_length, top, threads;
    struct space_options space;
    struct training_options training;
    int32_t why, exhaustive;
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
     .help = "Which family of layouts: hybrid (the default), what frameworks of today have; or 1d, summa, seqp, a list "
             "of these three, or all of them, priced by the cost model reference."},
    {.name = "attention",
     .type = OPTION_CHOICE,
     AT(attention),
     .value = "KIND",
     .choices = "fused,unfused,recomputed,summa",
     .help = "How attention is computed (default: fused). recomputed is for 1d, summa for summa."},
    SPACE_OPTIONS(struct plan_options, space),
    {.name = "exhaustive",
     .type = OPTION_FLAG,
     AT(exhaustive),
     .help = "Price every layout, whatever bounds prove; the answer is the same."},
    TRAINING_OPTIONS(struct plan_options, training),
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
     .help = "What prices a layout: analytic for hybrid (the default), reference, the model of arXiv 2410.00273, for "
             "1d, summa and seqp."},
    {.name = "why",
     .type = OPTION_FLAG,
     AT(why),
     .help = "Also say why the best is the best: against the runner-up, against the best layout with another value of "
             "each dimension, and which memory, bandwidth or batch would make another layout win."},
    {.name = "picture",
     .type = OPTION_CHOICE,
     AT(picture),
     .value = "KIND",
     .choices = "bars,front",
     .help =
         "What pictures show: bars, the best layouts or a sweep (the default), or front, the least time within each "
         "memory. A file that is called front, such as front.svg, shows that."},
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
    "The ten best layouts of Llama 3 70B on 512 H100, from its config.json",
    "kerf plan config.json --system h100 --gpus 512 --global-batch 1024 --seq-length 8192",
    "How long 15 trillion tokens take, what they cost, and why this layout",
    "kerf plan config.json -s h100 -n 512 -b 1024 --tokens 15T --price 2.5 --why",
    "With these sizes alone, and other schedules",
    "kerf plan config.json -s h100 -n 512 -b 1024 --tp 4,8 --pp 4 --schedules 1f1b,zb_h1,zb_v",
    "What memory buys: time against memory",
    "kerf plan config.json -s h100 -n 512 -b 1024 -o front.svg",
    "How it scales on two systems",
    "kerf plan config.json -s h100,b200-hgx -n 64..4096:x2 -b 1024 -o scaling.svg",
    "The search of arXiv 2410.00273",
    "kerf plan gpt3_1t --system a100 --gpus 1024 --global-batch 4096 --strategy 1d",
    NULL,
};

static const struct command table = {
    .name = "plan",
    .summary = "the best layouts of a model over N accelerators, by model",
    .arguments = "MODEL[,MODEL...]",
    .description =
        "Searches every parallel layout of a transformer over the given accelerators - tensor, sequence, "
        "context, pipeline, expert and data parallelism, ZeRO, virtual stages, the micro-batch, "
        "recomputation - and predicts the time of a step and the memory of an accelerator for each. Layouts "
        "are ranked by throughput, then by less memory, and the answer is proved: bounds show that no layout "
        "is better.\n\n"
        "MODEL is a name from `kerf models` or a Hugging Face config.json. Lists of models, systems, domain "
        "sizes, strategies and numbers of accelerators multiply into a sweep.\n\n"
        "--tp to --stage-layers take lists and narrow or widen the search; a value that cannot occur is an "
        "error. Ctrl-C answers with what is known, and how good the best layout could still be.\n\n"
        "When nothing fits, it says what the layout nearest to fitting needs, which option would help and how "
        "many accelerators would do, and exits with status 1.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct plan_options, models),
};

/* ---- From options to problems ----------------------------------------------------------------------------- */

struct question {
    const struct plan_options *options;
    struct range gpus, domains;
    struct strategy_choice choice;
    struct kerf_space space;
    int32_t *stage_layers; /* of the space */
    struct kerf_problem *problems;
    size_t num_problems;
    struct kerf_problem next; /* the model and system at hand */
};

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
    size_t more = (size_t)num_domains * (size_t)question->choice.count * (size_t)question->gpus.count;
    if (question->num_problems + more > PROBLEMS_MAX)
        return kerf_error_set(err, KERF_EINVALID, "a sweep of more than %d searches; ask for fewer at once",
                              PROBLEMS_MAX);
    struct kerf_problem *problems = realloc(question->problems, (question->num_problems + more) * sizeof *problems);
    if (problems == NULL) return error_no_memory(err, "the sweep");
    question->problems = problems;
    for (int32_t d = 0; d < num_domains; d++)
        for (int32_t s = 0; s < question->choice.count; s++)
            for (int32_t g = 0; g < question->gpus.count; g++) {
                struct kerf_problem *one = &problems[question->num_problems++];
                *one = *problem;
                one->strategy = question->choice.of[s];
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

static int is_hybrid(const struct question *question) { return question->choice.of[0] == KERF_STRATEGY_HYBRID; }

/* An option that would be ignored is a mistake. */
static int32_t check_options(const struct plan_options *values, const struct question *question,
                             struct kerf_error *err) {
    const char *given = space_first_given(&values->space);
    if (given == NULL) given = training_first_given(&values->training);
    if (given == NULL && (values->why || values->exhaustive)) given = values->why ? "--why" : "--exhaustive";
    if (given && !is_hybrid(question))
        return kerf_error_set(err, KERF_EINVALID, "%s is for strategy hybrid, and not for %s", given,
                              kerf_strategy_name(question->choice.of[0]));
    return KERF_OK;
}

static int32_t read_question(const struct plan_options *values, struct question *question, struct kerf_error *err) {
    if (values->models.count == 0) return missing("the model", "gpt3_1t or path/to/config.json", err);
    if (values->system == NULL) return missing("--system", "--system a100", err);
    if (values->gpus == NULL) return missing("--gpus", "--gpus 1024", err);
    if (values->global_batch == 0) return missing("--global-batch", "--global-batch 4096", err);
    question->options = values;
    question->next.global_batch = values->global_batch;
    int32_t code = strategy_choose(values->strategy, values->cost_model, &question->choice, err);
    if (code == KERF_OK) code = check_options(values, question, err);
    if (code == KERF_OK)
        code = kerf_attention_parse(values->attention ? values->attention : "fused", &question->next.attention, err);
    if (code == KERF_OK) code = space_read(&values->space, &question->space, &question->stage_layers, err);
    if (code == KERF_OK) code = training_read(&values->training, &question->next, err);
    if (code == KERF_OK && space_first_given(&values->space)) question->next.space = &question->space;
    if (code == KERF_OK) code = range_parse(values->gpus, "--gpus", 1, 1 << 30, &question->gpus, err);
    if (code == KERF_OK && values->scale_up_size)
        code = range_parse(values->scale_up_size, "--scale-up-size", 1, 1 << 20, &question->domains, err);
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

struct answer {
    const struct plan_options *values;
    const struct kerf_plan *plan;
};

/* What a picture file shows. */
static int shows_front(const char *path, const struct plan_options *values) {
    const char *folder = strrchr(path, '/'), *name = folder ? folder + 1 : path;
    if (values->picture) return strcmp(values->picture, "front") == 0;
    return strncmp(name, "front.", 6) == 0;
}

/* Whether any picture shows the front. */
static int asks_front(const struct plan_options *values, const struct render *render) {
    int asks = values->picture && strcmp(values->picture, "front") == 0 && render_writes(render, "picture");
    for (int32_t i = 0; i < values->outputs.count; i++)
        asks |= render_draws(render, values->outputs.items[i]) && shows_front(values->outputs.items[i], values);
    return asks;
}

static int32_t write_answer(void *context, struct kerf_text *out, const struct render_format *format,
                            const struct render_style *style, struct kerf_error *err) {
    const struct answer *answer = context;
    const struct kerf_plan *plan = answer->plan;
    const struct print_style print = {style->columns, style->colour};
    struct kerf_json json;
    if (format->is_picture && shows_front(style->path, answer->values))
        return print_front_picture(out, plan, format->picture, err);
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

/* Beside the search itself: why, the front, what would help. */
static int32_t find_more(const struct plan_options *values, const struct render *render, struct kerf_plan *plan,
                         const struct kerf_plan_options *search, struct kerf_error *err) {
    int32_t code = KERF_OK;
    struct terminal_progress next = {.what = "explaining"};
    struct kerf_plan_options again = *search;
    again.progress_context = &next;
    if (kerf_plan_best(plan, NULL) == NULL) code = kerf_plan_mend(plan, &again, err);
    if (code == KERF_OK && values->why) code = kerf_plan_why(plan, &again, err);
    terminal_progress_end(&next);
    next = (struct terminal_progress){.what = "looking at memory"};
    if (code == KERF_OK && asks_front(values, render)) code = kerf_plan_front(plan, &again, err);
    terminal_progress_end(&next);
    return code;
}

/* Of what follows the search. */
static int was_interrupted(const struct kerf_plan *plan) {
    for (size_t i = 0; i < plan->num_searches; i++) {
        const struct kerf_search *search = &plan->searches[i];
        if ((search->why && !search->why->complete) || (search->front && !search->front->complete)) return 1;
    }
    return !plan->complete;
}

static int answer(const struct plan_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct question question = {.options = values};
    struct kerf_plan *plan = NULL;
    struct terminal_progress progress = {.what = "searching"};
    struct answer answer = {values, NULL};
    const struct render render = {formats, values->format, &values->outputs, write_answer, &answer};
    int status;
    cli_use_catalogue(values->catalogue);
    int32_t code = read_question(values, &question, &err);
    if (code == KERF_OK) code = render_check(&render, &err);
    if (code == KERF_OK && values->picture && !render_writes(&render, "picture"))
        code = kerf_error_set(&err, KERF_EINVALID, "--picture says what a picture shows: also give -o plan.svg");
    if (code == KERF_OK) {
        struct kerf_plan_options search = {.cost_model = question.choice.cost_model,
                                           .top = (int32_t)values->top,
                                           .threads = (int32_t)values->threads,
                                           .exhaustive = values->exhaustive,
                                           .progress = terminal_progress,
                                           .progress_context = &progress};
        interrupt_catch();
        code = kerf_plan_search(question.problems, question.num_problems, &search, &plan, &err);
        terminal_progress_end(&progress);
        if (code == KERF_OK && plan->complete) code = find_more(values, &render, plan, &search, &err);
        answer.plan = plan;
    }
    for (size_t i = 0; code == KERF_OK && i < question.num_problems;
         i++) /* once a model: its problems stand together */
        if (i == 0 || strcmp(question.problems[i].model.name, question.problems[i - 1].model.name) != 0)
            model_notes(&question.problems[i].model, question.choice.cost_model);
    if (code == KERF_OK) code = render_all(&render, &err);
    if (code != KERF_OK)
        status = cli_fail(&err);
    else if (was_interrupted(plan))
        status = EXIT_INTERRUPTED;
    else
        status = kerf_plan_best(plan, NULL) ? EXIT_ANSWERED : EXIT_NO_ANSWER;
    kerf_plan_free(plan);
    free(question.problems);
    free(question.stage_layers);
    range_free(&question.gpus);
    range_free(&question.domains);
    return status;
}

static int run(int argc, char **argv) {
    struct plan_options values = {.format = "table", .top = 10, .training.mtp_layers = -1};
    int status = cli_parse(&plan_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = answer(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command plan_cli = {&table, run};
