/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/divisors.h"

#include <assert.h>
#include <stdio.h>

typedef long long ll;

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

const char *nearest_divisors(int64_t whole, int64_t n, int64_t most, char words[48]) {
    struct divisors divisors;
    divisors_find(whole, &divisors);
    int64_t below = 0, above = 0;
    for (int32_t i = 0; i < divisors.count && divisors.of[i] <= most; i++) {
        if (divisors.of[i] < n) below = divisors.of[i];
        if (divisors.of[i] > n && above == 0) above = divisors.of[i];
    }
    if (below && above)
        snprintf(words, 48, "%lld and %lld do", (ll)below, (ll)above);
    else
        snprintf(words, 48, "%lld does", (ll)(below ? below : above));
    return words;
}

int32_t must_divide(const char *key, int64_t n, int64_t whole, const char *noun, struct kerf_error *err) {
    char words[48];
    if (whole % n == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s %lld does not divide %lld %s; %s", key, (ll)n, (ll)whole, noun,
                          nearest_divisors(whole, n, whole, words));
}
