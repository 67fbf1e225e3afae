/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two servers on one PostgreSQL database, with clients of both on the same jobs: no trial number is given twice and no
 * acknowledged report is lost, through kill -9 of a server and of the database. Clients repeat what was not answered.
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
#include <time.h>
#include "database.h"
#include "serve_client.h"
#include "store/store.h"

enum { SERVERS = 2, JOBS = 2, THREADS = 6, NUMBERS = 20000, KILLS = 6, CHECKED = 400, PATIENCE = 500, CYCLES = 25 };

static struct cluster cluster;
static struct place places[SERVERS];
static _Atomic int ports[SERVERS], is_over;
static _Atomic int given[JOBS][NUMBERS], acknowledged[JOBS][NUMBERS]; /* by trial number; the size of the trial */
static _Atomic int num_twice, num_acknowledged, num_wrong, num_errors, statuses[600];

static void pause_ms(int ms) {
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

/* ---- Clients ------------------------------------------------------------------------------------------------- */

/* Again while the server or its database is away. 0: it was not answered in all this time. */
static int insist(struct client *client, struct reply *reply, int server, const char *method, const char *path,
                  const char *body) {
    for (int i = 0; i < PATIENCE; i++) {
        client->port = ports[server];
        int answered = client_try(client, method, path, "application/json", body, body ? strlen(body) : 0, reply);
        if (answered && reply->status != 503) return 1;
        num_errors++;
        pause_ms(10);
    }
    return 0;
}

static void *work(void *context) {
    int self = (int)(intptr_t)context, server = self % SERVERS, job = self / SERVERS % JOBS;
    struct client client;
    struct reply reply;
    char path[64], body[256];
    client_open(&client, ports[server]);
    snprintf(path, sizeof path, "/jobs/batch_size?job_id=j%d", job);
    while (!is_over && insist(&client, &reply, server, "GET", path, NULL)) {
        int64_t trial = reply_integer(&reply, "trial_number"), size = reply_integer(&reply, "batch_size");
        if (reply.status != 200 || trial < 1 || trial >= NUMBERS) {
            num_wrong++;
            break;
        }
        if (given[job][trial]++) num_twice++;
        snprintf(body, sizeof body,
                 "{\"job_id\":\"j%d\",\"batch_size\":%d,\"trial_number\":%d,\"time\":1,\"energy\":%d,\"metric\":0.9,"
                 "\"current_epoch\":1}",
                 job, (int)size, (int)trial, 100 + (int)(trial % 17));
        if (!insist(&client, &reply, server, "POST", "/report", body)) break;
        if (reply.status != 200 || strstr(reply.body, "\"stop_train\":true") == NULL) {
            num_wrong++;
            print_message("%d %s\n", reply.status, reply.body);
            break;
        }
        acknowledged[job][trial] = (int)size;
        num_acknowledged++;
    }
    client_close(&client);
    return NULL;
}

static void run_server(int i) {
    place_run(&places[i], 0, NULL);
    ports[i] = places[i].port;
}

static void begin_load(pthread_t *threads) {
    struct client client;
    is_over = num_twice = num_acknowledged = num_wrong = num_errors = 0;
    memset(given, 0, sizeof given);
    memset(acknowledged, 0, sizeof acknowledged);
    for (int i = 0; i < SERVERS; i++) run_server(i);
    client_open(&client, ports[0]);
    for (int i = 0; i < JOBS; i++) {
        char job_id[16];
        snprintf(job_id, sizeof job_id, "j%d", i);
        assert_int_equal(register_job(&client, job_id, "64,128,256", ",\"beta_knob\":null"), 201);
    }
    client_close(&client);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
}

/* Whatever server was asked, each server knows. */
static void end_load(pthread_t *threads) {
    struct client client;
    struct reply reply;
    int checked = 0;
    is_over = 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(num_twice, 0);
    assert_int_equal(num_wrong, 0);
    for (int i = 0; i < JOBS * NUMBERS; i++) {
        int job = i / NUMBERS, trial = i % NUMBERS, size = acknowledged[job][trial];
        if (size == 0 || (checked >= CHECKED && trial % 11 != 0)) continue;
        char job_id[16];
        snprintf(job_id, sizeof job_id, "j%d", job);
        client_open(&client, ports[checked++ % SERVERS]);
        assert_int_equal(report(&client, &reply, job_id, size, trial, 1, 0.9, 1), 200);
        assert_non_null(strstr(reply.body, "is already reported"));
        client_close(&client);
    }
    print_message("%d reports acknowledged, %d of them looked up; %d questions were asked again\n", num_acknowledged,
                  checked, num_errors);
    assert_true(num_acknowledged > 50);
}

/* ---- Tests --------------------------------------------------------------------------------------------------- */

static void test_two_servers(void **state) {
    pthread_t threads[THREADS];
    (void)state;
    begin_load(threads);
    pause_ms(2500);
    end_load(threads);
    assert_int_equal(num_errors, 0);
    for (int job = 0; job < JOBS; job++) { /* no number was left out either */
        int last = 0;
        for (int i = 1; i < NUMBERS; i++)
            if (given[job][i]) assert_int_equal(i, ++last);
    }
}

static void test_kills(void **state) {
    pthread_t threads[THREADS];
    (void)state;
    begin_load(threads);
    for (int i = 0; i < KILLS; i++) {
        pause_ms(200 + 130 * i);
        place_end(&places[i % SERVERS], SIGKILL);
        pause_ms(50);
        run_server(i % SERVERS);
    }
    pause_ms(300);
    end_load(threads);
}

static void test_database_away(void **state) {
    pthread_t threads[THREADS];
    (void)state;
    begin_load(threads);
    for (int i = 0; i < 3; i++) {
        pause_ms(500);
        cluster_stop(&cluster, i == 1 ? "fast" : "immediate");
        pause_ms(200);
        cluster_start(&cluster);
    }
    pause_ms(500);
    end_load(threads);
    assert_true(num_errors > 0);
}

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

/* More requests than workers wait for the database, and then it is gone. */
static void test_health(void **state) {
    enum { WAITING = 40, LOCKED_S = 4 };
    struct client waiting[WAITING], client;
    struct reply reply;
    char bytes[64];
    (void)state;
    run_server(0);
    client_open(&client, ports[0]);
    cluster_lock(&cluster, "jobs", "kerf_job_state", LOCKED_S);
    for (int i = 0; i < WAITING; i++) { /* each about a job of its own, as those about one job wait in a queue */
        int length = snprintf(bytes, sizeof bytes, "GET /jobs/batch_size?job_id=w%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
        client_open(&waiting[i], ports[0]);
        assert_true(client_send(&waiting[i], bytes, (size_t)length));
    }
    pause_ms(300);
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/metrics", NULL), 200);
    for (int i = 0; i < WAITING; i++) { /* all the workers still wait */
        assert_int_equal(recv(waiting[i].fd, bytes, 1, MSG_DONTWAIT), -1);
        assert_int_equal(errno, EAGAIN);
    }
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
        cmocka_unit_test_setup_teardown(test_two_servers, start, stop),
        cmocka_unit_test_setup_teardown(test_make_and_delete, start, stop),
        cmocka_unit_test_setup_teardown(test_kills, start, stop),
        cmocka_unit_test_setup_teardown(test_database_away, start, stop),
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
