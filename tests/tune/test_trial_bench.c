/* SPDX-License-Identifier: Apache-2.0 */
/* Servers and their clients: when a server starts anew, when it is ready, what counts, and what becomes of both when one
 * of them fails. They are shell scripts: servers note in $LOG.server what they do, and clients in $LOG. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trial_runs.h"

static char folder[] = "/tmp/kerf-test-bench-XXXXXX";
static char log_path[64], server_log_path[72];

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(server_log_path, sizeof server_log_path, "%s.server", log_path);
    return setenv("LOG", log_path, 1);
}
static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}
static int forget(void **state) {
    (void)state;
    unlink(log_path);
    unlink(server_log_path);
    return 0;
}

/* What was noted, a word a line, joined by blanks. */
static void noted(const char *path, const char *expected) {
    char text[1024];
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\n') text[i] = ' ';
    text[length > 0 ? length - 1 : 0] = 0;
    assert_string_equal(text, expected);
}

/* Words that live until the next call. */
static struct kerf_trial_command command_with(const char *server, const char *client) {
    static const char *words[7];
    words[0] = words[4] = "sh";
    words[1] = words[5] = "-c";
    words[2] = server;
    words[3] = "--";
    words[6] = client;
    return (struct kerf_trial_command){.words = words,
                                       .num_words = 7,
                                       .protocol = "bench",
                                       .objective = KERF_TRIAL_JSON,
                                       .pattern = "x",
                                       .grace_s = 0.3};
}

#define STAYS        "echo start >>$LOG.server; exec sleep 1000"
#define STAYS_WITH_N "echo start{n} >>$LOG.server; exec sleep 1000"
#define NOTES        "echo ${{KERF_WARMUP:+warm}client{n}{fast} >>$LOG; "
#define TELLS_N      "echo '{{\"x\":{n},\"y\":7}'"

/* ---- When it starts, and what counts -------------------------------------------------------------------------- */

static void a_client_changes_live(void **state) {
    (void)state;
    struct kerf_trial_command command = command_with(STAYS, NOTES TELLS_N);
    struct kerf_trial_runner *runner = runner_of(&command);
    for (int n = 1; n <= 3; n++) {
        struct kerf_trial_result result = trial_of(runner, setting_of(n), 0);
        is_value(&result, n, n);
        assert_true((result.load_s > 0) == (n == 1));
    }
    assert_int_equal(kerf_trial_loads(runner), 1);
    free_and_check(runner);
    noted(server_log_path, "start");
    noted(log_path, "warmclient1 client1 client2 client3");
}

static void other_words_start_it_anew(void **state) {
    (void)state;
    struct kerf_trial_command command = command_with(STAYS_WITH_N, NOTES TELLS_N);
    struct kerf_trial_runner *runner = runner_of(&command);
    static const int order[] = {1, 1, 2, 1};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct kerf_trial_result result = trial_of(runner, setting_of(order[i]), 0);
        is_value(&result, order[i], order[i]);
    }
    assert_int_equal(kerf_trial_loads(runner), 3);
    free_and_check(runner);
    noted(server_log_path, "start1 start2 start1");
    noted(log_path, "warmclient1 client1 client1 warmclient2 client2 warmclient1 client1");
}

/* What the server prints, and what the client prints while it warms up, is not what the client measures. */
static void the_clients_numbers_count(void **state) {
    (void)state;
    struct kerf_trial_command command =
        command_with("echo '{{\"x\":99}'; exec sleep 1000 # {fast}",
                     "test \"$KERF_WARMUP\" && echo '{{\"x\":98}' && exit; echo '{{\"x\":{n},\"y\":7}'; echo t=5");
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, setting_of(2), 0);
    is_value(&result, 2, 2);
    free_and_check(runner);
    command.objective = KERF_TRIAL_REGEX;
    command.pattern = "t=([0-9]+)";
    runner = runner_of(&command);
    assert_int_equal(kerf_trial_runner_limit(runner, "y <= 6", NULL), KERF_OK);
    result = trial_of(runner, setting_of(2), 0);
    is_failed(&result, KERF_TUNE_FAILURE_LIMIT, "y is 7, above 6");
    result = trial_of(runner, setting_of(3), 0);
    is_failed(&result, KERF_TUNE_FAILURE_LIMIT, "y is 7, above 6");
    assert_int_equal(kerf_trial_loads(runner), 1); /* it ran well: the server may stay */
    free_and_check(runner);
    command.objective = KERF_TRIAL_WALL;
    runner = runner_of(&command);
    result = trial_of(runner, setting_of(2), 0);
    assert_int_equal(result.observation.outcome, KERF_TUNE_VALUE);
    assert_true(result.observation.value == result.wall_s);
    free_and_check(runner);
}

/* Processor time is the server's: here none, however much the client uses. */
static void processor_time_is_the_servers(void **state) {
    (void)state;
    struct kerf_trial_command command =
        command_with("echo $$ >$LOG.server; exec sleep 1000", /* which is ready when it sleeps */
                     "if test \"$KERF_WARMUP\"; then grep -q '(sleep) S' /proc/$(cat $LOG.server)/stat; exit; fi; i=0; "
                     "while [ $i -lt 30000 ]; do i=$((i+1)); done # {setting}");
    command.objective = KERF_TRIAL_WALL;
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, setting_of(1), 0);
    assert_int_equal(result.observation.outcome, KERF_TUNE_VALUE);
    assert_true(result.cpu_s == 0);
    free_and_check(runner);
}

static void both_get_one_free_port(void **state) {
    (void)state;
    struct kerf_trial_command command =
        command_with("echo {port} >>$LOG; exec sleep 1000",
                     "test {port} = $(cat $LOG) && test {port} -gt 1023 && " TELLS_N " # {fast}");
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, setting_of(4), 0);
    is_value(&result, 4, 4);
    free_and_check(runner);
    struct kerf_text text = {0};
    kerf_trial_command_write(&n_space, &command, 0, &text);
    assert_non_null(strstr(text.data, "{port}")); /* none is chosen before it runs */
    kerf_text_free(&text);
}

/* ---- When it is ready ------------------------------------------------------------------------------------------ */

static void it_is_ready_when_the_client_succeeds(void **state) {
    (void)state;
    struct kerf_trial_command command = command_with(STAYS, NOTES "test $(wc -l <$LOG) -ge 3 || exit 9; " TELLS_N);
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, setting_of(1), 0);
    is_value(&result, 1, 1);
    free_and_check(runner);
    noted(server_log_path, "start");
    noted(log_path, "warmclient1 warmclient1 warmclient1 client1");
}

static void it_is_never_ready(void **state) {
    (void)state;
    static const struct {
        const char *client, *words;
    } cases[] = {
        {"echo refused >&2; exit 1 # {setting}", "the server is not ready within 0.3 s: its client says refused"},
        {"exec sleep 1000 # {setting}", "the server is not ready within 0.3 s: its client says nothing"},
        {"trap '' TERM; sleep 1000; sleep 1000 # {setting}", "not ready within 0.3 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_trial_command command = command_with(STAYS, cases[i].client);
        command.load_timeout_s = 0.3;
        struct kerf_trial_runner *runner = runner_of(&command);
        struct kerf_trial_result result = trial_of(runner, setting_of(1), 0);
        is_failed(&result, KERF_TUNE_FAILURE_LOAD, cases[i].words);
        free_and_check(runner);
    }
}

/* ---- What fails ------------------------------------------------------------------------------------------------ */

static void a_server_that_ends(void **state) {
    (void)state;
    static const struct {
        const char *server, *client, *words;
        int32_t failure;
    } cases[] = {
        {"echo boom >&2; exit 3", "exit 1 # {setting}", "ended with status 3 before it was ready: boom",
         KERF_TUNE_FAILURE_CRASH},
        {"exit 0", "exit 1 # {setting}", "ended with status 0 before it was ready", KERF_TUNE_FAILURE_CRASH},
        {"echo 'CUDA out of memory' >&2; exit 1", "exit 1 # {setting}", "CUDA out of memory", KERF_TUNE_FAILURE_MEMORY},
        {"echo $$ >$LOG; exec sleep 1000",
         "if test \"$KERF_WARMUP\"; then test -s $LOG; exit; fi; kill $(cat $LOG); exec sleep 1000 # {setting}",
         "ended by SIGTERM while it was measured", KERF_TUNE_FAILURE_CRASH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_trial_command command = command_with(cases[i].server, cases[i].client);
        struct kerf_trial_runner *runner = runner_of(&command);
        struct kerf_trial_result result = trial_of(runner, setting_of(1), 0);
        is_failed(&result, cases[i].failure, cases[i].words);
        free_and_check(runner);
    }
}

static void a_client_that_fails(void **state) {
    (void)state;
    static const struct {
        const char *client, *words;
        int32_t failure;
    } cases[] = {
        {"echo 500 >&2; exit 4", "the client ended with status 4: 500", KERF_TUNE_FAILURE_OTHER},
        {"kill -9 $$", "the client ended by SIGKILL", KERF_TUNE_FAILURE_OTHER},
        {"echo fine", "no line of its output begins a JSON object or array", KERF_TUNE_FAILURE_OUTPUT},
        {"echo '{{\"x\":\"fast\"}'", "x is", KERF_TUNE_FAILURE_OUTPUT},
        {"exec sleep 1000", "no end within 0.2 s", KERF_TUNE_FAILURE_HANG},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char client[256];
        snprintf(client, sizeof client, "test \"$KERF_WARMUP\" && exit; %s # {setting}", cases[i].client);
        struct kerf_trial_command command = command_with(STAYS, client);
        command.trial_timeout_s = 0.2;
        struct kerf_trial_runner *runner = runner_of(&command);
        for (int k = 1; k <= 2; k++) { /* a server that may still be busy with the failed one is replaced */
            struct kerf_trial_result result = trial_of(runner, setting_of(1), 0);
            if (cases[i].failure != KERF_TUNE_FAILURE_HANG && result.observation.failure == KERF_TUNE_FAILURE_HANG)
                continue; /* this machine is slow */
            is_failed(&result, cases[i].failure, cases[i].words);
            assert_int_equal(kerf_trial_loads(runner), k);
        }
        free_and_check(runner);
    }
}

static void a_client_that_takes_too_long_is_cut(void **state) {
    (void)state;
    struct kerf_trial_command command =
        command_with(STAYS, "test \"$KERF_WARMUP\" && exit; test {n} = 2 && exec sleep 1000; true # {setting}");
    command.objective = KERF_TRIAL_WALL;
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, setting_of(2), 0.1);
    is_censored(&result, 0.1);
    result = trial_of(runner, setting_of(1), 0);
    assert_int_equal(result.observation.outcome, KERF_TUNE_VALUE);
    assert_int_equal(kerf_trial_loads(runner), 2);
    free_and_check(runner);
}

static void commands_that_cannot_be_meant(void **state) {
    (void)state;
    struct kerf_trial_command command = command_with("{setting}", "true");
    struct kerf_trial_runner *runner = NULL;
    struct kerf_error err;
    static const char *const alone[] = {"sleep", "{setting}"}, *const no_client[] = {"sleep", "{setting}", "--"};
    static const char *const no_program[] = {"sleep", "{setting}", "--", "/no/such/program"};
    static const char *const unused[] = {"sleep", "{n}", "--", "true"};
    const struct {
        const char *const *words;
        int32_t count, code;
        const char *part;
    } cases[] = {{alone, 2, KERF_EINVALID, "needs two commands with -- between them"},
                 {no_client, 3, KERF_EINVALID, "needs two commands with -- between them"},
                 {no_program, 4, KERF_EIO, "/no/such/program cannot be run"},
                 {unused, 4, KERF_EINVALID, "does not use the parameter fast"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        command.words = cases[i].words;
        command.num_words = cases[i].count;
        assert_int_equal(kerf_trial_runner_create(&n_space, &command, &runner, &err), cases[i].code);
        assert_non_null(strstr(err.message, cases[i].part));
    }
    command = command_with("{setting}", "true");
    command.launcher = "srun";
    assert_int_equal(kerf_trial_runner_create(&n_space, &command, &runner, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "takes no launcher"));
    assert_int_equal(processes(), 0);
}

/* ---- The end --------------------------------------------------------------------------------------------------- */

static void interrupted(void **state) {
    (void)state;
    static const char *const clients[] = {"exec sleep 1000 # {setting}",
                                          "test \"$KERF_WARMUP\" && exit; exec sleep 1000 # {setting}"};
    for (int i = 0; i < 2; i++) { /* while the server loads, and while it is measured */
        int wake[2];
        struct kerf_trial_command command = command_with("sleep 1000 & sleep 1000", clients[i]);
        struct kerf_trial_runner *runner = runner_of(&command);
        struct kerf_trial_result result;
        struct kerf_error err;
        int32_t ended;
        assert_int_equal(pipe(wake), 0);
        assert_int_equal(kerf_trial_start(runner, 0, 1, 0, 0, &err), KERF_OK);
        assert_int_equal(kerf_trial_wait(runner, 0.1, wake[0], &result, &ended, &err), KERF_OK);
        assert_int_equal(write(wake[1], "x", 1), 1);
        assert_int_equal(kerf_trial_wait(runner, -1, wake[0], &result, &ended, &err), KERF_EINTERRUPTED);
        free_and_check(runner);
        close(wake[0]);
        close(wake[1]);
    }
}

static int is_gone(pid_t pid) {
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "r");
    int is_there = file && fgets(name, sizeof name, file);
    if (file) fclose(file);
    return !is_there;
}

/* kerf is killed while a client measures: neither the server nor the client is left, nor what is below them. */
static void killed_kerf(void **state) {
    (void)state;
    int ends[2];
    pid_t pids[2] = {0, 0};
    assert_int_equal(pipe(ends), 0);
    pid_t kerf = fork();
    if (kerf == 0) {
        struct kerf_trial_command command =
            command_with("sleep 1000 & echo $! >&2; wait",
                         "test \"$KERF_WARMUP\" && exit; sleep 1000 & echo $! >&2; wait # {setting}");
        command.show_output = 1;
        dup2(ends[1], STDERR_FILENO);
        trial_of(runner_of(&command), 0, 0);
        _exit(0);
    }
    close(ends[1]);
    FILE *told = fdopen(ends[0], "r");
    assert_true(told && fscanf(told, "%d %d", &pids[0], &pids[1]) == 2);
    assert_int_equal(kill(kerf, SIGKILL), 0);
    assert_int_equal(waitpid(kerf, NULL, 0), kerf);
    int left = 1;
    for (int i = 0; i < 3000 && left; i++) { /* their new parent may take a while to reap them */
        left = !is_gone(pids[0]) || !is_gone(pids[1]);
        if (left) usleep(10000);
    }
    assert_false(left);
    fclose(told);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_client_changes_live, forget),
        cmocka_unit_test_teardown(other_words_start_it_anew, forget),
        cmocka_unit_test_teardown(the_clients_numbers_count, forget),
        cmocka_unit_test_teardown(processor_time_is_the_servers, forget),
        cmocka_unit_test_teardown(both_get_one_free_port, forget),
        cmocka_unit_test_teardown(it_is_ready_when_the_client_succeeds, forget),
        cmocka_unit_test_teardown(it_is_never_ready, forget),
        cmocka_unit_test_teardown(a_server_that_ends, forget),
        cmocka_unit_test_teardown(a_client_that_fails, forget),
        cmocka_unit_test_teardown(a_client_that_takes_too_long_is_cut, forget),
        cmocka_unit_test_teardown(commands_that_cannot_be_meant, forget),
        cmocka_unit_test_teardown(interrupted, forget),
        cmocka_unit_test_teardown(killed_kerf, forget),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
