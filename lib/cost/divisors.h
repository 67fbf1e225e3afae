/* SPDX-License-Identifier: Apache-2.0 */
/* The divisors of a number: what can cut it into equal parts. */
#ifndef KERF_COST_DIVISORS_H
#define KERF_COST_DIVISORS_H

#include "kerf/error.h"

enum { DIVISORS_MAX = 1344 }; /* 735134400 has as many, and no number up to 2^30 has more */

struct divisors {
    int32_t count;
    int64_t of[DIVISORS_MAX]; /* rising */
};

/* All divisors of n, 1 .. 2^30; O(sqrt(n)). */
void divisors_find(int64_t n, struct divisors *ret_divisors);

/* Whether n divides the whole; the error says "KEY N does not divide WHOLE NOUN; 4 and 8 do". */
int32_t must_divide(const char *key, int64_t n, int64_t whole, const char *noun, struct kerf_error *err);
/* "4 and 8 do": the divisors of `whole` around n that are at most `most`. */
const char *nearest_divisors(int64_t whole, int64_t n, int64_t most, char words[48]);

#endif
