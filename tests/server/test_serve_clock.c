/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock that is set back again and again, also before 1970: every answer is the one that a server with a steady clock
 * gives. The server runs in this process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "database.h"
#include "moved_clock.h"
#include "serve_client.h"

enum { CYCLES = 60, ANSWERS = 65536, HOUR_S = 3600 };

static struct place place;

static void add(char *answers, const struct reply *reply) {
    size_t length = strlen(answers);
    snprintf(answers + length, ANSWERS - length, "%d %.*s\n", reply->status, (int)reply->length, reply->body);
}

static double energy_of(int64_t size, int cycle) { return 1000 + 10 * (double)size + (double)(cycle % 7); }

/* Each trial runs for an hour backwards; between two of them, one is given up and one is not heard of again. */
static void run_cycles(const char *job_id, int64_t step_s, char *answers) {
    struct client client;
    struct reply reply;
    char path[64], body[256];
    client_open(&client, place.port);
    snprintf(path, sizeof path, "/jobs/batch_size?job_id=%s", job_id);
    for (int i = 0; i < CYCLES; i++) {
        client_ask(&client, &reply, "GET", path, NULL);
        add(answers, &reply);
        int64_t size = reply_integer(&reply, "batch_size"), trial = reply_integer(&reply, "trial_number");
        clock_ahead_s -= step_s;
        report(&client, &reply, job_id, size, trial, 10, 0.1, 1);
        add(answers, &reply);
        clock_ahead_s -= step_s;
        if (i % 11 == 5) {
            snprintf(body, sizeof body, "{\"job_id\":\"%s\",\"batch_size\":%" PRId64 ",\"trial_number\":%" PRId64 "}",
                     job_id, size, trial);
            client_ask(&client, &reply, "PATCH", "/trials", body);
        } else {
            report(&client, &reply, job_id, size, trial, energy_of(size, i), 0.9, 2);
        }
        add(answers, &reply);
        clock_ahead_s -= step_s;
        snprintf(body, sizeof body, "/api/v1/jobs/%s/trials?order=desc&limit=2", job_id);
        assert_int_equal(client_ask(&client, &reply, "GET", body, NULL), 200);
    }
    client_close(&client);
}

static const char *const kinds[] = {"", ",\"policy\":\"kerf\"", ",\"lease_s\":60",
                                    ",\"policy\":\"kerf\",\"window_size\":5"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void run_all(int64_t from_s, int64_t step_s, char *answers) {
    struct client client;
    answers[0] = 0;
    clock_ahead_s = -from_s;
    place_start(&place, 0);
    client_open(&client, place.port);
    for (int i = 0; i < KINDS; i++) {
        char job_id[16];
        snprintf(job_id, sizeof job_id, "j%d", i);
        assert_int_equal(register_job(&client, job_id, "64,32,128", kinds[i]), 201);
        run_cycles(job_id, step_s, answers);
    }
    client_close(&client);
    place_stop(&place);
    clock_ahead_s = 0;
}

static void test_same_answers(void **state) {
    (void)state;
    static char steady[ANSWERS], back[ANSWERS], early[ANSWERS];
    const int64_t now_s = time(NULL);
    run_all(0, 0, steady);
    place_clear(&place);
    place_make(&place);
    run_all(0, HOUR_S, back);
    place_clear(&place);
    place_make(&place);
    run_all(now_s, 1, early); /* begins with 1970, and goes back from there */
    assert_true(strlen(steady) > 10000 && strlen(steady) < ANSWERS - 1000);
    assert_null(strstr(steady, "\n5"));
    assert_string_equal(back, steady);
    assert_string_equal(early, steady);
}

/* Without a seed the draws come from the clock. */
static void test_no_seed(void **state) {
    (void)state;
    static char answers[ANSWERS];
    struct client client;
    answers[0] = 0;
    clock_ahead_s = -(time(NULL) + HOUR_S);
    place_start(&place, 0);
    client_open(&client, place.port);
    assert_int_equal(register_job(&client, "j", "64,32,128", ",\"mab_seed\":null"), 201);
    run_cycles("j", 1, answers);
    client_close(&client);
    for (const char *line = answers; *line; line = strchr(line, '\n') + 1)
        if (strncmp(line, "200 ", 4) != 0) fail_msg("%.200s", line);
    place_stop(&place);
    clock_ahead_s = 0;
}

/* A trial that was silent for longer than its lease by the clock is one whose client died, whatever the clock did. */
static void test_forward_again(void **state) {
    (void)state;
    struct client client;
    struct reply reply;
    int64_t size, trial, next_size, next;
    place_start(&place, 0);
    client_open(&client, place.port);
    assert_int_equal(register_job(&client, "j", "64,32,128", ",\"lease_s\":60"), 201);
    clock_ahead_s = -10 * HOUR_S;
    assert_int_equal(predict(&client, "j", &size, &trial), 200);
    clock_ahead_s = 0;
    assert_int_equal(predict(&client, "j", &next_size, &next), 200);
    assert_int_equal(next_size, size);                                              /* explored once more */
    assert_int_equal(report(&client, &reply, "j", size, trial, 1000, 0.9, 1), 200); /* and yet its result counts */
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/j/state", NULL), 200);
    assert_non_null(strstr(reply.body, "\"min_cost\":650"));
    client_close(&client);
    place_stop(&place);
}

static int make(void **state) {
    (void)state;
    place_make(&place);
    return 0;
}

static int clear(void **state) {
    (void)state;
    clock_ahead_s = 0;
    place_clear(&place);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_answers, make, clear),
        cmocka_unit_test_setup_teardown(test_no_seed, make, clear),
        cmocka_unit_test_setup_teardown(test_forward_again, make, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
