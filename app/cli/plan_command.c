/* SPDX-License-Identifier: Apache-2.0 */
/* kerf plan: searches the layouts of every model, system, domain size, strategy and number of accelerators asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "call/launch_better.h"
#include "call/plan_question.h"
#include "cli/command.h"
#include "call/pictures.h"
#include "cli/launch_file.h"
#include "cli/plan_print.h"
#include "cli/render.h"
#include "cli/terminal.h"

struct plan_options {
    struct plan_values ask;
    struct string_list outputs;
    const char *catalogue, *format, *picture, *launch, *emit;
};

#define AT(field) .offset = offsetof(struct plan_options, field)
static const struct option options[] = {
    PLAN_OPTIONS(struct plan_options, ask),
    {.name = "catalogue", .type = OPTION_STRING, AT(catalogue), .value = "DIR", .help = CLI_CATALOGUE_HELP},
    {.name = "launch",
     .type = OPTION_STRING,
     AT(launch),
     .value = "FILE",
     .help =
         "The job is that of a launch script or config (kerf help launch): its model, accelerators, batch, sequence "
         "length and precision where they are not given. Searches what its framework can run, and says what the "
         "best layout saves and which keys change."},
    {.name = "emit",
     .type = OPTION_STRING,
     AT(emit),
     .value = "FRAMEWORK",
     .help = "Print the launch of the best layout for megatron, deepspeed, torchtitan, nanotron or megatron-bridge; "
             "implies --for. With -o, files that end in .sh, .toml or .yaml hold it."},
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
    "The launch script of the best layout, for Megatron-LM",
    "kerf plan config.json -s h100 -n 512 -b 1024 --emit megatron -o train.sh",
    "What is better than a launch of today",
    "kerf plan --launch train.sh -s h100",
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
    .arguments_offset = offsetof(struct plan_options, ask.models),
};

/* ---- From the plan to what is printed --------------------------------------------------------------------- */

static const struct render_format formats[] = {
    {.name = "table", .ending = "txt"},
    {.name = "markdown", .ending = "md"},
    {.name = "json", .ending = "json"},
    {.name = "csv", .ending = "csv"},
    RENDER_PICTURES,
    {.name = "launch", .ending = "sh"}, /* --emit alone chooses these */
    {.name = "launch", .ending = "toml"},
    {.name = "launch", .ending = "yaml"},
    {.name = NULL},
};

struct answer {
    const struct plan_options *values;
    const struct plan_question *question;
    const struct kerf_plan *plan;
    const struct launch_better *better; /* with --launch; NULL */
    enum kerf_framework emit;
};

static int32_t write_launch(const struct answer *answer, struct kerf_text *out, struct kerf_error *err) {
    const struct kerf_search *best = kerf_plan_best(answer->plan, NULL);
    if (best) return kerf_launch_write(answer->emit, NULL, &best->problem, &best->plans[0].layout, out, err);
    return kerf_error_set(err, KERF_EINFEASIBLE,
                          "no layout fits, and none can be launched; without --emit kerf says what would help");
}

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
    const struct print_style print = {style->columns, style->colour, !style->is_terminal && !getenv("COLUMNS")};
    struct kerf_json json;
    if (format->is_picture && shows_front(style->path, answer->values))
        return front_picture(out, plan, format->picture, err);
    if (format->is_picture) return plan_picture(out, plan, format->picture, err);
    if (strcmp(format->name, "launch") == 0) return write_launch(answer, out, err);
    if (strcmp(format->name, "json") == 0) {
        kerf_json_begin(&json, out);
        plan_question_json(&json, answer->question, answer->better, plan);
        kerf_text_add(out, "\n");
    } else if (strcmp(format->name, "csv") == 0) {
        print_plan_csv(out, plan);
    } else if (strcmp(format->name, "markdown") == 0) {
        print_plan_markdown(out, plan);
    } else {
        print_plan_table(out, plan, &print);
        if (answer->better) kerf_text_add(out, "\n"), launch_better_text(out, answer->better);
    }
    return KERF_OK;
}

/* Beside the search itself: why, what would help, the front. */
static int32_t find_more(const struct plan_options *values, struct plan_question *question, const struct render *render,
                         struct kerf_plan *plan, struct kerf_error *err) {
    struct terminal_progress next = {.what = "explaining"};
    struct call_progress progress = {.tell = terminal_progress, .context = &next};
    struct kerf_plan_options again = plan_question_options(question, progress);
    int32_t code = plan_question_explain(question, progress, plan, err);
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

/* Of models once each: their problems stand together. */
static void note_ignored(const struct plan_question *question) {
    for (size_t i = 0; i < question->num_problems; i++)
        if (i == 0 || strcmp(question->problems[i].model.name, question->problems[i - 1].model.name) != 0)
            model_notes(&question->problems[i].model, question->choice.cost_model);
    calibration_notes(&question->software, software_of_problems(question->problems, question->num_problems));
    set_notes(&question->set_without_effect);
}

/* A sweep has one launch. */
static void note_launch(const struct kerf_plan *plan, const struct render *render) {
    const struct kerf_search *best = kerf_plan_best(plan, NULL);
    struct kerf_text words = {0};
    if (plan->num_searches < 2 || best == NULL || !render_writes(render, "launch")) return;
    words_problem(&words, &best->problem);
    if (!words.failed)
        fprintf(stderr, "kerf: --emit: the launch is of the fastest of %zu searches: %s\n", plan->num_searches,
                words.data);
    kerf_text_free(&words);
}

/* --emit and --launch, which both say what runs the layouts. The launch is given back by the caller. */
static int32_t read_launches(struct plan_options *values, struct kerf_launch **ret_launch,
                             enum kerf_framework *ret_emit, struct kerf_error *err) {
    int32_t code = KERF_OK;
    if (values->emit) {
        if (values->ask.framework && strcmp(values->ask.framework, values->emit) != 0)
            return kerf_error_set(err, KERF_EINVALID, "--for %.32s and --emit %.32s do not go together",
                                  values->ask.framework, values->emit);
        code = kerf_framework_parse(values->emit, ret_emit, err);
        values->ask.framework = values->emit;
        if (values->outputs.count == 0 && values->format == render_usual) values->format = "launch";
    }
    if (code == KERF_OK && values->launch) code = launch_file_read(values->launch, NULL, NULL, 0, ret_launch, err);
    if (code != KERF_OK || *ret_launch == NULL) return code;
    values->ask.launch = *ret_launch;
    enum kerf_framework framework = (enum kerf_framework)(*ret_launch)->framework;
    if (values->ask.framework == NULL && kerf_framework_runner(framework))
        values->ask.framework = kerf_framework_name(framework);
    return KERF_OK;
}

/* Of --emit: whether the files that are to hold the launch end in its form. */
static int32_t check_launch_files(const struct string_list *outputs, enum kerf_framework emit, struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < outputs->count; i++)
        for (const struct render_format *format = formats; code == KERF_OK && format->name; format++)
            if (strcmp(format->name, "launch") == 0 &&
                strcasecmp(format->ending, output_ending(outputs->items[i])) == 0)
                code = launch_file_check(emit, outputs->items[i], err);
    return code;
}

static int32_t check_outputs(const struct plan_options *values, const struct answer *answer,
                             const struct render *render, struct kerf_error *err) {
    int32_t code = render_check(render, err);
    if (code == KERF_OK && values->emit) code = check_launch_files(&values->outputs, answer->emit, err);
    if (code == KERF_OK && values->picture && !render_writes(render, "picture"))
        return kerf_error_set(err, KERF_EINVALID, "--picture says what a picture shows: also give -o plan.svg");
    if (code == KERF_OK && !values->emit && render_writes(render, "launch"))
        return kerf_error_set(err, KERF_EINVALID, "--emit says which framework's launch the file is to hold");
    if (code == KERF_OK && values->ask.why) code = render_check_more(render, "--why", err);
    return code;
}

static int answer(struct plan_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct plan_question question = {.values = NULL};
    struct kerf_plan *plan = NULL;
    struct kerf_launch *launch = NULL;
    struct launch_better better = {.num_changes = 0};
    struct terminal_progress progress = {.what = "searching"};
    struct answer answer = {.values = values};
    int status;
    int32_t code = read_launches(values, &launch, &answer.emit, &err);
    const struct render render = {formats, values->format, &values->outputs, write_answer, &answer};
    if (code == KERF_OK) code = cli_use_catalogue(values->catalogue, &err);
    if (code == KERF_OK) code = plan_question_read(&values->ask, &question, &err);
    if (code == KERF_OK) code = check_outputs(values, &answer, &render, &err);
    if (code == KERF_OK) {
        interrupt_catch();
        code = plan_question_search(&question, (struct call_progress){.tell = terminal_progress, .context = &progress},
                                    &plan, &err);
        terminal_progress_end(&progress);
        if (code == KERF_OK && plan->complete) code = find_more(values, &question, &render, plan, &err);
        answer.plan = plan;
        answer.question = &question;
    }
    if (code == KERF_OK && launch) {
        code = launch_better_find(launch, &question.today, question.choice.cost_model, plan, &better, &err);
        answer.better = &better;
    }
    if (code == KERF_OK) note_ignored(&question);
    if (code == KERF_OK && launch) launch_file_notes(values->launch, launch);
    if (code == KERF_OK) note_launch(plan, &render);
    if (code == KERF_OK) code = render_all(&render, &err);
    if (code == KERF_EINFEASIBLE) {
        cli_fail(&err);
        status = EXIT_NO_ANSWER;
    } else if (code != KERF_OK)
        status = cli_fail(&err);
    else if (was_interrupted(plan))
        status = EXIT_INTERRUPTED;
    else
        status = kerf_plan_best(plan, NULL) ? EXIT_ANSWERED : EXIT_NO_ANSWER;
    launch_better_free(&better);
    kerf_plan_free(plan);
    plan_question_free(&question);
    kerf_launch_free(launch);
    return status;
}

static int run(int argc, char **argv) {
    struct plan_options values = {.ask = PLAN_VALUES, .format = render_usual};
    int status = cli_parse(&plan_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = answer(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command plan_cli = {&table, run};
