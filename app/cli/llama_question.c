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

/* ---- Parameters and values ------------------------------------------------------------------------------------- */

static const struct parameter {
    const char *name;
    int64_t least;           /* smallest number */
    const char *words[10];   /* empty: values are numbers */
    const char *of_bench[3]; /* llama-bench's words, where they differ */
} parameters[] = {
    {.name = "batch", .least = 1},
    {.name = "ubatch", .least = 1},
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

int32_t llama_values_check_names(const struct kerf_study_strings *params, struct kerf_error *err) {
    const char *names[PARAMETERS];
    for (size_t i = 0; i < PARAMETERS; i++) names[i] = parameters[i].name;
    for (int32_t i = 0; i < params->count; i++) {
        char name[64];
        size_t length = strcspn(params->items[i], "=");
        if (find(params->items[i], length)) continue;
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), params->items[i]);
        const char *nearest = nearest_name(name, names, PARAMETERS);
        if (nearest)
            return kerf_error_set(err, KERF_EUNKNOWN, "--param: llama.cpp has no parameter '%s'; did you mean %s?",
                                  name, nearest);
        return kerf_error_set(err, KERF_EUNKNOWN,
                              "--param: llama.cpp has no parameter '%s'; there are batch, ubatch, threads, gpu_layers, "
                              "flash_attention, kv_type and mmap",
                              name);
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
