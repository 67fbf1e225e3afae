/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: the ziggurat's tables against their definition, and states that are none. Equality with NumPy is
 * tests/reference/test_random_vectors.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/random_ziggurat.h"

static void near(double value, double expected) { assert_true(fabs(value - expected) <= 1e-13 * fabs(expected)); }

static void the_layers_have_equal_areas(void **state) {
    (void)state;
    double r = RANDOM_ZIGGURAT_R, height = exp(-0.5 * r * r);
    double area = r * height + sqrt(acos(0)) * erfc(r / sqrt(2)); /* a rectangle and the tail, from r on */
    near(RANDOM_ZIGGURAT_INV_R, 1 / r);
    near(ziggurat_edge[255] * 0x1p52, r);
    near(ziggurat_edge[0] * 0x1p52, area / height);
    near((double)ziggurat_inside[0], r / ziggurat_edge[0]);
    assert_true(ziggurat_height[0] == 1);
    for (int i = 1; i < 256; i++) {
        double x = ziggurat_edge[i] * 0x1p52, below = i > 1 ? ziggurat_edge[i - 1] * 0x1p52 : 0;
        near(ziggurat_height[i], exp(-0.5 * x * x));
        assert_true(fabs((double)ziggurat_inside[i] - below / x * 0x1p52) < 64);
        if (i > 1) assert_true(fabs(x * (ziggurat_height[i - 1] - ziggurat_height[i]) - area) < 1e-12);
    }
}

static void an_order_is_a_permutation(void **state) {
    (void)state;
    struct pcg64 rng = random_seed(5);
    int32_t order[100];
    unsigned char taken[100];
    for (int32_t n = 0; n <= 100; n++) {
        int seen[100] = {0};
        random_order(&rng, n, order, taken);
        for (int32_t i = 0; i < n; i++) {
            assert_true(order[i] >= 0 && order[i] < n);
            assert_int_equal(seen[order[i]]++, 0);
        }
    }
}

static void integers_stay_below_their_bound(void **state) {
    (void)state;
    static const uint32_t most[] = {0, 1, 2, 6, 1000, 0x7fffffff, 0xfffffffe, 0xffffffff};
    struct pcg64 rng = random_seed(6);
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++)
        for (int k = 0; k < 1000; k++) assert_true(random_to(&rng, most[i]) <= most[i]);
    for (int k = 0; k < 1000; k++) {
        double x = random_double(&rng);
        assert_true(0 <= x && x < 1);
    }
}

static void reads_states_with_any_spaces(void **state) {
    (void)state;
    struct pcg64 rng;
    assert_int_equal(random_read("{\"bit_generator\":\"PCG64\",\"state\":{\"state\":7,\"inc\":3},\"has_uint32\":1,"
                                 "\"uinteger\":4294967295}\n",
                                 &rng, NULL),
                     KERF_OK);
    assert_true(rng.state == 7 && rng.increment == 3 && rng.has_uint32 == 1 && rng.uinteger == UINT32_MAX);
}

static void refuses_what_is_no_state(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "null",
        "{\"bit_generator\": \"MT19937\", \"state\": {\"state\": 7, \"inc\": 3}, \"has_uint32\": 0, \"uinteger\": 0}",
        "{\"bit_generator\": \"PCG64\", \"state\": {\"state\": -7, \"inc\": 3}, \"has_uint32\": 0, \"uinteger\": 0}",
        "{\"bit_generator\": \"PCG64\", \"state\": {\"state\": 7, \"inc\": 2}, \"has_uint32\": 0, \"uinteger\": 0}",
        "{\"bit_generator\": \"PCG64\", \"state\": {\"state\": 7, \"inc\": 3}, \"has_uint32\": 2, \"uinteger\": 0}",
        "{\"bit_generator\": \"PCG64\", \"state\": {\"state\": 7, \"inc\": 3}, \"has_uint32\": 0, \"uinteger\": "
        "4294967296}",
        "{\"bit_generator\": \"PCG64\", \"state\": {\"state\": 340282366920938463463374607431768211456, \"inc\": 3}, "
        "\"has_uint32\": 0, \"uinteger\": 0}",
        "{\"bit_generator\": \"PCG64\", \"state\": {\"state\": 7, \"inc\": 3}, \"has_uint32\": 0, \"uinteger\": 0} x",
        "{\"bit_generator\": \"PCG64\", \"state\": {\"state\": 7, \"inc\": 3}, \"has_uint32\": 0",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct pcg64 rng = {.state = 42};
        struct kerf_error err;
        assert_int_equal(random_read(bad[i], &rng, &err), KERF_ESYNTAX);
        assert_true(rng.state == 42);
        assert_non_null(strstr(err.message, "PCG64"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layers_have_equal_areas),     cmocka_unit_test(an_order_is_a_permutation),
        cmocka_unit_test(integers_stay_below_their_bound), cmocka_unit_test(reads_states_with_any_spaces),
        cmocka_unit_test(refuses_what_is_no_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
