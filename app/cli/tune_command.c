/* SPDX-License-Identifier: Apache-2.0 */
/* kerf tune: the fastest setting of a program, found by running it. */
#include <float.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/output_limit.h"
#include "base/number.h"
#include "base/option.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/llama_question.h"
#include "cli/terminal.h"
#include "cli/tune_print.h"
#include "kerf/study.h"

struct tune_options {
    struct string_list params, wheres, subject_to, words, outputs, key_env;
    const char *pareto;
    const char *defaults, *prefer, *within, *margin, *confidence, *policy;
    const char *objective, *protocol, *prepare, *cleanup, *launcher, *interference;
    const char *memory_cap, *study, *format, *slice;
    const char *also, *logits, *prompts, *outputs_of_prompts;     /* of the preset llama, as the next ones */
    double budget_s, patience_s, load_timeout_s, trial_timeout_s; /* 0: not said */
    int64_t context, threads, gpu_layers, tokens, depth, sequences, clients, requests;
    int64_t warmups, seed, slots, max_observations;
    int32_t minimize, maximize, resume, no_journal, fresh, show_output, conform_to_imatrix;
};

enum { TUNE_NOT_GIVEN = INT32_MIN }; /* where 0 is a number that may be asked for */
static const struct tune_options tune_options_unset = {.gpu_layers = TUNE_NOT_GIVEN,
                                                       .warmups = TUNE_NOT_GIVEN,
                                                       .seed = TUNE_NOT_GIVEN,
                                                       .slots = TUNE_NOT_GIVEN,
                                                       .format = render_usual};

#define AT(field) .offset = offsetof(struct tune_options, field)
static const struct option tune_option_table[] = {
    {.name = "param",
     .type = OPTION_STRINGS,
     AT(params),
     .value = "NAME=VALUES",
     .help = "A parameter, used in COMMAND as {NAME}: batch=16..2048:x2 (times 2), threads=1..16, "
             "layers=0..32:+8, lr=1e-5..0.1:log9 (nine values from end to end; p=0..1:lin5 with equal steps), "
             "kv=f16,q8_0 (a choice), or "
             "map?=--no-mmap (a flag: these words or nothing); with a condition, draft=4,8 when map, it has an effect "
             "only where that holds. "
             "{setting} is all parameters as JSON, so none may have this name."},
    {.name = "where",
     .letter = 'w',
     .type = OPTION_STRINGS,
     AT(wheres),
     .value = "CONDITION",
     .help = "A condition on settings: 'ubatch <= batch && batch * seqs < 4096'. May be given several times. A "
             "condition that cannot be computed, such as 8/(n-2) with n=2, is an error, unless a condition "
             "before it (or the left side of &&) excludes the setting."},
    {.name = "subject-to",
     .type = OPTION_STRINGS,
     AT(subject_to),
     .value = "LIMIT",
     .help = "A limit on a further number of each run: memory <= 8GB, wall <= 90s, cpu, or a path into the JSON that "
             "the program prints or a worker answers, such as 'p99_ms <= 50', with llama 'p95_s <= 2' or "
             "'ttft_s <= 0.5'. A run that breaks it failed. May be given several times."},
    {.name = "pareto",
     .type = OPTION_ONE,
     AT(pareto),
     .value = "NAME",
     .help =
         "A second objective, named as in a limit: memory, cpu, p99_ms (less is better), or 'more tokens_per_s'. kerf "
         "then looks for the Pareto front of both: for each of all settings one of it is at most --within worse in "
         "either. Up to 200 settings; runs are not stopped early, and earlier studies do not count."},
    {.name = "default",
     .letter = 'd',
     .type = OPTION_ONE,
     AT(defaults),
     .value = "SETTING",
     .help = "The setting that is used today, such as batch=2048,ubatch=512. It is measured first, and the gain "
             "is told against it. A flag is on or off."},
    {.name = "prefer",
     .type = OPTION_ONE,
     AT(prefer),
     .value = "ORDER",
     .help = "Of the settings within the margin, recommend the first in this order: smaller:ubatch,batch. "
             "Several orders are joined by ';'. Words have the order in which they are listed; off comes before "
             "on."},
    {.name = "within",
     .type = OPTION_STRING,
     AT(within),
     .value = "SHARE",
     .help = "How near the answer must be to the best of all settings (default: 3%)."},
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
     .help = "The probability that the answer must have; also that of the intervals (default: 95%)."},
    {.name = "objective",
     .type = OPTION_STRING,
     AT(objective),
     .value = "WHAT",
     .choices = "wall,cpu,memory,value,regex:,json:,prompt,generate,generate-cpu,serve,serve-cpu",
     .help = "What to minimize (default: wall): wall or cpu (seconds), memory (bytes at the peak), "
             "regex:EXPRESSION (its first group, in the last match in the output), json:PATH (in the last JSON "
             "value of the output), or value (a worker's number that is not a time). Of llama (default: prompt): "
             "prompt or generate (seconds), serve (tokens a second of llama-server, more is better), or their "
             "processor time: cpu, generate-cpu or serve-cpu."},
    {.name = "minimize",
     .type = OPTION_FLAG,
     AT(minimize),
     .uses = "COMMAND",
     .help = "Less is better (this is the default)."},
    {.name = "maximize",
     .type = OPTION_FLAG,
     AT(maximize),
     .uses = "COMMAND",
     .help = "More is better. The numbers of a worker or of lines are then not times, and may be 0 or below."},
    {.name = "protocol",
     .type = OPTION_CHOICE,
     AT(protocol),
     .value = "HOW",
     .choices = "exit,lines,worker,llama-bench,bench",
     .uses = "COMMAND",
     .help = "How COMMAND is measured (default: exit): exit: from its start to its end; lines: each line of its "
             "output is a sample; worker: it is started once, and reads questions on its standard input; llama-bench: "
             "by its JSON lines; bench: SERVER -- CLIENT: the server is started once, {port} is a free port, and each "
             "run of the client measures it."},
    {.name = "policy",
     .type = OPTION_CHOICE,
     AT(policy),
     .value = "NAME",
     .choices = "kerf,race,exhaustive,random,halving,best_bub,null",
     .help = "What chooses the settings to measure (default: kerf). The others are for comparison; race treats "
             "settings as independent."},
    {.name = "warmup",
     .type = OPTION_INTEGER,
     AT(warmups),
     .value = "N",
     .minimum = 0,
     .maximum = 1000,
     .help = "How many measurements at the beginning of each slot are only warm-ups (default: 0)."},
    {.name = "prepare",
     .type = OPTION_ONE,
     AT(prepare),
     .value = "COMMAND",
     .help =
         "A shell command that runs before each measurement and is not measured: 'sync; echo 3 > "
         "/proc/sys/vm/drop_caches', or 'make clean && make N={n}'. {NAME} of a parameter and {setting} are replaced; "
         "other braces are the shell's."},
    {.name = "cleanup",
     .type = OPTION_ONE,
     AT(cleanup),
     .value = "COMMAND",
     .help = "A shell command like that of --prepare that runs after each measurement, and when kerf is interrupted."},
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
     .help = "How long a worker or a server may take until it is ready, a program until its first line, and --prepare "
             "and --cleanup until they end (default: 10m)."},
    {.name = "trial-timeout",
     .type = OPTION_DURATION,
     AT(trial_timeout_s),
     .value = "TIME",
     .minimum = DBL_MIN,
     .maximum = 1e9,
     .help = "How long one measurement may take after that; a longer one counts as a hang (default: ten times the "
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
     .help = "What to do if other programs kept the machine busy: measure again (default), or ignore it."},
    {.name = "patience",
     .type = OPTION_DURATION,
     AT(patience_s),
     .value = "TIME",
     .minimum = DBL_MIN,
     .maximum = 1e9,
     .help = "For how long a disturbed measurement is repeated, with longer and longer waits, before the study ends "
             "because the machine is too noisy (default: 31s)."},
    {.name = "slots",
     .type = OPTION_INTEGER,
     AT(slots),
     .value = "N",
     .minimum = 1,
     .maximum = 256,
     .help = "Measurements at a time (default: 1), each on its own processors or, with --launcher, on its own machine. "
             "Each slot measures the default first, so that slots can be compared "
             "(docs/slots.md)."},
    {.name = "launcher",
     .type = OPTION_ONE,
     AT(launcher),
     .value = "WORDS",
     .help = "Words before COMMAND that run it on another machine, such as 'srun --exclusive -n1 -N1'. kerf then does "
             "not look for other work on this machine."},
    {.name = "seed",
     .type = OPTION_INTEGER,
     AT(seed),
     .value = "N",
     .minimum = 0,
     .maximum = 9007199254740991,
     .help = "Seed of the random numbers of the policy, and of the shares of what matters in the report (default: 0)."},
    {.name = "context",
     .letter = 'c',
     .type = OPTION_INTEGER,
     AT(context),
     .value = "N",
     .minimum = 2,
     .maximum = 1 << 30,
     .uses = "llama",
     .help = "Tokens of context; a measurement is a prompt of N - 1 tokens. With --objective serve: of each slot "
             "(default: the longest prompt with the longest answer)."},
    {.name = "tokens",
     .type = OPTION_INTEGER,
     AT(tokens),
     .value = "N",
     .minimum = 1,
     .maximum = 1 << 20,
     .uses = "llama",
     .help = "With --objective generate: tokens to generate, of each sequence (default: 32)."},
    {.name = "depth",
     .type = OPTION_INTEGER,
     AT(depth),
     .value = "N",
     .minimum = 0,
     .maximum = 1 << 24,
     .uses = "llama",
     .help = "With --objective generate: tokens of the prompt before them (default: 0)."},
    {.name = "sequences",
     .type = OPTION_INTEGER,
     AT(sequences),
     .value = "N",
     .minimum = 1,
     .maximum = 256,
     .uses = "llama",
     .help = "With --objective generate: sequences at a time (default: 1)."},
    {.name = "clients",
     .type = OPTION_INTEGER,
     AT(clients),
     .value = "N",
     .minimum = 1,
     .maximum = 256,
     .uses = "llama",
     .help = "With --objective serve: requests at a time (default: 4)."},
    {.name = "requests",
     .type = OPTION_INTEGER,
     AT(requests),
     .value = "N",
     .minimum = 1,
     .maximum = 1000000,
     .uses = "llama",
     .help = "With --objective serve: requests of a measurement (default: four for each client)."},
    {.name = "prompts",
     .type = OPTION_ONE,
     AT(prompts),
     .value = "N[,N]",
     .uses = "llama",
     .help = "With --objective serve: tokens of prompts, each as often as the others (default: 32,128,512)."},
    {.name = "outputs",
     .type = OPTION_ONE,
     AT(outputs_of_prompts),
     .value = "N[,N]",
     .uses = "llama",
     .help = "With --objective serve: tokens of answers (default: 16,64)."},
    {.name = "threads",
     .letter = 't',
     .type = OPTION_INTEGER,
     AT(threads),
     .value = "N",
     .minimum = 1,
     .maximum = 4096,
     .uses = "llama",
     .help = "Threads (default: one for each processor). Where threads are tuned, those of the default setting."},
    {.name = "gpu-layers",
     .type = OPTION_INTEGER,
     AT(gpu_layers),
     .value = "N",
     .minimum = -1,
     .maximum = 4096,
     .uses = "llama",
     .help = "Layers on devices, -1 for all (default: 0). Where gpu_layers are tuned, those of the default setting."},
    {.name = "logits",
     .type = OPTION_CHOICE,
     AT(logits),
     .value = "WHICH",
     .choices = "all,last",
     .uses = "llama",
     .help = "Tokens for which logits are computed (default: all, which perplexity and imatrix need; a server's "
             "prompts only need the last)."},
    {.name = "tune",
     .type = OPTION_ONE,
     AT(also),
     .value = "NAMES",
     .uses = "llama",
     .help = "What to tune in addition to batch and ubatch, separated by commas: threads, gpu_layers, flash_attention, "
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
     .help = "Continue --study NAME, or the newest study. Only --budget, --patience, --max-observations, --show-output "
             "and the output options may be given again."},
    {.name = "fresh",
     .type = OPTION_FLAG,
     AT(fresh),
     .help = "Ignore earlier studies of the same command, files and machine."},
    {.name = "key-env",
     .type = OPTION_STRINGS,
     AT(key_env),
     .value = "NAME[,NAME]",
     .help = "Environment variables that affect the measurements: an earlier study only counts if they had the same "
             "values. CUDA_VISIBLE_DEVICES, LD_LIBRARY_PATH and OMP_* are always compared."},
    {.name = "no-journal", .type = OPTION_FLAG, AT(no_journal), .help = "Do not write a journal of this study."},
    {.name = "show-output",
     .type = OPTION_FLAG,
     AT(show_output),
     .help = "Pass the output of COMMAND on to standard error."},
    {.name = "format",
     .letter = 'f',
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORM",
     .choices = "table,json,csv,markdown",
     .help = "What is printed (default: table)."},
    {.name = "slice",
     .type = OPTION_ONE,
     AT(slice),
     .value = "NAME=VALUE[,...]",
     .help =
         "Draw the surface where these parameters have these values, over the first two others (default: the values "
         "of the recommended setting)."},
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

/* "3%" or "0.03": above 0 and below 1. `example`: such a one. */
static int32_t read_share(const char *option, const char *example, const char *text, double *ret_share,
                          struct kerf_error *err) {
    if (text == NULL) return KERF_OK;
    char *end;
    double value = number_read(text, &end);
    if (end != text && strcmp(end, "%") == 0) {
        value /= 100;
        end++;
    }
    if (end == text || *end || !(value > 0 && value < 1))
        return kerf_error_set(err, KERF_EINVALID, "%s '%.64s' must be a share such as %s", option, text, example);
    *ret_share = value;
    return KERF_OK;
}

static int32_t read_shares(const struct tune_options *values, struct kerf_study_request *request,
                           struct kerf_error *err) {
    int32_t code = read_share("--within", "3% or 0.03", values->within, &request->within, err);
    if (code == KERF_OK) code = read_share("--margin", "5% or 0.05", values->margin, &request->margin, err);
    if (code == KERF_OK)
        code = read_share("--confidence", "95% or 0.95", values->confidence, &request->confidence, err);
    return code;
}

/* These words join further objectives and limits to it (kerf_study_request). */
static int32_t check_objective(const char *objective, struct kerf_error *err) {
    static const char *const joints[] = {" subject to ", " and less ", " and more "};
    for (size_t i = 0; objective && i < sizeof joints / sizeof *joints; i++)
        if (strstr(objective, joints[i]))
            return kerf_error_set(err, KERF_EINVALID,
                                  "--objective: '%s' joins limits and second objectives; in an expression write its "
                                  "first blank as [ ]",
                                  joints[i]);
    return KERF_OK;
}

/* " and less memory", for "memory", "less memory" or "more tokens_per_s". */
static int32_t read_pareto(const char *text, struct kerf_text *ret_objective, struct kerf_error *err) {
    char name[OUTPUT_NAME_SIZE];
    int32_t maximize;
    struct kerf_error why;
    if (output_objective_read(text, name, &maximize, &why) != KERF_OK)
        return kerf_error_set(err, KERF_EINVALID, "--pareto %s", why.message);
    kerf_text_printf(ret_objective, " and %s %s", maximize ? "more" : "less", name);
    return KERF_OK;
}

/* The objective with the second one and its limits, as kerf_study_request has it. */
static int32_t read_objective(const char *pareto, const struct string_list *limits, const char *objective,
                              struct kerf_text *ret_objective, struct kerf_error *err) {
    struct output_limit limit;
    kerf_text_printf(ret_objective, "%s", objective);
    int32_t code = pareto ? read_pareto(pareto, ret_objective, err) : KERF_OK;
    if (code != KERF_OK) return code;
    for (int32_t i = 0; i < limits->count; i++) {
        struct kerf_error why;
        if (output_limit_read(limits->items[i], &limit, &why) != KERF_OK)
            return kerf_error_set(err, KERF_EINVALID, "--subject-to: %s", why.message);
        kerf_text_printf(ret_objective, "%s%s", i == 0 ? " subject to " : ", ", limits->items[i]);
    }
    return ret_objective->failed ? kerf_error_set(err, KERF_ENOMEM, "not enough memory for the limits") : KERF_OK;
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

static int is_llama(const struct tune_options *values) {
    return values->words.count > 0 && strcmp(values->words.items[0], "llama") == 0;
}

/* What would be ignored is a mistake. */
static int32_t check_ignored(const struct tune_options *values, struct kerf_error *err) {
    if (values->prefer && !tune_has_model(values->policy))
        return kerf_error_set(err, KERF_EINVALID,
                              "--prefer is for the policies kerf and race: %s does not tell which settings are within "
                              "the margin",
                              values->policy);
    if ((values->margin || (values->within && !values->pareto)) && !tune_has_model(values->policy))
        return kerf_error_set(err, KERF_EINVALID,
                              "--%s is for the policies kerf and race: %s does not tell which settings are so near to "
                              "the best",
                              values->margin ? "margin" : "within", values->policy);
    if (values->launcher && values->interference && strcmp(values->interference, "ignore") != 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--interference %s needs to see the machine's other work; with --launcher kerf does not "
                              "look for it",
                              values->interference);
    if (values->key_env.count > 0 && values->no_journal &&
        (values->fresh || values->pareto || !tune_has_model(values->policy)))
        return kerf_error_set(err, KERF_EINVALID,
                              "--key-env is for comparing a study with others of its command; with --no-journal and "
                              "%s%s this one is compared with none",
                              values->fresh    ? "--fresh"
                              : values->pareto ? "--pareto"
                                               : "--policy ",
                              values->fresh || values->pareto ? "" : values->policy);
    return KERF_OK;
}

/* A program that ends has no load of its own. Of llama the protocol is known only with its programs. */
static int32_t check_load_timeout(const struct kerf_study_request *request, struct kerf_error *err) {
    const int loads = strcmp(request->protocol, "exit") != 0 && strcmp(request->protocol, "llama-bench") != 0;
    if (request->load_timeout_s == 0 || loads || request->prepare || request->cleanup) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "--load-timeout is for workers, --prepare and --cleanup; with the protocol %s "
                          "--trial-timeout ends a run",
                          request->protocol);
}

/* Of a new study, or of one that goes on. */
static int32_t check_patience(const struct tune_options *values, const struct kerf_study_request *request,
                              struct kerf_error *err) {
    if (values->patience_s == 0 || !(request->ignore_interference || request->launcher)) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "--patience says for how long a disturbed measurement is repeated; with %s none is",
                          request->launcher ? "--launcher" : "--interference ignore");
}

/* Fills in the whole request, which points into the values. */
static int32_t tune_options_request(const struct tune_options *values, struct kerf_study_request *request,
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
        return kerf_error_set(err, KERF_EINVALID, "give --minimize or --maximize, not both");
    if (values->pareto && values->prefer)
        return kerf_error_set(err, KERF_EINVALID,
                              "give --pareto or --prefer, not both: of a Pareto front every setting is an answer");
    if (values->pareto && (values->margin || values->slice))
        return kerf_error_set(err, KERF_EINVALID,
                              "--pareto takes no --%s: of a Pareto front every setting is an answer",
                              values->margin ? "margin" : "slice");
    if (values->no_journal && values->study)
        return kerf_error_set(err, KERF_EINVALID, "give --study or --no-journal, not both: a journal has the name");
    int32_t code = check_objective(values->objective, err);
    if (code == KERF_OK) code = check_ignored(values, err);
    if (code == KERF_OK) code = read_shares(values, request, err);
    if (values->load_timeout_s > 0) request->load_timeout_s = values->load_timeout_s;
    if (values->trial_timeout_s > 0) request->trial_timeout_s = values->trial_timeout_s;
    if (code == KERF_OK) code = check_patience(values, request, err);
    return code == KERF_OK ? read_memory_cap(values, request, err) : code;
}

/* ---- Command lines that cannot be meant ------------------------------------------------------------------------ */

/* Checks of the command line; each returns KERF_OK, or says in one line what would be right. */
static int32_t tune_check_name(const struct tune_options *values, struct kerf_error *err) {
    const char *name = values->study;
    if (name == NULL) return KERF_OK;
    if (*name == 0) return kerf_error_set(err, KERF_EINVALID, "--study needs a name, such as --study nightly");
    if (values->resume && strchr(name, '/')) return KERF_OK; /* the path of a journal */
    if (strchr(name, '/'))
        return kerf_error_set(err, KERF_EINVALID,
                              "--study '%.64s' must be a name, not a path; $KERF_STUDIES names the folder of studies",
                              name);
    if (strlen(name) >= KERF_STUDY_ID_SIZE)
        return kerf_error_set(err, KERF_EINVALID, "--study '%.32s...' has %zu characters; at most %d are allowed", name,
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

/* The question of a study is in its journal and holds for all of it; only these options belong to one run. */
static int32_t tune_check_resumed(const struct tune_options *values, struct kerf_error *err) {
    static const char *const may[] = {"resume",      "study",  "budget", "patience", "max-observations",
                                      "show-output", "format", "slice",  "output",   NULL};
    if (values->params.count || values->words.count)
        return kerf_error_set(err, KERF_EINVALID,
                              "--resume continues the study's question: leave out --param and COMMAND");
    for (const struct option *option = tune_option_table; option->name; option++) {
        int32_t k = 0;
        while (may[k] && strcmp(may[k], option->name) != 0) k++;
        if (may[k] || !is_given(option, values)) continue;
        return kerf_error_set(err, KERF_EINVALID,
                              "--resume continues the study's question: leave out --%s (only --budget, --patience and "
                              "--max-observations may change; a new study of the same command uses the measurements "
                              "of this one)",
                              option->name);
    }
    return KERF_OK;
}

static int32_t tune_check_llama(const struct tune_options *values, struct kerf_error *err) {
    if (values->words.count != 2)
        return kerf_error_set(
            err, KERF_EINVALID,
            "kerf tune llama takes one model, such as model.gguf; to run a program of that name: ./llama");
    return KERF_OK;
}

/* "{batch" would be plain text, which is hardly meant. */
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

static int32_t tune_check_not_llama(const struct tune_options *values, struct kerf_error *err) {
    if (values->params.count == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--param is missing, such as --param batch=16..2048:x2; `kerf help tune` tells more");
    if (values->words.count == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "the command is missing, such as -- ./bench -b {batch}; `kerf help tune` tells more");
    return check_braces(values, err);
}

static const char *const examples[] = {
    "Batch and micro-batch of a benchmark",
    "kerf tune --param batch=16..2048:x2 --param ubatch=2..2048:x2 -w 'ubatch <= batch' -d batch=2048,ubatch=512 "
    "--prefer smaller:ubatch,batch -- ./bench -b {batch} -ub {ubatch}",
    "Threads and a compiler's flag, ten minutes at most",
    "kerf tune --param threads=1..16 --param 'lto?=-flto' --budget 10m -- make -j{threads} CFLAGS={lto}",
    "The Pareto front of speed and latency",
    "kerf tune --param batch=1..64:x2 --objective json:tokens_per_s --maximize --pareto p99_ms -- ./serve --batch "
    "{batch}",
    "Tokens per second that a program prints",
    "kerf tune --param batch=1..64:x2 --objective 'regex:([0-9.]+) tokens/s' --maximize -- ./serve --batch {batch}",
    "Batch and ubatch of a model",
    "kerf tune llama model.gguf --context 4096",
    "Continue the newest study",
    "kerf tune --resume",
    NULL,
};

static const struct command_use uses[] = {{"COMMAND", "-- COMMAND..."}, {"llama", "llama MODEL.gguf"}, {NULL, NULL}};

static const struct command_exit exits[] = {
    {"0", "the answer has the requested confidence"},
    {"1", "the budget was spent, or the machine is too noisy; the results so far were printed"},
    {"2", "bad usage or input"},
    {"3", "nothing could be measured"},
    {"130", "interrupted with Ctrl-C; the results so far were printed, and --resume continues"},
    {NULL, NULL},
};

static const struct command table = {
    .name = "tune",
    .summary = "the fastest setting of a program, found in few runs",
    .description =
        "Runs COMMAND with one setting after the other. It chooses the next setting from the measurements so far. It "
        "stops when the answer is within --within of the best of all settings with the probability --confidence. The "
        "report then says which "
        "setting to use, its gain over the default, which settings are as good, and how many measurements it took.\n\n"
        "Every measurement is a fresh run, or a fresh context of a worker (docs/workers.md). Measurements that other "
        "programs disturbed are repeated. Each measurement is in a journal before the next begins: `kerf studies` "
        "lists studies, and --resume continues one after an interruption.\n\n"
        "`llama` is a COMMAND for llama.cpp: it loads the model once, makes a fresh context for each measurement, "
        "tunes "
        "batch and ubatch up to the context, recommends the smallest that are within the margin, and ends with the "
        "options "
        "for llama.cpp's programs.\n\n"
        "The exit status is 0 if the answer has the requested confidence, 1 if the budget was spent or the machine is "
        "too noisy, 3 if nothing could be measured, and 130 after Ctrl-C, which prints the results so far.",
    .options = tune_option_table,
    .examples = examples,
    .arguments_offset = offsetof(struct tune_options, words),
    .uses = uses,
    .exits = exits,
};

/* ---- Which study --------------------------------------------------------------------------------------------- */

/* The study to resume: the named one, or the newest. */
static int32_t read_resumed(const struct tune_options *values, struct kerf_study_record **ret_record,
                            struct kerf_error *err) {
    struct kerf_study_strings ids = {0};
    struct kerf_study_record *record = NULL;
    int32_t code = tune_check_resumed(values, err);
    if (code == KERF_OK && values->study == NULL) {
        code = kerf_study_ids(&ids, err);
        if (code == KERF_OK && ids.count == 0)
            code = kerf_error_set(err, KERF_EUNKNOWN, "there is no study to continue");
    }
    if (code == KERF_OK) code = kerf_study_record_read(values->study ? values->study : ids.items[0], &record, err);
    kerf_study_ids_free(&ids);
    if (code == KERF_OK) code = check_patience(values, &record->request, err);
    if (code != KERF_OK) {
        kerf_study_record_free(record);
        return code;
    }
    if (values->max_observations) record->request.max_observations = values->max_observations;
    if (values->show_output) record->request.show_output = 1;
    *ret_record = record;
    return KERF_OK;
}

/* ---- llama --------------------------------------------------------------------------------------------------- */

/* Fills in what the preset knows. */
static int32_t read_llama(const struct tune_options *values, const struct llama_objective *objective,
                          struct llama_preset *preset, struct kerf_study_request *request, struct kerf_error *err) {
    const struct llama_question question = {.model = values->words.items[1],
                                            .work = objective->work,
                                            .takes_cpu = objective->takes_cpu,
                                            .tokens = values->tokens,
                                            .depth = values->depth,
                                            .sequences = values->sequences,
                                            .clients = values->clients,
                                            .requests = values->requests,
                                            .prompts = values->prompts,
                                            .answers = values->outputs_of_prompts,
                                            .context = values->context,
                                            .threads = values->threads,
                                            .gpu_layers = values->gpu_layers == TUNE_NOT_GIVEN ? 0 : values->gpu_layers,
                                            .gpu_layers_are_given = values->gpu_layers != TUNE_NOT_GIVEN,
                                            .also = values->also,
                                            .conform_to_imatrix = values->conform_to_imatrix,
                                            .outputs = values->logits};
    if (request->prefer == NULL && values->pareto == NULL) request->prefer = objective->prefers;
    return llama_preset_make(&question, preset, request, err);
}

/* ---- Running it ---------------------------------------------------------------------------------------------- */

/* The parts of a study until it has ended. */
struct tune_sources {
    struct kerf_study_request request;
    struct kerf_study_record *record; /* of the study that goes on; NULL: a new one */
    struct llama_preset llama;
    struct kerf_tune_space *space;
    struct kerf_text objective; /* with its limits */
};

static int32_t read_sources(const struct tune_options *values, struct tune_sources *sources, struct kerf_error *err) {
    const struct llama_objective *objective = NULL; /* of llama */
    int32_t code = tune_check_name(values, err);
    if (code != KERF_OK) return code;
    if (values->resume) {
        code = read_resumed(values, &sources->record, err);
        if (code != KERF_OK || sources->record->request.preset == NULL) return code;
        code = llama_preset_recall(&sources->record->request, &sources->llama, err);
        return code == KERF_OK
                   ? llama_preset_skip(&sources->llama, &sources->record->request, sources->record->space, err)
                   : code;
    }
    code = is_llama(values) ? tune_check_llama(values, err) : tune_check_not_llama(values, err);
    if (code == KERF_OK) code = tune_options_request(values, &sources->request, err);
    if (code == KERF_OK && is_llama(values)) code = llama_objective_find(values->objective, &objective, err);
    if (code == KERF_OK && objective) {
        sources->request.objective = objective->measured;
        sources->request.maximize = strcmp(objective->measured, "json:tokens_per_s") == 0;
    }
    if (code == KERF_OK && (values->pareto || values->subject_to.count > 0)) {
        code =
            read_objective(values->pareto, &values->subject_to, sources->request.objective, &sources->objective, err);
        sources->request.objective = sources->objective.data;
    }
    if (code == KERF_OK && objective) code = read_llama(values, objective, &sources->llama, &sources->request, err);
    if (code == KERF_OK) code = check_load_timeout(&sources->request, err);
    if (code != KERF_OK || objective == NULL) return code;
    code = kerf_study_request_space(&sources->request, &sources->space, err);
    return code == KERF_OK ? llama_preset_skip(&sources->llama, &sources->request, sources->space, err) : code;
}

static int32_t answer(const struct tune_options *values, int *ret_status, struct kerf_error *err) {
    struct tune_sources sources = {.record = NULL};
    struct tune_run run = {.plan = {.keep_journal = !values->no_journal,
                                    .use_earlier = !values->fresh,
                                    .budget_s = values->budget_s,
                                    .patience_s = values->patience_s},
                           .format = values->format,
                           .slice = values->slice,
                           .outputs = &values->outputs};
    int32_t code = read_sources(values, &sources, err);
    if (code == KERF_OK) {
        run.plan.request = sources.record ? &sources.record->request : &sources.request;
        run.plan.resumed = sources.record;
        run.plan.skipped = sources.llama.skipped;
        if (run.plan.request->preset) run.llama = &sources.llama;
        if (values->study && strchr(values->study, '/')) run.journal = values->study;
        if (values->study && !sources.record) snprintf(run.plan.id, sizeof run.plan.id, "%s", values->study);
        code = tune_run(&run, ret_status, err);
    }
    kerf_tune_space_free(sources.space);
    llama_preset_free(&sources.llama);
    kerf_study_record_free(sources.record);
    kerf_text_free(&sources.objective);
    return code;
}

static int run(int argc, char **argv) {
    struct tune_options values = tune_options_unset;
    struct kerf_error err;
    int ended, status = cli_parse(&tune_cli, argc, argv, &values);
    if (status >= 0) return status;
    interrupt_catch();
    int32_t code = answer(&values, &ended, &err);
    options_free(&table, &values);
    if (code == KERF_EINFEASIBLE) err.code = KERF_EINVALID; /* a grid without settings: the question is at fault */
    return code == KERF_OK ? ended : cli_fail(&err);
}

const struct cli_command tune_cli = {&table, run};
