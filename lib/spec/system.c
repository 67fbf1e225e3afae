/* SPDX-License-Identifier: Apache-2.0 */
/* Systems: what one accelerator and its two networks can do. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/characters.h"
#include "base/quantity.h"
#include "spec/description.h"

/* OPTIONAL, MEASURED and MEASURED_SHARE may be missing in a file and are 0 then; the last two are not shown where they
 * are 0. */
enum bound { POSITIVE, NOT_NEGATIVE, SHARE, WHOLE, OPTIONAL, MEASURED, MEASURED_SHARE };

static int may_be_missing(enum bound bound) { return bound >= OPTIONAL; }
static int is_measured(enum bound bound) { return bound >= MEASURED; }

/* A field: where it is in the file and in the struct, its unit and what it may be. */
struct system_field {
    const char *group; /* NULL: at the top */
    const char *key, *unit;
    enum bound bound;
    size_t offset;
};

#define TOP(key, unit, bound)                                                                                          \
    { NULL, #key, unit, bound, offsetof(struct kerf_system, key) }
#define IN(group, key, unit, bound)                                                                                    \
    { #group, #key, unit, bound, offsetof(struct kerf_system, group.key) }
static const struct system_field fields[] = {
    TOP(matrix_flops_per_s, "FLOP/s", POSITIVE),
    TOP(vector_flops_per_s, "FLOP/s", POSITIVE),
    TOP(bf16_flops_per_s, "FLOP/s", OPTIONAL),
    TOP(fp8_flops_per_s, "FLOP/s", OPTIONAL),
    TOP(fp4_flops_per_s, "FLOP/s", MEASURED),
    TOP(memory_bandwidth_bytes_per_s, "B/s", POSITIVE),
    TOP(memory_capacity_bytes, "B", POSITIVE),
    IN(scale_up, size, "", WHOLE),
    IN(scale_up, bandwidth_bytes_per_s, "B/s", POSITIVE),
    IN(scale_up, efficiency, "", SHARE),
    IN(scale_up, latency_s, "s", NOT_NEGATIVE),
    IN(scale_up, bus_bytes_per_s, "B/s", MEASURED),
    IN(scale_up, start_s, "s", MEASURED),
    IN(scale_out, bandwidth_bytes_per_s, "B/s", POSITIVE),
    IN(scale_out, efficiency, "", SHARE),
    IN(scale_out, latency_s, "s", NOT_NEGATIVE),
    IN(scale_out, nics_per_device, "", POSITIVE),
    IN(scale_out, bus_share, "", MEASURED_SHARE),
    IN(scale_out, hop_s, "s", MEASURED),
    IN(gemm, efficiency, "", MEASURED_SHARE),
    IN(gemm, fp8_efficiency, "", MEASURED_SHARE),
    IN(gemm, mxfp8_efficiency, "", MEASURED_SHARE),
    IN(gemm, nvfp4_efficiency, "", MEASURED_SHARE),
    IN(gemm, edge, "", MEASURED),
    IN(gemm, fp8_edge, "", MEASURED),
    IN(gemm, start_s, "s", MEASURED),
    IN(attention, fused_efficiency, "", MEASURED_SHARE),
    IN(attention, flash_efficiency, "", MEASURED_SHARE),
    IN(attention, flash2_efficiency, "", MEASURED_SHARE),
    IN(attention, unfused_efficiency, "", MEASURED_SHARE),
    IN(attention, eager_efficiency, "", MEASURED_SHARE),
};
enum { FIELDS = sizeof fields / sizeof *fields };
static const struct system_group {
    const char *name;
    enum json_presence presence;
} groups[] = {
    {"scale_up", JSON_REQUIRED}, {"scale_out", JSON_REQUIRED}, {"gemm", JSON_OPTIONAL}, {"attention", JSON_OPTIONAL}};
enum { GROUPS = sizeof groups / sizeof *groups };
_Static_assert(FIELDS <= 32, "a bit of kerf_system.overridden for each field");
static const int64_t DOMAIN_MAX = 1 << 20;
static const double LEAST = 1e-30, MOST = 1e30; /* so that every time is finite */

static int in_bounds(enum bound bound, double value) {
    switch (bound) {
    case POSITIVE: return value >= LEAST && value <= MOST;
    case NOT_NEGATIVE: return value >= 0 && value <= MOST;
    case OPTIONAL:
    case MEASURED: return value == 0 || (value >= LEAST && value <= MOST);
    case MEASURED_SHARE: return value == 0 || (value >= LEAST && value <= 1);
    case SHARE: return value >= LEAST && value <= 1;
    case WHOLE: return value >= 1 && value <= (double)DOMAIN_MAX && value == floor(value);
    }
    return 0;
}

/* The allowed values, for the error about a value that is out of bounds. */
static const char *bound_words(enum bound bound, double value) {
    static const char *const words[] = {
        "above 0",    "0 or above", "above 0 and at most 1", "a whole number from 1 to 1048576", "0 or above",
        "0 or above", "from 0 to 1"};
    static const char *const extreme[] = {
        "from 1e-30 to 1e30",       "at most 1e30",         "from 1e-30 to 1", "", "0, or from 1e-30 to 1e30",
        "0, or from 1e-30 to 1e30", "0, or from 1e-30 to 1"};
    int is_share = bound == SHARE || bound == MEASURED_SHARE;
    int has_sense = bound != WHOLE && value > 0 && (!is_share || value <= 1);
    return has_sense ? extreme[bound] : words[bound];
}

static void store(struct kerf_system *system, const struct system_field *field, double value) {
    char *place = (char *)system + field->offset;
    if (field->bound == WHOLE)
        *(int64_t *)(void *)place = (int64_t)value;
    else
        *(double *)(void *)place = value + 0.0; /* -0 is 0 */
}

static double load(const struct kerf_system *system, const struct system_field *field) {
    const char *place = (const char *)system + field->offset;
    return field->bound == WHOLE ? (double)*(const int64_t *)(const void *)place : *(const double *)(const void *)place;
}

static int32_t out_of_bounds(const char *group, const char *key, enum bound bound, double value,
                             struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID, "%s%s%s must be %s, not %.17g", group ? group : "", group ? "." : "", key,
                          bound_words(bound, value), value);
}

int32_t system_check(const struct kerf_system *system, struct kerf_error *err) {
    for (size_t i = 0; i < FIELDS; i++)
        if (!in_bounds(fields[i].bound, load(system, &fields[i])))
            return out_of_bounds(fields[i].group, fields[i].key, fields[i].bound, load(system, &fields[i]), err);
    return KERF_OK;
}

static int32_t read_field(const struct json_object *object, const struct system_field *field,
                          struct kerf_system *system, struct kerf_error *err) {
    const json_t *json = json_object_get(object->json, field->key);
    double value = json_number_value(json);
    if (json == NULL && may_be_missing(field->bound)) return KERF_OK;
    if (json == NULL) return json_fail(object, NULL, KERF_EINVALID, err, "\"%s\" is missing", field->key);
    if (json_is_string(json) && field->unit[0]) {
        struct kerf_error why;
        if (quantity_parse(json_string_value(json), field->unit, &value, &why) != KERF_OK)
            return json_fail(object, field->key, KERF_EINVALID, err, "\"%s\": %s", field->key, why.message);
    } else if (!json_is_number(json)) {
        return json_fail(object, field->key, KERF_EINVALID, err, "\"%s\" must be a number%s%s", field->key,
                         field->unit[0] ? " or text with a unit, in " : "", field->unit);
    }
    if (!in_bounds(field->bound, value))
        return json_fail(object, field->key, KERF_EINVALID, err, "\"%s\" must be %s, not %g", field->key,
                         bound_words(field->bound, value), value);
    store(system, field, value);
    return KERF_OK;
}

static void full_key(const struct system_field *field, char key[64]) {
    snprintf(key, 64, "%s%s%s", field->group ? field->group : "", field->group ? "." : "", field->key);
}

/* The keys of one group must be known ones. */
static int32_t check_group(const struct json_object *object, const char *group, struct kerf_error *err) {
    const char *names[FIELDS + GROUPS + 3];
    size_t count = 0;
    if (group == NULL) {
        names[count++] = "name", names[count++] = "summary", names[count++] = "sources";
        for (int i = 0; i < GROUPS; i++) names[count++] = groups[i].name;
    }
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].group == group || (group && fields[i].group && strcmp(fields[i].group, group) == 0))
            names[count++] = fields[i].key;
    return json_check_keys(object, names, count, err);
}

/* Where figures come from, {"scale_up.latency_s":"measured by ...",...}: kerf does not use it, but every key must be a
 * field. */
static int32_t check_sources(const struct json_object *object, struct kerf_error *err) {
    struct json_object sources = {.json = NULL};
    char keys[FIELDS][64];
    const char *names[FIELDS], *key, *text;
    json_t *value;
    int32_t code = json_get_object(object, "sources", JSON_OPTIONAL, &sources, err);
    for (size_t i = 0; i < FIELDS; i++) {
        full_key(&fields[i], keys[i]);
        names[i] = keys[i];
    }
    if (code == KERF_OK && sources.json) code = json_check_keys(&sources, names, FIELDS, err);
    json_object_foreach(sources.json, key, value) {
        if (code == KERF_OK) code = json_get_string(&sources, key, JSON_REQUIRED, &text, err);
    }
    return code;
}

/* A collective takes what it moves from one accelerator over that accelerator's links. */
static int has_too_much_bus(const struct kerf_system *system) {
    return system->scale_up.bus_bytes_per_s > system->scale_up.bandwidth_bytes_per_s;
}

#define TOO_MUCH_BUS(system)                                                                                           \
    "scale_up.bus_bytes_per_s, what an all-gather moves, must be at most scale_up.bandwidth_bytes_per_s, %g, "         \
    "which is what the links carry, not %g",                                                                           \
        (system)->scale_up.bandwidth_bytes_per_s, (system)->scale_up.bus_bytes_per_s

int32_t system_from_object(const struct json_object *object, const char *name, struct kerf_system *ret_system,
                           struct kerf_error *err) {
    struct kerf_system system = {.name = ""};
    const char *own_name = "", *summary; /* which is for lists of systems */
    int32_t code = check_group(object, NULL, err);
    if (code == KERF_OK) code = json_get_string(object, "name", JSON_OPTIONAL, &own_name, err);
    if (code == KERF_OK) code = json_get_string(object, "summary", JSON_OPTIONAL, &summary, err);
    if (code == KERF_OK) code = check_sources(object, err);
    struct json_object of[GROUPS];
    for (int i = 0; i < GROUPS && code == KERF_OK; i++) {
        of[i].json = NULL;
        code = json_get_object(object, groups[i].name, groups[i].presence, &of[i], err);
        if (code == KERF_OK && of[i].json) code = check_group(&of[i], groups[i].name, err);
    }
    for (size_t i = 0; i < FIELDS && code == KERF_OK; i++) {
        const struct json_object *group = object;
        for (int j = 0; j < GROUPS && fields[i].group; j++)
            if (strcmp(fields[i].group, groups[j].name) == 0) group = &of[j];
        if (group->json) code = read_field(group, &fields[i], &system, err);
    }
    if (code != KERF_OK) return code;
    if (has_too_much_bus(&system))
        return json_fail(&of[0], "bus_bytes_per_s", KERF_EINVALID, err, TOO_MUCH_BUS(&system));
    if (!json_has(object, "bf16_flops_per_s")) system.bf16_flops_per_s = system.matrix_flops_per_s;
    name_copy(system.name, own_name[0] ? own_name : name);
    *ret_system = system;
    return KERF_OK;
}

static int32_t read_system(const struct json_object *object, const char *name, void *ret, struct kerf_error *err) {
    return system_from_object(object, name, ret, err);
}

int32_t kerf_system_parse(const char *json, size_t length, const char *source, struct kerf_system *ret_system,
                          struct kerf_error *err) {
    return description_parse(json, length, source, read_system, ret_system, err);
}

int32_t kerf_system_load(const char *name_or_file, struct kerf_system *ret_system, struct kerf_error *err) {
    return description_load(name_or_file, "systems", read_system, ret_system, err);
}

void system_json(struct kerf_json *json, const struct kerf_system *system) {
    const char *group = NULL;
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "name", system->name);
    for (size_t i = 0; i < FIELDS; i++) {
        if (is_measured(fields[i].bound) && load(system, &fields[i]) == 0) continue;
        if (fields[i].group && (group == NULL || strcmp(group, fields[i].group) != 0)) {
            if (group) kerf_json_close(json, '}');
            group = fields[i].group;
            kerf_json_open(json, group, '{');
        }
        kerf_json_number(json, fields[i].key, load(system, &fields[i]));
    }
    kerf_json_close(json, '}');
    kerf_json_close(json, '}');
}

/* ---- --set: a field by its key, of the system or of the model -------------------------------------------- */

static int32_t unknown_key(const char *key, struct kerf_error *err) {
    enum { MODEL_KEYS = 6 };
    char keys[FIELDS][64];
    const char *names[FIELDS + MODEL_KEYS] = {"hidden_size",         "intermediate_size",       "num_hidden_layers",
                                              "num_attention_heads", "max_position_embeddings", "vocab_size"};
    for (size_t i = 0; i < FIELDS; i++) {
        full_key(&fields[i], keys[i]);
        names[MODEL_KEYS + i] = keys[i];
    }
    const char *nearest = nearest_name(key, names, FIELDS + MODEL_KEYS);
    if (nearest)
        return kerf_error_set(err, KERF_EUNKNOWN, "no field '%.64s' of a model or system; did you mean %s?", key,
                              nearest);
    return kerf_error_set(
        err, KERF_EUNKNOWN,
        "no field '%.64s' of a model or system; `kerf systems a100` shows a system's, a model's are %s, "
        "%s, %s, %s, %s and %s",
        key, names[0], names[1], names[2], names[3], names[4], names[5]);
}

/* One KEY=VALUE, of `length` bytes, within the bounds of its field. */
static int32_t assign(struct kerf_model *model, struct kerf_system *system, const char *assignment, size_t length,
                      struct kerf_error *err) {
    char key[64], text[128];
    const char *equals = memchr(assignment, '=', length);
    size_t key_length = equals ? (size_t)(equals - assignment) : 0, text_length = length - key_length - 1;
    if (key_length == 0 || key_length >= sizeof key || text_length >= sizeof text)
        return kerf_error_set(err, KERF_EINVALID, "'%.*s' must be KEY=VALUE, such as memory_capacity_bytes=80GB",
                              length > 64 ? 64 : (int)length, assignment);
    snprintf(key, sizeof key, "%.*s", (int)key_length, assignment);
    snprintf(text, sizeof text, "%.*s", (int)text_length, equals + 1);
    struct kerf_error why;
    double value;
    if (model_has_field(key)) {
        if (quantity_parse(text, "", &value, &why) != KERF_OK)
            return kerf_error_set(err, KERF_EINVALID, "%s: %s", key, why.message);
        return model_set_field(model, key, value, err);
    }
    for (size_t i = 0; i < FIELDS; i++) {
        char name[64];
        full_key(&fields[i], name);
        if (strcmp(name, key) != 0) continue;
        if (quantity_parse(text, fields[i].unit, &value, &why) != KERF_OK)
            return kerf_error_set(err, KERF_EINVALID, "%s: %s", key, why.message);
        if (!in_bounds(fields[i].bound, value))
            return kerf_error_set(err, KERF_EINVALID, "%s must be %s, not %g", key, bound_words(fields[i].bound, value),
                                  value);
        if (is_measured(fields[i].bound) && value == 0) /* in a file 0 is that it was not measured */
            return kerf_error_set(err, KERF_EINVALID, "%s must be above 0: 0 stands for the default", key);
        store(system, &fields[i], value);
        system->overridden |= 1u << i;
        return KERF_OK;
    }
    return unknown_key(key, err);
}

/* Measured figures, each with the data sheet's figure that it belongs to: changing the latter scales the former alike,
 * unless both are set. */
#define FOLLOWS(measured, given)                                                                                       \
    { offsetof(struct kerf_system, measured), offsetof(struct kerf_system, given) }
static const struct {
    size_t measured, given;
} followers[] = {
    FOLLOWS(bf16_flops_per_s, matrix_flops_per_s),
    FOLLOWS(scale_up.bus_bytes_per_s, scale_up.bandwidth_bytes_per_s),
    FOLLOWS(scale_up.bus_bytes_per_s, scale_up.efficiency),
    FOLLOWS(scale_up.start_s, scale_up.latency_s),
    FOLLOWS(scale_out.bus_share, scale_out.efficiency),
    FOLLOWS(scale_out.hop_s, scale_out.latency_s),
};

static double at_offset(const struct kerf_system *system, size_t offset) {
    return *(const double *)(const void *)((const char *)system + offset);
}

static void follow(const struct kerf_system *before, struct kerf_system *after) {
    const struct kerf_system set = *after;
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++) {
        double old = at_offset(before, followers[i].given), new = at_offset(&set, followers[i].given);
        double measured = at_offset(before, followers[i].measured);
        if (old == new || !(old > 0) || at_offset(&set, followers[i].measured) != measured) continue;
        double *follower = (double *)(void *)((char *)after + followers[i].measured);
        *follower *= new / old;
        if (follower == &after->scale_out.bus_share) *follower = fmin(*follower, 1);
        if (follower == &after->scale_up.bus_bytes_per_s)
            *follower = fmin(*follower, after->scale_up.bandwidth_bytes_per_s);
    }
}

int32_t kerf_problem_set(struct kerf_model *model, struct kerf_system *system, const char *assignments,
                         struct kerf_error *err) {
    struct kerf_model new_model = *model;
    struct kerf_system new_system = *system;
    for (const char *one = assignments;; one++) {
        size_t length = strcspn(one, ",");
        int32_t code = assign(&new_model, &new_system, one, length, err);
        if (code != KERF_OK) return code;
        one += length;
        if (*one == 0) break;
    }
    int32_t code = model_refit(model, &new_model, err);
    if (code == KERF_OK) code = model_check(&new_model, err);
    if (code != KERF_OK) return code;
    follow(system, &new_system);
    if (has_too_much_bus(&new_system) && new_system.scale_up.bus_bytes_per_s != system->scale_up.bus_bytes_per_s)
        return kerf_error_set(err, KERF_EINVALID, TOO_MUCH_BUS(&new_system));
    *model = new_model;
    *system = new_system;
    return KERF_OK;
}

/* ---- What was set ---------------------------------------------------------------------------------------- */

void kerf_problem_set_json(struct kerf_json *json, const char *key, const struct kerf_model *model,
                           const struct kerf_system *system) {
    kerf_json_open(json, key, '{');
    for (size_t i = 0; i < FIELDS; i++) {
        char name[64];
        if (!(system->overridden & 1u << i)) continue;
        full_key(&fields[i], name);
        kerf_json_number(json, name, load(system, &fields[i]));
    }
    model_overridden_json(json, model);
    kerf_json_close(json, '}');
}

void kerf_problem_set_text(struct kerf_text *out, const struct kerf_model *model, const struct kerf_system *system) {
    const char *gap = "";
    for (size_t i = 0; i < FIELDS; i++) {
        char name[64];
        double value = load(system, &fields[i]);
        if (!(system->overridden & 1u << i)) continue;
        full_key(&fields[i], name);
        kerf_text_printf(out, "%s%s ", gap, name);
        gap = ", ";
        if (strcmp(fields[i].unit, "B") == 0)
            quantity_bytes(out, value);
        else if (strcmp(fields[i].unit, "B/s") == 0)
            quantity_bytes(out, value), kerf_text_add(out, "/s");
        else if (strcmp(fields[i].unit, "FLOP/s") == 0)
            kerf_text_printf(out, "%.4g TFLOP/s", value / 1e12);
        else if (strcmp(fields[i].unit, "s") == 0)
            quantity_seconds(out, value);
        else
            kerf_text_printf(out, "%.4g", value);
    }
    model_overridden_text(out, model, gap);
}
