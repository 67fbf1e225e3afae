/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request becomes the arguments that `kerf VERB` would get, {"gpus":512,"tp":[4,8]} --gpus=512 --tp=4,8, and is read by
 * the same table of options, so that both say the same of the same mistake.
 */
#include "kerf/call.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/characters.h"
#include "base/error_fill.h"
#include "base/json_read.h"
#include "call/estimate_question.h"
#include "call/pictures.h"
#include "call/plan_question.h"
#include "call/schedule_answers.h"
#include "call/schedule_frontier.h"
#include "call/score_question.h"

enum { OPTIONS_SIZE_MAX = 4096 }; /* of kerf_call_options, in any version */

/* ---- Verbs ------------------------------------------------------------------------------------------------ */

struct request {
    const struct kerf_call_options *options;
    struct call_sources sources;
    const char *plan_json; /* an answer in the request itself */
    enum answer_format { ANSWER_JSON, ANSWER_SVG, ANSWER_HTML, ANSWER_TEXT, ANSWER_CSV } format;
    struct arena arena;
    char **arguments; /* [num_arguments] */
    int num_arguments, room;
};

struct verb {
    const char *name;
    const char *argument; /* the member that stands for the command's argument */
    const char *formats;  /* of its answer */
    struct command command;
    int32_t (*answer)(const struct command *command, const struct request *request, struct kerf_text *out,
                      struct kerf_error *err);
};

static struct call_progress progress_of(const struct request *request) {
    return (struct call_progress){.tell = request->options->progress, .context = request->options->progress_context};
}

static int32_t parse(const struct command *command, const struct request *request, void *values,
                     struct kerf_error *err) {
    int32_t help = 0;
    int32_t code = options_parse(command, request->num_arguments, request->arguments, values, &help, err);
    if (code != KERF_OK || !help) return code;
    options_free(command, values);
    return kerf_error_set(err, KERF_EUNKNOWN, "unknown option --help; `kerf help %s` tells the options", command->name);
}

static int32_t answer_plan(const struct command *command, const struct request *request, struct kerf_text *out,
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

static int32_t answer_estimate(const struct command *command, const struct request *request, struct kerf_text *out,
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
    const int is_noisy = !isnan(question->jitter) || question->straggler || question->slow_link;
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

static int32_t answer_schedule(const struct command *command, const struct request *request, struct kerf_text *out,
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

/* ---- launch: reads a text, or writes one for a plan ------------------------------------------------------------- */

struct launch_values {
    struct string_list texts;
    const char *framework, *version, *name, *write, *plan;
    int64_t gpus, rank;
};

#define LAUNCH_TEXT(member, option_name, what, words)                                                                  \
    {                                                                                                                  \
        .name = option_name, .type = OPTION_STRING, .offset = offsetof(struct launch_values, member), .value = what,   \
        .help = words                                                                                                  \
    }
static const struct option launch_options[] = {
    LAUNCH_TEXT(framework, "framework", "NAME", "The framework of the text (default: recognised)."),
    LAUNCH_TEXT(version, "framework-version", "V", "The release of the framework, such as 0.15.0 or main."),
    LAUNCH_TEXT(name, "name", "NAME",
                "The text's name, whose ending tells its form: launch.sh, .toml, .yaml or .json."),
    {.name = "gpus",
     .type = OPTION_INTEGER,
     .offset = offsetof(struct launch_values, gpus),
     .value = "N",
     .minimum = 1,
     .maximum = KERF_COUNT_MAX,
     .help = "Accelerators of the job (default: as the text says)."},
    LAUNCH_TEXT(write, "write", "FRAMEWORK",
                "Write a launch of this framework for the plan instead of reading a text."),
    LAUNCH_TEXT(plan, "plan", "JSON", "The answer of plan or estimate, an object or its text."),
    {.name = "rank",
     .type = OPTION_INTEGER,
     .offset = offsetof(struct launch_values, rank),
     .value = "N",
     .minimum = 1,
     .maximum = KERF_TOP_MAX,
     .help = "Which of the plan's layouts (default: 1, the best)."},
    {.name = NULL},
};

/* What reading or writing would ignore. */
static int32_t check_launch(const struct launch_values *values, int has_plan, struct kerf_error *err) {
    const char *written = has_plan ? "plan" : values->rank ? "rank" : NULL;
    const char *read = values->texts.count ? "text"
                       : values->name      ? "name"
                       : values->framework ? "framework"
                       : values->gpus      ? "gpus"
                                           : NULL;
    if (values->write && read)
        return kerf_error_set(err, KERF_EINVALID, "\"%s\" is for a launch that is read, and \"write\" writes one",
                              read);
    if (!values->write && written)
        return kerf_error_set(err, KERF_EINVALID, "\"%s\" is for a launch that is written, and \"write\" is missing",
                              written);
    return KERF_OK;
}

static int32_t read_launch(const struct launch_values *values, struct kerf_json *json, struct kerf_error *err) {
    const struct kerf_launch_options how = {
        .framework = values->framework, .version = values->version, .gpus = values->gpus};
    struct kerf_launch *launch = NULL;
    if (values->texts.count != 1)
        return kerf_error_set(err, KERF_EINVALID, "\"text\" is missing: the launch that is to be read");
    const char *text = values->texts.items[0];
    int32_t code = kerf_launch_read(text, strlen(text), values->name ? values->name : "launch", &how, &launch, err);
    if (code == KERF_OK) kerf_launch_json(json, launch);
    kerf_launch_free(launch);
    return code;
}

static int32_t write_launch(const struct launch_values *values, const char *plan, struct kerf_json *json,
                            struct kerf_error *err) {
    struct kerf_problem *problem = calloc(1, sizeof *problem);
    struct kerf_layout layout = {.stage_layers = NULL};
    struct kerf_text text = {0};
    enum kerf_framework framework = KERF_FRAMEWORK_MEGATRON;
    int32_t code = problem ? kerf_framework_parse(values->write, &framework, err) : error_no_memory(err, "the launch");
    if (code == KERF_OK && plan == NULL)
        code = kerf_error_set(err, KERF_EINVALID, "\"plan\" is missing: the answer that is to be launched");
    if (code == KERF_OK)
        code = kerf_launch_plan_parse(plan, strlen(plan), "plan", values->rank ? (int32_t)values->rank : 1, problem,
                                      &layout, err);
    if (code == KERF_OK) code = kerf_launch_write(framework, values->version, problem, &layout, &text, err);
    if (code == KERF_OK) {
        kerf_json_string(json, "framework", kerf_framework_name(framework));
        kerf_json_string(json, "text", text.data);
    }
    kerf_layout_release(&layout);
    kerf_text_free(&text);
    free(problem);
    return code;
}

static int32_t answer_launch(const struct command *command, const struct request *request, struct kerf_text *out,
                             struct kerf_error *err) {
    struct launch_values values = {.rank = 0};
    struct kerf_json json;
    int32_t code = parse(command, request, &values, err);
    if (code != KERF_OK) return code;
    const char *plan = request->plan_json ? request->plan_json : values.plan;
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    code = check_launch(&values, plan != NULL, err);
    if (code == KERF_OK)
        code = values.write ? write_launch(&values, plan, &json, err) : read_launch(&values, &json, err);
    kerf_json_close(&json, '}');
    options_free(command, &values);
    return code;
}

/* A table of runs: the text itself, which has lines, or where files may be read the name of one. */
static int32_t answer_score(const struct command *command, const struct request *request, struct kerf_text *out,
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

struct whole_plan {
    struct plan_values ask;
};
struct whole_estimate {
    struct estimate_values ask;
};
struct whole_schedule {
    struct schedule_values ask;
};
static const struct option plan_options[] = {PLAN_OPTIONS(struct whole_plan, ask), {.name = NULL}};
static const struct option estimate_options[] = {ESTIMATE_OPTIONS(struct whole_estimate, ask), {.name = NULL}};
static const struct option schedule_options[] = {SCHEDULE_OPTIONS(struct whole_schedule, ask), {.name = NULL}};
struct whole_score {
    struct score_values ask;
};
static const struct option score_options[] = {SCORE_OPTIONS(struct whole_score, ask), {.name = NULL}};
static const struct command_use schedule_uses[] = {
    {"SCHEDULE", "SCHEDULE"}, {"compare", "compare SCHEDULE..."}, {"--plan", "--plan FILE"}, {NULL, NULL}};

static const struct verb verbs[] = {
    {"plan",
     "model",
     "json,svg",
     {.name = "plan",
      .arguments = "MODEL",
      .options = plan_options,
      .arguments_offset = offsetof(struct whole_plan, ask.models)},
     answer_plan},
    {"estimate",
     "model",
     "json",
     {.name = "estimate",
      .arguments = "MODEL",
      .options = estimate_options,
      .arguments_offset = offsetof(struct whole_estimate, ask.models)},
     answer_estimate},
    {"schedule",
     "schedule",
     "json,svg,html,text,csv",
     {.name = "schedule",
      .options = schedule_options,
      .arguments_offset = offsetof(struct whole_schedule, ask.names),
      .uses = schedule_uses,
      .is_use = schedule_question_is_use},
     answer_schedule},
    {"launch",
     "text",
     "json",
     {.name = "launch",
      .arguments = "TEXT",
      .options = launch_options,
      .arguments_offset = offsetof(struct launch_values, texts)},
     answer_launch},
    {"score",
     "runs",
     "json,svg",
     {.name = "score",
      .arguments = "RUNS",
      .options = score_options,
      .arguments_offset = offsetof(struct whole_score, ask.tables)},
     answer_score},
};
enum { NUM_VERBS = sizeof verbs / sizeof *verbs };

const char *kerf_call_verb_at(size_t index) { return index < NUM_VERBS ? verbs[index].name : NULL; }

/* NULL: err says which there are. */
static const struct verb *find_verb(const char *name, struct kerf_error *err) {
    const char *names[NUM_VERBS];
    for (size_t i = 0; i < NUM_VERBS; i++) {
        names[i] = verbs[i].name;
        if (strcmp(names[i], name) == 0) return &verbs[i];
    }
    const char *nearest = nearest_name(name, names, NUM_VERBS);
    kerf_error_set(err, KERF_EUNKNOWN, "no verb is called '%.64s'; %s%s%s", name,
                   nearest ? "did you mean " : "plan, estimate, schedule, launch and score are", nearest ? nearest : "",
                   nearest ? "?" : "");
    return NULL;
}

static int32_t read_format(const struct verb *verb, const char *format, enum answer_format *ret_format,
                           struct kerf_error *err) {
    static const char *const words[] = {[ANSWER_JSON] = "json",
                                        [ANSWER_SVG] = "svg",
                                        [ANSWER_HTML] = "html",
                                        [ANSWER_TEXT] = "text",
                                        [ANSWER_CSV] = "csv"};
    *ret_format = ANSWER_JSON;
    for (size_t i = 0; format && i < sizeof words / sizeof *words; i++)
        if (strcmp(format, words[i]) == 0 && list_has(verb->formats, format)) {
            *ret_format = (enum answer_format)i;
            return KERF_OK;
        }
    if (format == NULL) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s has no answer as '%.40s', only as %s", verb->name, format,
                          verb->formats);
}

/* ---- From JSON to arguments ------------------------------------------------------------------------------- */

static int32_t add_argument(struct request *request, char *argument, struct kerf_error *err) {
    if (argument == NULL) return error_no_memory(err, "the request");
    if (request->num_arguments == request->room) {
        int room = request->room ? 2 * request->room : 32;
        char **arguments = realloc(request->arguments, (size_t)room * sizeof *arguments);
        if (arguments == NULL) return error_no_memory(err, "the request");
        request->arguments = arguments;
        request->room = room;
    }
    request->arguments[request->num_arguments++] = argument;
    return KERF_OK;
}

/* A number, a text or a truth value as an option has it; 0: it is none of these. */
static int write_value(struct kerf_text *out, const json_t *value) {
    if (json_is_string(value))
        kerf_text_add(out, json_string_value(value));
    else if (json_is_integer(value))
        kerf_text_printf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        kerf_text_number(out, json_real_value(value));
    else
        return 0;
    return 1;
}

/* "seq_length" of a request is --seq-length. */
static char *option_text(struct request *request, const char *key, const char *value) {
    char *text = arena_printf(&request->arena, value ? "--%s=%s" : "--%s", key, value);
    for (char *c = text; c && *c && *c != '='; c++)
        if (*c == '_') *c = '-';
    return text;
}

/* NULL: there is none. */
static const struct option *find_option(const struct command *command, const char *key) {
    for (const struct option *option = command->options; option->name; option++) {
        size_t length = strlen(key), i = 0;
        while (i < length && option->name[i] == (key[i] == '_' ? '-' : key[i])) i++;
        if (i == length && option->name[i] == 0) return option;
    }
    return NULL;
}

static int32_t add_list(struct request *request, const struct json_object *root, const struct option *option,
                        const char *key, const json_t *list, struct kerf_error *err) {
    struct kerf_text text = {0};
    const json_t *item;
    size_t i;
    int repeats = option && option->type == OPTION_STRINGS;
    int32_t code = KERF_OK;
    json_array_foreach((json_t *)list, i, item) {
        if (i > 0 && !repeats) kerf_text_add(&text, ",");
        if (!write_value(&text, item))
            code = json_fail(root, key, KERF_EINVALID, err, "\"%s\" must be a list of numbers or texts", key);
        if (code == KERF_OK && repeats)
            code = add_argument(request, option_text(request, key, text.data ? text.data : ""), err);
        if (code != KERF_OK) break;
        if (repeats) kerf_text_clear(&text);
    }
    if (code == KERF_OK && !repeats)
        code = add_argument(request, option_text(request, key, text.data ? text.data : ""), err);
    kerf_text_free(&text);
    return code;
}

static int32_t add_option(struct request *request, const struct json_object *root, const struct command *command,
                          const char *key, const json_t *value, struct kerf_error *err) {
    struct kerf_text text = {0};
    const struct option *option = find_option(command, key);
    if (json_is_array(value)) return add_list(request, root, option, key, value, err);
    if (json_is_false(value) && option && option->type == OPTION_FLAG) return KERF_OK;
    if (json_is_boolean(value) && option && option->type != OPTION_FLAG)
        return json_fail(root, key, KERF_EINVALID, err, "\"%s\" must be a number, a text or a list of them, not %s",
                         key, json_is_true(value) ? "true" : "false");
    if (json_is_boolean(value)) return add_argument(request, option_text(request, key, NULL), err);
    if (!write_value(&text, value))
        return json_fail(root, key, KERF_EINVALID, err, "\"%s\" must be a number, a text, true or a list of them", key);
    int32_t code = text.failed ? error_no_memory(err, "the request")
                               : add_argument(request, option_text(request, key, text.data ? text.data : ""), err);
    kerf_text_free(&text);
    return code;
}

/* A description in the request itself. */
static int32_t add_description(struct request *request, const char *key, const json_t *value, struct kerf_error *err) {
    char *json = json_dumps(value, JSON_REAL_PRECISION(17) | JSON_COMPACT);
    const char *kept = json ? arena_copy(&request->arena, json, strlen(json)) : NULL;
    free(json);
    if (kept == NULL) return error_no_memory(err, "the request");
    *(strcmp(key, "model") == 0    ? &request->sources.model_json
      : strcmp(key, "system") == 0 ? &request->sources.system_json
                                   : &request->plan_json) = kept;
    return KERF_OK;
}

/* {"mine.txt":"...", ...} */
static int32_t add_files(struct request *request, const struct json_object *root, json_t *value,
                         struct kerf_error *err) {
    const char *name;
    json_t *text;
    size_t count = json_object_size(value);
    if (!json_is_object(value))
        return json_fail(root, "files", KERF_EINVALID, err, "\"files\" must be an object with the text of each file");
    struct call_file *files = arena_alloc(&request->arena, count + 1, sizeof *files);
    if (files == NULL) return error_no_memory(err, "the request");
    request->sources.files = files;
    json_object_foreach(value, name, text) {
        struct call_file *file = &files[request->sources.num_files++];
        if (!json_is_string(text))
            return json_fail(root, "files", KERF_EINVALID, err, "\"files\": '%.64s' must be the text of the file",
                             name);
        file->name = arena_copy(&request->arena, name, strlen(name));
        file->length = json_string_length(text);
        file->text = arena_copy(&request->arena, json_string_value(text), file->length);
        if (file->name == NULL || file->text == NULL) return error_no_memory(err, "the request");
    }
    return KERF_OK;
}

/* What stands for the command's argument, or several for a list: behind "--", which ends the options. */
static int32_t add_names(struct request *request, const struct verb *verb, const struct json_object *root,
                         struct kerf_error *err) {
    json_t *value = json_object_get(root->json, verb->argument), *item;
    size_t i;
    if (value == NULL || json_is_null(value)) return KERF_OK;
    int32_t code = add_argument(request, arena_printf(&request->arena, "--"), err);
    if (json_is_array(value) && strcmp(verb->argument, "schedule") == 0 && code == KERF_OK)
        code = add_argument(request, arena_printf(&request->arena, "compare"), err);
    if (code == KERF_OK && json_is_object(value) && strcmp(verb->argument, "model") == 0)
        return add_argument(request, arena_printf(&request->arena, "-"), err);
    if (code == KERF_OK && json_is_string(value))
        return add_argument(request, arena_printf(&request->arena, "%s", json_string_value(value)), err);
    if (code == KERF_OK && !json_is_array(value))
        return json_fail(root, verb->argument, KERF_EINVALID, err, "\"%s\" must be a %s", verb->argument,
                         strcmp(verb->argument, "model") == 0  ? "name or an object {...}"
                         : strcmp(verb->argument, "text") == 0 ? "text"
                         : strcmp(verb->argument, "runs") == 0 ? "text of a table"
                                                               : "name or a list of names");
    json_array_foreach(value, i, item) {
        if (code == KERF_OK && !json_is_string(item))
            code =
                json_fail(root, verb->argument, KERF_EINVALID, err, "\"%s\" must be a list of names", verb->argument);
        if (code == KERF_OK)
            code = add_argument(request, arena_printf(&request->arena, "%s", json_string_value(item)), err);
    }
    return code;
}

static int32_t read_request(struct request *request, const struct verb *verb, const struct json_object *root,
                            struct kerf_error *err) {
    const char *key;
    json_t *value;
    int32_t code = KERF_OK;
    json_object_foreach(root->json, key, value) {
        int is_plan = strcmp(key, "plan") == 0 && verb->answer == answer_launch;
        int is_model = strcmp(key, "model") == 0 && strcmp(verb->argument, "model") == 0;
        int is_description = is_model || strcmp(key, "system") == 0 || is_plan;
        if (code != KERF_OK) break;
        if (json_is_null(value)) continue;
        if (strcmp(key, "files") == 0 && verb->answer == answer_schedule) {
            code = add_files(request, root, value, err);
        } else if (is_description && json_is_object(value)) {
            code = add_description(request, key, value, err);
            if (code == KERF_OK && strcmp(key, "system") == 0)
                code = add_argument(request, option_text(request, key, "-"), err);
        } else if (strcmp(key, verb->argument) != 0) {
            code = add_option(request, root, &verb->command, key, value, err);
        }
    }
    return code == KERF_OK ? add_names(request, verb, root, err) : code;
}

/* Of a program that was built with another version's header: members that it lacks are 0; members that this version lacks
 * must be 0, as what they ask for would be ignored. */
static int32_t take_options(const struct kerf_call_options *given, struct kerf_call_options *ret_options,
                            struct kerf_error *err) {
    const char *bytes = (const char *)given;
    if (given == NULL) return KERF_OK;
    if (given->size < sizeof given->size || given->size > OPTIONS_SIZE_MAX)
        return kerf_error_set(err, KERF_EINVALID,
                              "the member size of kerf_call_options must be the size of the struct");
    for (size_t i = sizeof *ret_options; i < given->size; i++)
        if (bytes[i] != 0)
            return kerf_error_set(err, KERF_EUNSUPPORTED, "libkerf %s is older than the program: an option is unknown",
                                  kerf_version());
    memcpy(ret_options, given, given->size < sizeof *ret_options ? given->size : sizeof *ret_options);
    return KERF_OK;
}

int32_t kerf_call(const char *name, const char *text, size_t length, const struct kerf_call_options *options,
                  char **ret_answer, struct kerf_error *err) {
    struct kerf_call_options said = {.size = sizeof said};
    struct request request = {.options = &said};
    struct json_document document;
    struct json_object root;
    struct kerf_text out = {0};
    assert(name && text && ret_answer);
    const struct verb *verb = find_verb(name, err);
    if (verb == NULL) return KERF_EUNKNOWN;
    int32_t code = take_options(options, &said, err);
    if (code != KERF_OK) return code;
    request.sources.catalogue_only = !said.files;
    request.sources.trace = said.trace;
    code = read_format(verb, said.format, &request.format, err);
    if (code != KERF_OK) return code;
    code = json_document_parse(&document, text, length, "request", &root, err);
    if (code == KERF_OK) code = read_request(&request, verb, &root, err);
    json_document_free(&document);
    if (code == KERF_OK) code = verb->answer(&verb->command, &request, &out, err);
    if (code == KERF_OK && out.failed) code = error_no_memory(err, "the answer");
    if (code == KERF_OK) {
        kerf_text_write(&out, "", 0);
        *ret_answer = out.data;
    } else {
        kerf_text_free(&out);
    }
    arena_free(&request.arena);
    free(request.arguments);
    return code;
}

void kerf_call_free(char *answer) { free(answer); }

/* ---- Schemas ---------------------------------------------------------------------------------------------- */

static void choices_json(struct kerf_json *json, const char *choices) {
    kerf_json_open(json, "enum", '[');
    for (const char *choice = choices; *choice;) {
        size_t length = strcspn(choice, ",");
        char word[64] = {0};
        assert(length < sizeof word);
        memcpy(word, choice, length);
        kerf_json_string(json, NULL, word);
        choice += length + (choice[length] == ',');
    }
    kerf_json_close(json, ']');
}

static void types_json(struct kerf_json *json, const char *const *types) {
    kerf_json_open(json, "type", '[');
    for (; *types; types++) kerf_json_string(json, NULL, *types);
    kerf_json_close(json, ']');
}

/* Options whose value may be described in the request itself. */
static int may_be_object(const struct verb *verb, const char *key) {
    return strcmp(key, "system") == 0 || (strcmp(key, "plan") == 0 && verb->answer == answer_launch);
}

static void option_json(struct kerf_json *json, const struct verb *verb, const struct option *option) {
    static const char *const texts[] = {"string", "number", "array", NULL}, *const times[] = {"number", "string", NULL},
                             *const descriptions[] = {"string", "object", "array", NULL};
    char key[64];
    assert(strlen(option->name) < sizeof key);
    strcpy(key, option->name);
    for (char *c = key; *c; c++)
        if (*c == '-') *c = '_';
    kerf_json_open(json, key, '{');
    switch (option->type) {
    case OPTION_FLAG: kerf_json_string(json, "type", "boolean"); break;
    case OPTION_INTEGER: kerf_json_string(json, "type", "integer"); break;
    case OPTION_NUMBER: kerf_json_string(json, "type", "number"); break;
    case OPTION_DURATION: types_json(json, times); break;
    case OPTION_CHOICE: choices_json(json, option->choices); break;
    case OPTION_STRING:
    case OPTION_ONE:
    case OPTION_STRINGS: types_json(json, may_be_object(verb, key) ? descriptions : texts); break;
    }
    if (option->type == OPTION_INTEGER && (option->minimum != 0 || option->maximum != 0)) {
        kerf_json_number(json, "minimum", option->minimum);
        kerf_json_number(json, "maximum", option->maximum);
    }
    kerf_json_string(json, "description", option->help);
    kerf_json_close(json, '}');
}

/* The member that stands for the command's argument: of which types, and what it is. */
static void argument_json(struct kerf_json *json, const char *name) {
    static const struct {
        const char *name, *types[4], *description;
    } members[] = {
        {"model",
         {"string", "object", "array"},
         "A name of the catalogue, a list of them, or a Hugging Face config.json as an object."},
        {"text", {"string"}, "The launch that is to be read: a script or a config."},
        {"runs",
         {"string"},
         "A table of measured runs, as text (docs/runs.md); without it the published runs that come with kerf."},
        {"schedule", {"string", "array"}, "A schedule, or a list of them to compare."},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(members[i].name, name) != 0) continue;
        kerf_json_open(json, name, '{');
        types_json(json, members[i].types);
        kerf_json_string(json, "description", members[i].description);
        kerf_json_close(json, '}');
    }
}

int32_t kerf_call_schema(const char *name, char **ret_schema, struct kerf_error *err) {
    const struct verb *verb = find_verb(name, err);
    struct kerf_text out = {0};
    struct kerf_json json;
    if (verb == NULL) return KERF_EUNKNOWN;
    kerf_json_begin(&json, &out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "type", "object");
    kerf_json_boolean(&json, "additionalProperties", 0);
    kerf_json_open(&json, "required", '[');
    if (strcmp(verb->argument, "model") == 0) kerf_json_string(&json, NULL, verb->argument);
    kerf_json_close(&json, ']');
    kerf_json_open(&json, "properties", '{');
    argument_json(&json, verb->argument);
    if (verb->answer == answer_schedule) {
        kerf_json_open(&json, "files", '{');
        kerf_json_string(&json, "type", "object");
        kerf_json_string(&json, "description",
                         "The text of each file that \"schedule\", \"plan\", \"times\" or \"trace\" name.");
        kerf_json_close(&json, '}');
    }
    for (const struct option *option = verb->command.options; option->name; option++) option_json(&json, verb, option);
    kerf_json_close(&json, '}');
    kerf_json_close(&json, '}');
    if (out.failed) {
        kerf_text_free(&out);
        return error_no_memory(err, "the schema");
    }
    *ret_schema = out.data;
    return KERF_OK;
}
