/* SPDX-License-Identifier: Apache-2.0 */
/* The streaming JSON writer: its text, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kerf/json.h"

static int set_up(void **state) {
    static struct kerf_text text;
    memset(&text, 0, sizeof text);
    *state = &text;
    return 0;
}

static int tear_down(void **state) {
    kerf_text_free(*state);
    return 0;
}

static void header_example(void **state) {
    struct kerf_text *out = *state;
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_close(&json, '}');
    assert_string_equal(out->data, "{\"kerf\":\"" KERF_VERSION_TEXT "\"}");
}

static void empty_containers(void **state) {
    struct kerf_text *out = *state;
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '[');
    kerf_json_open(&json, NULL, '{');
    kerf_json_close(&json, '}');
    kerf_json_open(&json, NULL, '[');
    kerf_json_close(&json, ']');
    kerf_json_open(&json, NULL, '{');
    kerf_json_open(&json, "a", '[');
    kerf_json_close(&json, ']');
    kerf_json_open(&json, "b", '{');
    kerf_json_close(&json, '}');
    kerf_json_close(&json, '}');
    kerf_json_close(&json, ']');
    assert_string_equal(out->data, "[{},[],{\"a\":[],\"b\":{}}]");
}

static void nesting_and_commas(void **state) {
    struct kerf_text *out = *state;
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_integer(&json, "tp", 8);
    kerf_json_open(&json, "times", '[');
    kerf_json_number(&json, NULL, 0.5);
    kerf_json_number(&json, NULL, 2);
    kerf_json_open(&json, NULL, '[');
    kerf_json_null(&json, NULL);
    kerf_json_close(&json, ']');
    kerf_json_open(&json, NULL, '{');
    kerf_json_boolean(&json, "ok", 1);
    kerf_json_boolean(&json, "not", 0);
    kerf_json_close(&json, '}');
    kerf_json_string(&json, NULL, "last");
    kerf_json_close(&json, ']');
    kerf_json_string(&json, "name", NULL);
    kerf_json_null(&json, "nothing");
    kerf_json_close(&json, '}');
    assert_string_equal(out->data, "{\"tp\":8,\"times\":[0.5,2,[null],{\"ok\":true,\"not\":false},\"last\"],"
                                   "\"name\":null,\"nothing\":null}");
}

static void deep_nesting(void **state) {
    struct kerf_text *out = *state;
    struct kerf_json json = {0};
    enum { DEPTH = 5000 };
    kerf_json_begin(&json, out);
    for (int i = 0; i < DEPTH; i++) kerf_json_open(&json, NULL, '[');
    for (int i = 0; i < DEPTH; i++) kerf_json_close(&json, ']');
    assert_int_equal(out->length, 2 * DEPTH);
    assert_int_equal(strspn(out->data, "["), DEPTH);
    assert_int_equal(strspn(out->data + DEPTH, "]"), DEPTH);
}

static void one_document_after_another(void **state) {
    struct kerf_text *out = *state;
    struct kerf_json json = {0};
    for (int i = 0; i < 3; i++) { /* JSON lines */
        kerf_json_begin(&json, out);
        kerf_json_open(&json, NULL, '{');
        kerf_json_integer(&json, "i", i);
        kerf_json_close(&json, '}');
        kerf_text_add(out, "\n");
    }
    assert_string_equal(out->data, "{\"i\":0}\n{\"i\":1}\n{\"i\":2}\n");
}

static const char *quoted(struct kerf_text *out, const char *value) {
    struct kerf_json json = {0};
    kerf_text_clear(out);
    kerf_json_begin(&json, out);
    kerf_json_string(&json, NULL, value);
    return out->data;
}

static void escapes(void **state) {
    struct kerf_text *out = *state;
    assert_string_equal(quoted(out, ""), "\"\"");
    assert_string_equal(quoted(out, "plain text, /slashes/ and 'quotes'"), "\"plain text, /slashes/ and 'quotes'\"");
    assert_string_equal(quoted(out, "\""), "\"\\\"\"");
    assert_string_equal(quoted(out, "\\"), "\"\\\\\"");
    assert_string_equal(quoted(out, "C:\\new\\\"table\""), "\"C:\\\\new\\\\\\\"table\\\"\"");
    assert_string_equal(quoted(out, "one\ntwo\tthree\r"), "\"one\\ntwo\\tthree\\u000d\"");
    assert_string_equal(quoted(out, "%d %s %n"), "\"%d %s %n\"");
}

/* Every byte that JSON does not allow inside a string has its escape; 0x7f is allowed. */
static void control_characters(void **state) {
    struct kerf_text *out = *state;
    for (int c = 1; c < 0x80; c++) {
        char value[4] = {'a', (char)c, 'z', 0}, expected[16];
        if (c == '\n' || c == '\t')
            snprintf(expected, sizeof expected, "\"a\\%cz\"", c == '\n' ? 'n' : 't');
        else if (c < 0x20)
            snprintf(expected, sizeof expected, "\"a\\u%04xz\"", (unsigned)c);
        else if (c == '"' || c == '\\')
            snprintf(expected, sizeof expected, "\"a\\%cz\"", c);
        else
            snprintf(expected, sizeof expected, "\"a%cz\"", c);
        assert_string_equal(quoted(out, value), expected);
    }
}

static void utf8_is_untouched(void **state) {
    struct kerf_text *out = *state;
    assert_string_equal(quoted(out, "Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x8c\xb2"),
                        "\"Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x8c\xb2\"");
    assert_string_equal(quoted(out, "\xc2\x80\xe2\x80\xa8"), "\"\xc2\x80\xe2\x80\xa8\"");
}

static void keys_are_quoted_too(void **state) {
    struct kerf_text *out = *state;
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_integer(&json, "", 1);
    kerf_json_integer(&json, "a \"b\"\n", 2);
    kerf_json_open(&json, "\\", '{');
    kerf_json_string(&json, "\x01", "\x02");
    kerf_json_close(&json, '}');
    kerf_json_close(&json, '}');
    assert_string_equal(out->data, "{\"\":1,\"a \\\"b\\\"\\n\":2,\"\\\\\":{\"\\u0001\":\"\\u0002\"}}");
}

static void numbers(void **state) {
    struct kerf_text *out = *state;
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '[');
    kerf_json_number(&json, NULL, 0.1);
    kerf_json_number(&json, NULL, -0.0);
    kerf_json_number(&json, NULL, 1e300);
    kerf_json_number(&json, NULL, 5e-324);
    kerf_json_number(&json, NULL, 4096);
    kerf_json_integer(&json, NULL, INT64_MAX);
    kerf_json_integer(&json, NULL, INT64_MIN);
    kerf_json_integer(&json, NULL, 0);
    kerf_json_close(&json, ']');
    assert_string_equal(out->data, "[0.1,-0,1e+300,5e-324,4096,9223372036854775807,-9223372036854775808,0]");
}

static void not_finite_is_null(void **state) {
    struct kerf_text *out = *state;
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_number(&json, "a", NAN);
    kerf_json_number(&json, "b", INFINITY);
    kerf_json_number(&json, "c", -INFINITY);
    kerf_json_number(&json, "d", 1);
    kerf_json_close(&json, '}');
    assert_string_equal(out->data, "{\"a\":null,\"b\":null,\"c\":null,\"d\":1}");
}

static void no_utf8_becomes_the_replacement_character(void **state) {
    static const struct {
        const char *bytes, *written;
    } cases[] = {
        {"a\xFFz", "\"a\\ufffdz\""},
        {"\xC3", "\"\\ufffd\""},
        {"\xE2\x82", "\"\\ufffd\\ufffd\""},
        {"\xC0\xAF", "\"\\ufffd\\ufffd\""},
        {"\xED\xA0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
        {"\xF4\x90\x80\x80!", "\"\\ufffd\\ufffd\\ufffd\\ufffd!\""},
        {"\xF0\x9F\x98\x80", "\"\xF0\x9F\x98\x80\""},
    };
    struct kerf_text *out = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_json json = {0};
        kerf_text_clear(out);
        kerf_json_begin(&json, out);
        kerf_json_string(&json, NULL, cases[i].bytes);
        assert_string_equal(out->data, cases[i].written);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(header_example),
        TEST(empty_containers),
        TEST(nesting_and_commas),
        TEST(deep_nesting),
        TEST(one_document_after_another),
        TEST(escapes),
        TEST(control_characters),
        TEST(utf8_is_untouched),
        TEST(no_utf8_becomes_the_replacement_character),
        TEST(keys_are_quoted_too),
        TEST(numbers),
        TEST(not_finite_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
