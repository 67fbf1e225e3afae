/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as Python reads it: what CPython made of the same bytes, and the bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "escaped_lines.h"
#include "zeus/python_values.h"

static void write_hex(struct kerf_text *out, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) kerf_text_printf(out, "%02x", (unsigned char)bytes[i]);
}

static void write_value(struct kerf_text *out, const struct python_value *value);

static void write_values(struct kerf_text *out, const struct python_value *first, const char *brackets) {
    kerf_text_write(out, brackets, 1);
    for (; first; first = first->next) write_value(out, first);
    kerf_text_write(out, brackets + 1, 1);
}

static void write_float(struct kerf_text *out, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    if (number != number)
        kerf_text_add(out, "Dnan");
    else
        kerf_text_printf(out, "D%016llx", (unsigned long long)bits);
}

static void write_value(struct kerf_text *out, const struct python_value *value) {
    int is_minus_0 = value->kind == PYTHON_INTEGER && value->length == 2 && memcmp(value->bytes, "-0", 2) == 0;
    switch (value->kind) {
    case PYTHON_NULL: kerf_text_add(out, "N"); break;
    case PYTHON_BOOLEAN: kerf_text_add(out, value->boolean ? "T" : "F"); break;
    case PYTHON_INTEGER:
        kerf_text_add(out, "I");
        kerf_text_write(out, value->bytes + is_minus_0, value->length - (size_t)is_minus_0);
        kerf_text_add(out, ";");
        break;
    case PYTHON_FLOAT: write_float(out, value->number); break;
    case PYTHON_STRING:
        kerf_text_add(out, "S");
        write_hex(out, value->bytes, value->length);
        kerf_text_add(out, ";");
        break;
    case PYTHON_LIST: write_values(out, value->first, "[]"); break;
    default: write_values(out, value->first, "{}"); break;
    }
}

static void as_python_reads(void **state) {
    (void)state;
    struct escaped_lines lines;
    struct escaped_field field[2];
    struct arena arena = {NULL};
    struct kerf_text text = {0};
    escaped_open(&lines, "python_json.txt");
    while (escaped_next(&lines, field, 2)) {
        const struct python_value *value;
        struct python_json_error error;
        char *exact = malloc(field[0].length + 1); /* so that what is read behind the end is seen */
        memcpy(exact, field[0].bytes, field[0].length);
        exact = realloc(exact, field[0].length ? field[0].length : 1);
        int32_t code = python_json_read(exact, field[0].length, &arena, &value, &error);
        kerf_text_clear(&text);
        if (code == KERF_OK)
            write_value(&text, value);
        else if (code == KERF_ESYNTAX)
            kerf_text_printf(&text, "!%s@%zu", error.message, error.position);
        else
            kerf_text_add(&text, "X");
        if (strcmp(text.data, field[1].bytes) != 0)
            fail_msg("python_json.txt:%d: want %s, got %s", lines.number, field[1].bytes, text.data);
        free(exact);
        arena_reset(&arena);
    }
    escaped_close(&lines);
    kerf_text_free(&text);
    arena_free(&arena);
}

static char *repeated(const char *piece, size_t times, const char *end) {
    struct kerf_text text = {0};
    kerf_text_repeat(&text, piece, (int32_t)times);
    kerf_text_add(&text, end);
    return text.data;
}

static int32_t read_text(char *text, struct arena *arena) {
    const struct python_value *value;
    struct python_json_error error;
    int32_t code = python_json_read(text, strlen(text), arena, &value, &error);
    free(text);
    return code;
}

static void bounds(void **state) {
    (void)state;
    struct arena arena = {NULL};
    assert_int_equal(read_text(repeated("1", PYTHON_DIGITS_MAX, ""), &arena), KERF_OK);
    assert_int_equal(read_text(repeated("1", PYTHON_DIGITS_MAX + 1, ""), &arena), KERF_EINVALID);
    assert_int_equal(read_text(repeated("1", PYTHON_DIGITS_MAX + 1, ".5"), &arena), KERF_OK);
    assert_int_equal(read_text(repeated("[", PYTHON_NESTING_MAX, ""), &arena), KERF_ESYNTAX);
    assert_int_equal(read_text(repeated("[", PYTHON_NESTING_MAX + 1, ""), &arena), KERF_EINVALID);
    assert_int_equal(read_text(repeated("{\"a\":", 200000, ""), &arena), KERF_EINVALID);
    assert_int_equal(read_text(repeated("[],", 100, "1"), &arena), KERF_ESYNTAX);
    arena_free(&arena);
}

static void quotes(void **state) {
    (void)state;
    struct kerf_text out = {0};
    python_string_quote("a\"\\/\b\f\n\r\t\x01\x7f\xC3\xA9\xE2\x80\xA8", &out);
    assert_string_equal(out.data, "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f\xC3\xA9\xE2\x80\xA8\"");
    kerf_text_clear(&out);
    python_string_quote("\xC0\x80|\xED\xA0\x80|\xFF|\xE2\x80", &out); /* NUL, a surrogate, and no text */
    assert_string_equal(out.data, "\"\\u0000|\\ud800|\\ufffd|\\ufffd\\ufffd\"");
    kerf_text_free(&out);
}

static void encode_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"\xC3\xA9\xED\xA0\x80x\xED\xA0\x80",
         "'utf-8' codec can't encode character '\\ud800' in position 1: surrogates not allowed"},
        {"\xED\xBF\xBF\xED\xA0\x80", "'utf-8' codec can't encode characters in position 0-1: surrogates not allowed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kerf_text out = {0};
        struct python_text text = {cases[i].text, strlen(cases[i].text)};
        assert_true(python_text_has_surrogate(&text));
        python_text_encode_error(&text, &out);
        assert_string_equal(out.data, cases[i].error);
        kerf_text_free(&out);
    }
}

static void nul_in_strings(void **state) {
    (void)state;
    struct arena arena = {NULL};
    struct python_text text = {"\0a\0", 3};
    assert_true(python_text_has_nul(&text));
    assert_false(python_text_has_surrogate(&text));
    assert_string_equal(python_text_string(&text, &arena), "\xC0\x80"
                                                           "a\xC0\x80");
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_python_reads), cmocka_unit_test(bounds),         cmocka_unit_test(quotes),
        cmocka_unit_test(encode_errors),   cmocka_unit_test(nul_in_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
