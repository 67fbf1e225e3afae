/* SPDX-License-Identifier: Apache-2.0 */
/* Lists as users write them: "8,16", "4..16384:x2", "64..512:+64", "a100,h200". */
#ifndef KERF_CALL_RANGES_H
#define KERF_CALL_RANGES_H

#include "kerf/error.h"

enum { RANGE_MAX = 4096 };

struct range {
    int64_t *values; /* given back with range_free */
    int32_t count;
};

/* Whole numbers within [least, most], in the order given. `what` names the option in errors ("--gpus"). */
int32_t range_parse(const char *text, const char *what, int64_t least, int64_t most, struct range *ret_range,
                    struct kerf_error *err);
void range_free(struct range *range);

/* The words between commas: calls each(context, word) until one fails, and returns what that returned. */
int32_t words_each(const char *list, const char *what,
                   int32_t (*each)(void *context, const char *word, struct kerf_error *err), void *context,
                   struct kerf_error *err);

#endif
