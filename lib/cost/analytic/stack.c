/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks come from files of share/stacks, each with all constants:
 *
 *   {"name":"nemo","summary":"...","hidden_passes":12.3,...,
 *    "fitted":{"rows":206,"sets":["..."]},
 *    "spread":[{"system":"h100","experts":false,"rows":150,"half_width":0.1}]}
 *
 * `kerf calibrate --all` writes them.
 */
#include "cost/analytic/stack.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "spec/description.h"

static const struct constant {
    const char *name;
    size_t offset;
} constants[] = {
#define CONSTANT(name) {#name, offsetof(struct kerf_stack, name)},
    ANALYTIC_STACK_CONSTANTS(CONSTANT)
#undef CONSTANT
};
enum { CONSTANTS = sizeof constants / sizeof *constants };

double *stack_constant(struct kerf_stack *stack, const char *name) {
    for (size_t i = 0; i < CONSTANTS; i++)
        if (strcmp(constants[i].name, name) == 0) return (double *)(void *)((char *)stack + constants[i].offset);
    return NULL;
}

/* ---- Files ------------------------------------------------------------------------------------------------ */

static int32_t read_spread(const struct json_object *object, struct stack_spread *ret_spread, struct kerf_error *err) {
    static const char *const keys[] = {"system", "experts", "rows", "half_width"};
    const char *system = "";
    int64_t rows = 0;
    int32_t has_experts = 0;
    int32_t code = json_check_keys(object, keys, sizeof keys / sizeof *keys, err);
    if (code == KERF_OK) code = json_get_string(object, "system", JSON_REQUIRED, &system, err);
    if (code == KERF_OK) code = json_get_boolean(object, "experts", JSON_REQUIRED, &has_experts, err);
    if (code == KERF_OK) code = json_get_integer(object, "rows", JSON_REQUIRED, 1, KERF_COUNT_MAX, &rows, err);
    if (code != KERF_OK) return code;
    const json_t *width = json_object_get(object->json, "half_width");
    double value = json_number_value(width);
    if (!json_is_number(width) || !(value > 0 && value <= 10))
        return json_fail(object, "half_width", KERF_EINVALID, err,
                         "\"half_width\" must be a number above 0, at most 10");
    name_copy(ret_spread->system, system);
    ret_spread->has_experts = (int8_t)has_experts;
    ret_spread->rows = (int32_t)rows;
    ret_spread->half_width = value;
    return KERF_OK;
}

static int32_t read_spreads(const struct json_object *object, struct kerf_stack *stack, struct kerf_error *err) {
    const json_t *list = json_object_get(object->json, "spread");
    if (list == NULL) return KERF_OK;
    stack->num_spreads = 0;
    if (!json_is_array(list) || json_array_size(list) > STACK_SPREADS_MAX)
        return json_fail(object, "spread", KERF_EINVALID, err, "\"spread\" must be a list of at most %d objects",
                         STACK_SPREADS_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct json_object one;
        int32_t code = json_get_element(object, "spread", i, &one, err);
        if (code == KERF_OK) code = read_spread(&one, &stack->spreads[i], err);
        if (code != KERF_OK) return code;
        stack->num_spreads++;
    }
    return KERF_OK;
}

static int32_t read_constant(const struct json_object *object, const struct constant *constant,
                             struct kerf_stack *stack, struct kerf_error *err) {
    const json_t *json = json_object_get(object->json, constant->name);
    double value = json_number_value(json);
    if (json == NULL && stack->name[0]) return KERF_OK; /* it stays as it is */
    if (json == NULL) return json_fail(object, NULL, KERF_EINVALID, err, "\"%s\" is missing", constant->name);
    if (!json_is_number(json) || !(value >= 0 && value <= 1e15))
        return json_fail(object, constant->name, KERF_EINVALID, err, "\"%s\" must be a number from 0 to 1e15",
                         constant->name);
    *(double *)(void *)((char *)stack + constant->offset) = value;
    return KERF_OK;
}

/* In place of what base has; it has no name where every constant must be there. */
static int32_t read_onto(const struct json_object *object, const char *name, const struct kerf_stack *base,
                         struct kerf_stack *ret_stack, struct kerf_error *err) {
    const char *keys[CONSTANTS + 5] = {"name", "summary", "fitted", "spread", "sources"};
    const char *own_name = name, *summary = base->summary;
    struct kerf_stack stack = *base;
    for (size_t i = 0; i < CONSTANTS; i++) keys[5 + i] = constants[i].name;
    int32_t code = json_check_keys(object, keys, sizeof keys / sizeof *keys, err);
    if (code == KERF_OK) code = json_get_string(object, "name", JSON_OPTIONAL, &own_name, err);
    if (code == KERF_OK) code = json_get_string(object, "summary", JSON_OPTIONAL, &summary, err);
    for (size_t i = 0; code == KERF_OK && i < CONSTANTS; i++) code = read_constant(object, &constants[i], &stack, err);
    if (code == KERF_OK) code = read_spreads(object, &stack, err);
    if (code != KERF_OK) return code;
    if (!(stack.zero_power >= 1))
        return json_fail(object, "zero_power", KERF_EINVALID, err, "\"zero_power\" must be 1 or more");
    if (!(stack.grouped_efficiency > 0))
        return json_fail(object, "grouped_efficiency", KERF_EINVALID, err, "\"grouped_efficiency\" must be above 0");
    name_copy(stack.name, own_name);
    if (summary != base->summary) snprintf(stack.summary, sizeof stack.summary, "%s", summary);
    *ret_stack = stack;
    return KERF_OK;
}

static int32_t read_stack(const struct json_object *object, const char *name, void *ret, struct kerf_error *err) {
    static const struct kerf_stack none = {.name = ""};
    return read_onto(object, name, &none, ret, err);
}

int32_t stack_from_object(const struct json_object *object, const char *name, struct kerf_stack *stack,
                          struct kerf_error *err) {
    const struct kerf_stack base = *stack;
    return read_onto(object, name, &base, stack, err);
}

int32_t stack_parse(const char *json, size_t length, const char *source, struct kerf_stack *ret_stack,
                    struct kerf_error *err) {
    return description_parse(json, length, source, read_stack, ret_stack, err);
}

int stack_default(struct kerf_stack *ret_stack) {
    for (const struct kerf_catalogue_entry *entry = catalogue_stacks; entry->name; entry++)
        if (strcmp(entry->name, KERF_STACK_DEFAULT) == 0)
            return stack_parse(entry->json, entry->length, entry->name, ret_stack, NULL) == KERF_OK;
    assert(!"the default stack comes with the library");
    return 0;
}

int32_t kerf_stack_load(const char *name_or_file, struct kerf_stack **ret_stack, struct kerf_error *err) {
    struct kerf_stack *stack = malloc(sizeof *stack);
    if (stack == NULL) return error_no_memory(err, "the stack");
    int32_t code = description_load(name_or_file, "stacks", read_stack, stack, err);
    if (code == KERF_OK)
        *ret_stack = stack;
    else
        free(stack);
    return code;
}

struct kerf_stack *kerf_stack_free(struct kerf_stack *stack) {
    free(stack);
    return NULL;
}

const char *kerf_stack_name(const struct kerf_stack *stack) { return stack ? stack->name : KERF_STACK_DEFAULT; }

const char *kerf_stack_summary(const struct kerf_stack *stack) { return stack->summary; }

int stack_has_own_gradients(const struct kerf_stack *stack) {
    return stack->gradient_bytes > 0 && stack->reduced_bytes > 0 && stack->reduced_bytes <= 2;
}

int32_t kerf_stack_runs(const struct kerf_stack *stack) {
    int32_t runs = 0;
    for (int32_t i = 0; i < stack->num_spreads; i++) runs += stack->spreads[i].rows;
    return runs;
}

/* The mean of the spreads, each by its runs. */
double kerf_stack_half_width(const struct kerf_stack *stack) {
    double sum = 0;
    for (int32_t i = 0; i < stack->num_spreads; i++) sum += stack->spreads[i].rows * stack->spreads[i].half_width;
    return stack->num_spreads ? sum / kerf_stack_runs(stack) : 0;
}

/* ---- How sure --------------------------------------------------------------------------------------------- */

double stack_p_oom(double memory_bytes, double capacity_bytes) {
    return 1 / (1 + exp(-OOM_SLOPE * log(memory_bytes / (OOM_USABLE * capacity_bytes))));
}

double kerf_memory_share(double p) { return OOM_USABLE * exp(-log((1 - p) / p) / OOM_SLOPE); }

/* Where nothing like it was measured: what runs of a stack that no fit saw were off by. */
static const double UNKNOWN_DENSE = 0.40, UNKNOWN_EXPERTS = 0.70, OTHER_SYSTEM = 1.4;
enum { ROWS_ENOUGH = 8 };

static size_t family(const char *system) { return strcspn(system, "-"); }

static int is_family(const char *a, const char *b) {
    size_t length = family(a);
    return length == family(b) && strncmp(a, b, length) == 0;
}

double stack_half_width(const struct kerf_stack *stack, const char *system, int has_experts, int32_t *ret_rows) {
    double same = 0, other = 0;
    int32_t same_rows = 0, other_rows = 0;
    for (int32_t i = 0; i < stack->num_spreads; i++) {
        const struct stack_spread *spread = &stack->spreads[i];
        if (spread->has_experts != !!has_experts) continue;
        if (is_family(spread->system, system)) {
            if (spread->half_width > same) same = spread->half_width;
            same_rows += spread->rows;
        } else {
            if (spread->half_width > other) other = spread->half_width;
            other_rows += spread->rows;
        }
    }
    *ret_rows = same_rows;
    if (same_rows >= ROWS_ENOUGH) return same;
    double unknown = has_experts ? UNKNOWN_EXPERTS : UNKNOWN_DENSE;
    if (same_rows + other_rows < ROWS_ENOUGH) {
        double width = same > other ? same : other;
        return width > unknown ? width : unknown;
    }
    double width = (same > other ? same : other) * OTHER_SYSTEM;
    return width < unknown ? width : unknown;
}
