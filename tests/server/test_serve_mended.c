/* SPDX-License-Identifier: Apache-2.0 */
/* Without compat: each difference from Zeus's server that docs/jobs.md names, under the name that it has there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "moved_clock.h"
#include "serve_client.h"

static struct place place;
static struct client client;
static struct reply reply;

static int start(void **state) {
    (void)state;
    place_make(&place);
    place_start(&place, 0);
    client_open(&client, place.port);
    return 0;
}

static int stop(void **state) {
    (void)state;
    client_close(&client);
    place_clear(&place);
    clock_ahead_s = 0;
    return 0;
}

static void says(const char *text) {
    if (strstr(reply.body, text) == NULL) fail_msg("'%s' is not in: %s", text, reply.body);
}

static int64_t next(const char *job_id, int64_t *ret_trial) {
    int64_t size;
    assert_int_equal(predict(&client, job_id, &size, ret_trial), 200);
    return size;
}

static int done(const char *job_id, int64_t size, int64_t trial, double energy) {
    return report(&client, &reply, job_id, size, trial, energy, 0.9, 1);
}

static void test_dead_clients(void **state) {
    (void)state;
    int64_t lost, waiting, again;
    assert_int_equal(register_job(&client, "j", "64,128", ",\"lease_s\":600"), 201);
    assert_int_equal(next("j", &lost), 64);
    next("j", &waiting);
    client_ask(&client, &reply, "GET", "/api/v1/jobs/j/trials/2", NULL);
    says("\"type\":\"Concurrent\"");
    clock_ahead_s += 601;
    client_ask(&client, &reply, "GET", "/api/v1/jobs/j/trials/1", NULL); /* before anybody decided anything */
    says("\"status\":\"Failed\"");
    assert_int_equal(next("j", &again), 64);
    client_ask(&client, &reply, "GET", "/api/v1/jobs/j/trials/3", NULL);
    says("\"type\":\"Exploration\"");
    assert_int_equal(done("j", 64, lost, 50), 200);
    says("Train succeeded");
    assert_int_equal(done("j", 64, lost, 1), 200);
    says("already reported");
    client_ask(&client, &reply, "GET", "/api/v1/jobs/j", NULL);
    says("\"min_cost\":175.0,"); /* it counts */
}

static void test_signs_of_life(void **state) {
    (void)state;
    int64_t trial, other;
    assert_int_equal(register_job(&client, "j", "64", ",\"lease_s\":600"), 201);
    next("j", &trial);
    for (int epoch = 1; epoch <= 4; epoch++) {
        clock_ahead_s += 300;
        assert_int_equal(report(&client, &reply, "j", 64, trial, 1, 0.1, epoch), 200);
        says("keep training");
    }
    next("j", &other);
    client_ask(&client, &reply, "GET", "/api/v1/jobs/j/trials/2", NULL);
    says("\"type\":\"Concurrent\""); /* the first one lives */
}

static void test_late_results(void **state) {
    (void)state;
    int64_t first, concurrent, mab;
    assert_int_equal(register_job(&client, "j", "64", ",\"num_pruning_rounds\":1"), 201);
    next("j", &first);
    next("j", &concurrent);
    assert_int_equal(done("j", 64, first, 100), 200);
    next("j", &mab);
    client_ask(&client, &reply, "GET", "/api/v1/jobs/j/state", NULL);
    says("\"stage\":\"MAB\"");
    assert_int_equal(done("j", 64, concurrent, 110), 200);
    client_ask(&client, &reply, "GET", "/api/v1/jobs/j/state", NULL);
    says("\"num_observations\":2");
}

/* What no list has and no route can name. */
static void test_no_name(void **state) {
    (void)state;
    assert_int_equal(register_job(&client, "", "1,2,4", ""), 422);
    assert_int_equal(register_job(&client, "j", "1,2,4", ""), 201);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/j", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/j%00x", NULL), 404);
}

static void test_no_rounds(void **state) {
    (void)state;
    int64_t trial, seen = 0;
    assert_int_equal(register_job(&client, "j", "1,2,4", ",\"num_pruning_rounds\":0,\"mab_num_explorations\":0"), 201);
    for (int i = 0; i < 3; i++) {
        int64_t size = next("j", &trial);
        seen |= size;
        assert_int_equal(done("j", size, trial, 100 + i), 200);
    }
    assert_int_equal(seen, 7);
}

static void test_everything_pruned(void **state) {
    (void)state;
    int64_t trial;
    assert_int_equal(register_job(&client, "j", "64", ""), 201);
    assert_int_equal(next("j", &trial), 64);
    assert_int_equal(done("j", 64, trial, 100), 200);
    assert_int_equal(next("j", &trial), 64);
    assert_int_equal(report(&client, &reply, "j", 64, trial, 100000, 0.9, 1), 200);
    says("exceeded the cost upper bound");
    assert_int_equal(next("j", &trial), 64); /* the survivors of the round before */
    assert_int_equal(register_job(&client, "k", "64", ",\"beta_knob\":null"), 201);
    next("k", &trial);
    assert_int_equal(report(&client, &reply, "k", 64, trial, 100, 0.1, 100), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/jobs/batch_size?job_id=k", NULL), 500);
    says("No converged batch sizes has observed."); /* in the first round: as in the reference */
}

static void test_numbers(void **state) {
    (void)state;
    static const char *const specs[] = {",\"mab_seed\":-1",        ",\"mab_prior_precision\":-2",
                                        ",\"max_power\":Infinity", ",\"target_metric\":NaN",
                                        ",\"lease_s\":-1",         ",\"policy\":\"none\""};
    int64_t trial;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        assert_int_equal(register_job(&client, "j", "64", specs[i]), 422);
    assert_int_equal(register_job(&client, "j", "0,64", ""), 422);
    assert_int_equal(register_job(&client, "j", "64,64", ""), 422);
    assert_int_equal(client_ask(&client, &reply, "GET", "/jobs/batch_size?job_id=j", NULL), 400);
    assert_int_equal(register_job(&client, "j", "64", ""), 201);
    next("j", &trial);
    static const char *const reports[] = {
        "\"time\":1,\"energy\":Infinity,\"metric\":0.1", "\"time\":1,\"energy\":-1,\"metric\":0.1",
        "\"time\":NaN,\"energy\":1,\"metric\":0.1", "\"time\":1,\"energy\":1,\"metric\":NaN"};
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        char body[256];
        snprintf(body, sizeof body, "{\"job_id\":\"j\",\"batch_size\":64,\"trial_number\":1,%s,\"current_epoch\":1}",
                 reports[i]);
        assert_int_equal(client_ask(&client, &reply, "POST", "/report", body), 422);
    }
    assert_int_equal(done("j", 64, 0, 1), 400);
    assert_int_equal(done("j", -64, 1, 1), 400);
    says("Unknown trial");
    static const char ended[] = "{\"job_id\":\"j\",\"batch_size\":0,\"trial_number\":1}";
    assert_int_equal(client_ask(&client, &reply, "PATCH", "/trials", ended), 404);
    assert_int_equal(done("j", 64, 1, 1), 200);
}

static void test_same_id(void **state) {
    (void)state;
    assert_int_equal(register_job(&client, "j", "64", ""), 201);
    assert_int_equal(register_job(&client, "j", "64", ""), 200);
    assert_int_equal(register_job(&client, "j", "64", ",\"job_id_prefix\":\"j\""), 409);
    assert_int_equal(register_job(&client, "j", "64", ",\"policy\":\"kerf\""), 409);
    assert_int_equal(register_job(&client, "j", "64", ",\"policy\":\"zeus\""), 200);
    assert_int_equal(register_job(&client, "j", "64", ",\"lease_s\":5"), 409);
}

static void test_policy_kerf(void **state) {
    (void)state;
    int64_t trial;
    assert_int_equal(register_job(&client, "j", "64,128,256", ",\"policy\":\"kerf\""), 201);
    for (int i = 0; i < 12; i++) {
        int64_t size = next("j", &trial);
        assert_int_equal(done("j", size, trial, 100 + (double)size), 200);
    }
    client_ask(&client, &reply, "GET", "/api/v1/jobs/j", NULL);
    says("\"stage\":\"MAB\"");
    says("\"policy\":\"kerf\"");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_dead_clients), TEST(test_signs_of_life), TEST(test_late_results),
        TEST(test_no_rounds),    TEST(test_no_name),       TEST(test_everything_pruned),
        TEST(test_numbers),      TEST(test_same_id),       TEST(test_policy_kerf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
