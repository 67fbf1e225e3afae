/* SPDX-License-Identifier: Apache-2.0 */
/* A backup while a server writes: it is a store, and has all that was answered before it began. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "serve_client.h"
#include "store/store.h"

enum { JOBS = 3, NUMBERS = 100000, LARGE_JOBS = 8, LARGE = 500000 };

static struct place place;
static char copy[128];

struct worker {
    pthread_t thread;
    int job;
    int64_t sizes[NUMBERS];
    _Atomic int64_t acknowledged; /* all trials up to this one */
};
static struct worker workers[JOBS];
static _Atomic int is_over;

static int make(void **state) {
    (void)state;
    place_make(&place);
    snprintf(copy, sizeof copy, "%s/copy.db", place.folder);
    place_start(&place, 0);
    return 0;
}

static int clear(void **state) {
    (void)state;
    place_clear(&place);
    return 0;
}

/* ---- Load --------------------------------------------------------------------------------------------------- */

static void *work(void *context) {
    struct worker *worker = context;
    struct client client;
    struct reply reply;
    char job_id[16];
    int64_t size, trial;
    client_open(&client, place.port);
    snprintf(job_id, sizeof job_id, "j%d", worker->job);
    while (!is_over && predict(&client, job_id, &size, &trial) == 200 && trial < NUMBERS) {
        worker->sizes[trial] = size;
        if (report(&client, &reply, job_id, size, trial, 100 + (double)(trial % 17), 0.9, 1) != 200) break;
        worker->acknowledged = trial;
    }
    client_close(&client);
    return NULL;
}

/* Each client has got on by so many trials, or 0. */
static int get_on(int64_t trials) {
    const struct timespec pause = {.tv_nsec = 1000000};
    int64_t from[JOBS], done = 0;
    for (int i = 0; i < JOBS; i++) from[i] = workers[i].acknowledged;
    for (int waited = 0; waited < 300000 && done < JOBS; waited++) {
        nanosleep(&pause, NULL);
        done = 0;
        for (int i = 0; i < JOBS; i++) done += workers[i].acknowledged >= from[i] + trials;
    }
    return done == JOBS;
}

static void begin_load(void) {
    struct client client;
    client_open(&client, place.port);
    for (int i = 0; i < LARGE_JOBS; i++) { /* so that the store is copied in several steps */
        char *body = malloc(LARGE + 1024);
        struct reply reply;
        assert_non_null(body);
        int at =
            sprintf(body,
                    "{\"job_id\":\"large%d\",\"job_id_prefix\":\"\",\"batch_sizes\":[64],\"default_batch_size\":64,"
                    "\"max_power\":300,\"number_of_gpus\":1,\"gpu_model\":\"",
                    i);
        memset(body + at, 'g', LARGE);
        strcpy(body + at + LARGE, "\"}");
        assert_int_equal(client_ask(&client, &reply, "POST", "/jobs", body), 201);
        free(body);
    }
    is_over = 0;
    for (int i = 0; i < JOBS; i++) {
        char job_id[16];
        snprintf(job_id, sizeof job_id, "j%d", i);
        assert_int_equal(register_job(&client, job_id, "64,128,256", ",\"beta_knob\":null"), 201);
        workers[i].job = i;
        workers[i].acknowledged = 0;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    client_close(&client);
    assert_true(get_on(20));
}

static void end_load(void) {
    is_over = 1;
    for (int i = 0; i < JOBS; i++) pthread_join(workers[i].thread, NULL);
}

/* ---- Tests --------------------------------------------------------------------------------------------------- */

static int steps;

static int32_t let_others_write(void *context, double done) {
    (void)context;
    assert_true(done >= 0 && done <= 1);
    steps++;
    return !get_on(3);
}

static void test_under_load(void **state) {
    (void)state;
    struct kerf_error err;
    struct client client;
    struct reply reply;
    int64_t before[JOBS];
    steps = 0;
    begin_load();
    for (int i = 0; i < JOBS; i++) before[i] = workers[i].acknowledged;
    int32_t code = store_backup(place.store, copy, 0, let_others_write, NULL, &err);
    if (code != KERF_OK) fail_msg("%s", err.message);
    assert_true(steps > 2); /* the server wrote meanwhile */
    assert_true(get_on(3)); /* and goes on */
    end_load();
    place_stop(&place);
    strcpy(place.store, copy);
    place_start(&place, 0);
    client_open(&client, place.port);
    for (int i = 0; i < JOBS; i++) {
        char job_id[16];
        int64_t size, trial;
        snprintf(job_id, sizeof job_id, "j%d", i);
        for (trial = 1; trial <= before[i]; trial++) {
            assert_int_equal(report(&client, &reply, job_id, workers[i].sizes[trial], trial, 1, 0.9, 1), 200);
            assert_non_null(strstr(reply.body, "is already reported"));
        }
        assert_int_equal(predict(&client, job_id, &size, &trial), 200);
        assert_true(trial > before[i]);
    }
    client_close(&client);
}

static int32_t give_up(void *context, double done) {
    (void)context, (void)done;
    return 1;
}

static int count_files(const char *pattern) {
    char all[160];
    glob_t found;
    snprintf(all, sizeof all, "%s/%s", place.folder, pattern);
    int none = glob(all, 0, NULL, &found) != 0, count = none ? 0 : (int)found.gl_pathc;
    if (!none) globfree(&found);
    return count;
}

static void test_an_interruption_leaves_nothing(void **state) {
    (void)state;
    struct kerf_error err;
    begin_load();
    end_load();
    assert_int_equal(store_backup(place.store, copy, 0, give_up, NULL, &err), KERF_EINTERRUPTED);
    assert_int_equal(count_files("copy*"), 0);
}

static void refuses(const char *from, const char *to, int32_t force, int32_t code, const char *words) {
    struct kerf_error err;
    assert_int_equal(store_backup(from, to, force, NULL, NULL, &err), code);
    if (strstr(err.message, words) == NULL) fail_msg("'%s' does not say '%s'", err.message, words);
}

static void test_what_is_refused(void **state) {
    (void)state;
    struct kerf_error err;
    char name[160];
    assert_int_equal(store_backup(place.store, copy, 0, NULL, NULL, &err), KERF_OK);
    refuses(place.store, copy, 0, KERF_EINVALID, "exists already; --force");
    assert_int_equal(store_backup(place.store, copy, 1, NULL, NULL, &err), KERF_OK);
    refuses(place.store, place.store, 1, KERF_EINVALID, "is the store itself");
    snprintf(name, sizeof name, "%s-wal", place.store);
    refuses(place.store, name, 1, KERF_EINVALID, "is a part of the store itself");
    snprintf(name, sizeof name, "%s/none/copy.db", place.folder);
    refuses(place.store, name, 0, KERF_EIO, "No such file or directory");
    snprintf(name, sizeof name, "%s/nothing.db", place.folder);
    refuses(name, copy, 1, KERF_EIO, "nothing.db cannot be opened");
    snprintf(name, sizeof name, "%s/text", place.folder);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    for (int i = 0; i < 100; i++) fputs("this is no database\n", file);
    fclose(file);
    refuses(name, copy, 1, KERF_EINVALID, "is not a SQLite database");
    snprintf(name, sizeof name, "%s/next.db-wal", place.folder);
    file = fopen(name, "w");
    assert_non_null(file);
    fputs("frames", file);
    fclose(file);
    name[strlen(name) - strlen("-wal")] = 0;
    refuses(place.store, name, 0, KERF_EINVALID, "next.db-wal exists");
    refuses("postgresql://kerf:secret@host/jobs", copy, 0, KERF_EUNSUPPORTED, "pg_dump");
    assert_int_equal(count_files("*.db.??????"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_under_load, make, clear),
        cmocka_unit_test_setup_teardown(test_an_interruption_leaves_nothing, make, clear),
        cmocka_unit_test_setup_teardown(test_what_is_refused, make, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
