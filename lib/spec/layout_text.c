/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts as text: "dp=16,tp=8,pp=4,vpp=2". */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "spec/layout.h"

/* ---- Reading ------------------------------------------------------------------------------------------ */

/* KEY=VALUE. A value may have any length; errors show the beginning of a long one. */
struct assignment {
    char key[32];
    const char *value; /* behind "="; NULL: there is none */
    size_t length;     /* of the value */
};

static struct assignment assignment_of(const char *part, size_t length) {
    struct assignment a = {.value = memchr(part, '=', length)};
    size_t key_length = a.value ? (size_t)(a.value - part) : length;
    snprintf(a.key, sizeof a.key, "%.*s", (int)(key_length < 31 ? key_length : 31), part);
    if (a.value) a.length = length - key_length - 1, a.value++;
    return a;
}

static int32_t read_number(const struct layout_part *part, const struct assignment *a, int64_t *ret_value,
                           struct kerf_error *err) {
    char digits[32], *end;
    snprintf(digits, sizeof digits, "%.*s", (int)(a->length < 31 ? a->length : 31), a->value);
    *ret_value = strtoll(digits, &end, 10);
    if (a->length > 31 || *end || end == digits || !strchr("0123456789", digits[0]) || *ret_value < part->least ||
        *ret_value > part->most)
        return kerf_error_set(err, KERF_EINVALID, "layout: %s must be a whole number from %lld to %lld, not '%s'",
                              a->key, (long long)part->least, (long long)part->most, digits);
    return KERF_OK;
}

static int32_t read_word(struct layout_reading *reading, enum layout_word word, const struct assignment *a,
                         struct kerf_error *err) {
    char *text = strndup(a->value, a->length);
    if (text == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a layout");
    int32_t code = layout_set_word(reading, word, text, err);
    free(text);
    return code;
}

static int32_t unknown_part(const char *key, struct kerf_error *err) {
    char keys[TENSOR_PARTS][32];
    const char *names[HYBRID_PARTS + TENSOR_PARTS];
    for (int32_t i = 0; i < HYBRID_PARTS; i++) names[i] = layout_hybrid_key(i);
    for (int32_t i = 0; i < TENSOR_PARTS; i++) {
        layout_tensor_key(i, keys[i]);
        names[HYBRID_PARTS + i] = keys[i];
    }
    const char *nearest = nearest_name(key, names, HYBRID_PARTS + TENSOR_PARTS);
    return kerf_error_set(err, KERF_EUNKNOWN, "layout: unknown part '%s'%s%s%s", key,
                          nearest ? "; did you mean "
                                  : "; there are tp, cp, pp, vpp, ep, etp, dp, zero, micro_batch, recompute, schedule, "
                                    "order, cp_comm and stage_layers; for 1d, summa and seqp dp, tp1, tp2, pp, "
                                    "micro_batch, summa_blocks and scale_up.*",
                          nearest ? nearest : "", nearest ? "?" : "");
}

/* The part of this key: its place among each kind's, or -1. */
static void find_part(const char *key, int32_t *ret_tensor, int32_t *ret_hybrid) {
    char other[32];
    *ret_tensor = *ret_hybrid = -1;
    for (int32_t i = 0; i < TENSOR_PARTS; i++) {
        layout_tensor_key(i, other);
        if (strcmp(other, key) == 0) *ret_tensor = i;
    }
    for (int32_t i = 0; i < HYBRID_PARTS; i++)
        if (strcmp(layout_hybrid_key(i), key) == 0) *ret_hybrid = i;
}

static int32_t read_part(struct layout_reading *reading, const char *part, size_t length, struct kerf_error *err) {
    struct assignment a = assignment_of(part, length);
    int32_t tensor, hybrid, code = KERF_OK;
    find_part(a.key, &tensor, &hybrid);
    if (tensor < 0 && hybrid < 0) return unknown_part(a.key, err);
    int is_word = hybrid >= HYBRID_NUMBERS;
    if (a.value == NULL)
        return kerf_error_set(err, KERF_EINVALID, "layout: %s has no value; write %s=%s", a.key, a.key,
                              is_word ? "..." : "N");
    if (is_word && (reading->hybrid & 1u << hybrid))
        return kerf_error_set(err, KERF_EINVALID, "layout: %s is given twice", a.key);
    if (is_word) {
        code = read_word(reading, (enum layout_word)hybrid, &a, err);
    } else {
        const struct layout_part *number = tensor >= 0 ? &layout_tensor_parts[tensor] : &layout_hybrid_numbers[hybrid];
        int64_t value;
        code = read_number(number, &a, &value, err);
        if (code == KERF_OK &&
            ((tensor >= 0 && (reading->tensor & 1u << tensor)) || (hybrid >= 0 && (reading->hybrid & 1u << hybrid))))
            return kerf_error_set(err, KERF_EINVALID, "layout: %s is given twice", a.key);
        if (code == KERF_OK) layout_set(&reading->layout, number, value);
    }
    if (tensor >= 0) reading->tensor |= 1u << tensor;
    if (hybrid >= 0) reading->hybrid |= 1u << hybrid;
    return code;
}

static int32_t parse(const char *text, enum layout_kind kind, struct kerf_layout *ret_layout, struct kerf_error *err) {
    struct layout_reading reading;
    layout_reading_begin(&reading);
    for (const char *part = text;; part++) {
        size_t length = strcspn(part, ",");
        int32_t code = read_part(&reading, part, length, err);
        if (code != KERF_OK) {
            kerf_layout_release(&reading.layout);
            return code;
        }
        part += length;
        if (*part == 0) break;
    }
    return layout_reading_end(&reading, kind, ret_layout, err);
}

int32_t kerf_layout_parse(const char *text, struct kerf_layout *ret_layout, struct kerf_error *err) {
    return parse(text, LAYOUT_ANY, ret_layout, err);
}

int32_t kerf_layout_parse_as(const char *text, enum kerf_strategy strategy, struct kerf_layout *ret_layout,
                             struct kerf_error *err) {
    return parse(text, strategy == KERF_STRATEGY_HYBRID ? LAYOUT_HYBRID : LAYOUT_TENSOR, ret_layout, err);
}

/* ---- Writing ---------------------------------------------------------------------------------------------- */

static void stages_text(struct kerf_text *out, const struct kerf_layout *l) {
    for (int64_t i = 0; l->stage_layers && i < l->pp * l->vpp; i++)
        kerf_text_printf(out, "%s%d", i ? "/" : "", l->stage_layers[i]);
}

static void recompute_text(struct kerf_text *out, const struct kerf_layout *l) {
    kerf_text_add(out, kerf_recompute_name((enum kerf_recompute)l->recompute));
    if (l->recompute == KERF_RECOMPUTE_BLOCK) kerf_text_printf(out, ":%d", l->recompute_layers);
}

void kerf_layout_value(struct kerf_text *out, const struct kerf_layout *layout, const char *key) {
    int32_t part = 0;
    while (part < HYBRID_PARTS && strcmp(layout_hybrid_key(part), key) != 0) part++;
    if (part < HYBRID_NUMBERS) {
        kerf_text_printf(out, "%lld", (long long)layout_get(layout, &layout_hybrid_numbers[part]));
        return;
    }
    switch (part) {
    case HYBRID_RECOMPUTE: recompute_text(out, layout); return;
    case HYBRID_SCHEDULE: kerf_text_add(out, layout->schedule); return;
    case HYBRID_ORDER: kerf_text_add(out, kerf_order_name((enum kerf_order)layout->order)); return;
    case HYBRID_CP_COMM: kerf_text_add(out, kerf_cp_comm_name((enum kerf_cp_comm)layout->cp_comm)); return;
    case HYBRID_STAGE_LAYERS: stages_text(out, layout); return;
    }
    assert(!"a key of hybrid layouts");
}

void layout_hybrid_text(struct kerf_text *out, const struct kerf_layout *layout) {
    const struct kerf_layout *l = layout;
    kerf_text_printf(out, "dp=%lld,tp=%lld", (long long)l->dp, (long long)l->tp1);
    if (l->cp > 1) kerf_text_printf(out, ",cp=%d", l->cp);
    kerf_text_printf(out, ",pp=%lld", (long long)l->pp);
    if (l->vpp > 1) kerf_text_printf(out, ",vpp=%d", l->vpp);
    if (l->ep > 1) kerf_text_printf(out, ",ep=%d", l->ep);
    if (l->etp > 1) kerf_text_printf(out, ",etp=%d", l->etp);
    if (l->zero != layout_default_zero(l)) kerf_text_printf(out, ",zero=%d", l->zero);
    if (l->micro_batch > 1) kerf_text_printf(out, ",micro_batch=%lld", (long long)l->micro_batch);
    if (l->recompute) kerf_text_add(out, ",recompute="), recompute_text(out, l);
    if (strcmp(l->schedule, layout_default_schedule(l)) != 0) kerf_text_printf(out, ",schedule=%s", l->schedule);
    if (l->order) kerf_text_printf(out, ",order=%s", kerf_order_name((enum kerf_order)l->order));
    if (l->cp_comm) kerf_text_printf(out, ",cp_comm=%s", kerf_cp_comm_name((enum kerf_cp_comm)l->cp_comm));
    if (l->stage_layers && !l->has_best_split) kerf_text_add(out, ",stage_layers="), stages_text(out, l);
}
