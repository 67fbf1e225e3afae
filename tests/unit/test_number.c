/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kerf_text_number: the table of powers against schoolbook arithmetic on large integers, and the text of many
 * doubles against what the C library says about them. The naive version is `naive` below: the least number of
 * digits that %e needs to read back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_powers.h"
#include "kerf/text.h"

/* ---- the table ---------------------------------------------------------------------------------------- */

enum { LIMBS = 40 }; /* 1280 bits: 10^324 has 1077, 2^(127 + 970) has 1098 */

struct large { /* sum of limb[i] 2^(32 i) */
    uint32_t limb[LIMBS];
};

static void large_multiply(struct large *n, uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)n->limb[i] * factor;
        n->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    assert_int_equal(carry, 0);
}

static uint32_t large_divide(struct large *n, uint32_t divisor) { /* leaves the quotient, returns the rest */
    uint64_t rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        rest = rest << 32 | n->limb[i];
        n->limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    return (uint32_t)rest;
}

static int large_bit(const struct large *n, int bit) { return bit >= 0 && (n->limb[bit / 32] >> bit % 32 & 1); }

static int large_bits(const struct large *n) {
    int bits = LIMBS * 32;
    while (bits > 0 && !large_bit(n, bits - 1)) bits--;
    return bits;
}

/* The 128 bits below `top`, rounded up. */
static void large_significand(const struct large *n, int top, int rest, uint64_t ret_words[2]) {
    unsigned __int128 value = 0;
    for (int bit = top - 1; bit >= top - 128; bit--) value = value << 1 | (unsigned)large_bit(n, bit);
    for (int bit = 0; bit < top - 128; bit++) rest |= large_bit(n, bit);
    value += rest != 0;
    ret_words[0] = (uint64_t)(value >> 64);
    ret_words[1] = (uint64_t)value;
}

static void powers_are_what_they_say(void **state) {
    (void)state;
    struct large n = {{1}};
    uint64_t expected[2];
    for (int e = 0; e <= NUMBER_POWER_MAX; e++) {
        large_significand(&n, large_bits(&n), 0, expected);
        assert_memory_equal(number_powers[e - NUMBER_POWER_MIN], expected, sizeof expected);
        large_multiply(&n, 10);
    }
    for (int e = -1; e >= NUMBER_POWER_MIN; e--) {
        n = (struct large){{1}};
        for (int i = 0; i < 127 + 970; i++) large_multiply(&n, 2); /* 10^292 < 2^970 */
        for (int i = 0; i < -e; i++) (void)large_divide(&n, 10);
        large_significand(&n, large_bits(&n), 1, expected); /* never exact: 5 does not divide 2^m */
        assert_memory_equal(number_powers[e - NUMBER_POWER_MIN], expected, sizeof expected);
    }
}

/* ---- the text ----------------------------------------------------------------------------------------- */

struct parts {
    int negative, count, point; /* 0.ddd 10^point, without zeros at either end */
    char digits[32];
};

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* SplitMix64: the same numbers on every run. */
static uint64_t next_random(uint64_t *seed) {
    uint64_t z = *seed += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reads a JSON number to its end and takes it apart; 0 if it is none (RFC 8259). */
static int read_json_number(const char *string, struct parts *ret) {
    struct parts parts = {.negative = *string == '-'};
    const char *c = string + parts.negative;
    int seen_point = 0, zeros = 0;
    if (!is_digit(*c) || (c[0] == '0' && is_digit(c[1]))) return 0;
    for (; is_digit(*c) || (*c == '.' && !seen_point); c++) {
        if (*c == '.') {
            seen_point = 1;
            if (!is_digit(c[1])) return 0;
            continue;
        }
        if (!seen_point && (parts.count || *c != '0')) parts.point++;
        if (seen_point && parts.count == 0 && *c == '0') parts.point--;
        if (*c == '0') {
            zeros += parts.count > 0;
            continue;
        }
        for (; zeros; zeros--) parts.digits[parts.count++] = '0';
        parts.digits[parts.count++] = *c;
    }
    if (*c == 'e') {
        int sign = *++c == '-' ? -1 : 1, exponent = 0;
        if (*c != '-' && *c != '+') return 0; /* which JSON allows, and we do not write */
        if (!is_digit(*++c) || *c == '0') return 0;
        for (; is_digit(*c); c++) exponent = exponent * 10 + (*c - '0');
        parts.point += sign * exponent;
    }
    *ret = parts;
    return *c == 0;
}

/* The reading of ddd 10^(point - count), moved by `steps` units of its last digit. */
static double moved(const char *digits, int count, int point, int steps) {
    uint64_t n = 0;
    char string[64];
    for (int i = 0; i < count; i++) n = n * 10 + (uint64_t)(digits[i] - '0');
    snprintf(string, sizeof string, "%llue%d", (unsigned long long)n + (unsigned long long)(long long)steps,
             point - count);
    return strtod(string, NULL);
}

/* value > 0 as %.{count - 1}e would have it. */
static void rounded(double value, int count, char digits[32], int *point) {
    char string[64];
    snprintf(string, sizeof string, "%.*e", count - 1, value);
    char *e = strchr(string, 'e');
    *point = atoi(e + 1) + 1;
    digits[0] = string[0];
    if (count > 1) memcpy(digits + 1, string + 2, (size_t)count - 1);
    digits[count] = 0;
}

/* The least digits that read back, looking also at the neighbours of the rounded decimal: below a power of
 * two the rounding interval is half as wide as above, and the nearest decimal may be the wrong one of two. */
static int naive(double value, char digits[32], int *point) {
    for (int count = 1;; count++) {
        rounded(value, count, digits, point);
        if (moved(digits, count, *point, 0) == value) return count;
        for (int step = -1; step <= 1; step += 2) {
            if (moved(digits, count, *point, step) != value) continue;
            uint64_t n = strtoull(digits, NULL, 10) + (uint64_t)(int64_t)step;
            *point += snprintf(digits, 32, "%llu", (unsigned long long)n) - count;
            return count;
        }
    }
}

static void check_form(const char *string, const struct parts *parts) {
    int exponent = strchr(string, 'e') != NULL;
    assert_int_equal(exponent, parts->point < -5 || parts->point > 21);
}

/* Reads back, and is the shortest and the nearest of the shortest. As short as it is: with one digit less
 * neither the rounded decimal nor its neighbours read back. As near: the rounded decimal of as many digits
 * either is the answer or does not read back itself. */
static void check(double value, struct kerf_text *text) {
    kerf_text_clear(text);
    kerf_text_number(text, value);
    assert_int_equal(strlen(text->data), text->length);
    struct parts parts;
    if (!read_json_number(text->data, &parts)) fail_msg("%a: %s is no number", value, text->data);
    if (to_bits(strtod(text->data, NULL)) != to_bits(value)) fail_msg("%a: read back from %s", value, text->data);
    check_form(text->data, &parts);
    if (value == 0) {
        assert_int_equal(parts.count, 0);
        return;
    }

    char digits[32];
    int point;
    double magnitude = fabs(value);
    if (parts.count > 1) {
        rounded(magnitude, parts.count - 1, digits, &point);
        for (int step = -1; step <= 1; step++)
            if (moved(digits, parts.count - 1, point, step) == magnitude)
                fail_msg("%a: %s is not the shortest", value, text->data);
    }
    rounded(magnitude, parts.count, digits, &point);
    int same = point == parts.point && memcmp(digits, parts.digits, (size_t)parts.count) == 0;
    if (!same && moved(digits, parts.count, point, 0) == magnitude)
        fail_msg("%a: %s is not the nearest", value, text->data);
}

static void check_around(double value, struct kerf_text *text) {
    uint64_t bits = to_bits(value);
    for (int step = -3; step <= 3; step++) {
        double near = from_bits(bits + (uint64_t)(int64_t)step);
        if (near >= 0 && isfinite(near)) { /* near zero the step back is a NaN */
            check(near, text);
            check(-near, text);
        }
    }
}

static const char *number(struct kerf_text *text, double value) {
    kerf_text_clear(text);
    kerf_text_number(text, value);
    return text->data;
}

static void known_numbers(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {42, "42"},
        {-3, "-3"},
        {4096, "4096"},
        {10, "10"},
        {99999999, "99999999"},
        {100000000, "100000000"},
        {1234567890123456, "1234567890123456"},
        {9007199254740991, "9007199254740991"},
        {9007199254740992, "9007199254740992"},
        {9007199254740994, "9007199254740994"},
        {123456789012345680000.0, "123456789012345680000"},
        {1e20, "100000000000000000000"},
        {999999999999999900000.0, "999999999999999900000"},
        {1e21, "1e+21"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {1e30, "1e+30"},
        {1.5e300, "1.5e+300"},
        {0.1, "0.1"},
        {-0.5, "-0.5"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {100.25, "100.25"},
        {123456.789, "123456.789"},
        {1234567890.1234567, "1234567890.1234567"},
        {3.141592653589793, "3.141592653589793"},
        {0.000001, "0.000001"},
        {0.0000012345678901234567, "0.0000012345678901234567"},
        {1e-7, "1e-7"},
        {1.5e-7, "1.5e-7"},
        {9.999999999999997e-7, "9.999999999999997e-7"},
        {1e-10, "1e-10"},
        {5e-324, "5e-324"},
        {-1e-323, "-1e-323"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {0x1p122, "5.316911983139664e+36"}, /* the rounded 5.316911983139663 reads back to the one below */
        {9.5367431640625e-07, "9.5367431640625e-7"},
        {2e-44, "2e-44"},
        {NAN, "nan"},
        {-NAN, "nan"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
    };
    struct kerf_text text = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(number(&text, cases[i].value), cases[i].text);
    kerf_text_free(&text);
}

static void appends_at_any_length(void **state) {
    (void)state;
    /* In place and through the buffer: every room that a growing text can leave, and not a byte elsewhere. */
    for (size_t before = 0; before < 300; before++) {
        struct kerf_text text = {0};
        for (size_t i = 0; i < before; i++) kerf_text_write(&text, "x", 1);
        kerf_text_number(&text, -1.2345678901234568e-300);
        kerf_text_number(&text, 7);
        assert_int_equal(strspn(text.data, "x"), before);
        assert_string_equal(text.data + before, "-1.2345678901234568e-3007");
        assert_int_equal(text.length, before + 25);
        kerf_text_free(&text);
    }
    struct kerf_text failed = {.failed = 1};
    kerf_text_number(&failed, 1.5);
    assert_null(failed.data);
    assert_int_equal(failed.length, 0);
}

static void integers_are_plain(void **state) {
    (void)state;
    struct kerf_text text = {0};
    char expected[64];
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        int64_t n = i < 100000 ? i : (int64_t)(next_random(&seed) >> (11 + i % 53));
        snprintf(expected, sizeof expected, "%lld", (long long)n);
        assert_string_equal(number(&text, (double)n), expected);
    }
    for (int64_t power = 1; power < (int64_t)1 << 53; power *= 10)
        for (int64_t n = power - 2; n <= power + 2; n++) {
            snprintf(expected, sizeof expected, "%lld", (long long)n);
            assert_string_equal(number(&text, (double)n), expected);
        }
    kerf_text_free(&text);
}

static void powers_of_two(void **state) {
    (void)state;
    struct kerf_text text = {0};
    for (int e = -1074; e <= 1023; e++) check_around(ldexp(1, e), &text);
    check_around(DBL_MAX, &text);
    kerf_text_free(&text);
}

static void powers_of_ten(void **state) {
    (void)state;
    struct kerf_text text = {0};
    char string[32];
    for (int e = -323; e <= 308; e++)
        for (int digit = 1; digit <= 9; digit++) {
            snprintf(string, sizeof string, "%de%d", digit, e);
            double value = strtod(string, NULL);
            if (isfinite(value)) check_around(value, &text);
        }
    kerf_text_free(&text);
}

static void subnormals(void **state) {
    (void)state;
    struct kerf_text text = {0};
    uint64_t seed = 2;
    for (uint64_t bits = 0; bits < 20000; bits++) check(from_bits(bits), &text);
    for (int i = 0; i < 20000; i++) check(from_bits(next_random(&seed) >> (12 + i % 52)), &text);
    kerf_text_free(&text);
}

/* Halves, quarters and so on near 2^53 / 10: ties between two shortest decimals are here. */
static void ties(void **state) {
    (void)state;
    struct kerf_text text = {0};
    uint64_t seed = 3;
    for (int i = 0; i < 100000; i++) {
        double value = (double)(next_random(&seed) >> 11);
        check(ldexp(value, -(i % 12)), &text);
        check(ldexp(value, i % 20), &text);
        check((double)(next_random(&seed) >> (24 + i % 30)) / 100, &text);
    }
    kerf_text_free(&text);
}

static void million_random_doubles(void **state) {
    (void)state;
    struct kerf_text text = {0};
    uint64_t seed = 4;
    for (int i = 0; i < 1000000; i++) {
        double value = from_bits(next_random(&seed));
        if (isfinite(value)) check(value, &text);
    }
    kerf_text_free(&text);
}

static void same_as_naive(void **state) {
    (void)state;
    struct kerf_text text = {0};
    uint64_t seed = 5;
    char digits[32];
    int point;
    struct parts parts;
    for (int i = 0; i < 12000; i++) {
        uint64_t bits = next_random(&seed) & ~(UINT64_C(1) << 63);
        if (i % 3 == 0) bits &= UINT64_C(0x7ff) << 52; /* powers of two */
        double value = from_bits(bits);
        if (!isfinite(value) || value == 0) continue;
        int count = naive(value, digits, &point);
        while (count > 1 && digits[count - 1] == '0') count--; /* 9.9 moved up to 10 */
        assert_true(read_json_number(number(&text, value), &parts));
        assert_int_equal(parts.count, count);
        assert_int_equal(parts.point, point);
        assert_memory_equal(parts.digits, digits, (size_t)count);
    }
    kerf_text_free(&text);
}

static void locale_does_not_matter(void **state) {
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8", "de_DE"};
    struct kerf_text text = {0};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof commas / sizeof *commas && set == NULL; i++) set = setlocale(LC_ALL, commas[i]);
    if (set == NULL) skip();
    number(&text, 1234.5);
    setlocale(LC_ALL, "C");
    assert_string_equal(text.data, "1234.5");
    kerf_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_are_what_they_say),
        cmocka_unit_test(known_numbers),
        cmocka_unit_test(appends_at_any_length),
        cmocka_unit_test(integers_are_plain),
        cmocka_unit_test(powers_of_two),
        cmocka_unit_test(powers_of_ten),
        cmocka_unit_test(subnormals),
        cmocka_unit_test(ties),
        cmocka_unit_test(million_random_doubles),
        cmocka_unit_test(same_as_naive),
        cmocka_unit_test(locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
