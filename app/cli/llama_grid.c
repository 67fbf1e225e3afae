/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llama_grid.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

enum { BATCH_LEAST = 16, UBATCH_LEAST = 2, BATCH_DEFAULT = 2048, UBATCH_DEFAULT = 512, BATCH_MOST = 16384 };

int64_t llama_grid_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* ---- Values -------------------------------------------------------------------------------------------------- */

static int64_t power_of_two_up_to(int64_t most) {
    int64_t power = 1;
    while (2 * power <= most) power *= 2;
    return power;
}

static int64_t largest_batch(const struct llama_question *question) {
    int64_t most = power_of_two_up_to(question->context < BATCH_MOST ? question->context : BATCH_MOST);
    if (question->max_batch_exponent > 0 && most > INT64_C(1) << question->max_batch_exponent)
        most = INT64_C(1) << question->max_batch_exponent;
    return most;
}

/* Powers of two. llama.cpp cuts its default to the context: that is then one of them, whatever its size. */
static const char *batch_param(const struct llama_grid *grid, int64_t most) {
    const struct llama_question *question = grid->question;
    int64_t least = most < BATCH_LEAST ? most : BATCH_LEAST;
    struct kerf_text text = {0};
    if (question->max_batch_exponent > 0 || question->context >= BATCH_DEFAULT || question->context == most)
        return sketch_printf(grid->sketch, "batch=%" PRId64 "..%" PRId64 ":x2", least, most);
    kerf_text_add(&text, "batch=");
    for (int64_t batch = least; batch <= most; batch *= 2) kerf_text_printf(&text, "%" PRId64 ",", batch);
    kerf_text_printf(&text, "%" PRId64, question->context);
    return sketch_text(grid->sketch, &text);
}

static const char *ubatch_param(const struct llama_grid *grid, int64_t most) {
    int64_t least = most < UBATCH_LEAST ? 1 : UBATCH_LEAST;
    return sketch_printf(grid->sketch, "ubatch=%" PRId64 "..%" PRId64 ":x2", least, most);
}

/* 1, 2, 3, 4, 6, 8, 12, 16, ... and the number itself. */
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

/* None, all (with the output one more than there are), and about seven in between. */
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

/* "name=..." of the list; NULL: none. */
static const char *param_of(const struct kerf_study_strings *params, const char *name) {
    size_t length = strlen(name);
    for (int32_t i = 0; i < params->count; i++)
        if (strncmp(params->items[i], name, length) == 0 && params->items[i][length] == '=') return params->items[i];
    return NULL;
}

static void add(struct kerf_study_strings *list, const char *item) { list->items[list->count++] = item; }

static void add_params(struct llama_grid *grid) {
    int64_t most = largest_batch(grid->question);
    const char *batch = param_of(&grid->request->params, "batch"), *ubatch = param_of(&grid->request->params, "ubatch");
    add(&grid->params, batch ? batch : batch_param(grid, most));
    add(&grid->params, ubatch ? ubatch : ubatch_param(grid, most));
    for (enum llama_choice i = 0; i < LLAMA_CHOICES; i++) {
        const char *own = param_of(&grid->request->params, llama_choice_names[i]);
        if (own)
            add(&grid->params, own);
        else if (llama_question_tunes(grid->question, i))
            add(&grid->params, choice_param(grid, i));
    }
}

/* What llama.cpp refuses, and what llama-imatrix would not run as it was measured: of a batch larger than the context
 * it makes several chunks at a time, each with a cache of its own. */
static void add_wheres(struct llama_grid *grid) {
    add(&grid->wheres, "ubatch <= batch");
    if (param_of(&grid->params, "kv_type") && param_of(&grid->params, "flash_attention"))
        add(&grid->wheres, "kv_type == \"f16\" || flash_attention != \"off\"");
    if (grid->question->conform_to_imatrix)
        add(&grid->wheres, sketch_printf(grid->sketch, "batch <= %" PRId64, grid->question->context));
    for (int32_t i = 0; i < grid->request->wheres.count; i++) add(&grid->wheres, grid->request->wheres.items[i]);
}

void llama_grid_make(struct llama_grid *grid) {
    enum { PARAMS_MOST = 2 + LLAMA_CHOICES, WHERES_OF_OURS = 3 };
    size_t wheres = WHERES_OF_OURS + (size_t)grid->request->wheres.count;
    grid->params.items = sketch_alloc(grid->sketch, PARAMS_MOST, sizeof *grid->params.items);
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

/* What it takes of a parameter by itself; --gpu-layers 0 and all processors are kerf's. */
static const char *usual(const struct llama_grid *grid, const struct kerf_tune_param *param) {
    const char *last = param->texts[param->num_values - 1];
    if (strcmp(param->name, "gpu_layers") == 0) return grid->question->gpu_layers ? last : "0";
    if (strcmp(param->name, "flash_attention") == 0) return has(param, "auto") ? "auto" : "on"; /* where it can */
    if (strcmp(param->name, "kv_type") == 0) return "f16";
    if (strcmp(param->name, "mmap") == 0) return grid->is_bench ? "mmap" : "on";
    return last;
}

/* It cuts the batch to the context, and the ubatch to the batch. */
const char *llama_grid_default(const struct llama_grid *grid, const struct kerf_tune_space *space) {
    struct kerf_text text = {0};
    int64_t batch = grid->question->context < BATCH_DEFAULT ? grid->question->context : BATCH_DEFAULT;
    kerf_text_printf(&text, "batch=%" PRId64 ",ubatch=%" PRId64, batch,
                     batch < UBATCH_DEFAULT ? batch : (int64_t)UBATCH_DEFAULT);
    for (int32_t p = 2; p < space->num_params; p++)
        kerf_text_printf(&text, ",%s=%s", space->params[p].name, usual(grid, &space->params[p]));
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
