/* SPDX-License-Identifier: Apache-2.0 */
/* kerf tune: the fastest setting of a program, found by running it. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/amounts.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/llama_preset.h"
#include "cli/tune_run.h"

enum { NOT_GIVEN = INT32_MIN }; /* where 0 is a number that may be asked for */

struct tune_options {
    struct kerf_strings params, wheres, words, outputs;
    const char *defaults, *prefer, *within, *margin, *confidence, *policy;
    const char *objective, *protocol, *prepare, *cleanup, *launcher, *interference;
    const char *budget, *load_timeout, *trial_timeout, *memory_cap, *study, *format;
    const char *also, *logits; /* of the preset llama, as the next ones */
    int64_t context, threads, gpu_layers;
    int64_t warmups, seed, slots, max_observations;
    int32_t minimize, maximize, resume, no_journal, fresh, show_output, conform_to_imatrix;
};

static const struct tune_options unset = {
    .gpu_layers = NOT_GIVEN, .warmups = NOT_GIVEN, .seed = NOT_GIVEN, .slots = NOT_GIVEN, .format = "table"};

#define AT(field) .offset = offsetof(struct tune_options, field)
static const struct kerf_option options[] = {
    {.name = "param",
     .letter = 'p',
     .type = KERF_OPTION_STRINGS,
     AT(params),
     .value = "NAME=VALUES",
     .help = "A parameter, which stands as {NAME} in COMMAND: batch=16..2048:x2 (times 2), threads=1..16, "
             "layers=0..32:+8, kv=f16,q8_0 (a choice), or map?=--no-mmap (these words or nothing). Not called setting: "
             "{setting} is all of them."},
    {.name = "where",
     .letter = 'w',
     .type = KERF_OPTION_STRINGS,
     AT(wheres),
     .value = "CONDITION",
     .help =
         "Settings that are allowed: 'ubatch <= batch && batch * seqs < 4096'. May be given several times. One that "
         "cannot be computed, as 8/(n-2) for n=2, is an error; those before it, and &&, keep settings from it."},
    {.name = "default",
     .letter = 'd',
     .type = KERF_OPTION_STRING,
     AT(defaults),
     .value = "SETTING",
     .help =
         "What is used today, such as batch=2048,ubatch=512: it is measured first, and the gain is told against it. A "
         "flag is on or off."},
    {.name = "prefer",
     .type = KERF_OPTION_STRING,
     AT(prefer),
     .value = "ORDER",
     .help =
         "Of the settings that are within the margin recommend the first in this order: smaller:ubatch,batch; lists "
         "are joined by ';'. Words are in the order in which they are listed, off comes before on."},
    {.name = "within",
     .type = KERF_OPTION_STRING,
     AT(within),
     .value = "SHARE",
     .help = "How near to the best of all settings the answer is to be (default: 3%)."},
    {.name = "margin",
     .type = KERF_OPTION_STRING,
     AT(margin),
     .value = "SHARE",
     .help = "What is as good, for --prefer and the list of equivalent settings (default: 5%)."},
    {.name = "confidence",
     .type = KERF_OPTION_STRING,
     AT(confidence),
     .value = "SHARE",
     .help = "With which probability, and of the intervals (default: 95%)."},
    {.name = "objective",
     .type = KERF_OPTION_STRING,
     AT(objective),
     .value = "WHAT",
     .help = "What is to be least (default: wall): wall or cpu (seconds), memory (bytes at the peak), regex:EXPRESSION "
             "(its first group, of the last match in the output), json:PATH (into the last JSON value of the output), "
             "or value (what a worker says, no time)."},
    {.name = "minimize", .type = KERF_OPTION_FLAG, AT(minimize), .help = "Less is better, which is the default."},
    {.name = "maximize",
     .type = KERF_OPTION_FLAG,
     AT(maximize),
     .help = "More is better; what a worker or a line says is then in a unit of its own, and may be 0 or below."},
    {.name = "protocol",
     .type = KERF_OPTION_CHOICE,
     AT(protocol),
     .value = "HOW",
     .choices = "exit,lines,worker,llama-bench",
     .help =
         "How COMMAND is measured (default: exit): exit: from its start to its end; lines: each line of its output is "
         "a sample; worker: it is started once and asked on its standard input; llama-bench: by its JSON lines."},
    {.name = "policy",
     .type = KERF_OPTION_CHOICE,
     AT(policy),
     .value = "NAME",
     .choices = "kerf,race,exhaustive,random,halving,best_bub,null",
     .help = "What decides (default: kerf). The others are for comparison; race is for settings without any order."},
    {.name = "warmup",
     .type = KERF_OPTION_INTEGER,
     AT(warmups),
     .value = "N",
     .minimum = 0,
     .maximum = 1000,
     .help = "Measurements at the beginning, of each slot, that only warm up (default: 0)."},
    {.name = "prepare",
     .type = KERF_OPTION_STRING,
     AT(prepare),
     .value = "COMMAND",
     .help = "For the shell before each measurement, and not measured: 'sync; echo 3 > /proc/sys/vm/drop_caches'."},
    {.name = "cleanup",
     .type = KERF_OPTION_STRING,
     AT(cleanup),
     .value = "COMMAND",
     .help = "For the shell after each measurement, and when kerf is interrupted."},
    {.name = "budget",
     .letter = 'b',
     .type = KERF_OPTION_STRING,
     AT(budget),
     .value = "TIME",
     .help = "When to stop in any case, such as 10m (default: never)."},
    {.name = "max-observations",
     .type = KERF_OPTION_INTEGER,
     AT(max_observations),
     .value = "N",
     .minimum = 1,
     .maximum = 1000000,
     .help = "How many measurements at most (default: what the policy finds useful)."},
    {.name = "load-timeout",
     .type = KERF_OPTION_STRING,
     AT(load_timeout),
     .value = "TIME",
     .help = "Until a worker is ready, or the first line of its output (default: 10m)."},
    {.name = "trial-timeout",
     .type = KERF_OPTION_STRING,
     AT(trial_timeout),
     .value = "TIME",
     .help = "Of one measurement from then on; a longer one hangs (default: ten times the longest one seen, and at "
             "least a minute; an hour for the first)."},
    {.name = "memory-cap",
     .type = KERF_OPTION_STRING,
     AT(memory_cap),
     .value = "SIZE",
     .help = "Memory that a measurement may take with its children, such as 16GiB (default: what there is)."},
    {.name = "interference",
     .type = KERF_OPTION_CHOICE,
     AT(interference),
     .value = "WHAT",
     .choices = "remeasure,ignore",
     .help = "When something else kept the machine busy: measure again (default), or do not look."},
    {.name = "slots",
     .type = KERF_OPTION_INTEGER,
     AT(slots),
     .value = "N",
     .minimum = 1,
     .maximum = 256,
     .help =
         "Measurements at a time (default: 1), each on processors of its own or, with --launcher, on a machine of its "
         "own. Each slot measures the default first, by which slots are compared (docs/slots.md)."},
    {.name = "launcher",
     .type = KERF_OPTION_STRING,
     AT(launcher),
     .value = "WORDS",
     .help =
         "Words before COMMAND that bring it to another machine, such as 'srun --exclusive -n1 -N1'. What else this "
         "machine does is then not looked at."},
    {.name = "seed",
     .type = KERF_OPTION_INTEGER,
     AT(seed),
     .value = "N",
     .minimum = 0,
     .maximum = 9007199254740991,
     .help = "Of the policy's random numbers (default: 0)."},
    {.name = "context",
     .letter = 'c',
     .type = KERF_OPTION_INTEGER,
     AT(context),
     .value = "N",
     .minimum = 2,
     .maximum = 1 << 30,
     .help = "`llama`: tokens of context; a measurement is a prompt of one less."},
    {.name = "threads",
     .letter = 't',
     .type = KERF_OPTION_INTEGER,
     AT(threads),
     .value = "N",
     .minimum = 1,
     .maximum = 4096,
     .help = "`llama`: threads (default: one a processor)."},
    {.name = "gpu-layers",
     .type = KERF_OPTION_INTEGER,
     AT(gpu_layers),
     .value = "N",
     .minimum = -1,
     .maximum = 4096,
     .help = "`llama`: layers on devices, -1 for all (default: 0)."},
    {.name = "logits",
     .type = KERF_OPTION_CHOICE,
     AT(logits),
     .value = "WHICH",
     .choices = "all,last",
     .help =
         "`llama`: for which tokens logits are computed (default: all, as perplexity and imatrix need them; a server's "
         "prompts need the last alone)."},
    {.name = "tune",
     .type = KERF_OPTION_STRING,
     AT(also),
     .value = "NAMES",
     .help =
         "`llama`: what to tune beside batch and ubatch: threads, gpu_layers, flash_attention, kv_type (which changes "
         "what the model answers), mmap; with commas between them."},
    {.name = "conform-to-imatrix",
     .type = KERF_OPTION_FLAG,
     AT(conform_to_imatrix),
     .help =
         "`llama`: only what llama-imatrix can be run with as it was measured: batches up to the context, the logits "
         "of all tokens."},
    {.name = "study",
     .type = KERF_OPTION_STRING,
     AT(study),
     .value = "NAME",
     .help = "The study's name in `kerf studies`: up to 63 letters, digits, - _ . (default: one made of the time)."},
    {.name = "resume",
     .type = KERF_OPTION_FLAG,
     AT(resume),
     .help = "Go on with --study NAME, or with the newest study, where it was, as it was asked: only --budget, "
             "--max-observations, --show-output and what is printed may be said anew."},
    {.name = "fresh",
     .type = KERF_OPTION_FLAG,
     AT(fresh),
     .help = "Use nothing of earlier studies of the same command, files and machine."},
    {.name = "no-journal", .type = KERF_OPTION_FLAG, AT(no_journal), .help = "Keep nothing of this study."},
    {.name = "show-output",
     .type = KERF_OPTION_FLAG,
     AT(show_output),
     .help = "What COMMAND prints goes on to standard error."},
    {.name = "format",
     .letter = 'f',
     .type = KERF_OPTION_CHOICE,
     AT(format),
     .value = "FORM",
     .choices = "table,json,csv,markdown",
     .help = "What is printed (default: table)."},
    {.name = "output",
     .letter = 'o',
     .type = KERF_OPTION_STRINGS,
     AT(outputs),
     .value = "FILE",
     .help =
         "Write FILE too, in the format of its name: .svg .png .pdf .html draw the surface; .json .csv .md .txt hold "
         "the answer, and are then written instead of standard output. May be given several times."},
    {.name = NULL},
};

static const char *const examples[] = {
    "Batch and micro-batch of a benchmark",
    "kerf tune -p batch=16..2048:x2 -p ubatch=2..2048:x2 -w 'ubatch <= batch' -d batch=2048,ubatch=512 "
    "--prefer smaller:ubatch,batch -- ./bench -b {batch} -ub {ubatch}",
    "Threads and a compiler's flag, ten minutes at most",
    "kerf tune -p threads=1..16 -p 'lto?=-flto' --budget 10m -- make -j{threads} CFLAGS={lto}",
    "Tokens per second that a program prints",
    "kerf tune -p batch=1..64:x2 --objective 'regex:([0-9.]+) tokens/s' --maximize -- ./serve --batch {batch}",
    "Batch and ubatch of a model",
    "kerf tune llama model.gguf --context 4096",
    "Where it was",
    "kerf tune --resume",
    NULL,
};

static const struct kerf_command table = {
    .name = "tune",
    .summary = "the fastest setting of a program, found in few runs",
    .arguments = "-- COMMAND... | llama MODEL.gguf",
    .description =
        "Runs COMMAND with one setting after the other, and decides by what it saw which to measure next, until the "
        "answer is within --within of the best of all settings with the probability --confidence. It then says so in "
        "words: the setting, the gain over the default, what is as good, and how many measurements it took.\n\n"
        "Every measurement is a fresh run, or a fresh context of a worker (docs/workers.md). Those that something else "
        "disturbed are made again. Each is in a journal before the next begins: `kerf studies` lists them, --resume "
        "goes on after whatever happened.\n\n"
        "`llama` is COMMAND made ready for llama.cpp: it loads the model once, makes a fresh context for each "
        "measurement, "
        "tunes batch and ubatch up to the context, recommends the smallest that are within the margin, and ends with "
        "the "
        "options for llama.cpp's programs.\n\n"
        "Ends with 0 when it is confident, 1 when the time was spent or the machine too noisy, 130 after Ctrl-C, which "
        "prints what is known, 3 when nothing could be measured.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct tune_options, words),
};

/* ---- From the options to the plan ---------------------------------------------------------------------------- */

static int32_t read_shares(const struct tune_options *values, struct study_request *request, struct kerf_error *err) {
    int32_t code = KERF_OK;
    if (values->within) code = amount_of_share("--within", values->within, &request->within, err);
    if (code == KERF_OK && values->margin) code = amount_of_share("--margin", values->margin, &request->margin, err);
    if (code == KERF_OK && values->confidence)
        code = amount_of_share("--confidence", values->confidence, &request->confidence, err);
    return code;
}

static int32_t read_times(const struct tune_options *values, struct study_request *request, struct kerf_error *err) {
    int32_t code = KERF_OK;
    if (values->load_timeout)
        code = amount_of_time("--load-timeout", values->load_timeout, &request->load_timeout_s, err);
    if (code == KERF_OK && values->trial_timeout)
        code = amount_of_time("--trial-timeout", values->trial_timeout, &request->trial_timeout_s, err);
    return code;
}

static int32_t read_memory_cap(const struct tune_options *values, struct study_request *request,
                               struct kerf_error *err) {
    struct kerf_error why;
    double bytes;
    if (values->memory_cap == NULL) return KERF_OK;
    if (kerf_quantity_parse(values->memory_cap, "B", &bytes, &why) != KERF_OK || !(bytes >= 1 && bytes < 0x1p62))
        return kerf_error_set(err, KERF_EINVALID, "--memory-cap '%.64s' must be a size such as 16GiB",
                              values->memory_cap);
    request->memory_cap_bytes = (int64_t)bytes;
    return KERF_OK;
}

static int32_t read_request(const struct tune_options *values, struct study_request *request, struct kerf_error *err) {
    study_request_defaults(request);
    request->params = values->params;
    request->wheres = values->wheres;
    request->words = values->words;
    request->defaults = values->defaults;
    request->prefer = values->prefer;
    if (values->policy) request->policy = values->policy;
    if (values->objective) request->objective = values->objective;
    if (values->protocol) request->protocol = values->protocol;
    request->prepare = values->prepare;
    request->cleanup = values->cleanup;
    request->launcher = values->launcher;
    request->max_observations = values->max_observations;
    if (values->seed != NOT_GIVEN) request->seed = values->seed;
    request->maximize = values->maximize;
    if (values->slots != NOT_GIVEN) request->slots = (int32_t)values->slots;
    if (values->warmups != NOT_GIVEN) request->warmups = (int32_t)values->warmups;
    request->ignore_interference = values->interference && strcmp(values->interference, "ignore") == 0;
    request->show_output = values->show_output;
    if (values->minimize && values->maximize)
        return kerf_error_set(err, KERF_EINVALID, "--minimize and --maximize exclude each other");
    int32_t code = read_shares(values, request, err);
    if (code == KERF_OK) code = read_times(values, request, err);
    return code == KERF_OK ? read_memory_cap(values, request, err) : code;
}

/* ---- Names, and what is said again --------------------------------------------------------------------------- */

static int32_t check_name(const struct tune_options *values, struct kerf_error *err) {
    const char *name = values->study;
    if (name == NULL) return KERF_OK;
    if (*name == 0) return kerf_error_set(err, KERF_EINVALID, "--study needs a name, such as --study nightly");
    if (values->resume && strchr(name, '/')) return KERF_OK; /* the path of a journal */
    if (strchr(name, '/'))
        return kerf_error_set(err, KERF_EINVALID,
                              "--study '%.64s' is a name and no path; $KERF_STUDIES is the folder where studies are",
                              name);
    if (strlen(name) >= STUDY_ID_SIZE)
        return kerf_error_set(err, KERF_EINVALID, "--study '%.32s...' has %zu characters, and may have %d", name,
                              strlen(name), STUDY_ID_SIZE - 1);
    return KERF_OK;
}

static int is_given(const struct kerf_option *option, const struct tune_options *values) {
    const char *at = (const char *)values + option->offset, *was = (const char *)&unset + option->offset;
    size_t size = option->type == KERF_OPTION_FLAG      ? sizeof(int32_t)
                  : option->type == KERF_OPTION_INTEGER ? sizeof(int64_t)
                  : option->type == KERF_OPTION_STRINGS ? sizeof(struct kerf_strings)
                                                        : sizeof(const char *);
    return memcmp(at, was, size) != 0;
}

/* What a study was asked is in its journal, and holds for all of it; these alone are of one run. */
static int32_t check_resumed(const struct tune_options *values, struct kerf_error *err) {
    static const char *const may[] = {"resume",      "study",  "budget", "max-observations",
                                      "show-output", "format", "output", NULL};
    if (values->params.count || values->words.count)
        return kerf_error_set(err, KERF_EINVALID,
                              "--resume goes on with what the study was asked: leave out --param and COMMAND");
    for (const struct kerf_option *option = options; option->name; option++) {
        int32_t k = 0;
        while (may[k] && strcmp(may[k], option->name) != 0) k++;
        if (may[k] || !is_given(option, values)) continue;
        return kerf_error_set(err, KERF_EINVALID,
                              "--resume goes on with what the study was asked: leave out --%s (--budget and "
                              "--max-observations may change; a new study of the same command uses what this one saw)",
                              option->name);
    }
    return KERF_OK;
}

/* The study to go on with: the one that was named, or the newest. */
static int32_t read_resumed(const struct tune_options *values, struct study_record **ret_record,
                            struct kerf_error *err) {
    struct kerf_strings ids = {0};
    struct study_record *record = NULL;
    int32_t code = check_resumed(values, err);
    if (code == KERF_OK && values->study == NULL) {
        code = study_ids(&ids, err);
        if (code == KERF_OK && ids.count == 0)
            code = kerf_error_set(err, KERF_EUNKNOWN, "there is no study to go on with");
    }
    if (code == KERF_OK) code = study_record_read(values->study ? values->study : ids.items[0], &record, err);
    study_ids_free(&ids);
    if (code != KERF_OK) return code;
    if (values->max_observations) record->request.max_observations = values->max_observations;
    if (values->show_output) record->request.show_output = 1;
    *ret_record = record;
    return KERF_OK;
}

/* ---- llama --------------------------------------------------------------------------------------------------- */

static int is_llama(const struct tune_options *values) {
    return values->words.count > 0 && strcmp(values->words.items[0], "llama") == 0;
}

static int32_t check_llama(const struct tune_options *values, struct kerf_error *err) {
    if (values->words.count != 2)
        return kerf_error_set(
            err, KERF_EINVALID,
            "kerf tune llama takes one model, such as model.gguf; to run a program of that name: ./llama");
    if (values->context == 0) return kerf_error_set(err, KERF_EINVALID, "--context is missing, such as --context 4096");
    if (values->protocol || values->objective || values->maximize)
        return kerf_error_set(err, KERF_EINVALID, "kerf tune llama measures the time of a prompt: leave out --%s",
                              values->protocol    ? "protocol"
                              : values->objective ? "objective"
                                                  : "maximize");
    return KERF_OK;
}

/* Fills in what the preset knows. */
static int32_t read_llama(const struct tune_options *values, struct llama_preset *preset, struct study_request *request,
                          struct kerf_error *err) {
    const struct llama_question question = {.model = values->words.items[1],
                                            .context = values->context,
                                            .threads = values->threads,
                                            .gpu_layers = values->gpu_layers == NOT_GIVEN ? 0 : values->gpu_layers,
                                            .also = values->also,
                                            .conform_to_imatrix = values->conform_to_imatrix,
                                            .outputs = values->logits ? values->logits : "all"};
    if (request->prefer == NULL) request->prefer = LLAMA_PREFERENCE;
    return llama_preset_make(&question, preset, request, err);
}

/* "{batch" is text for all that kerf knows, and hardly what was meant. */
static int32_t check_braces(const struct tune_options *values, struct kerf_error *err) {
    for (int32_t i = 0; i < values->words.count; i++) {
        const char *word = values->words.items[i], *open = strrchr(word, '{');
        if (open == NULL || strchr(open, '}') || (open > word && open[-1] == '{')) continue;
        for (int32_t p = 0; p < values->params.count; p++) {
            const char *param = values->params.items[p];
            size_t length = strcspn(param, "?=");
            if (length == 0 || strncmp(open + 1, param, length) != 0) continue;
            return kerf_error_set(err, KERF_EINVALID,
                                  "'%.64s' in the command has a { without its }; write {%.*s}, or {{ for a brace", open,
                                  (int)(length < 64 ? length : 64), param);
        }
    }
    return KERF_OK;
}

static int32_t check_not_llama(const struct tune_options *values, struct kerf_error *err) {
    const char *option = values->context                   ? "context"
                         : values->threads                 ? "threads"
                         : values->gpu_layers != NOT_GIVEN ? "gpu-layers"
                         : values->logits                  ? "logits"
                         : values->also                    ? "tune"
                         : values->conform_to_imatrix      ? "conform-to-imatrix"
                                                           : NULL;
    if (option) return kerf_error_set(err, KERF_EINVALID, "--%s is for `kerf tune llama MODEL.gguf` alone", option);
    if (values->params.count == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--param is missing, such as --param batch=16..2048:x2; `kerf help tune` tells more");
    if (values->words.count == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "the command is missing, such as -- ./bench -b {batch}; `kerf help tune` tells more");
    return check_braces(values, err);
}

/* ---- Running it ---------------------------------------------------------------------------------------------- */

/* What a study is made of until it has ended. */
struct tune_sources {
    struct study_request request;
    struct study_record *record; /* of the study that goes on; NULL: a new one */
    struct llama_preset llama;
    struct kerf_tune_space *space;
};

static int32_t read_sources(const struct tune_options *values, struct tune_sources *sources, struct kerf_error *err) {
    int32_t code = check_name(values, err);
    if (code != KERF_OK) return code;
    if (values->resume) {
        code = read_resumed(values, &sources->record, err);
        if (code != KERF_OK || sources->record->request.preset == NULL) return code;
        code = llama_preset_recall(&sources->record->request, &sources->llama, err);
        return code == KERF_OK ? llama_preset_skip(&sources->llama, sources->record->space, err) : code;
    }
    code = is_llama(values) ? check_llama(values, err) : check_not_llama(values, err);
    if (code == KERF_OK) code = read_request(values, &sources->request, err);
    if (code != KERF_OK || !is_llama(values)) return code;
    code = read_llama(values, &sources->llama, &sources->request, err);
    if (code == KERF_OK) code = study_request_space(&sources->request, &sources->space, err);
    return code == KERF_OK ? llama_preset_skip(&sources->llama, sources->space, err) : code;
}

static int32_t answer(const struct tune_options *values, int *ret_status, struct kerf_error *err) {
    struct tune_sources sources = {.record = NULL};
    struct tune_run run = {.plan = {.keep_journal = !values->no_journal, .use_earlier = !values->fresh},
                           .format = values->format,
                           .outputs = &values->outputs};
    int32_t code = read_sources(values, &sources, err);
    if (code == KERF_OK && values->budget) code = amount_of_time("--budget", values->budget, &run.plan.budget_s, err);
    if (code == KERF_OK) {
        run.plan.request = sources.record ? &sources.record->request : &sources.request;
        run.plan.resumed = sources.record;
        run.plan.skipped = sources.llama.skipped;
        if (run.plan.request->preset) run.llama = &sources.llama;
        if (values->study && !sources.record) snprintf(run.plan.id, sizeof run.plan.id, "%s", values->study);
        code = tune_run(&run, ret_status, err);
    }
    kerf_tune_space_free(sources.space);
    llama_preset_free(&sources.llama);
    study_record_free(sources.record);
    return code;
}

static int run(int argc, char **argv) {
    struct tune_options values = unset;
    struct kerf_error err;
    int ended, status = cli_parse(&tune_cli, argc, argv, &values);
    if (status >= 0) return status;
    interrupt_catch();
    int32_t code = answer(&values, &ended, &err);
    kerf_options_free(&table, &values);
    if (code == KERF_EINFEASIBLE) err.code = KERF_EINVALID; /* a grid without settings: the question is at fault */
    return code == KERF_OK ? ended : cli_fail(&err);
}

const struct cli_command tune_cli = {&table, run};
