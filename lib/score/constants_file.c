/* SPDX-License-Identifier: Apache-2.0 */
#include "score/constants_file.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include "base/json_read.h"
#include "kerf/version.h"
#include "spec/description.h"

/* Figures of a system that are fitted. */
static const struct figure {
    const char *name;
    size_t offset;
    double most;
} figures[] = {
#define FIGURE(member, most)                                                                                           \
    { #member, offsetof(struct kerf_system, member), most }
    FIGURE(gemm.efficiency, 1),
    FIGURE(gemm.fp8_efficiency, 1),
    FIGURE(gemm.mxfp8_efficiency, 1),
    FIGURE(gemm.nvfp4_efficiency, 1),
    FIGURE(gemm.edge, 1e6),
    FIGURE(gemm.fp8_edge, 1e6),
    FIGURE(attention.fused_efficiency, 1),
    FIGURE(attention.flash_efficiency, 1),
    FIGURE(attention.flash2_efficiency, 1),
    FIGURE(attention.unfused_efficiency, 1),
    FIGURE(attention.eager_efficiency, 1),
    FIGURE(scale_up.bus_bytes_per_s, 1e15),
    FIGURE(scale_out.bus_share, 1),
    FIGURE(scale_out.hop_s, 1),
#undef FIGURE
};
enum { FIGURES = sizeof figures / sizeof *figures };

static double *at(struct kerf_system *system, const struct figure *figure) {
    return (double *)(void *)((char *)system + figure->offset);
}

void constants_copy(const struct kerf_system *from, struct kerf_system *to) {
    struct kerf_system copy = *from;
    for (int f = 0; f < FIGURES; f++) *at(to, &figures[f]) = *at(&copy, &figures[f]);
}

/* ---- Writing ---------------------------------------------------------------------------------------------- */

/* Six digits: more would say that constants are known better than they are. */
static double rounded(double value) {
    if (value == 0) return 0;
    double scale = pow(10, 5 - floor(log10(fabs(value))));
    return round(value * scale) / scale;
}

static void write_report(struct kerf_json *json, const struct fit_report *report) {
    for (int32_t k = 0; k < report->count; k++) {
        const struct fit_knob *knob = &report->knobs[k];
        kerf_json_open(json, NULL, '{');
        kerf_json_string(json, "name", knob->name);
        kerf_json_number(json, "factor", rounded(knob->factor));
        kerf_json_number(json, "prior_sd", rounded(knob->sd));
        kerf_json_number(json, "evidence", rounded(fmax(knob->evidence, 0)));
        kerf_json_integer(json, "rows", knob->rows);
        kerf_json_close(json, '}');
    }
}

static void write_stack(struct kerf_json *json, const struct kerf_stack *stack) {
    kerf_json_open(json, stack->name, '{');
    kerf_json_string(json, "summary", stack->summary);
#define CONSTANT(name) kerf_json_number(json, #name, rounded(stack->name));
    ANALYTIC_STACK_CONSTANTS(CONSTANT)
#undef CONSTANT
    kerf_json_open(json, "spread", '[');
    for (int32_t i = 0; i < stack->num_spreads; i++) {
        const struct stack_spread *spread = &stack->spreads[i];
        kerf_json_open(json, NULL, '{');
        kerf_json_string(json, "system", spread->system);
        kerf_json_boolean(json, "experts", spread->has_experts);
        kerf_json_integer(json, "rows", spread->rows);
        kerf_json_number(json, "half_width", rounded(spread->half_width));
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    kerf_json_close(json, '}');
}

void constants_file_write(struct kerf_json *json, const struct calibration *calibration) {
    const struct score_constants *constants = &calibration->constants;
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "kerf", kerf_version());
    kerf_json_open(json, "fitted", '{');
    kerf_json_integer(json, "rows", calibration->rows);
    kerf_json_open(json, "sets", '[');
    for (int32_t i = 0; i < calibration->num_sets; i++) kerf_json_string(json, NULL, calibration->sets[i]);
    kerf_json_close(json, ']');
    kerf_json_open(json, "systems", '[');
    for (int32_t i = 0; i < constants->num_systems; i++)
        if (constants->fitted_systems[i]) kerf_json_string(json, NULL, constants->systems[i].name);
    kerf_json_close(json, ']');
    kerf_json_open(json, "stacks", '[');
    for (int32_t i = 0; i < constants->num_stacks; i++)
        if (constants->fitted_stacks[i]) kerf_json_string(json, NULL, constants->stacks[i].name);
    kerf_json_close(json, ']');
    if (!isnan(calibration->error_after)) kerf_json_number(json, "error", rounded(calibration->error_after));
    kerf_json_open(json, "knobs", '[');
    write_report(json, &calibration->times);
    write_report(json, &calibration->memory);
    kerf_json_close(json, ']');
    kerf_json_close(json, '}');
    kerf_json_open(json, "systems", '{');
    for (int32_t i = 0; i < constants->num_systems; i++) {
        struct kerf_system system = constants->systems[i];
        kerf_json_open(json, system.name, '{');
        for (int f = 0; f < FIGURES; f++) kerf_json_number(json, figures[f].name, rounded(*at(&system, &figures[f])));
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, '}');
    kerf_json_open(json, "stacks", '{');
    for (int32_t i = 0; i < constants->num_stacks; i++) write_stack(json, &constants->stacks[i]);
    kerf_json_close(json, '}');
    kerf_json_close(json, '}');
}

/* ---- Reading ---------------------------------------------------------------------------------------------- */

/* Whether "fitted" names it. Files of older versions do not say it: all that they have counts. */
static int is_fitted(const struct json_object *root, const char *kind, const char *name) {
    const json_t *names = json_object_get(json_object_get(root->json, "fitted"), kind), *one;
    size_t i;
    if (!json_is_array(names)) return 1;
    json_array_foreach(names, i, one) if (json_is_string(one) && strcmp(json_string_value(one), name) == 0) return 1;
    return 0;
}

static int32_t read_system(const struct json_object *object, struct kerf_system *system, struct kerf_error *err) {
    const char *names[FIGURES];
    for (int f = 0; f < FIGURES; f++) names[f] = figures[f].name;
    int32_t code = json_check_keys(object, names, FIGURES, err);
    for (int f = 0; code == KERF_OK && f < FIGURES; f++) {
        const json_t *json = json_object_get(object->json, names[f]);
        double value = json_number_value(json);
        if (json == NULL) continue;
        if (!json_is_number(json) || !(value > 0 && value <= figures[f].most))
            return json_fail(object, names[f], KERF_EINVALID, err, "\"%s\" must be a number above 0, at most %g",
                             names[f], figures[f].most);
        *at(system, &figures[f]) = value;
    }
    return code;
}

static int32_t read_systems(const struct json_object *root, struct score_constants *constants, struct kerf_error *err) {
    struct json_object all = {.json = NULL};
    const char *name;
    json_t *value;
    int32_t code = json_get_object(root, "systems", JSON_OPTIONAL, &all, err);
    if (code != KERF_OK || all.json == NULL) return code;
    json_object_foreach(all.json, name, value) {
        struct json_object one;
        int32_t i = 0;
        while (i < constants->num_systems && strcmp(constants->systems[i].name, name) != 0) i++;
        if (i == constants->num_systems) return json_fail(&all, name, KERF_EUNKNOWN, err, "no system '%.64s'", name);
        code = json_get_object(&all, name, JSON_REQUIRED, &one, err);
        if (code == KERF_OK) code = read_system(&one, &constants->systems[i], err);
        if (code != KERF_OK) return code;
        constants->fitted_systems[i] = (uint8_t)is_fitted(root, "systems", name);
    }
    return KERF_OK;
}

static int32_t read_stacks(const struct json_object *root, struct score_constants *constants, struct kerf_error *err) {
    struct json_object all = {.json = NULL};
    const char *name;
    json_t *value;
    int32_t code = json_get_object(root, "stacks", JSON_OPTIONAL, &all, err);
    if (code != KERF_OK || all.json == NULL) return code;
    json_object_foreach(all.json, name, value) {
        struct json_object one;
        int32_t i = 0;
        while (i < constants->num_stacks && strcmp(constants->stacks[i].name, name) != 0) i++;
        if (i == CONSTANTS_STACKS_MAX) return json_fail(&all, name, KERF_EINVALID, err, "more stacks than kerf takes");
        code = json_get_object(&all, name, JSON_REQUIRED, &one, err);
        if (code == KERF_OK && i == constants->num_stacks) constants->stacks[i].name[0] = 0;
        if (code == KERF_OK) code = stack_from_object(&one, name, &constants->stacks[i], err);
        if (code != KERF_OK) return code;
        if (i == constants->num_stacks) constants->num_stacks++;
        constants->fitted_stacks[i] = (uint8_t)is_fitted(root, "stacks", name);
    }
    return KERF_OK;
}

int32_t constants_file_read(const char *text, size_t length, const char *source, struct score_constants *constants,
                            struct kerf_error *err) {
    static const char *const keys[] = {"kerf", "fitted", "systems", "stacks"};
    struct json_document document;
    struct json_object root;
    int32_t code = json_document_parse(&document, text, length, source, &root, err);
    if (code == KERF_OK) code = json_check_keys(&root, keys, sizeof keys / sizeof *keys, err);
    if (code == KERF_OK) code = read_systems(&root, constants, err);
    if (code == KERF_OK) code = read_stacks(&root, constants, err);
    json_document_free(&document);
    return code;
}

/* ---- Fits without a set ----------------------------------------------------------------------------------- */

int32_t constants_without(const char *set, struct score_constants *constants, struct kerf_error *err) {
    struct kerf_text known = {0};
    for (const struct kerf_catalogue_entry *entry = catalogue_fits; entry->name; entry++) {
        const char *name = entry->name + strlen("without-");
        if (strcmp(name, set) == 0) {
            kerf_text_free(&known);
            return constants_file_read(entry->json, entry->length, entry->name, constants, err);
        }
        kerf_text_printf(&known, "%s%s", known.length ? ", " : "", name);
    }
    kerf_error_set(err, KERF_EUNKNOWN, "no constants were fitted without a set '%.64s'; there are those without %s",
                   set, known.failed || known.data == NULL ? "others" : known.data);
    kerf_text_free(&known);
    return KERF_EUNKNOWN;
}
