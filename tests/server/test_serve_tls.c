/* SPDX-License-Identifier: Apache-2.0 */
/* HTTPS: what is refused at the start, requests, redirects, slow clients, and `kerf jobs` as a client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "certificate.h"
#include "serve_client.h"

static struct place place;
static char certificate[128], key[128], other[128], bytes[65536];

static int start_folder(void **state) {
    (void)state;
    place_make(&place);
    snprintf(certificate, sizeof certificate, "%s/cert.pem", place.folder);
    snprintf(key, sizeof key, "%s/key.pem", place.folder);
    snprintf(other, sizeof other, "%s/other.pem", place.folder);
    certificate_make(certificate, key, 2);
    return 0;
}

static double quiet_s = 30; /* for which a client may say nothing */

static int32_t start_with(const char *with_certificate, const char *with_key, struct kerf_error *err) {
    struct server_options options = place_options(&place, 0);
    options.tls_cert = with_certificate;
    options.tls_key = with_key;
    static const char *const hosts[] = {"kerf.example"};
    options.request_s = options.idle_s = quiet_s;
    options.allow_hosts = hosts;
    options.num_allow_hosts = 1;
    int32_t code = server_start(&options, &place.server, err);
    if (code == KERF_OK) place.port = server_port(place.server);
    return code;
}

static int start(void **state) {
    struct kerf_error err;
    start_folder(state);
    if (start_with(certificate, key, &err) != KERF_OK) fail_msg("%s", err.message);
    return 0;
}

static int start_impatient(void **state) {
    quiet_s = 5;
    return start(state);
}

static int stop(void **state) {
    (void)state;
    place_clear(&place);
    quiet_s = 30;
    return 0;
}

/* ---- The start ---------------------------------------------------------------------------------------------- */

static void refuses(const char *with_certificate, const char *with_key, const char *words) {
    struct kerf_error err;
    assert_int_equal(start_with(with_certificate, with_key, &err), KERF_EINVALID);
    if (strstr(err.message, words) == NULL) fail_msg("'%s' does not say '%s'", err.message, words);
}

static void test_what_is_refused(void **state) {
    (void)state;
    char spare[128];
    snprintf(spare, sizeof spare, "%s/spare.pem", place.folder);
    certificate_make(other, spare, 2);
    refuses("/nowhere/cert.pem", key, "/nowhere/cert.pem cannot be read: No such file or directory");
    refuses(certificate, "/nowhere/key.pem", "/nowhere/key.pem cannot be read");
    refuses(key, key, "holds no certificate in PEM");
    refuses(certificate, NULL, "holds no private key in PEM");
    refuses(certificate, certificate, "holds no private key in PEM");
    refuses(certificate, spare, "does not belong to the certificate");
    refuses(place.folder, key, "cannot be read: Is a directory");
}

static void test_one_file_and_expired(void **state) {
    (void)state;
    struct kerf_error err;
    char line[1024] = "";
    size_t have = 0;
    int ends[2], before = dup(STDERR_FILENO);
    certificate_make(other, other, -3);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    int32_t code = start_with(other, NULL, &err);
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[1]);
    while (have < sizeof line - 1 && read(ends[0], line + have, 1) == 1 && line[have++] != '\n') line[have] = 0;
    close(ends[0]);
    assert_int_equal(code, KERF_OK);
    assert_non_null(strstr(line, "error tls: the certificate in"));
    assert_non_null(strstr(line, "expired on"));
    place_stop(&place);
}

/* ---- Requests ----------------------------------------------------------------------------------------------- */

static void ask(struct tls_client *client, const char *request, const char *end) {
    assert_true(tls_send(client, request));
    assert_true(tls_read_until(client, end, bytes, sizeof bytes) > 0);
}

static void test_requests(void **state) {
    (void)state;
    static const char job[] =
        "{\"job_id\":\"a\",\"job_id_prefix\":\"\",\"batch_sizes\":[64,128],\"default_batch_size\":64,"
        "\"max_power\":300,\"number_of_gpus\":1,\"gpu_model\":\"V100\",\"mab_seed\":1}";
    struct tls_client client;
    char request[1024];
    assert_true(tls_open(&client, place.port, certificate));
    snprintf(request, sizeof request, "POST /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(job), job);
    ask(&client, request, "}");
    assert_int_equal(strncmp(bytes, "HTTP/1.1 201", 12), 0);
    for (int i = 1; i < 4; i++) { /* one connection, answers after a commit */
        char want[64];
        ask(&client, "GET /jobs/batch_size?job_id=a HTTP/1.1\r\nHost: localhost\r\n\r\n", "}");
        snprintf(want, sizeof want, "\"trial_number\":%d}", i);
        assert_non_null(strstr(bytes, want));
    }
    ask(&client, "GET /healthz/ HTTP/1.1\r\nHost: kerf.example:8443\r\n\r\n", "\r\n\r\n");
    assert_int_equal(strncmp(bytes, "HTTP/1.1 307", 12), 0);
    assert_non_null(strcasestr(bytes, "\r\nLocation: https://kerf.example:8443/healthz\r\n"));
    tls_close(&client);
    certificate_make(other, key, 2);
    assert_false(tls_open(&client, place.port, other)); /* somebody else's */
    tls_close(&client);
}

/* ---- What is spoken, and renewed ----------------------------------------------------------------------------- */

/* TLS 1.3 and 1.2, and no key exchange whose records can be read by who learns the key later. */
static void test_forward_secrecy(void **state) {
    static const struct {
        const char *priorities;
        int is_spoken;
    } cases[] = {{"NORMAL:-VERS-ALL:+VERS-TLS1.3", 1},
                 {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+ECDHE-RSA", 1},
                 {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA", 0},
                 {"NORMAL:-VERS-ALL:+VERS-TLS1.1", 0},
                 {"NORMAL:-VERS-ALL:+VERS-TLS1.0", 0}};
    struct kerf_error err;
    start_folder(state);
    certificate_make_rsa(certificate, key);
    if (start_with(certificate, key, &err) != KERF_OK) fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tls_client client;
        int spoken = tls_open_with(&client, place.port, certificate, cases[i].priorities);
        tls_close(&client);
        if (spoken != cases[i].is_spoken) fail_msg("%s: %d", cases[i].priorities, spoken);
    }
}

static void test_a_renewed_certificate(void **state) {
    (void)state;
    static const char ask_health[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct tls_client before, after;
    char old[128];
    FILE *file;
    assert_true(tls_open(&before, place.port, certificate));
    snprintf(old, sizeof old, "%s/old.pem", place.folder);
    assert_int_equal(rename(certificate, old), 0);
    file = fopen(certificate, "w"); /* half of a renewal: the server goes on with what it has */
    assert_non_null(file);
    fclose(file);
    server_reload(place.server);
    assert_true(tls_open(&after, place.port, old));
    tls_close(&after);
    certificate_make(certificate, key, 2);
    server_reload(place.server);
    assert_true(tls_open(&after, place.port, certificate));
    ask(&after, ask_health, "}");
    tls_close(&after);
    assert_false(tls_open(&after, place.port, old));
    tls_close(&after);
    ask(&before, ask_health, "}"); /* who was here before stays */
    tls_close(&before);
}

/* ---- Slow clients ------------------------------------------------------------------------------------------- */

static void test_a_slow_request_ends_without_plain_bytes(void **state) {
    (void)state;
    static const char *const begun[] = {"", "GET / HT",
                                        "POST /report HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"};
    enum { SLOW = sizeof begun / sizeof *begun };
    struct tls_client clients[SLOW];
    for (int i = 0; i < SLOW; i++) { /* they wait together */
        assert_true(tls_open(&clients[i], place.port, certificate));
        if (begun[i][0]) assert_true(tls_send(&clients[i], begun[i]));
    }
    for (int i = 0; i < SLOW; i++) {
        assert_int_equal(tls_read_until(&clients[i], NULL, bytes, sizeof bytes), 0);
        tls_close(&clients[i]);
    }
}

/* The beginning of a handshake, or nothing: nothing comes back but TLS's own alerts (type 21). */
static void test_a_handshake_that_never_completes(void **state) {
    (void)state;
    static const char hello[] = {22, 3, 1, 2, 0, 1, 0, 1};
    for (size_t length = 0; length <= sizeof hello; length += sizeof hello) {
        struct client client;
        char answer[64];
        client_open(&client, place.port);
        assert_true(client_send(&client, hello, length));
        ssize_t got = recv(client.fd, answer, sizeof answer, 0);
        if (got < 0) assert_int_equal(errno, ECONNRESET); /* and not EAGAIN, when the client's patience is over */
        if (got > 0) assert_int_equal(answer[0], 21);
        client_close(&client);
    }
}

static void test_plain_http_is_no_answer(void **state) {
    (void)state;
    struct client client;
    struct reply reply;
    client_open(&client, place.port);
    assert_false(client_try(&client, "GET", "/healthz", "", NULL, 0, &reply));
    client_close(&client);
}

/* ---- kerf jobs ---------------------------------------------------------------------------------------------- */

static int run(const char *how, const char *more) {
    char command[1024];
    size_t have = 0;
    snprintf(command, sizeof command, "%s %s jobs list --server https://127.0.0.1:%d %s 2>&1", how, KERF_PROGRAM,
             place.port, more);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    have = fread(bytes, 1, sizeof bytes - 1, from);
    bytes[have] = 0;
    int status = pclose(from);
    if (strstr(bytes, "libcurl")) skip();
    return WEXITSTATUS(status);
}

static void test_kerf_jobs(void **state) {
    (void)state;
    char more[256], how[256];
    assert_int_equal(run("", ""), 3);
    assert_non_null(strstr(bytes, "is not trusted"));
    assert_non_null(strstr(bytes, "--ca"));
    snprintf(more, sizeof more, "--ca %s", certificate);
    assert_int_equal(run("", more), 0);
    snprintf(how, sizeof how, "KERF_CA=%s", certificate);
    assert_int_equal(run(how, ""), 0);
    assert_int_equal(run("", "--ca /nowhere/ca.pem"), 2);
    assert_non_null(strstr(bytes, "/nowhere/ca.pem cannot be read"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_refused, start_folder, stop),
        cmocka_unit_test_setup_teardown(test_one_file_and_expired, start_folder, stop),
        cmocka_unit_test_setup_teardown(test_requests, start, stop),
        cmocka_unit_test_teardown(test_forward_secrecy, stop),
        cmocka_unit_test_setup_teardown(test_a_renewed_certificate, start, stop),
        cmocka_unit_test_setup_teardown(test_a_slow_request_ends_without_plain_bytes, start_impatient, stop),
        cmocka_unit_test_setup_teardown(test_a_handshake_that_never_completes, start_impatient, stop),
        cmocka_unit_test_setup_teardown(test_plain_http_is_no_answer, start, stop),
        cmocka_unit_test_setup_teardown(test_kerf_jobs, start, stop),
    };
    struct kerf_error err;
    place_make(&place);
    int32_t code = start_with("/nowhere", NULL, &err);
    place_clear(&place);
    if (code == KERF_EUNSUPPORTED) {
        printf("skipped: %s\n", err.message);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
