/* SPDX-License-Identifier: Apache-2.0 */
#include "llama/llama_setting.h"

#include <stddef.h>
#include <string.h>

#include <llama.h>
#include "base/nearest.h"
#include "kerf/text.h"

/* Those that llama.cpp's own programs take for a KV cache. */
static const struct {
    const char *word;
    int32_t type;
} kv_types[] = {
    {"f32", GGML_TYPE_F32},   {"f16", GGML_TYPE_F16},   {"bf16", GGML_TYPE_BF16},
    {"q8_0", GGML_TYPE_Q8_0}, {"q4_0", GGML_TYPE_Q4_0}, {"q4_1", GGML_TYPE_Q4_1},
    {"q5_0", GGML_TYPE_Q5_0}, {"q5_1", GGML_TYPE_Q5_1}, {"iq4_nl", GGML_TYPE_IQ4_NL},
};

int32_t llama_setting_flash_attention(const char *word, int32_t *ret_value, struct kerf_error *err) {
    if (strcmp(word, "auto") == 0)
        *ret_value = LLAMA_FLASH_ATTN_TYPE_AUTO;
    else if (strcmp(word, "on") == 0)
        *ret_value = LLAMA_FLASH_ATTN_TYPE_ENABLED;
    else if (strcmp(word, "off") == 0)
        *ret_value = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    else
        return kerf_error_set(err, KERF_EUNKNOWN, "flash_attention is auto, on or off, not '%.40s'", word);
    return KERF_OK;
}

int32_t llama_setting_kv_type(const char *word, int32_t *ret_type, struct kerf_error *err) {
    for (size_t i = 0; i < sizeof kv_types / sizeof *kv_types; i++)
        if (strcmp(kv_types[i].word, word) == 0) return *ret_type = kv_types[i].type, KERF_OK;
    return kerf_error_set(err, KERF_EUNKNOWN,
                          "a KV cache is f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1 or iq4_nl, not '%.40s'", word);
}

/* ---- A setting of a request ------------------------------------------------------------------------------- */

enum kind { COUNT, LAYERS, ATTENTION, TYPE_K, TYPE_V, TYPE_BOTH, SWITCH };

static const struct field {
    const char *name;
    enum kind kind;
    size_t offset;
} fields[] = {
    {"batch", COUNT, offsetof(struct llama_setting, batch)},
    {"ubatch", COUNT, offsetof(struct llama_setting, ubatch)},
    {"threads", COUNT, offsetof(struct llama_setting, threads)},
    {"threads_batch", COUNT, offsetof(struct llama_setting, threads_batch)},
    {"flash_attention", ATTENTION, offsetof(struct llama_setting, flash_attention)},
    {"kv_type", TYPE_BOTH, 0},
    {"kv_type_k", TYPE_K, offsetof(struct llama_setting, type_k)},
    {"kv_type_v", TYPE_V, offsetof(struct llama_setting, type_v)},
    {"gpu_layers", LAYERS, offsetof(struct llama_setting, gpu_layers)},
    {"mmap", SWITCH, offsetof(struct llama_setting, mmap)},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static int32_t unknown(const char *name, struct kerf_error *err) {
    const char *names[FIELDS];
    for (int i = 0; i < FIELDS; i++) names[i] = fields[i].name;
    const char *nearest = nearest_name(name, names, FIELDS);
    if (nearest) return kerf_error_set(err, KERF_EUNKNOWN, "no setting '%.40s'; did you mean %s?", name, nearest);
    return kerf_error_set(err, KERF_EUNKNOWN,
                          "no setting '%.40s'; there are batch, ubatch, threads, threads_batch, flash_attention, "
                          "kv_type, kv_type_k, kv_type_v, gpu_layers and mmap",
                          name);
}

static int32_t read_number(const struct field *field, const json_t *value, int32_t *number, struct kerf_error *err) {
    json_int_t least = field->kind == LAYERS ? -1 : 1, given = json_integer_value(value);
    if (!json_is_integer(value) || given < least || given > INT32_MAX)
        return kerf_error_set(err, KERF_EINVALID, "%s is a whole number of %d or more", field->name, (int)least);
    *number = (int32_t)given;
    return KERF_OK;
}

/* true and false, as a flag's value is written; "on" and "off", as a choice's is. */
static int32_t read_switch(const struct field *field, const json_t *value, const char **ret_word,
                           struct kerf_error *err) {
    if (json_is_boolean(value))
        *ret_word = json_is_true(value) ? "on" : "off";
    else if (json_is_string(value))
        *ret_word = json_string_value(value);
    else
        return kerf_error_set(err, KERF_EINVALID, "%s is \"on\" or \"off\"", field->name);
    return KERF_OK;
}

static int32_t read_type(const struct field *field, const json_t *value, struct llama_setting *setting,
                         struct kerf_error *err) {
    int32_t type = 0;
    if (!json_is_string(value)) return kerf_error_set(err, KERF_EINVALID, "%s is a word such as f16", field->name);
    int32_t code = llama_setting_kv_type(json_string_value(value), &type, err);
    if (code != KERF_OK) return code;
    if (field->kind != TYPE_V) setting->type_k = type;
    if (field->kind != TYPE_K) setting->type_v = type;
    return KERF_OK;
}

static int32_t read_field(const struct field *field, const json_t *value, struct llama_setting *setting,
                          struct kerf_error *err) {
    int32_t *place = (int32_t *)(void *)((char *)setting + field->offset);
    if (field->kind == COUNT || field->kind == LAYERS) return read_number(field, value, place, err);
    if (field->kind != ATTENTION && field->kind != SWITCH) return read_type(field, value, setting, err);
    const char *word = "";
    int32_t code = read_switch(field, value, &word, err);
    if (code != KERF_OK) return code;
    if (field->kind == ATTENTION) return llama_setting_flash_attention(word, place, err);
    if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
        return kerf_error_set(err, KERF_EINVALID, "%s is \"on\" or \"off\"", field->name);
    *place = strcmp(word, "on") == 0;
    return KERF_OK;
}

int32_t llama_setting_read(const json_t *object, struct llama_setting *setting, struct kerf_error *err) {
    struct llama_setting read = *setting;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        int i = 0;
        while (i < FIELDS && strcmp(fields[i].name, name) != 0) i++;
        int32_t code = i == FIELDS ? unknown(name, err) : read_field(&fields[i], value, &read, err);
        if (code != KERF_OK) return code;
    }
    *setting = read;
    return KERF_OK;
}
