/* SPDX-License-Identifier: Apache-2.0 */
/* Coercions, bounds and errors field by field: what pydantic 1.10 made of the same values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "escaped_lines.h"
#include "kerf/json.h"
#include "zeus/python_values.h"
#include "zeus/request.h"

static const char *const others[][2] = {
    {"job_id_prefix", "\"t\""}, {"batch_sizes", "[8,16,32]"}, {"default_batch_size", "16"},
    {"max_power", "300"},       {"number_of_gpus", "1"},      {"gpu_model", "\"V100\""},
    {"mab_seed", "7"},          {"job_id", "\"t-1\""},
};

static void write_body(struct kerf_text *body, const char *field, const struct escaped_field *value) {
    kerf_text_clear(body);
    kerf_text_add(body, "{");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i][0], field) != 0) kerf_text_printf(body, "\"%s\":%s,", others[i][0], others[i][1]);
    kerf_text_printf(body, "\"%s\":", field);
    kerf_text_write(body, value->bytes, value->length);
    kerf_text_add(body, "}");
}

/* The errors with {@ written out, and what stands around them. */
static void write_errors(struct kerf_text *out, const char *field, const char *errors) {
    kerf_text_add(out, "{\"detail\":[");
    for (const char *at; (at = strstr(errors, "{@")) != NULL; errors = at + 2) {
        kerf_text_write(out, errors, (size_t)(at - errors));
        kerf_text_printf(out, "{\"loc\":[\"body\",\"%s\"],\"msg\":", field);
    }
    kerf_text_add(out, errors);
    kerf_text_add(out, "]}");
}

/* The answer to a request of POST /jobs without REQUEST_MENDED, status before it. */
static int answer(const struct kerf_text *body, struct arena *arena, struct kerf_text *out) {
    struct request_body request = {body->data, body->length, NULL};
    struct request_refusal refusal = {0};
    struct kerf_job_spec spec;
    int status = 200;
    kerf_text_clear(out);
    if (request_parse_job(&request, 0, arena, &spec, &refusal) != KERF_OK) {
        status = refusal.plain ? -refusal.status : refusal.status;
        if (!refusal.plain) kerf_text_add(out, refusal.document.data);
    } else if (refusal.late) {
        status = 500;
        struct kerf_json json = {0};
        kerf_json_begin(&json, out);
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "message", refusal.late);
        kerf_json_close(&json, '}');
    } else if (request_write_job(&spec, out) != KERF_OK) {
        status = -500;
    }
    request_refusal_free(&refusal);
    return status;
}

static void as_pydantic_takes(void **state) {
    (void)state;
    struct escaped_lines lines;
    struct escaped_field field[4];
    struct arena arena = {NULL};
    struct kerf_text body = {0}, got = {0}, want = {0};
    escaped_open(&lines, "pydantic.txt");
    while (escaped_next(&lines, field, 4)) {
        write_body(&body, field[0].bytes, &field[1]);
        int status = answer(&body, &arena, &got);
        kerf_text_clear(&want);
        if (status == 422)
            write_errors(&want, field[0].bytes, field[3].bytes);
        else if (status == 200)
            kerf_text_printf(&want, "\"%s\":%s%c", field[0].bytes, field[3].bytes,
                             strcmp(field[0].bytes, "mab_seed") == 0 ? '}' : ',');
        else
            kerf_text_add(&want, field[3].bytes);
        int same = status == 200 ? strstr(got.data, want.data) != NULL
                                 : strcmp(got.data ? got.data : "", want.data ? want.data : "") == 0;
        if (status != atoi(field[2].bytes) || !same)
            fail_msg("pydantic.txt:%d: got %d %s", lines.number, status, got.data ? got.data : "");
        arena_reset(&arena);
    }
    escaped_close(&lines);
    kerf_text_free(&body);
    kerf_text_free(&got);
    kerf_text_free(&want);
    arena_free(&arena);
}

static struct python_value string_value(const char *string) {
    return (struct python_value){.kind = PYTHON_STRING, .bytes = string, .length = (uint32_t)strlen(string)};
}

static void long_numbers(void **state) {
    (void)state;
    struct arena arena = {NULL};
    struct kerf_text digits = {0};
    struct python_integer integer;
    double number;
    kerf_text_repeat(&digits, "0", PYTHON_DIGITS_MAX - 2);
    kerf_text_add(&digits, "16");
    struct python_value value = string_value(digits.data);
    assert_int_equal(python_integer_of(&value, &arena, &integer), PYTHON_DONE);
    assert_int_equal(integer.value, 16);
    kerf_text_add(&digits, " ");
    value = string_value(digits.data);
    assert_int_equal(python_integer_of(&value, &arena, &integer), PYTHON_NO_VALUE); /* a space too long */
    assert_int_equal(python_float_of(&value, &arena, &number), PYTHON_DONE);
    assert_true(number == 16);
    kerf_text_free(&digits);
    arena_free(&arena);
}

static void integers_in_order(void **state) {
    (void)state;
    static const struct python_integer ascending[] = {
        {0, "-123456789012345678901234567890"},
        {0, "-9223372036854775809"},
        {INT64_MIN, NULL},
        {-1, NULL},
        {0, NULL},
        {INT64_MAX, NULL},
        {0, "9223372036854775808"},
        {0, "9223372036854775809"},
        {0, "123456789012345678901234567890"},
    };
    int count = sizeof ascending / sizeof ascending[0];
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            int order = python_integer_compare(&ascending[i], &ascending[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_pydantic_takes),
        cmocka_unit_test(long_numbers),
        cmocka_unit_test(integers_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
