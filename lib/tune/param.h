/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and the constraints between them, as they are written. */
#ifndef KERF_TUNE_PARAM_H
#define KERF_TUNE_PARAM_H

#include "base/arena.h"
#include "kerf/tune.h"

/* ---- Parameters (param.c): "batch=16..2048:x2", "kv=f16,q8_0", "map?=--no-mmap" ---------------------------------- */

enum { TUNE_SETTINGS_MAX = 1000000 };

int32_t param_read(const char *text, struct arena *arena, struct kerf_tune_param *ret_param, struct kerf_error *err);

/* Whether these bytes are the name of a parameter: a letter or _, then letters, digits, _ . - */
int param_is_name(const char *text, size_t length);

/* The whole text as a decimal integer. */
int param_read_integer(const char *text, size_t length, int64_t *ret_value);

/* ---- Constraints (constraint.c): "ubatch <= batch", "kv == \"f16\" || fa" ---------------------------------------- */

struct constraint;

/* KERF_ESYNTAX, KERF_EUNKNOWN (a name that is not a parameter), KERF_EINVALID (a word where an integer is needed); with
 * the column. */
int32_t constraint_read(const char *text, const struct kerf_tune_param *params, int32_t num_params, struct arena *arena,
                        struct constraint **ret_constraint, struct kerf_error *err);

/* Whether it holds for these values (indexes) of the parameters. A constraint that cannot be computed does not hold,
 * and *ret_fault says why: "divides by 0". */
int constraint_holds(const struct constraint *constraint, const struct kerf_tune_param *params, const int32_t *values,
                     const char **ret_fault);

#endif
