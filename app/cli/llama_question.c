/* SPDX-License-Identifier: Apache-2.0 */
/* A question about llama.cpp on a model: which questions have no answer, and the settings that answer the others. */
#include "cli/llama_question.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include "base/characters.h"
#include "kerf/text.h"

/* Parameters that can be tuned beside those that are always, in this order. */
enum llama_choice { LLAMA_THREADS, LLAMA_GPU_LAYERS, LLAMA_FLASH_ATTENTION, LLAMA_KV_TYPE, LLAMA_MMAP, LLAMA_CHOICES };
static const char *const llama_choice_names[LLAMA_CHOICES] = {"threads", "gpu_layers", "flash_attention", "kv_type",
                                                              "mmap"};

/* 1 where `also` has the name. */
static int llama_question_tunes(const struct llama_question *question, enum llama_choice choice) {
    const char *name = llama_choice_names[choice];
    size_t length = strlen(name);
    for (const char *c = question->also; c && *c; c += strcspn(c, ","), c += *c == ',')
        if (strncmp(c, name, length) == 0 && (c[length] == ',' || c[length] == 0)) return 1;
    return 0;
}

int32_t llama_question_model(const char *path, struct kerf_gguf **ret_gguf, struct kerf_error *err) {
    int32_t code = kerf_gguf_read(path, ret_gguf, err);
    return code == KERF_EUNSUPPORTED ? err->code = KERF_EINVALID : code;
}

static int32_t check_context(const struct llama_question *question, const struct kerf_gguf *gguf,
                             struct kerf_error *err) {
    if (gguf->context_length > 0 && question->context > gguf->context_length)
        return kerf_error_set(err, KERF_EINVALID,
                              "a context of %" PRId64 " is larger than the %" PRId64
                              " tokens with which %.100s was trained",
                              question->context, gguf->context_length, question->model);
    return KERF_OK;
}

static int is_choice(const char *word) {
    for (size_t i = 0; i < LLAMA_CHOICES; i++)
        if (strcmp(word, llama_choice_names[i]) == 0) return 1;
    return 0;
}

static int32_t check_also(const char *also, struct kerf_error *err) {
    for (const char *c = also; c && *c; c += strcspn(c, ","), c += *c == ',') {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(c, ","), c);
        if (is_choice(word)) continue;
        const char *nearest = nearest_name(word, llama_choice_names, LLAMA_CHOICES);
        if (nearest)
            return kerf_error_set(err, KERF_EUNKNOWN, "--tune: there is no parameter '%.64s'; did you mean %s?", word,
                                  nearest);
        return kerf_error_set(err, KERF_EUNKNOWN,
                              "--tune: there is no parameter '%.64s'; besides batch and ubatch there are threads, "
                              "gpu_layers, flash_attention, kv_type and mmap",
                              word);
    }
    return KERF_OK;
}

int32_t llama_question_check(const struct llama_question *question, const struct kerf_gguf *gguf,
                             struct kerf_error *err) {
    int32_t code = check_context(question, gguf, err);
    return code == KERF_OK ? check_also(question->also, err) : code;
}

/* llama-bench computes the logits of the last token alone, and llama-imatrix needs those of all. */
int32_t llama_question_check_logits(const struct llama_question *question, int is_bench, struct kerf_error *err) {
    const char *fault = NULL;
    if (is_bench && question->outputs_are_given && strcmp(question->outputs, "all") == 0)
        return kerf_error_set(err, KERF_EUNSUPPORTED,
                              "--logits all needs kerf-llama-worker: llama-bench computes the logits of the last token "
                              "alone");
    if (!question->conform_to_imatrix) return KERF_OK;
    if (is_bench)
        fault = "llama-imatrix computes the logits of all tokens, which llama-bench does not measure";
    else if (strcmp(question->outputs, "last") == 0)
        fault = "llama-imatrix computes the logits of all tokens; leave out --logits last";
    else if (llama_question_tunes(question, LLAMA_KV_TYPE))
        fault = "another kv_type would change the matrix; leave it out of --tune";
    if (fault == NULL) return KERF_OK;
    return kerf_error_set(err, is_bench ? KERF_EUNSUPPORTED : KERF_EINVALID, "--conform-to-imatrix: %s", fault);
}

/* ---- Parameters and values ------------------------------------------------------------------------------------- */

static const struct parameter {
    const char *name;
    int64_t least;           /* smallest number */
    const char *words[10];   /* empty: values are numbers */
    const char *of_bench[3]; /* those of llama.cpp's command lines, where they differ */
    int32_t is_of_servers;   /* there is no such parameter elsewhere */
} parameters[] = {
    {.name = "batch", .least = 1},
    {.name = "ubatch", .least = 1},
    {.name = "parallel", .least = 1, .is_of_servers = 1},
    {.name = "threads", .least = 1},
    {.name = "gpu_layers", .least = -1},
    {.name = "flash_attention", .words = {"off", "on", "auto"}},
    {.name = "kv_type", .words = {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"}},
    {.name = "mmap", .words = {"on", "off"}, .of_bench = {"mmap", "none"}},
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

static const struct parameter *find(const char *name, size_t length) {
    for (size_t i = 0; i < PARAMETERS; i++)
        if (strlen(parameters[i].name) == length && strncmp(parameters[i].name, name, length) == 0)
            return &parameters[i];
    return NULL;
}

int32_t llama_values_check_names(const struct kerf_study_strings *params, enum llama_work work,
                                 struct kerf_error *err) {
    const char *names[PARAMETERS];
    for (size_t i = 0; i < PARAMETERS; i++) names[i] = parameters[i].name;
    for (int32_t i = 0; i < params->count; i++) {
        char name[64];
        size_t length = strcspn(params->items[i], "=");
        const struct parameter *known = find(params->items[i], length);
        if (known && known->is_of_servers && work != LLAMA_SERVE)
            return kerf_error_set(err, KERF_EINVALID, "--param: %s belongs to --objective serve", known->name);
        if (known) continue;
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), params->items[i]);
        const char *nearest = nearest_name(name, names, PARAMETERS);
        if (nearest)
            return kerf_error_set(err, KERF_EUNKNOWN, "--param: llama.cpp has no parameter '%s'; did you mean %s?",
                                  name, nearest);
        return kerf_error_set(err, KERF_EUNKNOWN,
                              "--param: llama.cpp has no parameter '%s'; there are %sbatch, ubatch, threads, "
                              "gpu_layers, flash_attention, kv_type and mmap",
                              name, work == LLAMA_SERVE ? "parallel, " : "");
    }
    return KERF_OK;
}

/* ---- Values -------------------------------------------------------------------------------------------------- */

static int32_t check_numbers(const struct parameter *parameter, const struct kerf_tune_param *param,
                             struct kerf_error *err) {
    int32_t bad = 0;
    while (param->integers && bad < param->num_values && param->integers[bad] >= parameter->least &&
           param->integers[bad] <= INT32_MAX)
        bad++;
    if (param->integers && bad == param->num_values) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "--param %s: '%.40s' is not a whole number of %" PRId64 " or more",
                          parameter->name, param->texts[bad], parameter->least);
}

static int has_word(const char *const *words, const char *word) {
    for (; *words; words++)
        if (strcmp(*words, word) == 0) return 1;
    return 0;
}

static int32_t check_words(const struct parameter *parameter, const struct kerf_tune_param *param, int is_bench,
                           struct kerf_error *err) {
    const char *const *words = is_bench && parameter->of_bench[0] ? parameter->of_bench : parameter->words;
    int32_t bad = 0;
    while (bad < param->num_values && has_word(words, param->texts[bad])) bad++;
    if (bad == param->num_values) return KERF_OK;
    char list[128] = "";
    for (size_t i = 0, at = 0; words[i]; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s",
                               i == 0         ? ""
                               : words[i + 1] ? ", "
                                              : " or ",
                               words[i]);
    return kerf_error_set(err, KERF_EINVALID, "--param %s: a value is %s, not '%.40s'", parameter->name, list,
                          param->texts[bad]);
}

static int32_t check_imatrix(const struct kerf_tune_param *param, struct kerf_error *err) {
    if (strcmp(param->name, "kv_type") != 0) return KERF_OK;
    for (int32_t i = 0; i < param->num_values; i++)
        if (strcmp(param->texts[i], "f16") != 0)
            return kerf_error_set(err, KERF_EINVALID,
                                  "--conform-to-imatrix: kv_type %.40s would change the matrix; leave it out",
                                  param->texts[i]);
    return KERF_OK;
}

int32_t llama_values_check(const struct kerf_tune_space *space, int is_bench, int conform_to_imatrix,
                           struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < space->num_params && code == KERF_OK; i++) {
        const struct kerf_tune_param *param = &space->params[i];
        const struct parameter *parameter = find(param->name, strlen(param->name));
        if (parameter == NULL) continue;
        code =
            parameter->words[0] ? check_words(parameter, param, is_bench, err) : check_numbers(parameter, param, err);
        if (code == KERF_OK && conform_to_imatrix) code = check_imatrix(param, err);
    }
    return code;
}

/* ---- The settings that are measured ---------------------------------------------------------------------------- */

enum { BATCH_MIN = 16, UBATCH_MIN = 2, BATCH_DEFAULT = 2048, UBATCH_DEFAULT = 512, BATCH_MAX = 16384 };

int64_t llama_grid_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int64_t power_of_two_up_to(int64_t most) {
    int64_t power = 1;
    while (2 * power <= most) power *= 2;
    return power;
}

static int64_t largest_batch(const struct llama_question *question) {
    int64_t most = power_of_two_up_to(question->context < BATCH_MAX ? question->context : BATCH_MAX);
    if (question->max_batch_exponent > 0 && most > INT64_C(1) << question->max_batch_exponent)
        most = INT64_C(1) << question->max_batch_exponent;
    return most;
}

/* Powers of two, and the context itself where llama.cpp would cut its default to it. */
static const char *batch_param(const struct llama_grid *grid, int64_t most) {
    const struct llama_question *question = grid->question;
    int64_t least = most < BATCH_MIN ? most : BATCH_MIN;
    struct kerf_text text = {0};
    if (question->max_batch_exponent > 0 || question->context >= BATCH_DEFAULT || question->context == most)
        return sketch_printf(grid->sketch, "batch=%" PRId64 "..%" PRId64 ":x2", least, most);
    kerf_text_add(&text, "batch=");
    for (int64_t batch = least; batch <= most; batch *= 2) kerf_text_printf(&text, "%" PRId64 ",", batch);
    kerf_text_printf(&text, "%" PRId64, question->context);
    return sketch_text(grid->sketch, &text);
}

static const char *ubatch_param(const struct llama_grid *grid, int64_t most) {
    int64_t least = most < UBATCH_MIN ? 1 : UBATCH_MIN;
    return sketch_printf(grid->sketch, "ubatch=%" PRId64 "..%" PRId64 ":x2", least, most);
}

/* Slots of a server: more than there are clients would stay empty. */
static const char *parallel_param(const struct llama_grid *grid) {
    struct kerf_text text = {0};
    int64_t clients = grid->question->clients, power = 1;
    kerf_text_add(&text, "parallel=1");
    for (power = 2; power <= clients; power *= 2) kerf_text_printf(&text, ",%" PRId64, power);
    if (power / 2 != clients) kerf_text_printf(&text, ",%" PRId64, clients);
    return sketch_text(grid->sketch, &text);
}

/* Up to what the prompts of all clients need, and llama.cpp's batch. */
static const char *server_ubatch_param(const struct llama_grid *grid) {
    enum { LEAST = 32 };
    int64_t most = LEAST, needed = grid->question->clients * grid->question->longest_prompt;
    while (most < needed && most < BATCH_DEFAULT) most *= 2;
    return sketch_printf(grid->sketch, "ubatch=%d..%" PRId64 ":x2", LEAST, most);
}

/* 1, 2, 3, 4, 6, 8, 12, 16, ... and the number of processors itself. */
static const char *threads_param(const struct llama_grid *grid) {
    struct kerf_text text = {0};
    int64_t most = llama_grid_processors();
    kerf_text_add(&text, "threads=1");
    for (int64_t power = 2; power <= most; power *= 2) {
        kerf_text_printf(&text, ",%" PRId64, power);
        if (power / 2 * 3 < most) kerf_text_printf(&text, ",%" PRId64, power / 2 * 3);
    }
    if (power_of_two_up_to(most) != most) kerf_text_printf(&text, ",%" PRId64, most);
    return sketch_text(grid->sketch, &text);
}

/* None, all (the output counts as one more layer), and about seven values in between. */
static const char *gpu_layers_param(const struct llama_grid *grid) {
    int64_t all = grid->gguf->block_count + 1, step = (all + 7) / 8;
    struct kerf_text text = {0};
    kerf_text_add(&text, "gpu_layers=0");
    for (int64_t layers = step; layers < all; layers += step) kerf_text_printf(&text, ",%" PRId64, layers);
    kerf_text_printf(&text, ",%" PRId64, all);
    return sketch_text(grid->sketch, &text);
}

static const char *choice_param(const struct llama_grid *grid, enum llama_choice choice) {
    switch (choice) {
    case LLAMA_THREADS: return threads_param(grid);
    case LLAMA_GPU_LAYERS: return gpu_layers_param(grid);
    case LLAMA_FLASH_ATTENTION: return "flash_attention=off,on";
    case LLAMA_KV_TYPE: return "kv_type=f16,q8_0";
    case LLAMA_MMAP: return grid->is_bench ? "mmap=mmap,none" : "mmap=on,off";
    case LLAMA_CHOICES: break;
    }
    return NULL;
}

/* ---- The grid ------------------------------------------------------------------------------------------------ */

/* The list's "name=..."; NULL: there is none. */
static const char *param_of(const struct kerf_study_strings *params, const char *name) {
    size_t length = strlen(name);
    for (int32_t i = 0; i < params->count; i++)
        if (strncmp(params->items[i], name, length) == 0 && params->items[i][length] == '=') return params->items[i];
    return NULL;
}

static void add(struct kerf_study_strings *list, const char *item) { list->items[list->count++] = item; }

/* The user's own values of a parameter, else the usual ones; neither: it is not tuned. */
static void add_param(struct llama_grid *grid, const char *name, const char *usual) {
    const char *own = param_of(&grid->request->params, name);
    if (own || usual) add(&grid->params, own ? own : usual);
}

/* What one token of each sequence needs is in one batch: its size is not tuned where tokens are generated. */
static int is_always_tuned(const struct llama_question *question, enum llama_choice choice) {
    if (question->work != LLAMA_GENERATE) return 0;
    return choice == LLAMA_FLASH_ATTENTION || (choice == LLAMA_THREADS && !question->threads_are_given);
}

static void add_params(struct llama_grid *grid) {
    const struct llama_question *question = grid->question;
    int64_t most = largest_batch(question);
    int is_prompt = question->work == LLAMA_PROMPT, is_server = question->work == LLAMA_SERVE;
    add_param(grid, "parallel", is_server ? parallel_param(grid) : NULL);
    add_param(grid, "batch", is_prompt ? batch_param(grid, most) : NULL);
    add_param(grid, "ubatch", is_prompt ? ubatch_param(grid, most) : is_server ? server_ubatch_param(grid) : NULL);
    for (enum llama_choice i = 0; i < LLAMA_CHOICES; i++) {
        int is_tuned = is_always_tuned(question, i) || llama_question_tunes(question, i);
        add_param(grid, llama_choice_names[i], is_tuned ? choice_param(grid, i) : NULL);
    }
}

/* Excludes what llama.cpp refuses, and for llama-imatrix batches larger than the context: of these it decodes several
 * chunks at a time, each with a cache of its own, which is not what was measured. */
static void add_wheres(struct llama_grid *grid) {
    if (param_of(&grid->params, "batch") && param_of(&grid->params, "ubatch")) add(&grid->wheres, "ubatch <= batch");
    if (param_of(&grid->params, "kv_type") && param_of(&grid->params, "flash_attention"))
        add(&grid->wheres, "kv_type == \"f16\" || flash_attention != \"off\"");
    if (grid->question->conform_to_imatrix)
        add(&grid->wheres, sketch_printf(grid->sketch, "batch <= %" PRId64, grid->question->context));
    for (int32_t i = 0; i < grid->request->wheres.count; i++) add(&grid->wheres, grid->request->wheres.items[i]);
}

void llama_grid_make(struct llama_grid *grid) {
    enum { PARAMS_MAX = PARAMETERS, WHERES_OF_OURS = 3 };
    size_t wheres = WHERES_OF_OURS + (size_t)grid->request->wheres.count;
    grid->params.items = sketch_alloc(grid->sketch, PARAMS_MAX, sizeof *grid->params.items);
    grid->wheres.items = sketch_alloc(grid->sketch, wheres, sizeof *grid->wheres.items);
    if (grid->sketch->failed) return;
    add_params(grid);
    add_wheres(grid);
}

/* ---- Settings ------------------------------------------------------------------------------------------------ */

static int has(const struct kerf_tune_param *param, const char *text) {
    for (int32_t i = 0; i < param->num_values; i++)
        if (strcmp(param->texts[i], text) == 0) return 1;
    return 0;
}

/* llama.cpp cuts the batch to the context of a prompt, and the ubatch to the batch. */
static const char *default_batch(const struct llama_grid *grid, int64_t batch) {
    const struct llama_question *question = grid->question;
    int64_t most = question->work == LLAMA_PROMPT ? question->context : batch;
    return sketch_printf(grid->sketch, "%" PRId64, batch < most ? batch : most);
}

/* The value of that number; -1, for all layers, is the output's layer and the others too. NULL: it is not tried. */
static const char *given(const struct llama_grid *grid, const struct kerf_tune_param *param, int64_t number) {
    for (int32_t i = 0; i < param->num_values; i++)
        if (param->integers[i] == number || (number < 0 && param->integers[i] == grid->gguf->block_count + 1))
            return param->texts[i];
    return NULL;
}

/* Of two numbers of the default setting one would not count. */
static int32_t check_default(const struct llama_grid *grid, const struct kerf_tune_space *space, int32_t p,
                             const char *option, const char *number, struct kerf_error *err) {
    const char *defaults = grid->request->defaults;
    int32_t setting;
    if (defaults == NULL || kerf_tune_setting_read(space, defaults, &setting, NULL) != KERF_OK) return KERF_OK;
    if (strcmp(kerf_tune_setting_word(space, setting, p), number) == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "%s %s is the default's %s where they are tuned, and --default says %s: give one of the two",
                          option, number, space->params[p].name, kerf_tune_setting_word(space, setting, p));
}

int32_t llama_grid_check(const struct llama_grid *grid, const struct kerf_tune_space *space, struct kerf_error *err) {
    const struct llama_question *question = grid->question;
    const struct {
        const char *name, *option;
        int32_t is_given;
        int64_t number;
    } numbers[] = {{"threads", "--threads", question->threads_are_given, question->threads},
                   {"gpu_layers", "--gpu-layers", question->gpu_layers_are_given, question->gpu_layers}};
    int32_t code = KERF_OK;
    for (int32_t p = 0; p < space->num_params && code == KERF_OK; p++)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers && code == KERF_OK; i++) {
            const struct kerf_tune_param *param = &space->params[p];
            if (strcmp(param->name, numbers[i].name) != 0 || !numbers[i].is_given) continue;
            const char *text = given(grid, param, numbers[i].number);
            if (text == NULL)
                return kerf_error_set(err, KERF_EINVALID,
                                      "%s %" PRId64 " is not among the values of %s that are tried; add it to "
                                      "--param %s=..., or leave it out",
                                      numbers[i].option, numbers[i].number, param->name, param->name);
            code = check_default(grid, space, p, numbers[i].option, text, err);
        }
    return code;
}

/* llama.cpp's own value of a parameter; gpu_layers 0 and all processors are kerf's own. */
static const char *usual(const struct llama_grid *grid, const struct kerf_tune_param *param) {
    const char *last = param->texts[param->num_values - 1];
    int is_server = grid->question->work == LLAMA_SERVE;
    if (strcmp(param->name, "batch") == 0) return default_batch(grid, BATCH_DEFAULT);
    if (strcmp(param->name, "ubatch") == 0)
        return is_server && !has(param, "512") ? last : default_batch(grid, UBATCH_DEFAULT);
    if (strcmp(param->name, "parallel") == 0) return has(param, "4") ? "4" : last; /* llama-server's own is 4 */
    if (strcmp(param->name, "threads") == 0 && grid->question->threads_are_given)
        return given(grid, param, grid->question->threads);
    if (strcmp(param->name, "gpu_layers") == 0)
        return grid->question->gpu_layers_are_given ? given(grid, param, grid->question->gpu_layers) : "0";
    if (strcmp(param->name, "flash_attention") == 0) return has(param, "auto") ? "auto" : "on"; /* where it can */
    if (strcmp(param->name, "kv_type") == 0) return "f16";
    if (strcmp(param->name, "mmap") == 0) return grid->is_bench ? "mmap" : "on";
    return last;
}

const char *llama_grid_default(const struct llama_grid *grid, const struct kerf_tune_space *space) {
    struct kerf_text text = {0};
    for (int32_t p = 0; p < space->num_params; p++)
        kerf_text_printf(&text, "%s%s=%s", p ? "," : "", space->params[p].name, usual(grid, &space->params[p]));
    const char *words = sketch_text(grid->sketch, &text);
    int32_t setting;
    return kerf_tune_setting_read(space, words, &setting, NULL) == KERF_OK ? words : NULL;
}

struct kerf_llama_setting llama_grid_setting(const struct kerf_llama_setting *fixed,
                                             const struct kerf_tune_space *space, int32_t setting) {
    struct kerf_llama_setting whole = *fixed;
    for (int32_t p = 0; p < space->num_params; p++) {
        const struct kerf_tune_param *param = &space->params[p];
        int32_t index = space->values[setting * space->num_params + p];
        const char *text = param->texts[index];
        int64_t number = param->integers ? param->integers[index] : 0;
        if (strcmp(param->name, "batch") == 0) whole.batch = number;
        if (strcmp(param->name, "ubatch") == 0) whole.ubatch = number;
        if (strcmp(param->name, "parallel") == 0) whole.sequences = number;
        if (strcmp(param->name, "threads") == 0) whole.threads = (int32_t)number;
        if (strcmp(param->name, "gpu_layers") == 0) whole.gpu_layers = number;
        if (strcmp(param->name, "kv_type") == 0) whole.kv_type_k = whole.kv_type_v = text;
        if (strcmp(param->name, "mmap") == 0) whole.mmap = strcmp(text, "on") == 0 || strcmp(text, "mmap") == 0;
        if (strcmp(param->name, "flash_attention") == 0)
            whole.flash_attention = strcmp(text, "on") == 0    ? KERF_LLAMA_ATTENTION_ON
                                    : strcmp(text, "off") == 0 ? KERF_LLAMA_ATTENTION_OFF
                                                               : KERF_LLAMA_ATTENTION_AUTO;
    }
    return whole;
}
