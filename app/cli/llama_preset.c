/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llama_preset.h"

#include <inttypes.h>
#include <string.h>
#include "base/quantity.h"
#include "cli/llama_program.h"

void llama_preset_free(struct llama_preset *preset) {
    kerf_gguf_free(preset->gguf);
    sketch_free(&preset->sketch);
    *preset = (struct llama_preset){0};
}

static void fix(const struct llama_question *question, struct llama_preset *preset) {
    kerf_llama_setting_defaults(&preset->fixed);
    preset->fixed.context = question->context;
    preset->fixed.threads = (int32_t)question->threads;
    preset->fixed.gpu_layers = question->gpu_layers;
    preset->fixed.outputs = strcmp(question->outputs, "last") == 0;
}

static int32_t check(const struct llama_question *question, struct llama_preset *preset,
                     const struct kerf_study_request *request, struct llama_program *ret_program,
                     struct kerf_error *err) {
    int32_t code = llama_question_check(question, preset->gguf, err);
    if (code == KERF_OK) code = llama_values_check_names(&request->params, err);
    if (code == KERF_OK) code = llama_program_find(&preset->sketch, ret_program, err);
    return code == KERF_OK ? llama_question_check_imatrix(question, ret_program->worker == NULL, err) : code;
}

static int32_t fill(const struct llama_question *question, struct llama_preset *preset,
                    struct kerf_study_request *request, struct kerf_error *err) {
    struct llama_program program;
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
    if (code == KERF_OK) code = llama_values_check(space, grid.is_bench, question->conform_to_imatrix, err);
    if (code != KERF_OK) {
        kerf_tune_space_free(space);
        return code;
    }
    if (request->defaults == NULL) request->defaults = llama_grid_default(&grid, space);
    llama_program_command(&program, question, space, &preset->sketch, request);
    kerf_tune_space_free(space);
    request->params = grid.params;
    request->wheres = grid.wheres;
    return preset->sketch.failed ? kerf_error_set(err, KERF_ENOMEM, "not enough memory") : KERF_OK;
}

int32_t llama_preset_make(const struct llama_question *question, struct llama_preset *ret_preset,
                          struct kerf_study_request *request, struct kerf_error *err) {
    struct llama_question whole = *question;
    struct llama_preset preset = {0};
    int64_t processors = llama_grid_processors();
    if (whole.threads == 0) whole.threads = processors - (whole.one_thread_less && processors > 1);
    int32_t code = llama_question_model(whole.model, &preset.gguf, err);
    if (code == KERF_OK) whole.model = preset.gguf->path;
    if (code == KERF_OK) code = fill(&whole, &preset, request, err);
    if (code != KERF_OK) {
        llama_preset_free(&preset);
        return code;
    }
    fix(&whole, &preset);
    request->preset = "llama";
    *ret_preset = preset;
    return KERF_OK;
}

int32_t llama_preset_recall(const struct kerf_study_request *request, struct llama_preset *ret_preset,
                            struct kerf_error *err) {
    struct llama_question question;
    int32_t code = llama_program_recall(request, &question, err);
    if (code != KERF_OK) return code;
    *ret_preset = (struct llama_preset){0};
    if (kerf_gguf_read(question.model, &ret_preset->gguf, NULL) != KERF_OK) ret_preset->gguf = NULL;
    fix(&question, ret_preset);
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
               : kerf_error_set(err, code, "--memory-cap needs an estimate, which the model does not allow: %s",
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
