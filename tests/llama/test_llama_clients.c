/* SPDX-License-Identifier: Apache-2.0 */
/* kerf-llama-clients against a llama-server that answers as it is told: what is sent and counted, and that nothing that a
 * server may do is taken for a measurement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/kerf_clients_XXXXXX";
static char log_path[64], out_path[64], err_path[64];
static pid_t server;

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(out_path, sizeof out_path, "%s/out", folder);
    snprintf(err_path, sizeof err_path, "%s/err", folder);
    return setenv("FAKE_LOG", log_path, 1);
}

static int stop_server(void **state) {
    (void)state;
    if (server > 0) {
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    server = 0;
    unlink(log_path);
    unlink(out_path);
    unlink(err_path);
    return 0;
}

static int remove_folder(void **state) {
    stop_server(state);
    return rmdir(folder);
}

/* Its port. */
static int start_server(const char *mode) {
    int ends[2], port = 0;
    stop_server(NULL);
    assert_int_equal(pipe(ends), 0);
    server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("FAKE_MODE", mode, 1);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(KERF_FAKE_SERVER, "fake_llama_server", "--port", "0", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *told = fdopen(ends[0], "r");
    assert_true(told && fscanf(told, "%d", &port) == 1 && port > 0);
    fclose(told);
    return port;
}

static void read_file(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    text[length] = 0;
    if (file) fclose(file);
}

/* Its status. before: of the environment, "KERF_WARMUP=1" or "". */
static int run_clients(const char *before, int port, const char *options) {
    char command[1024];
    snprintf(command, sizeof command, "%s '%s' --port %d %s >'%s' 2>'%s'", before, KERF_LLAMA_CLIENTS, port, options,
             out_path, err_path);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void fails(int port, const char *options, int status, const char *words) {
    char text[1024];
    assert_int_equal(run_clients("", port, options), status);
    read_file(out_path, text, sizeof text);
    assert_string_equal(text, ""); /* no number at all */
    read_file(err_path, text, sizeof text);
    if (!strstr(text, words)) fail_msg("'%s' lacks '%s'", text, words);
}

static double number(const json_t *result, const char *key) {
    const json_t *value = json_object_get(result, key);
    if (!json_is_number(value)) fail_msg("it has no %s", key);
    return json_number_value(value);
}

/* ---- What is sent and counted --------------------------------------------------------------------------------- */

static const char eight[] = "--clients 3 --requests 8 --prompts 3,5 --outputs 2,4 --vocab 1000";

static void every_request_is_counted(void **state) {
    (void)state;
    static const char *const modes[] = {"", "trickle", "whole"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char log[1024];
        assert_int_equal(run_clients("", start_server(modes[i]), eight), 0);
        json_t *result = json_load_file(out_path, 0, NULL);
        assert_non_null(result);
        assert_true(number(result, "requests") == 8);
        assert_true(number(result, "prompt_tokens") == 4 * 3 + 4 * 5); /* each length as often as the others */
        assert_true(number(result, "tokens") == 4 * 2 + 4 * 4);
        double elapsed_s = number(result, "elapsed_s");
        assert_true(elapsed_s > 0 && fabs(number(result, "tokens_per_s") * elapsed_s - 24) < 1e-6);
        assert_true(fabs(number(result, "requests_per_s") * elapsed_s - 8) < 1e-6);
        assert_true(number(result, "p50_s") <= number(result, "p95_s") && number(result, "p95_s") <= elapsed_s);
        assert_true(number(result, "ttft_p95_s") <= number(result, "p95_s") && number(result, "ttft_p50_s") > 0);
        assert_true(number(result, "token_p50_s") >= 0);
        json_decref(result);
        read_file(log_path, log, sizeof log);
        int lines = 0;
        for (const char *c = log; *c; c++) lines += *c == '\n';
        assert_int_equal(lines, 8);
    }
}

static void compare_logs(const char *first, const char *second, int are_equal) {
    char logs[2][1024];
    const char *const options[] = {first, second};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_clients("", start_server(""), options[i]), 0);
        read_file(log_path, logs[i], sizeof logs[i]);
    }
    assert_int_equal(strcmp(logs[0], logs[1]) == 0, are_equal);
}

static void a_seed_is_a_load(void **state) {
    (void)state;
    compare_logs("--clients 1 --requests 6 --prompts 3,5,7 --seed 4",
                 "--clients 1 --requests 6 --prompts 3,5,7 --seed 4", 1);
    compare_logs("--clients 1 --requests 6 --prompts 3,5,7 --seed 4",
                 "--clients 1 --requests 6 --prompts 3,5,7 --seed 5", 0);
}

static void one_token_has_nothing_between(void **state) {
    (void)state;
    assert_int_equal(run_clients("", start_server(""), "--outputs 1"), 0);
    json_t *result = json_load_file(out_path, 0, NULL);
    assert_true(number(result, "tokens") == 16);
    assert_null(json_object_get(result, "token_p50_s"));
    json_decref(result);
}

/* ---- Warming up ------------------------------------------------------------------------------------------------ */

static void a_warm_up_asks_for_health_first(void **state) {
    (void)state;
    char text[1024];
    int port = start_server("loading 2");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_clients("KERF_WARMUP=1", port, eight), 3);
        read_file(err_path, text, sizeof text);
        assert_non_null(strstr(text, "/health is answered with 503"));
    }
    read_file(log_path, text, sizeof text);
    assert_string_equal(text, ""); /* nothing was asked of a server that loads */
    assert_int_equal(run_clients("KERF_WARMUP=1", port, eight), 0);
    json_t *result = json_load_file(out_path, 0, NULL);
    assert_true(number(result, "requests") == 3); /* one for each client */
    json_decref(result);
}

/* ---- What a server may do -------------------------------------------------------------------------------------- */

static void no_misbehaviour_is_a_measurement(void **state) {
    (void)state;
    static const struct {
        const char *mode, *words;
    } cases[] = {
        {"unavailable", "request 1: the server answers 503: no slot"},
        {"garbage", "request 1: an event of the server is no JSON object"},
        {"error", "the context is full"},
        {"plain", "the server's answer is not HTTP: 220 mail.example"},
        {"closes", "the server closed the connection before its answer was complete"},
        {"endless", "a line without an end"},
        {"short", "request 1: the server generated 31 tokens of 32"},
        {"silent", "was not answered within 0.2 s"},
        {"deaf", "was not answered within 0.2 s"},
        {"dies", "request"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int is_slow = strstr(cases[i].words, "0.2 s") != NULL; /* else it is the misbehaviour that counts */
        fails(start_server(cases[i].mode), is_slow ? "--timeout 0.2" : "", 3, cases[i].words);
    }
    int port = start_server("");
    stop_server(NULL);
    fails(port, "", 3, "Connection refused");
}

static void options_that_cannot_be_meant(void **state) {
    (void)state;
    fails(1, "--prompts 3,,5", 2, "--prompts '3,,5' must be numbers of tokens such as 64,256");
    fails(1, "--outputs 0", 2, "--outputs '0' must be");
    fails(1, "--prompts 5x", 2, "--prompts '5x' must be");
    fails(1, "word", 2, "takes only options");
    fails(0, "", 2, "port");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_request_is_counted, stop_server),
        cmocka_unit_test_teardown(a_seed_is_a_load, stop_server),
        cmocka_unit_test_teardown(one_token_has_nothing_between, stop_server),
        cmocka_unit_test_teardown(a_warm_up_asks_for_health_first, stop_server),
        cmocka_unit_test_teardown(no_misbehaviour_is_a_measurement, stop_server),
        cmocka_unit_test_teardown(options_that_cannot_be_meant, stop_server),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
