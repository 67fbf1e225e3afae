/* SPDX-License-Identifier: Apache-2.0 */
/* kerf-llama-worker with a real llama.cpp and models of random weights: what it answers, what it survives, and that
 * llama.cpp allocates what kerf_llama_memory_estimate says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ggml.h>
#include "base/input.h"
#include "kerf/llama.h"

extern char **environ;

static char folder[] = "/tmp/kerf_llama_XXXXXX";
static char model[128], log_path[128];

struct worker {
    pid_t pid;
    FILE *to, *from;
};

/* What a test has open; after one that fails it is given back all the same. */
static struct worker running;
static json_t *heard; /* all answers */

static int give_back(void **state) {
    (void)state;
    if (running.pid > 0) {
        fclose(running.to);
        fclose(running.from);
        kill(running.pid, SIGKILL);
        waitpid(running.pid, NULL, 0);
    }
    running = (struct worker){0};
    json_decref(heard);
    heard = NULL;
    return 0;
}

static int make_folder(void **state) {
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(model, sizeof model, "%s/model.gguf", folder);
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    return 0;
}
static int remove_folder(void **state) {
    (void)state;
    unlink(model);
    unlink(log_path);
    return rmdir(folder);
}

static void make_model(const char *options) {
    char command[1024];
    snprintf(command, sizeof command, "'%s' '%s' %s", KERF_MAKE_GGUF, model, options);
    assert_int_equal(system(command), 0);
}

/* ---- Talking to it ---------------------------------------------------------------------------------------- */

/* before: for the shell that becomes the worker, "" or "ulimit -v 1000;" */
static struct worker start(const char *before, const char *options) {
    struct worker worker = {0};
    posix_spawn_file_actions_t actions;
    int in[2], out[2];
    char command[1024];
    snprintf(command, sizeof command, "%s exec '%s' --model '%s' %s 2>'%s'", before, KERF_LLAMA_WORKER, model, options,
             log_path);
    char shell[] = "sh", flag[] = "-c", *argv[] = {shell, flag, command, NULL};
    assert_true(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    assert_int_equal(posix_spawn(&worker.pid, "/bin/sh", &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    worker.to = fdopen(in[1], "w");
    worker.from = fdopen(out[0], "r");
    assert_int_equal(running.pid, 0);
    running = worker;
    return worker;
}

static json_t *hear(struct worker *worker) {
    char line[4096];
    if (fgets(line, sizeof line, worker->from) == NULL) fail_msg("the worker ended");
    json_t *answer = json_loads(line, 0, NULL);
    if (answer == NULL) fail_msg("not JSON: %s", line);
    if (heard == NULL) heard = json_array();
    assert_int_equal(json_array_append_new(heard, answer), 0);
    return answer; /* until the end of the test */
}

static json_t *ask(struct worker *worker, const char *request) {
    fprintf(worker->to, "%s\n", request);
    fflush(worker->to);
    return hear(worker);
}

static int end(struct worker *worker) {
    int status = -1;
    fclose(worker->to);
    assert_int_equal(waitpid(worker->pid, &status, 0), worker->pid);
    fclose(worker->from);
    running = (struct worker){0};
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static struct worker started(const char *before, const char *options) {
    struct worker worker = start(before, options);
    json_t *ready = hear(&worker);
    assert_true(json_is_true(json_object_get(ready, "ready")));
    return worker;
}

static double number(const json_t *answer, const char *key) {
    const json_t *value = json_object_get(answer, key);
    if (!json_is_number(value)) json_dumpf(answer, stderr, 0);
    if (!json_is_number(value)) fail_msg("it has no %s", key);
    return json_number_value(value);
}

static void has_value(json_t *answer, int64_t id) {
    double value = number(answer, "value");
    assert_int_equal(json_integer_value(json_object_get(answer, "id")), id);
    assert_true(isfinite(value) && value > 0);
    assert_true(fabs(number(answer, "end_s") - number(answer, "start_s") - value) < 1e-6);
}

static void has_error(json_t *answer, const char *kind, const char *part) {
    const char *error = json_string_value(json_object_get(answer, "error"));
    assert_non_null(error);
    if (strstr(error, part) == NULL) print_error("%s\n", error);
    assert_non_null(strstr(error, part));
    assert_string_equal(json_string_value(json_object_get(answer, "kind")), kind);
    assert_null(json_object_get(answer, "value"));
}

/* ---- What it answers -------------------------------------------------------------------------------------- */

static void it_measures_and_goes_on_after_errors(void **state) {
    (void)state;
    make_model("--tokenizer spm --heads 2");
    struct worker worker = started("", "--context 512 --threads 1");
    has_value(ask(&worker, "{\"id\":1,\"setting\":{\"batch\":512,\"ubatch\":128}}"), 1);
    has_value(ask(&worker, "{\"id\":2,\"setting\":{},\"limit_s\":600}"), 2);
    has_error(ask(&worker, "{\"id\":3,\"setting\":{\"batch\":0}}"), "other",
              "batch must be a whole number of 1 or more");
    has_error(ask(&worker, "{\"id\":4,\"setting\":{\"ubtach\":1}}"), "other", "did you mean ubatch?");
    has_error(ask(&worker, "{\"id\":5,\"setting\":{\"kv_type\":\"q8_0\",\"flash_attention\":\"off\"}}"), "other",
              "quantized V cache");
    has_error(ask(&worker, "{\"id\":6}"), "other", "a request must have a setting");
    has_error(ask(&worker, "{\"setting\":{}}"), "other", "a request must have an id");
    has_error(ask(&worker, "batch=512"), "other", "a request must be JSON");
    has_value(ask(&worker, "{\"id\":7,\"setting\":{\"kv_type\":\"q8_0\",\"flash_attention\":true,\"threads\":2}}"), 7);
    assert_int_equal(end(&worker), 0);
}

static void a_slow_chunk_is_stopped(void **state) {
    (void)state;
    make_model("--layers 4 --embd 256 --ff 512");
    struct worker worker = started("", "--context 2048 --threads 1 --chunks 2");
    json_t *answer = ask(&worker, "{\"id\":1,\"setting\":{\"batch\":2048,\"ubatch\":8},\"limit_s\":0.001}");
    assert_true(number(answer, "censored") == 0.001);
    assert_null(json_object_get(answer, "value"));
    double taken_s = number(answer, "end_s") - number(answer, "start_s");
    assert_true(taken_s >= 0.002);
    answer = ask(&worker, "{\"id\":2,\"setting\":{\"ubatch\":512}}");
    assert_true(number(answer, "value") * 2 > taken_s); /* it was not half done */
    assert_int_equal(end(&worker), 0);
}

static void what_needs_another_load_gets_one(void **state) {
    (void)state;
    make_model("");
    struct worker worker = started("", "--context 256 --threads 1 --logits last --mmap");
    json_t *answer = ask(&worker, "{\"id\":1,\"setting\":{\"mmap\":true}}");
    assert_null(json_object_get(answer, "load_s"));
    answer = ask(&worker, "{\"id\":2,\"setting\":{\"mmap\":\"off\"}}");
    assert_true(number(answer, "load_s") > 0);
    answer = ask(&worker, "{\"id\":3,\"setting\":{\"mmap\":\"off\",\"batch\":64}}");
    assert_null(json_object_get(answer, "load_s"));
    unlink(model);
    has_error(ask(&worker, "{\"id\":4,\"setting\":{\"mmap\":true}}"), "other", "the model cannot be loaded");
    make_model("");
    has_value(ask(&worker, "{\"id\":5,\"setting\":{\"mmap\":true}}"), 5);
    assert_int_equal(end(&worker), 0);
}

/* The value is of a token: of all steps, over the tokens of all sequences. */
static void it_generates(void **state) {
    (void)state;
    make_model("");
    struct worker worker = started("", "--generate 12 --depth 40 --sequences 3 --threads 1 --batch 32");
    json_t *answer = ask(&worker, "{\"id\":1,\"setting\":{}}");
    double value = number(answer, "value"), taken_s = number(answer, "end_s") - number(answer, "start_s");
    assert_true(value > 0 && fabs(taken_s - 36 * value) < 1e-6);
    assert_true(fabs(number(answer, "tokens_per_s") * value - 1) < 1e-9);
    assert_true(number(answer, "ttft_s") > 0);
    assert_true(number(answer, "step_p50_s") > 0 && number(answer, "step_p50_s") <= number(answer, "step_p95_s"));
    answer = ask(&worker, "{\"id\":2,\"setting\":{\"ubatch\":8},\"limit_s\":1e-9}");
    assert_true(number(answer, "censored") == 1e-9);
    assert_null(json_object_get(answer, "tokens_per_s"));
    has_error(ask(&worker, "{\"id\":3,\"setting\":{\"batch\":2}}"), "other", "no room for a token of each of 3");
    number(ask(&worker, "{\"id\":4,\"setting\":{\"flash_attention\":\"off\",\"batch\":3}}"), "value");
    assert_int_equal(end(&worker), 0);
    worker = started("", "--generate 5 --threads 1");
    answer = ask(&worker, "{\"id\":1,\"setting\":{}}");
    assert_true(number(answer, "ttft_s") > 0); /* without a prompt that of the first step */
    assert_int_equal(end(&worker), 0);
    worker = start("", "--depth 5");
    assert_int_equal(end(&worker), 2);
}

static void it_takes_processor_time(void **state) {
    (void)state;
    make_model("");
    struct worker worker = started("", "--context 512 --threads 1 --clock cpu");
    json_t *answer = ask(&worker, "{\"id\":1,\"setting\":{}}");
    assert_true(number(answer, "value") == number(answer, "cpu_s"));
    answer = ask(&worker, "{\"id\":2,\"setting\":{},\"limit_s\":1e-9}");
    assert_true(number(answer, "censored") == 1e-9);
    assert_int_equal(end(&worker), 0);
}

/* Processor seconds that a process has used. */
static double cpu_s(pid_t pid) {
    char path[64], text[1024];
    unsigned long user = 0, system_ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_int_equal(
        sscanf(strrchr(text, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system_ticks),
        2);
    return (double)(user + system_ticks) / (double)sysconf(_SC_CLK_TCK);
}

/* Prompts are decoded with n_threads_batch; a worker that sets n_threads alone uses more than one processor here. */
static void one_thread_is_one_thread(void **state) {
    (void)state;
    make_model("--layers 4 --embd 512 --ff 1024");
    struct worker worker = started("", "--context 1024 --threads 1 --no-warmup");
    double before = cpu_s(worker.pid);
    json_t *answer = ask(&worker, "{\"id\":1,\"setting\":{\"ubatch\":64}}");
    double used = cpu_s(worker.pid) - before, value = number(answer, "value") + number(answer, "context_s");
    if (used > 1.1 * value + 0.05) print_error("%.3f s of processor in %.3f s\n", used, value);
    assert_true(used <= 1.1 * value + 0.05);
    assert_int_equal(end(&worker), 0);
}

static void memory_that_lacks_is_an_answer(void **state) {
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its shadow alone is larger than any limit */
#endif
    make_model("--layers 8 --heads 2");
    struct worker worker = started("ulimit -v 2000000;", "--context 1048576 --threads 1 --kv-type f32 --ubatch 32");
    has_error(ask(&worker, "{\"id\":1,\"setting\":{}}"), "memory", "alloc"); /* 4.3 GB of KV cache */
    json_t *answer = ask(&worker, "{\"id\":2,\"setting\":{\"kv_type\":\"q4_0\"},\"limit_s\":0.01}"); /* 0.6 GB */
    assert_true(number(answer, "censored") > 0);
    assert_int_equal(end(&worker), 0);
}

static void a_model_that_cannot_be_loaded(void **state) {
    (void)state;
    FILE *file = fopen(model, "wb");
    assert_non_null(file);
    fputs("GGUF", file);
    fclose(file);
    struct worker worker = start("", "");
    char line[16];
    assert_null(fgets(line, sizeof line, worker.from)); /* not ready */
    assert_int_equal(end(&worker), 3);
}

/* ---- What llama.cpp allocates ----------------------------------------------------------------------------- */

/* Sum of the lines that the last context logged of "... KV buffer size =   6.00 MiB". */
static double logged_mib(const char *what) {
    struct kerf_text log = {0};
    assert_int_equal(input_read(log_path, 64 << 20, &log, NULL), KERF_OK);
    char *last = log.data, *next, name[64];
    while ((next = strstr(last + 1, "constructing llama_context")) != NULL) last = next;
    snprintf(name, sizeof name, "%s buffer size =", what);
    double sum = 0;
    for (char *line = last; (line = strstr(line, name)) != NULL; line += strlen(name))
        sum += strtod(line + strlen(name), NULL);
    kerf_text_free(&log);
    return sum;
}

/* Contexts that llama.cpp made, by the worker's log. */
static int logged_contexts(void) {
    struct kerf_text log = {0};
    int count = 0;
    assert_int_equal(input_read(log_path, 64 << 20, &log, NULL), KERF_OK);
    for (const char *at = log.data; (at = strstr(at, "constructing llama_context")) != NULL; at++) count++;
    kerf_text_free(&log);
    return count;
}

/* Each load is warmed up by two contexts, before the first that is timed; and not before a setting is asked for, whose
 * buffers may be all that there is room for. */
static void each_load_is_warmed_up(void **state) {
    (void)state;
    make_model("");
    for (int is_warm = 0; is_warm < 2; is_warm++) {
        struct worker worker =
            started("", is_warm ? "--context 64 --threads 1 --mmap" : "--context 64 --threads 1 --mmap --no-warmup");
        assert_int_equal(logged_contexts(), 0);
        has_value(ask(&worker, "{\"id\":1,\"setting\":{\"ubatch\":8}}"), 1);
        assert_int_equal(logged_contexts(), is_warm ? 3 : 1);
        has_value(ask(&worker, "{\"id\":2,\"setting\":{\"ubatch\":16}}"), 2);
        assert_int_equal(logged_contexts(), is_warm ? 4 : 2);
        has_value(ask(&worker, "{\"id\":3,\"setting\":{\"mmap\":\"off\"}}"), 3); /* another load */
        assert_int_equal(logged_contexts(), is_warm ? 7 : 3);
        assert_int_equal(end(&worker), 0);
    }
}

/* A setting of which there is no context warms nothing up: the next one does. */
static void a_warm_up_that_fails_is_none(void **state) {
    (void)state;
    make_model("");
    struct worker worker = started("", "--context 64 --threads 1");
    has_error(ask(&worker, "{\"id\":1,\"setting\":{\"kv_type\":\"q8_0\",\"flash_attention\":\"off\"}}"), "other", "");
    int before = logged_contexts();
    has_value(ask(&worker, "{\"id\":2,\"setting\":{}}"), 2);
    assert_int_equal(logged_contexts(), before + 3);
    has_value(ask(&worker, "{\"id\":3,\"setting\":{}}"), 3);
    assert_int_equal(logged_contexts(), before + 4);
    assert_int_equal(end(&worker), 0);
}

static void it_allocates_what_was_estimated(void **state) {
    (void)state;
    static const char *const models[] = {
        "--layers 4 --embd 256 --heads 8 --kv-heads 2 --ff 704 --vocab 32000 --tokenizer spm",
        "--layers 2 --embd 512 --heads 8 --ff 2048 --vocab 1000 --type q4_0",
        "--layers 3 --embd 256 --heads 8 --kv-heads 2 --ff 512 --experts 8 --vocab 4096 --type q8_0",
        "--layers 6 --embd 256 --heads 4 --kv-heads 2 --ff 1024 --vocab 16000 --architecture gemma2",
        "--layers 3 --embd 256 --heads 8 --kv-heads 2 --ff 768 --vocab 8000 --architecture qwen3 --type f32",
        "--layers 3 --embd 256 --heads 4 --kv-heads 1 --ff 768 --vocab 8000 --architecture qwen2 --type f16"};
    static const int64_t batches[][2] = {{2048, 512}, {512, 64}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct kerf_gguf *gguf = NULL;
        struct kerf_error err = {0};
        make_model(models[i]);
        assert_int_equal(kerf_gguf_read(model, &gguf, &err), KERF_OK);
        struct worker worker = started("", "--context 3000 --threads 1");
        for (int k = 0; k < 4; k++) {
            struct kerf_llama_setting setting;
            struct kerf_llama_memory memory;
            char request[256];
            kerf_llama_setting_defaults(&setting);
            setting.context = 3000;
            setting.batch = batches[k / 2][0];
            setting.ubatch = batches[k / 2][1];
            setting.flash_attention = k % 2 ? KERF_LLAMA_ATTENTION_OFF : KERF_LLAMA_ATTENTION_ON;
            snprintf(request, sizeof request,
                     "{\"id\":1,\"setting\":{\"batch\":%d,\"ubatch\":%d,\"flash_attention\":\"%s\"},\"limit_s\":1e-6}",
                     (int)setting.batch, (int)setting.ubatch, k % 2 ? "off" : "on");
            ask(&worker, request);
            assert_int_equal(kerf_llama_memory_estimate(gguf, &setting, &memory, &err), KERF_OK);
            double kv = logged_mib("KV") * 1048576, compute = logged_mib("compute") * 1048576;
            double off = (double)memory.compute_host / compute - 1;
            if (fabs((double)memory.kv_host - kv) > 11000 || fabs(off) > 0.1)
                print_error("%s, %s: KV %.0f for %.0f, compute %+.1f %%\n", models[i], request, (double)memory.kv_host,
                            kv, 100 * off);
            assert_true(fabs((double)memory.kv_host - kv) <= 11000); /* two caches, two decimals each */
            assert_true(fabs(off) <= 0.1);
        }
        assert_int_equal(end(&worker), 0);
        kerf_gguf_free(gguf);
    }
}

static void types_are_those_of_ggml(void **state) {
    (void)state;
    int known = 0;
    for (size_t i = 0; kerf_gguf_type_at(i); i++) {
        const struct kerf_gguf_type *type = kerf_gguf_type_at(i);
        assert_int_equal(ggml_blck_size((enum ggml_type)type->id), type->block);
        assert_int_equal(ggml_type_size((enum ggml_type)type->id), type->block_bytes);
        assert_ptr_equal(kerf_gguf_type_find(ggml_type_name((enum ggml_type)type->id)), type);
        known++;
    }
    for (int id = 0; id < GGML_TYPE_COUNT; id++) known -= ggml_blck_size((enum ggml_type)id) > 0;
    assert_true(known >= 0); /* none of ggml's is missing */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(it_measures_and_goes_on_after_errors, give_back),
        cmocka_unit_test_teardown(a_slow_chunk_is_stopped, give_back),
        cmocka_unit_test_teardown(what_needs_another_load_gets_one, give_back),
        cmocka_unit_test_teardown(it_generates, give_back),
        cmocka_unit_test_teardown(it_takes_processor_time, give_back),
        cmocka_unit_test_teardown(one_thread_is_one_thread, give_back),
        cmocka_unit_test_teardown(memory_that_lacks_is_an_answer, give_back),
        cmocka_unit_test_teardown(a_model_that_cannot_be_loaded, give_back),
        cmocka_unit_test_teardown(it_allocates_what_was_estimated, give_back),
        cmocka_unit_test_teardown(types_are_those_of_ggml, give_back),
        cmocka_unit_test_teardown(each_load_is_warmed_up, give_back),
        cmocka_unit_test_teardown(a_warm_up_that_fails_is_none, give_back),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
