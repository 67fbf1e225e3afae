/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts: reading, writing, ordering, and the rules that one must obey to carry a problem. */
#include "spec/layout.h"
#include "spec/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The members in the order of their importance when layouts are compared. */
#define TOP(key, least)                                                                                                \
    { NULL, #key, least, offsetof(struct kerf_layout, key) }
#define PLACED(key)                                                                                                    \
    { "scale_up", #key, 1, offsetof(struct kerf_layout, scale_up.key) }
static const struct layout_field {
    const char *group, *key;
    int64_t least;
    size_t offset;
} fields[] = {
    TOP(dp, 1),           TOP(tp1, 1), TOP(tp2, 1), TOP(pp, 1), TOP(micro_batch, 1),
    TOP(summa_blocks, 0), PLACED(tp1), PLACED(tp2), PLACED(dp), PLACED(pp),
};
enum { FIELDS = sizeof fields / sizeof *fields, TOP_FIELDS = 6 };

static int64_t *value_of(struct kerf_layout *layout, size_t i) {
    return (int64_t *)(void *)((char *)layout + fields[i].offset);
}

static int64_t get(const struct kerf_layout *layout, size_t i) {
    return *(const int64_t *)(const void *)((const char *)layout + fields[i].offset);
}

static struct kerf_layout plain(void) {
    struct kerf_layout layout;
    memset(&layout, 0, sizeof layout);
    for (size_t i = 0; i < FIELDS; i++) *value_of(&layout, i) = fields[i].least;
    return layout;
}

int32_t kerf_layout_compare(const struct kerf_layout *a, const struct kerf_layout *b) {
    for (size_t i = 0; i < FIELDS; i++)
        if (get(a, i) != get(b, i)) return get(a, i) < get(b, i) ? -1 : 1;
    return 0;
}

void kerf_layout_json(struct kerf_json *json, const char *key, const struct kerf_layout *layout) {
    kerf_json_open(json, key, '{');
    for (size_t i = 0; i < FIELDS; i++) {
        if (i == TOP_FIELDS) kerf_json_open(json, "scale_up", '{');
        kerf_json_integer(json, fields[i].key, get(layout, i));
    }
    kerf_json_close(json, '}');
    kerf_json_close(json, '}');
}

int32_t layout_from_object(const struct json_object *object, struct kerf_layout *ret_layout, struct kerf_error *err) {
    static const char *const top[] = {"tp1",         "tp2",          "dp",      "pp",
                                      "micro_batch", "summa_blocks", "scale_up"}; /* tp is nearest to tp1 */
    static const char *const placed[] = {"tp1", "tp2", "dp", "pp"};
    struct kerf_layout layout = plain();
    struct json_object up = {.json = NULL};
    int32_t code = json_check_keys(object, top, sizeof top / sizeof *top, err);
    if (code == KERF_OK) code = json_get_object(object, "scale_up", JSON_OPTIONAL, &up, err);
    if (code == KERF_OK && up.json) code = json_check_keys(&up, placed, sizeof placed / sizeof *placed, err);
    for (size_t i = 0; i < FIELDS && code == KERF_OK; i++) {
        const struct json_object *group = fields[i].group ? &up : object;
        if (group->json)
            code = json_get_integer(group, fields[i].key, JSON_OPTIONAL, fields[i].least, KERF_COUNT_MAX,
                                    value_of(&layout, i), err);
    }
    if (code == KERF_OK) *ret_layout = layout;
    return code;
}

static void full_key(size_t i, char key[32]) {
    snprintf(key, 32, "%s%s%s", fields[i].group ? fields[i].group : "", fields[i].group ? "." : "", fields[i].key);
}

static int32_t parse_part(const char *part, size_t length, struct kerf_layout *layout, uint32_t *given,
                          struct kerf_error *err) {
    const char *equals = memchr(part, '=', length);
    size_t key_length = equals ? (size_t)(equals - part) : length;
    char keys[FIELDS][32], key[32], digits[32];
    const char *names[FIELDS];
    snprintf(key, sizeof key, "%.*s", (int)(key_length < 31 ? key_length : 31), part);
    for (size_t i = 0; i < FIELDS; i++) {
        full_key(i, keys[i]);
        names[i] = keys[i];
        if (strcmp(keys[i], key) != 0) continue;
        if (equals == NULL) return kerf_error_set(err, KERF_EINVALID, "layout: %s has no value; write %s=N", key, key);
        size_t value_length = length - key_length - 1;
        snprintf(digits, sizeof digits, "%.*s", (int)(value_length < 31 ? value_length : 31), equals + 1);
        char *end;
        long long value = strtoll(digits, &end, 10);
        if (value_length > 31 || *end || end == digits || !strchr("0123456789", digits[0]) || value < fields[i].least ||
            value > KERF_COUNT_MAX)
            return kerf_error_set(err, KERF_EINVALID, "layout: %s must be a whole number from %lld to %lld, not '%s'",
                                  key, (long long)fields[i].least, (long long)KERF_COUNT_MAX, digits);
        if (*given & 1u << i) return kerf_error_set(err, KERF_EINVALID, "layout: %s is given twice", key);
        *given |= 1u << i;
        *value_of(layout, i) = value;
        return KERF_OK;
    }
    const char *nearest = strcmp(key, "tp") == 0 ? "tp1" : kerf_text_nearest(key, names, FIELDS);
    return kerf_error_set(err, KERF_EUNKNOWN, "layout: no part '%s'%s%s%s", key,
                          nearest ? "; did you mean "
                                  : "; there are dp, tp1, tp2, pp, micro_batch, summa_blocks and scale_up.*",
                          nearest ? nearest : "", nearest ? "?" : "");
}

int32_t kerf_layout_parse(const char *text, struct kerf_layout *ret_layout, struct kerf_error *err) {
    struct kerf_layout layout = plain();
    uint32_t given = 0;
    for (const char *part = text;; part++) {
        size_t length = strcspn(part, ",");
        int32_t code = parse_part(part, length, &layout, &given, err);
        if (code != KERF_OK) return code;
        part += length;
        if (*part == 0) break;
    }
    *ret_layout = layout;
    return KERF_OK;
}

/* ---- The rules ------------------------------------------------------------------------------------------ */

int64_t layout_sequence_shards(enum kerf_strategy strategy, int64_t tp1, int64_t tp2) {
    switch (strategy) {
    case KERF_STRATEGY_1D: return tp1;
    case KERF_STRATEGY_SUMMA: return tp2;
    default: return tp1 * tp2;
    }
}

#define RULE(condition, ...)                                                                                           \
    do {                                                                                                               \
        if (!(condition)) return kerf_error_set(err, KERF_EINVALID, __VA_ARGS__);                                      \
    } while (0)

int32_t kerf_layout_check(const struct kerf_problem *problem, const struct kerf_layout *layout,
                          struct kerf_error *err) {
    const struct kerf_model *model = &problem->model;
    const struct kerf_layout *l = layout;
    typedef long long ll;
    int32_t code = problem_check(problem, err);
    if (code != KERF_OK) return code;
    for (size_t i = 0; i < FIELDS; i++)
        RULE(get(l, i) >= fields[i].least && get(l, i) <= KERF_COUNT_MAX,
             "%s%s must lie between %lld and %lld, not %lld", fields[i].group ? "scale_up." : "", fields[i].key,
             (ll)fields[i].least, (ll)KERF_COUNT_MAX, (ll)get(l, i));
    int64_t product = 0;
    int wide = __builtin_mul_overflow(l->dp, l->tp1, &product) || __builtin_mul_overflow(product, l->tp2, &product) ||
               __builtin_mul_overflow(product, l->pp, &product);
    RULE(!wide && product <= KERF_COUNT_MAX, "dp %lld x tp1 %lld x tp2 %lld x pp %lld are more than %lld accelerators",
         (ll)l->dp, (ll)l->tp1, (ll)l->tp2, (ll)l->pp, (ll)KERF_COUNT_MAX);
    RULE(product == problem->gpus, "dp %lld x tp1 %lld x tp2 %lld x pp %lld is not %lld accelerators", (ll)l->dp,
         (ll)l->tp1, (ll)l->tp2, (ll)l->pp, (ll)problem->gpus);
    RULE(model->num_hidden_layers % l->pp == 0, "pp %lld does not divide %lld layers", (ll)l->pp,
         (ll)model->num_hidden_layers);
    RULE(model->num_attention_heads % l->tp1 == 0, "tp1 %lld does not divide %lld attention heads", (ll)l->tp1,
         (ll)model->num_attention_heads);
    RULE(problem->strategy != KERF_STRATEGY_1D || l->tp2 == 1, "tp2 must be 1 with 1d; use summa or seqp for tp2 %lld",
         (ll)l->tp2);
    RULE(problem->strategy != KERF_STRATEGY_SUMMA || model->hidden_size % l->tp2 == 0,
         "tp2 %lld does not divide hidden_size %lld", (ll)l->tp2, (ll)model->hidden_size);
    RULE(l->tp2 <= problem->seq_length, "tp2 %lld is more than the %lld tokens of a sample", (ll)l->tp2,
         (ll)problem->seq_length);
    RULE(problem->strategy == KERF_STRATEGY_SUMMA ? l->summa_blocks >= 1 : l->summa_blocks == 0,
         problem->strategy == KERF_STRATEGY_SUMMA ? "summa_blocks must be 1 or more with summa, not %lld"
                                                  : "summa_blocks must be 0 without summa, not %lld",
         (ll)l->summa_blocks);
    RULE(problem->global_batch % l->dp == 0, "dp %lld does not divide the global batch %lld", (ll)l->dp,
         (ll)problem->global_batch);
    RULE(problem->global_batch / l->dp % l->micro_batch == 0,
         "micro_batch %lld does not divide the %lld samples of a replica", (ll)l->micro_batch,
         (ll)(problem->global_batch / l->dp));
    int64_t shards = layout_sequence_shards(problem->strategy, l->tp1, l->tp2);
    RULE(l->micro_batch * problem->seq_length % shards == 0,
         "the %lld tokens of a micro-batch do not divide into %lld shards", (ll)(l->micro_batch * problem->seq_length),
         (ll)shards);
    RULE(l->tp1 % l->scale_up.tp1 == 0 && l->tp2 % l->scale_up.tp2 == 0 && l->dp % l->scale_up.dp == 0 &&
             l->pp % l->scale_up.pp == 0,
         "each of scale_up's tp1 %lld, tp2 %lld, dp %lld, pp %lld must divide the layout's", (ll)l->scale_up.tp1,
         (ll)l->scale_up.tp2, (ll)l->scale_up.dp, (ll)l->scale_up.pp);
    int64_t placed = l->scale_up.tp1 * l->scale_up.tp2; /* at most 2^60 */
    wide = __builtin_mul_overflow(placed, l->scale_up.dp, &placed) ||
           __builtin_mul_overflow(placed, l->scale_up.pp, &placed);
    RULE(!wide && placed <= problem->system.scale_up.size,
         "scale_up places more than the %lld accelerators of a domain", (ll)problem->system.scale_up.size);
    return KERF_OK;
}
