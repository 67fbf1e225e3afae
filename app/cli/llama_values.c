/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llama_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "kerf/text.h"

static const struct parameter {
    const char *name;
    int64_t least;           /* of a number */
    const char *words[10];   /* none: numbers */
    const char *of_bench[3]; /* llama-bench's own, where it has others */
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
        const char *nearest = kerf_text_nearest(name, names, PARAMETERS);
        return kerf_error_set(err, KERF_EUNKNOWN,
                              "--param '%s'%s%s%s; of llama.cpp there are batch, ubatch, threads, gpu_layers, "
                              "flash_attention, kv_type and mmap",
                              name, nearest ? ": did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
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
    return kerf_error_set(err, KERF_EINVALID, "--param %s: '%.40s' is no whole number of %" PRId64 " or more",
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
    return kerf_error_set(err, KERF_EINVALID, "--param %s: it is %s, not '%.40s'", parameter->name, list,
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
