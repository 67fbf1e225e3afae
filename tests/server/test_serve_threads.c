/* SPDX-License-Identifier: Apache-2.0 */
/* Many clients at once: on one job, on the making and deleting of one job, and on more jobs than fit in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "serve_client.h"

enum { THREADS = 8, CYCLES = 40, NUMBERS = THREADS * CYCLES + 1, MANY = 1500 };

static struct place place;
static _Atomic int given[NUMBERS], statuses[600];

static void with_threads(void *(*work)(void *)) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void *on_one_job(void *context) {
    struct client client;
    struct reply reply;
    (void)context;
    client_open(&client, place.port);
    for (int i = 0; i < CYCLES; i++) {
        int64_t size, trial;
        if (predict(&client, "one", &size, &trial) == 200 && trial > 0 && trial < NUMBERS) given[trial]++;
        statuses[report(&client, &reply, "one", size, trial, 100 + i, 0.9, 1)]++;
        client_ask(&client, &reply, "GET", "/api/v1/jobs/one", NULL);
        client_ask(&client, &reply, "GET", "/metrics", NULL);
    }
    client_close(&client);
    return NULL;
}

static void test_one_job(void **state) {
    (void)state;
    struct client client;
    client_open(&client, place.port);
    memset(statuses, 0, sizeof statuses);
    assert_int_equal(register_job(&client, "one", "64,128,256", ",\"beta_knob\":null"), 201);
    with_threads(on_one_job);
    for (int i = 1; i < NUMBERS; i++) assert_int_equal(given[i], 1);
    assert_int_equal(statuses[200], THREADS * CYCLES);
    client_close(&client);
}

static void *make_and_delete(void *context) {
    struct client client;
    struct reply reply;
    client_open(&client, place.port);
    const char *more = (intptr_t)context % 2 ? ",\"job_id_prefix\":\"t\"" : "";
    for (int i = 0; i < CYCLES; i++) {
        char job_id[16], path[64];
        snprintf(job_id, sizeof job_id, "two%d", i);
        statuses[register_job(&client, job_id, "64", more)]++;
        snprintf(path, sizeof path, "/jobs?job_id=%s", job_id);
        statuses[client_ask(&client, &reply, "DELETE", path, NULL) == 200 ? 0 : 1]++;
        assert_true(reply.status == 200 || reply.status == 404);
    }
    client_close(&client);
    return NULL;
}

static void test_make_and_delete(void **state) {
    (void)state;
    memset(statuses, 0, sizeof statuses);
    with_threads(make_and_delete);
    assert_int_equal(statuses[201], statuses[0]); /* each that was made was deleted, once */
    assert_int_equal(statuses[200] + statuses[201] + statuses[409], THREADS * CYCLES);
}

static void *on_many_jobs(void *context) {
    struct client client;
    struct reply reply;
    client_open(&client, place.port);
    for (int i = (int)(intptr_t)context; i < MANY; i += THREADS) {
        char job_id[16];
        int64_t size, trial;
        snprintf(job_id, sizeof job_id, "many%d", i % 700);
        register_job(&client, job_id, "64,128,256,512,1024", "");
        statuses[predict(&client, job_id, &size, &trial)]++;
        statuses[report(&client, &reply, job_id, size, trial, 100, 0.9, 1)]++;
    }
    client_close(&client);
    return NULL;
}

static void test_more_than_memory(void **state) {
    (void)state;
    struct client client;
    struct reply reply;
    memset(statuses, 0, sizeof statuses);
    with_threads(on_many_jobs);
    assert_int_equal(statuses[200], 2 * MANY);
    client_open(&client, place.port);
    client_ask(&client, &reply, "GET", "/metrics", NULL);
    assert_null(strstr(reply.body, "kerf_cache_evicted_total 0\n"));
    client_close(&client);
}

static int start(void **state) {
    (void)state;
    place_make(&place);
    struct server_options options = place_options(&place, 0);
    options.cache_mib = 1;
    options.threads = 4;
    place_start_with(&place, &options);
    return 0;
}

static int stop(void **state) {
    (void)state;
    place_clear(&place);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_job, start, stop),
        cmocka_unit_test_setup_teardown(test_make_and_delete, start, stop),
        cmocka_unit_test_setup_teardown(test_more_than_memory, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
