/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Old trials are removed, and no decision changes by it: a random history of predictions, reports, repeats, late
 * results and ends runs on two stores at once, from one of which trials are removed again and again. All that is
 * decided is equal, and so are the jobs' rows and arms. `test_retention sqlite` (or nothing), `test_retention
 * postgresql`, where two servers remove at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "database.h"
#include "moved_clock.h"
#include "serve_client.h"
#include "server/retention.h"
#include "store_writes.h"

enum { JOBS = 6, STEPS = 1800, SIDES = 2, TRIALS = STEPS + 1 };

static struct cluster cluster;
static int is_postgresql;
static struct kerf_error err;

/* ---- A random history --------------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint32_t draw(uint32_t below) { /* xorshift64* */
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * UINT64_C(2685821657736338717)) >> 33) % below;
}

static struct kerf_job_spec spec_of(int number) {
    static const int64_t sizes[] = {8, 16, 32, 64};
    static const char *const names[JOBS] = {"j0", "j1", "j2", "j3", "j4", "j5"};
    struct kerf_job_spec spec;
    kerf_job_spec_defaults(&spec);
    spec.job_id = names[number];
    spec.gpu_model = "V100";
    spec.number_of_gpus = 1;
    spec.max_power = 300;
    spec.batch_sizes = sizes;
    spec.num_batch_sizes = 4;
    spec.default_batch_size = 16;
    spec.max_epochs = 3;
    spec.has_mab_seed = 1;
    spec.mab_seed = number;
    spec.window_size = number == 1 ? 6 : number == 4 ? 1 : 0; /* else all costs */
    spec.policy = number == 2 ? "kerf" : NULL;
    spec.num_pruning_rounds = number == 3 ? 1 : 2;
    if (number == 5) spec.max_epochs = 1000; /* it prunes for long, as most of its runs are given up */
    return spec;
}

/* ---- Two sides ---------------------------------------------------------------------------------------------- */

static struct side {
    struct place place;
    struct store *store, *second; /* second: another server's, on the same database */
    struct kerf_job *jobs[JOBS];  /* in memory, or NULL */
    struct store_turn turn;
    struct kerf_text words;
    int32_t code;
} sides[SIDES]; /* trials are removed from the second */

static int32_t flags;
static double now_s;
static int64_t given[JOBS][TRIALS]; /* the sizes of trials, by number */
static int64_t last[JOBS];
static unsigned char ended[JOBS][TRIALS];
static int64_t num_removed, num_repeats_of_removed;

static struct kerf_job *begin(struct side *side, int number) {
    static const struct store_turn unknown = {0};
    struct kerf_job_spec spec = spec_of(number);
    assert_int_equal(side->store->methods->begin(side->store, spec.job_id, &unknown, &side->turn, &err), KERF_OK);
    assert_true(side->turn.job > 0);
    if (side->jobs[number] == NULL &&
        store_load_job(side->store, &side->turn, flags, &side->jobs[number], &err) != KERF_OK)
        fail_msg("%s", err.message);
    kerf_text_clear(&side->words);
    return side->jobs[number];
}

static void finish(struct side *side, struct store_write *write) {
    write->job = side->turn.job;
    write->version = side->turn.version + 1;
    write->now_s = now_s;
    assert_int_equal(submit_and_wait(side->store, write, &side->turn), KERF_OK);
}

static void forget_some(struct side *side) { /* as a server does that saves memory, or starts anew */
    int number = (int)draw(JOBS);
    side->jobs[number] = kerf_job_free(side->jobs[number]);
}

static int same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void compare_jobs(int number) {
    const struct kerf_job *a = sides[0].jobs[number], *b = sides[1].jobs[number];
    const struct kerf_job_row *row = kerf_job_row_of(a), *other = kerf_job_row_of(b);
    int32_t count, others;
    const struct kerf_arm *arms = kerf_job_arms(a, &count), *other_arms = kerf_job_arms(b, &others);
    assert_int_equal(row->stage, other->stage);
    assert_int_equal(row->has_min_cost, other->has_min_cost);
    assert_true(same(row->min_cost, other->min_cost));
    assert_int_equal(row->min_cost_batch_size, other->min_cost_batch_size);
    assert_int_equal(row->last_trial_number, other->last_trial_number);
    assert_int_equal(row->trials_ended, other->trials_ended);
    assert_true(row->longest_gap_s == other->longest_gap_s);
    assert_memory_equal(&row->random, &other->random, sizeof row->random);
    assert_int_equal(count, others);
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(arms[i].batch_size, other_arms[i].batch_size);
        assert_int_equal(arms[i].num_observations, other_arms[i].num_observations);
        assert_true(same(arms[i].param_mean, other_arms[i].param_mean));
        assert_true(same(arms[i].param_precision, other_arms[i].param_precision));
        assert_true(same(arms[i].reward_precision, other_arms[i].reward_precision));
    }
}

static const char *said(const struct side *side) { return side->words.data ? side->words.data : ""; }

/* ---- Steps -------------------------------------------------------------------------------------------------- */

static void predict_on(struct side *side, int number, struct kerf_decision *ret_decision) {
    struct kerf_job *job = begin(side, number);
    struct kerf_text reason = {0};
    assert_int_equal(kerf_job_predict(job, now_s, ret_decision, &err), KERF_OK);
    struct kerf_trial trial = ret_decision->trial;
    struct store_write write = {.kind = STORE_DECIDE,
                                .changes = ret_decision->changes,
                                .of = job,
                                .expired = ret_decision->expired,
                                .num_expired = ret_decision->num_expired};
    if (ret_decision->status == KERF_JOB_ANSWERED) {
        kerf_job_reason_text(&ret_decision->reason, &reason);
        kerf_text_add(&side->words, reason.data);
        write.trial = &trial;
        write.trial_is_new = 1;
        write.reason = reason.data;
    }
    if (write.changes || write.num_expired)
        finish(side, &write);
    else
        side->store->methods->cancel(side->store, &side->turn);
    kerf_text_free(&reason);
}

static void predict_both(int number) {
    struct kerf_decision decisions[SIDES];
    for (int i = 0; i < SIDES; i++) predict_on(&sides[i], number, &decisions[i]);
    assert_int_equal(decisions[0].status, decisions[1].status);
    assert_string_equal(said(&sides[0]), said(&sides[1]));
    assert_int_equal(decisions[0].num_expired, decisions[1].num_expired);
    if (decisions[0].status != KERF_JOB_ANSWERED) return;
    assert_int_equal(decisions[0].trial.number, decisions[1].trial.number);
    assert_int_equal(decisions[0].trial.batch_size, decisions[1].trial.batch_size);
    assert_int_equal(decisions[0].trial.type, decisions[1].trial.type);
    last[number] = decisions[0].trial.number;
    given[number][last[number]] = decisions[0].trial.batch_size;
}

/* A report, or with report NULL an end. 0: the trial is not there any more. */
static int tell(struct side *side, int number, int64_t trial_number, const struct kerf_report *report,
                struct kerf_answer *ret_answer) {
    const struct store_methods *methods = side->store->methods;
    struct kerf_job *job = begin(side, number);
    struct kerf_trial trial;
    struct store_costs costs = {0};
    int64_t size = given[number][trial_number], wanted = kerf_job_costs_wanted(job, size);
    int32_t code = store_load_trial(side->store, &side->turn, trial_number, &trial, &err);
    if (code == KERF_EUNKNOWN) {
        methods->cancel(side->store, &side->turn);
        return 0;
    }
    assert_int_equal(code, KERF_OK);
    if (report && wanted > 0) {
        assert_int_equal(store_load_costs(side->store, &side->turn, kerf_job_spec_of(job), size, wanted, &costs, &err),
                         KERF_OK);
        assert_int_equal(kerf_job_restore_costs(job, size, costs.numbers, costs.costs, costs.count, &err), KERF_OK);
        store_costs_free(&costs);
    }
    if (report)
        assert_int_equal(kerf_job_report(job, &trial, report, now_s, ret_answer, &err), KERF_OK);
    else
        *ret_answer = kerf_job_end(job, &trial, now_s);
    struct store_write write = {.kind = STORE_DECIDE, .changes = ret_answer->changes, .of = job, .trial = &trial};
    if (write.changes)
        finish(side, &write);
    else
        methods->cancel(side->store, &side->turn);
    return 1;
}

static void tell_both(int number, int64_t trial_number, const struct kerf_report *report) {
    struct kerf_answer answers[SIDES];
    int there = tell(&sides[0], number, trial_number, report, &answers[0]);
    assert_true(there);
    if (!tell(&sides[1], number, trial_number, report, &answers[1])) {
        assert_int_equal(answers[0].changes, 0); /* it had ended, and nothing comes of saying so again */
        num_repeats_of_removed++;
        return;
    }
    assert_int_equal(answers[0].status, answers[1].status);
    assert_int_equal(answers[0].changes, answers[1].changes);
    assert_int_equal(answers[0].stop_train, answers[1].stop_train);
    assert_int_equal(answers[0].converged, answers[1].converged);
    assert_int_equal(answers[0].end, answers[1].end);
    assert_true(same(answers[0].cost, answers[1].cost) && same(answers[0].min_cost, answers[1].min_cost));
    if (answers[0].changes & KERF_JOB_CHANGED_TRIAL) ended[number][trial_number] = 1;
}

/* Mostly one that runs; now and then any. */
static int64_t some_trial(int number) {
    int64_t trial = 1 + draw((uint32_t)last[number]);
    for (int i = 0; i < 40 && ended[number][trial] && draw(20); i++)
        trial = last[number] - draw((uint32_t)(last[number] < 12 ? last[number] : 12));
    return trial;
}

static void report_both(int number) {
    int64_t trial = some_trial(number), size = given[number][trial];
    double cost = 100 + fabs(log2((double)size) - 4) * 30 + draw(40) + 0.125 * draw(8);
    const struct kerf_report report = {.batch_size = size,
                                       .trial_number = trial,
                                       .time_s = cost / 3,
                                       .energy_j = cost * 100 * (draw(12) ? 1 : 5), /* some cost far too much */
                                       .metric = draw(5) ? 0.9 : 0.1,
                                       .current_epoch = 1 + draw(3)};
    tell_both(number, trial, &report);
}

/* ---- Removing ----------------------------------------------------------------------------------------------- */

struct remover {
    struct store *store;
    double before_s;
    int64_t removed;
    int32_t code;
};

static void *remove_old(void *context) {
    struct remover *remover = context;
    remover->code = retention_pass(remover->store, flags, remover->before_s, NULL, &remover->removed, NULL);
    return NULL;
}

static void remove_from_second(void) {
    struct side *side = &sides[1];
    double before_s = draw(3) ? now_s - draw(100000) : now_s + 1;
    struct remover removers[2] = {{.store = side->store, .before_s = before_s},
                                  {.store = side->second, .before_s = before_s}};
    pthread_t thread;
    if (side->second) pthread_create(&thread, NULL, remove_old, &removers[1]);
    remove_old(&removers[0]);
    if (side->second) pthread_join(thread, NULL);
    assert_int_equal(removers[0].code, KERF_OK);
    assert_int_equal(removers[1].code, KERF_OK);
    num_removed += removers[0].removed + removers[1].removed;
}

/* ---- The tests ---------------------------------------------------------------------------------------------- */

static int start(void **state) {
    (void)state;
    for (int i = 0; i < SIDES; i++) {
        struct side *side = &sides[i];
        char name[16];
        *side = (struct side){0};
        place_make(&side->place);
        snprintf(name, sizeof name, "side%d", i);
        if (is_postgresql) cluster_database(&cluster, name, side->place.store, sizeof side->place.store);
        assert_int_equal(store_open(side->place.store, STORE_SERVE | STORE_MAY_CREATE, &side->store, &err), KERF_OK);
        if (is_postgresql)
            assert_int_equal(store_open(side->place.store, STORE_SERVE | STORE_MAY_CREATE, &side->second, &err),
                             KERF_OK);
    }
    return 0;
}

static int stop(void **state) {
    (void)state;
    for (int i = 0; i < SIDES; i++) {
        for (int k = 0; k < JOBS; k++) sides[i].jobs[k] = kerf_job_free(sides[i].jobs[k]);
        kerf_text_free(&sides[i].words);
        store_close(sides[i].store);
        store_close(sides[i].second);
        place_clear(&sides[i].place);
    }
    return 0;
}

static int32_t count_trial(void *context, const struct kerf_trial *trial, const char *reason) {
    (void)trial, (void)reason;
    ++*(int64_t *)context;
    return KERF_OK;
}

static int64_t count_trials(struct side *side, int number) {
    const struct store_page page = {.limit = 1000000};
    struct kerf_job_spec spec = spec_of(number);
    struct store_turn turn;
    int64_t count = 0;
    assert_int_equal(store_find_job(side->store, spec.job_id, &turn, NULL, &err), KERF_OK);
    assert_int_equal(store_list_trials(side->store, turn.job, &page, count_trial, &count, &err), KERF_OK);
    return count;
}

static void create_jobs(void) {
    memset(last, 0, sizeof last);
    memset(ended, 0, sizeof ended);
    num_removed = num_repeats_of_removed = 0;
    now_s = 1e9;
    for (int i = 0; i < SIDES; i++)
        for (int k = 0; k < JOBS; k++) {
            struct kerf_job_spec spec = spec_of(k);
            struct store_turn turn = {0};
            assert_int_equal(kerf_job_create(&spec, flags, &sides[i].jobs[k], &err), KERF_OK);
            struct store_write write = {.kind = STORE_CREATE, .of = sides[i].jobs[k], .now_s = now_s, .version = 1};
            assert_int_equal(submit_and_wait(sides[i].store, &write, &turn), KERF_OK);
        }
}

static void take_a_step(void) {
    int number = (int)draw(JOBS);
    uint32_t what = draw(100);
    now_s += draw(400) + (draw(60) == 0 ? 100000 : 0); /* leases end */
    if (last[number] == 0 || what < 40)
        predict_both(number);
    else if (what < (number == 5 ? 55 : 90))
        report_both(number);
    else
        tell_both(number, some_trial(number), NULL);
    compare_jobs(number);
    if (draw(12) == 0) remove_from_second();
    for (int i = 0; i < SIDES; i++)
        if (draw(4) == 0) forget_some(&sides[i]);
}

static void replay(int32_t with_flags, uint64_t seed) {
    flags = with_flags;
    random_state = seed;
    create_jobs();
    for (int step = 0; step < STEPS; step++) take_a_step();
    now_s += 1e6;
    remove_from_second();
    int64_t trials = 0, left = 0, in_window = 0;
    for (int k = 0; k < JOBS; k++) {
        trials += count_trials(&sides[0], k);
        left += count_trials(&sides[1], k);
        if (k == 1 || k == 4)
            in_window += kerf_job_row_of(sides[1].jobs[k] ? sides[1].jobs[k] : begin(&sides[1], k))->stage;
    }
    if (sides[1].turn.session) sides[1].store->methods->cancel(sides[1].store, &sides[1].turn);
    print_message("%d of %d trials are left, %d reports were about removed ones\n", (int)left, (int)trials,
                  (int)num_repeats_of_removed);
    assert_true(left < trials * 2 / 3);
    assert_true(num_removed >= trials - left);
    assert_true(num_repeats_of_removed > 10);
    assert_true(in_window > 0);
    for (int k = 0; k < JOBS; k++) { /* as servers that start anew */
        for (int i = 0; i < SIDES; i++) sides[i].jobs[k] = kerf_job_free(sides[i].jobs[k]);
        predict_both(k);
        compare_jobs(k);
    }
}

static void test_no_decision_changes(void **state) {
    (void)state;
    replay(0, 1);
}

static void test_nor_with_compat(void **state) {
    (void)state;
    replay(KERF_JOB_COMPAT, 2);
}

/* ---- Through HTTP ------------------------------------------------------------------------------------------- */

enum { KEEP_S = 50, GUARD = 20000 }; /* a pass every second */

static int make(void **state) {
    struct server_options options;
    (void)state;
    sides[0] = (struct side){0};
    place_make(&sides[0].place);
    if (is_postgresql) cluster_database(&cluster, "served", sides[0].place.store, sizeof sides[0].place.store);
    options = place_options(&sides[0].place, 0);
    options.keep_trials_s = KEEP_S;
    assert_int_equal(server_start(&options, &sides[0].place.server, &err), KERF_OK);
    sides[0].place.port = server_port(sides[0].place.server);
    return 0;
}

static int clear(void **state) {
    (void)state;
    place_clear(&sides[0].place);
    clock_ahead_s = 0;
    return 0;
}

/* Of a deleted job; its costs are there without their trials. */
static void nothing_is_left(void) {
    const struct timespec pause = {.tv_nsec = 50000000};
    sqlite3 *db;
    sqlite3_stmt *statement;
    int count = -1;
    if (is_postgresql) {
        cluster_run(&cluster, "served", "DO $$ BEGIN ASSERT (SELECT count(*) FROM kerf_cost) = 0; END $$;");
        return;
    }
    assert_int_equal(sqlite3_open(sides[0].place.store, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT (SELECT count(*) FROM cost) + (SELECT count(*) FROM job)", -1, &statement, NULL),
        SQLITE_OK);
    for (int i = 0; i < GUARD && count != 0; i++) { /* in the background */
        nanosleep(&pause, NULL);
        if (sqlite3_step(statement) == SQLITE_ROW) count = sqlite3_column_int(statement, 0);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    assert_int_equal(count, 0);
}

static void test_a_report_about_a_removed_trial(void **state) {
    (void)state;
    const struct timespec pause = {.tv_nsec = 50000000};
    struct client client;
    struct reply reply;
    int64_t size, trial, running, next;
    client_open(&client, sides[0].place.port);
    assert_int_equal(register_job(&client, "a", "64,128", ",\"num_pruning_rounds\":0,\"beta_knob\":null"), 201);
    assert_int_equal(predict(&client, "a", &size, &trial), 200);
    assert_int_equal(predict(&client, "a", &size, &running), 200);
    assert_int_equal(predict(&client, "a", &size, &next), 200);
    assert_int_equal(report(&client, &reply, "a", size, next, 100, 0.9, 1), 200);
    assert_int_equal(report(&client, &reply, "a", size, next, 100, 0.9, 1), 200);
    assert_non_null(strstr(reply.body, "is already reported"));
    clock_ahead_s += KEEP_S + 1;
    for (int i = 0; i < GUARD && client_ask(&client, &reply, "GET", "/api/v1/jobs/a/trials/3", NULL) == 200; i++)
        nanosleep(&pause, NULL);
    assert_int_equal(reply.status, 404);
    assert_int_equal(report(&client, &reply, "a", size, next, 100, 0.9, 1), 400);
    assert_string_equal(reply.body, "{\"message\":\"Trial(3) ended, and is not kept any longer.\"}");
    assert_int_equal(
        client_ask(&client, &reply, "PATCH", "/trials", "{\"job_id\":\"a\",\"batch_size\":64,\"trial_number\":3}"),
        200);
    assert_string_equal(reply.body, "null");
    assert_int_equal(report(&client, &reply, "a", size, 99, 100, 0.9, 1), 400);
    assert_non_null(strstr(reply.body, "Unknown trial"));
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/a/trials/2", NULL), 200); /* it runs */
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/a/arms", NULL), 200);
    assert_non_null(strstr(reply.body, "\"num_observations\":1"));
    assert_int_equal(predict(&client, "a", &size, &next), 200);
    assert_int_equal(next, 4);
    for (int i = 0; i < GUARD; i++) { /* it is counted when the pass is over, which is after it was removed */
        assert_int_equal(client_ask(&client, &reply, "GET", "/metrics", NULL), 200);
        if (strstr(reply.body, "kerf_trials_removed_total 1\n")) break;
        nanosleep(&pause, NULL);
    }
    assert_non_null(strstr(reply.body, "kerf_trials_removed_total 1\n"));
    assert_int_equal(client_ask(&client, &reply, "DELETE", "/jobs?job_id=a", NULL), 200);
    client_close(&client);
    nothing_is_left();
}

int main(int argc, char **argv) {
    const char *why = "";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_decision_changes, start, stop),
        cmocka_unit_test_setup_teardown(test_nor_with_compat, start, stop),
        cmocka_unit_test_setup_teardown(test_a_report_about_a_removed_trial, make, clear),
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
