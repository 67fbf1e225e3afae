/* SPDX-License-Identifier: Apache-2.0 */
/* A store that several servers share, by itself: turns with a lock and without, jobs made at once, first starts at
 * once, and its going away. */
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
    return store_open(url, STORE_SERVE | STORE_MAY_CREATE, &store, &err) != KERF_OK;
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
    assert_int_equal(store_open(url, STORE_SERVE | STORE_MAY_CREATE, &rival.store, &err), KERF_OK);
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

/* ---- Without a lock ------------------------------------------------------------------------------------------ */

enum { ASSUMED_JOBS = WRITES };

struct assumed { /* a decision on what is known: the next trial of a job */
    struct kerf_job *job;
    struct store_turn turn;
    struct kerf_trial trial;
    struct store_write write;
    int index;
};

static void assume(struct assumed *assumed, int index, int64_t key, int64_t version) {
    const struct store_turn known = {.job = key, .version = version};
    struct kerf_decision decision;
    char job_id[16];
    snprintf(job_id, sizeof job_id, "p%d", index + 1);
    assumed->index = index;
    assumed->job = make_job(job_id);
    assert_int_equal(store->methods->begin(store, job_id, &known, &assumed->turn, &err), KERF_OK);
    assert_int_equal(assumed->turn.is_assumed, 1);
    assert_int_equal(kerf_job_predict(assumed->job, 1, &decision, &err), KERF_OK);
    assumed->trial = decision.trial;
    assumed->write = (struct store_write){.kind = STORE_DECIDE,
                                          .changes = decision.changes,
                                          .trial = &assumed->trial,
                                          .trial_is_new = 1,
                                          .job = key,
                                          .version = version + 1,
                                          .of = assumed->job,
                                          .reason = "",
                                          .done = write_done,
                                          .context = &assumed->index};
}

static int64_t version_of(int index) {
    struct store_turn found = {0};
    char job_id[16];
    snprintf(job_id, sizeof job_id, "p%d", index + 1);
    assert_int_equal(store_find_job(store, job_id, &found, NULL, &err), KERF_OK);
    return found.version;
}

static int has_trial(int64_t key) {
    struct store_turn turn = {.job = key};
    struct kerf_trial trial;
    int32_t code = store_load_trial(store, &turn, 1, &trial, &err);
    assert_true(code == KERF_OK || code == KERF_EUNKNOWN);
    return code == KERF_OK;
}

/* Many at once: each is written or not by itself. Every third one knows a version that is not there any more, every
 * fifth one's row is locked by another server. */
static void test_assumed(void **state) {
    (void)state;
    static struct assumed all[ASSUMED_JOBS];
    struct store *others;
    struct store_turn locks[ASSUMED_JOBS] = {0};
    int64_t keys[ASSUMED_JOBS];
    const struct store_turn unknown = {0};
    assert_int_equal(store_open(url, STORE_SERVE | STORE_MAY_CREATE, &others, &err), KERF_OK);
    for (int i = 0; i < ASSUMED_JOBS; i++) {
        char job_id[16];
        snprintf(job_id, sizeof job_id, "p%d", i + 1);
        keys[i] = create(job_id);
        assume(&all[i], i, keys[i], i % 3 == 0 ? 7 : 1);
        if (i % 5 == 0) assert_int_equal(others->methods->begin(others, job_id, &unknown, &locks[i], &err), KERF_OK);
    }
    for (int i = 0; i < ASSUMED_JOBS; i++) store->methods->submit(store, &all[i].turn, &all[i].write);
    wait_for_writes(ASSUMED_JOBS);
    for (int i = 0; i < ASSUMED_JOBS; i++) {
        int is_stale = i % 3 == 0 || i % 5 == 0;
        assert_int_equal(write_codes[i], KERF_OK);
        assert_int_equal(all[i].write.is_stale, is_stale);
        assert_int_equal(version_of(i), is_stale ? 1 : 2);
        assert_int_equal(has_trial(keys[i]), !is_stale);
        if (i % 5 == 0) others->methods->cancel(others, &locks[i]);
        kerf_job_free(all[i].job);
    }
    store_close(others);
}

/* One that the database refuses, as its trial is there already, does no harm to the others. */
static void test_one_fails(void **state) {
    (void)state;
    static struct assumed all[ASSUMED_JOBS];
    int64_t keys[ASSUMED_JOBS];
    for (int i = 0; i < ASSUMED_JOBS; i++) {
        char job_id[16];
        snprintf(job_id, sizeof job_id, "p%d", i + 1);
        keys[i] = create(job_id);
        assume(&all[i], i, keys[i], 1);
    }
    cluster_run(&cluster, "jobs",
                "INSERT INTO kerf_trial SELECT job,1,64,0,0,NULL,0,NULL,NULL,0,0,'' FROM kerf_job WHERE job_id='p3'");
    for (int i = 0; i < ASSUMED_JOBS; i++) store->methods->submit(store, &all[i].turn, &all[i].write);
    wait_for_writes(ASSUMED_JOBS);
    for (int i = 0; i < ASSUMED_JOBS; i++) {
        assert_int_equal(write_codes[i], i == 2 ? KERF_EIO : KERF_OK);
        assert_int_equal(version_of(i), i == 2 ? 1 : 2);
        kerf_job_free(all[i].job);
    }
}

/* What is answered without a change is so, and a change of more than a trial is written under a lock. */
static void test_confirmed(void **state) {
    (void)state;
    int64_t key = create("p1");
    const struct store_turn known = {.job = key, .version = 1};
    struct store_turn turn;
    int32_t is_stale = 1;
    assert_int_equal(store->methods->begin(store, "p1", &known, &turn, &err), KERF_OK);
    assert_int_equal(store->methods->confirm(store, &turn, &is_stale, &err), KERF_OK);
    assert_false(is_stale);
    for (int i = 0; i < 2; i++) { /* the second one knows what is gone */
        struct store_write write = {.kind = STORE_DELETE, .job = key, .version = 2};
        assert_int_equal(store->methods->begin(store, "p1", &known, &turn, &err), KERF_OK);
        assert_int_equal(submit(&write, &turn), KERF_OK);
        assert_int_equal(write.is_stale, i);
    }
    assert_int_equal(store->methods->begin(store, "p1", &known, &turn, &err), KERF_OK);
    assert_int_equal(store->methods->confirm(store, &turn, &is_stale, &err), KERF_OK);
    assert_true(is_stale);
}

/* ---- Starts, and the database away --------------------------------------------------------------------------- */

/* Both see that there is no such job; one of them makes it. */
static void test_two_create(void **state) {
    (void)state;
    struct rival rival = {0};
    struct store_turn turn;
    struct kerf_job *job = make_job("p1");
    assert_int_equal(store_open(url, STORE_SERVE | STORE_MAY_CREATE, &rival.store, &err), KERF_OK);
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
    if (store_open(url, STORE_SERVE | STORE_MAY_CREATE, &other, &why) != KERF_OK) return (void *)"it cannot be opened";
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
    assert_int_equal(store_open(url, 0, &store, &err), KERF_EINVALID); /* `kerf token` makes no tables by itself */
    assert_non_null(strstr(err.message, "--create"));
    for (int i = 0; i < COUNT; i++) pthread_create(&threads[i], NULL, open_and_close, NULL);
    for (int i = 0; i < COUNT; i++) pthread_join(threads[i], &failed[i]);
    for (int i = 0; i < COUNT; i++) assert_null(failed[i]);
    cluster_run(&cluster, "jobs", "UPDATE kerf_meta SET value='1000' WHERE key='schema_version'");
    assert_int_equal(store_open(url, STORE_SERVE | STORE_MAY_CREATE, &store, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "a newer kerf"));
}

/* An error while it is away, and then on as before. */
static void test_away_and_back(void **state) {
    (void)state;
    const struct timespec moment = {.tv_nsec = 10000000};
    struct store_turn turn;
    int64_t count = 0;
    int32_t code = KERF_EIO;
    struct kerf_job *job = make_job("p1");
    int64_t key = create("p1");
    assert_true(begin(&turn));
    cluster_stop(&cluster, "immediate");
    struct store_write write = {
        .kind = STORE_DECIDE, .changes = KERF_JOB_CHANGED_ROW, .job = key, .version = 2, .of = job};
    assert_int_equal(submit(&write, &turn), KERF_EIO); /* in the middle of a decision */
    assert_int_equal(store_count_jobs(store, &count, &err), KERF_EIO);
    assert_int_equal(store_ping(store, &err), KERF_EIO);
    assert_false(begin(&turn));
    cluster_start(&cluster);
    for (int i = 0; i < 30000 && code == KERF_EIO; i++) { /* for a moment it does not try again */
        code = store_count_jobs(store, &count, &err);
        nanosleep(&moment, NULL);
    }
    assert_int_equal(code, KERF_OK);
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
        cmocka_unit_test_setup_teardown(test_assumed, start, stop),
        cmocka_unit_test_setup_teardown(test_one_fails, start, stop),
        cmocka_unit_test_setup_teardown(test_confirmed, start, stop),
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
