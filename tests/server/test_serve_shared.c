/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two servers on one PostgreSQL database, with clients of both on the same jobs: each number is given once and none
 * left out, and whatever server was asked, each knows; also while old trials are removed, and while the database hangs.
 * With kills: test_serve_kills.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include "database.h"
#include "ledger.h"
#include "server/retention.h"
#include "store/store.h"

enum {
    SERVERS = 2,
    JOBS = 2,
    THREADS = 6,
    CYCLES = 25,
    LOAD_MS = 2500,
    ENOUGH = 100, /* of each job */
    PAUSE_MS = 50,
    PATIENCE_MS = 600000,
    PATIENCE = 30000
};

static struct cluster cluster;
static struct place places[SERVERS];
static struct ledger ledgers[JOBS];
static const char *const job_ids[JOBS] = {"first", "second"};
static _Atomic int ports[SERVERS], is_over, num_wrong, num_done[JOBS], statuses[600];
static _Atomic int64_t num_removed;
#define WINDOW ",\"beta_knob\":null,\"window_size\":5,\"num_pruning_rounds\":0"

static void run_server(int i) {
    place_run(&places[i], 0, NULL);
    ports[i] = places[i].port;
}

/* ---- On the same jobs ---------------------------------------------------------------------------------------- */

static void *work(void *context) {
    int self = (int)(intptr_t)context, job = self / SERVERS % JOBS;
    struct client client;
    struct reply reply;
    int64_t size, trial;
    client_open(&client, ports[self % SERVERS]);
    while (!is_over && num_wrong == 0) {
        if (predict(&client, job_ids[job], &size, &trial) != 200) {
            num_wrong++;
            break;
        }
        ledger_give(&ledgers[job], trial, size);
        double energy = 100 + (double)(trial % 17);
        int status = report(&client, &reply, job_ids[job], size, trial, energy, 0.9, 1);
        if (status != 200 || strstr(reply.body, "\"stop_train\":true") == NULL) num_wrong++;
        num_done[job]++;
        ledger_report(&ledgers[job], trial, energy, 1, strstr(reply.body, "\"converged\":true") != NULL);
    }
    client_close(&client);
    return NULL;
}

/* Loads both servers for a while, and until there is enough of everything. */
static void let_work(int64_t removed) {
    for (int ms = 0; ms < PATIENCE_MS && num_wrong == 0; ms += PAUSE_MS) {
        pause_ms(PAUSE_MS);
        if (ms >= LOAD_MS && num_done[0] >= ENOUGH && num_done[1] >= ENOUGH && num_removed >= removed) break;
    }
    is_over = 1;
}

static void test_two_servers(void **state) {
    pthread_t threads[THREADS];
    struct client client;
    (void)state;
    is_over = 0;
    for (int i = 0; i < SERVERS; i++) run_server(i);
    client_open(&client, ports[0]);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(register_job(&client, job_ids[i], "64,128,256", ",\"beta_knob\":null"), 201);
        ledger_begin(&ledgers[i], job_ids[i]);
    }
    client_close(&client);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    let_work(0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(num_wrong, 0);
    for (int i = 0; i < SERVERS * JOBS; i++) {
        struct ledger *ledger = &ledgers[i / SERVERS];
        client_open(&client, ports[i % SERVERS]);
        assert_int_equal(ledger_compare(ledger, &client, 1), ledger->num_reported);
        assert_int_equal(ledger->num_reported, ledger->last);
        assert_true(ledger->last >= ENOUGH);
        client_close(&client);
    }
    for (int i = 0; i < JOBS; i++) ledger_clear(&ledgers[i]);
}

/* ---- Made and deleted ---------------------------------------------------------------------------------------- */

static void *make_and_delete(void *context) {
    int self = (int)(intptr_t)context;
    struct client client;
    struct reply reply;
    client_open(&client, ports[self % SERVERS]);
    const char *more = self % 3 ? ",\"max_epochs\":7" : "";
    for (int i = 0; i < CYCLES; i++) {
        char job_id[16], path[64];
        int64_t size, trial;
        snprintf(job_id, sizeof job_id, "two%d", i);
        statuses[register_job(&client, job_id, "64", more)]++;
        int asked = predict(&client, job_id, &size, &trial);
        if (asked != 200 && asked != 400) num_wrong++; /* another one may have deleted it */
        snprintf(path, sizeof path, "/jobs?job_id=%s", job_id);
        int deleted = client_ask(&client, &reply, "DELETE", path, NULL);
        statuses[deleted == 200 ? 0 : 1]++;
        if (deleted != 200 && deleted != 404) num_wrong++;
    }
    client_close(&client);
    return NULL;
}

static void test_make_and_delete(void **state) {
    pthread_t threads[THREADS];
    (void)state;
    num_wrong = 0;
    for (int i = 0; i < SERVERS; i++) run_server(i);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, make_and_delete, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(num_wrong, 0);
    assert_int_equal(statuses[201], statuses[0]); /* each that was made was deleted, once */
    assert_int_equal(statuses[200] + statuses[201] + statuses[409], THREADS * CYCLES);
}

/* ---- While old trials are removed ---------------------------------------------------------------------------- */

static void *remove_old(void *context) {
    struct store *store = context;
    while (!is_over) {
        struct kerf_error err = {.code = KERF_OK};
        int64_t removed = 0;
        if (retention_pass(store, 0, 1e18, NULL, &removed, &err) != KERF_OK) {
            print_message("%s\n", err.message);
            num_wrong++;
        }
        num_removed += removed;
    }
    return NULL;
}

/* Of a job that has another life each time, and both servers remember the one before. */
static void *live_again(void *context) {
    struct client clients[SERVERS];
    struct reply reply;
    int64_t size, trial;
    (void)context;
    for (int i = 0; i < SERVERS; i++) client_open(&clients[i], ports[i]);
    for (int life = 0; !is_over; life++) {
        int first = life % SERVERS, second = (life + 1) % SERVERS;
        if (register_job(&clients[first], "again", "64,128", life % 3 ? WINDOW : "") != 201) num_wrong++;
        for (int64_t number = 1; number <= 6; number++) {
            struct client *client = &clients[number % SERVERS];
            if (predict(client, "again", &size, &trial) != 200 || trial != number) num_wrong++;
            int status = report(client, &reply, "again", size, trial, 100 + (double)number, 0.9, 1);
            if (status != 200 || strstr(reply.body, "already")) num_wrong++;
        }
        if (client_ask(&clients[second], &reply, "DELETE", "/jobs?job_id=again", NULL) != 200) num_wrong++;
    }
    for (int i = 0; i < SERVERS; i++) client_close(&clients[i]);
    return NULL;
}

/* What is counted is right in both servers, though most of the trials are gone. */
static void compare_counts(const struct ledger *ledger, int port) {
    struct client client;
    struct reply reply;
    char path[64];
    snprintf(path, sizeof path, "/api/v1/jobs/%s", ledger->job_id);
    client_open(&client, port);
    assert_int_equal(client_ask(&client, &reply, "GET", path, NULL), 200);
    assert_int_equal(reply_integer(&reply, "last_trial_number"), ledger->last);
    assert_int_equal(reply_integer(&reply, "trials_ended"), ledger->num_reported);
    client_close(&client);
}

static void test_old_trials_go_meanwhile(void **state) {
    pthread_t threads[THREADS], removers[SERVERS], life;
    struct store *stores[SERVERS];
    struct kerf_error err;
    struct client client;
    (void)state;
    is_over = num_wrong = num_done[0] = num_done[1] = 0;
    for (int i = 0; i < SERVERS; i++) {
        run_server(i);
        assert_int_equal(store_open(places[i].store, 0, &stores[i], &err), KERF_OK);
    }
    client_open(&client, ports[0]);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(register_job(&client, job_ids[i], "64,128,256", i ? WINDOW : ",\"beta_knob\":null"), 201);
        ledger_begin(&ledgers[i], job_ids[i]);
    }
    client_close(&client);
    for (int i = 0; i < SERVERS; i++) pthread_create(&removers[i], NULL, remove_old, stores[i]);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    pthread_create(&life, NULL, live_again, NULL);
    let_work(ENOUGH / 4);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < SERVERS; i++) pthread_join(removers[i], NULL);
    pthread_join(life, NULL);
    assert_int_equal(num_wrong, 0);
    assert_true(num_removed >= ENOUGH / 4);
    for (int i = 0; i < SERVERS * JOBS; i++) {
        assert_int_equal(ledgers[i / SERVERS].num_twice, 0);
        compare_counts(&ledgers[i / SERVERS], ports[i % SERVERS]);
    }
    for (int i = 0; i < JOBS; i++) ledger_clear(&ledgers[i]);
    for (int i = 0; i < SERVERS; i++) store_close(stores[i]);
}

/* ---- A database that hangs ----------------------------------------------------------------------------------- */

#define RUNNING "kerf_http_requests_now{state=\"running\"}" /* that which asks this is one of them */

/* The server ends all the same, while the database still hangs, and says that it did not answer. */
static void test_end_while_it_hangs(void **state) {
    const char *request = "GET /jobs/batch_size?job_id=w HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct client waiting, client;
    struct reply reply;
    char line[1024];
    (void)state;
    places[0].keeps_log = 1;
    run_server(0);
    client_open(&waiting, ports[0]);
    client_open(&client, ports[0]);
    cluster_lock(&cluster, "jobs", "kerf_job_state");
    assert_true(client_send(&waiting, request, strlen(request)));
    client_await_metric(&client, RUNNING, 2);
    client_close(&client);
    int status = place_end(&places[0], SIGTERM);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    place_log(&places[0], "stopped", line, sizeof line);
    if (strstr(line, "the store does not answer: 1 requests get no answer") == NULL) fail_msg("%s", line);
    assert_false(client_read(&waiting, 0, &reply));
    client_close(&waiting);
    cluster_unlock(&cluster);
}

/* More requests than workers wait for the database, and then it is gone. */
static void test_health(void **state) {
    enum { WAITING = 40 };
    struct client waiting[WAITING], client;
    struct reply reply;
    char bytes[64];
    (void)state;
    run_server(0);
    client_open(&client, ports[0]);
    cluster_lock(&cluster, "jobs", "kerf_job_state");
    for (int i = 0; i < WAITING; i++) { /* each about a job of its own, as those about one job wait in a queue */
        int length =
            snprintf(bytes, sizeof bytes, "GET /jobs/batch_size?job_id=w%d HTTP/1.1\r\nHost: localhost\r\n\r\n", i);
        client_open(&waiting[i], ports[0]);
        assert_true(client_send(&waiting[i], bytes, (size_t)length));
    }
    client_await_metric(&client, RUNNING, WAITING + 1);
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
    for (int i = 0; i < WAITING; i++) { /* all the workers still wait */
        assert_int_equal(recv(waiting[i].fd, bytes, 1, MSG_DONTWAIT), -1);
        assert_int_equal(errno, EAGAIN);
    }
    cluster_unlock(&cluster);
    for (int i = 0; i < WAITING; i++) {
        assert_true(client_read(&waiting[i], 0, &reply));
        assert_int_equal(reply.status, 400);
        client_close(&waiting[i]);
    }
    assert_int_equal(client_ask(&client, &reply, "GET", "/readyz", NULL), 200);
    cluster_stop(&cluster, "immediate");
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/readyz", NULL), 503);
    cluster_start(&cluster);
    for (int i = 0; i < PATIENCE && client_ask(&client, &reply, "GET", "/readyz", NULL) != 200; i++) pause_ms(10);
    assert_int_equal(reply.status, 200);
    client_close(&client);
}

/* /metrics does not wait, and says that the store does not answer; the series of jobs come back with it. */
static void test_metrics(void **state) {
    static const char series[] = "\nkerf_job_trials_total{job_id=\"m\"} 0\n";
    struct client client;
    struct reply reply;
    (void)state;
    run_server(0);
    client_open(&client, ports[0]);
    assert_int_equal(register_job(&client, "m", "64", ""), 201);
    for (int round = 0; round < 2; round++) {
        int is_there = 0;
        for (int i = 0; i < PATIENCE && !is_there; i++) {
            assert_int_equal(client_ask(&client, &reply, "GET", "/metrics", NULL), 200);
            is_there = strstr(reply.body, series) != NULL;
            if (!is_there) pause_ms(10);
        }
        assert_true(is_there);
        assert_int_equal(client_metric(&client, "kerf_store_up"), 1);
        if (round == 0)
            cluster_lock(&cluster, "jobs", "kerf_job_state");
        else
            cluster_stop(&cluster, "immediate");
        client_await_metric(&client, "kerf_store_up", 0);
        assert_int_equal(client_ask(&client, &reply, "GET", "/metrics", NULL), 200);
        assert_null(strstr(reply.body, "kerf_job_"));
        if (round == 0)
            cluster_unlock(&cluster);
        else
            cluster_start(&cluster);
        client_await_metric(&client, "kerf_store_up", 1);
    }
    client_close(&client);
}

static int start(void **state) {
    (void)state;
    for (int i = 0; i < SERVERS; i++) {
        place_make(&places[i]);
        if (i == 0) cluster_database(&cluster, "jobs", places[0].store, sizeof places[0].store);
        memcpy(places[i].store, places[0].store, sizeof places[0].store);
    }
    return 0;
}

static int stop(void **state) {
    (void)state;
    is_over = 1;
    for (int i = 0; i < SERVERS; i++) place_clear(&places[i]);
    return 0;
}

int main(void) {
    const char *why = "";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_health, start, stop),
        cmocka_unit_test_setup_teardown(test_metrics, start, stop),
        cmocka_unit_test_setup_teardown(test_two_servers, start, stop),
        cmocka_unit_test_setup_teardown(test_make_and_delete, start, stop),
        cmocka_unit_test_setup_teardown(test_old_trials_go_meanwhile, start, stop),
        cmocka_unit_test_setup_teardown(test_end_while_it_hangs, start, stop),
    };
    signal(SIGPIPE, SIG_IGN);
    if (!cluster_make(&cluster, &why)) {
        printf("skipped: %s\n", why);
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_clear(&cluster);
    return failed;
}
