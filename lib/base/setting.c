/* SPDX-License-Identifier: Apache-2.0 */
/* Settings and failures of trials as text and as JSON. */
#include "kerf/setting.h"

#include <assert.h>

const char *kerf_tune_value_word(const struct kerf_tune_param *param, int32_t value) {
    assert(value >= 0 && value < param->num_values);
    if (param->kind == KERF_TUNE_FLAG) return value ? "on" : "off";
    return param->texts[value];
}

static const int32_t *values_of(const struct kerf_tune_space *space, int32_t setting) {
    assert(setting >= 0 && setting < space->num_settings);
    return space->values + (int64_t)setting * space->num_params;
}

int32_t kerf_tune_setting_uses(const struct kerf_tune_space *space, int32_t setting, int32_t param) {
    assert(setting >= 0 && setting < space->num_settings && param >= 0 && param < space->num_params);
    int grows = space->has_unused == KERF_TUNE_GROWS;
    if (!grows && space->has_unused != KERF_TUNE_HAS_UNUSED) return 1;
    int64_t rows = grows ? KERF_TUNE_GROWN_MAX : space->num_settings;
    const char *unused = (const char *)(space->values + rows * space->num_params);
    return !unused[(int64_t)setting * space->num_params + param];
}

const char *kerf_tune_setting_word(const struct kerf_tune_space *space, int32_t setting, int32_t param) {
    if (!kerf_tune_setting_uses(space, setting, param)) return "-";
    return kerf_tune_value_word(&space->params[param], values_of(space, setting)[param]);
}

void kerf_tune_setting_write(const struct kerf_tune_space *space, int32_t setting, struct kerf_text *out) {
    const char *comma = "";
    for (int32_t k = 0; k < space->num_params; k++) {
        if (!kerf_tune_setting_uses(space, setting, k)) continue;
        kerf_text_printf(out, "%s%s=%s", comma, space->params[k].name, kerf_tune_setting_word(space, setting, k));
        comma = ",";
    }
}

void kerf_tune_setting_json(struct kerf_json *json, const char *key, const struct kerf_tune_space *space,
                            int32_t setting) {
    const int32_t *values = values_of(space, setting);
    kerf_json_open(json, key, '{');
    for (int32_t k = 0; k < space->num_params; k++) {
        const struct kerf_tune_param *param = &space->params[k];
        if (!kerf_tune_setting_uses(space, setting, k)) continue;
        if (param->kind == KERF_TUNE_INTEGER)
            kerf_json_integer(json, param->name, param->integers[values[k]]);
        else if (param->kind == KERF_TUNE_FLAG)
            kerf_json_boolean(json, param->name, values[k]);
        else
            kerf_json_string(json, param->name, param->texts[values[k]]);
    }
    kerf_json_close(json, '}');
}

const char *kerf_tune_failure_word(int32_t failure) {
    static const char *const words[] = {
#define FAILURE_WORD(name, word, meaning) word,
        KERF_TUNE_FAILURES(FAILURE_WORD)
#undef FAILURE_WORD
    };
    return failure >= 0 && failure < KERF_TUNE_FAILURE_COUNT ? words[failure] : "?";
}
