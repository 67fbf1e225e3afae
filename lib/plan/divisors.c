/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/divisors.h"

void divisors_find(int64_t n, struct divisors *ret_divisors) {
    int32_t low = 0, high = 0;
    int64_t large[DIVISORS_MAX / 2 + 1];
    for (int64_t d = 1; d * d <= n; d++) {
        if (n % d != 0) continue;
        ret_divisors->of[low++] = d;
        if (d != n / d) large[high++] = n / d;
    }
    while (high > 0) ret_divisors->of[low++] = large[--high];
    ret_divisors->count = low;
}
