/* SPDX-License-Identifier: Apache-2.0 */
/* A study of llama.cpp: the program that runs it, its command, the settings that are left out, and what its report says
 * besides. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/quantity.h"
#include "cli/llama_question.h"
#include "cli/tune_print.h"

/* The program that runs llama.cpp for a study, and its command: kerf-llama-worker, which loads the model once, else, for
 * prompts, llama-bench, which loads it for each measurement; or llama-server with its clients. */
struct llama_program {
    const char *worker;           /* NULL: llama-bench or llama-server from $PATH */
    const char *server, *clients; /* NULL: no server is asked for */
};

/* ---- Finding it ---------------------------------------------------------------------------------------------- */

static const char *beside_kerf(struct sketch *sketch, const char *relative) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return NULL;
    path[length] = 0;
    char *slash = strrchr(path, '/');
    if (slash) *slash = 0;
    const char *worker = sketch_printf(sketch, "%s/%s", path, relative);
    return access(worker, X_OK) == 0 ? worker : NULL;
}

/* A program of kerf's: what the variable names, beside kerf, or where it is installed. */
static const char *find_own(struct sketch *sketch, const char *variable, const char *name) {
    const char *named = getenv(variable);
    const char *found = named && *named ? named : beside_kerf(sketch, name);
    return found ? found : beside_kerf(sketch, sketch_printf(sketch, "../libexec/kerf/%s", name));
}

static int is_in_path(const char *name) {
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    for (const char *end; path && *path; path = *end ? end + 1 : end) {
        end = path + strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)(end - path), path, name);
        if (access(file, X_OK) == 0) return 1;
    }
    return 0;
}

static int32_t find_server(struct sketch *sketch, struct llama_program *ret_program, struct kerf_error *err) {
    const char *named = getenv("KERF_LLAMA_SERVER");
    const char *server = named && *named ? named : is_in_path("llama-server") ? "llama-server" : NULL;
    const char *clients = find_own(sketch, "KERF_LLAMA_CLIENTS", "kerf-llama-clients");
    if (server == NULL)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "no llama-server, neither in $PATH nor in $KERF_LLAMA_SERVER");
    if (clients == NULL)
        return kerf_error_set(err, KERF_EUNSUPPORTED,
                              "no kerf-llama-clients, neither beside kerf nor in $KERF_LLAMA_CLIENTS");
    *ret_program = (struct llama_program){.server = server, .clients = clients};
    return KERF_OK;
}

/* KERF_EUNSUPPORTED: there is none that does what is asked. */
static int32_t llama_program_find(const struct llama_question *question, struct sketch *sketch,
                                  struct llama_program *ret_program, struct kerf_error *err) {
    if (question->work == LLAMA_SERVE) return find_server(sketch, ret_program, err);
    const char *worker = find_own(sketch, "KERF_LLAMA_WORKER", "kerf-llama-worker");
    if (worker == NULL && (question->work != LLAMA_PROMPT || question->takes_cpu))
        return kerf_error_set(err, KERF_EUNSUPPORTED,
                              "this objective needs kerf-llama-worker, which is built where pkg-config finds llama, or "
                              "with -DKERF_LLAMA_DIR=FOLDER");
    if (worker == NULL && !is_in_path("llama-bench"))
        return kerf_error_set(err, KERF_EUNSUPPORTED,
                              "no program to run llama.cpp: neither kerf-llama-worker (built where pkg-config finds "
                              "llama, or with -DKERF_LLAMA_DIR=FOLDER) nor llama-bench in $PATH");
    *ret_program = (struct llama_program){.worker = worker};
    return KERF_OK;
}

/* ---- Its command --------------------------------------------------------------------------------------------- */

enum { WORDS_MAX = 64 };

static void add(struct kerf_study_strings *words, const char *word) { words->items[words->count++] = word; }

static void add_option(struct kerf_study_strings *words, struct sketch *sketch, const char *option, int64_t value) {
    add(words, option);
    add(words, sketch_printf(sketch, "%" PRId64, value));
}

static void worker_words(const char *worker, const struct llama_question *question, struct sketch *sketch,
                         const char *policy, struct kerf_study_strings *words) {
    add(words, worker);
    add(words, "--model");
    add(words, question->model);
    if (question->work == LLAMA_GENERATE) {
        add_option(words, sketch, "--generate", question->tokens);
        add_option(words, sketch, "--depth", question->depth);
        add_option(words, sketch, "--sequences", question->sequences);
    } else {
        add_option(words, sketch, "--context", question->context);
    }
    if (question->takes_cpu) {
        add(words, "--clock");
        add(words, "cpu");
    }
    add_option(words, sketch, "--threads", question->threads);
    add_option(words, sketch, "--gpu-layers", question->gpu_layers);
    add(words, "--logits");
    add(words, question->outputs);
    if (policy && strcmp(policy, "best_bub") == 0) add(words, "--no-warmup"); /* as best_bub does */
}

/* The options of llama.cpp's programs for the grid's parameters, and for what it does not tune. */
static void grid_words(const struct llama_question *question, const struct kerf_tune_space *space,
                       struct sketch *sketch, struct kerf_study_strings *words) {
    static const struct {
        const char *name, *option;
    } options[] = {{"batch", "-b"},     {"ubatch", "-ub"},   {"threads", "-t"},          {"gpu_layers", "-ngl"},
                   {"kv_type", "-ctk"}, {"kv_type", "-ctv"}, {"flash_attention", "-fa"}, {"mmap", "-lm"},
                   {"parallel", "-np"}};
    int has_threads = 0, has_layers = 0;
    for (int32_t p = 0; p < space->num_params; p++)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            if (strcmp(space->params[p].name, options[i].name) != 0) continue;
            add(words, options[i].option);
            add(words, sketch_printf(sketch, "{%s}", options[i].name));
            has_threads |= strcmp(options[i].name, "threads") == 0;
            has_layers |= strcmp(options[i].name, "gpu_layers") == 0;
        }
    if (!has_threads) add_option(words, sketch, "-t", question->threads);
    if (!has_layers) add_option(words, sketch, "-ngl", question->gpu_layers);
}

static void bench_words(const struct llama_question *question, const struct kerf_tune_space *space,
                        struct sketch *sketch, struct kerf_study_strings *words) {
    static const char *const fixed[] = {"-n", "0", "-r", "1", "-o", "jsonl"};
    add(words, "llama-bench");
    add(words, "-m");
    add(words, question->model);
    add_option(words, sketch, "-p", question->context - 1);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) add(words, fixed[i]);
    grid_words(question, space, sketch, words);
}

/* The largest number of slots that a setting has: llama-server divides its context by their number. */
static int64_t most_slots(const struct kerf_tune_space *space) {
    int64_t most = 1;
    for (int32_t p = 0; p < space->num_params; p++)
        for (int32_t i = 0; strcmp(space->params[p].name, "parallel") == 0 && i < space->params[p].num_values; i++)
            if (space->params[p].integers[i] > most) most = space->params[p].integers[i];
    return most;
}

static void server_words(const struct llama_program *program, const struct llama_question *question,
                         const struct kerf_tune_space *space, int64_t vocabulary, struct sketch *sketch,
                         struct kerf_study_strings *words) {
    static const char *const address[] = {"--host", "127.0.0.1", "--port", "{port}"};
    add(words, program->server);
    add(words, "-m");
    add(words, question->model);
    add_option(words, sketch, "-c", question->context * most_slots(space));
    for (size_t i = 0; i < sizeof address / sizeof *address; i++) add(words, address[i]);
    grid_words(question, space, sketch, words);
    add(words, "--");
    add(words, program->clients);
    for (size_t i = 2; i < sizeof address / sizeof *address; i++) add(words, address[i]);
    add_option(words, sketch, "--clients", question->clients);
    add_option(words, sketch, "--requests", question->requests);
    add(words, "--prompts");
    add(words, question->prompts);
    add(words, "--outputs");
    add(words, question->answers);
    add_option(words, sketch, "--vocab", vocabulary);
}

/* The command that measures the settings of the space, and its protocol. */
static void llama_program_command(const struct llama_program *program, const struct llama_question *question,
                                  const struct kerf_tune_space *space, int64_t vocabulary, struct sketch *sketch,
                                  struct kerf_study_request *request) {
    struct kerf_study_strings words = {sketch_alloc(sketch, WORDS_MAX, sizeof *words.items), 0};
    request->protocol = program->server ? "bench" : program->worker ? "worker" : "llama-bench";
    if (words.items == NULL) return;
    if (program->server)
        server_words(program, question, space, vocabulary, sketch, &words);
    else if (program->worker)
        worker_words(program->worker, question, sketch, request->policy, &words);
    else
        bench_words(question, space, sketch, &words);
    request->words = words;
}

/* ---- The question of a command ------------------------------------------------------------------------------- */

static const char *word_after(const struct kerf_study_request *request, const char *of_worker, const char *of_bench) {
    for (int32_t i = 0; i + 1 < request->words.count; i++)
        if (strcmp(request->words.items[i], of_worker) == 0 || strcmp(request->words.items[i], of_bench) == 0)
            return request->words.items[i + 1];
    return NULL;
}

static int64_t number_after(const struct kerf_study_request *request, const char *of_worker, const char *of_bench) {
    const char *word = word_after(request, of_worker, of_bench);
    return word ? strtoll(word, NULL, 10) : 0;
}

/* The question from which the command of a kept study was made; it points into the request. */
static int32_t llama_program_recall(const struct kerf_study_request *request, struct llama_question *ret_question,
                                    struct kerf_error *err) {
    const char *model = word_after(request, "--model", "-m");
    const char *outputs = word_after(request, "--logits", "--logits");
    int is_bench = strcmp(request->protocol, "llama-bench") == 0, is_server = strcmp(request->protocol, "bench") == 0;
    int64_t tokens = number_after(request, "--generate", "--generate");
    int64_t context = is_server    ? number_after(request, "-c", "-c")
                      : tokens > 0 ? number_after(request, "--depth", "--depth") + tokens
                                   : number_after(request, "--context", "-p") + is_bench;
    if (model == NULL || context <= 0)
        return kerf_error_set(err, KERF_ESYNTAX, "the study's command does not name a model");
    *ret_question = (struct llama_question){.model = model,
                                            .work = is_server    ? LLAMA_SERVE
                                                    : tokens > 0 ? LLAMA_GENERATE
                                                                 : LLAMA_PROMPT,
                                            .context = context,
                                            .sequences = number_after(request, "--sequences", "--sequences"),
                                            .threads = number_after(request, "--threads", "-t"),
                                            .gpu_layers = number_after(request, "--gpu-layers", "-ngl"),
                                            .outputs = outputs ? outputs : "all"};
    return KERF_OK;
}

/* ---- The preset ------------------------------------------------------------------------------------------------ */

void llama_preset_free(struct llama_preset *preset) {
    kerf_gguf_free(preset->gguf);
    sketch_free(&preset->sketch);
    *preset = (struct llama_preset){0};
}

/* context: of all sequences. */
static void fix(const struct llama_question *question, int64_t context, const struct kerf_study_request *request,
                struct llama_preset *preset) {
    int is_bench = strcmp(request->protocol, "llama-bench") == 0; /* it computes the logits of the last token alone */
    kerf_llama_setting_defaults(&preset->fixed);
    preset->fixed.context = context;
    preset->fixed.sequences = question->sequences;
    preset->fixed.threads = (int32_t)question->threads;
    preset->fixed.gpu_layers = question->gpu_layers;
    preset->fixed.outputs = question->work != LLAMA_PROMPT || is_bench || strcmp(question->outputs, "last") == 0;
}

static int32_t check(const struct llama_question *question, struct llama_preset *preset,
                     const struct kerf_study_request *request, struct llama_program *ret_program,
                     struct kerf_error *err) {
    int32_t code = llama_question_check(question, preset->gguf, err);
    if (code == KERF_OK) code = llama_values_check_names(&request->params, question->work, err);
    if (code == KERF_OK && question->work == LLAMA_SERVE && preset->gguf->vocab_size <= 0)
        code = kerf_error_set(err, KERF_EINVALID, "%.200s does not say how many tokens its vocabulary has",
                              question->model);
    if (code == KERF_OK) code = llama_program_find(question, &preset->sketch, ret_program, err);
    return code == KERF_OK ? llama_question_check_logits(question, ret_program->worker == NULL, err) : code;
}

static int32_t fill(const struct llama_question *question, struct llama_preset *preset,
                    struct kerf_study_request *request, int64_t *ret_context, struct kerf_error *err) {
    struct llama_program program = {0};
    struct kerf_tune_space *space = NULL;
    int32_t code = check(question, preset, request, &program, err);
    if (code != KERF_OK) return code;
    struct llama_grid grid = {.question = question,
                              .gguf = preset->gguf,
                              .request = request,
                              .is_bench = program.worker == NULL,
                              .sketch = &preset->sketch};
    llama_grid_make(&grid);
    if (preset->sketch.failed) return kerf_error_set(err, KERF_ENOMEM, "not enough memory");
    code = kerf_tune_space_create(grid.params.items, grid.params.count, grid.wheres.items, grid.wheres.count, NULL,
                                  &space, err);
    if (code == KERF_OK && space->has_unused == KERF_TUNE_GROWS) /* the memory of each setting is estimated */
        code = kerf_error_set(err, KERF_EINVALID, "the grid has %.3g settings, more than 1000000: name fewer values",
                              kerf_tune_space_size(space));
    if (code == KERF_OK) code = llama_values_check(space, grid.is_bench, question->conform_to_imatrix, err);
    if (code == KERF_OK) code = llama_grid_check(&grid, space, err);
    if (code != KERF_OK) {
        kerf_tune_space_free(space);
        return code;
    }
    if (request->defaults == NULL) request->defaults = llama_grid_default(&grid, space);
    llama_program_command(&program, question, space, preset->gguf->vocab_size, &preset->sketch, request);
    *ret_context = question->context * (question->work == LLAMA_SERVE      ? most_slots(space)
                                        : question->work == LLAMA_GENERATE ? question->sequences
                                                                           : 1);
    kerf_tune_space_free(space);
    request->params = grid.params;
    request->wheres = grid.wheres;
    return preset->sketch.failed ? kerf_error_set(err, KERF_ENOMEM, "not enough memory") : KERF_OK;
}

int32_t llama_preset_make(const struct llama_question *question, struct llama_preset *ret_preset,
                          struct kerf_study_request *request, struct kerf_error *err) {
    struct llama_question whole = *question;
    struct llama_preset preset = {0};
    int64_t processors = llama_grid_processors(), context = 0;
    whole.threads_are_given = whole.threads > 0;
    whole.outputs_are_given = whole.outputs != NULL;
    if (whole.threads == 0) whole.threads = processors - (whole.one_thread_less && processors > 1);
    int32_t code = llama_objective_complete(&whole, err);
    if (code == KERF_OK) code = llama_question_model(whole.model, &preset.gguf, err);
    if (code == KERF_OK) whole.model = preset.gguf->path;
    if (code == KERF_OK) code = fill(&whole, &preset, request, &context, err);
    if (code != KERF_OK) {
        llama_preset_free(&preset);
        return code;
    }
    fix(&whole, context, request, &preset);
    request->preset = "llama";
    *ret_preset = preset;
    return KERF_OK;
}

int32_t llama_preset_recall(const struct kerf_study_request *request, struct llama_preset *ret_preset,
                            struct kerf_error *err) {
    struct llama_question question = {0};
    int32_t code = llama_program_recall(request, &question, err);
    if (code != KERF_OK) return code;
    *ret_preset = (struct llama_preset){0};
    if (kerf_gguf_read(question.model, &ret_preset->gguf, NULL) != KERF_OK) ret_preset->gguf = NULL;
    fix(&question, question.context * (question.sequences > 1 ? question.sequences : 1), request, ret_preset);
    return KERF_OK;
}

/* ---- Settings that are not tried: llama.cpp refuses them, or memory has no room -------------------------------- */

/* Quantized caches are made of blocks of 32 values; in llama.cpp no block may span two heads. */
static const char *cache_fault(struct llama_preset *preset, const char *type) {
    const struct kerf_gguf *gguf = preset->gguf;
    enum { BLOCK = 32 };
    if (type == NULL || type[0] != 'q') return NULL;
    for (int64_t i = 0; i < gguf->block_count; i++) {
        const struct kerf_gguf_layer *layer = &gguf->layers[i];
        int32_t length = layer->key_length % BLOCK ? layer->key_length : layer->value_length;
        if (layer->head_count_kv > 0 && length % BLOCK)
            return sketch_printf(&preset->sketch, "a cache of %s needs heads that are multiples of %d, not %" PRId32,
                                 type, BLOCK, length);
    }
    return NULL;
}

static const char *memory_fault(struct llama_preset *preset, const struct kerf_llama_setting *setting,
                                int64_t available, const char *which) {
    struct kerf_llama_memory memory;
    struct kerf_text text = {0};
    if (kerf_llama_memory_estimate(preset->gguf, setting, &memory, NULL) != KERF_OK)
        return NULL;                                                            /* no estimate: it is tried */
    int64_t needed = memory.kv_host + memory.compute_host + memory.output_host; /* weights may be paged out */
    if (needed <= available) return NULL;
    kerf_text_add(&text, "it needs about ");
    quantity_bytes(&text, (double)needed);
    kerf_text_add(&text, " beside the weights, and ");
    quantity_bytes(&text, (double)available);
    kerf_text_printf(&text, " %s", which);
    return sketch_text(&preset->sketch, &text);
}

/* A cap that was asked for needs an estimate to go by. */
static int32_t check_cap(struct llama_preset *preset, const struct kerf_tune_space *space, struct kerf_error *err) {
    struct kerf_llama_setting setting = llama_grid_setting(&preset->fixed, space, 0);
    struct kerf_llama_memory memory;
    struct kerf_error why;
    int32_t code = kerf_llama_memory_estimate(preset->gguf, &setting, &memory, &why);
    return code == KERF_OK
               ? KERF_OK
               : kerf_error_set(err, code,
                                "--memory-cap needs an estimate of memory, which is not possible for this model: %s",
                                why.message);
}

int32_t llama_preset_skip(struct llama_preset *preset, const struct kerf_study_request *request,
                          const struct kerf_tune_space *space, struct kerf_error *err) {
    struct kerf_machine_memory machine;
    if (preset->gguf == NULL || kerf_machine_memory_read(&machine, NULL) != KERF_OK) return KERF_OK;
    int64_t cap = request->memory_cap_bytes;
    int32_t code = cap > 0 ? check_cap(preset, space, err) : KERF_OK;
    if (code != KERF_OK) return code;
    int is_capped = cap > 0 && cap < machine.available;
    preset->skipped = sketch_alloc(&preset->sketch, (size_t)space->num_settings, sizeof *preset->skipped);
    if (preset->skipped == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory");
    for (int32_t i = 0; i < space->num_settings; i++) {
        struct kerf_llama_setting setting = llama_grid_setting(&preset->fixed, space, i);
        preset->skipped[i] = cache_fault(preset, setting.kv_type_k);
        if (preset->skipped[i] == NULL)
            preset->skipped[i] = memory_fault(preset, &setting, is_capped ? cap : machine.available,
                                              is_capped ? "are allowed" : "are free");
    }
    return preset->sketch.failed ? kerf_error_set(err, KERF_ENOMEM, "not enough memory") : KERF_OK;
}

/* ---- What a report also says: the options of llama.cpp's programs, and memory ------------------------------------ */

/* Bytes beside the weights; 0: not known. */
static int64_t buffers(const struct tune_report *report, int32_t index) {
    struct kerf_llama_setting setting = llama_grid_setting(&report->llama->fixed, report->state->space, index);
    struct kerf_llama_memory memory;
    if (report->llama->gguf == NULL ||
        kerf_llama_memory_estimate(report->llama->gguf, &setting, &memory, NULL) != KERF_OK)
        return 0;
    return memory.host + memory.device - memory.weights_host - memory.weights_device;
}

/* Writes the options by which a tool runs with the recommended setting. 0: the tool cannot. */
static int flags(const struct tune_report *report, const char *tool, struct kerf_text *out) {
    struct kerf_llama_setting setting =
        llama_grid_setting(&report->llama->fixed, report->state->space, report->answer.recommended);
    setting.threads_batch = 0;
    if (strcmp(report->state->request->protocol, "bench") == 0 && strcmp(tool, "llama-server") != 0) return 0;
    if (strcmp(tool, "llama-bench") == 0) setting.context = 0;
    return kerf_llama_flags(tool, &setting, out, NULL) == KERF_OK;
}

static void words_flags(struct kerf_text *out, const struct tune_report *report) {
    const char *tool;
    kerf_text_add(out, "\n");
    for (size_t i = 0; (tool = kerf_llama_tool_at(i)); i++) {
        struct kerf_text options = {0};
        if (flags(report, tool, &options)) kerf_text_printf(out, "%-17s %s\n", tool, options.data ? options.data : "");
        kerf_text_free(&options);
    }
}

static void words_memory(struct kerf_text *out, const struct tune_report *report) {
    int64_t bytes = buffers(report, report->answer.recommended);
    int32_t usual = report->state->space->default_setting;
    if (bytes == 0) return;
    kerf_text_add(out, "Memory beside the weights: about ");
    quantity_bytes(out, (double)bytes);
    if (usual >= 0 && usual != report->answer.recommended) {
        kerf_text_add(out, ", with the default ");
        quantity_bytes(out, (double)buffers(report, usual));
    }
    kerf_text_add(out, ".\n");
}

void words_llama(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_study_request *request = report->state->request;
    if (report->answer.best < 0) return;
    words_flags(out, report);
    words_memory(out, report);
    if (request->prefer && !tune_has_model(request->policy))
        kerf_text_printf(out,
                         "This is the best, not the smallest within the margin: the policy %s does not tell which "
                         "settings are within it.\n",
                         request->policy);
}

void json_llama(struct kerf_json *json, const struct tune_report *report) {
    const struct kerf_gguf *gguf = report->llama->gguf;
    const char *tool;
    kerf_json_open(json, "llama", '{');
    if (gguf) {
        kerf_json_open(json, "model", '{');
        kerf_json_string(json, "architecture", gguf->architecture);
        kerf_json_string(json, "name", gguf->name);
        kerf_json_string(json, "precision", gguf->precision);
        kerf_json_integer(json, "parameters", gguf->parameters);
        kerf_json_integer(json, "bytes", gguf->tensor_bytes);
        kerf_json_integer(json, "context_length", gguf->context_length);
        kerf_json_close(json, '}');
    }
    if (report->answer.best >= 0) {
        kerf_json_open(json, "flags", '{');
        for (size_t i = 0; (tool = kerf_llama_tool_at(i)); i++) {
            struct kerf_text options = {0};
            if (flags(report, tool, &options)) kerf_json_string(json, tool, options.data ? options.data : "");
            kerf_text_free(&options);
        }
        kerf_json_close(json, '}');
        int64_t bytes = buffers(report, report->answer.recommended);
        if (bytes)
            kerf_json_integer(json, "buffer_bytes", bytes);
        else
            kerf_json_null(json, "buffer_bytes");
    }
    kerf_json_close(json, '}');
}
