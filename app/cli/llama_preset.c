/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llama_preset.h"

#include <string.h>
#include "cli/llama_program.h"
#include "cli/llama_values.h"

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
                     const struct kerf_study_request *request, struct llama_program *ret_program, struct kerf_error *err) {
    int32_t code = llama_question_check(question, preset->gguf, err);
    if (code == KERF_OK) code = llama_values_check_names(&request->params, err);
    if (code == KERF_OK) code = llama_program_find(&preset->sketch, ret_program, err);
    return code == KERF_OK ? llama_question_check_imatrix(question, ret_program->worker == NULL, err) : code;
}

static int32_t fill(const struct llama_question *question, struct llama_preset *preset, struct kerf_study_request *request,
                    struct kerf_error *err) {
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
