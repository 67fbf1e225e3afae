/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llama_preset.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH_LEAST = 16, UBATCH_LEAST = 2, BATCH_DEFAULT = 2048, UBATCH_DEFAULT = 512, BATCH_MOST = 16384 };

void llama_preset_free(struct llama_preset *preset) {
    kerf_gguf_free(preset->gguf);
    sketch_free(&preset->sketch);
    *preset = (struct llama_preset){0};
}

static const char *printed(struct llama_preset *preset, const char *format, ...) KERF_PRINTF(2, 3);
static const char *printed(struct llama_preset *preset, const char *format, ...) {
    struct kerf_text text = {0};
    char buffer[PATH_MAX + 256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    kerf_text_add(&text, buffer);
    return sketch_text(&preset->sketch, &text);
}

static int64_t processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* ---- The grid ------------------------------------------------------------------------------------------------ */

static int64_t power_of_two_up_to(int64_t most) {
    int64_t power = 1;
    while (2 * power <= most) power *= 2;
    return power;
}

/* 1, 2, 3, 4, 6, 8, 12, 16, ... and the number itself. */
static const char *threads_param(struct llama_preset *preset) {
    struct kerf_text text = {0};
    int64_t most = processors();
    kerf_text_add(&text, "threads=1");
    for (int64_t power = 2; power <= most; power *= 2) {
        kerf_text_printf(&text, ",%" PRId64, power);
        if (power >= 2 && power / 2 * 3 < most) kerf_text_printf(&text, ",%" PRId64, power / 2 * 3);
    }
    if (power_of_two_up_to(most) != most) kerf_text_printf(&text, ",%" PRId64, most);
    return sketch_text(&preset->sketch, &text);
}

/* None, all (with the output one more than there are), and about seven in between. */
static const char *gpu_layers_param(struct llama_preset *preset) {
    int64_t all = preset->gguf->block_count + 1, step = (all + 7) / 8;
    struct kerf_text text = {0};
    kerf_text_add(&text, "gpu_layers=0");
    for (int64_t layers = step; layers < all; layers += step) kerf_text_printf(&text, ",%" PRId64, layers);
    kerf_text_printf(&text, ",%" PRId64, all);
    return sketch_text(&preset->sketch, &text);
}

static const struct {
    const char *name, *param; /* param: NULL: made by a function */
} choices[] = {{"threads", NULL},
               {"gpu_layers", NULL},
               {"flash_attention", "flash_attention=off,on"},
               {"kv_type", "kv_type=f16,q8_0"},
               {"mmap", NULL}};
enum { CHOICES = sizeof choices / sizeof *choices };

/* is_bench: in the words of llama-bench, which go onto its command line. */
static const char *param_of(struct llama_preset *preset, size_t choice, int is_bench) {
    if (choices[choice].param) return choices[choice].param;
    if (choice == 0) return threads_param(preset);
    if (choice == 1) return gpu_layers_param(preset);
    return is_bench ? "mmap=mmap,none" : "mmap=on,off";
}

struct lists { /* while they grow; [count] each */
    const char *params[16], *wheres[16], *words[32];
    int32_t num_params, num_wheres, num_words;
};

/* What the request says of a parameter goes before what the preset would. */
static const char *own_param(const struct study_request *request, const char *name) {
    size_t length = strlen(name);
    for (int32_t i = 0; i < request->params.count; i++)
        if (strncmp(request->params.items[i], name, length) == 0 && request->params.items[i][length] == '=')
            return request->params.items[i];
    return NULL;
}

static void add_param(struct lists *lists, const struct study_request *request, const char *name, const char *usual) {
    const char *own = own_param(request, name);
    lists->params[lists->num_params++] = own ? own : usual;
}

static int is_in_list(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *c = list; c && *c; c += strcspn(c, ","), c += *c == ',')
        if (strncmp(c, name, length) == 0 && (c[length] == ',' || c[length] == 0)) return 1;
    return 0;
}

static int32_t check_also(const char *also, struct kerf_error *err) {
    const char *names[CHOICES];
    for (size_t i = 0; i < CHOICES; i++) names[i] = choices[i].name;
    for (const char *c = also; c && *c; c += strcspn(c, ","), c += *c == ',') {
        char word[64];
        int known = 0;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(c, ","), c);
        for (size_t i = 0; i < CHOICES; i++) known |= strcmp(word, names[i]) == 0;
        if (known) continue;
        const char *nearest = kerf_text_nearest(word, names, CHOICES);
        return kerf_error_set(err, KERF_EUNKNOWN,
                              "--tune '%.64s'%s%s%s; besides batch and ubatch there are threads, gpu_layers, "
                              "flash_attention, kv_type and mmap",
                              word, nearest ? ": did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    }
    return KERF_OK;
}

/* Powers of two. llama.cpp cuts its default to the context: that is then one of them, whatever its size. */
static const char *batch_param(const struct llama_question *question, struct llama_preset *preset, int64_t most) {
    int64_t least = most < BATCH_LEAST ? most : BATCH_LEAST;
    struct kerf_text text = {0};
    if (question->max_batch_exponent > 0 || question->context >= BATCH_DEFAULT || question->context == most)
        return printed(preset, "batch=%" PRId64 "..%" PRId64 ":x2", least, most);
    kerf_text_add(&text, "batch=");
    for (int64_t batch = least; batch <= most; batch *= 2) kerf_text_printf(&text, "%" PRId64 ",", batch);
    kerf_text_printf(&text, "%" PRId64, question->context);
    return sketch_text(&preset->sketch, &text);
}

static int is_tuned(const struct lists *lists, const char *name) {
    size_t length = strlen(name);
    for (int32_t i = 0; i < lists->num_params; i++)
        if (strncmp(lists->params[i], name, length) == 0 && lists->params[i][length] == '=') return 1;
    return 0;
}

/* What llama.cpp refuses, and what llama-imatrix would not run as it was measured: of a batch larger than the context
 * it makes several chunks at a time, each with a cache of its own. */
static void add_wheres(const struct llama_question *question, struct llama_preset *preset, struct lists *lists,
                       const struct study_request *request) {
    lists->wheres[lists->num_wheres++] = "ubatch <= batch";
    if (is_tuned(lists, "kv_type") && is_tuned(lists, "flash_attention"))
        lists->wheres[lists->num_wheres++] = "kv_type == \"f16\" || flash_attention == \"on\"";
    if (question->conform_to_imatrix)
        lists->wheres[lists->num_wheres++] = printed(preset, "batch <= %" PRId64, question->context);
    for (int32_t i = 0; i < request->wheres.count && lists->num_wheres < 16; i++)
        lists->wheres[lists->num_wheres++] = request->wheres.items[i];
}

static void make_grid(const struct llama_question *question, struct llama_preset *preset, struct lists *lists,
                      int is_bench, struct study_request *request) {
    int64_t most = power_of_two_up_to(question->context < BATCH_MOST ? question->context : BATCH_MOST);
    if (question->max_batch_exponent > 0 && most > INT64_C(1) << question->max_batch_exponent)
        most = INT64_C(1) << question->max_batch_exponent;
    add_param(lists, request, "batch", batch_param(question, preset, most));
    add_param(lists, request, "ubatch",
              printed(preset, "ubatch=%d..%" PRId64 ":x2", most < UBATCH_LEAST ? 1 : UBATCH_LEAST, most));
    for (size_t i = 0; i < CHOICES; i++)
        if (is_in_list(question->also, choices[i].name) || own_param(request, choices[i].name))
            add_param(lists, request, choices[i].name, param_of(preset, i, is_bench));
    add_wheres(question, preset, lists, request);
}

/* What llama.cpp does when nothing is said, where the grid has it: it cuts the batch to the context, and flash
 * attention is on where the backend can, as processors do. */
static const char *usual_default(const struct llama_question *question, struct llama_preset *preset,
                                 const struct lists *lists, const struct kerf_tune_space *space) {
    struct kerf_text text = {0};
    int64_t batch = question->context < BATCH_DEFAULT ? question->context : BATCH_DEFAULT;
    kerf_text_printf(&text, "batch=%" PRId64 ",ubatch=%" PRId64, batch,
                     batch < UBATCH_DEFAULT ? batch : (int64_t)UBATCH_DEFAULT);
    for (int32_t p = 2; p < lists->num_params; p++) {
        const struct kerf_tune_param *param = &space->params[p];
        const char *value = strcmp(param->name, "threads") == 0 ? NULL : param->texts[0];
        if (strcmp(param->name, "gpu_layers") == 0)
            value = param->texts[question->gpu_layers ? param->num_values - 1 : 0];
        if (strcmp(param->name, "flash_attention") == 0) value = "on";
        kerf_text_printf(&text, ",%s=%s", param->name, value ? value : param->texts[param->num_values - 1]);
    }
    const char *words = sketch_text(&preset->sketch, &text);
    int32_t setting;
    return kerf_tune_setting_read(space, words, &setting, NULL) == KERF_OK ? words : NULL;
}

/* ---- The command --------------------------------------------------------------------------------------------- */

static const char *beside_program(struct llama_preset *preset, const char *relative) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return NULL;
    path[length] = 0;
    char *slash = strrchr(path, '/');
    if (slash) *slash = 0;
    const char *worker = printed(preset, "%s/%s", path, relative);
    return access(worker, X_OK) == 0 ? worker : NULL;
}

static const char *find_worker(struct llama_preset *preset) {
    const char *own = getenv("KERF_LLAMA_WORKER");
    const char *worker = own && *own ? own : beside_program(preset, "kerf-llama-worker");
    return worker ? worker : beside_program(preset, "../libexec/kerf/kerf-llama-worker");
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

static void word(struct lists *lists, const char *text) { lists->words[lists->num_words++] = text; }

static void worker_words(const struct llama_question *question, struct llama_preset *preset, struct lists *lists,
                         const char *worker) {
    word(lists, worker);
    word(lists, "--model");
    word(lists, question->model);
    word(lists, "--context");
    word(lists, printed(preset, "%" PRId64, question->context));
    word(lists, "--threads");
    word(lists, printed(preset, "%" PRId64, question->threads));
    word(lists, "--gpu-layers");
    word(lists, printed(preset, "%" PRId64, question->gpu_layers));
    word(lists, "--logits");
    word(lists, question->outputs);
}

/* llama-bench's own options for the parameters of the grid. */
static void bench_words(const struct llama_question *question, struct llama_preset *preset, struct lists *lists,
                        const struct kerf_tune_space *space) {
    static const struct {
        const char *name, *option;
    } options[] = {{"batch", "-b"},     {"ubatch", "-ub"},   {"threads", "-t"},          {"gpu_layers", "-ngl"},
                   {"kv_type", "-ctk"}, {"kv_type", "-ctv"}, {"flash_attention", "-fa"}, {"mmap", "-lm"}};
    static const char *const fixed[] = {"-n", "0", "-r", "1", "-o", "jsonl"};
    int has_threads = 0, has_layers = 0;
    word(lists, "llama-bench");
    word(lists, "-m");
    word(lists, question->model);
    word(lists, "-p");
    word(lists, printed(preset, "%" PRId64, question->context - 1));
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) word(lists, fixed[i]);
    for (int32_t p = 0; p < space->num_params; p++)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            if (strcmp(space->params[p].name, options[i].name) != 0) continue;
            word(lists, options[i].option);
            word(lists, printed(preset, "{%s}", options[i].name));
            has_threads |= strcmp(options[i].name, "threads") == 0;
            has_layers |= strcmp(options[i].name, "gpu_layers") == 0;
        }
    if (!has_threads) word(lists, "-t"), word(lists, printed(preset, "%" PRId64, question->threads));
    if (!has_layers) word(lists, "-ngl"), word(lists, printed(preset, "%" PRId64, question->gpu_layers));
}

/* *ret_worker: NULL: it is llama-bench. */
static int32_t find_program(struct llama_preset *preset, const char **ret_worker, struct kerf_error *err) {
    *ret_worker = find_worker(preset);
    if (*ret_worker || is_in_path("llama-bench")) return KERF_OK;
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "there is neither kerf-llama-worker (built where pkg-config finds llama, or for "
                          "$KERF_LLAMA_DIR) nor llama-bench in $PATH: nothing runs llama.cpp");
}

/* llama-bench computes the logits of the last token alone, and llama-imatrix needs those of all. */
static int32_t check_imatrix(const struct llama_question *question, const char *worker, struct kerf_error *err) {
    const char *fault = NULL;
    if (!question->conform_to_imatrix) return KERF_OK;
    if (worker == NULL)
        fault = "llama-imatrix computes the logits of all tokens, which llama-bench does not measure";
    else if (strcmp(question->outputs, "last") == 0)
        fault = "llama-imatrix computes the logits of all tokens; leave out --logits last";
    else if (is_in_list(question->also, "kv_type"))
        fault = "another kv_type would change the matrix; leave it out of --tune";
    if (fault == NULL) return KERF_OK;
    return kerf_error_set(err, worker ? KERF_EINVALID : KERF_EUNSUPPORTED, "--conform-to-imatrix: %s", fault);
}

/* ---- From the question to the request ------------------------------------------------------------------------- */

static struct kerf_strings keep(struct llama_preset *preset, const char **items, int32_t count) {
    const char **kept = sketch_alloc(&preset->sketch, (size_t)count, sizeof *kept);
    for (int32_t i = 0; kept && i < count; i++) kept[i] = items[i];
    return (struct kerf_strings){kept, kept ? count : 0};
}

static int32_t check_context(const struct llama_question *question, const struct kerf_gguf *gguf,
                             struct kerf_error *err) {
    if (gguf->context_length > 0 && question->context > gguf->context_length)
        return kerf_error_set(err, KERF_EINVALID,
                              "a context of %" PRId64 " is larger than the %" PRId64
                              " tokens that %.100s was trained with",
                              question->context, gguf->context_length, question->model);
    return KERF_OK;
}

static int32_t make(const struct llama_question *question, struct llama_preset *preset, struct study_request *request,
                    struct kerf_error *err) {
    struct lists lists = {.num_params = 0};
    struct kerf_tune_space *space = NULL;
    const char *worker;
    int32_t code = check_context(question, preset->gguf, err);
    if (code == KERF_OK) code = check_also(question->also, err);
    if (code == KERF_OK) code = find_program(preset, &worker, err);
    if (code == KERF_OK) code = check_imatrix(question, worker, err);
    if (code != KERF_OK) return code;
    make_grid(question, preset, &lists, worker == NULL, request);
    if (preset->sketch.failed) return kerf_error_set(err, KERF_ENOMEM, "not enough memory");
    code = kerf_tune_space_create(lists.params, lists.num_params, lists.wheres, lists.num_wheres, NULL, &space, err);
    if (code != KERF_OK) return code;
    if (request->defaults == NULL) request->defaults = usual_default(question, preset, &lists, space);
    request->protocol = worker ? "worker" : "llama-bench";
    if (worker)
        worker_words(question, preset, &lists, worker);
    else
        bench_words(question, preset, &lists, space);
    kerf_tune_space_free(space);
    request->params = keep(preset, lists.params, lists.num_params);
    request->wheres = keep(preset, lists.wheres, lists.num_wheres);
    request->words = keep(preset, lists.words, lists.num_words);
    if (code == KERF_OK && preset->sketch.failed) code = kerf_error_set(err, KERF_ENOMEM, "not enough memory");
    return code;
}

static void fix(const struct llama_question *question, struct llama_preset *preset) {
    kerf_llama_setting_defaults(&preset->fixed);
    preset->fixed.context = question->context;
    preset->fixed.threads = (int32_t)question->threads;
    preset->fixed.gpu_layers = question->gpu_layers;
    preset->fixed.outputs = strcmp(question->outputs, "last") == 0;
}

int32_t llama_preset_make(const struct llama_question *question, struct llama_preset *ret_preset,
                          struct study_request *request, struct kerf_error *err) {
    struct llama_question whole = *question;
    struct llama_preset preset = {0};
    if (whole.threads == 0) whole.threads = processors() - (whole.one_thread_less && processors() > 1);
    int32_t code = kerf_gguf_read(whole.model, &preset.gguf, err);
    if (code == KERF_OK) code = make(&whole, &preset, request, err);
    if (code != KERF_OK) {
        llama_preset_free(&preset);
        return code;
    }
    fix(&whole, &preset);
    request->preset = "llama";
    *ret_preset = preset;
    return KERF_OK;
}

static const char *word_after(const struct study_request *request, const char *a, const char *b) {
    for (int32_t i = 0; i + 1 < request->words.count; i++)
        if (strcmp(request->words.items[i], a) == 0 || strcmp(request->words.items[i], b) == 0)
            return request->words.items[i + 1];
    return NULL;
}

int32_t llama_preset_recall(const struct study_request *request, struct llama_preset *ret_preset,
                            struct kerf_error *err) {
    const char *model = word_after(request, "--model", "-m"), *context = word_after(request, "--context", "-p");
    const char *threads = word_after(request, "--threads", "-t"), *layers = word_after(request, "--gpu-layers", "-ngl");
    const char *outputs = word_after(request, "--logits", "--logits");
    if (model == NULL || context == NULL)
        return kerf_error_set(err, KERF_ESYNTAX, "the study's command names no model");
    int is_bench = strcmp(request->protocol, "llama-bench") == 0;
    const struct llama_question question = {.model = model,
                                            .context = strtoll(context, NULL, 10) + is_bench,
                                            .threads = threads ? strtoll(threads, NULL, 10) : 0,
                                            .gpu_layers = layers ? strtoll(layers, NULL, 10) : 0,
                                            .outputs = outputs ? outputs : "all"};
    *ret_preset = (struct llama_preset){0};
    if (kerf_gguf_read(model, &ret_preset->gguf, NULL) != KERF_OK) ret_preset->gguf = NULL;
    fix(&question, ret_preset);
    return KERF_OK;
}

/* ---- Settings ------------------------------------------------------------------------------------------------- */

struct kerf_llama_setting llama_preset_setting(const struct llama_preset *preset, const struct kerf_tune_space *space,
                                               int32_t setting) {
    struct kerf_llama_setting whole = preset->fixed;
    for (int32_t p = 0; p < space->num_params; p++) {
        const struct kerf_tune_param *param = &space->params[p];
        int32_t index = space->values[setting * space->num_params + p];
        const char *text = param->texts[index];
        int64_t number = param->integers ? param->integers[index] : 0;
        if (strcmp(param->name, "batch") == 0) whole.batch = number;
        if (strcmp(param->name, "ubatch") == 0) whole.ubatch = number;
        if (strcmp(param->name, "threads") == 0) whole.threads = (int32_t)number;
        if (strcmp(param->name, "gpu_layers") == 0) whole.gpu_layers = number;
        if (strcmp(param->name, "kv_type") == 0) whole.kv_type_k = whole.kv_type_v = text;
        if (strcmp(param->name, "mmap") == 0) whole.mmap = strcmp(text, "on") == 0 || strcmp(text, "mmap") == 0;
        if (strcmp(param->name, "flash_attention") == 0)
            whole.flash_attention = strcmp(text, "on") == 0 ? KERF_LLAMA_ATTENTION_ON : KERF_LLAMA_ATTENTION_OFF;
    }
    return whole;
}

/* Quantized caches are made of blocks of 32 values, which llama.cpp does not let reach over a head's end. */
static const char *cache_fault(struct llama_preset *preset, const char *type) {
    const struct kerf_gguf *gguf = preset->gguf;
    enum { BLOCK = 32 };
    if (type == NULL || type[0] != 'q') return NULL;
    for (int64_t i = 0; i < gguf->block_count; i++) {
        const struct kerf_gguf_layer *layer = &gguf->layers[i];
        int32_t length = layer->key_length % BLOCK ? layer->key_length : layer->value_length;
        if (layer->head_count_kv > 0 && length % BLOCK)
            return printed(preset, "heads of %" PRId32 " cannot be kept as %s, in blocks of %d", length, type, BLOCK);
    }
    return NULL;
}

static const char *memory_fault(struct llama_preset *preset, const struct kerf_llama_setting *setting,
                                int64_t available) {
    struct kerf_llama_memory memory;
    struct kerf_text text = {0};
    if (kerf_llama_memory_estimate(preset->gguf, setting, &memory, NULL) != KERF_OK)
        return NULL;                                                            /* not known: it is tried */
    int64_t needed = memory.kv_host + memory.compute_host + memory.output_host; /* weights may be paged out */
    if (needed <= available) return NULL;
    kerf_text_add(&text, "it needs about ");
    kerf_text_bytes(&text, (double)needed);
    kerf_text_add(&text, " beside the weights, and ");
    kerf_text_bytes(&text, (double)available);
    kerf_text_add(&text, " are free");
    return sketch_text(&preset->sketch, &text);
}

int32_t llama_preset_skip(struct llama_preset *preset, const struct kerf_tune_space *space, struct kerf_error *err) {
    struct kerf_machine_memory machine;
    if (preset->gguf == NULL || kerf_machine_memory_read(&machine, NULL) != KERF_OK) return KERF_OK;
    preset->skipped = sketch_alloc(&preset->sketch, (size_t)space->num_settings, sizeof *preset->skipped);
    if (preset->skipped == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory");
    for (int32_t i = 0; i < space->num_settings; i++) {
        struct kerf_llama_setting setting = llama_preset_setting(preset, space, i);
        preset->skipped[i] = cache_fault(preset, setting.kv_type_k);
        if (preset->skipped[i] == NULL) preset->skipped[i] = memory_fault(preset, &setting, machine.available);
    }
    return preset->sketch.failed ? kerf_error_set(err, KERF_ENOMEM, "not enough memory") : KERF_OK;
}
