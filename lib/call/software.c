/* SPDX-License-Identifier: Apache-2.0 */
#include "call/software.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"
#include "base/input.h"
#include "cost/analytic/stack.h"
#include "score/constants_file.h"

int32_t software_constants(const char *calibration, struct score_constants *ret_constants, struct kerf_error *err) {
    enum { BYTES_MAX = 16 << 20 };
    struct kerf_text text = {0};
    int32_t code = constants_load(ret_constants, err);
    if (code == KERF_OK && calibration) code = input_read(calibration, BYTES_MAX, &text, err);
    if (code == KERF_OK && calibration)
        code = constants_file_read(text.data ? text.data : "", text.length, calibration, ret_constants, err);
    kerf_text_free(&text);
    return code;
}

/* The stack of this name as the calibration has it; 0: it has none. */
static int take_calibrated(struct software *software, const char *name) {
    const struct score_constants *constants = software->constants;
    for (int32_t i = 0; constants && i < constants->num_stacks; i++)
        if (strcmp(constants->stacks[i].name, name) == 0 && (software->stack = malloc(sizeof *software->stack))) {
            *software->stack = constants->stacks[i];
            return 1;
        }
    return 0;
}

int32_t software_read(const struct call_sources *sources, const char *stack, const char *calibration,
                      struct software *ret_software, struct kerf_error *err) {
    struct software software = {.calibration = calibration};
    int32_t code = KERF_OK;
    *ret_software = software;
    if (calibration && sources->catalogue_only)
        return kerf_error_set(err, KERF_EINVALID, "the calibration is a file, and files may not be read here");
    if (calibration) {
        software.constants = malloc(sizeof *software.constants);
        code = software.constants ? software_constants(calibration, software.constants, err)
                                  : error_no_memory(err, "the calibration");
    }
    if (code == KERF_OK && !(calibration && take_calibrated(&software, stack ? stack : KERF_STACK_DEFAULT)) && stack)
        code = call_stack(sources, stack, &software.stack, err);
    if (code == KERF_OK)
        *ret_software = software;
    else
        software_free(&software);
    return code;
}

int32_t software_check_gradients(const struct software *software, const char *gradients, struct kerf_error *err) {
    if (gradients == NULL || strcmp(gradients, "bf16") != 0 || software->stack == NULL ||
        !stack_has_own_gradients(software->stack))
        return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "--gradients bf16 changes nothing: %.64s has gradients of %.3g bytes, as its runs had; leave "
                          "it out",
                          kerf_stack_name(software->stack), software->stack->gradient_bytes);
}

void software_apply(const struct software *software, struct kerf_problem *problem) {
    const struct score_constants *constants = software->constants;
    problem->stack = software->stack;
    for (int32_t i = 0; constants && i < constants->num_systems; i++)
        if (strcmp(constants->systems[i].name, problem->system.name) == 0)
            constants_copy(&constants->systems[i], &problem->system);
}

/* ---- What a calibration has nothing for ---------------------------------------------------------------------- */

static int is_system_fitted(const struct score_constants *constants, const char *name) {
    for (int32_t i = 0; i < constants->num_systems; i++)
        if (strcmp(constants->systems[i].name, name) == 0) return constants->fitted_systems[i];
    return 0;
}

static int is_stack_fitted(const struct score_constants *constants, const char *name) {
    for (int32_t i = 0; i < constants->num_stacks; i++)
        if (strcmp(constants->stacks[i].name, name) == 0) return constants->fitted_stacks[i];
    return 0;
}

typedef void (*tell_name)(void *out, const char *kind, const char *name);

static struct software_use of_problem(const void *of, size_t i) {
    const struct kerf_problem *problem = (const struct kerf_problem *)of + i;
    return (struct software_use){problem->system.name, kerf_stack_name(problem->stack)};
}

struct software_uses software_of_problems(const struct kerf_problem *problems, size_t count) {
    return (struct software_uses){problems, count, of_problem};
}

static const char *system_of(const struct software_uses *uses, size_t i) { return uses->at(uses->of, i).system; }
static const char *stack_of(const struct software_uses *uses, size_t i) { return uses->at(uses->of, i).stack; }

/* Each name once; there are few, of many rows. */
static void each_unfitted(const struct software *software, const struct software_uses *uses,
                          const char *(*name_of)(const struct software_uses *, size_t),
                          int (*is_fitted)(const struct score_constants *, const char *), tell_name tell,
                          const char *kind, void *out) {
    struct kerf_text told = {0};
    for (size_t i = 0; i < uses->count; i++) {
        const char *name = name_of(uses, i);
        if (name == NULL || is_fitted(software->constants, name) || list_has(told.data, name)) continue;
        kerf_text_printf(&told, "%s%s", told.length ? "," : "", name);
        tell(out, kind, name);
    }
    kerf_text_free(&told);
}

static void each_ignored(const struct software *software, const struct software_uses *uses, tell_name tell, void *out) {
    each_unfitted(software, uses, system_of, is_system_fitted, tell, "system", out);
    each_unfitted(software, uses, stack_of, is_stack_fitted, tell, "stack", out);
}

static void each_fitted(const struct score_constants *constants, tell_name tell, void *out) {
    for (int32_t i = 0; i < constants->num_systems; i++)
        if (constants->fitted_systems[i]) tell(out, "system", constants->systems[i].name);
    for (int32_t i = 0; i < constants->num_stacks; i++)
        if (constants->fitted_stacks[i]) tell(out, "stack", constants->stacks[i].name);
}

static void add_name(void *out, const char *kind, const char *name) {
    struct kerf_text *text = out;
    kerf_text_printf(text, "%s%s %s", text->length ? ", " : "", kind, name);
}

static void add_json(void *out, const char *kind, const char *name) {
    char both[2 * KERF_NAME_SIZE];
    snprintf(both, sizeof both, "%s %s", kind, name);
    kerf_json_string(out, NULL, both);
}

void software_notes(const struct software *software, struct software_uses uses, struct kerf_text *ret_text) {
    struct kerf_text ignored = {0}, fitted = {0};
    if (software->calibration) {
        each_ignored(software, &uses, add_name, &ignored);
        each_fitted(software->constants, add_name, &fitted);
    }
    if (ignored.length && !ignored.failed && !fitted.failed)
        kerf_text_printf(ret_text, "%s: ignored for %s: it was fitted to %s\n", software->calibration, ignored.data,
                         fitted.length ? fitted.data : "nothing");
    kerf_text_free(&ignored);
    kerf_text_free(&fitted);
}

void software_json(struct kerf_json *json, const struct software *software, struct software_uses uses) {
    if (software->calibration == NULL) return;
    kerf_json_open(json, "calibration", '{');
    kerf_json_string(json, "file", software->calibration);
    kerf_json_open(json, "ignored", '[');
    each_ignored(software, &uses, add_json, json);
    kerf_json_close(json, ']');
    kerf_json_close(json, '}');
}

void software_free(struct software *software) {
    kerf_stack_free(software->stack);
    free(software->constants);
    *software = (struct software){.stack = NULL};
}
