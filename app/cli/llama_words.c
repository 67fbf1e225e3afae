/* SPDX-License-Identifier: Apache-2.0 */
/* What a study of llama.cpp also reports: the options of llama.cpp's programs, and memory. */
#include <string.h>
#include "base/quantity.h"
#include "cli/llama_preset.h"
#include "cli/tune_print.h"

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
    if (strcmp(tool, "llama-bench") == 0) setting.context = 0;
    return kerf_llama_flags(tool, &setting, out, NULL) == KERF_OK;
}

void words_llama(struct kerf_text *out, const struct tune_report *report) {
    const char *tool;
    if (report->answer.best < 0) return;
    kerf_text_add(out, "\n");
    for (size_t i = 0; (tool = kerf_llama_tool_at(i)); i++) {
        struct kerf_text options = {0};
        if (flags(report, tool, &options)) kerf_text_printf(out, "%-17s %s\n", tool, options.data ? options.data : "");
        kerf_text_free(&options);
    }
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
