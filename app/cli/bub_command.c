/* SPDX-License-Identifier: Apache-2.0 */
/* kerf bub: best_bub's command line, answered by `kerf tune llama`. Its options, defaults and grid are those of
 * robbiemu/llama-gguf-optimize, src/best_bub.py. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/number.h"
#include "cli/command.h"
#include "cli/llama_question.h"
#include "cli/terminal.h"
#include "cli/tune_print.h"

struct bub_options {
    struct string_list outputs;
    const char *model, *max_trials, *chunks, *verbosity, *interference, *format;
    int64_t context, gpu_layers, threads, top_k, seed, repeat_last_n, mirostat;
    double temp, top_p, min_p, repeat_penalty, presence_penalty, frequency_penalty, dynatemp_range, dynatemp_exp,
        mirostat_lr, mirostat_ent;
    int32_t conform_to_imatrix;
};

/* Options without effect: best_bub hands them to the constructor of Llama, which has no such parameters. */
#define INERT(option, field, option_type, what)                                                                        \
    {                                                                                                                  \
        .name = option, .type = option_type, .offset = offsetof(struct bub_options, field), .value = "X",              \
        .help = what " Without effect, as in best_bub."                                                                \
    }
#define AT(field) .offset = offsetof(struct bub_options, field)
static const struct option options[] = {
    {.name = "model", .type = OPTION_STRING, AT(model), .value = "FILE", .help = "The model, a GGUF file."},
    {.name = "context-size",
     .type = OPTION_INTEGER,
     AT(context),
     .value = "N",
     .minimum = 2,
     .maximum = 1 << 30,
     .help = "Tokens of context; a chunk has one token less."},
    {.name = "n-gpu-layers",
     .type = OPTION_INTEGER,
     AT(gpu_layers),
     .value = "N",
     .minimum = -1,
     .maximum = 4096,
     .help = "Layers on devices (default: 50)."},
    {.name = "threads",
     .type = OPTION_INTEGER,
     AT(threads),
     .value = "N",
     .minimum = 1,
     .maximum = 4096,
     .help = "Threads (default: one less than there are processors). In best_bub it had no effect on chunks, which "
             "used all processors; in kerf it has."},
    {.name = "max-trials",
     .type = OPTION_STRING,
     AT(max_trials),
     .value = "N|auto",
     .help = "At most N times --chunks measurements (default: auto, as many as are needed)."},
    {.name = "chunks",
     .type = OPTION_STRING,
     AT(chunks),
     .value = "N|auto",
     .help =
         "Chunks of a trial. --max-trials times this number is the largest number of measurements (default: auto)."},
    {.name = "conform-to-imatrix",
     .type = OPTION_FLAG,
     AT(conform_to_imatrix),
     .help = "Only batches that llama-imatrix can use."},
    {.name = "verbosity",
     .type = OPTION_CHOICE,
     AT(verbosity),
     .value = "LEVEL",
     .choices = "DEBUG,INFO,WARNING,ERROR,CRITICAL",
     .help = "DEBUG shows what llama.cpp prints; WARNING and above leave out the remarks (default: INFO)."},
    INERT("temp", temp, OPTION_NUMBER, "Sampling temperature."),
    INERT("top-k", top_k, OPTION_INTEGER, "Sampling."),
    INERT("top-p", top_p, OPTION_NUMBER, "Sampling."),
    INERT("min-p", min_p, OPTION_NUMBER, "Sampling."),
    {.name = "seed",
     .type = OPTION_INTEGER,
     AT(seed),
     .value = "N",
     .minimum = 0,
     .maximum = 9007199254740991,
     .help = "In best_bub the model's seed, without effect on times; in kerf the seed of its decisions (default: 0)."},
    INERT("repeat-last-n", repeat_last_n, OPTION_INTEGER, "Sampling."),
    INERT("repeat-penalty", repeat_penalty, OPTION_NUMBER, "Sampling."),
    INERT("presence-penalty", presence_penalty, OPTION_NUMBER, "Sampling."),
    INERT("frequency-penalty", frequency_penalty, OPTION_NUMBER, "Sampling."),
    INERT("dynatemp-range", dynatemp_range, OPTION_NUMBER, "Sampling."),
    INERT("dynatemp-exp", dynatemp_exp, OPTION_NUMBER, "Sampling."),
    INERT("mirostat", mirostat, OPTION_INTEGER, "Sampling."),
    INERT("mirostat-lr", mirostat_lr, OPTION_NUMBER, "Sampling."),
    INERT("mirostat-ent", mirostat_ent, OPTION_NUMBER, "Sampling."),
    {.name = "interference",
     .type = OPTION_CHOICE,
     AT(interference),
     .value = "WHAT",
     .choices = "remeasure,ignore",
     .help = "What to do if other programs kept the machine busy: measure again (default), or ignore it, as best_bub "
             "does."},
    {.name = "format",
     .letter = 'f',
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORM",
     .choices = "table,json,csv,markdown",
     .help = "What is printed (default: table)."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRINGS,
     AT(outputs),
     .value = "FILE",
     .help = "Write FILE too, in the format of its name, as `kerf tune` does. May be given several times."},
    {.name = NULL},
};

static const char *const examples[] = {
    "The batch and ubatch of a model",
    "kerf bub --model model.gguf --context-size 4096",
    NULL,
};

static const struct command table = {
    .name = "bub",
    .summary = "batch and ubatch of llama.cpp, with best_bub's options",
    .description =
        "Takes the command line of best_bub (llama-gguf-optimize) and answers it like `kerf tune llama`: the model "
        "is "
        "loaded once, every measurement is one chunk in a fresh context, and the smallest ubatch and batch within 5 % "
        "of "
        "the best are recommended. Options that never had an effect in best_bub are named on standard error.",
    .options = options,
    .examples = examples,
};

/* ---- Options without effect --------------------------------------------------------------------------------- */

/* The value of an option that was not given. */
#define NOT_GIVEN_INTEGER INT64_MIN
static void tell_inert(const struct bub_options *values) {
    struct kerf_text names = {0};
    const struct option *option;
    for (option = options; option->name; option++) {
        const char *field = (const char *)values + option->offset;
        double real;
        int64_t integer;
        if (option->help == NULL || strstr(option->help, "Without effect") == NULL) continue;
        memcpy(&real, field, sizeof real);
        memcpy(&integer, field, sizeof integer);
        if (option->type == OPTION_NUMBER ? isnan(real) : integer == NOT_GIVEN_INTEGER) continue;
        kerf_text_printf(&names, "%s--%s", names.length ? ", " : "", option->name);
    }
    if (names.data)
        fprintf(stderr,
                "kerf: without effect, as in best_bub, which passes them to a constructor that ignores them: %s\n",
                names.data);
    if (values->threads)
        fprintf(stderr, "kerf: --threads %" PRId64 " has effect; in best_bub chunks used all processors in any case\n",
                values->threads);
    kerf_text_free(&names);
}

/* ---- From the options to the study ------------------------------------------------------------------------------ */

/* 0 for "auto". */
static int32_t read_count(const char *option, const char *text, int64_t *ret_count, struct kerf_error *err) {
    if (text == NULL || strcmp(text, "auto") == 0) {
        *ret_count = 0;
        return KERF_OK;
    }
    char *end;
    double count = number_read(text, &end);
    if (end == text || *end || !(count >= 1 && count <= 1e6) || count != floor(count))
        return kerf_error_set(err, KERF_EINVALID, "%s '%.40s' must be a whole number above 0, or auto", option, text);
    *ret_count = (int64_t)count;
    return KERF_OK;
}

/* The grid ends where best_bub's formula for memory says. */
static int32_t read_limits(const struct bub_options *values, struct llama_question *question,
                           struct kerf_bub_limits *ret_limits, struct kerf_error *err) {
    struct kerf_machine_memory machine;
    struct kerf_gguf *gguf = NULL;
    int32_t code = kerf_machine_memory_read(&machine, err);
    if (code == KERF_OK) code = llama_question_model(values->model, &gguf, err);
    if (code == KERF_OK)
        code = kerf_bub_limits_estimate(gguf, values->context, (double)machine.total, values->conform_to_imatrix,
                                        ret_limits, err);
    if (code == KERF_OK && ret_limits->batch_exponents[1] >= ret_limits->batch_exponents[0])
        question->max_batch_exponent = ret_limits->batch_exponents[1];
    kerf_gguf_free(gguf);
    return code;
}

static int32_t read_request(const struct bub_options *values, struct llama_preset *preset,
                            struct kerf_study_request *request, struct kerf_error *err) {
    struct llama_question question = {.model = values->model,
                                      .context = values->context,
                                      .threads = values->threads,
                                      .gpu_layers = values->gpu_layers,
                                      .one_thread_less = values->threads == 0,
                                      .conform_to_imatrix = values->conform_to_imatrix};
    struct kerf_bub_limits limits;
    int64_t max_trials, chunks;
    kerf_study_request_defaults(request);
    request->prefer = LLAMA_PREFERENCE;
    request->seed = values->seed == NOT_GIVEN_INTEGER ? 0 : values->seed;
    request->ignore_interference = strcmp(values->interference, "ignore") == 0;
    request->show_output = values->verbosity && strcmp(values->verbosity, "DEBUG") == 0;
    if (values->model == NULL || values->context == 0)
        return kerf_error_set(err, KERF_EINVALID, "--model FILE and --context-size N are needed");
    int32_t code = read_count("--max-trials", values->max_trials, &max_trials, err);
    if (code == KERF_OK) code = read_count("--chunks", values->chunks, &chunks, err);
    if (code == KERF_OK) code = read_limits(values, &question, &limits, err);
    if (code != KERF_OK) return code;
    if (max_trials) request->max_observations = max_trials * (chunks ? chunks : limits.chunks);
    return llama_preset_make(&question, preset, request, err);
}

static int32_t answer(const struct bub_options *values, int *ret_status, struct kerf_error *err) {
    struct llama_preset preset = {0};
    struct kerf_study_request request;
    struct kerf_tune_space *space = NULL;
    struct tune_run run = {.plan = {.request = &request, .keep_journal = 1, .use_earlier = 1},
                           .llama = &preset,
                           .format = values->format,
                           .outputs = &values->outputs};
    int32_t code = read_request(values, &preset, &request, err);
    if (code == KERF_OK) code = kerf_study_request_space(&request, &space, err);
    if (code == KERF_OK) code = llama_preset_skip(&preset, &request, space, err);
    run.plan.skipped = preset.skipped;
    if (code == KERF_OK) code = tune_run(&run, ret_status, err);
    kerf_tune_space_free(space);
    llama_preset_free(&preset);
    return code;
}

static int run(int argc, char **argv) {
    struct bub_options values = {.gpu_layers = 50,
                                 .top_k = NOT_GIVEN_INTEGER,
                                 .seed = NOT_GIVEN_INTEGER,
                                 .repeat_last_n = NOT_GIVEN_INTEGER,
                                 .mirostat = NOT_GIVEN_INTEGER,
                                 .temp = NAN,
                                 .top_p = NAN,
                                 .min_p = NAN,
                                 .repeat_penalty = NAN,
                                 .presence_penalty = NAN,
                                 .frequency_penalty = NAN,
                                 .dynatemp_range = NAN,
                                 .dynatemp_exp = NAN,
                                 .mirostat_lr = NAN,
                                 .mirostat_ent = NAN,
                                 .interference = "remeasure",
                                 .format = render_usual};
    struct kerf_error err;
    int ended, status = cli_parse(&bub_cli, argc, argv, &values);
    if (status >= 0) return status;
    int is_quiet = values.verbosity && strcmp(values.verbosity, "DEBUG") != 0 && strcmp(values.verbosity, "INFO") != 0;
    if (!is_quiet) tell_inert(&values);
    interrupt_catch();
    int32_t code = answer(&values, &ended, &err);
    options_free(&table, &values);
    return code == KERF_OK ? ended : cli_fail(&err);
}

const struct cli_command bub_cli = {&table, run};
