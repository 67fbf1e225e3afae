/* SPDX-License-Identifier: Apache-2.0 */
/* Models: Hugging Face's config.json, as far as a planner needs it. */
#include "kerf/spec.h"

#include <math.h>
#include <string.h>
#include "base/json_read.h"
#include "base/quantity.h"
#include "spec/files.h"
#include "spec/model.h"
#include "spec/names.h"

enum { NAMES = 4 };

/* A field, its bounds and its names: kerf's first, then those of other model families. */
struct model_field {
    size_t offset;
    int64_t most;
    const char *names[NAMES];
};

#define FIELD(field, most, ...)                                                                                        \
    {                                                                                                                  \
        offsetof(struct kerf_model, field), most, { __VA_ARGS__ }                                                      \
    }
static const struct model_field fields[] = {
    FIELD(hidden_size, INT64_C(1) << 24, "hidden_size", "n_embd", "n_embed"),
    FIELD(intermediate_size, INT64_C(1) << 26, "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
    FIELD(num_hidden_layers, INT64_C(1) << 20, "num_hidden_layers", "n_layer", "num_layers"),
    FIELD(num_attention_heads, INT64_C(1) << 20, "num_attention_heads", "n_head"),
    FIELD(max_position_embeddings, INT64_C(1) << 30, "max_position_embeddings", "n_positions", "n_ctx", "seq_length"),
};
enum { FIELDS = sizeof fields / sizeof *fields };
_Static_assert(FIELDS <= 32, "a bit of kerf_model.overridden for each field");

static int64_t *value_of(struct kerf_model *model, const struct model_field *field) {
    return (int64_t *)(void *)((char *)model + field->offset);
}

static int32_t read_field(const struct json_object *object, const struct model_field *field, int64_t *ret_value,
                          struct kerf_error *err) {
    const char *first = NULL;
    for (int i = 0; i < NAMES && field->names[i]; i++) {
        const char *name = field->names[i];
        if (i > 0 && !json_has(object, name)) continue; /* n_inner may be null */
        if (json_object_get(object->json, name) == NULL) continue;
        int64_t value = 0;
        int32_t code = json_get_integer(object, name, JSON_REQUIRED, 1, field->most, &value, err);
        if (code != KERF_OK) return code;
        if (first && value != *ret_value)
            return json_fail(object, name, KERF_EINVALID, err, "\"%s\" says otherwise than \"%s\"; keep one of them",
                             name, first);
        *ret_value = value;
        first = name;
    }
    return KERF_OK;
}

/* Families whose feed-forward layer is 4 hidden_size wide where the file does not say. */
static int is_four_wide(const struct json_object *object) {
    static const char *const families[] = {"bloom", "falcon", "RefinedWeb", "RefinedWebModel"};
    const char *family = json_string_value(json_object_get(object->json, "model_type"));
    if (json_has(object, "n_embd") || json_has(object, "n_embed")) return 1;
    for (size_t i = 0; family && i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i], family) == 0) return 1;
    return 0;
}

int32_t model_check(const struct kerf_model *model, struct kerf_error *err) {
    for (size_t i = 0; i < FIELDS; i++) {
        struct kerf_model copy = *model;
        int64_t value = *value_of(&copy, &fields[i]), least = &fields[i] == &fields[FIELDS - 1] ? 0 : 1;
        if (value < least || value > fields[i].most)
            return kerf_error_set(err, KERF_EINVALID, "%s must lie between 1 and %lld, not %lld", fields[i].names[0],
                                  (long long)fields[i].most, (long long)value);
    }
    if (model->hidden_size % model->num_attention_heads == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%lld heads do not divide hidden_size %lld",
                          (long long)model->num_attention_heads, (long long)model->hidden_size);
}

int32_t model_from_object(const struct json_object *object, const char *name, struct kerf_model *ret_model,
                          struct kerf_error *err) {
    struct kerf_model model = {0};
    for (size_t i = 0; i < FIELDS; i++) {
        int32_t code = read_field(object, &fields[i], value_of(&model, &fields[i]), err);
        if (code != KERF_OK) return code;
    }
    if (model.intermediate_size == 0 && is_four_wide(object)) model.intermediate_size = 4 * model.hidden_size;
    for (size_t i = 0; i < FIELDS; i++)
        if (*value_of(&model, &fields[i]) == 0 && &fields[i] != &fields[FIELDS - 1])
            return json_fail(object, NULL, KERF_EINVALID, err,
                             "\"%s\" is missing; a model needs hidden_size, "
                             "intermediate_size, num_hidden_layers and num_attention_heads",
                             fields[i].names[0]);
    struct kerf_error why;
    if (model_check(&model, &why) != KERF_OK)
        return json_fail(object, json_has(object, "n_head") ? "n_head" : "num_attention_heads", KERF_EINVALID, err,
                         "%s", why.message);
    const char *own_name = "";
    if (json_has(object, "name")) {
        int32_t code = json_get_string(object, "name", JSON_REQUIRED, &own_name, err);
        if (code != KERF_OK) return code;
    }
    name_copy(model.name, own_name[0] ? own_name : name);
    *ret_model = model;
    return KERF_OK;
}

static int32_t read_model(const struct json_object *object, const char *name, void *ret, struct kerf_error *err) {
    return model_from_object(object, name, ret, err);
}

int32_t kerf_model_parse(const char *json, size_t length, const char *source, struct kerf_model *ret_model,
                         struct kerf_error *err) {
    return description_parse(json, length, source, read_model, ret_model, err);
}

int32_t kerf_model_load(const char *name_or_file, struct kerf_model *ret_model, struct kerf_error *err) {
    return description_load(name_or_file, "models", read_model, ret_model, err);
}

void model_json(struct kerf_json *json, const struct kerf_model *model) {
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "name", model->name);
    for (size_t i = 0; i < FIELDS; i++) {
        struct kerf_model copy = *model;
        if (*value_of(&copy, &fields[i]) != 0)
            kerf_json_integer(json, fields[i].names[0], *value_of(&copy, &fields[i]));
    }
    kerf_json_close(json, '}');
}

int model_has_field(const char *key) {
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(fields[i].names[0], key) == 0) return 1;
    return 0;
}

int32_t model_set_field(struct kerf_model *model, const char *key, double value, struct kerf_error *err) {
    for (size_t i = 0; i < FIELDS; i++) {
        const struct model_field *field = &fields[i];
        if (strcmp(field->names[0], key) != 0) continue;
        if (value != floor(value) || value < 1 || value > (double)field->most)
            return kerf_error_set(err, KERF_EINVALID, "%s must be a whole number from 1 to %lld, not %.17g", key,
                                  (long long)field->most, value);
        *value_of(model, field) = (int64_t)value;
        model->overridden |= 1u << i;
        return KERF_OK;
    }
    return kerf_error_set(err, KERF_EUNKNOWN, "a model has no field '%.64s'", key);
}

void model_overridden_json(struct kerf_json *json, const struct kerf_model *model) {
    struct kerf_model copy = *model;
    for (size_t i = 0; i < FIELDS; i++)
        if (model->overridden & 1u << i) kerf_json_integer(json, fields[i].names[0], *value_of(&copy, &fields[i]));
}

void model_overridden_text(struct kerf_text *out, const struct kerf_model *model, const char *gap) {
    struct kerf_model copy = *model;
    for (size_t i = 0; i < FIELDS; i++) {
        if (!(model->overridden & 1u << i)) continue;
        kerf_text_printf(out, "%s%s ", gap, fields[i].names[0]);
        quantity_count(out, *value_of(&copy, &fields[i]));
        gap = ", ";
    }
}
