/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a setting of llama.cpp, and decoding a chunk with it under the clock. */
#include "llama_chunk.h"

#include <ggml-backend.h>
#include <llama.h>
#include <malloc.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/characters.h"
#include "base/clock.h"
#include "base/error_fill.h"
#include "kerf/text.h"
#include "quantile.h"

/* ---- Settings -------------------------------------------------------------------------------------------------- */

/* Those that llama.cpp's own programs take for a KV cache. */
static const struct {
    const char *word;
    int32_t type;
} kv_types[] = {
    {"f32", GGML_TYPE_F32},   {"f16", GGML_TYPE_F16},   {"bf16", GGML_TYPE_BF16},
    {"q8_0", GGML_TYPE_Q8_0}, {"q4_0", GGML_TYPE_Q4_0}, {"q4_1", GGML_TYPE_Q4_1},
    {"q5_0", GGML_TYPE_Q5_0}, {"q5_1", GGML_TYPE_Q5_1}, {"iq4_nl", GGML_TYPE_IQ4_NL},
};

int32_t llama_setting_flash_attention(const char *word, int32_t *ret_value, struct kerf_error *err) {
    if (strcmp(word, "auto") == 0)
        *ret_value = LLAMA_FLASH_ATTN_TYPE_AUTO;
    else if (strcmp(word, "on") == 0)
        *ret_value = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    else if (strcmp(word, "off") == 0)
        *ret_value = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    else
        return kerf_error_set(err, KERF_EUNKNOWN, "flash_attention must be auto, on or off, not '%.40s'", word);
    return KERF_OK;
}

int32_t llama_setting_kv_type(const char *word, int32_t *ret_type, struct kerf_error *err) {
    for (size_t i = 0; i < sizeof kv_types / sizeof *kv_types; i++)
        if (strcmp(kv_types[i].word, word) == 0) return *ret_type = kv_types[i].type, KERF_OK;
    return kerf_error_set(
        err, KERF_EUNKNOWN,
        "the type of a KV cache must be f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1 or iq4_nl, not '%.40s'", word);
}

enum kind { COUNT, LAYERS, ATTENTION, TYPE_K, TYPE_V, TYPE_BOTH, SWITCH };

static const struct field {
    const char *name;
    enum kind kind;
    size_t offset;
} fields[] = {
    {"batch", COUNT, offsetof(struct llama_setting, batch)},
    {"ubatch", COUNT, offsetof(struct llama_setting, ubatch)},
    {"threads", COUNT, offsetof(struct llama_setting, threads)},
    {"threads_batch", COUNT, offsetof(struct llama_setting, threads_batch)},
    {"flash_attention", ATTENTION, offsetof(struct llama_setting, flash_attention)},
    {"kv_type", TYPE_BOTH, 0},
    {"kv_type_k", TYPE_K, offsetof(struct llama_setting, type_k)},
    {"kv_type_v", TYPE_V, offsetof(struct llama_setting, type_v)},
    {"gpu_layers", LAYERS, offsetof(struct llama_setting, gpu_layers)},
    {"mmap", SWITCH, offsetof(struct llama_setting, mmap)},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static int32_t unknown(const char *name, struct kerf_error *err) {
    const char *names[FIELDS];
    for (int i = 0; i < FIELDS; i++) names[i] = fields[i].name;
    const char *nearest = nearest_name(name, names, FIELDS);
    if (nearest) return kerf_error_set(err, KERF_EUNKNOWN, "no setting '%.40s'; did you mean %s?", name, nearest);
    return kerf_error_set(err, KERF_EUNKNOWN,
                          "no setting '%.40s'; there are batch, ubatch, threads, threads_batch, flash_attention, "
                          "kv_type, kv_type_k, kv_type_v, gpu_layers and mmap",
                          name);
}

static int32_t read_number(const struct field *field, const json_t *value, int32_t *number, struct kerf_error *err) {
    json_int_t least = field->kind == LAYERS ? -1 : 1, given = json_integer_value(value);
    if (!json_is_integer(value) || given < least || given > INT32_MAX)
        return kerf_error_set(err, KERF_EINVALID, "%s must be a whole number of %d or more", field->name, (int)least);
    *number = (int32_t)given;
    return KERF_OK;
}

/* true and false, as a flag's value is written; "on" and "off", as a choice's is. */
static int32_t read_switch(const struct field *field, const json_t *value, const char **ret_word,
                           struct kerf_error *err) {
    if (json_is_boolean(value))
        *ret_word = json_is_true(value) ? "on" : "off";
    else if (json_is_string(value))
        *ret_word = json_string_value(value);
    else
        return kerf_error_set(err, KERF_EINVALID, "%s must be \"on\" or \"off\"", field->name);
    return KERF_OK;
}

static int32_t read_type(const struct field *field, const json_t *value, struct llama_setting *setting,
                         struct kerf_error *err) {
    int32_t type = 0;
    if (!json_is_string(value)) return kerf_error_set(err, KERF_EINVALID, "%s must be a word such as f16", field->name);
    int32_t code = llama_setting_kv_type(json_string_value(value), &type, err);
    if (code != KERF_OK) return code;
    if (field->kind != TYPE_V) setting->type_k = type;
    if (field->kind != TYPE_K) setting->type_v = type;
    return KERF_OK;
}

static int32_t read_field(const struct field *field, const json_t *value, struct llama_setting *setting,
                          struct kerf_error *err) {
    int32_t *place = (int32_t *)(void *)((char *)setting + field->offset);
    if (field->kind == COUNT || field->kind == LAYERS) return read_number(field, value, place, err);
    if (field->kind != ATTENTION && field->kind != SWITCH) return read_type(field, value, setting, err);
    const char *word = "";
    int32_t code = read_switch(field, value, &word, err);
    if (code != KERF_OK) return code;
    if (field->kind == ATTENTION) return llama_setting_flash_attention(word, place, err);
    if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
        return kerf_error_set(err, KERF_EINVALID, "%s must be \"on\" or \"off\"", field->name);
    *place = strcmp(word, "on") == 0;
    return KERF_OK;
}

int32_t llama_setting_read(const json_t *object, struct llama_setting *setting, struct kerf_error *err) {
    struct llama_setting read = *setting;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        int i = 0;
        while (i < FIELDS && strcmp(fields[i].name, name) != 0) i++;
        int32_t code = i == FIELDS ? unknown(name, err) : read_field(&fields[i], value, &read, err);
        if (code != KERF_OK) return code;
    }
    *setting = read;
    return KERF_OK;
}

enum { LOG_LINE = 300 };

struct llama_chunk_runner {
    struct llama_chunk_plan plan;
    struct llama_model *model;
    int32_t loaded_gpu_layers, loaded_mmap; /* that the model was loaded with */
    int32_t is_warm;                        /* something was decoded since */
    llama_token *tokens;                    /* [context - 1] */
    int32_t chunk;                          /* as many of them are decoded */
    double start_s;                         /* of the clock */
    double deadline_s;                      /* decoding stops there; 0: none */
    char fault[LOG_LINE];                   /* the last warning or error that llama.cpp logged */
    char line[LOG_LINE];                    /* of the log, so far */
    int32_t line_level;
};

/* Processor time of all threads. */
static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- What llama.cpp says ---------------------------------------------------------------------------------- */

static void end_line(struct llama_chunk_runner *runner) {
    fprintf(stderr, "%s\n", runner->line);
    if (runner->line_level >= GGML_LOG_LEVEL_WARN && runner->line[0])
        snprintf(runner->fault, sizeof runner->fault, "%s", runner->line);
    runner->line[0] = 0;
}

/* Lines come in pieces; GGML_LOG_LEVEL_CONT continues one. */
static void hear(enum ggml_log_level level, const char *text, void *context) {
    struct llama_chunk_runner *runner = context;
    if (level != GGML_LOG_LEVEL_CONT) runner->line_level = (int32_t)level;
    if (runner->line_level == GGML_LOG_LEVEL_DEBUG || runner->line_level == GGML_LOG_LEVEL_NONE) return;
    for (const char *c = text; *c; c++) {
        size_t length = strlen(runner->line);
        if (*c == '\n')
            end_line(runner);
        else if (length + 1 < sizeof runner->line)
            runner->line[length] = *c, runner->line[length + 1] = 0;
    }
}

/* llama.cpp reports every failure as NULL or a number; only its log tells which one it was. */
static int32_t fail(struct llama_chunk_runner *runner, const char *what, struct kerf_error *err) {
    static const char *const words[] = {"alloc", "memory", "buffer"};
    int memory = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) memory |= strstr(runner->fault, words[i]) != NULL;
    return kerf_error_set(err, memory ? KERF_ENOMEM : KERF_EIO, "%s%s%s", what, runner->fault[0] ? ": " : "",
                          runner->fault);
}

/* ---- Memory ----------------------------------------------------------------------------------------------- */

/* A context's buffers are those that the one before gave back, and not new pages of the system's: faulting them in
 * would be a part of short chunks' times, and not of each (malloc learns to keep them). A program that decodes one
 * chunk after another faults them in once. */
static void keep_memory(void) {
#ifdef M_MMAP_MAX
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

static void give_back_memory(void) {
#ifdef M_MMAP_MAX
    malloc_trim(0);
#endif
}

/* ---- The model -------------------------------------------------------------------------------------------- */

static void set_mmap(struct llama_model_params *params, int32_t mmap) {
    if (mmap < 0) return;
#ifdef KERF_LLAMA_HAS_LOAD_MODE
    params->load_mode = mmap ? LLAMA_LOAD_MODE_MMAP : LLAMA_LOAD_MODE_NONE;
#else
    params->use_mmap = mmap;
#endif
}

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014). */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void draw_tokens(struct llama_chunk_runner *runner) {
    uint64_t state = runner->plan.seed;
    uint64_t vocab = (uint64_t)llama_vocab_n_tokens(llama_model_get_vocab(runner->model));
    for (int32_t i = 0; i + 1 < runner->plan.context; i++)
        runner->tokens[i] = (llama_token)(next_random(&state) % (vocab ? vocab : 1));
}

static int32_t load(struct llama_chunk_runner *runner, const struct llama_setting *setting, double *ret_load_s,
                    struct kerf_error *err) {
    *ret_load_s = 0;
    if (runner->model && runner->loaded_gpu_layers == setting->gpu_layers && runner->loaded_mmap == setting->mmap)
        return KERF_OK;
    if (runner->model) { /* before the next one, so that both never have to fit */
        llama_model_free(runner->model);
        give_back_memory();
    }
    runner->model = NULL;
    runner->is_warm = 0;
    runner->fault[0] = 0;
    struct llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = setting->gpu_layers < 0 ? INT32_MAX : setting->gpu_layers;
    set_mmap(&params, setting->mmap);
    double before_s = clock_ticks_s();
    runner->model = llama_model_load_from_file(runner->plan.model, params);
    if (runner->model == NULL) return fail(runner, "the model cannot be loaded", err);
    if (!llama_model_has_decoder(runner->model)) {
        llama_model_free(runner->model);
        runner->model = NULL;
        return kerf_error_set(err, KERF_EIO, "the model has no decoder, so that there is nothing to time");
    }
    runner->loaded_gpu_layers = setting->gpu_layers;
    runner->loaded_mmap = setting->mmap;
    *ret_load_s = clock_ticks_s() - before_s;
    draw_tokens(runner);
    return KERF_OK;
}

/* ---- A chunk ---------------------------------------------------------------------------------------------- */

struct moment {
    double clock_s, cpu_s;
};

static struct moment now(void) { return (struct moment){clock_ticks_s(), cpu_s()}; }

/* By that time which values and limits are of. */
static double moment_s(const struct llama_chunk_runner *runner, struct moment moment) {
    return runner->plan.takes_cpu ? moment.cpu_s : moment.clock_s;
}

static bool is_late(void *context) {
    const struct llama_chunk_runner *runner = context;
    return runner->deadline_s > 0 && moment_s(runner, now()) >= runner->deadline_s;
}

static struct llama_context *make_context(struct llama_chunk_runner *runner, const struct llama_setting *setting) {
    struct llama_context_params params = llama_context_default_params();
    const struct llama_generation *generation = &runner->plan.generation;
    int is_prompt = generation->tokens == 0;
    params.n_ctx = (uint32_t)(is_prompt ? runner->plan.context : llama_generation_context(generation));
    params.n_seq_max = is_prompt ? 1 : (uint32_t)generation->sequences;
    params.n_batch = (uint32_t)setting->batch;
    params.n_ubatch = (uint32_t)setting->ubatch;
#ifdef KERF_LLAMA_HAS_OUTPUTS_MAX
    /* as llama-server; 0: every token of a batch */
    params.n_outputs_max = !is_prompt ? (uint32_t)generation->sequences : runner->plan.all_logits ? 0 : 1;
#endif
    params.n_threads = setting->threads;
    params.n_threads_batch = setting->threads_batch ? setting->threads_batch : setting->threads;
    params.flash_attn_type = (enum llama_flash_attn_type)setting->flash_attention;
    params.type_k = (enum ggml_type)setting->type_k;
    params.type_v = (enum ggml_type)setting->type_v;
    params.swa_full = false; /* as llama.cpp's programs have it */
    params.abort_callback = is_late;
    params.abort_callback_data = runner;
    return llama_init_from_model(runner->model, params);
}

static int32_t decode_failed(struct llama_chunk_runner *runner, int32_t code, struct kerf_error *err) {
    return fail(runner, code == 1 ? "no room in the KV cache for the batch" : "llama_decode failed", err);
}

/* KERF_EINTERRUPTED: past the deadline. A device may not ask is_late, so that it is asked between batches too. */
static int32_t decode_chunk(struct llama_chunk_runner *runner, struct llama_context *context, struct llama_batch *batch,
                            const struct llama_setting *setting, struct kerf_error *err) {
    int32_t chunk = runner->chunk;
    for (int32_t from = 0; from < chunk; from += setting->batch) {
        int32_t count = chunk - from < setting->batch ? chunk - from : setting->batch;
        batch->n_tokens = count;
        for (int32_t i = 0; i < count; i++) {
            batch->token[i] = runner->tokens[from + i];
            batch->pos[i] = from + i;
            batch->n_seq_id[i] = 1;
            batch->seq_id[i][0] = 0;
            batch->logits[i] = runner->plan.all_logits || from + i + 1 == chunk;
        }
        int32_t code = llama_decode(context, *batch);
        if (code == 2 || (code == 0 && is_late(runner))) return KERF_EINTERRUPTED;
        if (code != 0) return decode_failed(runner, code, err);
    }
    return KERF_OK;
}

static int32_t decode(struct llama_chunk_runner *runner, struct llama_context *context,
                      const struct llama_setting *setting, double limit_s, struct llama_chunk_result *result,
                      struct kerf_error *err) {
    int32_t chunk = runner->chunk, most = setting->batch < chunk ? setting->batch : chunk;
    struct llama_batch batch = llama_batch_init(most, 0, 1);
    int32_t code = KERF_OK, chunks = runner->plan.chunks;
    const struct moment start = now();
    runner->deadline_s = limit_s > 0 ? moment_s(runner, start) + limit_s * chunks : 0;
    for (int32_t i = 0; i < chunks && code == KERF_OK; i++) {
        if (i > 0) llama_memory_clear(llama_get_memory(context), true);
        code = decode_chunk(runner, context, &batch, setting, err);
        if (code == KERF_OK) llama_synchronize(context);
    }
    const struct moment end = now();
    double taken_s = moment_s(runner, end) - moment_s(runner, start);
    result->cpu_s = (end.cpu_s - start.cpu_s) / chunks;
    runner->deadline_s = 0;
    llama_batch_free(batch);
    if (code != KERF_OK && code != KERF_EINTERRUPTED) return code;
    result->censored = code == KERF_EINTERRUPTED || (limit_s > 0 && taken_s > limit_s * chunks);
    result->value_s = result->censored ? limit_s : taken_s / chunks;
    result->tokens_per_s = result->censored ? (double)NAN : chunk / result->value_s;
    result->start_s = start.clock_s - runner->start_s;
    result->end_s = end.clock_s - runner->start_s;
    return KERF_OK;
}

/* ---- A generation ----------------------------------------------------------------------------------------- */

/* With the prompts in the context: the steps, each under the clock. */
static int32_t decode_steps(struct llama_chunk_runner *runner, struct llama_context *context, struct llama_batch *batch,
                            double limit_s, double *step_s, struct llama_chunk_result *result, struct kerf_error *err) {
    const struct llama_generation *generation = &runner->plan.generation;
    const double tokens = (double)generation->tokens * generation->sequences;
    const struct moment start = now();
    struct moment end = start;
    int32_t code = 0;
    runner->deadline_s = limit_s > 0 ? moment_s(runner, start) + limit_s * tokens : 0;
    for (int32_t step = 0; step < generation->tokens && code == 0; step++) {
        const struct moment before = end;
        code = llama_generation_step(generation, context, batch, step, runner->tokens);
        end = now();
        step_s[step] = moment_s(runner, end) - moment_s(runner, before);
        if (code == 0 && step + 1 < generation->tokens && is_late(runner)) code = 2;
    }
    runner->deadline_s = 0;
    const double taken_s = moment_s(runner, end) - moment_s(runner, start);
    result->cpu_s = (end.cpu_s - start.cpu_s) / tokens;
    result->start_s = start.clock_s - runner->start_s;
    result->end_s = end.clock_s - runner->start_s;
    if (code != 0 && code != 2) return decode_failed(runner, code, err);
    if (generation->depth == 0) result->ttft_s = step_s[0];
    result->censored = code == 2 || (limit_s > 0 && taken_s > limit_s * tokens);
    result->value_s = result->censored ? limit_s : taken_s / tokens;
    if (result->censored) return KERF_OK;
    result->tokens_per_s = 1 / result->value_s;
    result->step_s[0] = quantile_of(step_s, generation->tokens, 0.5);
    result->step_s[1] = quantile_of(step_s, generation->tokens, 0.95);
    return KERF_OK;
}

static int32_t generate(struct llama_chunk_runner *runner, struct llama_context *context,
                        const struct llama_setting *setting, double limit_s, struct llama_chunk_result *result,
                        struct kerf_error *err) {
    const struct llama_generation *generation = &runner->plan.generation;
    double *step_s = calloc((size_t)generation->tokens, sizeof *step_s);
    if (step_s == NULL) return error_no_memory(err, "a generation");
    if (generation->sequences > setting->batch) {
        free(step_s);
        return kerf_error_set(err, KERF_EINVALID, "a batch of %d has no room for a token of each of %d sequences",
                              (int)setting->batch, (int)generation->sequences);
    }
    struct llama_batch batch = llama_batch_init(setting->batch, 0, 1);
    double before_s = clock_ticks_s();
    result->tokens_per_s = result->step_s[0] = result->step_s[1] = (double)NAN;
    int32_t code = llama_generation_prompts(generation, context, &batch, setting->batch, runner->tokens);
    result->ttft_s = clock_ticks_s() - before_s;
    code = code == 0 ? decode_steps(runner, context, &batch, limit_s, step_s, result, err)
                     : decode_failed(runner, code, err);
    llama_batch_free(batch);
    free(step_s);
    return code;
}

/* With a model that is loaded. */
static int32_t measure(struct llama_chunk_runner *runner, const struct llama_setting *setting, double limit_s,
                       struct llama_chunk_result *result, struct kerf_error *err) {
    runner->fault[0] = 0;
    double before_s = clock_ticks_s();
    struct llama_context *context = make_context(runner, setting);
    result->context_s = clock_ticks_s() - before_s;
    if (context == NULL) return fail(runner, "llama.cpp cannot make a context with this setting", err);
    int32_t code = runner->plan.generation.tokens > 0 ? generate(runner, context, setting, limit_s, result, err)
                                                      : decode(runner, context, setting, limit_s, result, err);
    llama_free(context);
    return code;
}

/* What is decoded first after loading faults the weights in, and the memory of the buffers: llama.cpp's own programs
 * decode a few tokens before. Here it is a micro-batch of the setting that is asked for first, in the second of two
 * contexts: the buffers of all that follow are where the second one's were. It stops at the limit of what is measured
 * then. What cannot do that tells so when it is measured, and the next one warms up. */
static void warm_up(struct llama_chunk_runner *runner, const struct llama_setting *setting, double limit_s) {
    struct llama_chunk_result result = {0};
    const struct llama_chunk_plan plan = runner->plan;
    int32_t chunk = runner->chunk;
    runner->plan.chunks = runner->chunk = 1;
    if (plan.generation.tokens > 0) runner->plan.generation.tokens = 1;
    if (plan.generation.depth > setting->ubatch) runner->plan.generation.depth = setting->ubatch;
    int32_t code = measure(runner, setting, 0, &result, NULL);
    runner->chunk = setting->ubatch < chunk ? setting->ubatch : chunk;
    if (code == KERF_OK) code = measure(runner, setting, limit_s, &result, NULL);
    runner->chunk = chunk;
    runner->plan = plan;
    runner->is_warm = code == KERF_OK;
}

int32_t llama_chunk_run(struct llama_chunk_runner *runner, const struct llama_setting *setting, double limit_s,
                        struct llama_chunk_result *ret_result, struct kerf_error *err) {
    struct llama_chunk_result result = {0};
    int32_t code = load(runner, setting, &result.load_s, err);
    if (code == KERF_OK && !runner->is_warm && !runner->plan.no_warmup) warm_up(runner, setting, limit_s);
    if (code == KERF_OK) code = measure(runner, setting, limit_s, &result, err);
    if (code == KERF_OK) *ret_result = result;
    return code;
}

/* ---- The runner ------------------------------------------------------------------------------------------- */

int32_t llama_chunk_runner_create(const struct llama_chunk_plan *plan, const struct llama_setting *setting,
                                  struct llama_chunk_runner **ret_runner, double *ret_load_s, struct kerf_error *err) {
    struct llama_chunk_runner *runner = calloc(1, sizeof *runner);
    if (runner) runner->tokens = calloc((size_t)plan->context, sizeof *runner->tokens);
    if (runner == NULL || runner->tokens == NULL) {
        free(runner);
        return error_no_memory(err, "a chunk");
    }
    runner->plan = *plan;
    runner->chunk = plan->context - 1;
    keep_memory();
    runner->start_s = clock_ticks_s();
    llama_log_set(hear, runner);
#ifdef KERF_LLAMA_BACKENDS
    ggml_backend_load_all_from_path(KERF_LLAMA_BACKENDS);
#endif
    if (ggml_backend_reg_count() == 0) ggml_backend_load_all();
    llama_backend_init();
    int32_t code = load(runner, setting, ret_load_s, err);
    if (code == KERF_OK)
        *ret_runner = runner;
    else
        llama_chunk_runner_free(runner);
    return code;
}

struct llama_chunk_runner *llama_chunk_runner_free(struct llama_chunk_runner *runner) {
    if (runner == NULL) return NULL;
    llama_model_free(runner->model);
    llama_backend_free();
    llama_log_set(NULL, NULL);
    free(runner->tokens);
    free(runner);
    return NULL;
}
