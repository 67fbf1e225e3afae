/* SPDX-License-Identifier: Apache-2.0 */
/* A store that several servers share, by itself: turns, jobs made at once, first starts at once, and its going away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "database.h"
#include "store_writes.h"

static struct cluster cluster;
static char url[96];
static struct store *store;
static struct kerf_error err;

static int start(void **state) {
    (void)state;
    cluster_database(&cluster, "jobs", url, sizeof url);
    return store_open(url, STORE_SERVE, &store, &err) != KERF_OK;
}

static int stop(void **state) {
    (void)state;
    store_close(store);
    return 0;
}

static int32_t submit(struct store_write *write, struct store_turn *turn) {
    return submit_and_wait(store, write, turn);
}
static int64_t create(const char *job_id) { return create_job(store, job_id); }

struct rival { /* another server, which wants the same job */
    struct store *store;
    struct store_turn turn;
    _Atomic int has_turn;
};

static void *want_turn(void *context) {
    const struct store_turn unknown = {0};
    struct rival *rival = context;
    struct kerf_error why;
    if (rival->store->methods->begin(rival->store, "p1", &unknown, &rival->turn, &why) != KERF_OK) return NULL;
    rival->has_turn = 1;
    return rival;
}

static int begin(struct store_turn *ret_turn) {
    const struct store_turn unknown = {0};
    return store->methods->begin(store, "p1", &unknown, ret_turn, &err) == KERF_OK;
}

static void test_turns(void **state) {
    (void)state;
    const struct timespec moment = {.tv_nsec = 100000000};
    struct rival rival = {0};
    struct store_turn turn;
    pthread_t thread;
    void *has_it;
    struct kerf_job *job = make_job("p1");
    int64_t key = create("p1");
    assert_int_equal(store_open(url, STORE_SERVE, &rival.store, &err), KERF_OK);
    for (int i = 0; i < 3; i++) { /* it waits for what is written, for a turn without a change, and for the end */
        assert_true(begin(&turn));
        assert_int_equal(turn.version, i < 1 ? 1 : 2);
        pthread_create(&thread, NULL, want_turn, &rival);
        nanosleep(&moment, NULL);
        assert_false(rival.has_turn);
        struct store_write write = {.kind = i == 2 ? STORE_DELETE : STORE_DECIDE,
                                    .changes = KERF_JOB_CHANGED_ROW,
                                    .job = key,
                                    .version = 2,
                                    .of = job};
        if (i == 1)
            store->methods->cancel(store, &turn);
        else
            assert_int_equal(submit(&write, &turn), KERF_OK);
        pthread_join(thread, &has_it);
        assert_non_null(has_it);
        assert_int_equal(rival.turn.job, i < 2 ? key : 0);
        assert_int_equal(rival.turn.version, i < 2 ? 2 : 0);
        rival.store->methods->cancel(rival.store, &rival.turn);
        rival.has_turn = 0;
    }
    store_close(rival.store);
    kerf_job_free(job);
}

/* Both see that there is no such job; one of them makes it. */
static void test_two_create(void **state) {
    (void)state;
    struct rival rival = {0};
    struct store_turn turn;
    struct kerf_job *job = make_job("p1");
    assert_int_equal(store_open(url, STORE_SERVE, &rival.store, &err), KERF_OK);
    assert_true(begin(&turn));
    assert_non_null(want_turn(&rival));
    assert_int_equal(turn.job + rival.turn.job, 0);
    struct store_write write = {.kind = STORE_CREATE, .of = job, .version = 1}, again = write;
    static int first = 0;
    assert_int_equal(submit(&write, &turn), KERF_OK);
    assert_true(write.job > 0);
    again.done = write_done;
    again.context = &first;
    rival.store->methods->submit(rival.store, &rival.turn, &again);
    wait_for_writes(1);
    assert_int_equal(write_codes[0], KERF_OK);
    assert_int_equal(again.job, 0);
    store_close(rival.store);
    kerf_job_free(job);
}

static void *open_and_close(void *context) {
    struct store *other = NULL;
    struct kerf_error why;
    (void)context;
    if (store_open(url, STORE_SERVE, &other, &why) != KERF_OK) return (void *)"it cannot be opened";
    store_close(other);
    return NULL;
}

/* All find an empty database, and one makes the tables. */
static void test_starts_at_once(void **state) {
    (void)state;
    enum { COUNT = 6 };
    pthread_t threads[COUNT];
    void *failed[COUNT];
    store_close(store);
    store = NULL;
    cluster_database(&cluster, "jobs", url, sizeof url);
    for (int i = 0; i < COUNT; i++) pthread_create(&threads[i], NULL, open_and_close, NULL);
    for (int i = 0; i < COUNT; i++) pthread_join(threads[i], &failed[i]);
    for (int i = 0; i < COUNT; i++) assert_null(failed[i]);
    cluster_run(&cluster, "jobs", "UPDATE kerf_meta SET value='1000' WHERE key='schema_version'");
    assert_int_equal(store_open(url, STORE_SERVE, &store, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "a newer kerf"));
}

/* An error while it is away, and then on as before. */
static void test_away_and_back(void **state) {
    (void)state;
    const struct timespec moment = {.tv_nsec = 300000000};
    struct store_turn turn;
    int64_t count = 0;
    struct kerf_job *job = make_job("p1");
    int64_t key = create("p1");
    assert_true(begin(&turn));
    cluster_stop(&cluster, "immediate");
    struct store_write write = {
        .kind = STORE_DECIDE, .changes = KERF_JOB_CHANGED_ROW, .job = key, .version = 2, .of = job};
    assert_int_equal(submit(&write, &turn), KERF_EIO); /* in the middle of a decision */
    assert_int_equal(store->methods->count_jobs(store, &count, &err), KERF_EIO);
    assert_int_equal(store->methods->ping(store, &err), KERF_EIO);
    assert_false(begin(&turn));
    cluster_start(&cluster);
    nanosleep(&moment, NULL);
    assert_int_equal(store->methods->count_jobs(store, &count, &err), KERF_OK);
    assert_int_equal(count, 1);
    cluster_stop(&cluster, "fast"); /* and while nobody asks, nobody notices */
    cluster_start(&cluster);
    assert_true(begin(&turn));
    assert_int_equal(turn.version, 1);
    store->methods->cancel(store, &turn);
    kerf_job_free(job);
}

int main(void) {
    const char *why = "";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_turns, start, stop),
        cmocka_unit_test_setup_teardown(test_two_create, start, stop),
        cmocka_unit_test_setup_teardown(test_starts_at_once, start, stop),
        cmocka_unit_test_setup_teardown(test_away_and_back, start, stop),
    };
    if (!cluster_make(&cluster, &why)) {
        printf("skipped: %s\n", why);
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_clear(&cluster);
    return failed;
}
