/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what is preferred, and the order that it puts settings in. */
#include "tune/preference.h"

#include <string.h>

static int32_t add(struct kerf_tune_study *study, const char *name, size_t length, int32_t larger,
                   struct kerf_error *err) {
    const struct kerf_tune_space *space = study->space;
    int shown = (int)(length < 100 ? length : 100);
    for (int32_t k = 0; k < space->num_params; k++) {
        if (strlen(space->params[k].name) != length || memcmp(space->params[k].name, name, length) != 0) continue;
        for (int32_t i = 0; i < study->num_preferred; i++)
            if (study->preferred[i] == k)
                return kerf_error_set(err, KERF_EINVALID, "prefer: the parameter '%.*s' is there twice", shown, name);
        study->preferred[study->num_preferred] = k;
        study->preferred_up[study->num_preferred++] = larger;
        return KERF_OK;
    }
    return kerf_error_set(err, KERF_EUNKNOWN, "prefer: no parameter is called '%.*s'", shown, name);
}

/* "smaller:ubatch,batch" */
static int32_t read_list(struct kerf_tune_study *study, const char *text, size_t length, struct kerf_error *err) {
    static const char *const words[2] = {"smaller:", "larger:"};
    for (int32_t larger = 0; larger < 2; larger++) {
        size_t head = strlen(words[larger]);
        if (length < head || memcmp(text, words[larger], head) != 0) continue;
        for (const char *at = text + head, *end = text + length;;) {
            const char *comma = memchr(at, ',', (size_t)(end - at));
            int32_t code = add(study, at, (size_t)((comma ? comma : end) - at), larger, err);
            if (code != KERF_OK || comma == NULL) return code;
            at = comma + 1;
        }
    }
    return kerf_error_set(err, KERF_ESYNTAX, "prefer: '%.*s' is not like smaller:ubatch,batch or larger:threads",
                          (int)(length < 100 ? length : 100), text);
}

int32_t preference_read(struct kerf_tune_study *study, struct kerf_error *err) {
    size_t params = (size_t)study->space->num_params;
    study->preferred = arena_alloc(&study->arena, params, sizeof *study->preferred);
    study->preferred_up = arena_alloc(&study->arena, params, sizeof *study->preferred_up);
    if (study->preferred == NULL || study->preferred_up == NULL) return tune_no_memory(err);
    for (const char *at = study->question.prefer; at;) {
        const char *end = strchr(at, ';');
        int32_t code = read_list(study, at, end ? (size_t)(end - at) : strlen(at), err);
        if (code != KERF_OK) return code;
        at = end ? end + 1 : NULL;
    }
    return KERF_OK;
}

int tune_prefers(const struct kerf_tune_study *study, int32_t a, int32_t b) {
    const struct kerf_tune_space *space = study->space;
    const int32_t *of_a = space->values + (int64_t)a * space->num_params;
    const int32_t *of_b = space->values + (int64_t)b * space->num_params;
    for (int32_t i = 0; i < study->num_preferred; i++) {
        int32_t k = study->preferred[i], difference = of_a[k] - of_b[k];
        if (difference) return study->preferred_up[i] ? -difference : difference;
    }
    return (a > b) - (a < b);
}
