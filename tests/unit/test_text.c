/* SPDX-License-Identifier: Apache-2.0 */
/* The growing string, quantities for people, and "did you mean". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/characters.h"
#include "base/quantity.h"
#include "kerf/text.h"

/* ---- the growing string ------------------------------------------------------------------------------- */

static void starts_empty(void **state) {
    (void)state;
    struct kerf_text text = {0};
    kerf_text_write(&text, NULL, 0);
    kerf_text_add(&text, "");
    kerf_text_repeat(&text, "x", 0);
    kerf_text_repeat(&text, "x", -5);
    kerf_text_printf(&text, "%s", "");
    kerf_text_clear(&text);
    assert_null(text.data);
    assert_int_equal(text.length, 0);
    assert_int_equal(text.failed, 0);
    kerf_text_free(&text);
}

static void grows_without_losing_a_byte(void **state) {
    (void)state;
    enum { WORDS = 20000 };
    struct kerf_text text = {0};
    size_t length = 0;
    for (int i = 0; i < WORDS; i++) {
        char word[32];
        int size = snprintf(word, sizeof word, "%d;", i * 7919);
        kerf_text_write(&text, word, (size_t)size);
        length += (size_t)size;
        assert_int_equal(text.length, length);
        assert_true(text.length < text.capacity);
        assert_int_equal(text.data[length], 0);
    }
    const char *c = text.data;
    for (int i = 0; i < WORDS; i++) {
        char *end;
        assert_int_equal(strtol(c, &end, 10), i * 7919);
        assert_int_equal(*end, ';');
        c = end + 1;
    }
    assert_int_equal(*c, 0);
    kerf_text_free(&text);
    assert_null(text.data);
    assert_int_equal(text.capacity, 0);
    kerf_text_free(&text); /* twice is fine */
}

static void takes_any_byte_and_any_size(void **state) {
    (void)state;
    struct kerf_text text = {0};
    kerf_text_write(&text, "a\0b", 3);
    assert_int_equal(text.length, 3);
    assert_memory_equal(text.data, "a\0b", 4);

    size_t size = 3 << 20; /* far more than doubling once gives */
    char *large = malloc(size);
    assert_non_null(large);
    memset(large, 'z', size);
    kerf_text_write(&text, large, size);
    assert_int_equal(text.length, size + 3);
    assert_memory_equal(text.data + 3, large, size);
    assert_int_equal(text.data[size + 3], 0);
    free(large);
    kerf_text_free(&text);
}

/* Every combination of what is there and what is added, around the places where memory grows. */
static void printf_at_any_length(void **state) {
    (void)state;
    char expected[1100];
    memset(expected, 'x', sizeof expected);
    for (int before = 0; before < 520; before += before % 256 < 240 && before % 256 > 2 ? 40 : 1)
        for (int added = 0; added < 520; added += added % 256 < 240 && added % 256 > 2 ? 40 : 1) {
            struct kerf_text text = {0};
            kerf_text_repeat(&text, "x", before);
            kerf_text_printf(&text, "%.*s", added, expected);
            kerf_text_printf(&text, "%c", 'y');
            assert_int_equal(text.length, before + added + 1);
            assert_memory_equal(text.data, expected, (size_t)(before + added));
            assert_string_equal(text.data + before + added, "y");
            assert_int_equal(text.failed, 0);
            kerf_text_free(&text);
        }
    struct kerf_text text = {0};
    kerf_text_printf(&text, "%s-%d-%5.2f|%lld%%", "one", -2, 3.14159, 1LL << 40);
    assert_string_equal(text.data, "one--2- 3.14|1099511627776%");
    kerf_text_free(&text);
}

static void repeat_repeats(void **state) {
    (void)state;
    struct kerf_text text = {0};
    kerf_text_repeat(&text, "=-", 3);
    assert_string_equal(text.data, "=-=-=-");
    kerf_text_repeat(&text, "\xe2\x94\x80", 2);
    assert_string_equal(text.data, "=-=-=-\xe2\x94\x80\xe2\x94\x80");
    kerf_text_free(&text);
}

static void clear_keeps_the_memory(void **state) {
    (void)state;
    struct kerf_text text = {0};
    kerf_text_repeat(&text, "0123456789", 1000);
    const char *data = text.data;
    size_t capacity = text.capacity;
    kerf_text_clear(&text);
    assert_int_equal(text.length, 0);
    assert_string_equal(text.data, "");
    kerf_text_repeat(&text, "abcdefghij", 1000);
    assert_ptr_equal(text.data, data);
    assert_int_equal(text.capacity, capacity);
    assert_int_equal(text.length, 10000);
    kerf_text_free(&text);
}

static void fails_once_and_for_all(void **state) {
    (void)state;
    struct kerf_text text = {0};
    kerf_text_add(&text, "before");
    volatile size_t huge = SIZE_MAX / 2; /* more than any capacity: refused before a byte is read */
    kerf_text_write(&text, "x", huge);
    assert_int_equal(text.failed, 1);
    kerf_text_add(&text, "after");
    kerf_text_printf(&text, "%d", 1);
    kerf_text_repeat(&text, "x", 3);
    kerf_text_number(&text, 0.1);
    quantity_count(&text, 1234);
    assert_int_equal(text.length, 6);
    assert_string_equal(text.data, "before");
    kerf_text_clear(&text); /* does not forget the failure */
    kerf_text_add(&text, "after");
    assert_int_equal(text.failed, 1);
    assert_int_equal(text.length, 0);
    assert_string_equal(text.data, "");
    kerf_text_free(&text);
    assert_int_equal(text.failed, 0);
}

/* What cannot be written at all leaves what was there: a width that no int counts. */
static void failed_printf_leaves_the_text(void **state) {
    (void)state;
    struct kerf_text text = {0};
    volatile int width = INT_MAX;
    kerf_text_add(&text, "before");
    kerf_text_printf(&text, "zz%*d", width, 1);
    assert_int_equal(text.failed, 1);
    assert_int_equal(text.length, 6);
    assert_string_equal(text.data, "before");
    kerf_text_free(&text);
}

/* ---- for people --------------------------------------------------------------------------------------- */

static const char *format_bytes(struct kerf_text *text, double bytes) {
    kerf_text_clear(text);
    quantity_bytes(text, bytes);
    return text->data;
}

static const char *format_seconds(struct kerf_text *text, double seconds) {
    kerf_text_clear(text);
    quantity_seconds(text, seconds);
    return text->data;
}

static const char *format_count(struct kerf_text *text, int64_t count) {
    kerf_text_clear(text);
    quantity_count(text, count);
    return text->data;
}

static const char *format_joules(struct kerf_text *text, double joules, int digits) {
    kerf_text_clear(text);
    quantity_joules(text, joules, digits);
    return text->data;
}

static void joules(void **state) {
    (void)state;
    struct kerf_text text = {0};
    assert_string_equal(format_joules(&text, 0, 6), "0 J");
    assert_string_equal(format_joules(&text, 999.5, 6), "999.5 J");
    assert_string_equal(format_joules(&text, 999.5, 3), "1 kJ");
    assert_string_equal(format_joules(&text, 999.9996, 6), "1 kJ");
    assert_string_equal(format_joules(&text, 56020, 6), "56.02 kJ");
    assert_string_equal(format_joules(&text, 2412620, 6), "2.41262 MJ");
    assert_string_equal(format_joules(&text, -2412620, 3), "-2.41 MJ");
    assert_string_equal(format_joules(&text, 1e18, 6), "1e+06 TJ");
    assert_string_equal(format_joules(&text, (double)INFINITY, 6), "inf J");
    kerf_text_free(&text);
}

static void at_most(void **state) {
    (void)state;
    static const struct {
        double share;
        int digits;
        const char *text;
    } cases[] = {{2. / 15, 1, "13.4 %"}, {0.125, 1, "12.5 %"}, {0.1 + 0.2 - 0.29, 1, "1.0 %"},
                 {1e-11, 1, "0.1 %"},    {1e-4, 2, "0.01 %"},  {0.13841, 2, "13.85 %"}};
    struct kerf_text text = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kerf_text_clear(&text);
        quantity_at_most(&text, cases[i].share, cases[i].digits);
        assert_string_equal(text.data, cases[i].text);
    }
    kerf_text_free(&text);
}

static void bytes(void **state) {
    (void)state;
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {1, "1 B"},
        {42, "42 B"},
        {999, "999 B"},
        {999.4, "999 B"},
        {999.5, "1.0 kB"},
        {1000, "1.0 kB"},
        {1234, "1.2 kB"},
        {99.94e3, "99.9 kB"},
        {99.95e3, "100 kB"},
        {999.4e3, "999 kB"},
        {999.5e3, "1.0 MB"},
        {63.7e9, "63.7 GB"},
        {80e9, "80.0 GB"},
        {141e9, "141 GB"},
        {999.49e9, "999 GB"},
        {999.95e9, "1.0 TB"},
        {1e12, "1.0 TB"},
        {2.5e15, "2.5 PB"},
        {999.95e15, "1.0 EB"},
        {18446744073709551616.0, "18.4 EB"},
        {1e21, "1000 EB"}, /* there is no next unit here */
        {-63.7e9, "-63.7 GB"},
        {-999.95e9, "-1.0 TB"},
        {-1, "-1 B"},
    };
    struct kerf_text text = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(format_bytes(&text, cases[i].bytes), cases[i].text);
    kerf_text_free(&text);
}

static void seconds(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {
        {1, "1.00 s"},         {1.234, "1.23 s"},      {9.994, "9.99 s"},      {9.996, "10.0 s"},
        {12.34, "12.3 s"},     {99.94, "99.9 s"},      {123.45, "123.5 s"},    {999.94, "999.9 s"},
        {999.96, "1000 s"},    {1000, "1000 s"},       {86400, "86400 s"},     {0.9996, "1.00 s"},
        {0.9995, "1.00 s"},    {0.9994, "999 ms"},     {0.26, "260 ms"},       {0.0999, "99.9 ms"},
        {0.012345, "12.3 ms"}, {0.001, "1.00 ms"},     {0.0009996, "1.00 ms"}, {0.0009994, "999 us"},
        {4.2e-5, "42.0 us"},   {0.9996e-6, "1.00 us"}, {0.9994e-6, "999 ns"},  {7.5e-6, "7.50 us"},
        {3e-9, "3.00 ns"},     {-0.26, "-260 ms"},     {-0.9996, "-1.00 s"},   {-2, "-2.00 s"},
    };
    struct kerf_text text = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(format_seconds(&text, cases[i].seconds), cases[i].text);
    kerf_text_free(&text);
}

/* What is printed is the value to half a unit of the last digit, and never 1000 of a unit that has a next. */
static void check_quantity(const char *string, double value, const char *const *units, const double *scales,
                           size_t count, size_t last) {
    char *unit;
    double number = strtod(string, &unit);
    assert_int_equal(*unit++, ' ');
    size_t i = 0;
    while (i < count && strcmp(unit, units[i]) != 0) i++;
    assert_in_range(i, 0, count - 1);
    const char *point = strchr(string, '.');
    double step = point ? pow(10, -(double)(strcspn(point + 1, " "))) : 1;
    if (fabs(number - value / scales[i]) > 0.5 * step * (1 + 1e-9)) fail_msg("%s is not %.17g", string, value);
    if (i != last && fabs(number) >= 1000) fail_msg("%s for %.17g", string, value);
}

static void quantities_near_the_boundaries(void **state) {
    (void)state;
    static const char *const byte_units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    static const double byte_scales[] = {1, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18};
    static const char *const second_units[] = {"s", "ms", "us", "ns"};
    static const double second_scales[] = {1, 1e-3, 1e-6, 1e-9};
    static const double edges[] = {1, 9.995, 10, 99.95, 100, 999, 999.4, 999.5, 999.95, 1000};
    struct kerf_text text = {0};
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
        for (int sign = -1; sign <= 1; sign += 2) {
            for (size_t u = 0; u < 7; u++) {
                double value = edges[e] * byte_scales[u] * sign;
                for (int i = 0; i < 40; i++) value = nextafter(value, 0);
                for (int i = 0; i < 80; i++, value = nextafter(value, INFINITY * sign))
                    check_quantity(format_bytes(&text, value), value, byte_units, byte_scales, 7, 6);
            }
            for (size_t u = 0; u < 4; u++) {
                double value = edges[e] * second_scales[u] * sign;
                for (int i = 0; i < 40; i++) value = nextafter(value, 0);
                for (int i = 0; i < 80; i++, value = nextafter(value, INFINITY * sign))
                    check_quantity(format_seconds(&text, value), value, second_units, second_scales, 4, 0);
            }
        }
    kerf_text_free(&text);
}

static void counts(void **state) {
    (void)state;
    static const struct {
        int64_t count;
        const char *text;
    } cases[] = {
        {0, "0"},
        {7, "7"},
        {999, "999"},
        {1000, "1,000"},
        {1818, "1,818"},
        {12345, "12,345"},
        {123456, "123,456"},
        {1234567, "1,234,567"},
        {-1, "-1"},
        {-999, "-999"},
        {-1000, "-1,000"},
        {-123456, "-123,456"},
        {-1234567, "-1,234,567"},
        {INT64_MAX, "9,223,372,036,854,775,807"},
        {INT64_MIN, "-9,223,372,036,854,775,808"},
    };
    struct kerf_text text = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(format_count(&text, cases[i].count), cases[i].text);
    kerf_text_free(&text);
}

static void columns(void **state) {
    (void)state;
    assert_int_equal(utf8_columns(""), 0);
    assert_int_equal(utf8_columns("kerf"), 4);
    assert_int_equal(utf8_columns("Z\xc3\xbcrich"), 6);            /* two bytes */
    assert_int_equal(utf8_columns("\xe2\x94\x80\xe2\x94\x82"), 2); /* three */
    assert_int_equal(utf8_columns("\xf0\x9f\x8c\xb2 tree"), 6);    /* four */
}

/* ---- did you mean ------------------------------------------------------------------------------------- */

static const char *const commands[] = {"plan", "schedule", "tune", "serve", "help"};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void nearest_finds_misspellings(void **state) {
    (void)state;
    static const struct {
        const char *word, *name;
    } cases[] = {
        {"plan", "plan"},          {"plna", "plan"}, {"pln", "plan"},         {"plann", "plan"},
        {"PLAN", "plan"},          {"PLNA", "plan"}, {"shedule", "schedule"}, {"scedhule", "schedule"},
        {"schedulle", "schedule"}, {"tone", "tune"}, {"utne", "tune"},        {"sevre", "serve"},
        {"Srevre", "serve"},       {"hlep", "help"}, {"sevra", "serve"},      {"shcedeul", "schedule"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = nearest_name(cases[i].word, commands, COMMANDS);
        if (found == NULL) fail_msg("nothing is near %s", cases[i].word);
        assert_string_equal(found, cases[i].name);
    }
}

static void nearest_takes_the_nearest(void **state) {
    (void)state;
    static const char *const names[] = {"tensor-parallel", "tensor_parallel", "data-parallel", "tensorparallel"};
    assert_ptr_equal(nearest_name("tensor_paralel", names, 4), names[1]);
    assert_ptr_equal(nearest_name("date-parallel", names, 4), names[2]);
    assert_ptr_equal(nearest_name("tensor+parallel", names, 4), names[0]); /* of equals the first */
    static const char *const letters[] = {"dp", "tp", "pp"};
    assert_ptr_equal(nearest_name("tp", letters, 3), letters[1]);
    assert_ptr_equal(nearest_name("pp", letters, 3), letters[2]);
    assert_ptr_equal(nearest_name("tq", letters, 3), letters[1]);
}

static void nearest_refuses_strangers(void **state) {
    (void)state;
    static const char *const strangers[] = {"", "x", "banana", "xyz", "sing", "optimise", "clan-of-the-bear", "scheme"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        const char *found = nearest_name(strangers[i], commands, COMMANDS);
        if (found) fail_msg("%s taken for %s", strangers[i], found);
    }
    static const char *const formats[] = {"csv", "svg", "v", ""};
    assert_null(nearest_name("png", formats, 1));
    assert_null(nearest_name("svg", formats, 1));
    assert_null(nearest_name("x", formats + 2, 1));
    assert_null(nearest_name("x", formats + 3, 1));
    assert_null(nearest_name("plan", commands, 0));
}

/* Words as long as somebody likes to type: no answer, and none by accident. */
static void nearest_survives_long_words(void **state) {
    (void)state;
    char word[1001];
    const char *names[] = {"plan", word};
    for (size_t length = 0; length < sizeof word; length++) {
        memset(word, 'a', length);
        word[length] = 0;
        const char *found = nearest_name(word, names, 1);
        if (found) fail_msg("%zu letters taken for %s", length, found);
    }
    memset(word, 'a', 63);
    word[63] = 0;
    assert_ptr_equal(nearest_name(word, names, 2), word); /* the longest that is looked at */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_empty),
        cmocka_unit_test(grows_without_losing_a_byte),
        cmocka_unit_test(takes_any_byte_and_any_size),
        cmocka_unit_test(printf_at_any_length),
        cmocka_unit_test(repeat_repeats),
        cmocka_unit_test(clear_keeps_the_memory),
        cmocka_unit_test(fails_once_and_for_all),
        cmocka_unit_test(failed_printf_leaves_the_text),
        cmocka_unit_test(joules),
        cmocka_unit_test(at_most),
        cmocka_unit_test(bytes),
        cmocka_unit_test(seconds),
        cmocka_unit_test(quantities_near_the_boundaries),
        cmocka_unit_test(counts),
        cmocka_unit_test(columns),
        cmocka_unit_test(nearest_finds_misspellings),
        cmocka_unit_test(nearest_takes_the_nearest),
        cmocka_unit_test(nearest_refuses_strangers),
        cmocka_unit_test(nearest_survives_long_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
