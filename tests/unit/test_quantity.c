/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "kerf/spec.h"

static void reads_numbers_prefixes_and_units(void **state) {
    (void)state;
    static const struct {
        const char *text, *unit;
        double value;
    } cases[] = {
        {"80 GB", "B", 80e9},
        {"80GB", "B", 80e9},
        {"80  GB", "B", 80e9},
        {"80 GiB", "B", 80 * 0x1p30},
        {"1 KiB", "B", 1024},
        {"2 MiB", "B", 2 * 0x1p20},
        {"0.5 TiB", "B", 0x1p39},
        {"3 kB", "B", 3e3},
        {"3 KB", "B", 3e3},
        {"1.5 PB", "B", 1.5e15},
        {"2 EB", "B", 2e18},
        {"2EB", "B", 2e18}, /* no exponent */
        {"7 B", "B", 7},
        {"7 bytes", "B", 7},
        {"1 byte", "B", 1},
        {"8e10", "B", 8e10},
        {"8E10", "B", 8e10},
        {"+8e+10", "B", 8e10},
        {"312 TFLOP/s", "FLOP/s", 312e12},
        {"312 TFLOPS", "FLOP/s", 312e12},
        {"312 TFLOPs", "FLOP/s", 312e12},
        {"312 Tflop/s", "FLOP/s", 312e12},
        {"989.4 TFLOP/s", "FLOP/s", 989.4e12},
        {"1 EFLOP/s", "FLOP/s", 1e18},
        {"133.8 TFLOP/s", "FLOP/s", 133.8e12}, /* as if it were written so, to the last bit */
        {"1.1e3 us", "s", 1.1e-3},
        {"0.7e-3 us", "s", 0.7e-9},
        {"1e308 B", "B", 1e308},
        {"450 GB/s", "B/s", 450e9},
        {"450 GBps", "B/s", 450e9},
        {"400 Gbit/s", "B/s", 50e9},
        {"400 Gbps", "B/s", 50e9},
        {"400 Gb/s", "B/s", 50e9},
        {"2.5 us", "s", 2.5e-6},
        {"2.5 \xc2\xb5s", "s", 2.5e-6},
        {"10 ms", "s", 10e-3},
        {"300 ns", "s", 300e-9},
        {"0 s", "s", 0},
        {"-1 us", "s", -1e-6}, /* bounds are for the field to say */
        {".5", "", 0.5},
        {"5.", "", 5},
        {"4k", "", 4000},
        {"96", "", 96},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = -42;
        struct kerf_error err;
        if (quantity_parse(cases[i].text, cases[i].unit, &value, &err) != KERF_OK)
            fail_msg("'%s': %s", cases[i].text, err.message);
        if (value != cases[i].value) fail_msg("'%s' is %.17g, not %.17g", cases[i].text, value, cases[i].value);
        assert_int_equal(quantity_parse(cases[i].text, cases[i].unit, &value, NULL), KERF_OK);
    }
}

/* More digits than anybody means are still read, to the last few bits. */
static void reads_many_digits(void **state) {
    (void)state;
    char text[400] = "0.";
    double value;
    memset(text + 2, '3', 300), strcpy(text + 302, " us");
    assert_int_equal(quantity_parse(text, "s", &value, NULL), KERF_OK);
    assert_true(value > 0.3333333333333e-6 && value < 0.3333333333334e-6);
}

static void refuses_the_rest(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",       " ",      "GB",       "x",       "80 GX",  "80 G B",   "80 GB ", " 80 GB",  "80 gb",
        "8 0 GB", "1e999",  "1e308 EB", "nan",     "inf",    "infinity", "-inf",   "0x10",    "0x1p3",
        "1e",     "1e+",    "--5",      "+-5",     "1,5 GB", "1_000",    "80 Gs",  "80 GBB",  "5 min",
        "80 MGB", "80\tGB", "80 GB\n",  "80 gbit", "1/2",    "1e5e5",    "..5",    "80 GB/s", "\xc2\xb5s",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value = -42;
        struct kerf_error err;
        if (quantity_parse(texts[i], "B", &value, &err) != KERF_EINVALID) fail_msg("'%s' is %g", texts[i], value);
        assert_true(value == -42);
        assert_int_equal(err.code, KERF_EINVALID);
        assert_non_null(strstr(err.message, " is not a quantity in B; write for example \"80 GB\""));
        assert_int_equal(quantity_parse(texts[i], "B", &value, NULL), KERF_EINVALID);
    }
}

static void a_unit_is_not_another(void **state) {
    (void)state;
    static const char *const units[] = {"B", "B/s", "FLOP/s", "s", ""};
    static const char *const words[] = {"'3 parsec' is not a quantity in B; write for example \"80 GB\"",
                                        "'3 parsec' is not a quantity in B/s; write for example \"300 GB/s\"",
                                        "'3 parsec' is not a quantity in FLOP/s; write for example \"312 TFLOP/s\"",
                                        "'3 parsec' is not a quantity in s; write for example \"2.5 us\"",
                                        "'3 parsec' is not a number; write for example 64 or 0.5"};
    enum { UNITS = sizeof units / sizeof *units };
    for (size_t i = 0; i < UNITS; i++) {
        struct kerf_error err;
        double value;
        for (size_t j = 0; j < UNITS; j++) {
            char text[32];
            snprintf(text, sizeof text, "3 M%s", units[j]);
            /* "M" alone is a million where nothing is measured; no unit takes that of another */
            assert_int_equal(quantity_parse(text, units[i], &value, NULL), i == j ? KERF_OK : KERF_EINVALID);
            if (i == j) assert_true(value == 3e6);
        }
        assert_int_equal(quantity_parse("3 parsec", units[i], &value, &err), KERF_EINVALID);
        assert_string_equal(err.message, words[i]);
        assert_string_equal(err.file, "");
    }
}

static void long_text_is_quoted_in_part(void **state) {
    (void)state;
    char text[3000];
    double value;
    struct kerf_error err;
    memset(text, '7', sizeof text);
    text[sizeof text - 1] = 0; /* larger than a double */
    assert_int_equal(quantity_parse(text, "s", &value, &err), KERF_EINVALID);
    assert_true(strlen(err.message) < 200);
    text[200] = 0; /* 200 digits are a number */
    assert_int_equal(quantity_parse(text, "s", &value, &err), KERF_OK);
    assert_true(value > 7.7e199 && value < 7.8e199);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_numbers_prefixes_and_units),
        cmocka_unit_test(reads_many_digits),
        cmocka_unit_test(refuses_the_rest),
        cmocka_unit_test(a_unit_is_not_another),
        cmocka_unit_test(long_text_is_quoted_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
