/* SPDX-License-Identifier: Apache-2.0 */
#include "spec/families/config.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/characters.h"
#include "spec/families/harmless.h"

static int is_asked(const struct config *config, const char *key) {
    for (int32_t i = 0; i < config->num_asked; i++)
        if (strcmp(config->asked[i], key) == 0) return 1;
    return 0;
}

static void remember(struct config *config, const char *key) {
    if (is_asked(config, key)) return;
    assert(config->num_asked < CONFIG_KEYS_MAX);
    config->asked[config->num_asked++] = key;
}

int config_has(struct config *config, const char *key) {
    remember(config, key);
    return json_has(config->object, key);
}

void config_fail(struct config *config, const char *key, int32_t code, const char *format, ...) {
    char message[256];
    va_list args;
    if (config->code != KERF_OK) return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    config->code = json_fail(config->object, key, code, config->err, "%s", message);
}

int64_t config_integer(struct config *config, const char *key, int64_t least, int64_t most, int64_t fallback) {
    int64_t value = fallback;
    if (!config_has(config, key) || config->code != KERF_OK) return fallback;
    config->code = json_get_integer(config->object, key, JSON_REQUIRED, least, most, &value, config->err);
    return config->code == KERF_OK ? value : fallback;
}

int32_t config_boolean(struct config *config, const char *key, int32_t fallback) {
    int32_t value = fallback;
    if (!config_has(config, key) || config->code != KERF_OK) return fallback;
    config->code = json_get_boolean(config->object, key, JSON_REQUIRED, &value, config->err);
    return config->code == KERF_OK ? value : fallback;
}

const char *config_string(struct config *config, const char *key, const char *fallback) {
    const char *value = fallback;
    if (!config_has(config, key) || config->code != KERF_OK) return fallback;
    config->code = json_get_string(config->object, key, JSON_REQUIRED, &value, config->err);
    return config->code == KERF_OK ? value : fallback;
}

int64_t config_named(struct config *config, config_names names, int64_t least, int64_t most, int64_t fallback,
                     const char **ret_key) {
    const char *first = NULL;
    int64_t found = fallback;
    for (int i = 0; names[i] && config->code == KERF_OK; i++) {
        if (!config_has(config, names[i])) continue;
        int64_t value = config_integer(config, names[i], least, most, fallback);
        if (first && config->code == KERF_OK && value != found)
            config_fail(config, names[i], KERF_EINVALID, "\"%s\" and \"%s\" differ; keep one of them", first, names[i]);
        if (first == NULL) first = names[i], found = value;
    }
    if (ret_key) *ret_key = first;
    return found;
}

const json_t *config_array(struct config *config, const char *key) {
    if (!config_has(config, key)) return NULL;
    const json_t *array = json_object_get(config->object->json, key);
    if (json_is_array(array)) return array;
    config_fail(config, key, KERF_EINVALID, "\"%s\" must be an array [...]", key);
    return NULL;
}

int config_inner(struct config *config, const char *key, struct json_object *ret_object, struct config *ret_inner) {
    if (!config_has(config, key) || config->code != KERF_OK) return 0;
    config->code = json_get_object(config->object, key, JSON_REQUIRED, ret_object, config->err);
    if (config->code != KERF_OK) return 0;
    *ret_inner = (struct config){.object = ret_object, .root = config->root, .err = config->err};
    return 1;
}

void config_join(struct config *config, const struct config *inner) {
    if (config->code == KERF_OK) config->code = inner->code;
}

/* Adds a key to the list; a name that does not fit is counted alone. */
static void add_ignored(struct kerf_model *model, const char *outer, const char *key) {
    size_t used = strlen(model->ignored);
    char name[128];
    snprintf(name, sizeof name, "%s%s%s", outer ? outer : "", outer ? "." : "", key);
    utf8_clean(name);
    model->num_ignored++;
    if (used + strlen(name) + 2 > sizeof model->ignored) return;
    snprintf(model->ignored + used, sizeof model->ignored - used, "%s\n", name);
}

void config_note_ignored(const struct config *config, struct kerf_model *model) {
    const char *key;
    json_t *value;
    json_object_foreach(config->object->json, key, value) {
        if (!is_asked(config, key) && !json_is_null(value) && !key_is_harmless(key))
            add_ignored(model, config->object->key, key);
    }
}
