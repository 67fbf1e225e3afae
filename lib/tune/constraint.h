/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints between parameters: "ubatch <= batch", "kv == \"f16\" || fa". */
#ifndef KERF_TUNE_CONSTRAINT_H
#define KERF_TUNE_CONSTRAINT_H

#include "base/arena.h"
#include "kerf/tune.h"

struct constraint;

/* KERF_ESYNTAX, KERF_EUNKNOWN (a name that is no parameter), KERF_EINVALID (a word where an integer is needed); with
 * the column. */
int32_t constraint_read(const char *text, const struct kerf_tune_param *params, int32_t num_params, struct arena *arena,
                        struct constraint **ret_constraint, struct kerf_error *err);

/* Whether it holds for these values of the parameters, indexes. Where that cannot be computed it does not, and
 * *ret_fault says why: "divides by 0". */
int constraint_holds(const struct constraint *constraint, const struct kerf_tune_param *params, const int32_t *values,
                     const char **ret_fault);

#endif
