/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON: what is taken, and the line, column and words of what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"

static const char *line_of(const struct kerf_error *err) {
    static char line[1024];
    kerf_error_format(err, line, sizeof line);
    return line;
}

#define expect_error(err, expected_code, text)                                                                         \
    do {                                                                                                               \
        assert_int_equal((err).code, expected_code);                                                                   \
        assert_string_equal(line_of(&(err)), text);                                                                    \
    } while (0)

static int32_t parse(struct json_document *document, const char *text, struct json_object *root,
                     struct kerf_error *err) {
    return json_document_parse(document, text, strlen(text), "t.json", root, err);
}

/* ---- Documents ---------------------------------------------------------------------------------------- */

static void refuses_what_is_no_object(void **state) {
    (void)state;
    static const struct {
        const char *text, *line;
        int32_t code;
    } cases[] = {
        {"[]", "t.json:1:1: a JSON object {...} is expected here", KERF_EINVALID},
        {"\n  \t[1,\n2]", "t.json:2:4: a JSON object {...} is expected here", KERF_EINVALID},
        {"7", "t.json:1:1: a JSON object {...} is expected here", KERF_EINVALID},
        {"\"text\"", "t.json:1:1: a JSON object {...} is expected here", KERF_EINVALID},
        {"null", "t.json:1:1: a JSON object {...} is expected here", KERF_EINVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_document document;
        struct json_object root;
        struct kerf_error err;
        assert_int_equal(parse(&document, cases[i].text, &root, &err), cases[i].code);
        expect_error(err, cases[i].code, cases[i].line);
        json_document_free(&document);
        assert_int_equal(parse(&document, cases[i].text, &root, NULL), cases[i].code);
        json_document_free(&document);
    }
}

/* jansson's own words are its business; the place, the source and our hint are ours. */
static void says_where_the_syntax_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text; /* @: where the error points; it is taken out */
        size_t length;    /* of a text with NUL bytes; 0: up to its end */
        const char *hint;
    } cases[] = {
        {"@", 0, "; the input is empty"},
        {"{\"a\": 1@", 0, "; the end is missing"},
        {"{\n\"a\":\n1,\n@", 0, "; the end is missing"},
        {"@hello", 0, "; a JSON object {...} is expected"},
        {"[1,\n  @]", 0, "; a JSON object {...} is expected"},
        {"{\"a\": @NaN}", 0, "; a number must be finite"},
        {"{\"a\": @-Infinity}", 0, "; a number must be finite"},
        {"{\"a\": @Infinity}", 0, "; a number must be finite"},
        {"{\"a\": 1,\n @\"a\": 2}", 0, "; give each key once"},
        {"{\"a\": {\"b\": 1, @\"b\": 1}}", 0, "; give each key once"},
        {"{\"a\": @1e999}", 0, "; the number is too large"},
        {"{\"a\": [@-1e999]}", 0, "; the number is too large"},
        {"{\"a\": 1,@}", 0, "; there is a comma too many before it"},
        {"{\"a\": [1, \n @]}", 0, "; there is a comma too many before it"},
        {"{\"a\": 1\n @\"b\": 2}", 0, "; is a comma missing before it?"},
        {"{\"a\" @\"b\"}", 0, ""},
        {"{\"a\": @}", 0, ""},
        {"{@'a': 1}", 0, "; text takes double quotes"},
        {"{\"a\": 1, thiswordislongerthanjanssonquotes@}", 0, ""},
        {"{\"a\": @}", 0, ""},
        {"{@]}", 0, ""},
        {"{\"a\": 1} @x", 0, ""},
        {"{\"caf\xc3\xa9\": @01}", 0, ""}, /* columns count bytes */
        {"@// {}", 0, "; a JSON object {...} is expected"},
        {"@\0\0\0\0", 5, "a NUL byte; is it the right file, and saved as UTF-8?"},
        {"{\"a\": 1}\n@\0", 11, "a NUL byte; "},
        {"{\"a@\0b\": 1}", 12, "a NUL byte; "},
        {"@\xff\xfe{\0}\0", 7, "a NUL byte; "}, /* UTF-16; below */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_document document;
        struct json_object root;
        struct kerf_error err;
        size_t length = (cases[i].length ? cases[i].length : strlen(cases[i].text)) - 1;
        const char *mark = strchr(cases[i].text, '@');
        size_t place = (size_t)(mark - cases[i].text);
        char *text =
            malloc(length ? length : 1); /* exactly as long, so that a sanitizer sees what is read past its end */
        memcpy(text, cases[i].text, place);
        memcpy(text + place, mark + 1, length - place);
        if (length > 1 && (unsigned char)text[0] == 0xff) place = 3;
        int32_t line = 1, column = 1;
        for (size_t k = 0; k < place; k++) {
            column = text[k] == '\n' ? 1 : column + 1;
            line += text[k] == '\n';
        }
        assert_int_equal(json_document_parse(&document, text, length, "t.json", &root, &err), KERF_ESYNTAX);
        if (!strstr(err.message, cases[i].hint) || strncmp(err.message, "not valid JSON: ", 16) != 0)
            fail_msg("case %zu: '%s' lacks '%s'", i, err.message, cases[i].hint);
        if (cases[i].hint[0] == 0 && strchr(err.message, ';')) fail_msg("case %zu: '%s' says too much", i, err.message);
        assert_string_equal(err.file, "t.json");
        if (err.line != line || err.column != column)
            fail_msg("case %zu: %s, not %d:%d", i, line_of(&err), line, column);
        assert_null(strpbrk(err.message, "\n\r\t\033"));
        json_document_free(&document);
        free(text);
    }
}

/* Where in a string the bytes are no text, jansson does not say to the byte. */
static void refuses_what_is_no_utf8(void **state) {
    (void)state;
    static const char *const texts[] = {"{\"a\": \"\xe2\x82", "{\"a\": \"\xff\"}", "{\"a\":\n\"\xc0\xaf\"}",
                                        "\xff\xfe{}", "{\"\xed\xa0\x80\": 1}"};
    static const int32_t lines[] = {1, 1, 2, 1, 1};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct json_document document;
        struct json_object root;
        struct kerf_error err;
        assert_int_equal(parse(&document, texts[i], &root, &err), KERF_ESYNTAX);
        assert_non_null(strstr(err.message, "; save it as UTF-8"));
        assert_int_equal(err.line, lines[i]);
        assert_true(err.column >= 1 && err.column <= (int)strlen(texts[i]) + 1);
        json_document_free(&document);
    }
    struct json_document document;
    struct json_object root;
    struct kerf_error err;
    assert_int_equal(parse(&document, "{\"a\": \"\\u0000\"}", &root, &err), KERF_ESYNTAX);
    json_document_free(&document);
}

/* Files saved on Windows begin with one; columns do not count it. */
static void passes_over_a_byte_order_mark(void **state) {
    (void)state;
    struct json_document document;
    struct json_object root;
    struct kerf_error err;
    int64_t value;
    assert_int_equal(parse(&document, "\xef\xbb\xbf{\"a\": 7}", &root, &err), KERF_OK);
    assert_int_equal(json_get_integer(&root, "a", JSON_REQUIRED, 8, 9, &value, &err), KERF_EINVALID);
    expect_error(err, KERF_EINVALID, "t.json:1:7: \"a\" must lie between 8 and 9, not 7");
    json_document_free(&document);
    assert_int_equal(parse(&document, "\xef\xbb\xbf", &root, &err), KERF_ESYNTAX);
    assert_non_null(strstr(err.message, "; the input is empty"));
    json_document_free(&document);
    assert_int_equal(parse(&document, "\xef\xbb\xbf\xef\xbb\xbf{}", &root, &err), KERF_ESYNTAX);
    json_document_free(&document);
}

static void survives_deep_nesting(void **state) {
    (void)state;
    enum { DEPTH = 200000 };
    char *text = malloc(DEPTH);
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < DEPTH; i++) text[i] = kind == 0 ? '[' : "{\"a\":"[i % 5];
        struct json_document document;
        struct json_object root;
        struct kerf_error err;
        assert_int_equal(json_document_parse(&document, text, DEPTH, "deep", &root, &err), KERF_ESYNTAX);
        assert_non_null(strstr(err.message, "; it nests too deeply"));
        assert_int_equal(err.line, 1);
        json_document_free(&document);
    }
    free(text);
}

static void takes_no_text_at_all(void **state) {
    (void)state;
    struct json_document document;
    struct json_object root;
    struct kerf_error err;
    assert_int_equal(json_document_parse(&document, NULL, 0, "none", &root, &err), KERF_ESYNTAX);
    assert_non_null(strstr(line_of(&err), "none:1:1: not valid JSON"));
    json_document_free(&document);
}

/* ---- Getters ------------------------------------------------------------------------------------------ */

static const char *const sample = "{\n"
                                  "  \"count\": 12, \"real\": 2.5,\n"
                                  "\t\"whole\": 1e3, \"none\": null,\r\n"
                                  "  \"far\" : 1e300, \"yes\": true, \"no\":false,\n"
                                  "  \"tricky\": \"a \\\" } ] , \\\\\", \"list\": [[1, {\"x\": [\"]\"]}], \"}\"],\n"
                                  "  \"name\"\n:\n  \"n\",\n"
                                  "  \"inner\": {\"a\": {\"b\": -1,\n \"c\": \"\xc3\xa9\"}, \"d\": 3}\n"
                                  "}\n";

static void reads_what_is_there(void **state) {
    (void)state;
    struct json_document document;
    struct json_object root, inner, a;
    struct kerf_error err;
    int64_t value = -7;
    int32_t yes = -7;
    const char *text = "as before";
    assert_int_equal(parse(&document, sample, &root, &err), KERF_OK);
    assert_int_equal(json_get_integer(&root, "count", JSON_REQUIRED, 12, 12, &value, &err), KERF_OK);
    assert_int_equal(value, 12);
    assert_int_equal(json_get_integer(&root, "whole", JSON_REQUIRED, 1, 1000, &value, &err), KERF_OK);
    assert_int_equal(value, 1000);
    assert_int_equal(json_get_integer(&root, "absent", JSON_OPTIONAL, 1, 2, &value, &err), KERF_OK);
    assert_int_equal(value, 1000); /* untouched */
    assert_int_equal(json_get_string(&root, "absent", JSON_OPTIONAL, &text, &err), KERF_OK);
    assert_string_equal(text, "as before");
    assert_int_equal(json_get_string(&root, "tricky", JSON_REQUIRED, &text, &err), KERF_OK);
    assert_string_equal(text, "a \" } ] , \\");
    assert_int_equal(json_get_boolean(&root, "absent", JSON_OPTIONAL, &yes, &err), KERF_OK);
    assert_int_equal(yes, -7);
    assert_int_equal(json_get_boolean(&root, "yes", JSON_REQUIRED, &yes, &err), KERF_OK);
    assert_int_equal(yes, 1);
    assert_int_equal(json_get_boolean(&root, "no", JSON_REQUIRED, &yes, &err), KERF_OK);
    assert_int_equal(yes, 0);
    assert_int_equal(json_get_object(&root, "inner", JSON_REQUIRED, &inner, &err), KERF_OK);
    assert_int_equal(json_get_object(&inner, "a", JSON_REQUIRED, &a, &err), KERF_OK);
    assert_int_equal(json_get_integer(&a, "b", JSON_REQUIRED, -1, 5, &value, &err), KERF_OK);
    assert_int_equal(value, -1);
    assert_true(json_has(&root, "count"));
    assert_false(json_has(&root, "none"));
    assert_false(json_has(&root, "absent"));
    json_document_free(&document);
}

static void says_what_is_wrong_where(void **state) {
    (void)state;
    struct json_document document;
    struct json_object root, inner, a, unused;
    struct kerf_error err;
    int64_t value = 42;
    int32_t yes = 42;
    const char *text = "as before";
    assert_int_equal(parse(&document, sample, &root, &err), KERF_OK);
    assert_int_equal(json_get_object(&root, "inner", JSON_REQUIRED, &inner, &err), KERF_OK);
    assert_int_equal(json_get_object(&inner, "a", JSON_REQUIRED, &a, &err), KERF_OK);

    json_get_integer(&root, "absent", JSON_REQUIRED, 1, 2, &value, &err);
    expect_error(err, KERF_EINVALID, "t.json:1:1: \"absent\" is missing");
    json_get_integer(&root, "count", JSON_REQUIRED, 13, 20, &value, &err);
    expect_error(err, KERF_EINVALID, "t.json:2:12: \"count\" must lie between 13 and 20, not 12");
    json_get_integer(&root, "count", JSON_REQUIRED, 1, 11, &value, &err);
    expect_error(err, KERF_EINVALID, "t.json:2:12: \"count\" must lie between 1 and 11, not 12");
    json_get_integer(&root, "real", JSON_OPTIONAL, 1, 11, &value, &err);
    expect_error(err, KERF_EINVALID, "t.json:2:24: \"real\" must be a whole number, not 2.5");
    json_get_integer(&root, "none", JSON_OPTIONAL, 1, 11, &value, &err);
    expect_error(err, KERF_EINVALID, "t.json:3:24: \"none\" must be a whole number between 1 and 11, not null");
    json_get_integer(&root, "far", JSON_REQUIRED, 1, 11, &value, &err);
    assert_int_equal(err.line, 4);
    assert_int_equal(err.column, 11);
    json_get_integer(&root, "yes", JSON_REQUIRED, 1, 11, &value, &err);
    expect_error(err, KERF_EINVALID, "t.json:4:25: \"yes\" must be a whole number between 1 and 11, not true or false");
    json_get_boolean(&root, "tricky", JSON_REQUIRED, &yes, &err);
    expect_error(err, KERF_EINVALID, "t.json:5:13: \"tricky\" must be true or false, not text");
    json_get_string(&root, "list", JSON_REQUIRED, &text, &err);
    expect_error(err, KERF_EINVALID, "t.json:5:38: \"list\" must be text, not an array");
    json_get_integer(&root, "name", JSON_REQUIRED, 1, 2, &value, &err);
    expect_error(err, KERF_EINVALID, "t.json:8:3: \"name\" must be a whole number between 1 and 2, not text");
    json_get_object(&root, "count", JSON_REQUIRED, &unused, &err);
    expect_error(err, KERF_EINVALID, "t.json:2:12: \"count\" must be an object {...}, not a number");
    json_get_integer(&root, "inner", JSON_REQUIRED, 1, 2, &value, &err);
    expect_error(err, KERF_EINVALID, "t.json:9:12: \"inner\" must be a whole number between 1 and 2, not an object");
    json_get_integer(&a, "b", JSON_REQUIRED, 1, 2, &value, &err);
    expect_error(err, KERF_EINVALID, "t.json:9:24: \"b\" must lie between 1 and 2, not -1");
    json_get_integer(&a, "c", JSON_REQUIRED, 1, 2, &value, &err);
    expect_error(err, KERF_EINVALID, "t.json:10:7: \"c\" must be a whole number between 1 and 2, not text");
    json_get_string(&inner, "d", JSON_REQUIRED, &text, &err);
    expect_error(err, KERF_EINVALID, "t.json:10:19: \"d\" must be text, not a number"); /* columns count bytes */
    json_get_string(&inner, "e", JSON_REQUIRED, &text, &err);
    expect_error(err, KERF_EINVALID, "t.json:9:12: \"e\" is missing");
    json_get_string(&a, "e", JSON_REQUIRED, &text, &err);
    expect_error(err, KERF_EINVALID, "t.json:9:18: \"e\" is missing");

    assert_int_equal(value, 42); /* written on success alone */
    assert_int_equal(yes, 42);
    assert_string_equal(text, "as before");
    assert_int_equal(json_get_string(&a, "e", JSON_REQUIRED, &text, NULL), KERF_EINVALID);
    json_document_free(&document);
}

/* A key may occur as a value, or deeper, before it occurs as a key. */
static void finds_the_key_itself(void **state) {
    (void)state;
    const char *text = "{\"x\": \"k\", \"y\": {\"k\": 1}, \"z\": [\"k\", {\"k\": 2}], \"kk\": 3, \"k\": \"here\"}";
    struct json_document document;
    struct json_object root;
    struct kerf_error err;
    int64_t value;
    assert_int_equal(parse(&document, text, &root, &err), KERF_OK);
    assert_int_equal(json_get_integer(&root, "k", JSON_REQUIRED, 1, 2, &value, &err), KERF_EINVALID);
    assert_int_equal(err.line, 1);
    assert_int_equal(err.column, (int)(strstr(text, "\"here\"") - text) + 1);
    json_document_free(&document);
}

static void an_escaped_key_has_its_objects_place(void **state) {
    (void)state;
    struct json_document document;
    struct json_object root;
    struct kerf_error err;
    int64_t value;
    assert_int_equal(parse(&document, "  {\"\\u006b\": \"text\"}", &root, &err), KERF_OK);
    assert_int_equal(json_get_integer(&root, "k", JSON_REQUIRED, 1, 2, &value, &err), KERF_EINVALID);
    expect_error(err, KERF_EINVALID, "t.json:1:3: \"k\" must be a whole number between 1 and 2, not text");
    json_document_free(&document);
}

/* ---- Keys --------------------------------------------------------------------------------------------- */

static void names_the_nearest_key(void **state) {
    (void)state;
    static const char *const names[] = {"latency_s", "efficiency", "size"};
    struct json_document document;
    struct json_object root, inner;
    struct kerf_error err;
    assert_int_equal(parse(&document, "{\"size\": 1, \"latency_s\": 2}", &root, &err), KERF_OK);
    assert_int_equal(json_check_keys(&root, names, 3, &err), KERF_OK);
    json_document_free(&document);

    assert_int_equal(parse(&document, "{\"size\": 1,\n   \"latncy_s\": 2}", &root, &err), KERF_OK);
    assert_int_equal(json_check_keys(&root, names, 3, &err), KERF_EUNKNOWN);
    expect_error(err, KERF_EUNKNOWN, "t.json:2:4: unknown key \"latncy_s\"; did you mean \"latency_s\"?");
    json_document_free(&document);

    assert_int_equal(parse(&document, "{\"inner\":\n{\"size\": 1, \"colour\": 2}}", &root, &err), KERF_OK);
    assert_int_equal(json_get_object(&root, "inner", JSON_REQUIRED, &inner, &err), KERF_OK);
    assert_int_equal(json_check_keys(&inner, names, 3, &err), KERF_EUNKNOWN);
    expect_error(err, KERF_EUNKNOWN,
                 "t.json:2:13: unknown key \"colour\"; the keys here are latency_s, efficiency, size");
    assert_int_equal(json_check_keys(&inner, names, 3, NULL), KERF_EUNKNOWN);
    json_document_free(&document);
}

static void messages_are_one_line_of_text(void **state) {
    (void)state;
    static const char *const names[] = {"size"};
    struct json_document document;
    struct json_object root;
    struct kerf_error err;
    char text[200] = "{\"\\n\\u001b\\u009b";
    for (int i = 0; i < 40; i++) strcat(text, "\xc3\xa9"); /* cut at byte 64, within a letter */
    strcat(text, "\": 1}");
    assert_int_equal(parse(&document, text, &root, &err), KERF_OK);
    assert_int_equal(json_check_keys(&root, names, 1, &err), KERF_EUNKNOWN);
    json_t *utf8 = json_string(err.message);
    assert_non_null(utf8);
    json_decref(utf8);
    for (const char *c = err.message; *c; c++) assert_true((unsigned char)*c >= ' ');
    assert_null(strstr(err.message, "\xc2\x9b"));
    json_document_free(&document);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_no_object), cmocka_unit_test(says_where_the_syntax_is_wrong),
        cmocka_unit_test(refuses_what_is_no_utf8),   cmocka_unit_test(passes_over_a_byte_order_mark),
        cmocka_unit_test(survives_deep_nesting),     cmocka_unit_test(takes_no_text_at_all),
        cmocka_unit_test(reads_what_is_there),       cmocka_unit_test(says_what_is_wrong_where),
        cmocka_unit_test(finds_the_key_itself),      cmocka_unit_test(an_escaped_key_has_its_objects_place),
        cmocka_unit_test(names_the_nearest_key),     cmocka_unit_test(messages_are_one_line_of_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
