/* SPDX-License-Identifier: Apache-2.0 */
/* What the log says of requests and refusals, and what the service manager is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "serve_client.h"

static struct place place;
static struct client client;
static struct reply reply;
static json_t *line;

static int make(void **state) {
    (void)state;
    place_make(&place);
    place.keeps_log = 1;
    return 0;
}

static int stop(void **state) {
    (void)state;
    json_decref(line);
    line = NULL;
    client_close(&client);
    place_clear(&place);
    unsetenv("NOTIFY_SOCKET");
    return 0;
}

/* The next line of the log that has these words, as JSON. */
static void next_line(const char *words) {
    char text[2048];
    place_log(&place, words, text, sizeof text);
    json_decref(line);
    line = json_loads(text, 0, NULL);
    if (line == NULL) fail_msg("this is not JSON: %s", text);
}

static void says(const char *key, const char *value) {
    const char *found = json_string_value(json_object_get(line, key));
    if (found == NULL || strcmp(found, value) != 0) fail_msg("%s is %s", key, found ? found : "missing");
}

static json_int_t number(const char *key) { return json_integer_value(json_object_get(line, key)); }

static void make_token(char *ret_token, size_t size) {
    char command[512];
    snprintf(command, sizeof command, "%s token add trainer --role write --create --store %s", KERF_PROGRAM,
             place.store);
    FILE *program = popen(command, "r");
    assert_non_null(program);
    assert_non_null(fgets(ret_token, (int)size, program));
    assert_int_equal(pclose(program), 0);
    ret_token[strcspn(ret_token, "\n")] = 0;
}

#define JOB                                                                                                            \
    "{\"job_id\":\"a\",\"job_id_prefix\":\"\",\"batch_sizes\":[64],\"default_batch_size\":64,\"max_power\":300,"       \
    "\"number_of_gpus\":1,\"gpu_model\":\"V100\"}"

static int ask(const char *request_line, const char *token, const char *body) {
    char request[2048];
    snprintf(request, sizeof request, "%s HTTP/1.1\r\nHost: localhost\r\n%s%s%sContent-Length: %zu\r\n\r\n%s",
             request_line, token ? "Authorization: Bearer " : "", token ? token : "", token ? "\r\n" : "", strlen(body),
             body);
    return client_ask_raw(&client, &reply, request);
}

static void test_fields_of_requests(void **state) {
    (void)state;
    static const char *const more[] = {"--log", "json", "--log-requests", "--tokens", NULL};
    char token[128] = "";
    make_token(token, sizeof token);
    place_run(&place, 0, more);
    client_open(&client, place.port);
    assert_int_equal(ask("POST /jobs", token, JOB), 201);
    next_line("\"event\":\"request\"");
    says("method", "POST");
    says("route", "/jobs");
    says("path", "/jobs");
    says("job", "a");
    says("token", "trainer");
    says("client", "127.0.0.1");
    says("level", "info");
    assert_int_equal(number("status"), 201);
    assert_true(json_real_value(json_object_get(line, "duration_s")) > 0);
    assert_null(json_object_get(line, "trial"));
    assert_int_equal(ask("GET /jobs/batch_size?job_id=a", token, ""), 200);
    next_line("\"event\":\"request\"");
    says("route", "/jobs/batch_size");
    assert_int_equal(number("trial"), 1);
    assert_int_equal(ask("GET /api/v1/jobs/a/trials/1", token, ""), 200);
    next_line("\"event\":\"request\"");
    says("route", "/api/v1/jobs/{job_id}/trials/{trial_number}");
    says("path", "/api/v1/jobs/a/trials/1");
    says("job", "a");
    assert_int_equal(number("trial"), 1);
    assert_int_equal(ask("GET /nothing", token, ""), 404);
    next_line("\"event\":\"request\"");
    assert_null(json_object_get(line, "route"));
    assert_int_equal(number("status"), 404);
}

/* Few lines, whose counts are the number of refusals. */
static void test_refusals(void **state) {
    (void)state;
    static const char *const more[] = {"--log", "json", "--tokens", NULL};
    enum { REFUSALS = 200 };
    int64_t counted = 0, lines = 0;
    place_run(&place, 0, more);
    client_open(&client, place.port);
    for (int i = 0; i < REFUSALS; i++) assert_int_equal(ask("GET /api/v1/jobs", i % 2 ? "wrong" : NULL, ""), 401);
    for (; counted < REFUSALS; lines++) {
        next_line("\"event\":\"refused\"");
        if (lines == 0) {
            says("method", "GET");
            says("route", "/api/v1/jobs");
            assert_int_equal(number("status"), 401);
            assert_non_null(json_object_get(line, "duration_s"));
        }
        assert_true(number("count") > 0);
        counted += number("count");
    }
    assert_int_equal(counted, REFUSALS);
    assert_true(lines < REFUSALS);
}

static void test_the_service_manager(void **state) {
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = 300};
    char said[64] = "";
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/notify", place.folder);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    place_run(&place, 0, NULL);
    assert_true(recv(fd, said, sizeof said - 1, 0) > 0);
    assert_string_equal(said, "READY=1");
    client_open(&client, place.port);
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
    kill(place.program, SIGHUP); /* without TLS there is nothing to do, and it goes on */
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
    kill(place.program, SIGTERM);
    memset(said, 0, sizeof said);
    assert_true(recv(fd, said, sizeof said - 1, 0) > 0);
    assert_string_equal(said, "STOPPING=1");
    assert_int_equal(place_end(&place, 0), 0);
    close(fd);
}

/* Wherever it listens beyond loopback without TLS. */
static void test_tokens_in_clear(void **state) {
    (void)state;
    static const char *const more[] = {"--listen", "0.0.0.0:0", NULL};
    char text[1024];
    place_run(&place, 0, more);
    snprintf(text, sizeof text, "%s", place.first_line);
    assert_non_null(strstr(text, "warning tokens: they travel unencrypted"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fields_of_requests, make, stop),
        cmocka_unit_test_setup_teardown(test_refusals, make, stop),
        cmocka_unit_test_setup_teardown(test_the_service_manager, make, stop),
        cmocka_unit_test_setup_teardown(test_tokens_in_clear, make, stop),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
