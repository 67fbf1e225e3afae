/* SPDX-License-Identifier: Apache-2.0 */
/* kerf plan: searches the layouts of every model, system, domain size, strategy and number of accelerators asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "call/plan_question.h"
#include "cli/command.h"
#include "call/pictures.h"
#include "cli/plan_print.h"
#include "cli/render.h"
#include "cli/terminal.h"

struct plan_options {
    struct plan_values ask;
    struct string_list outputs;
    const char *catalogue, *format, *picture;
};

#define AT(field) .offset = offsetof(struct plan_options, field)
static const struct option options[] = {
    PLAN_OPTIONS(struct plan_options, ask),
    {.name = "catalogue", .type = OPTION_STRING, AT(catalogue), .value = "DIR", .help = CLI_CATALOGUE_HELP},
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
    const struct print_style print = {style->columns, style->colour, !style->is_terminal && !getenv("COLUMNS")};
    struct kerf_json json;
    if (format->is_picture && shows_front(style->path, answer->values))
        return front_picture(out, plan, format->picture, err);
    if (format->is_picture) return plan_picture(out, plan, format->picture, err);
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

/* Beside the search itself: why, what would help, the front. */
static int32_t find_more(const struct plan_options *values, const struct plan_question *question,
                         const struct render *render, struct kerf_plan *plan, struct kerf_error *err) {
    struct terminal_progress next = {.what = "explaining"};
    struct call_progress progress = {terminal_progress, &next};
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

/* Once a model: its problems stand together. */
static void note_models(const struct plan_question *question) {
    for (size_t i = 0; i < question->num_problems; i++)
        if (i == 0 || strcmp(question->problems[i].model.name, question->problems[i - 1].model.name) != 0)
            model_notes(&question->problems[i].model, question->choice.cost_model);
}

static int answer(const struct plan_options *values) {
    struct kerf_error err = {.code = KERF_OK};
    struct plan_question question = {.values = NULL};
    struct kerf_plan *plan = NULL;
    struct terminal_progress progress = {.what = "searching"};
    struct answer answer = {values, NULL};
    const struct render render = {formats, values->format, &values->outputs, write_answer, &answer};
    int status;
    int32_t code = cli_use_catalogue(values->catalogue, &err);
    if (code == KERF_OK) code = plan_question_read(&values->ask, &question, &err);
    if (code == KERF_OK) code = render_check(&render, &err);
    if (code == KERF_OK && values->picture && !render_writes(&render, "picture"))
        code = kerf_error_set(&err, KERF_EINVALID, "--picture says what a picture shows: also give -o plan.svg");
    if (code == KERF_OK) {
        interrupt_catch();
        code = plan_question_search(&question, (struct call_progress){terminal_progress, &progress}, &plan, &err);
        terminal_progress_end(&progress);
        if (code == KERF_OK && plan->complete) code = find_more(values, &question, &render, plan, &err);
        answer.plan = plan;
    }
    if (code == KERF_OK) note_models(&question);
    if (code == KERF_OK) code = render_all(&render, &err);
    if (code != KERF_OK)
        status = cli_fail(&err);
    else if (was_interrupted(plan))
        status = EXIT_INTERRUPTED;
    else
        status = kerf_plan_best(plan, NULL) ? EXIT_ANSWERED : EXIT_NO_ANSWER;
    kerf_plan_free(plan);
    plan_question_free(&question);
    return status;
}

static int run(int argc, char **argv) {
    struct plan_options values = {.ask = PLAN_VALUES, .format = "table"};
    int status = cli_parse(&plan_cli, argc, argv, &values);
    if (status >= 0) return status;
    status = answer(&values);
    options_free(&table, &values);
    return status;
}

const struct cli_command plan_cli = {&table, run};
