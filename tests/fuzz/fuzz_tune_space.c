/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is lines: "param ...", "where ...", "default ...", anything else is the text of a setting. What is accepted
 * is a grid in order, of which every setting is read back from its own text and gives the parameters that it uses as
 * JSON; what is refused says why in one line.
 */
#include "invariants.h"

#include <stdlib.h>
#include <string.h>
#include "kerf/tune.h"

enum { LINES = 16, SETTINGS_LOOKED_AT = 200 };

static void check_setting(const struct kerf_tune_space *space, int32_t setting) {
    struct kerf_text text = {0};
    struct kerf_json json = {0};
    const int32_t *values = space->values + (int64_t)setting * space->num_params;
    size_t num_used = 0;
    for (int32_t k = 0; k < space->num_params; k++) {
        CHECK(values[k] >= 0 && values[k] < space->params[k].num_values);
        if (kerf_tune_setting_uses(space, setting, k))
            num_used++;
        else
            CHECK(space->has_unused && values[k] == 0);
    }
    CHECK(kerf_tune_space_find(space, values) == setting);
    kerf_tune_setting_write(space, setting, &text);
    CHECK(text.length > 0);
    int32_t found = -1;
    CHECK(kerf_tune_setting_read(space, text.data, &found, NULL) == KERF_OK && found == setting);
    kerf_text_clear(&text);
    kerf_json_begin(&json, &text);
    kerf_tune_setting_json(&json, NULL, space, setting);
    json_t *object = read_back(&text);
    CHECK(json_is_object(object) && json_object_size(object) == num_used);
    json_decref(object);
    kerf_text_free(&text);
}

static void check_space(const struct kerf_tune_space *space) {
    CHECK(space->num_settings >= 1 && space->num_settings <= 1000000);
    CHECK(space->default_setting >= -1 && space->default_setting < space->num_settings);
    int32_t step = space->num_settings / SETTINGS_LOOKED_AT + 1;
    for (int32_t i = 0; i < space->num_settings; i += step) check_setting(space, i);
    check_setting(space, space->num_settings - 1);
    if (space->default_setting >= 0) check_setting(space, space->default_setting);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *params[LINES], *wheres[LINES], *defaults = NULL, *text = NULL;
    int32_t num_params = 0, num_wheres = 0, setting;
    char *copy = malloc(size + 1), *rest = copy;
    CHECK(copy != NULL);
    if (size) memcpy(copy, data, size);
    copy[size] = 0;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (strncmp(line, "param ", 6) == 0 && num_params < LINES)
            params[num_params++] = line + 6;
        else if (strncmp(line, "where ", 6) == 0 && num_wheres < LINES)
            wheres[num_wheres++] = line + 6;
        else if (strncmp(line, "default ", 8) == 0)
            defaults = line + 8;
        else
            text = line;
    }
    struct kerf_tune_space *space;
    struct kerf_error err;
    poison(&space, sizeof space);
    poison(&err, sizeof err);
    int32_t code = kerf_tune_space_create(params, num_params, wheres, num_wheres, defaults, &space, &err);
    if (code == KERF_OK) {
        check_space(space);
        poison(&setting, sizeof setting);
        code = text ? kerf_tune_setting_read(space, text, &setting, &err) : KERF_EUNKNOWN;
        if (code == KERF_OK)
            CHECK(setting >= 0 && setting < space->num_settings);
        else
            CHECK(is_poisoned(&setting, sizeof setting));
        kerf_tune_space_free(space);
    } else {
        CHECK(is_poisoned(&space, sizeof space) && err.code == code && err.message[0]);
        CHECK(strchr(err.message, '\n') == NULL);
    }
    free(copy);
    return 0;
}
