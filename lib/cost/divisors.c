/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/divisors.h"

#include <assert.h>

void divisors_find(int64_t n, struct divisors *ret_divisors) {
    int32_t low = 0, high = 0;
    int64_t large[DIVISORS_MAX / 2 + 1];
    assert(n >= 1 && n <= INT64_C(1) << 30);
    for (int64_t d = 1; d * d <= n; d++) {
        if (n % d != 0) continue;
        ret_divisors->of[low++] = d;
        if (d != n / d) large[high++] = n / d;
    }
    while (high > 0) ret_divisors->of[low++] = large[--high];
    ret_divisors->count = low;
    assert(low <= DIVISORS_MAX && ret_divisors->of[low - 1] == n);
}
