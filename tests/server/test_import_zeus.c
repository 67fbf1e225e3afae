/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database as Zeus's server has it (zeus_schema.sql is its published schema), filled with what jobs in kerf came to.
 * Taken over by another server, they go on exactly like those that stayed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "database.h"
#include "kerf/text.h"
#include "mysql_server.h"
#include "serve_client.h"

enum { JOBS = 4, AFTER = 30 };
static const char *const jobs[JOBS] = {"explores", "exploits", "window", "r\xc3\xa9seau 'x'"};
static const int runs[JOBS] = {3, 22, 25, 7}; /* before they are taken over */
static const char *const specs[JOBS] = {
    ",\"beta_knob\":1.5,\"job_id_prefix\":\"e\"", ",\"beta_knob\":null,\"max_epochs\":7",
    ",\"window_size\":3,\"eta_knob\":0.3,\"higher_is_better_metric\":true,\"mab_prior_mean\":-100.5,"
    "\"mab_prior_precision\":1e-7",
    ",\"num_pruning_rounds\":1,\"mab_seed\":77"};

static int64_t last_size[JOBS]; /* of the run that is not over when they are taken over */

static struct cluster cluster;
static struct mysql_server mysql;
static const char *no_cluster, *no_mysql; /* why there is none */

enum source { FROM_FILE, FROM_POSTGRESQL, FROM_MYSQL };

/* ---- What jobs go through ------------------------------------------------------------------------------------- */

static void path_of(const char *job_id, const char *before, const char *behind, char *path) {
    path += sprintf(path, "%s", before);
    for (; *job_id; job_id++) path += sprintf(path, "%%%02x", (unsigned char)*job_id);
    strcpy(path, behind);
}

/* Answers are added to said. */
static void finish(struct client *client, const char *job_id, int64_t size, int64_t trial, struct kerf_text *said) {
    struct reply reply;
    double energy = 1000.0 + (double)(size % 96) * 7 + (double)(trial * 37 % 11) / 3;
    report(client, &reply, job_id, size, trial, energy, size == 512 ? 0.1 : 0.9, size == 512 ? 100 : 3);
    kerf_text_printf(said, "%d %s\n", reply.status, reply.body);
}

/* A run like any other; every fifth one is given up, and one that stays is reported later. Returns its size. */
static int64_t run_once(struct client *client, const char *job_id, int i, int stays, struct kerf_text *said) {
    struct reply reply;
    char path[256], body[256];
    path_of(job_id, "/jobs/batch_size?job_id=", "", path);
    assert_int_equal(client_ask(client, &reply, "GET", path, NULL), 200);
    kerf_text_printf(said, "%s\n", reply.body);
    int64_t size = reply_integer(&reply, "batch_size"), trial = reply_integer(&reply, "trial_number");
    if (stays) return size;
    if (i % 5 == 4) {
        snprintf(body, sizeof body, "{\"job_id\":\"%s\",\"batch_size\":%" PRId64 ",\"trial_number\":%" PRId64 "}",
                 job_id, size, trial);
        assert_int_equal(client_ask(client, &reply, "PATCH", "/trials", body), 200);
    } else {
        finish(client, job_id, size, trial, said);
    }
    return size;
}

static void state_of(struct client *client, const char *job_id, struct kerf_text *said) {
    struct reply reply;
    char path[256];
    path_of(job_id, "/api/v1/jobs/", "/state", path);
    assert_int_equal(client_ask(client, &reply, "GET", path, NULL), 200);
    kerf_text_printf(said, "%s\n", reply.body);
}

/* MySQL takes no infinity, which is the precision of an arm with one run: there the last job has another round to go. */
static void begin_jobs(const struct place *place, enum source from) {
    struct client client;
    struct kerf_text said = {0};
    client_open(&client, place->port);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(register_job(&client, jobs[i], "64,96,128,256,512",
                                      from == FROM_MYSQL && i == JOBS - 1 ? ",\"mab_seed\":77" : specs[i]),
                         201);
        for (int k = 1; k <= runs[i]; k++) last_size[i] = run_once(&client, jobs[i], k, k == runs[i], &said);
    }
    kerf_text_free(&said);
    client_close(&client);
}

static void go_on(const struct place *place, struct kerf_text *said) {
    struct client client;
    client_open(&client, place->port);
    for (int i = 0; i < JOBS; i++) {
        state_of(&client, jobs[i], said);
        for (int k = 0; k < AFTER; k++) {
            if (k == 2) finish(&client, jobs[i], last_size[i], runs[i], said);
            run_once(&client, jobs[i], k, 0, said);
        }
        state_of(&client, jobs[i], said);
    }
    client_close(&client);
}

/* ---- Zeus's databases ---------------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *ret_length) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = calloc(1, 1 << 20);
    *ret_length = fread(bytes, 1, (1 << 20) - 1, file);
    fclose(file);
    return bytes;
}

static char *schema(void) {
    size_t length;
    return read_file(KERF_TEST_DIR "/server/zeus_schema.sql", &length);
}

#define TIME(column) "strftime('%Y-%m-%d %H:%M:%f000', " column ", 'unixepoch', 'localtime')"
static const char fill_sql[] =
    "INSERT INTO \"Job\" SELECT job_id, job_id_prefix, default_batch_size, higher_is_better_metric, eta_knob, "
    "beta_knob,"
    " target_metric, max_epochs, num_pruning_rounds, window_size, max_power, number_of_gpus, gpu_model, mab_prior_mean,"
    " mab_prior_precision, mab_num_explorations, mab_seed, random, default_batch_size,"
    " CASE stage WHEN 0 THEN 'Pruning' ELSE 'MAB' END, min_cost, min_cost_batch_size FROM k.job JOIN k.job_state"
    " USING (job);"
    "INSERT INTO \"BatchSize\" SELECT job_id, value FROM k.job, json_each('[' || batch_sizes || ']');"
    "INSERT INTO \"Trial\" SELECT job_id, batch_size, number, " TIME(
        "dispatched_s") ","
                        " CASE type WHEN 0 THEN 'Exploration' WHEN 1 THEN 'Concurrent' ELSE 'MAB' END,"
                        " CASE status WHEN 0 THEN 'Dispatched' WHEN 1 THEN 'Succeeded' ELSE 'Failed' END,"
                        " CASE status WHEN 0 THEN NULL ELSE " TIME(
                            "seen_s") " END, time_s, energy_j, converged"
                                      " FROM k.trial JOIN k.job USING (job);"
                                      "INSERT INTO \"GaussianTsArmState\" SELECT job_id, batch_size, param_mean, "
                                      "param_precision, reward_precision,"
                                      " num_observations FROM k.arm JOIN k.job USING (job);"
                                      "INSERT INTO \"Job\" SELECT 'broken', job_id_prefix, default_batch_size, "
                                      "higher_is_better_metric, eta_knob,"
                                      " beta_knob, target_metric, max_epochs, num_pruning_rounds, window_size, "
                                      "max_power, number_of_gpus, gpu_model,"
                                      " mab_prior_mean, mab_prior_precision, mab_num_explorations, mab_seed, NULL, "
                                      "default_batch_size, stage, min_cost,"
                                      " min_cost_batch_size FROM \"Job\" WHERE job_id='explores'";

static void run_sqlite(sqlite3 *db, const char *sql) {
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s", why);
}

static sqlite3 *make_zeus_file(const char *path, const char *kerf_file) {
    sqlite3 *db;
    char attach[256], *tables = schema();
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    snprintf(attach, sizeof attach, "ATTACH '%s' AS k", kerf_file);
    run_sqlite(db, tables);
    run_sqlite(db, attach);
    run_sqlite(db, fill_sql);
    run_sqlite(db, "DETACH k");
    free(tables);
    return db;
}

/* The rows of a table as SQL; in PostgreSQL a boolean is none of the numbers. */
static void dump_table(sqlite3 *db, const char *table, const char *booleans, struct kerf_text *sql) {
    sqlite3_stmt *rows;
    char ask[512];
    snprintf(ask, sizeof ask, "SELECT * FROM \"%s\"", table);
    assert_int_equal(sqlite3_prepare_v2(db, ask, -1, &rows, NULL), SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        kerf_text_printf(sql, "INSERT INTO \"%s\" VALUES (", table);
        for (int i = 0; i < sqlite3_column_count(rows); i++) {
            int type = sqlite3_column_type(rows, i);
            char number[40];
            snprintf(number, sizeof number, "'%.17g'", sqlite3_column_double(rows, i));
            char *text = type == SQLITE_FLOAT  ? sqlite3_mprintf("%s", number)
                         : type == SQLITE_TEXT ? sqlite3_mprintf("%Q", sqlite3_column_text(rows, i))
                         : type == SQLITE_NULL ? sqlite3_mprintf("NULL")
                                               : sqlite3_mprintf("%lld", sqlite3_column_int64(rows, i));
            int is_boolean = booleans && strcmp(sqlite3_column_name(rows, i), booleans) == 0;
            kerf_text_printf(sql, "%s%s%s", i ? "," : "", text, is_boolean ? "::boolean" : "");
            sqlite3_free(text);
        }
        kerf_text_add(sql, ");\n");
    }
    sqlite3_finalize(rows);
}

static void dump_tables(sqlite3 *db, int has_booleans, struct kerf_text *sql) {
    dump_table(db, "Job", has_booleans ? "higher_is_better_metric" : NULL, sql);
    dump_table(db, "BatchSize", NULL, sql);
    dump_table(db, "GaussianTsArmState", NULL, sql);
    dump_table(db, "Trial", has_booleans ? "converged" : NULL, sql);
    assert_false(sql->failed);
}

static void make_postgresql(sqlite3 *db, char *ret_url, size_t size) {
    struct kerf_text sql = {0};
    char *tables = schema();
    cluster_database(&cluster, "zeus", ret_url, size);
    kerf_text_add(&sql, tables);
    dump_tables(db, 1, &sql);
    cluster_run(&cluster, "zeus", sql.data);
    kerf_text_free(&sql);
    free(tables);
}

static void add_replaced(struct kerf_text *out, const char *text, const char *word, const char *by) {
    for (const char *found; (found = strstr(text, word)) != NULL; text = found + strlen(word)) {
        kerf_text_write(out, text, (size_t)(found - text));
        kerf_text_add(out, by);
    }
    kerf_text_add(out, text);
}

/* As SQLAlchemy makes the tables, whose FLOAT has 32 bits there; "FLOAT" or "DOUBLE": what it is here. */
static void make_mysql(sqlite3 *db, const char *name, const char *real, char *ret_url, size_t size) {
    struct kerf_text tables = {0}, sql = {0};
    char *published = schema();
    mysql_server_database(&mysql, name, ret_url, size);
    add_replaced(&tables, published, "TIMESTAMP", "DATETIME");
    add_replaced(&sql, tables.data, "FLOAT", real);
    dump_tables(db, 0, &sql);
    mysql_server_run(&mysql, name, sql.data);
    kerf_text_free(&tables);
    kerf_text_free(&sql);
    free(published);
}

/* ---- Tests --------------------------------------------------------------------------------------------------- */

static void start_from(struct place *place, int compat, const char *source) {
    struct kerf_error err;
    struct server_options options = place_options(place, compat);
    options.import_zeus = source;
    if (server_start(&options, &place->server, &err) != KERF_OK) fail_msg("%s", err.message);
    place->port = server_port(place->server);
}

/* 404: it was left out, as its seed has no generator. */
static void has_no_broken(const struct place *place) {
    struct client client;
    struct reply reply;
    client_open(&client, place->port);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/broken", NULL), 404);
    client_close(&client);
}

/* Once more: nothing is taken back. */
static void take_over_again(struct place *place, int compat, const char *source) {
    struct client client;
    struct kerf_text before = {0}, after = {0};
    client_open(&client, place->port);
    for (int i = 0; i < JOBS; i++) state_of(&client, jobs[i], &before);
    client_close(&client);
    place_stop(place);
    start_from(place, compat, source);
    client_open(&client, place->port);
    for (int i = 0; i < JOBS; i++) state_of(&client, jobs[i], &after);
    client_close(&client);
    assert_string_equal(before.data, after.data);
    kerf_text_free(&before);
    kerf_text_free(&after);
}

static void is_same(const struct kerf_text *want, const struct kerf_text *got) {
    size_t at = 0, line = 0;
    while (want->data[at] && want->data[at] == got->data[at])
        if (want->data[at++] == '\n') line = at;
    if (want->data[at] != got->data[at]) fail_msg("want %.600s\n got %.600s", want->data + line, got->data + line);
}

static void take_over(int compat, enum source from) {
    struct place stays, goes;
    struct kerf_text one = {0}, other = {0};
    char file[128], source[160];
    size_t length, again;
    place_make(&stays);
    place_make(&goes);
    place_start(&stays, compat);
    begin_jobs(&stays, from);
    place_stop(&stays);
    snprintf(file, sizeof file, "%s/zeus.db", stays.folder);
    snprintf(source, sizeof source, "sqlite+aiosqlite:///%s", file);
    sqlite3 *db = make_zeus_file(file, stays.store);
    if (from == FROM_MYSQL) make_mysql(db, "zeus", "DOUBLE", source, sizeof source);
    if (from == FROM_POSTGRESQL) {
        make_postgresql(db, source, sizeof source);
        cluster_database(&cluster, "kerf", goes.store, sizeof goes.store);
    }
    sqlite3_close(db);
    char *bytes = read_file(file, &length);
    place_start(&stays, compat);
    start_from(&goes, compat, source);
    has_no_broken(&goes);
    go_on(&stays, &one);
    go_on(&goes, &other);
    is_same(&one, &other);
    assert_true(strstr(one.data, "MAB") && strstr(one.data, "Pruning"));
    take_over_again(&goes, compat, source);
    char *untouched = read_file(file, &again);
    assert_true(again == length && memcmp(bytes, untouched, length) == 0);
    free(bytes);
    free(untouched);
    kerf_text_free(&one);
    kerf_text_free(&other);
    place_clear(&stays);
    place_clear(&goes);
}

static void test_file(void **state) {
    (void)state;
    take_over(1, FROM_FILE);
    take_over(0, FROM_FILE);
}

static void test_postgresql(void **state) {
    (void)state;
    if (no_cluster) {
        print_message("not from PostgreSQL: %s\n", no_cluster);
        return;
    }
    take_over(1, FROM_POSTGRESQL);
    take_over(0, FROM_POSTGRESQL);
}

static void test_mysql(void **state) {
    (void)state;
    if (no_mysql) {
        print_message("not from MySQL: %s\n", no_mysql);
        return;
    }
    take_over(1, FROM_MYSQL);
    take_over(0, FROM_MYSQL);
}

/* 300.7 watts in 32 bits are 300.70001220703125; MySQL says 300.7, and so does Zeus's server. */
static void test_mysql_floats(void **state) {
    (void)state;
    struct place place, goes;
    struct client client;
    struct reply reply;
    char file[128], source[160];
    if (no_mysql) return;
    place_make(&place);
    place_make(&goes);
    place_start(&place, 1);
    begin_jobs(&place, FROM_MYSQL);
    place_stop(&place);
    snprintf(file, sizeof file, "%s/zeus.db", place.folder);
    sqlite3 *db = make_zeus_file(file, place.store);
    make_mysql(db, "floats", "FLOAT", source, sizeof source);
    sqlite3_close(db);
    mysql_server_run(&mysql, "floats", "UPDATE \"Job\" SET max_power=300.7");
    start_from(&goes, 0, source);
    client_open(&client, goes.port);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/explores", NULL), 200);
    assert_non_null(strstr(reply.body, "\"max_power\":300.7,"));
    client_close(&client);
    place_clear(&place);
    place_clear(&goes);
}

static void refuses(const char *source, const char *words) {
    struct place place;
    struct kerf_error err = {.code = KERF_OK};
    place_make(&place);
    struct server_options options = place_options(&place, 0);
    options.import_zeus = source;
    assert_int_not_equal(server_start(&options, &place.server, &err), KERF_OK);
    place.server = NULL;
    if (strstr(err.message, words) == NULL) fail_msg("'%s' does not say '%s'", err.message, words);
    place_clear(&place);
}

static void test_refused(void **state) {
    (void)state;
    refuses("/no/such/file.db", "cannot be opened");
    refuses("/dev/null", "no such table");
    refuses("oracle://host/db", "oracle://");
    refuses("mysql://nobody@127.0.0.1:1/none", "MySQL");
}

int main(void) {
    const char *why = "";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),         cmocka_unit_test(test_postgresql), cmocka_unit_test(test_mysql),
        cmocka_unit_test(test_mysql_floats), cmocka_unit_test(test_refused),
    };
    if (!cluster_make(&cluster, &why)) no_cluster = why;
    if (!mysql_server_make(&mysql, &why)) no_mysql = why;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_clear(&cluster);
    mysql_server_clear(&mysql);
    return failed;
}
