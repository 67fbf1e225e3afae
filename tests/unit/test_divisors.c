/* SPDX-License-Identifier: Apache-2.0 */
/* Divisors against trying every number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cost/divisors.h"

static void expect_naive(int64_t n, int64_t most) {
    struct divisors *divisors = malloc(sizeof *divisors);
    memset(divisors, 0x5A, sizeof *divisors);
    divisors_find(n, divisors);
    int32_t count = 0;
    for (int64_t d = 1; d <= most; d++) {
        if (n % d != 0) continue;
        if (count >= divisors->count || divisors->of[count] != d)
            fail_msg("%lld: %lld is missing", (long long)n, (long long)d);
        count++;
    }
    if (most == n) assert_int_equal(count, divisors->count);
    free(divisors);
}

static void finds_all_of_small_numbers(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5000; n++) expect_naive(n, n);
}

/* 735,134,400 has 1,344 divisors; below 2^30 no number has more, so that the array can hold those of any. */
static void finds_all_of_the_richest_number(void **state) {
    (void)state;
    enum { RICHEST = 735134400 };
    struct divisors *divisors = malloc(sizeof *divisors);
    divisors_find(RICHEST, divisors);
    assert_int_equal(divisors->count, DIVISORS_MAX);
    assert_int_equal(divisors->of[0], 1);
    assert_int_equal(divisors->of[DIVISORS_MAX - 1], RICHEST);
    for (int32_t i = 0; i < DIVISORS_MAX; i++) {
        assert_int_equal(RICHEST % divisors->of[i], 0);
        assert_int_equal(divisors->of[i] * divisors->of[DIVISORS_MAX - 1 - i], RICHEST);
        if (i > 0) assert_true(divisors->of[i] > divisors->of[i - 1]);
    }
    free(divisors);
    expect_naive(RICHEST, 200000);
}

static void finds_those_of_large_numbers(void **state) {
    (void)state;
    struct divisors *divisors = malloc(sizeof *divisors);
    divisors_find(INT64_C(1) << 30, divisors);
    assert_int_equal(divisors->count, 31);
    for (int32_t i = 0; i <= 30; i++) assert_int_equal(divisors->of[i], INT64_C(1) << i);
    divisors_find(1073741789, divisors); /* the largest prime below 2^30 */
    assert_int_equal(divisors->count, 2);
    assert_int_equal(divisors->of[1], 1073741789);
    divisors_find(INT64_C(32749) * 32749, divisors); /* the square of a prime has its root once */
    assert_int_equal(divisors->count, 3);
    assert_int_equal(divisors->of[1], 32749);
    free(divisors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_all_of_small_numbers),
        cmocka_unit_test(finds_all_of_the_richest_number),
        cmocka_unit_test(finds_those_of_large_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
