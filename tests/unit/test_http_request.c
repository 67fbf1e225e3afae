/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of Zeus's routes: recorded answers of Zeus's server, and what kerf refuses beyond them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include "escaped_lines.h"
#include "zeus/request.h"

static struct arena arena;
static struct request_refusal refusal;
static struct kerf_text echo;

static int tear_down(void **state) {
    (void)state;
    arena_free(&arena);
    request_refusal_free(&refusal);
    kerf_text_free(&echo);
    memset(&refusal, 0, sizeof refusal);
    return 0;
}

/* 0 when it is taken; after a job the echo is in `echo`. */
static int ask(const char *route, const char *type, const char *bytes, size_t length, int32_t flags) {
    struct request_body body = {bytes, length, type};
    struct kerf_job_spec spec;
    struct request_report report;
    struct request_trial trial;
    const char *job_id;
    int32_t code;
    kerf_text_clear(&echo);
    if (strcmp(route, "job") == 0) {
        code = request_parse_job(&body, flags, &arena, &spec, &refusal);
        if (code == KERF_OK && refusal.late == NULL) return request_write_job(&spec, &echo) == KERF_OK ? 200 : -500;
    } else if (strcmp(route, "report") == 0) {
        code = request_parse_report(&body, flags, &arena, &report, &refusal);
    } else if (strcmp(route, "trial") == 0) {
        code = request_parse_trial(&body, flags, &arena, &trial, &refusal);
    } else {
        code = request_parse_query(bytes, length, &arena, &job_id, &refusal);
    }
    if (code == KERF_OK && refusal.late) {
        kerf_text_clear(&refusal.document);
        request_write_message(refusal.late, &refusal.document);
        return 500;
    }
    return code == KERF_OK ? 0 : refusal.plain ? -refusal.status : refusal.status;
}

/* Whether what was asked has the recorded answer. */
static int as_recorded(const char *route, int got, int status, const char *document) {
    if (status == 0) return got == 0 || (strcmp(route, "job") == 0 && got == 200);
    if (got != status) return 0;
    if (status < 0) return 1;
    const struct kerf_text *text = status == 200 ? &echo : &refusal.document;
    return text->data && strcmp(text->data, document) == 0;
}

static void recorded(void **state) {
    (void)state;
    struct escaped_lines lines;
    struct escaped_field field[5]; /* route, type, body, status, document */
    int refused = 0;
    escaped_open(&lines, "requests.txt");
    while (escaped_next(&lines, field, 5)) {
        const char *type = strcmp(field[1].bytes, "-") == 0 ? NULL : field[1].bytes;
        int status = atoi(field[3].bytes);
        int got = ask(field[0].bytes, type, field[2].bytes, field[2].length, 0);
        if (!as_recorded(field[0].bytes, got, status, field[4].bytes))
            fail_msg("requests.txt:%d: got %d %s", lines.number, got, got > 200 ? refusal.document.data : "");
        refused += status > 200;
        /* what kerf mends it refuses besides; the rest stays as it is */
        int mended = ask(field[0].bytes, type, field[2].bytes, field[2].length, REQUEST_MENDED);
        if (mended != 422 && !as_recorded(field[0].bytes, mended, status, field[4].bytes))
            fail_msg("requests.txt:%d: mended: got %d", lines.number, mended);
        arena_reset(&arena);
    }
    escaped_close(&lines);
    assert_true(refused >= 180);
}

static void content_types(void **state) {
    (void)state;
    static const struct {
        const char *type;
        int is_json;
    } cases[] = {{NULL, 1},
                 {"", 1},
                 {" Application/JSON ;x", 1},
                 {"application/json;charset=utf-8", 1},
                 {"application/x+Json", 1},
                 {"application/+json", 1},
                 {"application/json\xA0", 1},
                 {"application/json/x", 0},
                 {"application/a/+json", 0},
                 {"application /json", 0},
                 {"application/ json", 0},
                 {";application/json", 0},
                 {"application", 0},
                 {"application/", 0},
                 {"/json", 0},
                 {"text/json", 0}};
    static const char trial[] = "{\"job_id\":\"a\",\"batch_size\":8,\"trial_number\":1}";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(ask("trial", cases[i].type, trial, sizeof trial - 1, 0), cases[i].is_json ? 0 : 422);
}

static void queries(void **state) {
    (void)state;
    static const struct {
        const char *query, *job_id; /* NULL: missing */
    } cases[] = {{"job_id=a&job_id=b&x=c", "b"},
                 {"job%5Fid=a", "a"},
                 {"job_id", ""},
                 {"&&job_id=%E4%B8%AD+x%22", "\xE4\xB8\xAD x\""},
                 {"job_id=%zz%4", "%zz%4"},
                 {"job_id=a;b=c", "a;b=c"},
                 {"job_id=%00", "\xC0\x80"},
                 {"job_id=\xE9", "\xC3\xA9"},
                 {"job_id=%E4%B8.%ED%A0%80", "\xEF\xBF\xBD.\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
                 {"job_id=%F0%9F%98\xE9", "\xEF\xBF\xBD\xC3\xA9"},
                 {"Job_id=1", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *job_id = NULL;
        int32_t code = request_parse_query(cases[i].query, strlen(cases[i].query), &arena, &job_id, &refusal);
        assert_int_equal(code, cases[i].job_id ? KERF_OK : KERF_EINVALID);
        if (cases[i].job_id) assert_string_equal(job_id, cases[i].job_id);
    }
    const char *job_id;
    assert_int_equal(request_parse_query(NULL, 0, &arena, &job_id, &refusal), KERF_EINVALID);
    assert_string_equal(refusal.document.data, "{\"detail\":[{\"loc\":[\"query\",\"job_id\"],\"msg\":\"field "
                                               "required\",\"type\":\"value_error.missing\"}]}");
}

#define JOB                                                                                                            \
    "{\"job_id\":\"t-1\",\"job_id_prefix\":\"t\",\"gpu_model\":\"V100\",\"number_of_gpus\":1,"                         \
    "\"max_power\":300,\"batch_sizes\":[8,16],\"default_batch_size\":16,"
#define REPORT                                                                                                         \
    "{\"job_id\":\"t\",\"batch_size\":8,\"trial_number\":1,\"time\":1,\"current_epoch\":1,\"metric\":1,\"energy\":1,"
#define FINITE "\"msg\":\"ensure this value is a finite number\",\"type\":\"value_error.number.not_finite_number\"}"
#define FROM_0                                                                                                         \
    "\"msg\":\"ensure this value is greater than or equal to 0\",\"type\":\"value_error.number.not_ge\","              \
    "\"ctx\":{\"limit_value\":0}}"
#define ABOVE_0                                                                                                        \
    "\"msg\":\"ensure this value is greater than 0\",\"type\":\"value_error.number.not_gt\","                          \
    "\"ctx\":{\"limit_value\":0}}"
#define STORED "\"msg\":\"ensure this value has neither NUL nor lone surrogates\",\"type\":\"value_error\"}"

/* A later key counts, so that each case changes a good request. */
static void mended(void **state) {
    (void)state;
    static const struct {
        const char *route, *body;
        int status; /* without REQUEST_MENDED; with it 422 */
        const char *errors;
    } cases[] = {
        {"job", JOB "\"max_power\":Infinity}", -500, "{\"loc\":[\"body\",\"max_power\"]," FINITE},
        {"job", JOB "\"eta_knob\":NaN}", -500, "{\"loc\":[\"body\",\"eta_knob\"]," FINITE},
        {"job", JOB "\"beta_knob\":\"inf\"}", -500, "{\"loc\":[\"body\",\"beta_knob\"]," FINITE},
        {"job", JOB "\"target_metric\":-1e999,\"mab_seed\":-1}", -500,
         "{\"loc\":[\"body\",\"target_metric\"]," FINITE ",{\"loc\":[\"body\",\"mab_seed\"]," FROM_0},
        {"job", JOB "\"batch_sizes\":[16,0,-8]}", 200,
         "{\"loc\":[\"body\",\"batch_sizes\",1]," ABOVE_0 ",{\"loc\":[\"body\",\"batch_sizes\",2]," ABOVE_0},
        {"job", JOB "\"batch_sizes\":[16,8,\"16\",8]}", 200,
         "{\"loc\":[\"body\",\"batch_sizes\"],\"msg\":\"the list has duplicated items\","
         "\"type\":\"value_error.list.unique_items\"}"},
        {"job", JOB "\"window_size\":9223372036854775808}", 500,
         "{\"loc\":[\"body\",\"window_size\"],\"msg\":\"ensure this value is less than or equal to "
         "9223372036854775807\",\"type\":\"value_error.number.not_le\",\"ctx\":{\"limit_value\":9223372036854775807}}"},
        {"job", JOB "\"gpu_model\":\"\\ud800\"}", 500, "{\"loc\":[\"body\",\"gpu_model\"]," STORED},
        {"job", JOB "\"job_id\":\"t\\u0000\"}", 200, "{\"loc\":[\"body\",\"job_id\"]," STORED},
        {"job", JOB "\"lease_s\":0}", 200, "{\"loc\":[\"body\",\"lease_s\"]," ABOVE_0},
        {"job", JOB "\"lease_s\":Infinity}", 200, "{\"loc\":[\"body\",\"lease_s\"]," FINITE},
        {"report", REPORT "\"energy\":-1,\"time\":NaN}", 0,
         "{\"loc\":[\"body\",\"time\"]," FINITE ",{\"loc\":[\"body\",\"energy\"]," FROM_0},
        {"report", REPORT "\"metric\":-Infinity}", 0, "{\"loc\":[\"body\",\"metric\"]," FINITE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kerf_text want = {0};
        kerf_text_printf(&want, "{\"detail\":[%s]}", cases[i].errors);
        assert_int_equal(ask(cases[i].route, NULL, cases[i].body, strlen(cases[i].body), 0), cases[i].status);
        assert_int_equal(ask(cases[i].route, NULL, cases[i].body, strlen(cases[i].body), REQUEST_MENDED), 422);
        assert_string_equal(refusal.document.data, want.data);
        kerf_text_free(&want);
    }
}

/* A job_id may be as long as every database can index; the server adds nine bytes to a prefix. */
static void long_names(void **state) {
    (void)state;
    static const struct {
        const char *field;
        int length, status;
    } cases[] = {{"job_id", REQUEST_JOB_ID_MAX, 200},
                 {"job_id", REQUEST_JOB_ID_MAX + 1, 422},
                 {"job_id", 2700, 422},
                 {"job_id_prefix", REQUEST_JOB_ID_MAX - 9, 200},
                 {"job_id_prefix", REQUEST_JOB_ID_MAX - 8, 422}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_text body = {0};
        kerf_text_printf(&body, JOB "\"job_id\":null,\"job_id_prefix\":\"\",\"%s\":\"", cases[i].field);
        kerf_text_repeat(&body, "t", cases[i].length);
        kerf_text_add(&body, "\"}");
        assert_int_equal(ask("job", NULL, body.data, body.length, REQUEST_MENDED), cases[i].status);
        if (cases[i].status == 422) assert_non_null(strstr(refusal.document.data, "\"limit_value\":10"));
        assert_int_equal(ask("job", NULL, body.data, body.length, 0), 200);
        kerf_text_free(&body);
    }
}

/* Names all that there are. */
static void unknown_policy(void **state) {
    (void)state;
    static const char body[] = JOB "\"policy\":\"b\\\"st\"}";
    struct kerf_text want = {0}, names = {0};
    const struct kerf_job_policy *policy;
    kerf_text_add(&want, "{\"detail\":[{\"loc\":[\"body\",\"policy\"],\"msg\":\"unexpected value; permitted: ");
    for (size_t i = 0; (policy = kerf_job_policy_at(i)) != NULL; i++) {
        kerf_text_printf(&want, "%s'%s'", i ? ", " : "", policy->name);
        kerf_text_printf(&names, "%s\"%s\"", i ? "," : "", policy->name);
    }
    kerf_text_printf(&want, "\",\"type\":\"value_error.const\",\"ctx\":{\"given\":\"b\\\"st\",\"permitted\":[%s]}}]}",
                     names.data);
    assert_int_equal(ask("job", NULL, body, sizeof body - 1, REQUEST_MENDED), 422);
    assert_string_equal(refusal.document.data, want.data);
    assert_int_equal(ask("job", NULL, body, sizeof body - 1, 0), 200);
    kerf_text_free(&want);
    kerf_text_free(&names);
}

static void additions(void **state) {
    (void)state;
    static const char body[] = JOB "\"policy\":\"zeus\",\"lease_s\":\"9e2\"}";
    static const char unsaid[] = JOB "\"policy\":null,\"lease_s\":null}";
    assert_int_equal(ask("job", NULL, body, sizeof body - 1, REQUEST_MENDED), 200);
    assert_non_null(strstr(echo.data, ",\"mab_seed\":null,\"policy\":\"zeus\",\"lease_s\":900.0}"));
    assert_int_equal(ask("job", NULL, body, sizeof body - 1, 0), 200);
    assert_non_null(strstr(echo.data, ",\"mab_seed\":null}"));
    assert_int_equal(ask("job", NULL, unsaid, sizeof unsaid - 1, REQUEST_MENDED), 200);
    assert_non_null(strstr(echo.data, ",\"mab_seed\":null}"));
}

static void values(void **state) {
    (void)state;
    static const char bytes[] = "{\"job_id\":7,\"batch_size\":\" 1_6 \",\"trial_number\":3.9,\"time\":\"1e3\","
                                "\"energy\":true,\"metric\":-0.0,\"current_epoch\":\"-2\"}";
    struct request_body body = {bytes, sizeof bytes - 1, "application/json"};
    struct request_report report;
    assert_int_equal(request_parse_report(&body, REQUEST_MENDED, &arena, &report, &refusal), KERF_OK);
    assert_string_equal(report.job_id, "7");
    assert_int_equal(report.report.batch_size, 16);
    assert_int_equal(report.report.trial_number, 3);
    assert_true(report.report.time_s == 1000 && report.report.energy_j == 1 && report.report.metric == 0);
    assert_true(signbit(report.report.metric));
    assert_int_equal(report.report.current_epoch, -2);
}

/* Text that no job has reaches the caller where Zeus's server would not fail on it. */
static void odd_job_ids(void **state) {
    (void)state;
    static const char bytes[] = "{\"job_id\":\"a\\u0000\\udc00\",\"batch_size\":8,\"trial_number\":1}";
    struct request_body body = {bytes, sizeof bytes - 1, NULL};
    struct request_trial trial;
    assert_int_equal(request_parse_trial(&body, REQUEST_MENDED, &arena, &trial, &refusal), KERF_OK);
    assert_string_equal(trial.job_id, "a\xC0\x80\xED\xB0\x80");
    request_write_message(trial.job_id, &echo);
    assert_string_equal(echo.data, "{\"message\":\"a\\u0000\\udc00\"}");
    assert_int_equal(request_parse_trial(&body, 0, &arena, &trial, &refusal), KERF_EINVALID);
    assert_int_equal(refusal.status, 500);
    assert_string_equal(refusal.document.data, "{\"message\":\"'utf-8' codec can't encode character '\\\\udc00' in "
                                               "position 2: surrogates not allowed\"}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(recorded, tear_down),       cmocka_unit_test_teardown(content_types, tear_down),
        cmocka_unit_test_teardown(queries, tear_down),        cmocka_unit_test_teardown(mended, tear_down),
        cmocka_unit_test_teardown(additions, tear_down),      cmocka_unit_test_teardown(long_names, tear_down),
        cmocka_unit_test_teardown(unknown_policy, tear_down), cmocka_unit_test_teardown(values, tear_down),
        cmocka_unit_test_teardown(odd_job_ids, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
