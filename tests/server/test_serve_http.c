/* SPDX-License-Identifier: Apache-2.0 */
/* How the server speaks HTTP: routes, limits, clients that are slow, idle or odd. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "serve_client.h"

static struct place place;
static struct client client;
static struct reply reply;

enum { QUIET_S = 5 }; /* of the server that is impatient */

static void start_with(double quiet_s) {
    place_make(&place);
    struct server_options options = place_options(&place, 0);
    static const char *const hosts[] = {"kerf.example"};
    if (quiet_s > 0) options.request_s = options.idle_s = quiet_s;
    options.allow_hosts = hosts;
    options.num_allow_hosts = 1;
    place_start_with(&place, &options);
    client_open(&client, place.port);
}

static int start(void **state) {
    (void)state;
    start_with(0);
    return 0;
}

static int start_impatient(void **state) {
    (void)state;
    start_with(QUIET_S);
    return 0;
}

static int stop(void **state) {
    (void)state;
    client_close(&client);
    place_clear(&place);
    return 0;
}

static void says(const char *text) {
    if (strstr(reply.body, text) == NULL) fail_msg("'%s' is not in: %s", text, reply.body);
}

static void has_header(const char *name, const char *value) {
    char room[256];
    const char *found = reply_header(&reply, name, room, sizeof room);
    if (found == NULL || strcmp(found, value) != 0) fail_msg("%s is %s", name, found ? found : "missing");
}

static void test_routing(void **state) {
    (void)state;
    assert_int_equal(client_ask(&client, &reply, "GET", "/nothing", NULL), 404);
    assert_string_equal(reply.body, "{\"detail\":\"Not Found\"}");
    has_header("content-type", "application/json");
    assert_int_equal(client_ask(&client, &reply, "GET", "/report", NULL), 405);
    assert_string_equal(reply.body, "{\"detail\":\"Method Not Allowed\"}");
    has_header("allow", "POST");
    assert_int_equal(client_ask(&client, &reply, "OPTIONS", "/trials", NULL), 405);
    has_header("allow", "PATCH");
    assert_int_equal(client_ask(&client, &reply, "GET", "/jobs/batch_size/?job_id=a", NULL), 307);
    char location[128];
    snprintf(location, sizeof location, "http://127.0.0.1:%d/jobs/batch_size?job_id=a", place.port);
    has_header("location", location);
    assert_int_equal(client_ask(&client, &reply, "GET", "/trials%2F?a=\"<b>\xE9%22", NULL), 307);
    snprintf(location, sizeof location, "http://127.0.0.1:%d/trials?a=%%22%%3Cb%%3E%%E9%%22", place.port);
    has_header("location", location);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/a%2fb/", NULL), 307);
    snprintf(location, sizeof location, "http://127.0.0.1:%d/api/v1/jobs/a%%2fb", place.port);
    has_header("location", location);
    assert_int_equal(client_ask(&client, &reply, "GET", "/%6Aobs/batch_size?job_id=a", NULL), 400);
    assert_int_equal(client_ask(&client, &reply, "GET", "//", NULL), 404);
    assert_int_equal(client_ask(&client, &reply, "HEAD", "/healthz", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "HEAD", "/report", NULL), 405);
}

/* A proxy that speaks TLS sends its clients back to itself. */
static void test_behind_proxy(void **state) {
    (void)state;
    static const char ask[] = "POST /jobs/ HTTP/1.1\r\nHost: kerf.example\r\nX-Forwarded-Proto: https\r\n\r\n";
    client_send(&client, ask, sizeof ask - 1);
    assert_true(client_read(&client, 0, &reply));
    assert_int_equal(reply.status, 307);
    has_header("location", "https://kerf.example/jobs");
}

/* Where a body ends has to be clear, as others on the way may see it differently. */
static void test_framing(void **state) {
    static const struct {
        const char *headers;
        int status;
    } cases[] = {{"Content-Length: 7\r\n", 422},
                 {"Transfer-Encoding: Chunked\r\n", 422},
                 {"Transfer-Encoding: identity\r\n", 400},
                 {"Transfer-Encoding: gzip, chunked\r\n", 400},
                 {"Transfer-Encoding: chunked\r\nContent-Length: 7\r\n", 400},
                 {"Content-Length: 7\r\nContent-Length: 7\r\n", 400}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char ask[256];
        int is_chunked = strstr(cases[i].headers, "ransfer") != NULL;
        int length = snprintf(ask, sizeof ask, "POST /report HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s", cases[i].headers,
                              is_chunked ? "7\r\n{\"a\":1}\r\n0\r\n\r\n" : "{\"a\":1}");
        client_close(&client);
        client_open(&client, place.port);
        client_send(&client, ask, (size_t)length);
        assert_true(client_read(&client, 0, &reply));
        if (reply.status != cases[i].status) fail_msg("%s: %d", cases[i].headers, reply.status);
        if (reply.status != 400) continue;
        assert_string_equal(reply.body, "Invalid HTTP request received.");
        has_header("connection", "close");
    }
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
}

static void test_own_routes(void **state) {
    (void)state;
    int64_t size, trial;
    assert_int_equal(register_job(&client, "a%2Fb", "64,128", ""), 201);
    assert_int_equal(register_job(&client, "b<i>", "64", ""), 201);
    assert_int_equal(predict(&client, "a%252Fb", &size, &trial), 200);
    assert_int_equal(report(&client, &reply, "a%2Fb", size, trial, 100, 0.9, 1), 200);
    assert_int_equal(predict(&client, "a%252Fb", &size, &trial), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/readyz", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/metrics", NULL), 200);
    says("kerf_http_requests_total{method=\"POST\",path=\"/jobs\",status=\"2xx\"} 2\n");
    says("kerf_store_writes_total 5\n");
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs?limit=1", NULL), 200);
    says("\"next\":\"a%2Fb\"");
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs?limit=1&after=a%252Fb", NULL), 200);
    says("\"job_id\":\"b<i>\"");
    says("\"next\":null");
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs?limit=0", NULL), 400);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/a%252Fb", NULL), 200);
    says("\"stage\":\"Pruning\"");
    says("\"current_lease_s\":86400.0");
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/a%252Fb/state", NULL), 200);
    assert_string_equal(reply.body,
                        "{\"stage\":\"Pruning\",\"min_cost\":200.0,\"min_cost_batch_size\":64,\"arms\":[]}");
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/a%252Fb/trials?limit=1", NULL), 200);
    says("\"reason\":\"exploring 64: round 1 of 2, the default\"");
    says("\"next\":1");
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/a%252Fb/trials?order=desc&limit=1", NULL), 200);
    says("\"trial_number\":2");
    says("\"next\":2");
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/a%252Fb/trials?order=up", NULL), 400);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/a%252Fb/trials/2", NULL), 200);
    says("\"status\":\"Dispatched\"");
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/a%252Fb/trials/3", NULL), 404);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/a%252Fb/arms", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs/none", NULL), 404);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/policies", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/openapi.json", NULL), 200);
    says("\"/api/v1/jobs/{job_id}/trials/{trial_number}\"");
    assert_int_equal(predict(&client, "b%3Ci%3E", &size, &trial), 200);
    assert_int_equal(report(&client, &reply, "b<i>", size, trial, 100.1, 0.9, 1), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/", NULL), 200);
    has_header("content-type", "text/html; charset=utf-8");
    says("<html lang=");
}

static void test_bodies(void **state) {
    (void)state;
    enum { LARGE = (1 << 20) + 1 };
    char *large = malloc(LARGE);
    assert_non_null(large);
    memset(large, ' ', LARGE);
    assert_true(client_try(&client, "POST", "/report", "application/json", large, LARGE, &reply));
    assert_int_equal(reply.status, 413);
    assert_true(client_try(&client, "POST", "/report", "application/json", large, LARGE - 1, &reply));
    assert_int_equal(reply.status, 422);
    free(large);
    static const char chunked[] = "POST /report HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
    assert_true(client_send(&client, chunked, sizeof chunked - 1) && client_read(&client, 0, &reply));
    assert_int_equal(reply.status, 422);
    static const char expects[] =
        "POST /report HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    assert_true(client_send(&client, expects, sizeof expects - 1));
    assert_true(client_send(&client, "{}", 2) && client_read(&client, 0, &reply));
    assert_int_equal(reply.status, 422);
    static const char two[] =
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_true(client_send(&client, two, sizeof two - 1));
    assert_true(client_read(&client, 0, &reply));
    says("ok");
    assert_true(client_read(&client, 0, &reply));
    says("ready");
}

static void test_odd_requests(void **state) {
    (void)state;
    static const char bad[] = "GET / HTTP/9 x y\r\n\r\n";
    assert_true(client_send(&client, bad, sizeof bad - 1));
    if (client_read(&client, 0, &reply)) assert_int_equal(reply.status, 400);
    char large[40000];
    memset(large, 'a', sizeof large);
    memcpy(large, "GET /healthz HTTP/1.1\r\nA: ", 26);
    client_close(&client);
    client_send(&client, large, sizeof large);
    if (client_read(&client, 0, &reply)) assert_int_equal(reply.status, 431);
    memset(large, 'a', 26);
    memcpy(large, "GET /", 5);
    client_close(&client);
    client_send(&client, large, sizeof large);
    if (client_read(&client, 0, &reply)) assert_int_equal(reply.status, 414);
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
}

/* None is answered before its time is over; they wait together. */
static void test_slow_clients(void **state) {
    (void)state;
    static const char *const begun[] = {"GET / HT", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nA: ",
                                        "POST /report HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", ""};
    enum { SLOW = sizeof begun / sizeof *begun };
    struct client slow[SLOW];
    double began_s = clock_ticks_s();
    for (int i = 0; i < SLOW; i++) {
        client_open(&slow[i], place.port);
        assert_true(client_send(&slow[i], begun[i], strlen(begun[i])));
    }
    for (int i = 0; i < SLOW; i++) {
        assert_true(client_read(&slow[i], 0, &reply));
        assert_int_equal(reply.status, 408);
        assert_true(clock_ticks_s() - began_s >= QUIET_S);
        client_close(&slow[i]);
    }
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
    assert_false(client_read(&client, 0, &reply)); /* idle: closed without a word */
    assert_int_equal(client_ask(&client, &reply, "GET", "/metrics", NULL), 200);
    says("kerf_http_slow_total 4\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_routing, start, stop),
        cmocka_unit_test_setup_teardown(test_behind_proxy, start, stop),
        cmocka_unit_test_setup_teardown(test_framing, start, stop),
        cmocka_unit_test_setup_teardown(test_own_routes, start, stop),
        cmocka_unit_test_setup_teardown(test_bodies, start, stop),
        cmocka_unit_test_setup_teardown(test_odd_requests, start, stop),
        cmocka_unit_test_setup_teardown(test_slow_clients, start_impatient, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
