/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that behave: what each protocol and objective takes from them, and what stands around a trial. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "trial_runs.h"
#include "trial/trial_slot.h"

enum { WORDS_MAX = 12 };

static struct kerf_trial_command tells(const char *protocol, const char *const *words, int32_t count) {
    static const char *all[WORDS_MAX];
    static char path[512];
    snprintf(path, sizeof path, "%s/tells", KERF_PROGRAMS);
    all[0] = path;
    for (int32_t i = 0; i < count; i++) all[1 + i] = words[i];
    return (struct kerf_trial_command){.words = all, .num_words = 1 + count, .protocol = protocol, .grace_s = 0.3};
}

#define TELLS(protocol, ...)                                                                                           \
    tells(protocol, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* One trial of a runner of its own. */
static struct kerf_trial_result once(struct kerf_trial_command command, double limit) {
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, setting_of(2), limit);
    free_and_check(runner);
    return result;
}

/* ---- Objectives ---------------------------------------------------------------------------------------------- */

static void from_output(void **state) {
    (void)state;
    static const struct {
        const char *protocol, *pattern, *output[3], *failure;
        int32_t objective;
        double value;
    } cases[] = {
        {"exit", "([0-9.]+) tok/s", {"1.5 tok/s", "2.5 tok/s", "3 tok"}, NULL, KERF_TRIAL_REGEX, 2.5},
        {"exit", "x=(-?[0-9.e]*)", {"x=-1e3", "", ""}, NULL, KERF_TRIAL_REGEX, -1000},
        {"exit",
         "x=(.*)",
         {"x=fast", "", ""},
         "the expression found \"fast\", which is not a number",
         KERF_TRIAL_REGEX,
         0},
        {"exit", "x=(.*)", {"y", "", ""}, "no line of its output matches", KERF_TRIAL_REGEX, 0},
        {"exit", "a.1", {"{\"a\":[1,2]}", "{\"a\":[3,", "4]}"}, NULL, KERF_TRIAL_JSON, 4},
        {"exit", "a", {"a 1", "", ""}, "no line of its output begins a JSON object or array", KERF_TRIAL_JSON, 0},
        {"exit", "a", {"{\"b\":1}", "", ""}, "a is not in its JSON", KERF_TRIAL_JSON, 0},
        {"lines", NULL, {"0.5", "note", "1.5"}, NULL, KERF_TRIAL_WALL, 1},
        {"lines", NULL, {"-0.5", "", "2"}, NULL, KERF_TRIAL_VALUE, 0.75},
        {"lines", NULL, {"0.5", "-1", "2"}, "-1 is not a time", KERF_TRIAL_WALL, 0},
        {"lines", NULL, {"fast", "x", "0.5 s"}, "the last line is \"0.5 s\"", KERF_TRIAL_WALL, 0},
        {"lines", "t=([0-9]+)", {"t=1", "t=3", "8"}, NULL, KERF_TRIAL_REGEX, 2},
        {"lines", NULL, {"0.5", "nan", "1.5"}, "nan is not a finite number", KERF_TRIAL_WALL, 0},
        {"lines", NULL, {"0.5", "1e400", "1.5"}, "1e400 is not a finite number", KERF_TRIAL_VALUE, 0},
        {"lines",
         "t=(.*)",
         {"t=1", "t=nan", "t=3"},
         "the expression found \"nan\", which is not a number",
         KERF_TRIAL_REGEX,
         0},
        {"lines", "t", {"{\"t\":1}", "{\"t\":NaN}", "{}"}, "t is not a number in its JSON", KERF_TRIAL_JSON, 0},
        {"lines", "t", {"{\"t\":1}", "{\"u\":9}", "{\"t\":5}"}, NULL, KERF_TRIAL_JSON, 3},
        {"lines", "t", {"{\"t\":1}", "{\"t\":2,\"t\":3}", ""}, "duplicate object key", KERF_TRIAL_JSON, 0},
        {"llama-bench", NULL, {"{\"avg_ns\":1,\"avg_ns\":2}", "", ""}, "duplicate object key", KERF_TRIAL_WALL, 0},
        {"llama-bench", NULL, {"no", "result", "here"}, "run it with -o jsonl", KERF_TRIAL_WALL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const *output = cases[i].output;
        struct kerf_tune_space space = n_space; /* braces of the output are no placeholders */
        struct kerf_text words[3] = {{0}, {0}, {0}};
        for (int k = 0; k < 3; k++)
            for (const char *c = output[k]; *c; c++) kerf_text_printf(&words[k], *c == '{' ? "{{" : "%c", *c);
        struct kerf_trial_command command =
            TELLS(cases[i].protocol, "echo", words[0].data ? words[0].data : "", words[1].data ? words[1].data : "",
                  words[2].data ? words[2].data : "");
        space.num_params = 0;
        space.num_settings = 1;
        command.objective = cases[i].objective;
        command.pattern = cases[i].pattern;
        struct kerf_trial_runner *runner = NULL;
        assert_int_equal(kerf_trial_runner_create(&space, &command, &runner, NULL), KERF_OK);
        struct kerf_trial_result result = trial_of(runner, 0, 0);
        if (cases[i].failure)
            is_failed(&result, KERF_TUNE_FAILURE_OUTPUT, cases[i].failure);
        else
            is_value(&result, cases[i].value, cases[i].value);
        free_and_check(runner);
        for (int k = 0; k < 3; k++) kerf_text_free(&words[k]);
    }
}

static void limits(void **state) {
    (void)state;
    static const char output[] = "{{\"loss\":2.5,\"all\":[{{\"p99\":7}]}";
    static const struct {
        const char *protocol, *limits[2], *words;
        int32_t failure;
    } cases[] = {
        {"exit", {"loss <= 2.5", "all.0.p99 < 8"}, NULL, KERF_TUNE_FAILURE_NONE},
        {"exit", {"wall <= 600s", "cpu <= 600s"}, NULL, KERF_TUNE_FAILURE_NONE},
        {"exit", {"memory <= 100GB", NULL}, NULL, KERF_TUNE_FAILURE_NONE},
        {"exit", {"memory <= 1kB", NULL}, "memory is ", KERF_TUNE_FAILURE_LIMIT},
        {"exit", {"wall < 1ns", NULL}, "wall is ", KERF_TUNE_FAILURE_LIMIT},
        {"exit", {"loss > 2.5", NULL}, "loss is 2.5, not above 2.5", KERF_TUNE_FAILURE_LIMIT},
        {"exit", {"loss <= 3", "all.0.p99 >= 8"}, "all.0.p99 is 7, below 8", KERF_TUNE_FAILURE_LIMIT},
        {"exit", {"p99 <= 3", NULL}, "p99 is not in its JSON", KERF_TUNE_FAILURE_OUTPUT},
        {"exit", {"all <= 3", NULL}, "all", KERF_TUNE_FAILURE_OUTPUT},
        {"lines", {"loss <= 3", NULL}, NULL, KERF_TUNE_FAILURE_NONE},
        {"lines", {"loss <= 2", NULL}, "loss is 2.5, above 2", KERF_TUNE_FAILURE_LIMIT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kerf_tune_space space = n_space;
        struct kerf_trial_command command = TELLS(cases[i].protocol, "echo", "0.5", output);
        struct kerf_trial_runner *runner = NULL;
        space.num_params = 0;
        space.num_settings = 1;
        assert_int_equal(kerf_trial_runner_create(&space, &command, &runner, NULL), KERF_OK);
        for (int k = 0; k < 2 && cases[i].limits[k]; k++)
            assert_int_equal(kerf_trial_runner_limit(runner, cases[i].limits[k], NULL), KERF_OK);
        struct kerf_trial_result result = trial_of(runner, 0, 0);
        if (cases[i].words)
            is_failed(&result, cases[i].failure, cases[i].words);
        else
            assert_int_equal(result.observation.outcome, KERF_TUNE_VALUE);
        free_and_check(runner);
    }
    struct kerf_trial_command command = TELLS("exit", "echo", "{n}", "{fast}");
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_error err;
    assert_int_equal(kerf_trial_runner_limit(runner, "a..b <= 1", &err), KERF_EINVALID);
    for (int i = 0; i < OUTPUT_LIMITS_MAX; i++)
        assert_int_equal(kerf_trial_runner_limit(runner, "x < 1", &err), KERF_OK);
    assert_int_equal(kerf_trial_runner_limit(runner, "x < 1", &err), KERF_EINVALID);
    assert_true(isnan(kerf_trial_told(runner)));
    assert_int_equal(kerf_trial_runner_tell(runner, "memory", &err), KERF_OK);
    assert_int_equal(kerf_trial_runner_tell(runner, "x", &err), KERF_EINVALID);
    assert_string_equal(err.message, "a run tells one further number, and \"memory\" is asked for already");
    free_and_check(runner);
}

static void clocks(void **state) {
    (void)state;
    struct kerf_trial_command command = TELLS("exit", "spin", "0.{n}", "{fast}"); /* n is 2 */
    struct kerf_trial_result result = once(command, 0);
    is_value(&result, 0.2, 600);
    assert_true(result.cpu_s >= 0.2 && result.observation.value == result.wall_s);
    command.objective = KERF_TRIAL_CPU;
    result = once(command, 0);
    is_value(&result, 0.2, 60);
    assert_true(result.observation.value == result.cpu_s);
    command = TELLS("exit", "spin", "30", "{setting}");
    result = once(command, 0.1);
    is_censored(&result, 0.1);
    command.objective = KERF_TRIAL_CPU;
    result = once(command, 0.1);
    is_censored(&result, 0.1);
    assert_true(result.cpu_s >= 0.1 && result.cpu_s < 30);
}

static void llama_bench(void **state) {
    (void)state;
    struct kerf_trial_command command = TELLS("llama-bench", "bench", "30", "{n}0", "-{fast}");
    struct kerf_trial_result result = once(command, 0);
    is_value(&result, 0.05 - 1e-9, 0.05 + 1e-9);
    result = once(command, 0.04); /* above the limit, and at its end anyway: a whole result */
    is_value(&result, 0.05 - 1e-9, 0.05 + 1e-9);
    command.objective = KERF_TRIAL_JSON;
    command.pattern = "avg_ts";
    result = once(command, 0);
    is_value(&result, 25600 - 1e-6, 25600 + 1e-6);
    command = TELLS("llama-bench", "bench", "30", "9000", "9000", "{setting}");
    result = once(command, 0.01);
    is_censored(&result, result.observation.value);
    assert_true(result.observation.value == 0.03 || result.observation.value == 9.03);
}

/* ---- Around a trial ------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/kerf-test-trial-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void prepare_and_cleanup(void **state) {
    (void)state;
    char prepare[256], cleanup[256], path[128], text[256];
    snprintf(path, sizeof path, "%s/log", folder);
    snprintf(prepare, sizeof prepare, "n=7; echo \"before $KERF_SLOT $KERF_SETTING ${n} {n}{m}\" >> %s; sleep 100 &",
             path);
    snprintf(cleanup, sizeof cleanup, "{ echo after '{setting}'; } >> %s", path);
    struct kerf_trial_command command = TELLS("exit", "status", "{n}", "no {setting}");
    command.prepare = prepare;
    command.cleanup = cleanup;
    struct kerf_trial_result result = once(command, 0); /* what prepare left is gone, too */
    is_failed(&result, KERF_TUNE_FAILURE_CRASH, "ended with status 2: no {\"n\":2,\"fast\":false}");
    FILE *log = fopen(path, "r");
    assert_non_null(log);
    text[fread(text, 1, sizeof text - 1, log)] = 0;
    fclose(log);
    assert_string_equal(text, "before 0 {\"n\":2,\"fast\":false} 7 2{m}\nafter {\"n\":2,\"fast\":false}\n");

    command.prepare = "echo no room >&2; exit 3";
    result = once(command, 0);
    is_failed(&result, KERF_TUNE_FAILURE_OTHER, "prepare ended with status 3: no room");
    command.prepare = "sleep 100";
    command.load_timeout_s = 0.2;
    result = once(command, 0);
    is_failed(&result, KERF_TUNE_FAILURE_OTHER, "prepare did not end within 0.2 s");
    command = TELLS("exit", "echo", "{setting}");
    command.cleanup = "exit 4";
    result = once(command, 0);
    assert_int_equal(result.observation.outcome, KERF_TUNE_VALUE);
    assert_string_equal(result.message, "cleanup ended with status 4");
}

static void environment(void **state) {
    (void)state;
    setenv("KERF_SETTING", "old", 1);
    struct kerf_trial_command command = TELLS("lines", "env", "KERF_SLOT", "{setting}");
    command.objective = KERF_TRIAL_VALUE;
    struct kerf_trial_result result = once(command, 0);
    is_value(&result, 0, 0);
    command = TELLS("exit", "env", "KERF_SETTING", "{setting}");
    command.objective = KERF_TRIAL_REGEX;
    command.pattern = "nothin(g)";
    result = once(command, 0);
    is_failed(&result, KERF_TUNE_FAILURE_OUTPUT, "\"g\"");
    unsetenv("KERF_SETTING");
    command.launcher = "env KERF_SETTING=5";
    command.pattern = "(5)";
    result = once(command, 0);
    is_value(&result, 5, 5);
}

/* The last match counts, however many lines are before it or behind it. */
static void last_of_many_lines(void **state) {
    (void)state;
    static const struct {
        const char *script;
        double value; /* NAN: the last match is not a number */
    } cases[] = {{"yes x=1 | head -n 200000; echo x=2", 2},
                 {"yes x=1 | head -n 200000; echo x=3; yes no | head -n 400000", 3},
                 {"yes x=1 | head -n 200000; echo x=.; yes no | head -n 400000", (double)NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kerf_trial_command command = {.words = (const char *const[]){"sh", "-c", cases[i].script, "{setting}"},
                                             .num_words = 4,
                                             .objective = KERF_TRIAL_REGEX,
                                             .pattern = "x=([0-9.]+)"};
        struct kerf_trial_result result = once(command, 0);
        if (isnan(cases[i].value))
            is_failed(&result, KERF_TUNE_FAILURE_OUTPUT, "found \".\"");
        else
            is_value(&result, cases[i].value, cases[i].value);
    }
}

static void vanished(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/program", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\n", file);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
    struct kerf_trial_command command = {.words = (const char *const[]){path, "{setting}"}, .num_words = 2};
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, 0, 0);
    is_value(&result, 1e-6, 600);
    assert_int_equal(unlink(path), 0);
    result = trial_of(runner, 0, 0);
    is_failed(&result, KERF_TUNE_FAILURE_OTHER, "cannot be started: No such file");
    free_and_check(runner);
}

/* ---- Workers and slots ------------------------------------------------------------------------------------------ */

/* Each slot runs a trial at a time; placeholders in a worker's command make another worker of each of their values. */
static void slots(void **state) {
    (void)state;
    enum { SLOTS = 3, TRIALS = 12 };
    struct kerf_trial_command command = command_of("worker", "misbehaving_worker", "twice", "-{n}");
    struct kerf_trial_result result;
    struct kerf_error err = {0};
    int32_t ended = 0, seen[TRIALS] = {0}, of_slot[SLOTS] = {0};
    command.slots = SLOTS;
    struct kerf_trial_runner *runner = runner_of(&command);
    for (int32_t id = 0; id < SLOTS; id++)
        assert_int_equal(kerf_trial_start(runner, id, id, setting_of(1 + id % 4), 0, &err), KERF_OK);
    for (int32_t id = SLOTS; id < TRIALS + SLOTS; id++) {
        assert_int_equal(kerf_trial_wait(runner, -1, -1, &result, &ended, &err), KERF_OK);
        assert_int_equal(ended, 1);
        is_value(&result, 0.01 * (1 + result.id % 4), 0.01 * (1 + result.id % 4));
        seen[result.id]++;
        of_slot[result.observation.slot]++;
        if (id >= TRIALS) continue;
        assert_int_equal(kerf_trial_start(runner, result.observation.slot, id, setting_of(1 + id % 4), 0, &err),
                         KERF_OK);
    }
    for (int i = 0; i < TRIALS; i++) assert_int_equal(seen[i], 1);
    for (int i = 0; i < SLOTS; i++) assert_true(of_slot[i] > 0);
    assert_true(kerf_trial_loads(runner) > SLOTS && kerf_trial_loads(runner) <= TRIALS);
    assert_int_equal(kerf_trial_start(runner, SLOTS, 0, 0, 0, &err), KERF_EINVALID);
    assert_int_equal(kerf_trial_start(runner, 0, 0, 8, 0, &err), KERF_EINVALID);
    free_and_check(runner);
}

static void worker_words(void **state) {
    (void)state;
    struct kerf_trial_command command = command_of("worker", "misbehaving_worker", "{fast}", NULL);
    struct kerf_trial_runner *runner = runner_of(&command);
    static const int32_t settings[] = {0, 2, 6, 3, 1, 0}, loads[] = {1, 1, 1, 2, 2, 3};
    for (int i = 0; i < 6; i++) {
        struct kerf_trial_result result = trial_of(runner, settings[i], 0);
        is_value(&result, 0.01 * (1 + settings[i] / 2), 0.01 * (1 + settings[i] / 2));
        assert_int_equal(kerf_trial_loads(runner), loads[i]);
        assert_int_equal(result.status, -1);
    }
    free_and_check(runner);
}

static void fresh_workers(void **state) {
    (void)state;
    struct kerf_trial_command command = command_of("worker", "misbehaving_worker", "dies", NULL);
    command.fresh_worker = 1;
    struct kerf_trial_runner *runner = runner_of(&command);
    static const int32_t settings[] = {0, 0, 2, 2, 0, 6}, loads[] = {1, 1, 2, 2, 3, 4};
    for (int i = 0; i < 6; i++) {
        struct kerf_trial_result result = trial_of(runner, settings[i], 0);
        is_value(&result, 0.01 * (1 + settings[i] / 2), 0.01 * (1 + settings[i] / 2));
        assert_int_equal(kerf_trial_loads(runner), loads[i]);
    }
    free_and_check(runner);
}

static void worker_objectives(void **state) {
    (void)state;
    static const int32_t objectives[] = {KERF_TRIAL_CPU, KERF_TRIAL_MEMORY, KERF_TRIAL_VALUE};
    for (int i = 0; i < 3; i++) {
        struct kerf_trial_command command = command_of("worker", "misbehaving_worker", "negative", NULL);
        command.objective = objectives[i];
        struct kerf_trial_runner *runner = runner_of(&command);
        for (int k = 0; k < 2; k++) {
            struct kerf_trial_result result = trial_of(runner, setting_of(3), 0.001);
            if (i == 0) is_value(&result, 1e-7, 10);
            if (i == 1) is_value(&result, 4096, 1e9);
            if (i == 2) is_value(&result, -1, -1);
        }
        free_and_check(runner);
    }
}

/* ---- The machine ------------------------------------------------------------------------------------------------ */

/* A neighbour that spins on every processor shows in what is measured beside the trial. */
static void neighbour(void **state) {
    (void)state;
    struct kerf_trial_command command = TELLS("exit", "spin", "0.4", "{setting}"),
                              spins = command_of("exit", "spins", NULL, NULL);
    char path[512], reason[100];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(path, sizeof path, "%s", spins.words[0]);
    pid_t pids[64];
    int count = 0;
    for (; count < processors && count < 64; count++) {
        pids[count] = fork();
        if (pids[count] == 0) execl(path, path, (char *)NULL);
        assert_true(pids[count] > 0);
    }
    command.watch_machine = 1;
    struct kerf_trial_runner *runner = runner_of(&command);
    struct kerf_trial_result result = trial_of(runner, 0, 0);
    is_value(&result, 0.4, 600);
    assert_null(kerf_trial_runner_free(runner));
    assert_int_equal(processes(), count); /* they are this test's, and not the runner's to end */
    for (int i = 0; i < count; i++) kill(pids[i], SIGKILL);
    for (int i = 0; i < count; i++) assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
    assert_true(result.machine.processors >= 1);
    if (isnan(result.machine.others)) return; /* a system without /proc/stat */
    assert_true(result.machine.others > 0.1);
    assert_true(kerf_trial_disturbed(&result, reason, sizeof reason));
    assert_non_null(strstr(reason, "others used "));
}

/* What the trial itself does is not "others", and kerf sleeps while it waits. */
static void own_work(void **state) {
    (void)state;
    struct kerf_trial_command command = TELLS("exit", "spin", "1", "{setting}");
    command.watch_machine = 1;
    struct kerf_trial_runner *runner = runner_of(&command);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    struct kerf_trial_result result = trial_of(runner, 0, 0);
    getrusage(RUSAGE_SELF, &after);
    is_value(&result, 1, 600);
    double used_s =
        (double)(after.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_utime.tv_sec - before.ru_stime.tv_sec) +
        1e-6 * (double)(after.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_utime.tv_usec -
                        before.ru_stime.tv_usec);
    /* who waits without sleep takes as much of a processor as the program: a second */
    if (used_s > 0.5) fail_msg("kerf used %g s", used_s);
    double wakes = (double)(after.ru_nvcsw - before.ru_nvcsw);
    if (wakes > 100 + 10 * result.wall_s) fail_msg("kerf woke %g times in %g s", wakes, result.wall_s);
    free_and_check(runner);
    runner = runner_of(&command);
    runner->root = folder; /* a system that tells nothing */
    result = trial_of(runner, 0, 0);
    is_value(&result, 1, 600);
    assert_true(isnan(result.machine.others) && isnan(result.machine.pressure));
    free_and_check(runner);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(from_output),
                                       cmocka_unit_test(limits),
                                       cmocka_unit_test(clocks),
                                       cmocka_unit_test(llama_bench),
                                       cmocka_unit_test(prepare_and_cleanup),
                                       cmocka_unit_test(environment),
                                       cmocka_unit_test(last_of_many_lines),
                                       cmocka_unit_test(vanished),
                                       cmocka_unit_test(slots),
                                       cmocka_unit_test(worker_words),
                                       cmocka_unit_test(fresh_workers),
                                       cmocka_unit_test(worker_objectives),
                                       cmocka_unit_test(neighbour),
                                       cmocka_unit_test(own_work)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
