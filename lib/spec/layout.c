/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts: reading, writing and ordering. Which rules one must obey is in cost/layout_rules.c. */
#include "spec/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/nearest.h"

/* The members in the order of their importance when layouts are compared. */
#define TOP(key, least, unnamed)                                                                                       \
    { NULL, #key, least, unnamed, offsetof(struct kerf_layout, key) }
#define PLACED(key)                                                                                                    \
    { "scale_up", #key, 1, 0, offsetof(struct kerf_layout, scale_up.key) }
static const struct layout_field {
    const char *group, *key;
    int64_t least, unnamed; /* the least that may be named, and what it is where it is not */
    size_t offset;
} fields[] = {
    TOP(dp, 1, 1),           TOP(tp1, 1, 1), TOP(tp2, 1, 1), TOP(pp, 1, 1), TOP(micro_batch, 1, 1),
    TOP(summa_blocks, 0, 0), PLACED(tp1),    PLACED(tp2),    PLACED(dp),    PLACED(pp),
};
enum { FIELDS = sizeof fields / sizeof *fields, TOP_FIELDS = 6 };

static int64_t *value_of(struct kerf_layout *layout, size_t i) {
    return (int64_t *)(void *)((char *)layout + fields[i].offset);
}

static int64_t get(const struct kerf_layout *layout, size_t i) {
    return *(const int64_t *)(const void *)((const char *)layout + fields[i].offset);
}

static struct kerf_layout nothing_named(void) {
    struct kerf_layout layout;
    memset(&layout, 0, sizeof layout);
    for (size_t i = 0; i < FIELDS; i++) *value_of(&layout, i) = fields[i].unnamed;
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
    struct kerf_layout layout = nothing_named();
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
    const char *nearest = strcmp(key, "tp") == 0 ? "tp1" : nearest_name(key, names, FIELDS);
    return kerf_error_set(err, KERF_EUNKNOWN, "layout: unknown part '%s'%s%s%s", key,
                          nearest ? "; did you mean "
                                  : "; there are dp, tp1, tp2, pp, micro_batch, summa_blocks and scale_up.*",
                          nearest ? nearest : "", nearest ? "?" : "");
}

int32_t kerf_layout_parse(const char *text, struct kerf_layout *ret_layout, struct kerf_error *err) {
    struct kerf_layout layout = nothing_named();
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

int32_t layout_check_ranges(const struct kerf_layout *layout, struct kerf_error *err) {
    for (size_t i = 0; i < FIELDS; i++) {
        int64_t value = get(layout, i);
        if (value == fields[i].unnamed || (value >= fields[i].least && value <= KERF_COUNT_MAX)) continue;
        return kerf_error_set(err, KERF_EINVALID, "%s%s must lie between %lld and %lld, not %lld",
                              fields[i].group ? "scale_up." : "", fields[i].key, (long long)fields[i].least,
                              (long long)KERF_COUNT_MAX, (long long)value);
    }
    return KERF_OK;
}
