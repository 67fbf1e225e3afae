/* SPDX-License-Identifier: Apache-2.0 */
/* The door: requests say what options say, answers are those of the library, and files are read by permission alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <jansson.h>
#include <pthread.h>
#include <string.h>
#include "kerf/kerf.h"

static struct kerf_error err;

static json_t *ask(const char *verb, const char *request) {
    char *answer = NULL;
    if (kerf_call(verb, request, strlen(request), NULL, &answer, &err) != KERF_OK) return NULL;
    json_t *json = json_loads(answer, 0, NULL);
    assert_non_null(json);
    kerf_call_free(answer);
    return json;
}

static double number(const json_t *json, const char *key) {
    const json_t *value = json_object_get(json, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* The request fails, and the error has this part. */
static void refuses(const char *verb, const char *request, const char *part) {
    json_t *answer = ask(verb, request);
    if (answer) fail_msg("%s is answered", request);
    if (strstr(err.message, part) == NULL) fail_msg("'%s' lacks '%s'", err.message, part);
}

static void a_schedule_is_that_of_the_library(void **state) {
    (void)state;
    json_t *json = ask("schedule", "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":8,\"no_ops\":true}");
    assert_non_null(json);
    assert_true(number(json, "makespan_s") == 33); /* (m + p - 1) (F + I + W) */
    assert_null(json_object_get(json, "ops"));
    json_decref(json);
    json = ask("schedule",
               "{\"schedule\":\"1f1b\",\"devices\":2,\"microbatches\":\"2\",\"p2p\":\"5ms\",\"forward\":null}");
    assert_non_null(json);
    assert_int_equal(json_array_size(json_object_get(json, "ops")), 8);
    json_decref(json);
}

static void launches_are_written_and_read(void **state) {
    (void)state;
    json_t *plan = ask("estimate", "{\"model\":\"llama3_8b\",\"system\":\"h100\",\"global_batch\":64,"
                                   "\"layout\":\"tp=2,pp=2,dp=4\"}");
    json_t *request = json_pack("{s:s,s:O}", "write", "megatron", "plan", plan);
    char *text = json_dumps(request, 0);
    json_t *written = ask("launch", text);
    free(text);
    json_decref(request);
    assert_string_equal(json_string_value(json_object_get(written, "framework")), "megatron");
    request = json_pack("{s:O}", "text", json_object_get(written, "text"));
    text = json_dumps(request, 0);
    json_t *launch = ask("launch", text), *layout = json_object_get(launch, "layout");
    free(text);
    assert_int_equal(json_integer_value(json_object_get(launch, "gpus")), 16);
    assert_int_equal(json_integer_value(json_object_get(layout, "tp")), 2);
    assert_int_equal(json_integer_value(json_object_get(layout, "pp")), 2);
    json_decref(request);
    json_decref(launch);
    json_decref(written);
    json_decref(plan);
    refuses("launch", "{}", "\"text\" is missing");
    refuses("launch", "{\"write\":\"megatron\"}", "\"plan\" is missing");
    refuses("launch", "{\"write\":\"megatron\",\"plan\":{}}", "this is no plan");
    refuses("launch", "{\"text\":3}", "must be a text");
}

static void a_list_of_schedules_is_a_comparison(void **state) {
    (void)state;
    json_t *json = ask("schedule", "{\"schedule\":[\"1f1b\",\"zb_h1\"],\"devices\":4,\"microbatches\":[4,8],"
                                   "\"no_ops\":true}");
    assert_non_null(json);
    assert_int_equal(json_array_size(json_object_get(json, "schedules")), 4);
    json_decref(json);
}

static void an_estimate_is_the_plan_of_its_layout(void **state) {
    (void)state;
    json_t *plan =
        ask("plan", "{\"model\":\"llama3_8b\",\"system\":\"h100\",\"gpus\":16,\"global_batch\":64,\"tp\":[1,2],"
                    "\"recompute\":\"none,full\",\"set\":[\"memory_capacity_bytes=100GB\"],\"top\":1}");
    assert_non_null(plan);
    const json_t *search = json_array_get(json_object_get(plan, "searches"), 0);
    const json_t *best = json_array_get(json_object_get(search, "plans"), 0);
    char request[512];
    snprintf(request, sizeof request,
             "{\"model\":\"llama3_8b\",\"system\":\"h100\",\"global_batch\":64,\"layout\":\"%s\","
             "\"set\":\"memory_capacity_bytes=100GB\"}",
             json_string_value(json_object_get(best, "layout_text")));
    json_t *estimate = ask("estimate", request);
    assert_non_null(estimate);
    assert_true(number(estimate, "step_time_s") == number(best, "step_time_s"));
    assert_true(number(search, "memory_capacity_bytes") == 1e11);
    json_decref(estimate);
    json_decref(plan);
}

static void a_description_stands_for_a_name(void **state) {
    (void)state;
    json_t *json = ask("plan", "{\"model\":{\"hidden_size\":1024,\"intermediate_size\":4096,\"num_hidden_layers\":8,"
                               "\"num_attention_heads\":16,\"max_position_embeddings\":1024},\"system\":\"h100\","
                               "\"gpus\":8,\"global_batch\":8}");
    assert_non_null(json);
    json_decref(json);
    refuses("plan", "{\"model\":{\"hidden_size\":1024},\"system\":\"h100\",\"gpus\":8,\"global_batch\":8}",
            "intermediate_size");
    assert_string_equal(err.file, "model");
}

static void mistakes_are_those_of_the_command_line(void **state) {
    (void)state;
    refuses("plam", "{}", "did you mean plan?");
    refuses("plan", "[]", "object");
    refuses("plan", "{", "not valid JSON");
    refuses("plan", "{}", "the model is missing");
    refuses("plan", "{\"model\":\"gpt3\",\"system\":\"h100\",\"gpuz\":8}", "did you mean --gpus?");
    refuses("plan", "{\"model\":\"gpt3\",\"system\":\"h100\",\"gpus\":8,\"global_batch\":1.5}", "whole number");
    refuses("plan", "{\"model\":\"gpt3\",\"system\":\"h100\",\"gpus\":[8,{}],\"global_batch\":8}", "list of numbers");
    refuses("plan", "{\"model\":7,\"system\":\"h100\",\"gpus\":8,\"global_batch\":8}", "\"model\" must be a name");
    refuses("plan", "{\"model\":[\"gpt3\",7],\"system\":\"h100\",\"gpus\":8,\"global_batch\":8}", "a list of names");
    refuses("schedule", "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":8,\"placement\":\"v\"}", "best does");
    refuses("schedule", "{\"schedule\":\"-x\",\"devices\":4,\"microbatches\":8}", "no schedule is called '-x'");
    refuses("schedule", "{\"schedule\":\"zb_h9\",\"devices\":4,\"microbatches\":8}", "did you mean zb_h");
}

static void nothing_is_ignored(void **state) {
    (void)state;
    refuses("plan", "{\"model\":\"gpt3\",\"system\":\"h100\",\"gpus\":8,\"global_batch\":8,\"seq_length\":false}",
            "\"seq_length\" must be a number, a text or a list of them, not false");
    refuses("plan", "{\"model\":\"gpt3\",\"system\":\"h100\",\"gpus\":8,\"global_batch\":8,\"wy\":false}",
            "did you mean --why?");
    refuses("plan", "{\"help\":true,\"model\":\"gpt3\",\"system\":\"h100\",\"gpus\":8,\"global_batch\":8}",
            "unknown option --help");
    refuses("score", "{\"help\":true,\"runs\":\"id\\n\"}", "unknown option --help");
    refuses("schedule", "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":8,\"model\":{}}",
            "unknown option --model");
    refuses("launch", "{\"text\":\"x\",\"model\":{}}", "unknown option --model");
    refuses("launch", "{\"text\":\"x\",\"plan\":{}}", "\"plan\" is for a launch that is written");
    refuses("launch", "{\"text\":\"x\",\"rank\":2}", "\"rank\" is for a launch that is written");
    refuses("launch", "{\"write\":\"megatron\",\"plan\":{},\"text\":\"x\"}", "\"text\" is for a launch that is read");
    refuses("launch", "{\"write\":\"megatron\",\"plan\":{},\"name\":\"x\"}", "\"name\" is for");
    refuses("launch", "{\"write\":\"megatron\",\"plan\":{},\"framework\":\"x\"}", "\"framework\" is for");
    refuses("launch", "{\"write\":\"megatron\",\"plan\":{},\"gpus\":8}", "\"gpus\" is for");
    json_t *json = ask("schedule", "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":8,\"no_ops\":false}");
    assert_non_null(json_object_get(json, "ops"));
    json_decref(json);
}

static void files_are_read_by_permission_alone(void **state) {
    (void)state;
    const char *const file = KERF_SOURCE_DIR "/share/models/gpt3.json";
    char request[600], *answer = NULL;
    const struct kerf_call_options options = {.size = sizeof options, .files = 1};
    snprintf(request, sizeof request, "{\"model\":\"%s\",\"system\":\"h100\",\"gpus\":512,\"global_batch\":512}", file);
    refuses("plan", request, "in the catalogue");
    assert_int_equal(kerf_call("plan", request, strlen(request), &options, &answer, &err), KERF_OK);
    kerf_call_free(answer);
    snprintf(request, sizeof request, "{\"schedule\":\"%s\",\"devices\":4,\"microbatches\":8}", file);
    refuses("schedule", request, "no schedule is called");
    refuses("schedule", "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":8,\"times\":\"t.json\"}", "--times");
    refuses("schedule", "{\"schedule\":\"1f1b\",\"trace\":\"traces\"}", "--trace");
    refuses("schedule", "{\"plan\":\"plan.json\"}", "--plan");
}

static int32_t stop_at_once(void *context, double done) {
    (void)done;
    return ++*(int *)context > 0;
}

static void progress_ends_the_work_with_what_is_known(void **state) {
    (void)state;
    int told = 0;
    const struct kerf_call_options options = {
        .size = sizeof options, .progress = stop_at_once, .progress_context = &told};
    const char *request =
        "{\"model\":\"gpt3_1t\",\"system\":\"h100\",\"gpus\":1024,\"global_batch\":4096,\"threads\":1}";
    char *answer = NULL;
    assert_int_equal(kerf_call("plan", request, strlen(request), &options, &answer, &err), KERF_OK);
    assert_non_null(strstr(answer, "\"proved\":false"));
    assert_true(told > 0);
    kerf_call_free(answer);
}

static void *ask_often(void *ret_failures) {
    for (int i = 0; i < 20; i++) {
        const char *request = "{\"schedule\":\"zb_h1\",\"devices\":4,\"microbatches\":8,\"no_ops\":true}";
        struct kerf_error mine;
        char *answer = NULL;
        if (kerf_call("schedule", request, strlen(request), NULL, &answer, &mine) != KERF_OK) ++*(int *)ret_failures;
        kerf_call_free(answer);
    }
    return NULL;
}

static void eight_threads_may_call(void **state) {
    (void)state;
    pthread_t threads[8];
    int failures[8] = {0};
    for (int i = 0; i < 8; i++) assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &failures[i]), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
}

static void answers_may_be_pictures(void **state) {
    (void)state;
    struct kerf_call_options options = {.size = sizeof options, .format = "svg"};
    static const struct {
        const char *verb, *request;
    } cases[] = {{"plan", "{\"model\":\"llama3_8b\",\"system\":\"h100\",\"gpus\":64,\"global_batch\":128}"},
                 {"schedule", "{\"schedule\":\"zb_h1\",\"devices\":4,\"microbatches\":8}"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *answer = NULL;
        size_t length = strlen(cases[i].request);
        assert_int_equal(kerf_call(cases[i].verb, cases[i].request, length, &options, &answer, &err), KERF_OK);
        assert_memory_equal(answer, "<svg", 4);
        kerf_call_free(answer);
    }
    char *answer = NULL;
    assert_int_equal(kerf_call("estimate", "{}", 2, &options, &answer, &err), KERF_EINVALID);
    assert_string_equal(err.message, "estimate has no answer as 'svg', only as json");
    options.format = "gif";
    assert_int_equal(kerf_call("plan", "{}", 2, &options, &answer, &err), KERF_EINVALID);
    assert_null(answer);
}

/* The first of them may have no answer. */
static void a_text_is_of_one_schedule(void **state) {
    (void)state;
    static const char *const requests[] = {
        "{\"schedule\":[\"dualpipe\",\"gpipe\"],\"devices\":3,\"microbatches\":3}",
        "{\"schedule\":\"gpipe\",\"devices\":3,\"microbatches\":\"2,3\"}",
    };
    struct kerf_call_options options = {.size = sizeof options};
    char *answer = NULL;
    for (size_t i = 0; i < 4; i++) {
        options.format = i / 2 ? "csv" : "text";
        assert_int_equal(kerf_call("schedule", requests[i % 2], strlen(requests[i % 2]), &options, &answer, &err),
                         KERF_EINVALID);
        assert_non_null(strstr(err.message, "holds one schedule, not a comparison or a sweep"));
    }
    assert_null(answer);
}

/* Programs that were built against an older or a newer header, and one that forgot the size. */
static void options_have_a_size(void **state) {
    (void)state;
    const char *request = "{\"schedule\":\"1f1b\",\"devices\":2,\"microbatches\":2}";
    struct {
        struct kerf_call_options known;
        int64_t later;
    } options = {.known = {.format = "csv"}};
    char *answer = NULL;
    assert_int_equal(kerf_call("schedule", request, strlen(request), &options.known, &answer, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "must be the size of the struct"));
    options.known.size = SIZE_MAX;
    assert_int_equal(kerf_call("schedule", request, strlen(request), &options.known, &answer, &err), KERF_EINVALID);
    options.known.size = offsetof(struct kerf_call_options, format);
    assert_int_equal(kerf_call("schedule", request, strlen(request), &options.known, &answer, &err), KERF_OK);
    assert_int_equal(answer[0], '{');
    kerf_call_free(answer);
    options.known.size = sizeof options;
    assert_int_equal(kerf_call("schedule", request, strlen(request), &options.known, &answer, &err), KERF_OK);
    assert_memory_equal(answer, "0F0,", 4);
    kerf_call_free(answer);
    answer = NULL;
    options.later = 1;
    assert_int_equal(kerf_call("schedule", request, strlen(request), &options.known, &answer, &err), KERF_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "is older than the program"));
    assert_null(answer);
}

static void requests_of_attackers_are_refused(void **state) {
    (void)state;
    static const char nul[] = "{\"schedule\":\"1f1b\0\"}";
    char *answer = NULL, *deep = malloc(1 << 20);
    assert_int_equal(kerf_call("schedule", nul, sizeof nul - 1, NULL, &answer, &err), KERF_ESYNTAX);
    assert_int_equal(kerf_call("schedule", nul, 0, NULL, &answer, &err), KERF_ESYNTAX);
    refuses("schedule", "{\"schedule\":\"1f1b\\u0000\"}", "u0000");
    refuses("plan", "{\"model\":{\"a\\u0000\":1}}", "u0000");
    refuses("schedule", "{\"schedule\":\"\xff\"}", "not valid JSON");
    refuses("schedule", "{\"schedule\":\"1f1b\",\"schedule\":\"zb_h1\"}", "duplicate object key");
    refuses("schedule", "{\"schedule\":\"1f1b\",\"devices\":1e999,\"microbatches\":8}", "number");
    refuses("schedule", "{\"schedule\":\"1f1b\",\"devices\":1e15,\"microbatches\":8}", "--devices");
    refuses("schedule", "{\"\":1}", "unknown option --");
    refuses("schedule", "{\"schedule=x\":1}", "unknown option");
    refuses("schedule", "{\"schedule\":\"1f1b\",\"microbatches\":8,\"devices=4\":true}", "unknown option --devices");
    refuses("schedule", "{\"schedule\":\"1f1b\",\"system\":{}}", "unknown option --system");
    refuses("score", "{\"model\":{}}", "unknown option --model");
    assert_non_null(deep);
    memset(deep, '[', 1 << 20);
    assert_int_equal(kerf_call("plan", deep, 1 << 20, NULL, &answer, &err), KERF_ESYNTAX);
    free(deep);
    assert_null(answer);
}

static void a_flag_ends_the_work(void **state) {
    (void)state;
    int32_t flag = 0;
    assert_int_equal(kerf_progress_flag(&flag, 0.5), 0);
    flag = 1;
    const struct kerf_call_options options = {
        .size = sizeof options, .progress = kerf_progress_flag, .progress_context = &flag};
    const char *request = "{\"schedule\":\"best\",\"devices\":8,\"microbatches\":24,\"placement\":\"v\",\"chunks\":2,"
                          "\"p2p\":0.3,\"memory_cap\":7,\"search_steps\":1000000000000,\"no_ops\":true}";
    char *answer = NULL;
    assert_int_equal(kerf_call("schedule", request, strlen(request), &options, &answer, &err), KERF_OK);
    kerf_call_free(answer);
}

/* What a generated client checks before it sends: every form that is answered. */
static void schemas_allow_what_is_answered(void **state) {
    (void)state;
    static const struct {
        const char *verb, *member, *type;
    } cases[] = {{"plan", "model", "object"},     {"plan", "model", "array"},   {"plan", "system", "object"},
                 {"estimate", "model", "object"}, {"launch", "plan", "object"}, {"schedule", "schedule", "array"},
                 {"schedule", "plan", "string"},  {"score", "runs", "string"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *schema = NULL;
        size_t k, found = 0;
        json_t *type;
        assert_int_equal(kerf_call_schema(cases[i].verb, &schema, &err), KERF_OK);
        json_t *json = json_loads(schema, 0, NULL), *properties = json_object_get(json, "properties");
        json_array_foreach(json_object_get(json_object_get(properties, cases[i].member), "type"), k, type) found +=
            strcmp(json_string_value(type), cases[i].type) == 0;
        if (found != 1) fail_msg("%s: %s may not be %s", cases[i].verb, cases[i].member, cases[i].type);
        const int needs_model = json_object_get(properties, "model") != NULL;
        assert_int_equal(json_array_size(json_object_get(json, "required")), needs_model);
        json_decref(json);
        kerf_call_free(schema);
    }
}

static void a_schedule_may_be_a_part_of_a_page(void **state) {
    (void)state;
    struct kerf_call_options options = {.size = sizeof options, .format = "html"};
    const char *request = "{\"schedule\":[\"zb_h1\",\"1f1b\"],\"devices\":4,\"microbatches\":8}";
    char *answer = NULL;
    assert_int_equal(kerf_call("schedule", request, strlen(request), &options, &answer, &err), KERF_OK);
    json_t *json = json_loads(answer, 0, NULL);
    kerf_call_free(answer);
    const char *html = json_string_value(json_object_get(json, "html"));
    assert_non_null(strstr(html, "<canvas"));
    assert_null(strstr(html, "<html"));
    assert_null(strstr(html, " style=")); /* which the policy of a page forbids */
    assert_int_equal(json_array_size(json_object_get(json_object_get(json, "answer"), "schedules")), 2);
    json_decref(json);
}

static void schedules_come_with_the_request(void **state) {
    (void)state;
    json_t *json = ask("schedule", "{\"schedule\":\"torch.csv\",\"files\":{\"torch.csv\":\"0F0,0B0\\n\"}}");
    assert_non_null(json);
    assert_true(number(json, "makespan_s") == 3);
    json_decref(json);
    refuses("schedule", "{\"schedule\":\"torch.csv\",\"files\":{\"torch.csv\":\"0F0,0B0\\n\"},\"devices\":2}",
            "the file has 1 devices, not 2");
    refuses("schedule", "{\"schedule\":\"mine.txt\",\"files\":{\"mine.txt\":\"?\"}}", "");
    assert_string_equal(err.file, "mine.txt");
    assert_int_equal(err.line, 1);
    refuses("schedule", "{\"schedule\":\"other.txt\",\"files\":{\"mine.txt\":\"?\"}}", "no schedule is called");
    static const char *const unnamed[] = {"mine.txt", "1f1b"}; /* a rule is no file */
    for (size_t i = 0; i < sizeof unnamed / sizeof *unnamed; i++) {
        char request[128];
        snprintf(request, sizeof request,
                 "{\"schedule\":\"1f1b\",\"devices\":2,\"microbatches\":2,\"files\":{\"%s\":\"\"}}", unnamed[i]);
        refuses("schedule", request, "which no schedule");
        assert_non_null(strstr(err.message, unnamed[i]));
    }
    refuses("schedule", "{\"schedule\":\"mine.txt\",\"files\":[]}", "\"files\" must be an object");
    refuses("schedule", "{\"schedule\":\"mine.txt\",\"files\":{\"mine.txt\":1}}", "must be the text");
    json = ask(
        "schedule",
        "{\"trace\":\"run\",\"files\":{\"run/event_times_PP1_VPP1_TPxCPxDP_rank_0_pp_rank_0_rank_0.json\":\"{"
        "\\\"forward-0-start\\\":0,\\\"forward-0-end\\\":1,\\\"backward-0-start\\\":1,\\\"backward-0-end\\\":3}\"}}");
    if (json == NULL) fail_msg("%s", err.message);
    assert_true(number(json, "makespan_s") > 0);
    json_decref(json);
    refuses("schedule", "{\"trace\":\"/etc\",\"files\":{\"/etc\":\"\"}}", "no trace in it");
    refuses("schedule", "{\"trace\":\"/etc\",\"files\":{\"/etc2\":\"\"}}", "files are not read here");
    refuses("schedule", "{\"trace\":\"-\"}", "files are not read here");
    refuses("schedule", "{\"plan\":\"plan.json\"}", "files are not read here");
    refuses("schedule", "{\"plan\":\"plan.json\",\"files\":{\"plan.json\":\"{}\"}}", "");
    struct kerf_call_options few = {.size = sizeof few, .operations = 1000};
    const char *large = "{\"schedule\":\"1f1b\",\"devices\":64,\"microbatches\":64}";
    char *answer = NULL;
    assert_int_equal(kerf_call("schedule", large, strlen(large), &few, &answer, &err), KERF_EINVALID);
    assert_non_null(strstr(err.message, "1000 are allowed here"));
    static const char *const many[] = {
        "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":\"8..32\"}",
        "{\"schedule\":[\"1f1b\",\"gpipe\",\"zb_h1\"],\"devices\":8,\"microbatches\":16}",
        "{\"schedule\":\"best\",\"devices\":4,\"microbatches\":8,\"memory_cap\":\"1..16\"}",
        "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":8,\"jitter\":\"5%\"}",
        "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":8,\"straggler\":\"1:2\"}",
        "{\"schedule\":\"slimpipe\",\"devices\":16,\"microbatches\":2}", /* 16 slices */
        "{\"schedule\":\"a.csv\",\"memory_cap\":\"1..999\",\"files\":{\"a.csv\":\"0F0,0B0\\n\"}}",
    };
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) { /* all answers together */
        assert_int_equal(kerf_call("schedule", many[i], strlen(many[i]), &few, &answer, &err), KERF_EINVALID);
        assert_non_null(strstr(err.message, "1000 are allowed here"));
    }
    const char *small = "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":\"1..12\"}"; /* 936 */
    assert_int_equal(kerf_call("schedule", small, strlen(small), &few, &answer, &err), KERF_OK);
    kerf_call_free(answer);
    const char *sliced = "{\"schedule\":\"seq1f1b\",\"devices\":4,\"microbatches\":2,\"attention\":\"40%\"}";
    assert_int_equal(kerf_call("schedule", sliced, strlen(sliced), &few, &answer, &err), KERF_OK);
    assert_non_null(strstr(answer, "\"slice_shares\":{\"tokens\":[0.3397"));
    kerf_call_free(answer);
}

static void each_verb_has_a_schema(void **state) {
    (void)state;
    const char *verb;
    for (size_t i = 0; (verb = kerf_call_verb_at(i)) != NULL; i++) {
        char *schema = NULL;
        assert_int_equal(kerf_call_schema(verb, &schema, &err), KERF_OK);
        json_t *json = json_loads(schema, JSON_REJECT_DUPLICATES, NULL);
        assert_true(json_is_object(json_object_get(json, "properties")));
        json_decref(json);
        kerf_call_free(schema);
    }
    assert_int_equal(kerf_call_schema("plam", NULL, &err), KERF_EUNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schedule_is_that_of_the_library),
        cmocka_unit_test(launches_are_written_and_read),
        cmocka_unit_test(a_list_of_schedules_is_a_comparison),
        cmocka_unit_test(an_estimate_is_the_plan_of_its_layout),
        cmocka_unit_test(a_description_stands_for_a_name),
        cmocka_unit_test(mistakes_are_those_of_the_command_line),
        cmocka_unit_test(nothing_is_ignored),
        cmocka_unit_test(files_are_read_by_permission_alone),
        cmocka_unit_test(progress_ends_the_work_with_what_is_known),
        cmocka_unit_test(eight_threads_may_call),
        cmocka_unit_test(answers_may_be_pictures),
        cmocka_unit_test(a_text_is_of_one_schedule),
        cmocka_unit_test(options_have_a_size),
        cmocka_unit_test(requests_of_attackers_are_refused),
        cmocka_unit_test(a_flag_ends_the_work),
        cmocka_unit_test(schemas_allow_what_is_answered),
        cmocka_unit_test(a_schedule_may_be_a_part_of_a_page),
        cmocka_unit_test(schedules_come_with_the_request),
        cmocka_unit_test(each_verb_has_a_schema),
    };
    return cmocka_run_group_tests_name("kerf_call", tests, NULL, NULL);
}
