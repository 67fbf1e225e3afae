/* SPDX-License-Identifier: Apache-2.0 */
/* What of a command line of kerf tune cannot be meant, told before anything runs. */
#include "cli/tune_checks.h"

#include <string.h>

int32_t tune_check_name(const struct tune_options *values, struct kerf_error *err) {
    const char *name = values->study;
    if (name == NULL) return KERF_OK;
    if (*name == 0) return kerf_error_set(err, KERF_EINVALID, "--study needs a name, such as --study nightly");
    if (values->resume && strchr(name, '/')) return KERF_OK; /* the path of a journal */
    if (strchr(name, '/'))
        return kerf_error_set(err, KERF_EINVALID,
                              "--study '%.64s' is a name and no path; $KERF_STUDIES is the folder where studies are",
                              name);
    if (strlen(name) >= KERF_STUDY_ID_SIZE)
        return kerf_error_set(err, KERF_EINVALID, "--study '%.32s...' has %zu characters, and may have %d", name,
                              strlen(name), KERF_STUDY_ID_SIZE - 1);
    return KERF_OK;
}

static int is_given(const struct option *option, const struct tune_options *values) {
    const char *at = (const char *)values + option->offset, *was = (const char *)&tune_options_unset + option->offset;
    size_t size = option->type == OPTION_FLAG       ? sizeof(int32_t)
                  : option->type == OPTION_INTEGER  ? sizeof(int64_t)
                  : option->type == OPTION_DURATION ? sizeof(double)
                  : option->type == OPTION_STRINGS  ? sizeof(struct string_list)
                                                    : sizeof(const char *);
    return memcmp(at, was, size) != 0;
}

/* What a study was asked is in its journal, and holds for all of it; these alone are of one run. */
int32_t tune_check_resumed(const struct tune_options *values, struct kerf_error *err) {
    static const char *const may[] = {"resume",      "study",  "budget", "patience", "max-observations",
                                      "show-output", "format", "output", NULL};
    if (values->params.count || values->words.count)
        return kerf_error_set(err, KERF_EINVALID,
                              "--resume goes on with what the study was asked: leave out --param and COMMAND");
    for (const struct option *option = tune_option_table; option->name; option++) {
        int32_t k = 0;
        while (may[k] && strcmp(may[k], option->name) != 0) k++;
        if (may[k] || !is_given(option, values)) continue;
        return kerf_error_set(err, KERF_EINVALID,
                              "--resume goes on with what the study was asked: leave out --%s (--budget and "
                              "--max-observations may change; a new study of the same command uses what this one saw)",
                              option->name);
    }
    return KERF_OK;
}

int32_t tune_check_llama(const struct tune_options *values, struct kerf_error *err) {
    if (values->words.count != 2)
        return kerf_error_set(
            err, KERF_EINVALID,
            "kerf tune llama takes one model, such as model.gguf; to run a program of that name: ./llama");
    if (values->context == 0) return kerf_error_set(err, KERF_EINVALID, "--context is missing, such as --context 4096");
    return KERF_OK;
}

/* "{batch" is text for all that kerf knows, and hardly what was meant. */
static int32_t check_braces(const struct tune_options *values, struct kerf_error *err) {
    for (int32_t i = 0; i < values->words.count; i++) {
        const char *word = values->words.items[i], *open = strrchr(word, '{');
        if (open == NULL || strchr(open, '}') || (open > word && open[-1] == '{')) continue;
        for (int32_t p = 0; p < values->params.count; p++) {
            const char *param = values->params.items[p];
            size_t length = strcspn(param, "?=");
            if (length == 0 || strncmp(open + 1, param, length) != 0) continue;
            return kerf_error_set(err, KERF_EINVALID,
                                  "'%.64s' in the command has a { without its }; write {%.*s}, or {{ for a brace", open,
                                  (int)(length < 64 ? length : 64), param);
        }
    }
    return KERF_OK;
}

int32_t tune_check_not_llama(const struct tune_options *values, struct kerf_error *err) {
    if (values->params.count == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "--param is missing, such as --param batch=16..2048:x2; `kerf help tune` tells more");
    if (values->words.count == 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "the command is missing, such as -- ./bench -b {batch}; `kerf help tune` tells more");
    return check_braces(values, err);
}
