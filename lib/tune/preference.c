/* SPDX-License-Identifier: Apache-2.0 */
/* Preferences: reading them, and the order of settings by them. */
#include "tune/preference.h"

#include <string.h>
#include "base/error_fill.h"
#include "tune/param.h"

static int32_t add(struct preference *preference, const struct kerf_tune_space *space, const char *name, size_t length,
                   int32_t larger, struct kerf_error *err) {
    int shown = (int)(length < 100 ? length : 100);
    for (int32_t k = 0; k < space->num_params; k++) {
        if (strlen(space->params[k].name) != length || memcmp(space->params[k].name, name, length) != 0) continue;
        for (int32_t i = 0; i < preference->num; i++)
            if (preference->params[i] == k)
                return kerf_error_set(err, KERF_EINVALID, "prefer: the parameter '%.*s' is named twice", shown, name);
        preference->params[preference->num] = k;
        preference->larger[preference->num++] = larger;
        return KERF_OK;
    }
    return kerf_error_set(err, KERF_EUNKNOWN, "prefer: no parameter is called '%.*s'", shown, name);
}

/* "smaller:ubatch,batch" */
static int32_t read_list(struct preference *preference, const struct kerf_tune_space *space, const char *text,
                         size_t length, struct kerf_error *err) {
    static const char *const words[2] = {"smaller:", "larger:"};
    for (int32_t larger = 0; larger < 2; larger++) {
        size_t head = strlen(words[larger]);
        if (length < head || memcmp(text, words[larger], head) != 0) continue;
        for (const char *at = text + head, *end = text + length;;) {
            const char *comma = memchr(at, ',', (size_t)(end - at));
            int32_t code = add(preference, space, at, (size_t)((comma ? comma : end) - at), larger, err);
            if (code != KERF_OK || comma == NULL) return code;
            at = comma + 1;
        }
    }
    return kerf_error_set(err, KERF_ESYNTAX, "prefer: '%.*s' must be like smaller:ubatch,batch or larger:threads",
                          (int)(length < 100 ? length : 100), text);
}

int32_t preference_read(const char *text, const struct kerf_tune_space *space, struct arena *arena,
                        struct preference *ret_preference, struct kerf_error *err) {
    size_t params = (size_t)space->num_params;
    struct preference preference = {arena_alloc(arena, params, sizeof(int32_t)),
                                    arena_alloc(arena, params, sizeof(int32_t)), 0};
    if (preference.params == NULL || preference.larger == NULL) return error_no_memory(err, "a study");
    for (const char *at = text; at;) {
        const char *end = strchr(at, ';');
        int32_t code = read_list(&preference, space, at, end ? (size_t)(end - at) : strlen(at), err);
        if (code != KERF_OK) return code;
        at = end ? end + 1 : NULL;
    }
    *ret_preference = preference;
    return KERF_OK;
}

int preference_compare(const struct preference *preference, const struct kerf_tune_space *space, int32_t a, int32_t b) {
    const int32_t *of_a = setting_values(space, a);
    const int32_t *of_b = setting_values(space, b);
    for (int32_t i = 0; i < preference->num; i++) {
        int32_t k = preference->params[i], difference = of_a[k] - of_b[k];
        if (difference) return preference->larger[i] ? -difference : difference;
    }
    return tune_space_compare(space, a, b);
}
