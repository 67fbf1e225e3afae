/* SPDX-License-Identifier: Apache-2.0 */
/* /metrics is read as Prometheus reads it: its text format, the series of jobs, and the metrics that the dashboard in
 * share/grafana asks for. A database that hangs: test_serve_shared.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "kerf/text.h"
#include "serve_client.h"
#include "server/access.h"
#include "server/job_series.h"
#include "store/store.h"

enum { SAMPLES = 16384, NAME = 80, MORE_JOBS = 3 };

static struct place place;
static struct client client;
static struct reply reply;

static int start(void **state) {
    (void)state;
    place_make(&place);
    place_start(&place, 0);
    client_open(&client, place.port);
    return 0;
}

static int stop(void **state) {
    (void)state;
    client_close(&client);
    place_clear(&place);
    return 0;
}

/* ---- The text format ------------------------------------------------------------------------------------------ */

struct sample {
    char name[NAME];
    struct kerf_text labels; /* {job="a"} as job, 0x01, a, 0x02: without escapes */
    double value;
};

static struct sample samples[SAMPLES];
static int num_samples;

static void forget_samples(void) {
    for (int i = 0; i < num_samples; i++) kerf_text_free(&samples[i].labels);
    num_samples = 0;
}

static const char *skip_name(const char *c) {
    assert_true(isalpha((unsigned char)*c) || *c == '_');
    while (isalnum((unsigned char)*c) || *c == '_') c++;
    return c;
}

/* Behind the quote that ends the value. Nothing but \\, \" and \n is an escape. */
static const char *read_value(const char *c, struct kerf_text *out) {
    for (; *c != '"'; c++) {
        assert_true(*c && *c != '\n');
        if (*c == '\\') {
            c++;
            assert_true(*c == '\\' || *c == '"' || *c == 'n');
            kerf_text_add(out, *c == 'n' ? "\n" : *c == '"' ? "\"" : "\\");
        } else {
            kerf_text_write(out, c, 1);
        }
    }
    return c + 1;
}

static const char *read_labels(const char *c, struct kerf_text *out) {
    if (*c != '{') return c;
    for (c++; *c != '}'; c += *c == ',') {
        const char *end = skip_name(c);
        kerf_text_write(out, c, (size_t)(end - c));
        kerf_text_add(out, "\x01");
        assert_true(end[0] == '=' && end[1] == '"');
        c = read_value(end + 2, out);
        kerf_text_add(out, "\x02");
        assert_true(*c == ',' || *c == '}');
    }
    return c + 1;
}

static const char *read_sample(const char *c, const char *family) {
    struct sample *sample = &samples[num_samples++];
    const char *end = skip_name(c);
    char *last;
    assert_true(num_samples < SAMPLES && end - c < NAME);
    *sample = (struct sample){.value = 0};
    memcpy(sample->name, c, (size_t)(end - c));
    assert_int_equal(strncmp(sample->name, family, strlen(family)), 0); /* or "_bucket" and so on behind it */
    c = read_labels(end, &sample->labels);
    assert_int_equal(*c, ' ');
    sample->value = strtod(c + 1, &last);
    assert_true(last > c + 1 && *last == '\n');
    return last + 1;
}

static int compare(const void *a, const void *b) {
    const struct sample *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->labels.data ? x->labels.data : "", y->labels.data ? y->labels.data : "");
}

/* Every line, and that no two samples have the same name and labels. */
static void read_metrics(void) {
    char family[NAME] = "", families[8192] = " ";
    forget_samples();
    assert_int_equal(client_ask(&client, &reply, "GET", "/metrics", NULL), 200);
    assert_int_equal(strlen(reply.body), reply.length);
    for (const char *c = reply.body; *c; c += utf8_code_point(c)) assert_true(utf8_code_point(c));
    for (const char *c = reply.body; *c;) {
        if (*c != '#') {
            c = read_sample(c, family);
            continue;
        }
        if (strncmp(c, "# HELP ", 7) == 0) {
            const char *end = skip_name(c + 7);
            snprintf(family, sizeof family, "%.*s", (int)(end - c - 7), c + 7);
            char once[NAME + 2];
            snprintf(once, sizeof once, " %s ", family);
            assert_null(strstr(families, once)); /* all of a family stands together */
            assert_true(strlen(families) + strlen(once) < sizeof families);
            strcat(families, once + 1);
        } else {
            assert_int_equal(strncmp(c, "# TYPE ", 7), 0);
            assert_int_equal(strncmp(c + 7, family, strlen(family)), 0);
        }
        c = strchr(c, '\n') + 1;
    }
    qsort(samples, (size_t)num_samples, sizeof *samples, compare);
    for (int i = 1; i < num_samples; i++) assert_int_not_equal(compare(&samples[i - 1], &samples[i]), 0);
}

/* NaN: there is none. stage NULL: the metric has no such label. */
static double value_of(const char *name, const char *job, const char *stage) {
    struct kerf_text labels = {0};
    double value = NAN;
    if (job) kerf_text_printf(&labels, "job_id\x01%s\x02", job);
    if (stage) kerf_text_printf(&labels, "stage\x01%s\x02", stage);
    for (int i = 0; i < num_samples; i++)
        if (strcmp(samples[i].name, name) == 0 &&
            strcmp(samples[i].labels.data ? samples[i].labels.data : "", labels.data ? labels.data : "") == 0)
            value = samples[i].value;
    kerf_text_free(&labels);
    return value;
}

static int count_of(const char *name) {
    int count = 0;
    for (int i = 0; i < num_samples; i++) count += strcmp(samples[i].name, name) == 0;
    return count;
}

#define assert_value(name, job, value) assert_true(value_of((name), (job), NULL) == (value))
#define assert_none(name, job)         assert_true(isnan(value_of((name), (job), NULL)))

/* ---- Jobs ----------------------------------------------------------------------------------------------------- */

static void test_a_run(void **state) {
    (void)state;
    int64_t size, trial;
    read_metrics();
    assert_value("kerf_store_up", NULL, 1);
    assert_value("kerf_jobs_not_shown", NULL, 0);
    assert_int_equal(count_of("kerf_job_trials_total"), 0);
    assert_int_equal(register_job(&client, "j", "64", ",\"num_pruning_rounds\":1"), 201);
    read_metrics();
    assert_value("kerf_job_trials_total", "j", 0);
    assert_value("kerf_job_trials_ended_total", "j", 0);
    assert_value("kerf_job_longest_gap_seconds", "j", 0);
    assert_true(value_of("kerf_job_stage", "j", "Pruning") == 1);
    assert_none("kerf_job_min_cost_joules", "j");
    assert_none("kerf_job_min_cost_batch_size", "j");
    assert_int_equal(predict(&client, "j", &size, &trial), 200);
    assert_int_equal(report(&client, &reply, "j", size, trial, 100, 0.99, 1), 200);
    assert_int_equal(predict(&client, "j", &size, &trial), 200);
    read_metrics();
    assert_value("kerf_job_trials_total", "j", 2);
    assert_value("kerf_job_trials_ended_total", "j", 1);
    assert_value("kerf_job_min_cost_joules", "j", 0.5 * 100 + 0.5 * 300 * 1);
    assert_value("kerf_job_min_cost_batch_size", "j", 64);
    assert_true(value_of("kerf_job_stage", "j", "MAB") == 1);
    assert_int_equal(count_of("kerf_job_stage"), 1);
    assert_int_equal(client_ask(&client, &reply, "DELETE", "/jobs?job_id=j", NULL), 200);
    read_metrics();
    assert_int_equal(count_of("kerf_job_trials_total"), 0);
}

static void run_sql(const char *sql) {
    sqlite3 *db;
    char *why = NULL;
    assert_int_equal(sqlite3_open(place.store, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s", why);
    sqlite3_close(db);
}

static void test_hostile_names(void **state) {
    (void)state;
    static const struct {
        const char *json, *name;
    } hostile[] = {
        {"\\\"} 1\\nkerf_store_up 0\\n#", "\"} 1\nkerf_store_up 0\n#"},
        {"\\\\", "\\"},
        {"\\\\n", "\\n"},
        {"\\n", "\n"},
        {"a\\\\\\\"", "a\\\""},
        {"{job=\\\"x\\\",y=\\\"z", "{job=\"x\",y=\"z"},
        {"%s%n", "%s%n"},
        {"\\r\\t\\u007f\\u0085\\u2028", "\r\t\x7f\xC2\x85\xE2\x80\xA8"},
        {"\xF0\x9F\x94\xA5 \xC3\xA9", "\xF0\x9F\x94\xA5 \xC3\xA9"},
    };
    enum { HOSTILE = sizeof hostile / sizeof *hostile };
    for (int i = 0; i < HOSTILE; i++) assert_int_equal(register_job(&client, hostile[i].json, "64", ""), 201);
    read_metrics();
    assert_int_equal(count_of("kerf_job_trials_total"), HOSTILE);
    for (int i = 0; i < HOSTILE; i++) assert_value("kerf_job_trials_total", hostile[i].name, 0);
    assert_value("kerf_store_up", NULL, 1);

    /* no request brings these, but the file is open to other programs; both names stay apart */
    run_sql("UPDATE job SET job_id = CAST(x'61ff62' AS TEXT) WHERE job_id = '\\';"
            "UPDATE job SET job_id = CAST(x'61fe62' AS TEXT) WHERE job_id = '\\n';"
            "UPDATE job SET job_id = CAST(x'61eda080e2' AS TEXT) WHERE job_id = '%s%n';");
    read_metrics();
    assert_int_equal(count_of("kerf_job_trials_total"), HOSTILE);
    assert_value("kerf_job_trials_total",
                 "a\xEF\xBF\xBD"
                 "ffb",
                 0);
    assert_value("kerf_job_trials_total",
                 "a\xEF\xBF\xBD"
                 "feb",
                 0);
}

static void test_too_many_jobs(void **state) {
    (void)state;
    char name[16];
    for (int i = 0; i < JOB_SERIES_MAX + MORE_JOBS; i++) {
        snprintf(name, sizeof name, "j%04d", i);
        assert_int_equal(register_job(&client, name, "64", ""), 201);
    }
    read_metrics();
    assert_int_equal(count_of("kerf_job_trials_total"), JOB_SERIES_MAX);
    assert_value("kerf_jobs_not_shown", NULL, MORE_JOBS);
    assert_value("kerf_job_trials_total", "j0000", 0);
    snprintf(name, sizeof name, "j%04d", JOB_SERIES_MAX);
    assert_none("kerf_job_trials_total", name);
    assert_int_equal(client_ask(&client, &reply, "DELETE", "/jobs?job_id=j0000", NULL), 200);
    read_metrics();
    assert_value("kerf_jobs_not_shown", NULL, MORE_JOBS - 1);
    assert_value("kerf_job_trials_total", name, 0);
}

/* ---- Who is told, and a store that fails ------------------------------------------------------------------------ */

static void test_names_are_confidential(void **state) {
    static const char none[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const char reader[] =
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer kerf_reader\r\n\r\n";
    struct server_options options = place_options(&place, 0);
    struct store_token token = {.name = "reader", .role = "read", .created_s = 1};
    struct kerf_error err;
    struct store *store;
    (void)state;
    assert_int_equal(register_job(&client, "secret", "64", ""), 201);
    client_close(&client);
    place_stop(&place);
    assert_int_equal(token_hash("kerf_reader", token.hash), KERF_OK);
    assert_int_equal(store_open(place.store, 0, &store, &err), KERF_OK);
    assert_int_equal(store_add_token(store, &token, &err), KERF_OK);
    store_close(store);
    options.tokens = 1;
    place_start_with(&place, &options);
    client_open(&client, place.port);
    assert_int_equal(client_ask_raw(&client, &reply, none), 401);
    assert_null(strstr(reply.body, "secret"));
    assert_int_equal(client_ask_raw(&client, &reply, reader), 200);
    assert_non_null(strstr(reply.body, "\nkerf_job_trials_total{job_id=\"secret\"} 0\n"));
}

static void test_a_store_that_fails(void **state) {
    (void)state;
    assert_int_equal(register_job(&client, "j", "64", ""), 201);
    run_sql("ALTER TABLE job_state RENAME TO away");
    read_metrics();
    assert_value("kerf_store_up", NULL, 0);
    assert_int_equal(count_of("kerf_job_trials_total") + count_of("kerf_jobs_not_shown"), 0);
    assert_int_equal(count_of("kerf_http_connections"), 1);
    assert_int_equal(count_of("kerf_process_resident_memory_bytes"), 1);
    run_sql("ALTER TABLE away RENAME TO job_state");
    read_metrics();
    assert_value("kerf_store_up", NULL, 1);
    assert_value("kerf_job_trials_total", "j", 0);
}

/* ---- The dashboard -------------------------------------------------------------------------------------------- */

static int num_asked;

static void check_question(const char *question) {
    for (const char *c = strstr(question, "kerf_"); c; c = strstr(c, "kerf_")) {
        char name[NAME];
        const char *end = skip_name(c);
        snprintf(name, sizeof name, "%.*s", (int)(end - c), c);
        if (count_of(name) == 0) fail_msg("%s: /metrics has no %s", question, name);
        num_asked++;
        c = end;
    }
}

/* Whatever asks, wherever it is: panels in rows, variables. */
static void check_questions(const json_t *value) {
    const char *key;
    json_t *member;
    size_t i;
    json_object_foreach((json_t *)value, key, member) {
        if (json_is_string(member) && (strcmp(key, "expr") == 0 || strcmp(key, "query") == 0))
            check_question(json_string_value(member));
        check_questions(member);
    }
    if (json_is_array(value)) json_array_foreach(value, i, member) check_questions(member);
}

static int64_t position(const json_t *panel, const char *key) {
    return json_integer_value(json_object_get(json_object_get(panel, "gridPos"), key));
}

static void check_panels(const json_t *panels) {
    size_t i, k;
    json_t *panel, *other;
    assert_true(json_array_size(panels) > 10);
    json_array_foreach(panels, i, panel) {
        int is_row = strcmp(json_string_value(json_object_get(panel, "type")), "row") == 0;
        assert_true(is_row || json_array_size(json_object_get(panel, "targets")) > 0);
        assert_true(position(panel, "x") + position(panel, "w") <= 24);
        json_array_foreach(panels, k, other) {
            if (k == i) break;
            assert_false(json_equal(json_object_get(panel, "id"), json_object_get(other, "id")));
            assert_true(position(panel, "x") >= position(other, "x") + position(other, "w") ||
                        position(other, "x") >= position(panel, "x") + position(panel, "w") ||
                        position(panel, "y") >= position(other, "y") + position(other, "h") ||
                        position(other, "y") >= position(panel, "y") + position(panel, "h"));
        }
    }
}

static void test_the_dashboard(void **state) {
    json_error_t why;
    int64_t size, trial;
    (void)state;
    json_t *dashboard = json_load_file(KERF_SOURCE_DIR "/share/grafana/kerf.json", JSON_REJECT_DUPLICATES, &why);
    if (dashboard == NULL) fail_msg("line %d: %s", why.line, why.text);
    assert_int_equal(register_job(&client, "j", "64", ""), 201);
    assert_int_equal(predict(&client, "j", &size, &trial), 200);
    assert_int_equal(report(&client, &reply, "j", size, trial, 100, 0.99, 1), 200);
    read_metrics();
    num_asked = 0;
    check_questions(dashboard);
    assert_true(num_asked > 20);
    check_panels(json_object_get(dashboard, "panels"));
    json_decref(dashboard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_run, start, stop),
        cmocka_unit_test_setup_teardown(test_hostile_names, start, stop),
        cmocka_unit_test_setup_teardown(test_too_many_jobs, start, stop),
        cmocka_unit_test_setup_teardown(test_names_are_confidential, start, stop),
        cmocka_unit_test_setup_teardown(test_a_store_that_fails, start, stop),
        cmocka_unit_test_setup_teardown(test_the_dashboard, start, stop),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    forget_samples();
    return failed;
}
