/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kerf-llama-worker: measures llama.cpp for `kerf tune llama`. It loads a model once and then answers requests, a JSON
 * object a line:
 *
 *     -> {"ready":true}
 *     <- {"id":7,"setting":{"batch":512,"ubatch":128},"limit_s":1.25}
 *     -> {"id":7,"value":0.479,"start_s":3.1,"end_s":3.579}      seconds a chunk, or with --generate a token
 *     -> {"id":7,"censored":1.25,...}                            a chunk would have taken longer than limit_s
 *     -> {"id":7,"error":"...","kind":"memory"}                  memory or other; a crash is one
 *
 * What a request does not name is as the options say. Closing its input ends it. It is a program of its own so that
 * kerf needs no llama.cpp, and that whatever llama.cpp does to its process is no harm to kerf.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <llama.h>
#include "kerf/json.h"
#include "base/option.h"
#include "llama_chunk.h"
#include "own_program.h"

struct worker_options {
    struct string_list words;
    const char *model, *logits, *flash_attention, *kv_type, *clock;
    int64_t generate, depth, sequences;
    int64_t context, threads, threads_batch, gpu_layers, seed, chunks, batch, ubatch;
    int32_t use_mmap, no_mmap, no_warmup;
};

#define AT(field) .offset = offsetof(struct worker_options, field)
#define NUMBER(option, field, least, most, what)                                                                       \
    { .name = option, .type = OPTION_INTEGER, AT(field), .value = "N", .minimum = least, .maximum = most, .help = what }
static const struct option options[] = {
    {.name = "model", .type = OPTION_STRING, AT(model), .value = "FILE", .help = "The model, a GGUF file."},
    NUMBER("context", context, 2, 1 << 30, "Tokens of context (default: 512); a chunk has one token less."),
    NUMBER("batch", batch, 1, 1 << 30, "n_batch if a request names none (default: 2048)."),
    NUMBER("ubatch", ubatch, 1, 1 << 30, "n_ubatch if a request names none (default: 512)."),
    NUMBER("threads", threads, 1, 4096, "Threads (default: processors that it may use)."),
    NUMBER("threads-batch", threads_batch, 1, 4096, "Threads of a batch (default: as --threads)."),
    NUMBER("gpu-layers", gpu_layers, -1, 4096, "Layers on devices, -1 for all, as llama.cpp has it (default: -1)."),
    NUMBER("seed", seed, 0, 0x1p53, "Seed of the random tokens (default: 0)."),
    NUMBER("generate", generate, 1, 1 << 24, "Time the generation of so many tokens, not a prompt."),
    NUMBER("depth", depth, 0, 1 << 24, "With --generate: tokens of the prompt before them (default: 0)."),
    NUMBER("sequences", sequences, 1, 256, "With --generate: as many at a time (default: 1)."),
    {.name = "clock",
     .type = OPTION_CHOICE,
     AT(clock),
     .value = "WHICH",
     .choices = "wall,cpu",
     .help = "wall, or cpu: the processor time of all threads (default: wall)."},
    NUMBER("chunks", chunks, 1, 1000000, "Chunks in a measurement, whose mean is the value (default: 1)."),
    {.name = "logits",
     .type = OPTION_CHOICE,
     AT(logits),
     .value = "WHICH",
     .choices = "all,last",
     .help = "all, which perplexity and imatrix need, or last, which generation needs (default: all)."},
    {.name = "flash-attention",
     .type = OPTION_CHOICE,
     AT(flash_attention),
     .value = "WHEN",
     .choices = "auto,on,off",
     .help = "Flash attention (default: auto)."},
    {.name = "kv-type", .type = OPTION_STRING, AT(kv_type), .value = "TYPE", .help = "KV cache (default: f16)."},
    {.name = "mmap", .type = OPTION_FLAG, AT(use_mmap), .help = "Map the file (default: llama.cpp decides)."},
    {.name = "no-mmap", .type = OPTION_FLAG, AT(no_mmap), .help = "Read the file into memory."},
    {.name = "no-warmup",
     .type = OPTION_FLAG,
     AT(no_warmup),
     .help = "Do not warm up after loading the model: the first answer is then slower, since it reads the weights into "
             "memory."},
    {.name = NULL},
};

static const struct command table = {
    .name = "llama-worker",
    .summary = "measures llama.cpp for kerf tune",
    .description = "Loads a model and answers requests on its standard input, a JSON object a line; `kerf tune llama` "
                   "starts it.",
    .options = options,
    .arguments_offset = offsetof(struct worker_options, words),
};

static int refuse(int status, const char *message) { return own_program_refuse(&table, status, message); }

/* ---- Answers ---------------------------------------------------------------------------------------------- */

/* Whatever else a library prints to standard output goes to standard error; this is where the answers go. */
static FILE *take_output(void) {
    int fd = dup(STDOUT_FILENO);
    FILE *output = fd < 0 ? NULL : fdopen(fd, "w");
    if (output == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return NULL;
    return output;
}

/* 0 when nobody reads any more. */
static int say(FILE *output, struct kerf_text *line) {
    kerf_text_add(line, "\n");
    int good = !line->failed && fwrite(line->data, 1, line->length, output) == line->length && fflush(output) == 0;
    kerf_text_clear(line);
    return good;
}

static void answer_error(struct kerf_json *json, int32_t code, const char *message) {
    kerf_json_string(json, "error", message);
    kerf_json_string(json, "kind", code == KERF_ENOMEM ? "memory" : "other");
}

static void answer_result(struct kerf_json *json, const struct llama_chunk_result *result) {
    kerf_json_number(json, result->censored ? "censored" : "value", result->value_s);
    kerf_json_number(json, "cpu_s", result->cpu_s);
    kerf_json_number(json, "start_s", result->start_s);
    kerf_json_number(json, "end_s", result->end_s);
    kerf_json_number(json, "context_s", result->context_s);
    if (!isnan(result->tokens_per_s)) kerf_json_number(json, "tokens_per_s", result->tokens_per_s);
    if (result->ttft_s > 0) kerf_json_number(json, "ttft_s", result->ttft_s);
    if (result->step_s[1] > 0) {
        kerf_json_number(json, "step_p50_s", result->step_s[0]);
        kerf_json_number(json, "step_p95_s", result->step_s[1]);
    }
    if (result->load_s > 0) kerf_json_number(json, "load_s", result->load_s);
}

/* ---- Requests --------------------------------------------------------------------------------------------- */

static int32_t read_request(const json_t *request, struct llama_setting *setting, double *ret_limit_s,
                            struct kerf_error *err) {
    const json_t *limit = json_object_get(request, "limit_s"), *wanted = json_object_get(request, "setting");
    if (!json_is_object(wanted)) return kerf_error_set(err, KERF_EINVALID, "a request must have a setting, an object");
    if (limit && !json_is_null(limit)) {
        *ret_limit_s = json_number_value(limit);
        if (!json_is_number(limit) || !(*ret_limit_s >= 0))
            return kerf_error_set(err, KERF_EINVALID, "limit_s must be a number of seconds");
    }
    return llama_setting_read(wanted, setting, err);
}

static void answer(struct llama_chunk_runner *runner, const struct llama_setting *defaults, const char *line,
                   size_t length, struct kerf_text *out) {
    struct llama_setting setting = *defaults;
    struct llama_chunk_result result = {0};
    struct kerf_error err = {0};
    struct kerf_json json;
    double limit_s = 0;
    json_error_t fault;
    json_t *request = json_loadb(line, length, JSON_REJECT_DUPLICATES, &fault);
    const json_t *id = json_object_get(request, "id");
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    if (json_is_integer(id))
        kerf_json_integer(&json, "id", json_integer_value(id));
    else
        kerf_json_null(&json, "id");
    int32_t code = KERF_OK;
    if (request == NULL)
        code = kerf_error_set(&err, KERF_ESYNTAX, "a request must be JSON: %s", fault.text);
    else if (!json_is_integer(id))
        code = kerf_error_set(&err, KERF_EINVALID, "a request must have an id, a whole number");
    if (code == KERF_OK) code = read_request(request, &setting, &limit_s, &err);
    if (code == KERF_OK) code = llama_chunk_run(runner, &setting, limit_s, &result, &err);
    if (code == KERF_OK)
        answer_result(&json, &result);
    else
        answer_error(&json, code, err.message);
    kerf_json_close(&json, '}');
    json_decref(request);
}

static int serve(struct llama_chunk_runner *runner, const struct llama_setting *defaults, FILE *output) {
    struct kerf_text out = {0};
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    kerf_text_add(&out, "{\"ready\":true}");
    int good = say(output, &out);
    while (good && (length = getline(&line, &room, stdin)) > 0) {
        answer(runner, defaults, line, (size_t)length, &out);
        good = say(output, &out);
    }
    free(line);
    kerf_text_free(&out);
    return good ? 0 : refuse(3, "the answer could not be written");
}

/* ---- The program ------------------------------------------------------------------------------------------ */

static int32_t processors(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? count : 1;
}

static int32_t default_setting(const struct worker_options *given, struct llama_setting *ret_setting,
                               struct kerf_error *err) {
    struct llama_setting setting = {
        .batch = (int32_t)given->batch,
        .ubatch = (int32_t)given->ubatch,
        .threads = given->threads ? (int32_t)given->threads : processors(),
        .threads_batch = (int32_t)given->threads_batch,
        .gpu_layers = (int32_t)given->gpu_layers,
        .mmap = given->no_mmap    ? 0
                : given->use_mmap ? 1
                                  : -1,
    };
    int32_t code = llama_setting_flash_attention(given->flash_attention, &setting.flash_attention, err);
    if (code == KERF_OK) code = llama_setting_kv_type(given->kv_type, &setting.type_k, err);
    setting.type_v = setting.type_k;
    if (code == KERF_OK) *ret_setting = setting;
    return code;
}

static int run(const struct worker_options *given) {
    struct llama_setting setting;
    struct llama_chunk_runner *runner;
    struct kerf_error err = {0};
    double load_s = 0;
    if (given->model == NULL) return refuse(2, "--model FILE is needed");
    if (given->generate == 0 && (given->depth > 0 || given->sequences > 1))
        return refuse(2, "--depth and --sequences need --generate");
    if (given->generate > 0 && given->chunks > 1) return refuse(2, "give --generate or --chunks, not both");
    if (given->use_mmap && given->no_mmap) return refuse(2, "give --mmap or --no-mmap, not both");
    if (default_setting(given, &setting, &err) != KERF_OK) return refuse(2, err.message);
    FILE *output = take_output();
    if (output == NULL) return refuse(3, "no standard output");
    struct llama_chunk_plan plan = {
        .model = given->model,
        .context = (int32_t)(given->generate ? given->depth + given->generate + 1 : given->context),
        .generation = {.tokens = (int32_t)given->generate,
                       .depth = (int32_t)given->depth,
                       .sequences = (int32_t)given->sequences},
        .takes_cpu = strcmp(given->clock, "cpu") == 0,
        .chunks = (int32_t)given->chunks,
        .all_logits = strcmp(given->logits, "all") == 0,
        .no_warmup = given->no_warmup,
        .seed = (uint64_t)given->seed,
    };
    if (llama_chunk_runner_create(&plan, &setting, &runner, &load_s, &err) != KERF_OK) {
        fclose(output);
        return refuse(3, err.message);
    }
    fprintf(stderr, "kerf-llama-worker: llama.cpp %s loaded the model in %.3f s\n", llama_version(), load_s);
    int status = serve(runner, &setting, output);
    llama_chunk_runner_free(runner);
    fclose(output);
    return status;
}

int main(int argc, char **argv) {
    struct worker_options given = {.logits = "all",
                                   .flash_attention = "auto",
                                   .kv_type = "f16",
                                   .clock = "wall",
                                   .sequences = 1,
                                   .context = 512,
                                   .batch = 2048,
                                   .ubatch = 512,
                                   .gpu_layers = -1,
                                   .chunks = 1};
    struct kerf_error err = {0};
    int32_t help = 0;
    if (options_parse(&table, argc - 1, argv + 1, &given, &help, &err) != KERF_OK) return refuse(2, err.message);
    int status = 0;
    if (help)
        own_program_help(&table);
    else if (given.words.count > 0)
        status = refuse(2, "it takes only options");
    else
        status = run(&given);
    options_free(&table, &given);
    return status;
}
