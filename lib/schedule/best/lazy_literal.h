/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the integers of a question, which its maker (lazy_clauses.h) and the solver's parts (lazy_state.h)
 * write alike.
 *
 * A variable x has two codes, 2x for x itself and 2x + 1 for -x. Each code has a lower bound, so that the upper bound
 * of x is minus the bound of 2x + 1, and all that is ever known is "code >= value". The opposite of code >= value is
 * code ^ 1 >= 1 - value. A variable of 0 and 1 is a truth value.
 */
#ifndef KERF_SCHEDULE_BEST_LAZY_LITERAL_H
#define KERF_SCHEDULE_BEST_LAZY_LITERAL_H

#include <stdint.h>

struct lazy_literal { /* code >= value */
    int64_t value;
    int32_t code;
};

#endif
