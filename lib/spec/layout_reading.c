/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the parts of a layout together, after they were read from text or from JSON. */
#include "spec/layout.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

void layout_reading_begin(struct layout_reading *reading) {
    memset(reading, 0, sizeof *reading);
    for (int32_t i = 0; i < TENSOR_PARTS; i++)
        layout_set(&reading->layout, &layout_tensor_parts[i], layout_tensor_parts[i].unnamed);
    for (int32_t i = 0; i < HYBRID_NUMBERS; i++)
        layout_set(&reading->layout, &layout_hybrid_numbers[i], layout_hybrid_numbers[i].unnamed);
}

/* ---- Words ------------------------------------------------------------------------------------------------ */

/* "11/11/10" */
static int32_t set_stage_layers(struct layout_reading *reading, const char *text, struct kerf_error *err) {
    enum { LAYERS_MAX = 1 << 20 };
    int32_t count = 1, *layers;
    for (const char *c = text; *c; c++) count += *c == '/';
    if (count > KERF_STAGES_MAX)
        return kerf_error_set(err, KERF_EINVALID, "layout: stage_layers has %d stages, and at most %d are possible",
                              count, KERF_STAGES_MAX);
    layers = malloc((size_t)count * sizeof *layers);
    if (layers == NULL) return error_no_memory(err, "the layers of each stage");
    const char *at = text;
    for (int32_t i = 0; i < count; i++) {
        char *end;
        long value = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;
        if (value < 1 || value > LAYERS_MAX || *end != (i + 1 < count ? '/' : 0)) {
            free(layers);
            return kerf_error_set(err, KERF_EINVALID,
                                  "layout: stage_layers are whole numbers of layers from 1 to %d, such as 11/11/10, "
                                  "not '%.32s'",
                                  (int)LAYERS_MAX, text);
        }
        layers[i] = (int32_t)value;
        at = end + 1;
    }
    reading->layout.stage_layers = layers;
    reading->num_stage_layers = count;
    return KERF_OK;
}

static int32_t set_schedule(struct kerf_layout *layout, const char *text, struct kerf_error *err) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof layout->schedule || strspn(text, letters) != length)
        return kerf_error_set(err, KERF_EINVALID,
                              "layout: schedule must be a name that `kerf schedule --list` has, not '%.32s'", text);
    memcpy(layout->schedule, text, length + 1);
    return KERF_OK;
}

int32_t layout_set_word(struct layout_reading *reading, enum layout_word word, const char *text,
                        struct kerf_error *err) {
    enum kerf_recompute recompute;
    enum kerf_order order;
    enum kerf_cp_comm cp_comm;
    int32_t code = KERF_OK;
    switch (word) {
    case HYBRID_RECOMPUTE:
        code = kerf_recompute_parse(text, &recompute, &reading->layout.recompute_layers, err);
        if (code == KERF_OK) reading->layout.recompute = (int8_t)recompute;
        return code;
    case HYBRID_SCHEDULE: return set_schedule(&reading->layout, text, err);
    case HYBRID_ORDER:
        code = kerf_order_parse(text, &order, err);
        if (code == KERF_OK) reading->layout.order = (int8_t)order;
        return code;
    case HYBRID_CP_COMM:
        code = kerf_cp_comm_parse(text, &cp_comm, err);
        if (code == KERF_OK) reading->layout.cp_comm = (int8_t)cp_comm;
        return code;
    case HYBRID_STAGE_LAYERS: return set_stage_layers(reading, text, err);
    }
    assert(!"a word of a layout");
    return KERF_EINVALID;
}

/* ---- Together --------------------------------------------------------------------------------------------- */

static int is_of_tensor_alone(int32_t part) {
    for (int32_t i = 0; i < HYBRID_PARTS; i++)
        if (layout_tensor_parts[part].group == NULL && strcmp(layout_hybrid_key(i), layout_tensor_parts[part].key) == 0)
            return 0;
    return 1;
}

static int is_of_hybrid_alone(int32_t part) {
    for (int32_t i = 0; i < TENSOR_TOP_PARTS; i++)
        if (strcmp(layout_hybrid_key(part), layout_tensor_parts[i].key) == 0) return 0;
    return 1;
}

/* The first part that was given and that one kind alone has; -1: none was. */
static int32_t first_given(uint32_t given, int32_t count, int (*is_alone)(int32_t)) {
    for (int32_t i = 0; i < count; i++)
        if ((given & 1u << i) && is_alone(i)) return i;
    return -1;
}

static int32_t find_kind(const struct layout_reading *reading, enum layout_kind *kind, struct kerf_error *err) {
    int32_t tensor = first_given(reading->tensor, TENSOR_PARTS, is_of_tensor_alone);
    int32_t hybrid = first_given(reading->hybrid, HYBRID_PARTS, is_of_hybrid_alone);
    char key[32] = "";
    if (tensor >= 0) layout_tensor_key(tensor, key);
    if (tensor >= 0 && hybrid >= 0)
        return kerf_error_set(
            err, KERF_EINVALID,
            "layout: %s is for 1d, summa and seqp, and %s for hybrid: a layout has tp1 or tp, and not "
            "parts of both",
            key, layout_hybrid_key(hybrid));
    if (*kind == LAYOUT_TENSOR && hybrid >= 0)
        return kerf_error_set(err, KERF_EINVALID, "layout: %s is for hybrid alone; 1d, summa and seqp have tp1",
                              layout_hybrid_key(hybrid));
    if (*kind == LAYOUT_HYBRID && tensor >= 0)
        return kerf_error_set(err, KERF_EINVALID, "layout: %s is for 1d, summa and seqp alone; hybrid has tp", key);
    if (*kind == LAYOUT_ANY) *kind = tensor >= 0 ? LAYOUT_TENSOR : LAYOUT_HYBRID;
    return KERF_OK;
}

int32_t layout_reading_end(struct layout_reading *reading, enum layout_kind kind, struct kerf_layout *ret_layout,
                           struct kerf_error *err) {
    struct kerf_layout *l = &reading->layout;
    int32_t code = find_kind(reading, &kind, err);
    if (code == KERF_OK && l->stage_layers && l->pp * l->vpp != reading->num_stage_layers)
        code =
            kerf_error_set(err, KERF_EINVALID,
                           "layout: stage_layers has %d stages, and pp %lld x vpp %d is %lld: it needs as many numbers",
                           reading->num_stage_layers, (long long)l->pp, l->vpp, (long long)(l->pp * l->vpp));
    if (code != KERF_OK) {
        kerf_layout_release(l);
        return code;
    }
    if (kind == LAYOUT_HYBRID) {
        if (!(reading->hybrid & 1u << 7)) l->zero = layout_default_zero(l);
        if (!l->schedule[0]) snprintf(l->schedule, sizeof l->schedule, "%s", layout_default_schedule(l));
    }
    *ret_layout = *l;
    return KERF_OK;
}
