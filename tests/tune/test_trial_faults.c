/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that misbehave: each is recorded as what it was, the next trial goes on, and no process is left. */
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
#include "trial/trial_slot.h"

enum { GUARD = 1 }; /* the one process that a runner has while no program runs */

/* ---- Programs that end --------------------------------------------------------------------------------------- */

static void crashes(void **state) {
    (void)state;
    static const struct {
        const char *how, *words;
        int32_t failure, status;
    } cases[] = {{"segv", "ended by SIGSEGV", KERF_TUNE_FAILURE_CRASH, SIGSEGV},
                 {"kill", "ended by SIGKILL, from outside", KERF_TUNE_FAILURE_CRASH, SIGKILL},
                 {"cuda", "CUDA out of memory", KERF_TUNE_FAILURE_MEMORY, 3 << 8},
                 {"status", "ended with status 3: cannot do this", KERF_TUNE_FAILURE_CRASH, 3 << 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int lines = 0; lines < 2; lines++) { /* the sample that was printed before is not its result */
            struct kerf_trial_command command =
                command_of(lines ? "lines" : "exit", "crashes_sometimes", cases[i].how, "{n}");
            struct kerf_trial_runner *runner = runner_of(&command);
            struct kerf_trial_result result = trial_of(runner, setting_of(4), 0);
            is_failed(&result, cases[i].failure, cases[i].words);
            assert_int_equal(result.status, cases[i].status);
            assert_int_equal(processes(), GUARD);
            result = trial_of(runner, setting_of(1), 0);
            is_value(&result, lines ? 0.25 : 1e-6, lines ? 0.25 : 600);
            assert_int_equal(result.status, 0);
            assert_true(result.cpu_s >= 0 && result.peak_bytes > 0);
            assert_int_equal(kerf_trial_loads(runner), 2);
            free_and_check(runner);
        }
    }
}

static void hangs(void **state) {
    (void)state;
    struct kerf_trial_command command = command_of("exit", "hangs", "0", NULL);
    command.trial_timeout_s = 0.3;
    struct kerf_trial_runner *runner = runner_of(&command);
    for (int i = 0; i < 2; i++) {
        struct kerf_trial_result result = trial_of(runner, 0, 0);
        is_failed(&result, KERF_TUNE_FAILURE_HANG, "no end within 0.3 s");
        assert_int_equal(result.status, SIGTERM);
        assert_int_equal(processes(), GUARD);
    }
    kerf_trial_timeout(runner, 0.2);
    struct kerf_trial_result result = trial_of(runner, 0, 0);
    is_failed(&result, KERF_TUNE_FAILURE_HANG, "no end within 0.2 s");
    result = trial_of(runner, 0, 0.1);
    is_censored(&result, 0.1);
    free_and_check(runner);
}

/* The load and what comes after it have time-outs of their own. */
static void hangs_in_load(void **state) {
    (void)state;
    struct kerf_trial_command command = command_of("lines", "hangs", "{n}", NULL);
    command.words = (const char *const[]){command.words[0], "0", "{setting}"};
    command.num_words = 3;
    command.load_timeout_s = 0.3;
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, 0, 0);
    is_failed(&result, KERF_TUNE_FAILURE_LOAD, "no sample within 0.3 s");
    free_and_check(runner);
    command.words = (const char *const[]){command.words[0], "2", "{setting}"};
    command.load_timeout_s = 60;
    command.trial_timeout_s = 0.3;
    runner = runner_of(&command);
    result = trial_of(runner, 0, 0);
    is_failed(&result, KERF_TUNE_FAILURE_HANG, "no end within 0.3 s");
    result = trial_of(runner, 0, 0.001); /* the mean so far is above the limit */
    is_censored(&result, 0.001);
    free_and_check(runner);
}

static void loads_slowly(void **state) {
    (void)state;
    struct kerf_trial_command command = command_of("lines", "loads_slowly", "200", "5");
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, 0, 1.9); /* the load, ten chunks, is no part of the samples */
    is_value(&result, 0.2, 0.2 + 1e-9);
    assert_true(result.load_s >= 1.99 && result.wall_s >= 2.99);
    free_and_check(runner);
    command = command_of("lines", "loads_slowly", "20", "1000000000");
    runner = runner_of(&command);
    result = trial_of(runner, 0, 0.01);
    is_censored(&result, 0.01);
    free_and_check(runner);
}

static void eats_memory(void **state) {
    (void)state;
    struct kerf_trial_command command = command_of("exit", "eats_memory", "{n}00", NULL);
    command.memory_cap_bytes = (int64_t)256 << 20;
    struct kerf_trial_runner *runner = runner_of(&command);
    int is_group = strcmp(kerf_trial_memory_cap(runner), "cgroup") == 0;
    if (!is_group) assert_string_equal(kerf_trial_memory_cap(runner), "RLIMIT_AS");
    struct kerf_trial_result result = trial_of(runner, setting_of(4), 0);
    is_failed(&result, KERF_TUNE_FAILURE_MEMORY,
              is_group ? "its memory reached the cap" : "failed to allocate 419430400");
    result = trial_of(runner, setting_of(1), 0);
    is_value(&result, 1e-6, 600);
    assert_true(result.peak_bytes >= 100 << 20);
    free_and_check(runner);
    command.memory_cap_bytes = 0;
    command.objective = KERF_TRIAL_MEMORY;
    runner = runner_of(&command);
    assert_string_equal(kerf_trial_memory_cap(runner), "");
    result = trial_of(runner, setting_of(1), 0);
    is_value(&result, 100 << 20, 150 << 20);
    result = trial_of(runner, setting_of(2), 0);
    is_value(&result, 200 << 20, 250 << 20);
    free_and_check(runner);
}

/* The kernel says why it killed a program: in the cgroup of the trial, or for the whole machine. */
static void killed_for_memory(void **state) {
    (void)state;
    char root[] = "/tmp/kerf-test-trial-XXXXXX", line[900];
    assert_non_null(mkdtemp(root));
    snprintf(line, sizeof line,
             "cd %s && mkdir -p proc/self sys/fs/cgroup/kerf.%d.0 && echo 0::/ > proc/self/cgroup &&"
             " echo oom_kill 3 > proc/vmstat && cd sys/fs/cgroup && : > cgroup.controllers && cd kerf* &&"
             " : > memory.max && : > cgroup.procs && echo 4096000 > memory.peak",
             root, (int)getpid());
    assert_int_equal(system(line), 0);
    for (int is_group = 0; is_group < 2; is_group++) {
        if (is_group)
            snprintf(line, sizeof line, "echo oom_kill 1 > %s/sys/fs/cgroup/kerf.%d.0/memory.events; kill -9 $$", root,
                     (int)getpid());
        else
            snprintf(line, sizeof line, "echo oom_kill 4 > %s/proc/vmstat; kill -9 $$", root);
        struct kerf_trial_command command = {.words = (const char *const[]){"sh", "-c", line, "{setting}"},
                                             .num_words = 4};
        command.memory_cap_bytes = is_group ? 65536000 : 0;
        struct kerf_trial_runner *runner = runner_of(&command);
        runner->root = root;
        struct kerf_trial_result result = trial_of(runner, 0, 0);
        is_failed(&result, KERF_TUNE_FAILURE_MEMORY,
                  is_group ? "ended by SIGKILL: its memory reached the cap" : "the kernel had no memory left");
        if (is_group) assert_int_equal(result.peak_bytes, 4096000);
        free_and_check(runner);
    }
    snprintf(line, sizeof line, "grep -q 65536000 %s/sys/fs/cgroup/kerf*/memory.max && rm -r %s", root, root);
    assert_int_equal(system(line), 0);
}

/* ---- Programs that do not end --------------------------------------------------------------------------------- */

static void leaves_grandchild(void **state) {
    (void)state;
    static const char *const ways[] = {NULL, "session"};
    for (size_t i = 0; i < 2; i++) {
        struct kerf_trial_command command = command_of("exit", "leaves_grandchild", ways[i], NULL);
        command.objective = KERF_TRIAL_CPU;
        struct kerf_trial_runner *runner = runner_of(&command);
        for (int k = 0; k < 3; k++) {
            struct kerf_trial_result result = trial_of(runner, 0, 0);
            is_value(&result, 1e-6, 600);
            assert_int_equal(processes(), GUARD);
        }
        free_and_check(runner);
    }
    struct kerf_trial_command command = command_of("lines", "leaves_grandchild", "unmarked", NULL);
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, 0, 0);
    is_value(&result, 0.5, 0.5);
    free_and_check(runner); /* what nothing tells whose it is ends with the runner */
}

/* Its line says that it ignores the signal from now on, and is above the limit. */
static void ignores_sigterm(void **state) {
    (void)state;
    struct kerf_trial_command command = command_of("lines", "ignores_sigterm", NULL, NULL);
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, 0, 0.001);
    is_censored(&result, 0.001);
    assert_int_equal(result.status, SIGKILL);
    assert_int_equal(processes(), GUARD);
    free_and_check(runner);
}

static void closes_stdout(void **state) {
    (void)state;
    struct kerf_trial_command command = command_of("lines", "closes_stdout", NULL, NULL);
    command.load_timeout_s = 0.3;
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, 0, 0);
    is_failed(&result, KERF_TUNE_FAILURE_LOAD, "no sample within 0.3 s");
    free_and_check(runner);
    command = command_of("worker", "closes_stdout", "worker", NULL);
    runner = runner_of(&command);
    for (int i = 0; i < 2; i++) {
        result = trial_of(runner, 0, 0);
        is_failed(&result, KERF_TUNE_FAILURE_OUTPUT, "closed its output");
    }
    assert_int_equal(kerf_trial_loads(runner), 2);
    free_and_check(runner);
}

static void prints_noise(void **state) {
    (void)state;
    static const struct {
        const char *protocol, *pattern;
        int32_t objective;
    } cases[] = {{"lines", NULL, KERF_TRIAL_WALL},
                 {"lines", "took ([0-9.]+) s", KERF_TRIAL_REGEX},
                 {"exit", "took ([0-9.]+) s", KERF_TRIAL_REGEX}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kerf_trial_command command = command_of(cases[i].protocol, "prints_noise", NULL, NULL);
        command.objective = cases[i].objective;
        command.pattern = cases[i].pattern;
        struct kerf_trial_runner *runner = runner_of(&command);
        struct kerf_trial_result result = trial_of(runner, 0, 0);
        is_value(&result, 0.125, 0.125);
        free_and_check(runner);
    }
    struct kerf_trial_command command = command_of("worker", "prints_noise", NULL, NULL);
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, 0, 0);
    is_failed(&result, KERF_TUNE_FAILURE_CRASH, "ended with status 0 before it was ready");
    free_and_check(runner);
}

/* ---- Workers -------------------------------------------------------------------------------------------------- */

static void bad_workers(void **state) {
    (void)state;
    static const struct {
        const char *how, *words;
        int32_t failure, loads;
    } cases[] = {{"dies", "ended with status 0 before it answered", KERF_TUNE_FAILURE_CRASH, 2},
                 {"killed", "ended by SIGKILL, from outside", KERF_TUNE_FAILURE_CRASH, 2},
                 {"partial", "ended by SIGSEGV before it answered", KERF_TUNE_FAILURE_CRASH, 2},
                 {"child", "ended with status 4", KERF_TUNE_FAILURE_CRASH, 2},
                 {"hangs", "no answer within 0.3 s", KERF_TUNE_FAILURE_HANG, 2},
                 {"wrong-id", "no answer within 0.3 s", KERF_TUNE_FAILURE_HANG, 2},
                 {"memory", "CUDA out of memory", KERF_TUNE_FAILURE_MEMORY, 1},
                 {"error", "no such kernel", KERF_TUNE_FAILURE_CRASH, 1},
                 {"text", "value is not a number", KERF_TUNE_FAILURE_OUTPUT, 1},
                 {"neither", "neither value, censored nor error", KERF_TUNE_FAILURE_OUTPUT, 1},
                 {"negative", "-1 is not a time", KERF_TUNE_FAILURE_OUTPUT, 1},
                 {"nan", "the worker's answer is not JSON (NaN", KERF_TUNE_FAILURE_OUTPUT, 1},
                 {"censored", "answered censored, but was given no limit_s", KERF_TUNE_FAILURE_OUTPUT, 1},
                 {"negative-time", "start_s and end_s are not two times", KERF_TUNE_FAILURE_OUTPUT, 1},
                 {"stopped", "no answer within 0.3 s", KERF_TUNE_FAILURE_HANG, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kerf_trial_command command = command_of("worker", "misbehaving_worker", cases[i].how, NULL);
        struct kerf_trial_runner *runner = runner_of(&command);
        struct kerf_trial_result result = trial_of(runner, setting_of(2), 0);
        is_value(&result, 0.02, 0.02);
        kerf_trial_timeout(runner, cases[i].failure == KERF_TUNE_FAILURE_HANG ? 0.3 : 0); /* the others answer */
        result = trial_of(runner, setting_of(3), 0);
        is_failed(&result, cases[i].failure, cases[i].words);
        assert_int_equal(processes(), cases[i].loads == 1 ? GUARD + 1 : GUARD);
        kerf_trial_timeout(runner, 0);
        result = trial_of(runner, setting_of(4), 0);
        is_value(&result, 0.04, 0.04);
        assert_true((result.load_s > 0) == (cases[i].loads == 2));
        assert_int_equal(kerf_trial_loads(runner), cases[i].loads);
        free_and_check(runner);
    }
}

static void odd_workers(void **state) {
    (void)state;
    static const char *const ways[] = {"twice", "clock", "dies-after", "huge"};
    for (size_t i = 0; i < 4; i++) {
        struct kerf_trial_command command = command_of("worker", "misbehaving_worker", ways[i], NULL);
        struct kerf_trial_runner *runner = runner_of(&command);
        struct kerf_trial_result result = trial_of(runner, setting_of(3), 0);
        is_value(&result, 0.03, 0.03);
        if (i == 1) assert_true(result.observation.start_s == 1000 && result.observation.end_s == 1000.5);
        result = trial_of(runner, setting_of(4), 0); /* the second answer was to the first question */
        is_value(&result, 0.04, 0.04);
        result = trial_of(runner, setting_of(4), 0.035);
        is_censored(&result, 0.035);
        free_and_check(runner);
    }
}

static void workers_in_load(void **state) {
    (void)state;
    struct kerf_trial_command command = command_of("worker", "misbehaving_worker", "hangs-in-load", NULL);
    command.load_timeout_s = 0.3;
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, 0, 0);
    is_failed(&result, KERF_TUNE_FAILURE_LOAD, "not ready within 0.3 s");
    assert_true(result.is_of_no_setting);
    free_and_check(runner);
    command = command_of("worker", "misbehaving_worker", "hangs-in-load", "{n}");
    command.load_timeout_s = 0.3;
    runner = runner_of(&command);
    result = trial_of(runner, 0, 0);
    is_failed(&result, KERF_TUNE_FAILURE_LOAD, "not ready within 0.3 s");
    assert_false(result.is_of_no_setting); /* its words depend on one */
    free_and_check(runner);
    command = command_of("worker", "misbehaving_worker", "dies-in-load", NULL);
    runner = runner_of(&command);
    for (int i = 0; i < 2; i++) {
        result = trial_of(runner, 0, 0);
        is_failed(&result, KERF_TUNE_FAILURE_CRASH, "ended with status 2 before it was ready: no model.gguf here");
        assert_true(result.is_of_no_setting);
    }
    free_and_check(runner);
}

struct told {
    int32_t times;
    char line[300];
};

static void tell(void *context, const char *line) {
    struct told *told = context;
    told->times++;
    snprintf(told->line, sizeof told->line, "%s", line);
}

/* The person is told what is waited for, once, and before the time-out. */
static void silent_worker(void **state) {
    (void)state;
    struct told told = {0};
    struct kerf_trial_command command = command_of("worker", "misbehaving_worker", "hangs-in-load", NULL);
    command.load_timeout_s = 0.2;
    command.silence_s = 0.1;
    command.warn = tell;
    command.warn_context = &told;
    struct kerf_trial_runner *runner = runner_of(&command);
    for (int i = 0; i < 2; i++) {
        struct kerf_trial_result result = trial_of(runner, 0, 0);
        is_failed(&result, KERF_TUNE_FAILURE_LOAD, "not ready within 0.2 s");
        assert_int_equal(told.times, 1);
    }
    assert_string_equal(told.line,
                        "the worker is not ready after 0.1 s: kerf waits for the line {\"ready\":true} on its "
                        "standard output, for 0.2 s in all (--load-timeout)");
    free_and_check(runner);
    command = command_of("worker", "misbehaving_worker", "", NULL); /* it is asked at once, and nothing is told */
    command.warn = tell;
    command.warn_context = &told;
    runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, setting_of(1), 0);
    is_value(&result, 0.01, 0.01);
    assert_int_equal(told.times, 1);
    free_and_check(runner);
}

/* A worker that ends, or that somebody kills, while it is idle costs a load, and no observation. */
static void killed_while_idle(void **state) {
    (void)state;
    struct kerf_trial_command command = command_of("worker", "misbehaving_worker", "", NULL);
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, setting_of(1), 0);
    is_value(&result, 0.01, 0.01);
    struct descendants all = {0};
    descendants_read(&all);
    for (size_t i = 0; i < all.count; i++) {
        siginfo_t info;
        char name[64] = "", path[64];
        snprintf(path, sizeof path, "/proc/%d/comm", (int)all.list[i].pid);
        FILE *file = fopen(path, "r");
        assert_true(file && fgets(name, sizeof name, file));
        fclose(file);
        if (strncmp(name, "misbehaving", 11) != 0) continue;
        kill(all.list[i].pid, SIGKILL);
        assert_int_equal(waitid(P_PID, (id_t)all.list[i].pid, &info, WEXITED | WNOWAIT), 0);
    }
    descendants_free(&all);
    result = trial_of(runner, setting_of(2), 0);
    is_value(&result, 0.02, 0.02);
    assert_int_equal(kerf_trial_loads(runner), 2);
    free_and_check(runner);
}

/* ---- kerf itself ---------------------------------------------------------------------------------------------- */

/* A process with a runner is killed while its trial, a shell with a program below, runs: all of it ends. */
static void killed_kerf(void **state) {
    (void)state;
    int ends[2];
    pid_t trial = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t kerf = fork();
    if (kerf == 0) {
        struct kerf_trial_command command = command_of("exit", "spins", NULL, NULL);
        char line[700];
        snprintf(line, sizeof line, "%s & echo $! >&2; wait # {setting}", command.words[0]);
        command.words = (const char *const[]){"sh", "-c", line};
        command.num_words = 3;
        command.show_output = 1;
        dup2(ends[1], STDERR_FILENO);
        struct kerf_trial_runner *runner = runner_of(&command);
        trial_of(runner, 0, 0);
        _exit(0);
    }
    close(ends[1]);
    FILE *told = fdopen(ends[0], "r");
    assert_true(told && fscanf(told, "%d", &trial) == 1 && trial > 0);
    assert_int_equal(kill(trial, 0), 0);
    assert_int_equal(kill(kerf, SIGKILL), 0);
    assert_int_equal(waitpid(kerf, NULL, 0), kerf);
    int left = 1;
    for (int i = 0; i < 3000 && left; i++) { /* its new parent may take a while to reap it */
        char path[64], name[64] = "";
        snprintf(path, sizeof path, "/proc/%d/cmdline", (int)trial);
        FILE *file = fopen(path, "r");
        left = file && fgets(name, sizeof name, file);
        if (file) fclose(file);
        usleep(10000);
    }
    assert_false(left);
    fclose(told);
}

static void interrupted(void **state) {
    (void)state;
    char path[] = "/tmp/kerf-test-trial-XXXXXX", cleanup[64];
    int wake[2] = {-1, -1}, file = mkstemp(path);
    assert_true(file >= 0 && pipe(wake) == 0 && write(wake[1], "x", 1) == 1);
    close(file);
    snprintf(cleanup, sizeof cleanup, "rm %s", path);
    struct kerf_trial_command command = command_of("exit", "ignores_sigterm", NULL, NULL);
    command.cleanup = cleanup;
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result;
    struct kerf_error err = {0};
    int32_t ended = 7;
    assert_int_equal(kerf_trial_wait(runner, -1, -1, &result, &ended, &err), KERF_EINVALID);
    assert_int_equal(kerf_trial_start(runner, 0, 1, 0, 0, &err), KERF_OK);
    assert_int_equal(kerf_trial_start(runner, 0, 2, 0, 0, &err), KERF_EINVALID);
    assert_int_equal(kerf_trial_wait(runner, 0.05, -1, &result, &ended, &err), KERF_OK);
    assert_int_equal(ended, 0);
    assert_int_equal(kerf_trial_wait(runner, -1, wake[0], &result, &ended, &err), KERF_EINTERRUPTED);
    assert_int_equal(access(path, F_OK), 0);
    free_and_check(runner);
    assert_int_not_equal(access(path, F_OK), 0);
    close(wake[0]);
    close(wake[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crashes),           cmocka_unit_test(hangs),           cmocka_unit_test(hangs_in_load),
        cmocka_unit_test(loads_slowly),      cmocka_unit_test(eats_memory),     cmocka_unit_test(killed_for_memory),
        cmocka_unit_test(leaves_grandchild), cmocka_unit_test(ignores_sigterm), cmocka_unit_test(closes_stdout),
        cmocka_unit_test(prints_noise),      cmocka_unit_test(bad_workers),     cmocka_unit_test(odd_workers),
        cmocka_unit_test(workers_in_load),   cmocka_unit_test(silent_worker),   cmocka_unit_test(killed_while_idle),
        cmocka_unit_test(killed_kerf),       cmocka_unit_test(interrupted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
