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
#include "job_runs.h"
#include "kerf/text.h"
#include "mysql_server.h"
#include "serve_client.h"

static struct cluster cluster;
static struct mysql_server mysql;
static const char *no_cluster, *no_mysql; /* why there is none */

enum source { FROM_FILE, FROM_POSTGRESQL, FROM_MYSQL };

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

/* MySQL takes no infinity, which is the precision of an arm with one run: there the last job has another round to go. */
static const char without_infinity[] = ",\"mab_seed\":77";

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

static struct place stays, goes; /* made and cleared around each test, as the texts are */
static struct kerf_text one, other;

static int make_places(void **state) {
    (void)state;
    place_make(&stays);
    place_make(&goes);
    return 0;
}

static int clear_places(void **state) {
    (void)state;
    place_clear(&stays);
    place_clear(&goes);
    kerf_text_free(&one);
    kerf_text_free(&other);
    return 0;
}

static void take_over(int compat, enum source from) {
    char file[128], source[160];
    size_t length, again;
    place_start(&stays, compat);
    begin_jobs(&stays, from == FROM_MYSQL ? without_infinity : NULL);
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
}

struct takeover {
    int compat;
    enum source from;
};
static struct takeover takeovers[] = {{1, FROM_FILE},       {0, FROM_FILE},  {1, FROM_POSTGRESQL},
                                      {0, FROM_POSTGRESQL}, {1, FROM_MYSQL}, {0, FROM_MYSQL}};

static void test_take_over(void **state) {
    const struct takeover *takeover = *state;
    const char *missing = takeover->from == FROM_POSTGRESQL ? no_cluster
                          : takeover->from == FROM_MYSQL    ? no_mysql
                                                            : NULL;
    if (missing)
        print_message("not tested: %s\n", missing);
    else
        take_over(takeover->compat, takeover->from);
}

/* 300.7 watts in 32 bits are 300.70001220703125; MySQL says 300.7, and so does Zeus's server. */
static void test_mysql_floats(void **state) {
    (void)state;
    struct client client;
    struct reply reply;
    char file[128], source[160];
    if (no_mysql) return;
    place_start(&stays, 1);
    begin_jobs(&stays, without_infinity);
    place_stop(&stays);
    snprintf(file, sizeof file, "%s/zeus.db", stays.folder);
    sqlite3 *db = make_zeus_file(file, stays.store);
    make_mysql(db, "floats", "FLOAT", source, sizeof source);
    sqlite3_close(db);
    mysql_server_run(&mysql, "floats", "UPDATE \"Job\" SET max_power=300.7");
    start_from(&goes, 0, source);
    client_open(&client, goes.port);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/explores", NULL), 200);
    assert_non_null(strstr(reply.body, "\"max_power\":300.7,"));
    client_close(&client);
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

#define TAKE_OVER(words, number)                                                                                       \
    { words, test_take_over, make_places, clear_places, &takeovers[number] }

int main(void) {
    const char *why = "";
    const struct CMUnitTest tests[] = {
        TAKE_OVER("a file, compat", 0),
        TAKE_OVER("a file", 1),
        TAKE_OVER("PostgreSQL, compat", 2),
        TAKE_OVER("PostgreSQL", 3),
        TAKE_OVER("MySQL, compat", 4),
        TAKE_OVER("MySQL", 5),
        cmocka_unit_test_setup_teardown(test_mysql_floats, make_places, clear_places),
        cmocka_unit_test(test_refused),
    };
    if (!cluster_make(&cluster, &why)) no_cluster = why;
    if (!mysql_server_make(&mysql, &why)) no_mysql = why;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_clear(&cluster);
    mysql_server_clear(&mysql);
    return failed;
}
