/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that ask too much: 429, wrong tokens, connections. The arithmetic is in tests/unit/test_rate.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "serve_client.h"
#include "server/connections.h"

enum { MANY = 500, CONNECTIONS = 3 };

static struct place place;
static struct client client;
static struct reply reply;

static void start(struct server_options options) {
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

static void test_too_many_requests(void **state) {
    (void)state;
    struct server_options options = place_options(&place, 0);
    char room[64];
    int asked = 1, waited = 0;
    options.rate = 1;
    start(options);
    while (asked < MANY && client_ask(&client, &reply, "GET", "/healthz", NULL) == 200) asked++;
    assert_in_range(asked, 3, MANY - 1); /* two at once, at least */
    assert_int_equal(reply.status, 429);
    assert_string_equal(reply.body, "{\"detail\":\"Too Many Requests\"}");
    assert_non_null(reply_header(&reply, "content-type", room, sizeof room));
    assert_string_equal(room, "application/json");
    assert_non_null(reply_header(&reply, "retry-after", room, sizeof room));
    assert_string_equal(room, "1");
    assert_null(reply_header(&reply, "connection", room, sizeof room)); /* it may go on with this one */
    const struct timespec second = {.tv_sec = 1};
    for (; waited < 20 && client_ask(&client, &reply, "GET", "/metrics", NULL) == 429; waited++)
        nanosleep(&second, NULL);
    assert_int_equal(reply.status, 200);
    assert_null(strstr(reply.body, "kerf_http_limited_total 0\n"));
    assert_null(reply_header(&reply, "retry-after", room, sizeof room));
}

static void test_zero_is_no_limit(void **state) {
    (void)state;
    start(place_options(&place, 0));
    for (int i = 0; i < MANY; i++) assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
}

/* Five a second, ten at once: one wrong token is as much as all of them. */
static void test_wrong_tokens_count_more(void **state) {
    (void)state;
    static const char wrong[] =
        "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer kerf_wrong\r\n\r\n";
    static const char none[] = "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct server_options options = place_options(&place, 0);
    int unknown = 0, limited = 0;
    options.rate = 5;
    options.tokens = 1;
    start(options);
    double began_s = clock_ticks_s();
    for (int i = 0; i < 5; i++) { /* who forgot the token guesses nothing */
        assert_true(client_send(&client, none, sizeof none - 1) && client_read(&client, 0, &reply));
        assert_int_equal(reply.status, 401);
    }
    for (int i = 0; i < 100; i++) {
        assert_true(client_send(&client, wrong, sizeof wrong - 1) && client_read(&client, 0, &reply));
        unknown += reply.status == 401;
        limited += reply.status == 429;
    }
    assert_int_equal(unknown + limited, 100);
    assert_in_range(unknown, 1, 2 + (int)((clock_ticks_s() - began_s) / 2)); /* two seconds each */
}

static void test_connections_of_an_address(void **state) {
    (void)state;
    struct server_options options = place_options(&place, 0);
    struct client clients[CONNECTIONS + 1];
    options.connections_an_address = CONNECTIONS;
    start(options);
    for (int i = 0; i <= CONNECTIONS; i++) {
        client_open(&clients[i], place.port);
        int answered = client_try(&clients[i], "GET", "/healthz", "", NULL, 0, &reply);
        assert_int_equal(answered, i < CONNECTIONS);
    }
    client_close(&clients[0]);
    const struct timespec pause = {.tv_nsec = 10000000};
    int again = 0; /* the server hears of its end a little later */
    for (int i = 0; i < MANY && !again; i++) {
        again = client_try(&clients[CONNECTIONS], "GET", "/healthz", "", NULL, 0, &reply);
        if (!again) nanosleep(&pause, NULL);
    }
    assert_true(again);
    for (int i = 1; i <= CONNECTIONS; i++) client_close(&clients[i]);
}

/* ---- Networks ------------------------------------------------------------------------------------------------ */

static struct sockaddr_storage address_of(const char *text) {
    struct sockaddr_storage address = {0};
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address;
    struct sockaddr_in *in = (struct sockaddr_in *)&address;
    address.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
    void *to = strchr(text, ':') ? (void *)&in6->sin6_addr : (void *)&in->sin_addr;
    assert_int_equal(inet_pton(address.ss_family, text, to), 1);
    return address;
}

/* Whoever has one address of an IPv6 network of 64 bits has them all. */
static void test_connections_of_a_network(void **state) {
    (void)state;
    static const struct {
        const char *address;
        int admitted;
    } cases[] = {{"2001:db8::1", 1},      {"2001:db8::2", 1},      {"2001:db8::3", 0},     {"2001:db8:0:1::1", 1},
                 {"192.0.2.1", 1},        {"192.0.2.1", 1},        {"192.0.2.1", 0},       {"192.0.2.2", 1},
                 {"::ffff:192.0.2.1", 0}, {"::ffff:192.0.2.2", 1}, {"::ffff:192.0.2.2", 0}};
    enum { CASES = sizeof cases / sizeof *cases };
    const struct connection_limits limits = {.request_s = 60, .write_s = 60, .idle_s = 60, .a_network = 2, .seed = 5};
    struct connections *connections;
    struct connection all[CASES] = {{0}};
    struct kerf_error err;
    assert_int_equal(connections_start(&limits, &connections, &err), KERF_OK);
    for (size_t i = 0; i < CASES; i++) {
        struct sockaddr_storage address = address_of(cases[i].address);
        int admitted = connections_admit(connections, (struct sockaddr *)&address);
        if (admitted != cases[i].admitted) fail_msg("%s, number %zu: %d", cases[i].address, i, admitted);
        if (admitted) connections_add(connections, &all[i], -1, (struct sockaddr *)&address);
    }
    connections_remove(connections, &all[1]);
    struct sockaddr_storage address = address_of("2001:db8::ffff");
    assert_true(connections_admit(connections, (struct sockaddr *)&address));
    for (size_t i = 0; i < CASES; i++)
        if (cases[i].admitted && i != 1) connections_remove(connections, &all[i]);
    connections_stop(connections);
}

/* ---- Clients that take their time ---------------------------------------------------------------------------- */

/* Both ends of a connection. */
static void make_pair(int *ret_server, int *ret_reader) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int buffer_bytes = 65536, listens = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listens, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(listens, 1), 0);
    assert_int_equal(getsockname(listens, (struct sockaddr *)&address, &length), 0);
    *ret_reader = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(*ret_reader, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
    assert_int_equal(connect(*ret_reader, (struct sockaddr *)&address, length), 0);
    *ret_server = accept4(listens, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    assert_true(*ret_server >= 0);
    close(listens);
}

/* Writes until nothing more fits. Returns how much that was. */
static int64_t fill(int fd) {
    static const char bytes[65536];
    int64_t sum = 0;
    for (ssize_t done; (done = send(fd, bytes, sizeof bytes, MSG_NOSIGNAL)) > 0;) sum += done;
    return sum;
}

/* Reads until the other end can write again, and more was taken than before. */
static void take_some(int reader, int server) {
    char bytes[65536];
    do assert_true(recv(reader, bytes, sizeof bytes, 0) > 0);
    while (fill(server) == 0);
}

static void take_all(int reader, int64_t length) {
    char bytes[65536];
    for (ssize_t got; length > 0; length -= got) assert_true((got = recv(reader, bytes, sizeof bytes, 0)) > 0);
}

/* One that reads a little every now and then is not given up, however long its answer takes; nor is one that took all
 * there is and waits for the rest, which the server has not written. One that reads nothing is. */
static void test_who_reads_slowly(void **state) {
    (void)state;
    enum { WRITE_S = 20, STEPS = 30 };
    const struct connection_limits limits = {.request_s = 60, .write_s = WRITE_S, .idle_s = 60};
    const struct sockaddr_storage address = address_of("127.0.0.1");
    struct connections *connections;
    struct connection connection = {0};
    struct connection_counts counts;
    struct kerf_error err;
    char byte;
    int server, reader;
    make_pair(&server, &reader);
    assert_int_equal(connections_start(&limits, &connections, &err), KERF_OK);
    connections_add(connections, &connection, server, (const struct sockaddr *)&address);
    assert_true(connection_read(&connection) && connection_run(&connection) && connection_write(&connection));
    double now_s = connection.since_s;
    int64_t length = fill(server);
    for (int i = 0; i < STEPS; i++) {
        connections_look(connections, now_s += WRITE_S - 1);
        assert_int_equal(connection.state, CONNECTION_WRITING);
        take_some(reader, server);
    }
    connections_look(connections, now_s);
    connections_look(connections, now_s += WRITE_S - 1);
    assert_int_equal(connection.state, CONNECTION_WRITING);
    connections_look(connections, now_s += 2);
    assert_int_equal(connection.state, CONNECTION_GIVEN_UP);
    connections_count(connections, &counts);
    assert_int_equal(counts.unread, 1);
    connections_remove(connections, &connection);
    close(server);
    while (recv(reader, &byte, 1, 0) > 0) {
    }
    assert_int_equal(errno, ECONNRESET);
    close(reader);

    make_pair(&server, &reader);
    connection = (struct connection){0};
    connections_add(connections, &connection, server, (const struct sockaddr *)&address);
    assert_true(connection_read(&connection) && connection_run(&connection) && connection_write(&connection));
    length = fill(server);
    take_all(reader, length);
    for (int i = 0; i < STEPS; i++) connections_look(connections, now_s += WRITE_S + 1);
    assert_int_equal(connection.state, CONNECTION_WRITING);
    connections_remove(connections, &connection);
    connections_stop(connections);
    close(server);
    close(reader);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_too_many_requests, make, stop),
        cmocka_unit_test_setup_teardown(test_zero_is_no_limit, make, stop),
        cmocka_unit_test_setup_teardown(test_wrong_tokens_count_more, make, stop),
        cmocka_unit_test_setup_teardown(test_connections_of_an_address, make, stop),
        cmocka_unit_test(test_connections_of_a_network),
        cmocka_unit_test(test_who_reads_slowly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
