/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of trials that need no process: words of commands, lines, JSON, answers, the machine, the memory cap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "trial/program_output.h"
#include "trial/trial_slot.h"
#include "trial/interference.h"
#include "trial/memory_cap.h"
#include "trial/placeholders.h"
#include "trial/processors.h"
#include "trial/worker_answer.h"

/* ---- Commands ------------------------------------------------------------------------------------------------ */

static const int64_t batches[] = {16, 512};
static const char *const batch_texts[] = {"16", "512"}, *const kv_texts[] = {"f16", "it's"},
                         *const map_texts[] = {"", "--no-mmap --prio '1 2'"};
static const struct kerf_tune_param params[] = {{"batch", KERF_TUNE_INTEGER, 2, batches, batch_texts, NULL},
                                                {"kv", KERF_TUNE_CHOICE, 2, NULL, kv_texts, NULL},
                                                {"map", KERF_TUNE_FLAG, 2, NULL, map_texts, NULL}};
static const int32_t values[] = {0, 0, 0, 1, 1, 1};
static const struct kerf_tune_space space = {params, values, 3, 2, -1, 0};

static void filled(const char *const *words, int32_t count, const char *launcher, int32_t setting,
                   const char *expected) {
    const struct kerf_trial_command command = {.words = words, .num_words = count, .launcher = launcher};
    struct kerf_text out = {0};
    kerf_trial_command_write(&space, &command, setting, &out);
    assert_string_equal(out.data, expected);
    kerf_text_free(&out);
}

#define WORDS(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static void commands(void **state) {
    (void)state;
    filled(WORDS("./b", "-b", "{batch}", "-k={kv}", "{map}"), NULL, 0, "./b -b 16 -k=f16");
    filled(WORDS("./b", "-b", "{batch}", "-k={kv}", "{map}"), NULL, 1,
           "./b -b 512 '-k=it'\\''s' --no-mmap --prio '1 2'");
    filled(WORDS("b", "x{map}", "{batch}{batch}", "", "{{batch}", "{", "}", "{open"), NULL, 0,
           "b x 1616 '' '{batch}' '{' '}' '{open'");
    filled(WORDS("b", "{setting}"), "srun -n 1 --comment=\"a b\" 'c d' e\\ f ''", 1,
           "srun -n 1 '--comment=a b' 'c d' 'e f' '' b '{\"batch\":512,\"kv\":\"it'\\''s\",\"map\":true}'");
}

static void checked(const char *const *words, int32_t count, int may_leave_out, const char *expected) {
    const struct kerf_trial_command command = {.words = words, .num_words = count};
    struct kerf_error err = {0};
    int32_t code = placeholders_check(&space, &command, may_leave_out, 0, &err);
    assert_int_equal(code, expected ? KERF_EINVALID : KERF_OK);
    if (expected && !strstr(err.message, expected)) fail_msg("'%s' lacks '%s'", err.message, expected);
}

static void placeholders(void **state) {
    (void)state;
    checked(WORDS("b", "{batch}{kv}", "{map}"), 0, NULL);
    checked(WORDS("b", "{setting}"), 0, NULL);
    checked(WORDS("b"), 1, NULL);
    checked(WORDS("b", "{batch}", "{kv}"), 0, "does not use the parameter map; write {map}");
    checked(WORDS("b", "{bach}"), 1, "{bach} in the command is not a parameter; did you mean {batch}?");
    checked(WORDS("b", "{}"), 1, "write {{ for a brace");
    checked(WORDS("awk", "{{print {batch}}"), 1, NULL);
}

static void refused(struct kerf_trial_command command, int32_t code, const char *expected) {
    static const char *const words[] = {"true", "{setting}"};
    struct kerf_trial_runner *runner = NULL;
    struct kerf_error err = {0};
    if (command.num_words == 0) command.words = words, command.num_words = 2;
    if (command.num_words < 0) command.num_words = 0;
    assert_int_equal(kerf_trial_runner_create(&space, &command, &runner, &err), code);
    assert_null(runner);
    if (!strstr(err.message, expected)) fail_msg("'%s' lacks '%s'", err.message, expected);
    assert_int_equal(kerf_trial_runner_create(&space, &command, &runner, NULL), code);
}

static void refusals(void **state) {
    (void)state;
    typedef struct kerf_trial_command command;
    refused((command){.num_words = -1}, KERF_EINVALID, "the command is missing");
    refused((command){.protocol = "wroker"}, KERF_EUNKNOWN, "did you mean \"worker\"?");
    refused((command){.slots = -1}, KERF_EINVALID, "between 1 and 1024, not -1");
    refused((command){.grace_s = -1}, KERF_EINVALID, "the grace must be");
    refused((command){.trial_timeout_s = (double)NAN}, KERF_EINVALID, "the trial time-out must be");
    refused((command){.memory_cap_bytes = -1}, KERF_EINVALID, "memory cap");
    refused((command){.objective = 17}, KERF_EINVALID, "there is no objective 17");
    refused((command){.objective = KERF_TRIAL_VALUE}, KERF_EINVALID,
            "exit cannot measure value; it can measure wall time");
    refused((command){.objective = KERF_TRIAL_REGEX}, KERF_EINVALID, "needs an expression");
    refused((command){.objective = KERF_TRIAL_REGEX, .pattern = "(a"}, KERF_EINVALID, "cannot be read: ");
    refused((command){.objective = KERF_TRIAL_REGEX, .pattern = "a"}, KERF_EINVALID, "has no group");
    refused((command){.objective = KERF_TRIAL_JSON, .pattern = "a..b"}, KERF_EINVALID, "is not a path");
    refused((command){.words = (const char *const[]){"no-such-program", "{setting}"}, .num_words = 2}, KERF_EIO,
            "no-such-program cannot be run: there is no such program");
    refused((command){.words = (const char *const[]){"/etc/passwd", "{setting}"}, .num_words = 2}, KERF_EIO,
            "Permission denied");
    refused((command){.launcher = "no-such-launcher -n 1"}, KERF_EIO, "no-such-launcher");
    for (size_t i = 0; i < 5; i++) assert_non_null(kerf_trial_protocol_at(i)->summary);
    assert_null(kerf_trial_protocol_at(5));
}

/* ---- Output -------------------------------------------------------------------------------------------------- */

struct taken {
    struct kerf_text all;
    size_t longest;
};

static void take(void *context, char *line, size_t length) {
    struct taken *taken = context;
    assert_int_equal(strlen(line), length);
    if (length > taken->longest) taken->longest = length;
    if (length < 100) kerf_text_printf(&taken->all, "<%s>", line);
}

static void lines(void **state) {
    (void)state;
    static const char bytes[] = "one\r\n\ntwo\rth\0ree\nfour";
    for (size_t step = 1; step <= sizeof bytes; step++) { /* however the bytes come */
        struct output_lines output = {0};
        struct taken taken = {0};
        for (size_t at = 0; at < sizeof bytes - 1; at += step) {
            size_t left = sizeof bytes - 1 - at;
            output_lines_feed(&output, bytes + at, left < step ? left : step, take, &taken);
        }
        output_lines_end(&output, take, &taken);
        output_lines_end(&output, take, &taken);
        assert_string_equal(taken.all.data, "<one><two><th ree><four>");
        kerf_text_free(&taken.all);
        output_lines_free(&output);
    }
    struct output_lines output = {0};
    struct taken taken = {0};
    char *megabytes = malloc(3 << 20);
    assert_non_null(megabytes);
    memset(megabytes, 'x', 3 << 20);
    output_lines_feed(&output, megabytes, 3 << 20, take, &taken);
    output_lines_feed(&output, "\nnext\n", 6, take, &taken);
    assert_int_equal(taken.longest, LINE_MAX_BYTES);
    assert_string_equal(taken.all.data, "<next>");
    free(megabytes);
    kerf_text_free(&taken.all);
    output_lines_free(&output);
}

static void words_of_failures(void **state) {
    (void)state;
    static const char *const memory[] = {"torch.OutOfMemoryError: CUDA out of memory. Tried",
                                         "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer",
                                         "terminate called after throwing an instance of 'std::bad_alloc'",
                                         "vk::Device::allocateMemory: ErrorOutOfDeviceMemory",
                                         "fork: Cannot allocate memory",
                                         "MemoryError",
                                         "RESOURCE_EXHAUSTED: "};
    static const char *const others[] = {"allocated 3 GiB", "memory: 12 GiB", "a room, out of order", ""};
    char words[64], line[8];
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        if (!says_out_of_memory(memory[i])) fail_msg("%s", memory[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (says_out_of_memory(others[i])) fail_msg("%s", others[i]);
    status_words(7 << 8, words, sizeof words);
    assert_string_equal(words, "ended with status 7");
    status_words(SIGABRT, words, sizeof words);
    assert_string_equal(words, "ended by SIGABRT");
    quote_line(" \t a\001b\xff  ", line, sizeof line);
    assert_string_equal(line, "a?b?");
    quote_line("aaaaaa\xc3\xa9", line, sizeof line); /* cut within a code point */
    assert_string_equal(line, "aaaaaa?");
}

static double at_path(const char *text, const char *path, const char *expected_why) {
    char why[200] = "";
    double value = (double)NAN;
    json_t *root = json_last_value(text, strlen(text), 0, why, sizeof why);
    assert_non_null(root);
    assert_string_equal(why, "");
    int found = json_path_number(root, path, &value, why, sizeof why);
    json_decref(root);
    assert_int_equal(found > 0, expected_why == NULL);
    if (expected_why && !strstr(why, expected_why)) fail_msg("'%s' lacks '%s'", why, expected_why);
    return value;
}

static void no_value(const char *text, int is_cut, const char *expected_why) {
    char why[200];
    assert_null(json_last_value(text, strlen(text), is_cut, why, sizeof why));
    if (*expected_why ? !strstr(why, expected_why) : *why) fail_msg("'%s' is not '%s'", why, expected_why);
}

static void json_paths(void **state) {
    (void)state;
    static const char text[] = "[INFO] x\n{\"a\": 1}\n{\n  \"a\": [\n    {\"b.c\": 2.5, \"7\": 7},\n    3\n  ],\n"
                               "  \"s\": \"4\", \"d\": {\"-1\": 6}\n}\ndone {\"a\": 9}\n{ broken\n";
    assert_true(at_path(text, "a.0.b\\.c", NULL) == 2.5);
    assert_true(at_path(text, "a.-1", NULL) == 3);
    assert_true(at_path(text, "a.1", NULL) == 3);
    assert_true(at_path(text, "a.0.7", NULL) == 7);
    assert_true(at_path(text, "d.-1", NULL) == 6);
    at_path(text, "a.2", "a.2 is not in its JSON: there is no 2");
    at_path(text, "a.-3", "is not in its JSON");
    at_path(text, "a.1x", "is not in its JSON");
    at_path(text, "s", "is not a number");
    at_path(text, "s.t", "is not in its JSON");
    at_path(text, "d", "is not a number");
    at_path("{\"a\": 1}\n{\"a\": NaN}\n", "a", "is not a number");
    at_path("{\"a\": 1}\n{\n \"s\": \"NaN \\\" \", \"a\": -Infinity\n}\n", "a", "is not a number");
    assert_true(at_path("[it's NaN\n{\"a\": 1}\n{\"a\": 2, \"b\": [NaN, Infinity]}\n", "a", NULL) == 2);
    at_path("{\"a\": 1}\n{\"a\": 1e400, \"b\": -17}\n", "a", "is not a number");
    at_path("{\"a\": 1}\n{\"b\": [nan, -2.5e3], \"a\": -inf}\n", "a", "is not a number");
    assert_true(at_path("{\"a\": 1}\n{\"b\": [-1e999, -2.5e3], \"a\": 2}\n", "b.1", NULL) == -2500);
    assert_true(at_path("{\"a\": 1}\n{\"s\": \"1e999 \xe9\", \"\xe2\x82\xac\xff\": 0, \"a\": 2}\n", "a", NULL) == 2);
    assert_true(at_path("{\"a\": 1}\n{\"s\": \"\\u0000\", \"a\": 2}\n", "a", NULL) == 2);
    assert_true(at_path("{\"a\": 1, \"a\": 3}\n{\"a\": 2}\n", "a", NULL) == 2);
    no_value("{\"a\": 1}\n{\"a\": 2, \"b\": {\"c\": 3, \"c\": 4}}\n", 0, "duplicate object key near '\"c\"'");
    no_value("{\"a\": NaN, \"a\": 1}\n", 0, "duplicate object key near '\"a\"'");
    no_value("no {\"a\":1}\n{", 0, "");
    no_value("", 0, "");
    no_value("", 1, "its JSON is too long: kerf reads 16 MiB, and 1 MiB a line");
    no_value("\"x\": [\n  {\"a\": 1},\n  {\"a\": 2}\n ]\n}\n", 1, "too long");
    no_value("{\"a\": 1}\n, \"b\": 2}", 1, "too long");
    assert_false(json_path_is_valid(""));
    assert_false(json_path_is_valid("a."));
    assert_false(json_path_is_valid(".a"));
    assert_true(json_path_is_valid("a\\."));
    struct kerf_text deep = {0}; /* what looks like JSON on every line and is none must not take for ever */
    kerf_text_repeat(&deep, "[\n", 1 << 20);
    no_value(deep.data, 0, "");
    kerf_text_clear(&deep);
    kerf_text_repeat(&deep, "{\"a\": NaN}\n", 1 << 18);
    at_path(deep.data, "a", "is not a number");
    kerf_text_free(&deep);
}

static void answers(void **state) {
    (void)state;
    static const struct {
        const char *line;
        int32_t says, failure;
        double value;
    } cases[] = {
        {"{\"id\":7,\"value\":0.5,\"more\":[1]}", WORKER_VALUE, 0, 0.5},
        {" {\"id\": 7.0, \"value\": -3}", WORKER_VALUE, 0, -3},
        {"{\"id\":7,\"censored\":1.25}", WORKER_CENSORED, 0, 1.25},
        {"{\"id\":7,\"censored\":1.25,\"value\":1}", WORKER_CENSORED, 0, 1.25},
        {"{\"id\":7,\"error\":\"x\"}", WORKER_ERROR, KERF_TUNE_FAILURE_OTHER, 0},
        {"{\"id\":7,\"error\":\"out of memory\",\"value\":2}", WORKER_ERROR, KERF_TUNE_FAILURE_MEMORY, 0},
        {"{\"id\":7,\"error\":\"out of memory\",\"kind\":\"other\"}", WORKER_ERROR, KERF_TUNE_FAILURE_OTHER, 0},
        {"{\"id\":7,\"error\":\"out of memory\",\"kind\":\"Memory\"}", WORKER_BAD, 0, 0},
        {"{\"id\":7,\"error\":\"out of memory\",\"kind\":1}", WORKER_BAD, 0, 0},
        {"{\"id\":7,\"error\":\"out of memory\",\"kind\":null}", WORKER_ERROR, KERF_TUNE_FAILURE_MEMORY, 0},
        {"{\"id\":7,\"error\":null,\"kind\":\"crash\"}", WORKER_ERROR, KERF_TUNE_FAILURE_CRASH, 0},
        {"{\"id\":7,\"value\":2,\"error\":null,\"censored\":null,\"start_s\":null}", WORKER_VALUE, 0, 2},
        {"{\"id\":7,\"censored\":2,\"error\":null,\"value\":null}", WORKER_CENSORED, 0, 2},
        {"{\"id\":7,\"value\":null}", WORKER_BAD, 0, 0},
        {"{\"id\":7,\"value\":null,\"censored\":null}", WORKER_BAD, 0, 0},
        {"{\"id\":7,\"value\":\"1\"}", WORKER_BAD, 0, 0},
        {"{\"id\":7,\"value\":1,\"start_s\":5}", WORKER_BAD, 0, 0},
        {"{\"id\":7,\"value\":1,\"start_s\":5,\"end_s\":4}", WORKER_BAD, 0, 0},
        {"{\"id\":7}", WORKER_BAD, 0, 0},
        {"{\"id\":8,\"value\":1}", WORKER_OTHER, 0, 0},
        {"{\"id\":\"7\",\"value\":1}", WORKER_OTHER, 0, 0},
        {"{\"value\":1}", WORKER_OTHER, 0, 0},
        {"{\"ready\":true}", WORKER_OTHER, 0, 0},
        {"{\"id\":7,\"value\":1e999}", WORKER_BAD, 0, 0},
        {"{\"id\":7,\"value\":1} trailing", WORKER_OTHER, 0, 0},
        {"{\"id\":7,\"value\":1,\"value\":2}", WORKER_BAD, 0, 0},
        {"[7]", WORKER_OTHER, 0, 0},
        {"7", WORKER_OTHER, 0, 0},
        {"", WORKER_OTHER, 0, 0},
    };
    struct worker_answer answer;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        worker_answer_read(cases[i].line, strlen(cases[i].line), 7, &answer);
        if ((int32_t)answer.says != cases[i].says) fail_msg("%s: %d", cases[i].line, (int)answer.says);
        if (answer.says == WORKER_VALUE || answer.says == WORKER_CENSORED)
            assert_true(answer.value == cases[i].value && isnan(answer.start_s));
        if (answer.says == WORKER_ERROR) assert_int_equal(answer.failure, cases[i].failure);
        assert_int_equal(answer.says == WORKER_ERROR || answer.says == WORKER_BAD, answer.text[0] != 0);
    }
    static const struct {
        const char *line;
        int says;
        const char *why;
    } no_json[] = {{"{\"id\": 7, \"value\": NaN}", WORKER_BAD, "is not JSON (NaN"},
                   {"{\"value\":-Infinity,\"id\":7} ", WORKER_BAD, "is not JSON (NaN"},
                   {"{\"id\":7,\"error\":\"m\xe9moire\"}", WORKER_BAD, "is not UTF-8"},
                   {"{\"id\":7,\"value\":1,\"value\":2}", WORKER_BAD, "has a key twice"},
                   {"{\"id\":7,\"value\":1e999}", WORKER_BAD, "too large"},
                   {"{\"id\":8,\"value\":NaN}", WORKER_OTHER, ""},
                   {"{\"id\":7,\"val", WORKER_OTHER, ""},
                   {"the answer is {\"id\":7,NaN}", WORKER_OTHER, ""},
                   {"{\"id\"}", WORKER_OTHER, ""}};
    for (size_t i = 0; i < sizeof no_json / sizeof no_json[0]; i++) {
        worker_answer_read(no_json[i].line, strlen(no_json[i].line), 7, &answer);
        if ((int)answer.says != no_json[i].says || !strstr(answer.text, no_json[i].why))
            fail_msg("%s: %d, %s", no_json[i].line, (int)answer.says, answer.text);
    }
    struct kerf_text endless = {0};
    kerf_text_add(&endless, "{\"id\":7,\"value\":1,\"pad\":\"");
    kerf_text_repeat(&endless, "a", LINE_MAX_BYTES - (int)endless.length);
    worker_answer_read(endless.data, endless.length, 7, &answer);
    assert_int_equal(answer.says, WORKER_BAD);
    assert_string_equal(answer.text, "the worker's answer is a line of more than 1 MiB");
    kerf_text_free(&endless);
    worker_answer_read("{\"ready\":true}", 14, 0, &answer);
    assert_int_equal(answer.says, WORKER_READY);
    worker_answer_read("{\"ready\":1}", 11, 0, &answer);
    assert_int_equal(answer.says, WORKER_OTHER);
    worker_answer_read("{\"id\":0,\"value\":1}", 18, 0, &answer);
    assert_int_equal(answer.says, WORKER_OTHER);
}

/* ---- The clocks of workers ------------------------------------------------------------------------------------- */

static void told(struct worker_clock *clock, int64_t life, double at_s, double kerf_s, double expected_s) {
    struct time_span span =
        worker_clock_answer(clock, life, (struct time_span){at_s, at_s + 0.5}, (struct time_span){kerf_s, kerf_s + 1});
    if (fabs(span.start_s - expected_s) > 1e-9 || fabs(span.end_s - expected_s - 0.5) > 1e-9)
        fail_msg("%g is placed at %g, not %g", at_s, span.start_s, expected_s);
}

static void untold(struct worker_clock *clock, double kerf_s, double expected_s) {
    struct time_span span = worker_clock_silence(clock, (struct time_span){kerf_s, kerf_s + 1});
    if (fabs(span.start_s - expected_s) > 1e-9 || fabs(span.end_s - expected_s - 1) > 1e-9)
        fail_msg("it is placed at %g, not %g", span.start_s, expected_s);
}

static void clocks_of_workers(void **state) {
    (void)state;
    struct worker_clock own = {0}; /* begins anew with each life */
    told(&own, 1, 100, 0, 100);
    told(&own, 1, 110, 1, 110);
    told(&own, 2, 0.25, 5, 113.5);
    told(&own, 2, 2, 7, 115.25);
    told(&own, 3, 500, 1000, 1107.75); /* 499.5 s later by its own clock, 992 by kerf's */
    struct worker_clock fast = {0};    /* one for all lives, ahead of kerf's */
    told(&fast, 1, 0, 0, 0);
    told(&fast, 1, 4000, 1, 4000);
    told(&fast, 2, 8000, 3, 8000);
    struct worker_clock set_back = {0};
    told(&set_back, 1, 50, 0, 50);
    told(&set_back, 1, 20, 3, 52.5);
    told(&set_back, 1, 21, 4, 53.5);
    struct worker_clock silent = {0};
    untold(&silent, 3, 3);
    told(&silent, 1, 0, 6, 6); /* 2 s after the end of what was placed by kerf's clock */
    untold(&silent, 8, 7.5);
    untold(&silent, 9, 8.5);
    told(&silent, 1, 5, 11, 11);
}

static void llama_bench_lines(void **state) {
    (void)state;
    static const char line[] = "{\"build_commit\": \"e2f3c1\", \"n_batch\": 2048, \"n_prompt\": 512, \"n_gen\": 0, "
                               "\"avg_ns\": 400, \"avg_ts\": 1280.5, \"samples_ns\": [ 300000000, 500000000 ]}";
    double value = 0;
    char why[160];
    assert_int_equal(llama_bench_line(line, strlen(line), NULL, &value, why, sizeof why), LLAMA_BENCH_RESULT);
    assert_true(fabs(value - 0.4) < 1e-15);
    assert_int_equal(llama_bench_line(line, strlen(line), "avg_ts", &value, why, sizeof why), LLAMA_BENCH_RESULT);
    assert_true(value == 1280.5);
    assert_int_equal(llama_bench_line(line, strlen(line), "tps", &value, why, sizeof why), LLAMA_BENCH_BAD);
    assert_int_equal(llama_bench_line("{\"avg_ns\":2e9}", 14, NULL, &value, why, sizeof why), LLAMA_BENCH_RESULT);
    assert_true(value == 2);
    static const char latin[] = "{\"model_filename\":\"mod\xe8le.gguf\",\"avg_ns\":2e9}";
    assert_int_equal(llama_bench_line(latin, strlen(latin), NULL, &value, why, sizeof why), LLAMA_BENCH_RESULT);
    assert_int_equal(llama_bench_line("{\"avg_ns\":0}", 12, NULL, &value, why, sizeof why), LLAMA_BENCH_BAD);
    assert_int_equal(llama_bench_line("{\"samples_ns\":[1,-1]}", 21, NULL, &value, why, sizeof why), LLAMA_BENCH_BAD);
    assert_int_equal(llama_bench_line("{\"n\":1}", 7, NULL, &value, why, sizeof why), LLAMA_BENCH_NO_RESULT);
    assert_int_equal(llama_bench_line("ggml_cuda_init", 14, NULL, &value, why, sizeof why), LLAMA_BENCH_NO_RESULT);
    assert_true(value == 2);
}

/* ---- A system that is a folder --------------------------------------------------------------------------------- */

static char root[] = "/tmp/kerf-test-machine-XXXXXX";

static int make_root(void **state) {
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static void put(const char *path, const char *text) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(full, 0755);
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static void drop(const char *path) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    assert_int_equal(unlink(full), 0);
}

static const char *get(const char *path) {
    static char text[256];
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *file = fopen(full, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

/* All processors of this machine: each was busy for so many ticks. */
static void put_stat(int user, int nice, int steal) {
    struct kerf_text text = {0};
    kerf_text_add(&text, "cpu  9 9 9 9 9 9 9 9 0 0\n");
    for (int i = 0; i < 1024; i++)
        kerf_text_printf(&text, "cpu%d %d %d 100 7000 50 10 20 %d 99 0\n", i, user, nice, steal);
    kerf_text_add(&text, "intr 5 5 5\n");
    put("/proc/stat", text.data);
    kerf_text_free(&text);
}

static void machine(void **state) {
    (void)state;
    double ticks = (double)sysconf(_SC_CLK_TCK);
    cpu_set_t allowed;
    processors_allowed(&allowed);
    struct machine_load before = machine_load_read(root, &allowed, 10);
    struct kerf_trial_machine told;
    assert_true(isnan(before.busy_s) && isnan(before.waited_s) && before.processors >= 1);
    assert_true(isnan(machine_frequency(root, &allowed)));
    assert_int_equal(machine_memory_kills(root), -1);
    machine_load_compare(&before, &before, 0, &told);
    assert_true(isnan(told.others) && isnan(told.steal) && isnan(told.pressure));

    put_stat(1000, 10, 5);
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\nfull avg10=0.00 total=7\n");
    put("/proc/vmstat", "nr_free_pages 5\noom_kill 3\n");
    before = machine_load_read(root, &allowed, 10);
    assert_int_equal(machine_memory_kills(root), 3);
    assert_true(before.waited_s == 2);
    put_stat(1000 + 2 * (int)ticks, 10 + (int)ticks, 5 + (int)ticks / 2);
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=3000000\n");
    const struct machine_load after = machine_load_read(root, &allowed, 20);
    int32_t processors = after.processors;
    assert_int_equal(processors, before.processors);
    machine_load_compare(&before, &after, processors * 1.0, &told); /* 3 s of each, 1 s of them the trial's; of 10 s */
    assert_true(fabs(told.others - 0.2 * processors) < 1e-9);
    assert_true(fabs(told.steal - 0.05 * processors) < 1e-9);
    assert_true(fabs(told.pressure - 0.1) < 1e-9);
    machine_load_compare(&before, &after, processors * 4.0, &told);
    assert_true(told.others == 0);

    cpu_set_t one; /* a slot's own: the others' load is none of its */
    CPU_ZERO(&one);
    CPU_SET(2, &one);
    const struct machine_load alone = machine_load_read(root, &one, 20);
    assert_int_equal(alone.processors, 1);
    assert_true(fabs(alone.busy_s * processors - after.busy_s) < 1e-9 * after.busy_s);

    for (int i = 0; i < sysconf(_SC_NPROCESSORS_CONF); i++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", i);
        put(path, "1500000\n");
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_max_freq", i);
        put(path, "3000000\n");
    }
    assert_true(machine_frequency(root, &allowed) == 0.5);
}

static void disturbed(struct kerf_trial_machine machine, double wall_s, double cpu_s, const char *expected) {
    struct kerf_trial_result result = {.machine = machine, .wall_s = wall_s, .cpu_s = cpu_s};
    char reason[80] = "?";
    assert_int_equal(kerf_trial_disturbed(&result, reason, sizeof reason), expected != NULL);
    assert_string_equal(reason, expected ? expected : "");
}

/* Eight processors on four cores, as many machines number them: n and n + 4 are one core's. */
static void shares(void **state) {
    (void)state;
    static const struct {
        int32_t slots, slot, count;
        const char *processors;
    } cases[] = {{2, 0, 4, "0 1 4 5"}, {2, 1, 4, "2 3 6 7"}, {3, 0, 2, "0 4"}, {3, 2, 2, "2 6"}, {4, 3, 2, "3 7"},
                 {5, 0, 1, "0"},       {5, 1, 1, "4"},       {8, 7, 1, "7"},   {9, 0, 0, ""}};
    cpu_set_t allowed, share;
    CPU_ZERO(&allowed);
    for (int i = 0; i < 8; i++) {
        char path[128], core[16];
        CPU_SET(i, &allowed);
        snprintf(core, sizeof core, "%d\n", i % 4);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/core_id", i);
        put(path, core);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", i);
        put(path, "0\n");
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char told[64] = "";
        assert_int_equal(processor_share(root, &allowed, cases[k].slots, cases[k].slot, &share), cases[k].count);
        for (int i = 0; i < 8; i++)
            if (CPU_ISSET(i, &share)) snprintf(told + strlen(told), 4, "%s%d", *told ? " " : "", i);
        assert_string_equal(told, cases[k].processors);
    }
    assert_int_equal(processor_share("/nowhere", &allowed, 2, 1, &share), 4); /* each processor is a core */
    assert_true(CPU_ISSET(4, &share) && CPU_ISSET(7, &share) && CPU_COUNT(&share) == 4);
    processors_allowed(&allowed);
    assert_true(CPU_COUNT(&allowed) >= 1);
}

static void put_at(const char *folder, int number, const char *file, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/%s%d/%s", folder, number, file);
    put(path, text);
}

/* Sixteen processors: two of each of eight cores, four cores a node and two that share a cache. */
static void sizes(void **state) {
    static const int64_t expected[] = {2, 4, 8, 16, 512, 4096, 32768, 524288, 4194304};
    static const char *const caches[] = {"0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"}, *const nodes[] = {
                                                                                                "0-3,8-11",
                                                                                                "4-7,12-15"};
    int64_t told[KERF_TRIAL_SIZES_MAX];
    cpu_set_t allowed;
    (void)state;
    CPU_ZERO(&allowed);
    for (int i = 0; i < 16; i++) CPU_SET(i, &allowed);
    assert_int_equal(processor_sizes("/nowhere", &allowed, told), 0);
    for (int i = 0; i < 16; i++) {
        char core[16];
        snprintf(core, sizeof core, "%d\n", i % 8);
        put_at("cpu/cpu", i, "topology/core_id", core);
        put_at("cpu/cpu", i, "topology/physical_package_id", "0\n");
        put_at("cpu/cpu", i, "topology/core_siblings_list", "0-15\n");
        put_at("cpu/cpu", i, "cache/index3/shared_cpu_list", caches[i % 8 / 2]);
    }
    for (int node = 0; node < 2; node++) put_at("node/node", node, "cpulist", nodes[node]);
    static const char *const types[] = {"Data\n", "Instruction\n", "Unified\n", "Unified\n"}, *const bytes[] = {
                                                                                                  "32K\n", "64K\n",
                                                                                                  "512K\n", "4096K\n"};
    for (int index = 0; index < 4; index++) {
        put_at("cpu/cpu0/cache/index", index, "type", types[index]);
        put_at("cpu/cpu0/cache/index", index, "size", bytes[index]);
    }
    int32_t count = processor_sizes(root, &allowed, told);
    assert_int_equal(count, sizeof expected / sizeof *expected);
    assert_memory_equal(told, expected, sizeof expected);

    for (int i = 3; i < 16; i++) CPU_CLR(i, &allowed); /* three cores of the first node are allowed, two of the cache */
    count = processor_sizes(root, &allowed, told);
    assert_int_equal(told[0], 2);
    assert_int_equal(told[1], 3);
    assert_int_equal(told[2], 512);
    assert_int_equal(count, 7);

    put("/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", "-7--,x\n"); /* dirt is passed over */
    put("/sys/devices/system/cpu/cpu1/cache/index3/shared_cpu_list", "");
    put("/sys/devices/system/cpu/cpu0/cache/index3/size", "lots\n");
    assert_int_equal(processor_sizes(root, &allowed, told), 4);
}

/* What a trial on so many processors saw, without a look at the gaps beside it. */
static struct kerf_trial_machine seen(double others, double steal, double pressure, int32_t processors) {
    struct kerf_trial_machine machine = machine_unknown();
    machine.others = others;
    machine.steal = steal;
    machine.pressure = pressure;
    machine.processors = processors;
    return machine;
}

static void disturbance(void **state) {
    (void)state;
    /* both of 2 processors are used: a tenth of one is the most */
    disturbed(seen(0.09, 0, 0, 2), 1, 2, NULL);
    disturbed(seen(0.12, 0, 0, 2), 1, 1.8, "others used 0.12 of 2 processors");
    /* one is idle: a quarter of it is; unless something had to wait */
    disturbed(seen(0.2, 0, 0.05, 2), 1, 1, NULL);
    disturbed(seen(1, 0, 0.05, 2), 1, 1, "others used 1.00 of 2 processors");
    disturbed(seen(0.2, 0, 0.5, 2), 1, 1, "others used 0.20 of 2 processors");
    disturbed(seen(4, 0, 0, 64), 1, 8, NULL);
    disturbed(seen(0, 0.2, 0, 4), 1, 1, "the hypervisor took 0.20 of 4 processors");
    /* too short to tell, pressure of its own threads, and a system that tells nothing */
    disturbed(seen(1, 0, 0, 2), 0.02, 0.04, NULL);
    disturbed(seen(0, 0, 1, 2), 1, 2, NULL);
    disturbed(seen(NAN, NAN, NAN, 2), 1, 2, NULL);
    disturbed(seen(1, 0, 0, 2), 0, NAN, NULL);
    /* pgbench beside an otherwise idle PostgreSQL: what stops with the trial is its own */
    struct kerf_trial_machine machine = seen(0.48, 0, 0.3, 2);
    disturbed(machine, 5, 3, "others used 0.48 of 2 processors");
    machine.between = 0.02;
    disturbed(machine, 5, 3, NULL);
    /* and what goes on is a neighbour's; of both only that */
    machine.between = 0.48;
    disturbed(machine, 5, 3, "others used 0.48 of 2 processors");
    machine.between = 0.3;
    disturbed(machine, 5, 3, "others used 0.30 of 2 processors");
    machine.between = 1.9; /* a neighbour that used less while the trial ran: then it disturbed by that */
    disturbed(machine, 5, 3, "others used 0.48 of 2 processors");
    /* the hypervisor is nobody's server */
    machine = seen(0, 0.2, 0, 4);
    machine.between = 0;
    disturbed(machine, 1, 1, "the hypervisor took 0.20 of 4 processors");
}

static void memory_group(void **state) {
    (void)state;
    struct memory_cap cap;
    char path[256];
    assert_false(memory_cap_open(&cap, root, 3, 1 << 20)); /* no cgroups at all */
    put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    put("/proc/self/cgroup", "9:memory:/x\n0::/user.slice/a.scope\n");
    put("/sys/fs/cgroup/user.slice/a.scope/cgroup.procs", "");
    assert_false(memory_cap_open(&cap, root, 3, 1 << 20)); /* none that can be written */
    assert_int_equal(memory_cap_peak(&cap), 0);
    memory_cap_close(&cap);
    static const char *const parents[] = {"/sys/fs/cgroup/user.slice", "/sys/fs/cgroup/user.slice/a.scope"};
    for (int i = 0; i < 2; i++) { /* the cgroup above, and then its own, which is taken first */
        char folder[128];
        snprintf(folder, sizeof folder, "%s/kerf.%d.3", parents[i], (int)getpid());
        snprintf(path, sizeof path, "%s/memory.max", folder);
        put(path, "");
        snprintf(path, sizeof path, "%s/cgroup.procs", folder);
        put(path, "");
        assert_true(memory_cap_open(&cap, root, 3, 1 << 20));
        assert_string_equal(cap.folder + strlen(root), folder);
        snprintf(path, sizeof path, "%s/memory.max", folder);
        assert_string_equal(get(path), "1048576");
        assert_int_equal(memory_cap_kills(&cap), 0);
        snprintf(path, sizeof path, "%s/memory.peak", folder);
        put(path, "12345\n");
        snprintf(path, sizeof path, "%s/memory.events", folder);
        put(path, "low 0\noom 9\noom_kill 2\noom_group_kill 1\n");
        assert_int_equal(memory_cap_peak(&cap), 12345);
        assert_int_equal(memory_cap_kills(&cap), 2);
        memory_cap_peak_reset(&cap);
        snprintf(path, sizeof path, "%s/memory.peak", folder);
        assert_string_equal(get(path), "reset\n");
        put(path, "678\n");
        assert_int_equal(memory_cap_peak(&cap), 678);
        memory_cap_close(&cap);
        drop(path);
        assert_true(memory_cap_open(&cap, root, 3, 1 << 20)); /* as on a Linux where it cannot be reset */
        memory_cap_peak_reset(&cap);
        put(path, "12345\n");
        assert_int_equal(memory_cap_peak(&cap), 0);
        memory_cap_close(&cap);
        memory_cap_close(&cap);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands), cmocka_unit_test(placeholders),      cmocka_unit_test(refusals),
        cmocka_unit_test(lines),    cmocka_unit_test(words_of_failures), cmocka_unit_test(json_paths),
        cmocka_unit_test(answers),  cmocka_unit_test(clocks_of_workers), cmocka_unit_test(llama_bench_lines),
        cmocka_unit_test(machine),  cmocka_unit_test(disturbance),       cmocka_unit_test(shares),
        cmocka_unit_test(sizes),    cmocka_unit_test(memory_group)};
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
