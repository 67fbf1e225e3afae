/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tune_options.h"

#include <float.h>
#include <stddef.h>
#include <string.h>
#include "base/number.h"
#include "base/quantity.h"
#include "kerf/study.h"

const struct tune_options tune_options_unset = {.gpu_layers = TUNE_NOT_GIVEN,
                                                .warmups = TUNE_NOT_GIVEN,
                                                .seed = TUNE_NOT_GIVEN,
                                                .slots = TUNE_NOT_GIVEN,
                                                .format = "table"};

#define AT(field) .offset = offsetof(struct tune_options, field)
const struct option tune_option_table[] = {
    {.name = "param",
     .type = OPTION_STRINGS,
     AT(params),
     .value = "NAME=VALUES",
     .help = "A parameter, used in COMMAND as {NAME}: batch=16..2048:x2 (times 2), threads=1..16, "
             "layers=0..32:+8, kv=f16,q8_0 (a choice), or map?=--no-mmap (a flag: these words or nothing). "
             "{setting} is all parameters as JSON, so none may have this name."},
    {.name = "where",
     .letter = 'w',
     .type = OPTION_STRINGS,
     AT(wheres),
     .value = "CONDITION",
     .help = "A condition on settings: 'ubatch <= batch && batch * seqs < 4096'. May be given several times. A "
             "condition that cannot be computed, such as 8/(n-2) with n=2, is an error, unless a condition "
             "before it (or the left side of &&) excludes the setting."},
    {.name = "default",
     .letter = 'd',
     .type = OPTION_STRING,
     AT(defaults),
     .value = "SETTING",
     .help = "The setting that is used today, such as batch=2048,ubatch=512. It is measured first, and the gain "
             "is told against it. A flag is on or off."},
    {.name = "prefer",
     .type = OPTION_STRING,
     AT(prefer),
     .value = "ORDER",
     .help = "Of the settings within the margin, recommend the first in this order: smaller:ubatch,batch. "
             "Several orders are joined by ';'. Words have the order in which they are listed; off comes before "
             "on."},
    {.name = "within",
     .type = OPTION_STRING,
     AT(within),
     .value = "SHARE",
     .help = "How near the answer has to be to the best of all settings (default: 3%)."},
    {.name = "margin",
     .type = OPTION_STRING,
     AT(margin),
     .value = "SHARE",
     .help = "Settings this near to the best count as equally good, for --prefer and in the list of equivalent "
             "settings (default: 5%)."},
    {.name = "confidence",
     .type = OPTION_STRING,
     AT(confidence),
     .value = "SHARE",
     .help = "The probability with which the answer has to be right, and of the intervals (default: 95%)."},
    {.name = "objective",
     .type = OPTION_STRING,
     AT(objective),
     .value = "WHAT",
     .uses = "COMMAND",
     .help = "What to minimize (default: wall): wall or cpu (seconds), memory (bytes at the peak), "
             "regex:EXPRESSION (its first group, in the last match in the output), json:PATH (in the last JSON "
             "value of the output), or value (a worker's number that is not a time)."},
    {.name = "minimize",
     .type = OPTION_FLAG,
     AT(minimize),
     .uses = "COMMAND",
     .help = "Less is better (this is the default)."},
    {.name = "maximize",
     .type = OPTION_FLAG,
     AT(maximize),
     .uses = "COMMAND",
     .help = "More is better. Numbers of a worker or of lines then have a unit of their own, and may be 0 or "
             "below."},
    {.name = "protocol",
     .type = OPTION_CHOICE,
     AT(protocol),
     .value = "HOW",
     .choices = "exit,lines,worker,llama-bench",
     .uses = "COMMAND",
     .help = "How COMMAND is measured (default: exit): exit: from its start to its end; lines: each line of its "
             "output is a sample; worker: it is started once, and asked on its standard input; llama-bench: by "
             "its JSON lines."},
    {.name = "policy",
     .type = OPTION_CHOICE,
     AT(policy),
     .value = "NAME",
     .choices = "kerf,race,exhaustive,random,halving,best_bub,null",
     .help = "What chooses the settings to measure (default: kerf). The others are for comparison; race is for "
             "settings without any order."},
    {.name = "warmup",
     .type = OPTION_INTEGER,
     AT(warmups),
     .value = "N",
     .minimum = 0,
     .maximum = 1000,
     .help = "How many measurements at the beginning of each slot only warm up (default: 0)."},
    {.name = "prepare",
     .type = OPTION_STRING,
     AT(prepare),
     .value = "COMMAND",
     .help = "A shell command before each measurement, which is not measured: 'sync; echo 3 > "
             "/proc/sys/vm/drop_caches'."},
    {.name = "cleanup",
     .type = OPTION_STRING,
     AT(cleanup),
     .value = "COMMAND",
     .help = "A shell command after each measurement, and when kerf is interrupted."},
    {.name = "budget",
     .type = OPTION_DURATION,
     AT(budget_s),
     .value = "TIME",
     .minimum = DBL_MIN,
     .maximum = 1e9,
     .help = "Stop after this time in any case, such as 10m (default: never)."},
    {.name = "max-observations",
     .type = OPTION_INTEGER,
     AT(max_observations),
     .value = "N",
     .minimum = 1,
     .maximum = 1000000,
     .help = "Stop after this many measurements (default: what the policy finds useful)."},
    {.name = "load-timeout",
     .type = OPTION_DURATION,
     AT(load_timeout_s),
     .value = "TIME",
     .minimum = DBL_MIN,
     .maximum = 1e9,
     .help = "How long a worker may take until it is ready, or a program until its first line (default: 10m)."},
    {.name = "trial-timeout",
     .type = OPTION_DURATION,
     AT(trial_timeout_s),
     .value = "TIME",
     .minimum = DBL_MIN,
     .maximum = 1e9,
     .help = "How long one measurement may take from then on; after that it hangs (default: ten times the "
             "longest one so far, and at least a minute; an hour for the first)."},
    {.name = "memory-cap",
     .type = OPTION_STRING,
     AT(memory_cap),
     .value = "SIZE",
     .help = "Memory that a measurement may use with its children, such as 16GiB (default: all there is). For "
             "llama: memory beside the weights, by an estimate."},
    {.name = "interference",
     .type = OPTION_CHOICE,
     AT(interference),
     .value = "WHAT",
     .choices = "remeasure,ignore",
     .help = "When something else kept the machine busy: measure again (default), or ignore it."},
    {.name = "patience",
     .type = OPTION_DURATION,
     AT(patience_s),
     .value = "TIME",
     .minimum = DBL_MIN,
     .maximum = 1e9,
     .help = "How long a disturbed measurement is made again, with longer and longer waits, before the study "
             "says that the machine is too noisy (default: 31s)."},
    {.name = "slots",
     .type = OPTION_INTEGER,
     AT(slots),
     .value = "N",
     .minimum = 1,
     .maximum = 256,
     .help = "Measurements at a time (default: 1), each on processors of its own or, with --launcher, on a "
             "machine of its own. Each slot measures the default first, so that slots can be compared "
             "(docs/slots.md)."},
    {.name = "launcher",
     .type = OPTION_STRING,
     AT(launcher),
     .value = "WORDS",
     .help = "Words before COMMAND that run it on another machine, such as 'srun --exclusive -n1 -N1'. kerf then"
             " does not look at what else this machine does."},
    {.name = "seed",
     .type = OPTION_INTEGER,
     AT(seed),
     .value = "N",
     .minimum = 0,
     .maximum = 9007199254740991,
     .help = "Seed of the policy's random numbers (default: 0)."},
    {.name = "context",
     .letter = 'c',
     .type = OPTION_INTEGER,
     AT(context),
     .value = "N",
     .minimum = 2,
     .maximum = 1 << 30,
     .uses = "llama",
     .help = "Tokens of context; a measurement is a prompt of one less."},
    {.name = "threads",
     .letter = 't',
     .type = OPTION_INTEGER,
     AT(threads),
     .value = "N",
     .minimum = 1,
     .maximum = 4096,
     .uses = "llama",
     .help = "Threads (default: one for each processor)."},
    {.name = "gpu-layers",
     .type = OPTION_INTEGER,
     AT(gpu_layers),
     .value = "N",
     .minimum = -1,
     .maximum = 4096,
     .uses = "llama",
     .help = "Layers on devices, -1 for all (default: 0)."},
    {.name = "logits",
     .type = OPTION_CHOICE,
     AT(logits),
     .value = "WHICH",
     .choices = "all,last",
     .uses = "llama",
     .help = "Tokens for which logits are computed (default: all, as perplexity and imatrix need them; a "
             "server's prompts only need the last)."},
    {.name = "tune",
     .type = OPTION_STRING,
     AT(also),
     .value = "NAMES",
     .uses = "llama",
     .help = "What to tune beside batch and ubatch, separated by commas: threads, gpu_layers, flash_attention, "
             "kv_type (which changes the model's answers), mmap."},
    {.name = "conform-to-imatrix",
     .type = OPTION_FLAG,
     AT(conform_to_imatrix),
     .uses = "llama",
     .help = "Only settings that llama-imatrix runs as they were measured: batches up to the context, the logits"
             " of all tokens."},
    {.name = "study",
     .type = OPTION_STRING,
     AT(study),
     .value = "NAME",
     .help = "The study's name in `kerf studies`: up to 63 letters, digits, - _ . (default: made from the time)."},
    {.name = "resume",
     .type = OPTION_FLAG,
     AT(resume),
     .help = "Continue --study NAME, or the newest study, with the question it was started with. Only --budget, "
             "--max-observations, --show-output and the output options may be given again."},
    {.name = "fresh",
     .type = OPTION_FLAG,
     AT(fresh),
     .help = "Use nothing of earlier studies of the same command, files and machine."},
    {.name = "key-env",
     .type = OPTION_STRINGS,
     AT(key_env),
     .value = "NAME[,NAME]",
     .help = "Environment variables that change what is measured: an earlier study only counts if they were the same. "
             "CUDA_VISIBLE_DEVICES, LD_LIBRARY_PATH and OMP_* are always compared."},
    {.name = "no-journal", .type = OPTION_FLAG, AT(no_journal), .help = "Do not keep this study."},
    {.name = "show-output",
     .type = OPTION_FLAG,
     AT(show_output),
     .help = "Pass what COMMAND prints on to standard error."},
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
     .help =
         "Write FILE too, in the format of its name: .svg .png .pdf .html draw the surface; .json .csv .md .txt hold "
         "the answer, and are then written instead of standard output, unless --format names another form. May be "
         "given several times."},
    {.name = NULL},
};

/* ---- From the options to the request -------------------------------------------------------------------------- */

/* "3%" or "0.03": above 0 and below 1. */
static int32_t read_share(const char *option, const char *text, double *ret_share, struct kerf_error *err) {
    char *end;
    double value = number_read(text, &end);
    if (end != text && strcmp(end, "%") == 0) {
        value /= 100;
        end++;
    }
    if (end == text || *end || !(value > 0 && value < 1))
        return kerf_error_set(err, KERF_EINVALID, "%s '%.64s' must be a share such as 3%% or 0.03", option, text);
    *ret_share = value;
    return KERF_OK;
}

static int32_t read_shares(const struct tune_options *values, struct kerf_study_request *request,
                           struct kerf_error *err) {
    int32_t code = KERF_OK;
    if (values->within) code = read_share("--within", values->within, &request->within, err);
    if (code == KERF_OK && values->margin) code = read_share("--margin", values->margin, &request->margin, err);
    if (code == KERF_OK && values->confidence)
        code = read_share("--confidence", values->confidence, &request->confidence, err);
    return code;
}

static int32_t read_memory_cap(const struct tune_options *values, struct kerf_study_request *request,
                               struct kerf_error *err) {
    struct kerf_error why;
    double bytes;
    if (values->memory_cap == NULL) return KERF_OK;
    if (quantity_parse(values->memory_cap, "B", &bytes, &why) != KERF_OK || !(bytes >= 0x1p20 && bytes < 0x1p62))
        return kerf_error_set(err, KERF_EINVALID,
                              "--memory-cap '%.64s' must be a size such as 16GiB, and 1 MiB at least",
                              values->memory_cap);
    request->memory_cap_bytes = (int64_t)bytes;
    return KERF_OK;
}

static struct kerf_study_strings strings_of(const struct string_list *list) {
    return (struct kerf_study_strings){list->items, list->count};
}

int32_t tune_options_request(const struct tune_options *values, struct kerf_study_request *request,
                             struct kerf_error *err) {
    kerf_study_request_defaults(request);
    request->params = strings_of(&values->params);
    request->wheres = strings_of(&values->wheres);
    request->words = strings_of(&values->words);
    request->key_env = strings_of(&values->key_env);
    request->defaults = values->defaults;
    request->prefer = values->prefer;
    if (values->policy) request->policy = values->policy;
    if (values->objective) request->objective = values->objective;
    if (values->protocol) request->protocol = values->protocol;
    request->prepare = values->prepare;
    request->cleanup = values->cleanup;
    request->launcher = values->launcher;
    request->max_observations = values->max_observations;
    if (values->seed != TUNE_NOT_GIVEN) request->seed = values->seed;
    request->maximize = values->maximize;
    if (values->slots != TUNE_NOT_GIVEN) request->slots = (int32_t)values->slots;
    if (values->warmups != TUNE_NOT_GIVEN) request->warmups = (int32_t)values->warmups;
    request->ignore_interference = values->interference && strcmp(values->interference, "ignore") == 0;
    request->show_output = values->show_output;
    if (values->minimize && values->maximize)
        return kerf_error_set(err, KERF_EINVALID, "--minimize and --maximize exclude each other");
    int32_t code = read_shares(values, request, err);
    if (values->load_timeout_s > 0) request->load_timeout_s = values->load_timeout_s;
    if (values->trial_timeout_s > 0) request->trial_timeout_s = values->trial_timeout_s;
    return code == KERF_OK ? read_memory_cap(values, request, err) : code;
}

/* ---- Command lines that cannot be meant ------------------------------------------------------------------------ */

int32_t tune_check_name(const struct tune_options *values, struct kerf_error *err) {
    const char *name = values->study;
    if (name == NULL) return KERF_OK;
    if (*name == 0) return kerf_error_set(err, KERF_EINVALID, "--study needs a name, such as --study nightly");
    if (values->resume && strchr(name, '/')) return KERF_OK; /* the path of a journal */
    if (strchr(name, '/'))
        return kerf_error_set(err, KERF_EINVALID,
                              "--study '%.64s' is a name and no path; $KERF_STUDIES is the folder where studies are",
                              name);
    if (strlen(name) >= KERF_STUDY_ID_SIZE)
        return kerf_error_set(err, KERF_EINVALID, "--study '%.32s...' has %zu characters, and may have %d", name,
                              strlen(name), KERF_STUDY_ID_SIZE - 1);
    return KERF_OK;
}

static int is_given(const struct option *option, const struct tune_options *values) {
    const char *at = (const char *)values + option->offset, *was = (const char *)&tune_options_unset + option->offset;
    size_t size = option->type == OPTION_FLAG       ? sizeof(int32_t)
                  : option->type == OPTION_INTEGER  ? sizeof(int64_t)
                  : option->type == OPTION_DURATION ? sizeof(double)
                  : option->type == OPTION_STRINGS  ? sizeof(struct string_list)
                                                    : sizeof(const char *);
    return memcmp(at, was, size) != 0;
}

/* What a study was asked is in its journal, and holds for all of it; these alone are of one run. */
int32_t tune_check_resumed(const struct tune_options *values, struct kerf_error *err) {
    static const char *const may[] = {"resume",      "study",  "budget", "patience", "max-observations",
                                      "show-output", "format", "output", NULL};
    if (values->params.count || values->words.count)
        return kerf_error_set(err, KERF_EINVALID,
                              "--resume goes on with what the study was asked: leave out --param and COMMAND");
    for (const struct option *option = tune_option_table; option->name; option++) {
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

int32_t tune_check_llama(const struct tune_options *values, struct kerf_error *err) {
    if (values->words.count != 2)
        return kerf_error_set(
            err, KERF_EINVALID,
            "kerf tune llama takes one model, such as model.gguf; to run a program of that name: ./llama");
    if (values->context == 0) return kerf_error_set(err, KERF_EINVALID, "--context is missing, such as --context 4096");
    return KERF_OK;
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

int32_t tune_check_not_llama(const struct tune_options *values, struct kerf_error *err) {
    if (values->params.count == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--param is missing, such as --param batch=16..2048:x2; `kerf help tune` tells more");
    if (values->words.count == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "the command is missing, such as -- ./bench -b {batch}; `kerf help tune` tells more");
    return check_braces(values, err);
}
