/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole life in the form that Zeus's own client has on the wire: a connection a request, a body without Content-Type,
 * the job in the query, more keys than the server knows, and PATCH when the process exits, also after the end. With a
 * token in the server's URL it sends Basic credentials.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "serve_client.h"

static struct place place;
static struct client client;
static struct reply reply;
static char credentials[256]; /* a header, or "" */

static int stop(void **state) {
    (void)state;
    client_close(&client);
    place_clear(&place);
    credentials[0] = 0;
    return 0;
}

static int ask(const char *method, const char *target, const char *body) {
    char request[2048];
    int length =
        snprintf(request, sizeof request,
                 "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br\r\n"
                 "Connection: keep-alive\r\nUser-Agent: python-httpx/0.23.3\r\n%s",
                 method, target, place.port, credentials);
    length += body ? snprintf(request + length, sizeof request - (size_t)length, "Content-Length: %zu\r\n\r\n%s",
                              strlen(body), body)
                   : snprintf(request + length, sizeof request - (size_t)length, "\r\n");
    client_close(&client); /* a connection a request */
    client_open(&client, place.port);
    client_send(&client, request, (size_t)length);
    assert_true(client_read(&client, 0, &reply));
    return reply.status;
}

static void says(const char *text) {
    if (strstr(reply.body, text) == NULL) fail_msg("'%s' is not in: %s", text, reply.body);
}

/* One run of the job: what it is answered at the last report. */
static int64_t run(double energy, int epochs) {
    static const char job[] =
        "{\"max_power\": 1200.0, \"number_of_gpus\": 4, \"gpu_model\": \"Tesla V100\", \"job_id\": \"life-1\", "
        "\"job_id_prefix\": \"life\", \"batch_sizes\": [32, 64, 128], \"default_batch_size\": 64, \"eta_knob\": 0.5, "
        "\"beta_knob\": 2.0, \"target_metric\": 0.5, \"higher_is_better_metric\": true, \"max_epochs\": 5, "
        "\"num_pruning_rounds\": 1, \"window_size\": 0, \"mab_prior_mean\": 0.0, \"mab_prior_precision\": 0.0, "
        "\"mab_num_explorations\": 2, \"mab_seed\": 77}";
    char body[512], ended[128];
    int status = ask("POST", "/jobs", job);
    assert_true(status == 201 || status == 200);
    says("\"job_id\":\"life-1\"");
    assert_int_equal(ask("GET", "/jobs/batch_size?job_id=life-1", NULL), 200);
    int64_t size = reply_integer(&reply, "batch_size"), trial = reply_integer(&reply, "trial_number");
    for (int epoch = 1; epoch <= epochs; epoch++) {
        snprintf(body, sizeof body,
                 "{\"job_id\": \"life-1\", \"batch_size\": %d, \"trial_number\": %d, \"time\": %.1f, \"energy\": %.1f, "
                 "\"metric\": %.1f, \"current_epoch\": %d}",
                 (int)size, (int)trial, 10.0 * epoch, energy * epoch, epoch < epochs ? 0.1 : 0.9, epoch);
        assert_int_equal(ask("POST", "/report", body), 200);
        if (epoch < epochs)
            assert_string_equal(reply.body, "{\"stop_train\":false,\"converged\":false,\"message\":"
                                            "\"Stop condition not met, keep training\"}");
    }
    snprintf(ended, sizeof ended, "{\"job_id\": \"life-1\", \"batch_size\": %d, \"trial_number\": %d}", (int)size,
             (int)trial);
    char last[512];
    snprintf(last, sizeof last, "%s", epochs ? reply.body : "");
    assert_int_equal(ask("PATCH", "/trials", ended), 200); /* at exit */
    assert_string_equal(reply.body, "null");
    if (epochs == 0) return size;
    assert_int_equal(ask("POST", "/report", body), 200); /* what was reported stands */
    says("is already reported");
    assert_non_null(strstr(last, energy < 20000 ? "Train succeeded" : "exceeded the cost upper bound"));
    return size;
}

/* From the first run to the stage MAB: 64 down to 32, which costs too much, and up to 128. */
static void live(void) {
    assert_int_equal(run(1000, 0), 64); /* dies before its first epoch */
    assert_int_equal(run(1000, 2), 64);
    assert_int_equal(run(90000, 1), 32);
    assert_int_equal(run(900, 2), 128);
    for (int i = 0; i < 6; i++) assert_true(run(1000 + i, 2) >= 64);
    assert_int_equal(ask("DELETE", "/jobs?job_id=life-1", NULL), credentials[0] ? 403 : 200);
}

static void test_life(void **state) {
    place_make(&place);
    place_start(&place, *state != NULL);
    live();
}

static void test_basic(void **state) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char *const more[] = {"--tokens", NULL};
    char command[512], token[128] = "";
    (void)state;
    place_make(&place);
    snprintf(command, sizeof command, "%s token add client --role write --create --store %s", KERF_PROGRAM,
             place.store);
    FILE *program = popen(command, "r");
    assert_non_null(program);
    assert_non_null(fgets(token, sizeof token, program));
    assert_int_equal(pclose(program), 0);
    place_run(&place, 0, more);
    assert_int_equal(ask("GET", "/jobs/batch_size?job_id=life-1", NULL), 401);
    size_t used = (size_t)snprintf(credentials, sizeof credentials, "Authorization: Basic ");
    token[strcspn(token, "\n")] = ':'; /* a user without a password */
    for (size_t i = 0, length = strlen(token); i < length; i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++) bits = bits << 8 | (i + k < length ? (unsigned char)token[i + k] : 0);
        for (size_t k = 0; k < 4; k++) credentials[used++] = i + k > length ? '=' : digits[bits >> (18 - 6 * k) & 63];
    }
    strcpy(credentials + used, "\r\n");
    live();
    assert_int_equal(place_end(&place, SIGTERM), 0);
}

int main(void) {
    static int compat;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_life, stop),
        {"test_life with compat", test_life, NULL, stop, &compat},
        cmocka_unit_test_teardown(test_basic, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
