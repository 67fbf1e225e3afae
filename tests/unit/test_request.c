/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of `kerf estimate --lines`: what must be there, what is filled in, and where errors point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kerf/cost.h"

#define LAYOUT "\"layout\":{\"dp\":2,\"tp1\":8,\"pp\":4,\"scale_up\":{\"tp1\":4}}"
#define WHOLE  "\"model\":\"gpt3\",\"system\":\"a100\",\"global_batch\":64," LAYOUT

static const char *line_of(const struct kerf_error *err) {
    static char line[1024];
    kerf_error_format(err, line, sizeof line);
    return line;
}

static struct kerf_request expect_taken(const char *json) {
    struct kerf_request request;
    struct kerf_error err;
    memset(&request, 0x5A, sizeof request);
    if (kerf_request_parse(json, strlen(json), "request", NULL, &request, &err) != KERF_OK)
        fail_msg("%s\n%s", json, line_of(&err));
    return request;
}

/* Where the error should point, the JSON has an @, which is taken out; without one the line is the whole error. */
static void expect_refused(const char *marked, int32_t code, const char *message) {
    char json[1024], line[1024];
    const char *mark = strchr(marked, '@');
    snprintf(json, sizeof json, "%.*s%s", (int)(mark ? mark - marked : 0), marked, mark ? mark + 1 : marked);
    snprintf(line, sizeof line, "request:1:%td: %s", mark ? mark - marked + 1 : 0, message);
    if (mark == NULL) snprintf(line, sizeof line, "%s", message);
    struct kerf_request request, before;
    struct kerf_error err;
    memset(&request, 0x5A, sizeof request);
    before = request;
    assert_int_equal(kerf_request_parse(json, strlen(json), "request", NULL, &request, &err), code);
    assert_int_equal(err.code, code);
    assert_string_equal(line_of(&err), line);
    assert_memory_equal(&request, &before, sizeof request);
    assert_int_equal(kerf_request_parse(json, strlen(json), "request", NULL, &request, NULL), code);
}

static void fills_in_what_is_left_out(void **state) {
    (void)state;
    struct kerf_request request = expect_taken("{" WHOLE "}");
    assert_string_equal(request.problem.model.name, "gpt3");
    assert_string_equal(request.problem.system.name, "a100");
    assert_int_equal(request.problem.strategy, KERF_STRATEGY_1D);
    assert_int_equal(request.problem.attention, KERF_ATTENTION_FUSED);
    assert_int_equal(request.problem.system.scale_up.size, 4);
    assert_int_equal(request.problem.gpus, 64);
    assert_int_equal(request.problem.global_batch, 64);
    assert_int_equal(request.problem.seq_length, 2048);
    assert_string_equal(request.cost_model, "");
    assert_int_equal(request.layers, 0);
    struct kerf_layout layout;
    assert_int_equal(kerf_layout_parse("dp=2,tp1=8,pp=4,scale_up.tp1=4", &layout, NULL), KERF_OK);
    assert_memory_equal(&layout, &request.layout, sizeof layout);
}

static void takes_what_is_given(void **state) {
    (void)state;
    struct kerf_request request =
        expect_taken("{\"layers\":true,\"cost_model\":\"reference\",\"attention\":\"summa\",\"strategy\":\"summa\","
                     "\"gpus\":32,\"seq_length\":4096,"
                     "\"scale_up_size\":16,\"global_batch\":128,\"system\":\"h200\",\"model\":{\"hidden_size\":1024,"
                     "\"intermediate_size\":4096,"
                     "\"num_hidden_layers\":8,\"num_attention_heads\":16,\"more\":{\"and\":[\"more\"]}},"
                     "\"layout\":{\"dp\":2,\"tp1\":4,\"tp2\":4,\"pp\":1,\"micro_batch\":2,\"summa_blocks\":4,\"scale_"
                     "up\":{\"tp1\":4,\"tp2\":4,\"dp\":1,\"pp\":1}}}");
    assert_string_equal(request.problem.model.name, "inline");
    assert_int_equal(request.problem.model.hidden_size, 1024);
    assert_int_equal(request.problem.strategy, KERF_STRATEGY_SUMMA);
    assert_int_equal(request.problem.attention, KERF_ATTENTION_SUMMA);
    assert_int_equal(request.problem.system.scale_up.size, 16);
    assert_int_equal(request.problem.gpus, 32);
    assert_int_equal(request.problem.seq_length, 4096);
    assert_string_equal(request.cost_model, "reference");
    assert_int_equal(request.layers, 1);
    assert_int_equal(request.layout.summa_blocks, 4);
}

static void takes_an_inline_system(void **state) {
    (void)state;
    struct kerf_request request = expect_taken("{\"model\":\"gpt3\",\"system\":{\"name\":\"own\",\"matrix_flops_per_"
                                               "s\":\"1 PFLOP/s\",\"vector_flops_per_s\":1e14,"
                                               "\"memory_bandwidth_bytes_per_s\":3e12,\"memory_capacity_bytes\":\"141 "
                                               "GB\",\"scale_up\":{\"size\":8,\"bandwidth_bytes_per_s\":4.5e11,"
                                               "\"efficiency\":1,\"latency_s\":0},\"scale_out\":{\"bandwidth_bytes_per_"
                                               "s\":5e10,\"efficiency\":0.5,\"latency_s\":\"5 us\","
                                               "\"nics_per_device\":1}},\"global_batch\":64," LAYOUT "}");
    assert_string_equal(request.problem.system.name, "own");
    assert_true(request.problem.system.matrix_flops_per_s == 1e15);
    assert_int_equal(request.problem.system.scale_up.size, 8);
}

static void says_what_is_wrong_in_the_request(void **state) {
    (void)state;
    expect_refused("@{}", KERF_EINVALID, "\"model\" is missing");
    expect_refused("@{\"model\":\"gpt3\"}", KERF_EINVALID, "\"system\" is missing");
    expect_refused("@{\"model\":\"gpt3\",\"system\":\"a100\"}", KERF_EINVALID, "\"global_batch\" is missing");
    expect_refused("@{\"model\":\"gpt3\",\"system\":\"a100\",\"global_batch\":64}", KERF_EINVALID,
                   "\"layout\" is missing");
    expect_refused("{@\"modell\":\"gpt3\"}", KERF_EUNKNOWN, "unknown key \"modell\"; did you mean \"model\"?");
    expect_refused(
        "{" WHOLE ",@\"rank\":1}", KERF_EUNKNOWN,
        "unknown key \"rank\"; the keys here are model, system, scale_up_size, strategy, gpus, global_batch, "
        "seq_length, layout, cost_model, attention, layers, precision, gradients, mtp_layers");
    expect_refused("{\"model\":@7}", KERF_EINVALID, "\"model\" must be a name, a file or an object {...}");
    expect_refused("{\"model\":\"gpt3\",\"system\":@[]}", KERF_EINVALID,
                   "\"system\" must be a name, a file or an object {...}");
    expect_refused("{\"model\":@\"gtp3\"}", KERF_EUNKNOWN,
                   "no model or file 'gtp3'; did you mean gpt3? `kerf models` lists the names");
    expect_refused("{\"model\":\"none.json\"}", KERF_EIO, "none.json: no such file");
    expect_refused("{" WHOLE ",\"strategy\":@\"2d\"}", KERF_EUNKNOWN,
                   "unknown strategy '2d'; there are 1d, summa, seqp and hybrid");
    expect_refused("{" WHOLE ",\"attention\":@true}", KERF_EINVALID, "\"attention\" must be text, not true or false");
    expect_refused("{" WHOLE ",\"gpus\":@0}", KERF_EINVALID, "\"gpus\" must lie between 1 and 1073741824, not 0");
    expect_refused("{" WHOLE ",\"scale_up_size\":@1048577}", KERF_EINVALID,
                   "\"scale_up_size\" must lie between 1 and 1048576, not 1048577");
    expect_refused("{" WHOLE ",\"layers\":@1}", KERF_EINVALID, "\"layers\" must be true or false, not a number");
    expect_refused("{\"model\":\"gpt3\",\"system\":\"a100\",\"global_batch\":@64.5," LAYOUT "}", KERF_EINVALID,
                   "\"global_batch\" must be a whole number, not 64.5");
    expect_refused("{\"model\":\"gpt3\",\"system\":\"a100\",\"global_batch\":64,\"gpus\":128,\"layout\":@{\"dp\":2,"
                   "\"tp1\":8,\"pp\":4}}",
                   KERF_EINVALID, "dp 2 x tp1 8 x tp2 1 x pp 4 is 64 accelerators, not 128");
    expect_refused("{\"model\":\"gpt3\",\"system\":\"a100\",\"global_batch\":64,\"layout\":@{\"tp2\":2,\"tp\":8}}",
                   KERF_EINVALID,
                   "layout: tp2 is for 1d, summa and seqp, and tp for hybrid: a layout has tp1 or tp, and not parts of "
                   "both");
    expect_refused("{\"model\":\"gpt3\",\"system\":\"a100\",\"global_batch\":64,\"layout\":{@\"tp3\":8}}",
                   KERF_EUNKNOWN, "unknown key \"tp3\"; did you mean \"tp1\"?");
    expect_refused(
        "{\"model\":\"gpt3\",\"system\":\"a100\",\"global_batch\":64,\"layout\":{\"dp\":2,\"scale_up\":{@\"tp3\":8}}}",
        KERF_EUNKNOWN, "unknown key \"tp3\"; did you mean \"tp1\"?");
    expect_refused("{\"model\":\"gpt3\",\"system\":\"a100\",\"global_batch\":64,\"layout\":{\"dp\":@0}}", KERF_EINVALID,
                   "\"dp\" must lie between 1 and 1073741824, not 0");
    expect_refused("{\"model\":\"gpt3\",\"system\":\"a100\",\"global_batch\":64,\"layout\":@\"dp=2\"}", KERF_EINVALID,
                   "\"layout\" must be an object {...}, not text");
}

static void says_what_is_wrong_inside_a_description(void **state) {
    (void)state;
    expect_refused(
        "{\"model\":@{\"hidden_size\":10},\"system\":\"a100\"}", KERF_EINVALID,
        "\"intermediate_size\" is missing; a model needs hidden_size, intermediate_size, num_hidden_layers and "
        "num_attention_heads");
    expect_refused(
        "{\"model\":{\"hidden_size\":10,\"intermediate_size\":40,\"num_hidden_layers\":@0},\"system\":\"a100\"}",
        KERF_EINVALID, "\"num_hidden_layers\" must lie between 1 and 1048576, not 0");
    expect_refused("{\"model\":\"gpt3\",\"system\":{\"scale_up\":{@\"sise\":1}}}", KERF_EUNKNOWN,
                   "unknown key \"sise\"; did you mean \"size\"?");
    expect_refused("@{\"system\":\"a100\",\"global_batch\":64," LAYOUT
                   ",\"model\":{\"hidden_size\":12288,\"intermediate_size\":49152,"
                   "\"num_hidden_layers\":96,\"num_attention_heads\":96}}",
                   KERF_EINVALID, "\"seq_length\" is missing, and the model has no max_position_embeddings");
}

/* It is where the requests come from: reading a model there would swallow those that follow. */
static void standard_input_is_no_model(void **state) {
    (void)state;
    int before = dup(STDIN_FILENO), ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "next request\n", 13), 13);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    struct kerf_error err[2];
    struct kerf_request request;
    const char *model = "{\"model\":\"-\"}", *system = "{\"model\":\"gpt3\",\"system\":\"-\"}";
    int32_t codes[2] = {kerf_request_parse(model, strlen(model), "request", NULL, &request, &err[0]),
                        kerf_request_parse(system, strlen(system), "request", NULL, &request, &err[1])};
    char left[32];
    ssize_t got = read(STDIN_FILENO, left, sizeof left);
    dup2(before, STDIN_FILENO);
    close(before);
    assert_int_equal(got, 13);
    assert_int_equal(codes[0], KERF_EINVALID);
    assert_int_equal(codes[1], KERF_EINVALID);
    assert_string_equal(line_of(&err[0]), "request:1:10: \"model\" must be a name, a file or an object {...}");
    assert_string_equal(line_of(&err[1]), "request:1:26: \"system\" must be a name, a file or an object {...}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in_what_is_left_out),
        cmocka_unit_test(takes_what_is_given),
        cmocka_unit_test(takes_an_inline_system),
        cmocka_unit_test(says_what_is_wrong_in_the_request),
        cmocka_unit_test(says_what_is_wrong_inside_a_description),
        cmocka_unit_test(standard_input_is_no_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
