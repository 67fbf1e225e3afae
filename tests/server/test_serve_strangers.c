/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Those who mean the server no good, as they are on the wire: pages of other sites, names that were made to mean this
 * machine, requests that two programs read differently, clients that neither read nor go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "serve_client.h"

static struct place place;
static struct client client;
static struct reply reply;

static void start_with(struct server_options options) {
    place_start_with(&place, &options);
    client_open(&client, place.port);
}

static int make(void **state) {
    (void)state;
    place_make(&place);
    return 0;
}

static int stop(void **state) {
    (void)state;
    client_close(&client);
    place_clear(&place);
    return 0;
}

/* ---- Pages of other sites ------------------------------------------------------------------------------------ */

#define JOB                                                                                                            \
    "{\"job_id\":\"a\",\"job_id_prefix\":\"\",\"batch_sizes\":[64],\"default_batch_size\":64,\"max_power\":300,"       \
    "\"number_of_gpus\":1,\"gpu_model\":\"V100\"}"

/* The status of a request with these headers; body NULL: there is none. */
static int ask(const char *line, const char *headers, const char *body) {
    char request[2048];
    snprintf(request, sizeof request, "%s HTTP/1.1\r\n%sContent-Length: %zu\r\n\r\n%s", line, headers,
             body ? strlen(body) : 0, body ? body : "");
    return client_ask_raw(&client, &reply, request);
}

#define OWN   "Host: localhost\r\n"
#define CROSS "Sec-Fetch-Site: cross-site\r\n"
#define LINK  CROSS "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
#define EVIL  "Origin: http://evil.example\r\n"

static void check_pages(int is_compat) {
    static const struct {
        const char *line, *headers, *body;
        int status, compat_status;
    } cases[] = {
        {"POST /jobs", OWN EVIL "Content-Type: text/plain\r\n", JOB, 403, 403},
        {"POST /jobs", OWN EVIL CROSS, JOB, 403, 403},
        {"POST /jobs", OWN "Origin: null\r\n", JOB, 403, 403},
        {"POST /jobs", OWN CROSS, JOB, 403, 403}, /* without an Origin, as for a while some browsers had it */
        {"POST /jobs", OWN LINK, JOB, 403, 403},  /* a form */
        {"OPTIONS /jobs", OWN EVIL "Access-Control-Request-Method: POST\r\n", NULL, 403, 403},
        {"GET /jobs/batch_size?job_id=a", OWN CROSS "Sec-Fetch-Mode: no-cors\r\n", NULL, 403, 403}, /* <img src> */
        {"GET /jobs/batch_size?job_id=a", OWN LINK, NULL, 403, 403},
        {"GET /jobs/batch_size?job_id=a", OWN "Sec-Fetch-Site: same-site\r\n", NULL, 403, 403},
        {"DELETE /jobs?job_id=a", OWN EVIL, NULL, 403, 403},
        {"GET /healthz", OWN CROSS, NULL, 403, 403},
        {"GET /", OWN LINK, NULL, 200, 403}, /* a link to a page; with --compat zeus it is none */
        {"GET /docs", OWN LINK, NULL, 200, 200},
        {"GET /docs", OWN CROSS "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n", NULL, 403, 403},
        {"GET /", "Host: evil.example\r\n", NULL, 403, 403}, /* whose address is now 127.0.0.1 */
        {"POST /jobs", "Host: evil.example:8000\r\nOrigin: http://evil.example:8000\r\nSec-Fetch-Site: same-origin\r\n",
         JOB, 403, 403},
        {"GET /api/v1/jobs", "Host: 127.0.0.1.evil.example\r\n", NULL, 403, 403},
        {"POST /jobs", OWN "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n", "{}", 422, 422},
        {"GET /docs", OWN "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n", NULL, 200, 200},
        {"POST /jobs", OWN, "{}", 422, 422}, /* a program */
        {"POST /jobs", "", "{}", 422, 422},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = ask(cases[i].line, cases[i].headers, cases[i].body);
        if (status != (is_compat ? cases[i].compat_status : cases[i].status))
            fail_msg("%s\n%s%d %s", cases[i].line, cases[i].headers, status, reply.body);
    }
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs", NULL), 200);
    assert_string_equal(reply.body, "{\"jobs\":[],\"next\":null}"); /* nothing came of all that */
}

static void test_pages_of_other_sites(void **state) {
    (void)state;
    start_with(place_options(&place, 0));
    check_pages(0);
}

static void test_pages_of_other_sites_with_compat(void **state) {
    (void)state;
    start_with(place_options(&place, 1));
    check_pages(1);
}

static void test_an_allowed_host(void **state) {
    (void)state;
    static const char *const hosts[] = {"kerf.example"};
    struct server_options options = place_options(&place, 0);
    options.allow_hosts = hosts;
    options.num_allow_hosts = 1;
    start_with(options);
    assert_int_equal(ask("GET /", "Host: kerf.example\r\n", NULL), 200);
    assert_int_equal(ask("POST /jobs", "Host: kerf.example\r\nOrigin: https://kerf.example\r\n", "{}"), 422);
    assert_int_equal(ask("POST /jobs", OWN "Origin: https://kerf.example\r\n", "{}"), 422); /* the proxy's own Host */
    assert_int_equal(ask("GET /", OWN, NULL), 200);
    assert_int_equal(ask("GET /", "Host: evil.example\r\n", NULL), 403);
    assert_non_null(strstr(reply.body, "--allow-host"));
}

/* Whether the last answer has the header with this value; NULL: not at all. */
static void has(const char *name, const char *value) {
    char room[256];
    const char *found = reply_header(&reply, name, room, sizeof room);
    if (value ? !found || strcmp(found, value) != 0 : found != NULL)
        fail_msg("%s: %s", name, found ? found : "missing");
}

static void test_a_named_site(void **state) {
    static const char *const sites[] = {"https://dash.example:8443"};
    struct server_options options = place_options(&place, 0);
    (void)state;
    options.allow_origins = sites;
    options.num_allow_origins = 1;
    start_with(options);
#define DASH CROSS "Origin: https://dash.example:8443\r\n"
    assert_int_equal(ask("GET /api/v1/jobs", OWN DASH, NULL), 200);
    has("access-control-allow-origin", sites[0]);
    has("vary", "Origin");
    assert_int_equal(ask("OPTIONS /jobs", OWN DASH "Access-Control-Request-Method: POST\r\n", NULL), 204);
    has("access-control-allow-methods", "GET, POST, PATCH, DELETE");
    has("access-control-allow-origin", sites[0]);
    assert_int_equal(ask("POST /jobs", OWN DASH "Content-Type: application/json\r\n", JOB), 201);
    /* Others, and those that only look like it, are refused as before, and told nothing. */
    static const char *const strangers[] = {"http://dash.example:8443", "https://dash.example", "https://evil.example",
                                            "https://dash.example:8443.evil.example", "null"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        char headers[256];
        snprintf(headers, sizeof headers, OWN CROSS "Origin: %s\r\nAccess-Control-Request-Method: GET\r\n",
                 strangers[i]);
        assert_int_equal(ask("GET /api/v1/jobs", headers, NULL), 403);
        has("access-control-allow-origin", NULL);
        assert_int_equal(ask("OPTIONS /api/v1/jobs", headers, NULL), 403);
        has("access-control-allow-origin", NULL);
    }
    assert_int_equal(ask("GET /api/v1/jobs", OWN CROSS, NULL), 403); /* a page that does not say whose it is */
    assert_int_equal(ask("GET /api/v1/jobs", "Host: evil.example\r\n" DASH, NULL), 403);
    assert_int_equal(ask("OPTIONS /jobs", OWN, NULL), 405);
}

static void test_headers_of_every_answer(void **state) {
    (void)state;
    static const char *const lines[] = {"GET / HTTP/1.1\r\n" OWN "\r\n", "GET /nothing HTTP/1.1\r\n" OWN "\r\n",
                                        "GET /docs HTTP/1.1\r\n" OWN "\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"};
    char value[256];
    start_with(place_options(&place, 0));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_true(client_ask_raw(&client, &reply, lines[i]) > 0);
        assert_non_null(reply_header(&reply, "content-security-policy", value, sizeof value));
        assert_non_null(strstr(value, "default-src 'none'"));
        assert_non_null(strstr(value, "frame-ancestors 'none'"));
        assert_non_null(reply_header(&reply, "x-content-type-options", value, sizeof value));
        assert_string_equal(value, "nosniff");
        assert_null(reply_header(&reply, "access-control-allow-origin", value, sizeof value));
    }
}

/* ---- Two readings of one request ----------------------------------------------------------------------------- */

/* All that is answered until the connection ends. */
static size_t answers_to(const char *bytes, size_t length, char *ret_answer, size_t size) {
    struct client one;
    size_t have = 0;
    client_open(&one, place.port);
    assert_true(client_send(&one, bytes, length));
    for (ssize_t got = 1; got > 0 && have<size - 1; have += got> 0 ? (size_t)got : 0)
        got = recv(one.fd, ret_answer + have, size - 1 - have, 0);
    ret_answer[have] = 0;
    client_close(&one);
    return have;
}

#define SMUGGLED "GET /healthz HTTP/1.1\r\n" OWN "\r\n"
#define CASE(text)                                                                                                     \
    { text SMUGGLED, sizeof(text SMUGGLED) - 1 }

static void test_smuggling(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
    } cases[] = {
        CASE("POST /jobs HTTP/1.1\r\n" OWN "Content-Length : 40\r\n\r\n"),
        CASE("POST /jobs HTTP/1.1\r\n" OWN "Content-Length\t: 40\r\n\r\n"),
        CASE("POST /jobs HTTP/1.1\r\n" OWN " Content-Length: 40\r\n\r\n"),
        CASE("POST /jobs HTTP/1.1\r\n" OWN "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
        CASE("POST /jobs HTTP/1.1\r\n" OWN "Content-Length: 5\r\nContent-Length: 40\r\n\r\nabcde"),
        CASE("POST /jobs HTTP/1.1\r\n" OWN "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN "Host: evil.example\r\n\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN OWN "\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN "A: b\0c\r\n\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN "A: b\0\r\n\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN "A\0: b\r\n\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN "\0A: b\r\n\r\n"),
        CASE("POST /jobs HTTP/1.1\r\n" OWN "\0\r\nContent-Length: 40\r\n\r\n"),
        CASE("GET /healthz\0 HTTP/1.1\r\n" OWN "\r\n"),
        CASE("GE\0T /healthz HTTP/1.1\r\n" OWN "\r\n"),
        CASE("GET  /healthz HTTP/1.1\r\n" OWN "\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN "A: b\r\n c\r\n\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN "A: b\n\r\n"),
        CASE("GET /healthz HTTP/1.1\n" OWN "\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN "A: b\x01\r\n\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN "A b\r\n\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN ": b\r\n\r\n"),
        CASE("GET /healthz HTTP/1.1\r\n" OWN "A(): b\r\n\r\n"),
    };
    char answer[8192];
    start_with(place_options(&place, 0));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        answers_to(cases[i].bytes, cases[i].length, answer, sizeof answer);
        int is_one = strstr(answer, "HTTP/1.1") == answer && strstr(answer + 1, "HTTP/1.1 ") == NULL;
        if (!is_one || atoi(answer + 9) != 400) fail_msg("case %zu: %s", i, answer);
    }
}

/* Heads that are long, come in pieces, have no space behind their colons, or empty values. */
static void test_good_heads(void **state) {
    (void)state;
    enum { HEADERS = 150 };
    static const char small[] =
        "GET /healthz HTTP/1.1\r\nHost:localhost\r\nA:\r\nB: \t b \t\r\nCookie: a=b; c=d\r\n\r\n";
    char large[16000];
    int length = snprintf(large, sizeof large, "GET /healthz?a=%%20b&c=d+e&f HTTP/1.1\r\n" OWN);
    for (int i = 0; i < HEADERS; i++)
        length += snprintf(large + length, sizeof large - (size_t)length, "X-Header-%d: the value number %d\r\n", i, i);
    length += snprintf(large + length, sizeof large - (size_t)length, "\r\n");
    start_with(place_options(&place, 0));
    assert_int_equal(client_ask_raw(&client, &reply, small), 200);
    assert_int_equal(client_ask_raw(&client, &reply, large), 200);
    for (int i = 0; i < length; i++) assert_true(client_send(&client, large + i, 1));
    assert_true(client_read(&client, 0, &reply));
    assert_int_equal(reply.status, 200);
    for (int i = 0; i < 3; i++) assert_true(client_send(&client, small, sizeof small - 1)); /* all at once */
    for (int i = 0; i < 3; i++) {
        assert_true(client_read(&client, 0, &reply));
        assert_int_equal(reply.status, 200);
    }
}

/* ---- Clients that do not go ---------------------------------------------------------------------------------- */

#define READING "kerf_http_requests_now{state=\"reading\"}"
#define WRITING "kerf_http_requests_now{state=\"writing\"}"

/* Asks for an answer that no buffers between the two can hold, and reads none of it. */
static void ask_and_never_read(struct client *stuck) {
    static const char request[] = "GET /api/v1/jobs HTTP/1.1\r\n" OWN "\r\n";
    enum { JOBS = 12, LARGE = 1000000 };
    static char body[LARGE + 1024];
    for (int i = 0; i < JOBS; i++) {
        int at = sprintf(body,
                         "{\"job_id\":\"large%d\",\"job_id_prefix\":\"\",\"batch_sizes\":[64],"
                         "\"default_batch_size\":64,\"max_power\":300,\"number_of_gpus\":1,\"gpu_model\":\"",
                         i);
        memset(body + at, 'g', LARGE);
        strcpy(body + at + LARGE, "\"}");
        assert_int_equal(client_ask(&client, &reply, "POST", "/jobs", body), 201);
    }
    client_open(stuck, place.port);
    stuck->buffer_bytes = 65536;
    assert_true(client_send(stuck, request, sizeof request - 1));
}

static void test_a_client_that_never_reads(void **state) {
    (void)state;
    struct server_options options = place_options(&place, 0);
    struct client stuck;
    options.write_s = 1;
    start_with(options);
    ask_and_never_read(&stuck);
    client_await_metric(&client, "kerf_http_unread_total", 1);
    client_await_metric(&client, "kerf_http_connections", 1); /* this one */
    client_close(&stuck);
}

static void test_half_closed(void **state) {
    (void)state;
    struct client half;
    start_with(place_options(&place, 0));
    client_open(&half, place.port);
    assert_true(client_send(&half, SMUGGLED, sizeof SMUGGLED - 1));
    assert_int_equal(shutdown(half.fd, SHUT_WR), 0);
    assert_true(client_read(&half, 0, &reply));
    assert_int_equal(reply.status, 200);
    assert_false(client_read(&half, 0, &reply)); /* and then the server ends it too */
    client_close(&half);
}

static void test_the_end_with_stuck_clients(void **state) {
    (void)state;
    static const char begun[] = "POST /report HTTP/1.1\r\n" OWN "Content-Length: 9\r\n\r\n{";
    struct client stuck, half, idle;
    char line[1024];
    place.keeps_log = 1;
    place_run(&place, 0, NULL);
    client_open(&client, place.port);
    client_open(&half, place.port);
    client_open(&idle, place.port);
    ask_and_never_read(&stuck);
    assert_true(client_send(&half, begun, sizeof begun - 1));
    client_await_metric(&client, WRITING, 1);
    client_await_metric(&client, READING, 1);
    assert_int_equal(client_ask(&idle, &reply, "GET", "/healthz", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
    kill(place.program, SIGTERM);
    assert_false(client_read(&idle, 0, &reply)); /* idle ones are closed at once */
    place_log(&place, "stopped", line, sizeof line);
    if (strstr(line, "1 clients did not finish their request, 1 did not read their answer") == NULL)
        fail_msg("%s", line);
    assert_int_equal(place_end(&place, 0), 0);
    client_close(&stuck);
    client_close(&half);
    client_close(&idle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pages_of_other_sites, make, stop),
        cmocka_unit_test_setup_teardown(test_pages_of_other_sites_with_compat, make, stop),
        cmocka_unit_test_setup_teardown(test_an_allowed_host, make, stop),
        cmocka_unit_test_setup_teardown(test_a_named_site, make, stop),
        cmocka_unit_test_setup_teardown(test_headers_of_every_answer, make, stop),
        cmocka_unit_test_setup_teardown(test_smuggling, make, stop),
        cmocka_unit_test_setup_teardown(test_good_heads, make, stop),
        cmocka_unit_test_setup_teardown(test_a_client_that_never_reads, make, stop),
        cmocka_unit_test_setup_teardown(test_half_closed, make, stop),
        cmocka_unit_test_setup_teardown(test_the_end_with_stuck_clients, make, stop),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
