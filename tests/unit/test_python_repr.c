/* SPDX-License-Identifier: Apache-2.0 */
/* Floats and strings as CPython 3.11 prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "zeus/python_values.h"

static void floats(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {300, "300.0"},
        {1, "1.0"},
        {-2.5, "-2.5"},
        {0.1, "0.1"},
        {0.30000000000000004, "0.30000000000000004"},
        {0.0001, "0.0001"},
        {0.00012345, "0.00012345"},
        {0.00001, "1e-05"},
        {1.5e-7, "1.5e-07"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {1e15, "1000000000000000.0"},
        {9007199254740993.0, "9007199254740992.0"},
        {1e16, "1e+16"},
        {12345678901234567.0, "1.2345678901234568e+16"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {1e22, "1e+22"},
        {1e22 / 3, "3.3333333333333335e+21"},
        {1e100, "1e+100"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {-1e300, "-1e+300"},
        {1e15 / 3, "333333333333333.3"},
        {2600.000000001, "2600.000000001"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kerf_text text = {0};
        python_float_repr(cases[i].value, &text);
        assert_string_equal(text.data, cases[i].text);
        kerf_text_free(&text);
    }
}

static void strings(void **state) {
    (void)state;
    static const struct {
        const char *value, *text;
    } cases[] = {
        {"", "''"},
        {"plain", "'plain'"},
        {"it's", "\"it's\""},
        {"say \"so\"", "'say \"so\"'"},
        {"it's \"so\"", "'it\\'s \"so\"'"},
        {"back\\slash", "'back\\\\slash'"},
        {"\t\n\r\x01\x1f\x7f", "'\\t\\n\\r\\x01\\x1f\\x7f'"},
        {"t\xc3\xa9st \xe4\xb8\xad", "'t\xc3\xa9st \xe4\xb8\xad'"},
        {"\xc2\x85\xc2\xa0\xc2\xad", "'\\x85\\xa0\\xad'"},
        {"\xe2\x80\xa8\xe3\x80\x80", "'\\u2028\\u3000'"},
        {"a\xc0\x80z", "'a\\x00z'"},
        {"\xf0\x9f\x98\x80", "'\xf0\x9f\x98\x80'"},
        {"\xf3\xa0\x80\x81\xf4\x8f\xbf\xbf", "'\\U000e0001\\U0010ffff'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kerf_text text = {0};
        python_string_repr(cases[i].value, &text);
        assert_string_equal(text.data, cases[i].text);
        kerf_text_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(floats), cmocka_unit_test(strings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
