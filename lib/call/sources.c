/* SPDX-License-Identifier: Apache-2.0 */
#include "call/sources.h"

#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"

/* Whether the catalogue has the name; else err says so, without a word about files. */
static int32_t check_name(const char *kind, const char *name, struct kerf_error *err) {
    struct kerf_catalogue *catalogue = NULL;
    int32_t code = kerf_catalogue_list(kind, &catalogue, err), found = 0;
    if (code != KERF_OK) return code;
    const char *nearest = NULL;
    for (size_t i = 0; i < catalogue->count; i++) {
        const char *const pair[] = {catalogue->entries[i].name, nearest};
        found |= strcmp(catalogue->entries[i].name, name) == 0;
        nearest = nearest_name(name, pair, nearest ? 2 : 1);
    }
    if (!found)
        kerf_error_set(err, KERF_EUNKNOWN, "no %.*s '%.200s' in the catalogue%s%s%s", (int)strlen(kind) - 1, kind, name,
                       nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    kerf_catalogue_free(catalogue);
    return found ? KERF_OK : KERF_EUNKNOWN;
}

const struct call_file *call_file_find(const struct call_sources *sources, const char *name) {
    for (int32_t i = 0; i < sources->num_files; i++)
        if (strcmp(sources->files[i].name, name) == 0) return &sources->files[i];
    return NULL;
}

int32_t call_model(const struct call_sources *sources, const char *name, struct kerf_model *ret_model,
                   struct kerf_error *err) {
    if (sources->model_json && strcmp(name, "-") == 0)
        return kerf_model_parse(sources->model_json, strlen(sources->model_json), "model", ret_model, err);
    int32_t code = sources->catalogue_only ? check_name("models", name, err) : KERF_OK;
    return code == KERF_OK ? kerf_model_load(name, ret_model, err) : code;
}

int32_t call_system(const struct call_sources *sources, const char *name, struct kerf_system *ret_system,
                    struct kerf_error *err) {
    if (sources->system_json && strcmp(name, "-") == 0)
        return kerf_system_parse(sources->system_json, strlen(sources->system_json), "system", ret_system, err);
    int32_t code = sources->catalogue_only ? check_name("systems", name, err) : KERF_OK;
    return code == KERF_OK ? kerf_system_load(name, ret_system, err) : code;
}

int32_t call_stack(const struct call_sources *sources, const char *name, struct kerf_stack **ret_stack,
                   struct kerf_error *err) {
    int32_t code = sources->catalogue_only ? check_name("stacks", name, err) : KERF_OK;
    return code == KERF_OK ? kerf_stack_load(name, ret_stack, err) : code;
}

int32_t call_set(struct kerf_model *model, struct kerf_system *system, const struct string_list *sets,
                 struct kerf_error *err) {
    struct kerf_text all = {0};
    struct kerf_error why;
    if (sets->count == 0) return KERF_OK;
    for (int32_t i = 0; i < sets->count; i++) kerf_text_printf(&all, "%s%s", i ? "," : "", sets->items[i]);
    int32_t code =
        all.failed ? error_no_memory(&why, "--set") : kerf_problem_set(model, system, all.data ? all.data : "", &why);
    kerf_text_free(&all);
    return code == KERF_OK ? KERF_OK : kerf_error_set(err, code, "--set: %s", why.message);
}
