/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts as JSON objects; the keys are documented in docs/json.md. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "spec/layout.h"

/* ---- Writing ---------------------------------------------------------------------------------------------- */

static void tensor_json(struct kerf_json *json, const struct kerf_layout *layout) {
    for (int32_t i = 0; i < TENSOR_PARTS; i++) {
        if (i == TENSOR_TOP_PARTS) kerf_json_open(json, "scale_up", '{');
        kerf_json_integer(json, layout_tensor_parts[i].key, layout_get(layout, &layout_tensor_parts[i]));
    }
    kerf_json_close(json, '}');
}

static void hybrid_json(struct kerf_json *json, const struct kerf_layout *l) {
    char recompute[32];
    for (int32_t i = 0; i < HYBRID_NUMBERS; i++)
        kerf_json_integer(json, layout_hybrid_numbers[i].key, layout_get(l, &layout_hybrid_numbers[i]));
    snprintf(recompute, sizeof recompute, "%s", kerf_recompute_name((enum kerf_recompute)l->recompute));
    if (l->recompute == KERF_RECOMPUTE_BLOCK)
        snprintf(recompute + strlen(recompute), sizeof recompute - strlen(recompute), ":%d", l->recompute_layers);
    kerf_json_string(json, "recompute", recompute);
    kerf_json_string(json, "schedule", l->schedule);
    kerf_json_string(json, "order", kerf_order_name((enum kerf_order)l->order));
    if (l->cp > 1) kerf_json_string(json, "cp_comm", kerf_cp_comm_name((enum kerf_cp_comm)l->cp_comm));
    if (l->stage_layers == NULL) return;
    kerf_json_open(json, "stage_layers", '[');
    for (int64_t i = 0; i < l->pp * l->vpp; i++) kerf_json_integer(json, NULL, l->stage_layers[i]);
    kerf_json_close(json, ']');
}

void kerf_layout_json(struct kerf_json *json, const char *key, const struct kerf_layout *layout) {
    kerf_json_open(json, key, '{');
    if (layout_is_hybrid(layout))
        hybrid_json(json, layout);
    else
        tensor_json(json, layout);
    kerf_json_close(json, '}');
}

/* ---- Reading ---------------------------------------------------------------------------------------------- */

static int32_t read_tensor_numbers(struct layout_reading *reading, const struct json_object *object,
                                   const struct json_object *up, struct kerf_error *err) {
    for (int32_t i = 0; i < TENSOR_PARTS; i++) {
        const struct layout_part *part = &layout_tensor_parts[i];
        const struct json_object *group = part->group ? up : object;
        int64_t value = part->unnamed;
        if (group->json == NULL || !json_object_get(group->json, part->key)) continue;
        int32_t code = json_get_integer(group, part->key, JSON_REQUIRED, part->least, part->most, &value, err);
        if (code != KERF_OK) return code;
        layout_set(&reading->layout, part, value);
        reading->tensor |= 1u << i;
    }
    return KERF_OK;
}

/* The words of a layout as its text has them. */
static int32_t word_text(const struct json_object *object, const char *key, struct kerf_text *ret_text,
                         struct kerf_error *err) {
    const json_t *json = json_object_get(object->json, key);
    if (!json_is_array(json)) {
        const char *word = NULL;
        int32_t code = json_get_string(object, key, JSON_REQUIRED, &word, err);
        if (code == KERF_OK) kerf_text_add(ret_text, word);
        return code;
    }
    for (size_t i = 0; i < json_array_size(json); i++) {
        double layers = json_number_value(json_array_get(json, i)); /* 0 where it is no number */
        if (!(layers >= 1 && layers <= KERF_COUNT_MAX && layers == floor(layers)))
            return json_fail(object, key, KERF_EINVALID, err, "\"%s\" must hold whole numbers of layers alone", key);
        kerf_text_printf(ret_text, "%s%lld", i ? "/" : "", (long long)layers);
    }
    return KERF_OK;
}

static int32_t read_hybrid_word(struct layout_reading *reading, const struct json_object *object, enum layout_word word,
                                struct kerf_error *err) {
    const char *key = layout_hybrid_key((int32_t)word);
    struct kerf_text text = {0};
    int is_list = json_is_array(json_object_get(object->json, key));
    int32_t code = KERF_OK;
    if (is_list != (word == HYBRID_STAGE_LAYERS))
        code =
            json_fail(object, key, KERF_EINVALID, err,
                      is_list ? "\"%s\" must be a word" : "\"%s\" must be a list of layers, such as [11,11,10]", key);
    if (code == KERF_OK) code = word_text(object, key, &text, err);
    if (code == KERF_OK && text.failed) code = kerf_error_set(err, KERF_ENOMEM, "not enough memory for a layout");
    if (code == KERF_OK) {
        struct kerf_error inner;
        code = layout_set_word(reading, word, text.data ? text.data : "", &inner);
        if (code != KERF_OK) json_fail(object, key, code, err, "%s", inner.message);
    }
    kerf_text_free(&text);
    return code;
}

static int32_t read_hybrid(struct layout_reading *reading, const struct json_object *object, struct kerf_error *err) {
    for (int32_t i = 0; i < HYBRID_PARTS; i++) {
        if (!json_object_get(object->json, layout_hybrid_key(i))) continue;
        int32_t code = KERF_OK;
        if (i >= HYBRID_NUMBERS) {
            code = read_hybrid_word(reading, object, (enum layout_word)i, err);
        } else {
            const struct layout_part *part = &layout_hybrid_numbers[i];
            int64_t value = part->unnamed;
            code = json_get_integer(object, part->key, JSON_REQUIRED, part->least, part->most, &value, err);
            if (code == KERF_OK) layout_set(&reading->layout, part, value);
        }
        if (code != KERF_OK) return code;
        reading->hybrid |= 1u << i;
    }
    return KERF_OK;
}

int32_t layout_from_object(const struct json_object *object, enum layout_kind kind, struct kerf_layout *ret_layout,
                           struct kerf_error *err) {
    /* tp1 comes first, so that it is the nearest to tp3 */
    static const char *const keys[] = {"tp1",  "tp2",       "tp",       "cp",          "dp",           "pp",
                                       "vpp",  "ep",        "etp",      "micro_batch", "summa_blocks", "scale_up",
                                       "zero", "recompute", "schedule", "order",       "cp_comm",      "stage_layers"};
    static const char *const placed[] = {"tp1", "tp2", "dp", "pp"};
    struct layout_reading reading;
    struct json_object up = {.json = NULL};
    layout_reading_begin(&reading);
    int32_t code = json_check_keys(object, keys, sizeof keys / sizeof *keys, err);
    if (code == KERF_OK) code = json_get_object(object, "scale_up", JSON_OPTIONAL, &up, err);
    if (code == KERF_OK && up.json) code = json_check_keys(&up, placed, sizeof placed / sizeof *placed, err);
    if (code == KERF_OK) code = read_tensor_numbers(&reading, object, &up, err);
    if (code == KERF_OK) code = read_hybrid(&reading, object, err);
    if (code != KERF_OK) {
        kerf_layout_release(&reading.layout);
        return code;
    }
    if (up.json) reading.tensor |= 1u << TENSOR_TOP_PARTS; /* even an empty one decides the kind */
    struct kerf_error inner;
    code = layout_reading_end(&reading, kind, ret_layout, &inner);
    if (code != KERF_OK) json_fail(object, NULL, code, err, "%s", inner.message);
    return code;
}
