/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and the constraints between them, as they are written. */
#ifndef KERF_TUNE_PARAM_H
#define KERF_TUNE_PARAM_H

#include "base/arena.h"
#include "base/random.h"
#include "kerf/tune.h"

/* ---- Parameters (param.c): "batch=16..2048:x2", "kv=f16,q8_0", "map?=--no-mmap" ---------------------------------- */

enum { TUNE_SETTINGS_MAX = 1000000, TUNE_PARAMS_MAX = 32 };

/* *ret_condition: of "draft=4,8 when spec" what follows "when"; NULL: the parameter has none. */
int32_t param_read(const char *text, struct arena *arena, struct kerf_tune_param *ret_param, const char **ret_condition,
                   struct kerf_error *err);

/* Whether these bytes are the name of a parameter: a letter or _, then letters, digits, _ . - */
int param_is_name(const char *text, size_t length);

/* The whole text as a decimal integer. */
int param_read_integer(const char *text, size_t length, int64_t *ret_value);

/* The whole text as a decimal number, as 0.5, -1.25, .5 or 1e-3. */
int param_read_decimal(const char *text, size_t length, double *ret_value);

/* ---- Constraints (constraint.c): "ubatch <= batch", "kv == \"f16\" || fa" ---------------------------------------- */

struct constraint;

/* Whether the parameter of this index is named in it. */
int constraint_names(const struct constraint *constraint, int32_t param);

/* KERF_ESYNTAX, KERF_EUNKNOWN (a name that is not a parameter), KERF_EINVALID (a word where an integer is needed); with
 * the column. */
int32_t constraint_read(const char *text, const struct kerf_tune_param *params, int32_t num_params, struct arena *arena,
                        struct constraint **ret_constraint, struct kerf_error *err);

/* Whether it holds for these values (indexes) of the parameters. A constraint that cannot be computed does not hold,
 * and *ret_fault says why: "divides by 0". */
int constraint_holds(const struct constraint *constraint, const struct kerf_tune_param *params, const int32_t *values,
                     const char **ret_fault);

/* ---- Settings (tune_space.c) ------------------------------------------------------------------------------------ */

/* [num_params] of a setting: indexes of its values. */
static inline const int32_t *setting_values(const struct kerf_tune_space *space, int32_t setting) {
    return space->values + (int64_t)setting * space->num_params;
}

/* The setting with these values (indexes), as kerf_tune_space_find, but one of a large grid gets a number. -1: there is none, or
 * no more get one. */
int32_t tune_space_meet(const struct kerf_tune_space *space, const int32_t *values);

/* Likewise, where -1 stands for a parameter that it does not use. */
int32_t tune_space_complete(const struct kerf_tune_space *space, const int32_t *values);

/* Any setting, each with the same probability, or of a large grid in proportion to the points that stand for it (of a parameter
 * without effect all values); -1: none was found. */
int32_t tune_space_at_random(const struct kerf_tune_space *space, struct pcg64 *rng);

/* So many of the first settings are all of the space, or some of a large grid at random. */
int32_t tune_space_sampled(const struct kerf_tune_space *space);

/* In the order of the grid: below 0 where a comes before b. */
int tune_space_compare(const struct kerf_tune_space *space, int32_t a, int32_t b);

/* Its number in a space that is listed; of a large grid what its values alone make: settings get numbers in another order when a
 * study is read from its journal, and random numbers of a setting must be the same. */
uint64_t tune_space_place(const struct kerf_tune_space *space, int32_t setting);

#endif
