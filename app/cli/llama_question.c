/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llama_question.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/nearest.h"
#include "kerf/text.h"

const char *const llama_choice_names[LLAMA_CHOICES] = {"threads", "gpu_layers", "flash_attention", "kv_type", "mmap"};

int llama_question_tunes(const struct llama_question *question, enum llama_choice choice) {
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
                              " tokens that %.100s was trained with",
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
        return kerf_error_set(err, KERF_EUNKNOWN,
                              "--tune '%.64s'%s%s%s; besides batch and ubatch there are threads, gpu_layers, "
                              "flash_attention, kv_type and mmap",
                              word, nearest ? ": did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    }
    return KERF_OK;
}

int32_t llama_question_check(const struct llama_question *question, const struct kerf_gguf *gguf,
                             struct kerf_error *err) {
    int32_t code = check_context(question, gguf, err);
    return code == KERF_OK ? check_also(question->also, err) : code;
}

/* llama-bench computes the logits of the last token alone, and llama-imatrix needs those of all. */
int32_t llama_question_check_imatrix(const struct llama_question *question, int is_bench, struct kerf_error *err) {
    const char *fault = NULL;
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
