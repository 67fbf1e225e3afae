/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of llama.cpp that are not tried: those that it refuses, and those that have no room in memory. */
#include <inttypes.h>
#include "cli/llama_preset.h"

/* Quantized caches are made of blocks of 32 values, which llama.cpp does not let reach over a head's end. */
static const char *cache_fault(struct llama_preset *preset, const char *type) {
    const struct kerf_gguf *gguf = preset->gguf;
    enum { BLOCK = 32 };
    if (type == NULL || type[0] != 'q') return NULL;
    for (int64_t i = 0; i < gguf->block_count; i++) {
        const struct kerf_gguf_layer *layer = &gguf->layers[i];
        int32_t length = layer->key_length % BLOCK ? layer->key_length : layer->value_length;
        if (layer->head_count_kv > 0 && length % BLOCK)
            return sketch_printf(&preset->sketch, "heads of %" PRId32 " cannot be kept as %s, in blocks of %d", length,
                                 type, BLOCK);
    }
    return NULL;
}

static const char *memory_fault(struct llama_preset *preset, const struct kerf_llama_setting *setting,
                                int64_t available, const char *which) {
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
    kerf_text_printf(&text, " %s", which);
    return sketch_text(&preset->sketch, &text);
}

/* What is not known cannot be held to a bound that was asked for. */
static int32_t check_cap(struct llama_preset *preset, const struct kerf_tune_space *space, struct kerf_error *err) {
    struct kerf_llama_setting setting = llama_grid_setting(&preset->fixed, space, 0);
    struct kerf_llama_memory memory;
    struct kerf_error why;
    int32_t code = kerf_llama_memory_estimate(preset->gguf, &setting, &memory, &why);
    return code == KERF_OK ? KERF_OK : kerf_error_set(err, code, "--memory-cap has nothing to go by: %s", why.message);
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
