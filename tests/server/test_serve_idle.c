/* SPDX-License-Identifier: Apache-2.0 */
/* More idle connections than anybody has, and fewer files than they need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "serve_client.h"

enum { IDLE = 10000, SPARE = 200, FILES = 300, MORE = 400, CYCLES = 50 };

static struct place place;
static struct client idle[IDLE];

static int raise_file_limit(int wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max >= (rlim_t)wanted;
}

static void be_idle(int count) {
    struct reply reply;
    for (int i = 0; i < count; i++) {
        client_open(&idle[i], place.port);
        assert_int_equal(client_ask(&idle[i], &reply, "GET", "/healthz", NULL), 200);
        free(idle[i].room); /* a mebibyte */
        idle[i].room = NULL;
        idle[i].size = 0;
    }
}

static void let_go(int from, int to, int abruptly) {
    const struct linger at_once = {.l_onoff = 1};
    for (int i = from; i < to; i++) {
        if (abruptly) setsockopt(idle[i].fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        client_close(&idle[i]);
    }
}

static void run_cycles(const char *job_id) {
    struct client client;
    struct reply reply;
    int64_t size, trial;
    client_open(&client, place.port);
    register_job(&client, job_id, "64,128", "");
    for (int i = 0; i < CYCLES; i++) {
        assert_int_equal(predict(&client, job_id, &size, &trial), 200);
        assert_int_equal(report(&client, &reply, job_id, size, trial, 100 + i, 0.9, 1), 200);
    }
    client_close(&client);
}

static void test_idle(void **state) {
    (void)state;
    char line[1024];
    if (!raise_file_limit(IDLE + SPARE)) {
        print_message("left out: this process may not have %d files\n", IDLE + SPARE);
        skip();
    }
    place.keeps_log = 1;
    place_run(&place, 0, NULL);
    be_idle(IDLE);
    run_cycles("beside");
    let_go(0, IDLE / 2, 1);
    run_cycles("after");
    int status = place_end(&place, SIGTERM); /* it closes them, and waits for none */
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    place_log(&place, "stopped", line, sizeof line);
    if (strstr(line, "all requests are answered") == NULL) fail_msg("%s", line);
    let_go(IDLE / 2, IDLE, 0);
}

/* Those beyond the limit wait; the store has its files in any case. */
static void test_few_files(void **state) {
    (void)state;
    struct client late;
    struct reply reply;
    const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    place.most_files = FILES;
    place_run(&place, 0, NULL);
    assert_non_null(strstr(place.first_line, "ulimit -n"));
    be_idle(1);
    for (int count = 1; count < MORE; count++) { /* all connect: the kernel has a queue */
        client_open(&idle[count], place.port);
        assert_true(client_send(&idle[count], request, strlen(request)));
    }
    assert_int_equal(
        client_ask(&idle[0], &reply, "POST", "/jobs",
                   "{\"job_id\":\"j\",\"job_id_prefix\":\"\",\"batch_sizes\":[64],\"default_batch_size\":64,"
                   "\"max_power\":300,\"number_of_gpus\":1,\"gpu_model\":\"V100\"}"),
        201);
    for (int i = 0; i < CYCLES; i++) {
        assert_int_equal(client_ask(&idle[0], &reply, "GET", "/jobs/batch_size?job_id=j", NULL), 200);
        assert_int_equal(client_ask(&idle[0], &reply, "GET", "/api/v1/jobs", NULL), 200);
    }
    let_go(1, MORE - 1, 0);
    assert_true(client_read(&idle[MORE - 1], 0, &reply)); /* its turn has come */
    assert_int_equal(reply.status, 200);
    let_go(MORE - 1, MORE, 0);
    let_go(0, 1, 0);
    client_open(&late, place.port);
    assert_int_equal(client_ask(&late, &reply, "GET", "/readyz", NULL), 200);
    client_close(&late);
}

static int make(void **state) {
    (void)state;
    place_make(&place);
    return 0;
}

static int clear(void **state) {
    (void)state;
    place_clear(&place);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_idle, make, clear),
        cmocka_unit_test_setup_teardown(test_few_files, make, clear),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
