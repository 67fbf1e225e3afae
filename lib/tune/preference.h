/* SPDX-License-Identifier: Apache-2.0 */
/* "smaller:ubatch,batch;larger:threads": which of several equivalent settings is wanted. */
#ifndef KERF_TUNE_PREFERENCE_H
#define KERF_TUNE_PREFERENCE_H

#include "base/arena.h"
#include "kerf/tune.h"

struct preference {
    int32_t *params; /* [num] parameters, the most important first */
    int32_t *larger; /* [num] 1: larger values come first */
    int32_t num;     /* 0: nothing is preferred */
};

/* text: NULL for none. Its arrays are the arena's. KERF_ESYNTAX, KERF_EUNKNOWN, KERF_EINVALID (a parameter twice). */
int32_t preference_read(const char *text, const struct kerf_tune_space *space, struct arena *arena,
                        struct preference *ret_preference, struct kerf_error *err);

/* Below 0 where setting a is preferred to b, above 0 where b is; 0 only of a setting and itself. */
int preference_compare(const struct preference *preference, const struct kerf_tune_space *space, int32_t a, int32_t b);

#endif
