/* SPDX-License-Identifier: Apache-2.0 */
#include "call/call_verb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"
#include "call/estimate_question.h"
#include "call/launch_question.h"
#include "call/pictures.h"
#include "call/plan_question.h"
#include "call/schedule_answers.h"
#include "call/schedule_frontier.h"
#include "call/score_question.h"

static struct call_progress progress_of(const struct call_request *request) {
    return (struct call_progress){.tell = request->options->progress, .context = request->options->progress_context};
}

static int32_t parse(const struct command *command, const struct call_request *request, void *values,
                     struct kerf_error *err) {
    int32_t help = 0;
    int32_t code = options_parse(command, request->num_arguments, request->arguments, values, &help, err);
    if (code != KERF_OK || !help) return code;
    options_free(command, values);
    return kerf_error_set(err, KERF_EUNKNOWN, "unknown option --help; `kerf help %s` tells the options", command->name);
}

static int32_t answer_plan(const struct command *command, const struct call_request *request, struct kerf_text *out,
                           struct kerf_error *err) {
    struct plan_values values = PLAN_VALUES;
    struct plan_question question;
    struct kerf_plan *plan = NULL;
    struct kerf_json json;
    int32_t code = parse(command, request, &values, err);
    if (code != KERF_OK) return code;
    values.sources = request->sources;
    code = plan_question_read(&values, &question, err);
    if (code == KERF_OK) {
        code = plan_question_search(&question, progress_of(request), &plan, err);
        if (code == KERF_OK && plan->complete) code = plan_question_explain(&question, progress_of(request), plan, err);
        if (code == KERF_OK && request->format == ANSWER_SVG) {
            code = plan_picture(out, plan, KERF_PICTURE_SVG, err);
        } else if (code == KERF_OK) {
            kerf_json_begin(&json, out);
            plan_question_json(&json, &question, NULL, plan);
        }
        kerf_plan_free(plan);
        plan_question_free(&question);
    }
    options_free(command, &values);
    return code;
}

static int32_t answer_estimate(const struct command *command, const struct call_request *request, struct kerf_text *out,
                               struct kerf_error *err) {
    struct estimate_values values = ESTIMATE_VALUES;
    struct kerf_json json;
    struct estimate_question *question = malloc(sizeof *question);
    int32_t code = question ? parse(command, request, &values, err) : error_no_memory(err, "the answer");
    if (code != KERF_OK) {
        free(question);
        return code;
    }
    values.sources = request->sources;
    values.operations = request->options->operations;
    code = estimate_question_answer(&values, question, err);
    if (code == KERF_OK) {
        kerf_json_begin(&json, out);
        estimate_question_json(&json, question);
        estimate_question_free(question);
    }
    options_free(command, &values);
    free(question);
    return code;
}

/* Slices of a micro-batch; a rule's own are 4, or as many as devices. */
static double slices_of(const struct kerf_schedule_request *request, const char *rule) {
    if (!kerf_schedule_takes_slices(rule)) return 1;
    return request->slices ? request->slices : fmax(request->devices, 4);
}

/* Who asks with a limit must not make the machine run out of memory, which holds all answers at once. */
static int32_t check_operations(const struct schedule_question *question, int64_t most, struct kerf_error *err) {
    const struct kerf_schedule_request *request = &question->request;
    const int is_noisy = !isnan(question->jitter) || question->stragglers.count || question->slow_links.count;
    double operations = 0;
    for (int32_t i = 0; i < question->num_names; i++) {
        const char *name = question->names[i];
        const struct call_file *file = schedule_is_rule(name) ? NULL : call_file_find(question->sources, name);
        for (int32_t m = 0; m < question->microbatches.count; m++)
            operations += file ? (double)file->length / 2 /* "F0" */
                               : 3.0 * fmax(request->devices, 1) * fmax(request->chunks, 1) * slices_of(request, name) *
                                     (double)question->microbatches.values[m];
    }
    operations *= (double)question->num_caps * question->recompute.count * question->offload.count;
    if (is_noisy) operations *= 16; /* thousands of simulations, which nothing ends */
    if (most <= 0 || operations <= (double)most) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "all answers together have about %.0f operations%s, and %lld are allowed here", operations,
                          is_noisy ? ", each counted 16 times as there is noise" : "", (long long)most);
}

static int32_t schedule_html(struct kerf_text *out, struct schedule_answers *answers, struct kerf_error *err) {
    struct kerf_text part = {0};
    struct kerf_json json;
    int32_t code = schedule_picture(&part, answers, KERF_PICTURE_HTML_PART, err);
    answers->with_ops = 0;
    kerf_text_add(out, "{\"answer\":");
    schedule_answers_json(out, answers);
    if (!out->failed && out->data[out->length - 1] == '\n') out->length--; /* one line, as all answers are */
    kerf_text_add(out, ",\"html\":");
    kerf_json_begin(&json, out);
    kerf_json_string(&json, NULL, part.data ? part.data : "");
    kerf_text_add(out, "}");
    if (part.failed) out->failed = 1;
    kerf_text_free(&part);
    return code;
}

static int32_t answer_schedule(const struct command *command, const struct call_request *request, struct kerf_text *out,
                               struct kerf_error *err) {
    struct schedule_values values = SCHEDULE_VALUES;
    struct schedule_question question;
    int32_t code = parse(command, request, &values, err);
    if (code != KERF_OK) return code;
    struct schedule_answers answers = {.with_ops = !values.no_ops};
    values.sources = request->sources;
    code = schedule_question_read(&values, &question, err);
    if (code == KERF_OK) {
        answers.trace = question.trace;
        answers.trace_fit = question.trace_fit;
        code = check_operations(&question, request->options->operations, err);
        if (code == KERF_OK && (request->format == ANSWER_TEXT || request->format == ANSWER_CSV))
            code = schedule_question_check_format(&question, request->format == ANSWER_TEXT ? "text" : "csv",
                                                  request->format == ANSWER_CSV, err);
        if (code == KERF_OK) code = schedule_answers_make(&question, progress_of(request), &answers, err);
        if (code == KERF_OK && answers.frontier) schedule_frontier(&answers);
        if (code == KERF_OK && request->format == ANSWER_SVG)
            code = schedule_picture(out, &answers, KERF_PICTURE_SVG, err);
        else if (code == KERF_OK && request->format == ANSWER_HTML)
            code = schedule_html(out, &answers, err);
        else if (code == KERF_OK && request->format == ANSWER_TEXT)
            code = kerf_schedule_text(out, answers.items[0].schedule, err);
        else if (code == KERF_OK && request->format == ANSWER_CSV)
            code = kerf_schedule_torch(out, answers.items[0].schedule, KERF_TORCH_COMPUTE, err);
        else if (code == KERF_OK)
            schedule_answers_json(out, &answers);
        schedule_answers_free(&answers);
        schedule_question_free(&question);
    }
    options_free(command, &values);
    return code;
}

static int32_t answer_launch(const struct command *command, const struct call_request *request, struct kerf_text *out,
                             struct kerf_error *err) {
    struct launch_values values = {.rank = 0};
    struct kerf_json json;
    int32_t code = parse(command, request, &values, err);
    if (code != KERF_OK) return code;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    code = launch_question_json(&json, &values, err);
    kerf_json_close(&json, '}');
    options_free(command, &values);
    return code;
}

/* A table of runs: the text itself, which has lines, or where files may be read the name of one. */
static int32_t answer_score(const struct command *command, const struct call_request *request, struct kerf_text *out,
                            struct kerf_error *err) {
    struct score_values values = {.by = NULL};
    struct score_answer answer;
    struct kerf_json json;
    int32_t code = parse(command, request, &values, err);
    if (code != KERF_OK) return code;
    const char *runs = values.tables.count == 1 ? values.tables.items[0] : NULL;
    if (runs && strchr(runs, '\n')) {
        values.text = runs;
        values.tables.count = 0;
    } else if (runs && !request->options->files) {
        code = kerf_error_set(err, KERF_EINVALID, "\"runs\" must be the text of a table: files may not be read here");
    }
    if (code == KERF_OK && values.calibration && !request->options->files)
        code = kerf_error_set(err, KERF_EINVALID, "\"calibration\" is a file, and files may not be read here");
    if (code == KERF_OK) code = score_answer_make(&values, &answer, err);
    if (code == KERF_OK && request->format == ANSWER_SVG)
        code = score_picture(out, &answer, KERF_PICTURE_SVG, err), score_answer_free(&answer);
    else if (code == KERF_OK) {
        kerf_json_begin(&json, out);
        score_answer_json(&json, &answer);
        score_answer_free(&answer);
    }
    if (values.text) values.tables.count = 1;
    options_free(command, &values);
    return code;
}

/* The tables of options are for members of a struct. */
struct whole_plan {
    struct plan_values ask;
};
struct whole_estimate {
    struct estimate_values ask;
};
struct whole_schedule {
    struct schedule_values ask;
};
struct whole_score {
    struct score_values ask;
};
static const struct option plan_options[] = {PLAN_OPTIONS(struct whole_plan, ask), {.name = NULL}};
static const struct option estimate_options[] = {ESTIMATE_OPTIONS(struct whole_estimate, ask), {.name = NULL}};
static const struct option schedule_options[] = {SCHEDULE_OPTIONS(struct whole_schedule, ask), {.name = NULL}};
static const struct option score_options[] = {SCORE_OPTIONS(struct whole_score, ask), {.name = NULL}};
static const struct command_use schedule_uses[] = {
    {"SCHEDULE", "SCHEDULE"}, {"compare", "compare SCHEDULE..."}, {"--plan", "--plan FILE"}, {NULL, NULL}};

#define MODEL_ARGUMENT                                                                                                 \
    {                                                                                                                  \
        .name = "model", .types = {"string", "object", "array"},                                                       \
        .description = "A name of the catalogue, a list of them, or a Hugging Face config.json as an object.",         \
        .wants = "name or an object {...}", .is_required = 1                                                           \
    }

static const struct call_verb verbs[] = {
    {.form = {.argument = MODEL_ARGUMENT,
              .objects = "model,system",
              .command = {.name = "plan",
                          .arguments = "MODEL",
                          .options = plan_options,
                          .arguments_offset = offsetof(struct whole_plan, ask.models)}},
     .formats = "json,svg",
     .answer = answer_plan},
    {.form = {.argument = MODEL_ARGUMENT,
              .objects = "model,system",
              .command = {.name = "estimate",
                          .arguments = "MODEL",
                          .options = estimate_options,
                          .arguments_offset = offsetof(struct whole_estimate, ask.models)}},
     .formats = "json",
     .answer = answer_estimate},
    {.form = {.argument = {.name = "schedule",
                           .types = {"string", "array"},
                           .description = "A schedule, or a list of them to compare.",
                           .wants = "name or a list of names",
                           .before_list = "compare"},
              .objects = "",
              .takes_files = 1,
              .command = {.name = "schedule",
                          .options = schedule_options,
                          .arguments_offset = offsetof(struct whole_schedule, ask.names),
                          .uses = schedule_uses,
                          .is_use = schedule_question_is_use}},
     .formats = "json,svg,html,text,csv",
     .answer = answer_schedule},
    {.form = {.argument = {.name = "text",
                           .types = {"string"},
                           .description = "The launch that is to be read: a script or a config.",
                           .wants = "text"},
              .objects = "plan",
              .command = {.name = "launch",
                          .arguments = "TEXT",
                          .options = launch_options,
                          .arguments_offset = offsetof(struct launch_values, texts)}},
     .formats = "json",
     .answer = answer_launch},
    {.form = {.argument = {.name = "runs",
                           .types = {"string"},
                           .description = "A table of measured runs, as text (docs/runs.md); without it the published "
                                          "runs that come with kerf.",
                           .wants = "text of a table"},
              .objects = "",
              .command = {.name = "score",
                          .arguments = "RUNS",
                          .options = score_options,
                          .arguments_offset = offsetof(struct whole_score, ask.tables)}},
     .formats = "json,svg",
     .answer = answer_score},
};
enum { NUM_VERBS = sizeof verbs / sizeof *verbs };

const char *kerf_call_verb_at(size_t index) { return index < NUM_VERBS ? verbs[index].form.command.name : NULL; }

const struct call_verb *call_verb_find(const char *name, struct kerf_error *err) {
    const char *names[NUM_VERBS];
    for (size_t i = 0; i < NUM_VERBS; i++) {
        names[i] = verbs[i].form.command.name;
        if (strcmp(names[i], name) == 0) return &verbs[i];
    }
    const char *nearest = nearest_name(name, names, NUM_VERBS);
    kerf_error_set(err, KERF_EUNKNOWN, "no verb is called '%.64s'; %s%s%s", name,
                   nearest ? "did you mean " : "plan, estimate, schedule, launch and score are", nearest ? nearest : "",
                   nearest ? "?" : "");
    return NULL;
}
