/* SPDX-License-Identifier: Apache-2.0 */
/* What was answered stays, through a full disk and orderly ends; and files that are not for it are left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "serve_client.h"

static struct place place;

static int make(void **state) {
    (void)state;
    place_make(&place);
    return 0;
}

static int clear(void **state) {
    (void)state;
    place_clear(&place);
    return 0;
}

/* ---- An orderly end ------------------------------------------------------------------------------------------ */

static void *stop_server(void *context) {
    server_stop(context);
    return NULL;
}

/* Idle connections are closed at once, and a request that has begun is answered. */
static void test_stop(void **state) {
    (void)state;
    struct server_options options = place_options(&place, 0);
    struct client client, idle;
    struct reply reply;
    pthread_t thread;
    int64_t size, trial;
    options.log_json = 1;
    options.clients_s = options.end_s = 600;
    place_start_with(&place, &options);
    client_open(&client, place.port);
    client_open(&idle, place.port);
    client_ask(&idle, &reply, "GET", "/healthz", NULL);
    assert_int_equal(register_job(&client, "j", "64", ""), 201);
    assert_int_equal(predict(&client, "j", &size, &trial), 200);
    static const char rest[] =
        "{\"job_id\":\"j\",\"batch_size\":64,\"trial_number\":1,\"time\":1,\"energy\":100,\"metric\":0.9,"
        "\"current_epoch\":1}";
    char request[512];
    snprintf(request, sizeof request, "POST /report HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n",
             sizeof rest - 1);
    assert_true(client_send(&client, request, strlen(request)));
    client_await_metric(&idle, "kerf_http_requests_now{state=\"reading\"}", 1);
    assert_int_equal(pthread_create(&thread, NULL, stop_server, place.server), 0);
    assert_false(client_read(&idle, 0, &reply)); /* idle: closed at once */
    assert_true(client_send(&client, rest, sizeof rest - 1));
    assert_true(client_read(&client, 0, &reply)); /* begun: answered */
    assert_int_equal(reply.status, 200);
    pthread_join(thread, NULL);
    place.server = NULL;
    client_close(&client);
    client_close(&idle);
}

/* ---- A full disk --------------------------------------------------------------------------------------------- */

static void test_disk_full(void **state) {
    (void)state;
    struct client client;
    struct reply reply;
    int acknowledged = 0, status = 200;
    place_run(&place, 400000, NULL);
    client_open(&client, place.port);
    assert_int_equal(register_job(&client, "j", "64", ",\"beta_knob\":null"), 201);
    for (int64_t trial = 1; trial < 2000 && status == 200; trial++) {
        int64_t size, number;
        status = predict(&client, "j", &size, &number);
        if (status != 200) break;
        assert_int_equal(number, trial);
        status = report(&client, &reply, "j", size, number, 100 + (double)(trial % 5), 0.9, 1);
        if (status == 200) acknowledged++;
    }
    assert_int_equal(status, 503);
    assert_true(acknowledged > 5);
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/j/trials?limit=5", NULL), 200);
    place_end(&place, SIGTERM);
    client_close(&client);
    place_run(&place, 0, NULL);
    client_open(&client, place.port);
    for (int64_t trial = 1; trial <= acknowledged; trial++) {
        assert_int_equal(report(&client, &reply, "j", 64, trial, 1, 0.9, 1), 200);
        assert_non_null(strstr(reply.body, "is already reported"));
    }
    int64_t size, number;
    assert_int_equal(predict(&client, "j", &size, &number), 200);
    assert_true(number > acknowledged);
    client_close(&client);
}

/* ---- A file that is gone ------------------------------------------------------------------------------------- */

/* No decision is acknowledged that a removed file would hold; nothing is put in the file's place. */
static void test_moved_file(void **state) {
    (void)state;
    char away[sizeof place.store + 8];
    struct client client;
    struct reply reply;
    int64_t size, number;
    place_run(&place, 0, NULL);
    client_open(&client, place.port);
    assert_int_equal(register_job(&client, "j", "64", ""), 201);
    assert_int_equal(predict(&client, "j", &size, &number), 200);
    snprintf(away, sizeof away, "%s.away", place.store);
    assert_int_equal(rename(place.store, away), 0);
    assert_int_equal(client_ask(&client, &reply, "GET", "/jobs/batch_size?job_id=j", NULL), 503);
    assert_non_null(strstr(reply.body, "was moved, removed or replaced"));
    assert_int_equal(client_ask(&client, &reply, "GET", "/readyz", NULL), 503);
    assert_int_not_equal(access(place.store, F_OK), 0);
    assert_int_equal(rename(away, place.store), 0);
    assert_int_equal(predict(&client, "j", &size, &number), 200);
    assert_int_equal(number, 2);
    place_end(&place, SIGTERM);
    client_close(&client);
}

/* ---- Files that are not for it -------------------------------------------------------------------------------- */

static void refuses(const char *words) {
    struct kerf_error err = {.code = KERF_OK};
    struct server *server;
    const struct server_options options = place_options(&place, 0);
    assert_int_not_equal(server_start(&options, &server, &err), KERF_OK);
    if (strstr(err.message, words) == NULL) fail_msg("'%s' does not say '%s'", err.message, words);
}

static void run_sql(const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(place.store, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_refused_files(void **state) {
    (void)state;
    place_run(&place, 0, NULL);
    refuses("is in use by another kerf serve");
    place_end(&place, SIGTERM);
    run_sql("PRAGMA user_version=1000");
    refuses("written by a newer kerf");
    unlink(place.store);
    run_sql("CREATE TABLE Job (job_id TEXT)");
    refuses("a database of another program");
    FILE *file = fopen(place.store, "w");
    fputs("some text, which is no database, and long enough to be looked at as one\n", file);
    fclose(file);
    refuses("is not a SQLite database");
    unlink(place.store);
    assert_int_equal(mkfifo(place.store, 0600), 0);
    refuses("is a pipe or a device, not a file");
    snprintf(place.store, sizeof place.store, "%s/no/such/folder", place.folder);
    refuses("cannot be opened");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stop, make, clear),
        cmocka_unit_test_setup_teardown(test_disk_full, make, clear),
        cmocka_unit_test_setup_teardown(test_moved_file, make, clear),
        cmocka_unit_test_setup_teardown(test_refused_files, make, clear),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
