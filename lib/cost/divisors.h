/* SPDX-License-Identifier: Apache-2.0 */
/* The divisors of a number: what can cut it into equal parts. */
#ifndef KERF_COST_DIVISORS_H
#define KERF_COST_DIVISORS_H

#include <stdint.h>

enum { DIVISORS_MAX = 1344 }; /* 735134400 has as many, and no number up to 2^30 has more */

struct divisors {
    int32_t count;
    int64_t of[DIVISORS_MAX]; /* rising */
};

/* All divisors of n, 1 .. 2^30; O(sqrt(n)). */
void divisors_find(int64_t n, struct divisors *ret_divisors);

#endif
