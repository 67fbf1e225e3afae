/* SPDX-License-Identifier: Apache-2.0 */
/* Where a fit of every constant starts, so that it does not depend on what ships: the values of benchmarks and of code that
 * was read. */
#ifndef KERF_SCORE_PRIORS_H
#define KERF_SCORE_PRIORS_H

#include "score/price.h"

/* Systems with their priors in place of what was fitted before, and the stacks that have priors. */
int32_t priors_load(struct score_constants *ret_constants, struct kerf_error *err);

#endif
