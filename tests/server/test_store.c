/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stores by themselves: what is written is read back, lists have pages, and a write that fails fails alone. The
 * same tests run on each store: `test_store sqlite` (or nothing), `test_store postgresql`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "database.h"
#include "serve_client.h"
#include "store_writes.h"

static struct place place;
static struct store *store;
static struct kerf_error err;

static struct cluster cluster;
static int is_postgresql;

static int start(void **state) {
    (void)state;
    place_make(&place);
    if (is_postgresql) cluster_database(&cluster, "jobs", place.store, sizeof place.store);
    return store_open(place.store, STORE_SERVE | STORE_MAY_CREATE, &store, &err) != KERF_OK;
}

static int stop(void **state) {
    (void)state;
    store_close(store);
    place_clear(&place);
    return 0;
}

static int32_t submit(struct store_write *write, struct store_turn *turn) {
    return submit_and_wait(store, write, turn);
}
static int64_t create(const char *job_id) { return create_job(store, job_id); }

/* ---- Tests --------------------------------------------------------------------------------------------------- */

static void test_job(void **state) {
    (void)state;
    const struct store_turn unknown = {0};
    struct store_turn turn;
    struct kerf_job *job = NULL, *made = make_job("p1");
    double created_s;
    int64_t key = create("p1");
    assert_true(key > 0);
    assert_int_equal(create("p1"), 0); /* taken */
    assert_int_equal(store->methods->begin(store, "p1", &unknown, &turn, &err), KERF_OK);
    assert_int_equal(turn.job, key);
    assert_int_equal(turn.version, 1);
    assert_int_equal(store_load_job(store, &turn, KERF_JOB_COMPAT, &job, &err), KERF_OK);
    assert_true(kerf_job_spec_same(kerf_job_spec_of(job), kerf_job_spec_of(made)));
    assert_memory_equal(&kerf_job_row_of(job)->random, &kerf_job_row_of(made)->random, sizeof(struct kerf_job_random));
    store->methods->cancel(store, &turn);
    assert_int_equal(store_find_job(store, "p1", &turn, &created_s, &err), KERF_OK);
    assert_true(created_s == 1.5);
    assert_int_equal(store_find_job(store, "p2", &turn, &created_s, &err), KERF_EUNKNOWN);
    struct store_write gone = {.kind = STORE_DELETE, .job = key};
    assert_int_equal(submit(&gone, &turn), KERF_OK);
    assert_int_equal(store_find_job(store, "p1", &turn, &created_s, &err), KERF_EUNKNOWN);
    assert_true(create("p1") > key); /* a key is never used again */
    kerf_job_free(job);
    kerf_job_free(made);
}

/* Whatever is asked for is not there, rather than a fault: not UTF-8, surrogates, the NUL of request.h. */
static void test_no_text(void **state) {
    static const char *const names[] = {"\xC0\x80",         "a\xFF",       "\xED\xA0\x80", "\xE4\xB8",
                                        "\xF4\x90\x80\x80", "\xE4\xB8\xAD"};
    const struct store_turn unknown = {0};
    struct store_turn turn;
    (void)state;
    create("p1");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(store_find_job(store, names[i], &turn, NULL, &err), KERF_EUNKNOWN);
        assert_int_equal(store->methods->begin(store, names[i], &unknown, &turn, &err), KERF_OK);
        assert_int_equal(turn.job, 0);
        store->methods->cancel(store, &turn);
    }
    assert_true(create("\xE4\xB8\xAD") > 0);
    assert_int_equal(store_find_job(store, "\xE4\xB8\xAD", &turn, NULL, &err), KERF_OK);
}

static int32_t collect(void *context, const struct kerf_trial *trial, const char *reason) {
    char *text = context;
    sprintf(text + strlen(text), "%d%s ", (int)trial->number, reason ? reason : "");
    return KERF_OK;
}

static void test_trials(void **state) {
    (void)state;
    struct store_turn turn = {.job = create("p1")};
    struct kerf_job *job = make_job("p1");
    struct store_costs costs;
    struct kerf_trial trial = {.batch_size = 64, .converged = -1, .type = KERF_TRIAL_MAB}, found;
    for (int i = 1; i <= 5; i++) {
        trial.number = i;
        struct store_write write = {.kind = STORE_DECIDE,
                                    .version = 2,
                                    .changes = KERF_JOB_CHANGED_TRIAL | KERF_JOB_CHANGED_ROW,
                                    .trial_is_new = 1,
                                    .job = turn.job,
                                    .of = job,
                                    .trial = &trial,
                                    .reason = "r"};
        assert_int_equal(submit(&write, &turn), KERF_OK);
    }
    struct store_write twice = {.kind = STORE_DECIDE,
                                .version = 2,
                                .changes = KERF_JOB_CHANGED_TRIAL,
                                .trial_is_new = 1,
                                .job = turn.job,
                                .of = job,
                                .trial = &trial};
    assert_int_equal(submit(&twice, &turn), KERF_EIO); /* no number twice */
    for (int i = 2; i <= 4; i++) {
        trial.number = i;
        trial.status = KERF_TRIAL_SUCCEEDED;
        trial.converged = 1;
        trial.energy_j = i;
        struct store_write write = {.kind = STORE_DECIDE,
                                    .version = 2,
                                    .changes = KERF_JOB_CHANGED_TRIAL,
                                    .job = turn.job,
                                    .of = job,
                                    .trial = &trial};
        assert_int_equal(submit(&write, &turn), KERF_OK);
    }
    assert_int_equal(store_load_trial(store, &turn, 3, &found, &err), KERF_OK);
    assert_true(found.energy_j == 3 && found.converged == 1);
    assert_int_equal(store_load_trial(store, &turn, 6, &found, &err), KERF_EUNKNOWN);
    assert_int_equal(store_load_costs(store, &turn, kerf_job_spec_of(job), 64, 2, &costs, &err), KERF_OK);
    assert_int_equal(costs.count, 2);
    assert_true(costs.numbers[0] == 4 && costs.numbers[1] == 3 && costs.costs[0] == 2);
    store_costs_free(&costs);
    char text[64] = "";
    const struct store_page page = {.after_number = 3, .limit = 2}, newest = {.newest_first = 1, .limit = 3};
    assert_int_equal(store_list_trials(store, turn.job, &page, collect, text, &err), KERF_OK);
    assert_int_equal(store_list_trials(store, turn.job, &newest, collect, text, &err), KERF_OK);
    assert_string_equal(text, "4r 5r 5r 4r 3r ");
    kerf_job_free(job);
}

static int32_t count_trial(void *context, const struct kerf_trial *trial, const char *reason) {
    (void)trial, (void)reason;
    ++*(int *)context;
    return KERF_OK;
}

/* A long history goes in pieces, after the answer, and also when a crash came between. */
static void test_purge(void **state) {
    (void)state;
    enum { TRIALS = 1201 };
    struct store_turn turn = {.job = create("p1")};
    struct kerf_job *job = make_job("p1");
    const struct store_page page = {.limit = TRIALS};
    for (int i = 1; i <= TRIALS; i++) {
        struct kerf_trial trial = {.number = i, .batch_size = 64, .converged = -1};
        struct store_write write = {.kind = STORE_DECIDE,
                                    .version = 2,
                                    .changes = KERF_JOB_CHANGED_TRIAL,
                                    .trial_is_new = 1,
                                    .job = turn.job,
                                    .of = job,
                                    .trial = &trial};
        assert_int_equal(submit(&write, &turn), KERF_OK);
    }
    kerf_job_free(job);
    struct store_write gone = {.kind = STORE_DELETE, .job = turn.job};
    assert_int_equal(submit(&gone, &turn), KERF_OK);
    store_close(store); /* in the midst of it */
    assert_int_equal(store_open(place.store, STORE_SERVE | STORE_MAY_CREATE, &store, &err), KERF_OK);
    assert_true(create("p1") > turn.job);
    int left = 1;
    for (int wait = 0; wait < 30000 && left > 0; wait++) {
        const struct timespec moment = {.tv_nsec = 10000000};
        nanosleep(&moment, NULL);
        left = 0;
        assert_int_equal(store_list_trials(store, turn.job, &page, count_trial, &left, &err), KERF_OK);
    }
    assert_int_equal(left, 0);
}

/* Queued together, so that they share a transaction; the one that cannot be written fails alone. */
static void test_one_fails(void **state) {
    (void)state;
    enum { COUNT = 8, BAD = 5 };
    struct store_turn turn = {0};
    struct kerf_job *jobs[COUNT];
    struct store_write writes[COUNT];
    static int numbers[COUNT];
    char name[16];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "p%d", i);
        jobs[i] = make_job(name);
        numbers[i] = i;
        writes[i] = (struct store_write){.kind = i == BAD ? STORE_DECIDE : STORE_CREATE,
                                         .version = 1,
                                         .changes = KERF_JOB_CHANGED_ROW,
                                         .job = i == BAD ? 4711 : 0,
                                         .of = jobs[i],
                                         .done = write_done,
                                         .context = &numbers[i]};
    }
    for (int i = 0; i < COUNT; i++) store->methods->submit(store, &turn, &writes[i]);
    wait_for_writes(COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(write_codes[i], i == BAD ? KERF_EUNKNOWN : KERF_OK);
        kerf_job_free(jobs[i]);
    }
    int64_t count = 0;
    assert_int_equal(store_count_jobs(store, &count, &err), KERF_OK);
    assert_int_equal(count, COUNT - 1);
}

static int32_t visit_token(void *context, const struct store_token *token) {
    strcat(context, token->name);
    strcat(context, token->role);
    return token->hash[31] == 7 ? KERF_OK : KERF_EINVALID;
}

static void test_tokens(void **state) {
    (void)state;
    struct store_token token = {.name = "ci", .role = "write", .created_s = 1};
    struct store *beside = NULL;
    struct kerf_text value = {0};
    char text[64] = "";
    token.hash[31] = 7;
    assert_int_equal(store_open(place.store, 0, &beside, &err), KERF_OK); /* as `kerf token` does, beside a server */
    assert_int_equal(store_add_token(beside, &token, &err), KERF_OK);
    assert_int_equal(store_add_token(beside, &token, &err), KERF_EINVALID);
    assert_int_equal(store_list_tokens(store, visit_token, text, &err), KERF_OK);
    assert_string_equal(text, "ciwrite");
    assert_int_equal(store_revoke_token(store, "ci", &err), KERF_OK);
    assert_int_equal(store_revoke_token(store, "ci", &err), KERF_EUNKNOWN);
    assert_int_equal(store_get_meta(store, "a", &value, &err), KERF_EUNKNOWN);
    assert_int_equal(store_set_meta(store, "a", "b", &err), KERF_OK);
    assert_int_equal(store_get_meta(beside, "a", &value, &err), KERF_OK);
    assert_string_equal(value.data, "b");
    kerf_text_free(&value);
    store_close(beside);
}

/* A name is free again once its token has expired, and not before. */
static void test_expired_token(void **state) {
    (void)state;
    struct store_token token = {.name = "ci", .role = "read", .created_s = 1, .expires_s = 3};
    char text[64] = "";
    token.hash[31] = 6;
    assert_int_equal(store_add_token(store, &token, &err), KERF_OK);
    token.role = "write";
    token.created_s = 2;
    token.hash[31] = 7;
    assert_int_equal(store_add_token(store, &token, &err), KERF_EINVALID);
    token.created_s = 3;
    token.expires_s = 0;
    assert_int_equal(store_add_token(store, &token, &err), KERF_OK);
    assert_int_equal(store_list_tokens(store, visit_token, text, &err), KERF_OK);
    assert_string_equal(text, "ciwrite");
    token.created_s = 1e9; /* one without an end stays */
    assert_int_equal(store_add_token(store, &token, &err), KERF_EINVALID);
}

/* Who does not serve makes no store but when told to, and then for its owner alone. */
static void test_not_there(void **state) {
    (void)state;
    struct store *other = NULL;
    struct stat made;
    if (is_postgresql) return; /* the database of this test has its tables */
    char path[300];
    snprintf(path, sizeof path, "%s.new", place.store);
    assert_int_equal(store_open(path, 0, &other, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "--create"));
    assert_int_not_equal(stat(path, &made), 0);
    assert_int_equal(store_open(path, STORE_MAY_CREATE, &other, &err), KERF_OK);
    store_close(other);
    assert_int_equal(stat(path, &made), 0);
    assert_int_equal(made.st_mode & 0777, 0600);
}

static void test_names(void **state) {
    static const char *const pairs[][2] = {{"jobs@home.db", "jobs@home.db"},
                                           {"postgresql://u:secret@host:1/db?password=x", "postgresql://...@host:1/db"},
                                           {"postgresql:///db", "postgresql:///db"}};
    char name[64];
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        store_name(pairs[i][0], name, sizeof name);
        assert_string_equal(name, pairs[i][1]);
    }
}

int main(int argc, char **argv) {
    const char *why = "";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_job, start, stop),
        cmocka_unit_test_setup_teardown(test_no_text, start, stop),
        cmocka_unit_test_setup_teardown(test_trials, start, stop),
        cmocka_unit_test_setup_teardown(test_purge, start, stop),
        cmocka_unit_test_setup_teardown(test_one_fails, start, stop),
        cmocka_unit_test_setup_teardown(test_tokens, start, stop),
        cmocka_unit_test_setup_teardown(test_expired_token, start, stop),
        cmocka_unit_test_setup_teardown(test_not_there, start, stop),
        cmocka_unit_test(test_names),
    };
    is_postgresql = argc > 1 && strcmp(argv[1], "postgresql") == 0;
    if (is_postgresql && !cluster_make(&cluster, &why)) {
        printf("skipped: %s\n", why);
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (is_postgresql) cluster_clear(&cluster);
    return failed;
}
