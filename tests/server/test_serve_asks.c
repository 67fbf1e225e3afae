/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions of kerf_call over HTTP, answers that are streams, and the events that pages listen to.
 * Searches here take much longer than anybody waits, so that only what ends them lets a test go on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "kerf/kerf.h"
#include "serve_client.h"
#include "server/exchange.h"
#include "server/service.h"
#include "server/stream.h"

/* More than the client's patience, and more than the time limit of a test. */
#define FOR_EVER 100000
#define LONG                                                                                                           \
    "{\"schedule\":\"best\",\"devices\":8,\"microbatches\":16,\"chunks\":2,\"memory_cap\":5,\"p2p\":0.1,"              \
    "\"no_ops\":true,\"search_time\":100000}"
#define SHORT "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":8,\"no_ops\":true}"

static struct place place;
static struct client client;
static struct reply reply;
static char studies[80];

static struct server_options usual(void) {
    struct server_options options = place_options(&place, 0);
    options.compute_limit_s = FOR_EVER;
    options.clients_s = options.end_s = FOR_EVER; /* it ends by itself, or the test does not */
    return options;
}

static void start_with(struct server_options options) {
    place_start_with(&place, &options);
    client_open(&client, place.port);
}

static int make(void **state) {
    (void)state;
    place_make(&place);
    snprintf(studies, sizeof studies, "%s/studies", place.folder);
    setenv("KERF_STUDIES", studies, 1);
    return 0;
}

static int start(void **state) {
    make(state);
    start_with(usual());
    return 0;
}

static int stop(void **state) {
    (void)state;
    client_close(&client);
    place_clear(&place);
    return 0;
}

/* more: header lines. */
static char *request_of(const char *method, const char *path, const char *more, const char *body) {
    char *text = NULL;
    int length = asprintf(&text, "%s %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n%s", method, path,
                          more, body ? strlen(body) : 0, body ? body : "");
    assert_true(length > 0);
    return text;
}

static int ask_with(const char *method, const char *path, const char *more, const char *body) {
    char *text = request_of(method, path, more, body);
    int status = client_ask_raw(&client, &reply, text);
    free(text);
    return status;
}

static int ask(const char *method, const char *path, const char *body) { return ask_with(method, path, "", body); }

static void expect_type(const char *type) {
    char is[128] = "";
    assert_non_null(reply_header(&reply, "content-type", is, sizeof is));
    assert_string_equal(is, type);
}

/* ---- Streams of events --------------------------------------------------------------------------------------- */

struct listener {
    struct client client;
    struct kerf_text text; /* [read, length) was received and not read */
    size_t read, left;     /* left: of the chunk */
    int status, has_ended;
    char event[32];
    struct kerf_text data;
};

static int next_byte(struct listener *listener, char *ret_byte) {
    ssize_t got;
    do got = recv(listener->client.fd, ret_byte, 1, 0);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

static void read_line(struct listener *listener, char *line, size_t size) {
    size_t length = 0;
    char byte = 0;
    while (byte != '\n') {
        assert_true(next_byte(listener, &byte));
        if (byte != '\r' && byte != '\n' && length < size - 1) line[length++] = byte;
    }
    line[length] = 0;
}

/* The head of the answer; on another status than 200 its body is not read. */
static void listen_to(struct listener *listener, const char *method, const char *path, const char *body) {
    char *text = request_of(method, path, "Accept: text/event-stream\r\n", body), line[256];
    const int buffer_bytes = listener->client.buffer_bytes;
    *listener = (struct listener){.status = 0};
    client_open(&listener->client, place.port);
    listener->client.buffer_bytes = buffer_bytes;
    assert_true(client_send(&listener->client, text, strlen(text)));
    free(text);
    read_line(listener, line, sizeof line);
    listener->status = atoi(line + 9);
    while (line[0]) {
        read_line(listener, line, sizeof line);
        if (strncasecmp(line, "content-type:", 13) == 0 && listener->status == 200)
            assert_non_null(strstr(line, "text/event-stream"));
    }
}

static void listener_close(struct listener *listener) {
    client_close(&listener->client);
    kerf_text_free(&listener->text);
    kerf_text_free(&listener->data);
}

/* More of the text, out of its chunks. 0: the answer is complete. */
static int receive(struct listener *listener) {
    char block[4096], line[64];
    if (listener->has_ended) return 0;
    if (listener->left == 0) {
        do read_line(listener, line, sizeof line);
        while (line[0] == 0);
        listener->left = strtoul(line, NULL, 16);
        listener->has_ended = listener->left == 0;
        if (listener->has_ended) return 0;
    }
    const size_t most = listener->left < sizeof block ? listener->left : sizeof block;
    ssize_t got = recv(listener->client.fd, block, most, 0);
    assert_true(got > 0);
    listener->left -= (size_t)got;
    kerf_text_write(&listener->text, block, (size_t)got);
    return 1;
}

/* The next line, without its end. 0: there is none. */
static int event_line(struct listener *listener, const char **ret_line, size_t *ret_length) {
    for (size_t seen = listener->read;;) {
        const char *data = listener->text.data;
        const char *end = data ? memchr(data + seen, '\n', listener->text.length - seen) : NULL;
        if (end) {
            *ret_line = data + listener->read;
            *ret_length = (size_t)(end - *ret_line);
            listener->read += *ret_length + 1;
            return 1;
        }
        seen = listener->text.length;
        if (!receive(listener)) return 0;
    }
}

/* The next event; 0: the answer is complete, and none came. */
static int next_event(struct listener *listener) {
    const char *line;
    size_t length;
    listener->event[0] = 0;
    kerf_text_clear(&listener->data);
    while (event_line(listener, &line, &length)) {
        if (length > 7 && strncmp(line, "event: ", 7) == 0)
            snprintf(listener->event, sizeof listener->event, "%.*s", (int)length - 7, line + 7);
        else if (length > 6 && strncmp(line, "data: ", 6) == 0)
            kerf_text_write(&listener->data, line + 6, length - 6);
        else if (length == 0 && listener->event[0])
            return 1;
        else if (length > 0)
            assert_int_equal(line[0], ':'); /* the line lives */
    }
    return 0;
}

static void await_event(struct listener *listener, const char *event) {
    do
        if (!next_event(listener)) fail_msg("the stream ends without '%s'", event);
    while (strcmp(listener->event, event) != 0);
}

static json_t *event_json(const struct listener *listener) {
    json_t *json = json_loadb(listener->data.data, listener->data.length, 0, NULL);
    assert_true(json_is_object(json));
    return json;
}

/* Asks, and returns the number of the question once it is being answered. */
static int64_t begin_long(struct listener *listener) {
    listen_to(listener, "POST", "/api/v1/schedule", LONG);
    assert_int_equal(listener->status, 200);
    assert_true(next_event(listener));
    assert_string_equal(listener->event, "begun");
    json_t *json = event_json(listener);
    int64_t number = json_integer_value(json_object_get(json, "ask"));
    json_decref(json);
    assert_true(number > 0);
    await_event(listener, "progress");
    return number;
}

static int stop_ask(int64_t number) {
    char path[64];
    snprintf(path, sizeof path, "/api/v1/asks/%" PRId64 "/stop", number);
    return ask("POST", path, "");
}

static void expect_end(struct listener *listener) {
    if (next_event(listener)) fail_msg("after the last event comes '%s'", listener->event);
    listener_close(listener);
}

/* ---- Answers ------------------------------------------------------------------------------------------------- */

#define PLAN     "{\"model\":\"llama3_8b\",\"system\":\"h100\",\"gpus\":16,\"global_batch\":64,\"top\":2}"
#define ESTIMATE "{\"model\":\"llama3_8b\",\"system\":\"h100\",\"global_batch\":64,\"layout\":\"tp=2,pp=2,dp=4\"}"

static void expect_same(const char *verb, const char *body) {
    const struct kerf_call_options options = {.size = sizeof options};
    char path[64], *answer = NULL;
    struct kerf_error err;
    if (kerf_call(verb, body, strlen(body), &options, &answer, &err) != KERF_OK) fail_msg("%s", err.message);
    snprintf(path, sizeof path, "/api/v1/%s", verb);
    assert_int_equal(ask("POST", path, body), 200);
    expect_type("application/json");
    assert_int_equal(reply.length, strlen(answer));
    assert_memory_equal(reply.body, answer, reply.length);
    kerf_call_free(answer);
}

/* The first runs of the table that ships, as a request. */
static char *score_request(void) {
    static char table[16384];
    FILE *file = fopen(KERF_SOURCE_DIR "/share/runs/published.csv", "re");
    assert_non_null(file);
    table[fread(table, 1, sizeof table - 1, file)] = 0;
    fclose(file);
    assert_non_null(strrchr(table, '\n'));
    strrchr(table, '\n')[1] = 0;
    json_t *request = json_pack("{s:s,s:s}", "runs", table, "by", "gpu");
    char *text = json_dumps(request, 0);
    assert_non_null(text);
    json_decref(request);
    return text;
}

static char *launch_request(void) {
    char *answer = NULL;
    assert_int_equal(kerf_call("estimate", ESTIMATE, strlen(ESTIMATE), NULL, &answer, NULL), KERF_OK);
    json_t *request = json_pack("{s:s,s:o}", "write", "megatron", "plan", json_loads(answer, 0, NULL));
    char *text = json_dumps(request, 0);
    assert_non_null(text);
    json_decref(request);
    kerf_call_free(answer);
    return text;
}

static void test_answers_are_those_of_the_library(void **state) {
    (void)state;
    expect_same("schedule", SHORT);
    expect_same("schedule", "{\"schedule\":[\"zb_h1\",\"gpipe\"],\"devices\":4,\"microbatches\":[4,8]}");
    expect_same("schedule", "{\"schedule\":\"torch.csv\",\"files\":{\"torch.csv\":\"0F0,0B0\\n\"}}");
    expect_same("plan", PLAN);
    expect_same("estimate", ESTIMATE);
    char *request = score_request();
    expect_same("score", request);
    free(request);
    request = launch_request();
    expect_same("launch", request);
    free(request);
    expect_same("launch", "{\"text\":\"torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 8 "
                          "--hidden-size 512 --num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 "
                          "--micro-batch-size 1 --global-batch-size 8\",\"framework\":\"megatron\",\"gpus\":8}");
}

static void test_forms(void **state) {
    (void)state;
    static const struct {
        const char *path, *body, *type, *begin;
    } cases[] = {
        {"/api/v1/schedule?format=json", SHORT, "application/json", "{\"kerf\":"},
        {"/api/v1/schedule?format=svg", SHORT, "image/svg+xml; charset=utf-8", "<svg"},
        {"/api/v1/schedule?format=html", SHORT, "application/json", "{\"answer\":{"},
        {"/api/v1/schedule?format=text", SHORT, "text/plain; charset=utf-8", "schedule 1f1b\n"},
        {"/api/v1/schedule?format=csv", SHORT, "text/csv; charset=utf-8", "0F0,0F1,"},
        {"/api/v1/plan?format=svg", PLAN, "image/svg+xml; charset=utf-8", "<svg"},
        {"/api/v1/plan?&format=json", PLAN, "application/json", "{\"kerf\":"},
    };
    char room[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ask("POST", cases[i].path, cases[i].body), 200);
        expect_type(cases[i].type);
        assert_memory_equal(reply.body, cases[i].begin, strlen(cases[i].begin));
        assert_string_equal(reply_header(&reply, "x-content-type-options", room, sizeof room), "nosniff");
        assert_non_null(reply_header(&reply, "content-security-policy", room, sizeof room));
        assert_non_null(strstr(room, "default-src 'none'")); /* a picture runs nothing */
        assert_null(strstr(room, "script-src"));
    }
    assert_int_equal(ask("POST", "/api/v1/score?format=svg", "{}"), 200);
    expect_type("image/svg+xml; charset=utf-8");
    assert_int_equal(ask("GET", "/api/v1/names", NULL), 200);
    json_t *names = json_loadb(reply.body, reply.length, 0, NULL);
    assert_true(json_array_size(json_object_get(names, "models")) > 0);
    assert_true(json_array_size(json_object_get(names, "systems")) > 0);
    assert_true(json_array_size(json_object_get(names, "stacks")) > 0);
    assert_true(json_array_size(json_object_get(names, "schedules")) > 0);
    json_decref(names);
    assert_int_equal(ask("GET", "/api/v1/schedule", NULL), 405);
    assert_int_equal(ask("POST", "/api/v1/study", "{}"), 404);
}

/* ---- Mistakes ------------------------------------------------------------------------------------------------ */

/* Asks, and gives the answer's object, which has the status and this part in its detail. */
static json_t *mistake(int status, const char *path, const char *body, const char *part) {
    if (ask("POST", path, body) != status) fail_msg("%s %s: %d %s", path, body, reply.status, reply.body);
    expect_type("application/json");
    json_t *json = json_loadb(reply.body, reply.length, 0, NULL);
    const char *detail = json_string_value(json_object_get(json, "detail"));
    if (detail == NULL || strstr(detail, part) == NULL) fail_msg("'%s' lacks '%s'", reply.body, part);
    return json;
}

static void expect_mistake(const char *path, const char *body, const char *part) {
    json_decref(mistake(400, path, body, part));
}

static void test_mistakes(void **state) {
    (void)state;
    json_t *json = mistake(400, "/api/v1/schedule", "{\"schedule\":\n  \"1f1b\",\n  devices}", "not valid JSON");
    assert_int_equal(json_integer_value(json_object_get(json, "line")), 3);
    assert_true(json_integer_value(json_object_get(json, "column")) > 2);
    json_decref(json);
    expect_mistake("/api/v1/schedule", "", "not valid JSON");
    expect_mistake("/api/v1/schedule", "[]", "object");
    expect_mistake("/api/v1/schedule", "\xff", "not valid JSON");
    expect_mistake("/api/v1/schedule", "{}", "schedule is missing");
    expect_mistake("/api/v1/schedule", "{\"schedule\":\"1f1b\",\"devicez\":4}", "did you mean --devices?");
    expect_mistake("/api/v1/schedule", "{\"schedule\":\"zb_h9\",\"devices\":4,\"microbatches\":8}",
                   "did you mean zb_h");
    expect_mistake("/api/v1/plan", "{\"model\":\"gpt33\",\"system\":\"h100\",\"gpus\":8,\"global_batch\":8}",
                   "no model 'gpt33' in the catalogue");
    expect_mistake("/api/v1/plan", "{\"model\":\"gpt3\",\"system\":\"x\",\"gpus\":8,\"global_batch\":8}",
                   "no system 'x' in the catalogue");
    expect_mistake("/api/v1/estimate", "{\"model\":\"gpt3\"}", "missing");
    expect_mistake("/api/v1/launch", "{}", "\"text\" is missing");
    expect_mistake("/api/v1/score", "{\"runs\":\"a,b\\n1,2\\n\"}", "column");
    expect_mistake("/api/v1/schedule?format=gif", SHORT, "schedule has no answer as 'gif'");
    expect_mistake("/api/v1/plan?format=html", PLAN, "plan has no answer as 'html'");
    assert_int_equal(ask_with("POST", "/api/v1/schedule?format=svg", "Accept: text/event-stream\r\n", SHORT), 400);
    assert_non_null(strstr(reply.body, "A stream answers as json or html"));
    json_decref(mistake(422, "/api/v1/schedule",
                        "{\"schedule\":\"best\",\"devices\":4,\"microbatches\":8,\"memory_cap\":0.5}", "cap"));
    /* that nothing fits is an answer */
    assert_int_equal(
        ask("POST", "/api/v1/plan", "{\"model\":\"gpt3_1t\",\"system\":\"h100\",\"gpus\":8,\"global_batch\":8}"), 200);
    assert_non_null(strstr(reply.body, "\"plans\":[]"));
    char *large = malloc(EXCHANGE_BODY_MAX + 2);
    assert_non_null(large);
    memset(large, ' ', EXCHANGE_BODY_MAX + 1);
    large[EXCHANGE_BODY_MAX + 1] = 0;
    assert_int_equal(ask("POST", "/api/v1/schedule", large), 413);
    large[EXCHANGE_BODY_MAX] = 0;
    assert_int_equal(ask("POST", "/api/v1/schedule", large), 400);
    free(large);
}

static void test_files_are_not_read(void **state) {
    (void)state;
    expect_mistake("/api/v1/schedule", "{\"schedule\":\"/etc/passwd\",\"devices\":4,\"microbatches\":8}",
                   "no schedule is called");
    expect_mistake("/api/v1/schedule", "{\"schedule\":\"-\",\"devices\":4,\"microbatches\":8}",
                   "no schedule is called");
    expect_mistake("/api/v1/schedule", "{\"plan\":\"/etc/passwd\"}", "files are not read here");
    expect_mistake("/api/v1/schedule",
                   "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":8,\"times\":\"/etc/passwd\"}",
                   "files are not read here");
    expect_mistake("/api/v1/schedule", "{\"schedule\":\"1f1b\",\"trace\":\"/etc\"}", "files are not read here");
    expect_mistake("/api/v1/schedule", "{\"trace\":\"/etc\",\"files\":{\"/etc\":\"\"}}", "no trace in it");
    expect_mistake("/api/v1/plan", "{\"model\":\"../x.json\",\"system\":\"h100\",\"gpus\":8,\"global_batch\":8}",
                   "no model '../x.json' in the catalogue");
    expect_mistake("/api/v1/plan", "{\"model\":\"gpt3\",\"system\":\"/etc/passwd\",\"gpus\":8,\"global_batch\":8}",
                   "no system '/etc/passwd' in the catalogue");
    expect_mistake("/api/v1/plan",
                   "{\"model\":\"gpt3\",\"system\":\"h100\",\"gpus\":8,\"global_batch\":8,\"stack\":\"./x.json\"}",
                   "no stack './x.json' in the catalogue");
    expect_mistake(
        "/api/v1/plan",
        "{\"model\":\"gpt3\",\"system\":\"h100\",\"gpus\":8,\"global_batch\":8,\"calibration\":\"/etc/passwd\"}",
        "files may not be read here");
    expect_mistake("/api/v1/estimate",
                   "{\"model\":\"gpt3\",\"system\":\"h100\",\"global_batch\":8,\"layout\":\"tp=8\","
                   "\"calibration\":\"/etc/passwd\"}",
                   "files may not be read here");
    expect_mistake("/api/v1/score", "{\"runs\":\"/etc/passwd\"}", "files may not be read here");
    expect_mistake("/api/v1/score", "{\"calibration\":\"/etc/passwd\"}", "files may not be read here");
    expect_mistake("/api/v1/score", "{\"stack\":\"/etc/passwd\"}", "no stack is called");
    expect_mistake("/api/v1/launch", "{\"write\":\"megatron\",\"plan\":\"/etc/passwd\"}", "not valid JSON");
}

static void test_too_many_operations(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "{\"schedule\":\"1f1b\",\"devices\":1024,\"microbatches\":1048576}",
        "{\"schedule\":[\"1f1b\",\"gpipe\"],\"devices\":64,\"microbatches\":16384}",
        "{\"schedule\":\"1f1b\",\"devices\":64,\"microbatches\":\"8000..9000\"}",
        "{\"schedule\":\"best\",\"devices\":64,\"microbatches\":1024,\"memory_cap\":\"1..64\"}",
    };
    static const char *const formats[] = {"", "?format=svg", "?format=html", "?format=text", "?format=csv"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            char path[64];
            snprintf(path, sizeof path, "/api/v1/schedule%s", formats[f]);
            expect_mistake(path, bodies[i], "are allowed here");
        }
#define LONG_ESTIMATE(schedule)                                                                                        \
    "{\"model\":\"llama3_70b\",\"system\":\"h100\",\"global_batch\":65536,\"layout\":\"tp=8,pp=80," schedule "\"}"
    expect_mistake("/api/v1/estimate", LONG_ESTIMATE("schedule=best"), "are allowed here");
    expect_mistake("/api/v1/estimate", LONG_ESTIMATE("schedule=zb_2p"), "are allowed here");
    /* this one is not simulated */
    assert_int_equal(ask("POST", "/api/v1/estimate", LONG_ESTIMATE("schedule=1f1b")), 200);
}

/* ---- Questions that are streams ------------------------------------------------------------------------------ */

static void test_a_stream(void **state) {
    (void)state;
    struct listener listener = {.status = 0};
    const struct {
        const char *path, *body, *last, *member;
    } cases[] = {{"/api/v1/schedule", SHORT, "answer", "makespan_s"},
                 {"/api/v1/schedule?format=html", SHORT, "answer", "html"},
                 {"/api/v1/plan", PLAN, "answer", "searches"},
                 {"/api/v1/schedule", "{\"schedule\":\"1f1b\" x", "error", "column"},
                 {"/api/v1/plan", "{\"model\":\"/etc/passwd\"}", "error", "detail"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        listen_to(&listener, "POST", cases[i].path, cases[i].body);
        assert_int_equal(listener.status, 200);
        assert_true(next_event(&listener));
        assert_string_equal(listener.event, "begun");
        assert_true(next_event(&listener));
        while (strcmp(listener.event, "progress") == 0) assert_true(next_event(&listener));
        assert_string_equal(listener.event, cases[i].last);
        json_t *json = event_json(&listener);
        assert_non_null(json_object_get(json, cases[i].member));
        json_decref(json);
        expect_end(&listener);
    }
}

static void test_a_stream_is_stopped(void **state) {
    (void)state;
    struct listener listener = {.status = 0};
    int64_t number = begin_long(&listener);
    json_t *json = event_json(&listener);
    double done = json_number_value(json_object_get(json, "done"));
    assert_true(done >= 0 && done <= 1);
    assert_true(json_number_value(json_object_get(json, "elapsed_s")) >= 0);
    json_decref(json);
    assert_int_equal(stop_ask(number + 1), 404);
    assert_int_equal(ask("POST", "/api/v1/asks/x/stop", ""), 404);
    assert_int_equal(ask("POST", "/api/v1/asks/-1/stop", ""), 404);
    assert_int_equal(ask("POST", "/api/v1/asks/99999999999999999999999/stop", ""), 404);
    assert_int_equal(ask("GET", "/api/v1/asks/1/stop", NULL), 405);
    assert_int_equal(stop_ask(number), 200);
    assert_string_equal(reply.body, "null");
    await_event(&listener, "answer");
    json = event_json(&listener);
    assert_true(json_number_value(json_object_get(json, "makespan_s")) > 0);
    json_decref(json);
    expect_end(&listener);
    for (int ms = 0; stop_ask(number) == 200 && ms < 300000; ms += 10) pause_ms(10); /* it is about to end */
    assert_int_equal(reply.status, 404);
}

static void test_a_limit_ends_it(void **state) {
    (void)state;
    struct listener listener = {.status = 0};
    struct server_options options = usual();
    options.compute_limit_s = 0.3;
    start_with(options);
    assert_int_equal(ask("POST", "/api/v1/schedule", LONG), 200);
    assert_non_null(strstr(reply.body, "\"makespan_s\""));
    listen_to(&listener, "POST", "/api/v1/schedule", LONG);
    await_event(&listener, "answer");
    expect_end(&listener);
}

/* ---- Clients that go ----------------------------------------------------------------------------------------- */

#define RUNNING "http_requests_now{state=\"running\"}"

static void await_running(int64_t others) { client_await_metric(&client, "kerf_" RUNNING, 1 + others); }

/* Two are answered at a time, and two wait. One has sent a byte more, which the server does not read before. */
static void test_clients_that_go(void **state) {
    (void)state;
    enum { CLIENTS = 4 };
    struct client all[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        char *text = request_of("POST", "/api/v1/schedule", "", LONG);
        client_open(&all[i], place.port);
        assert_true(client_send(&all[i], text, strlen(text)));
        free(text);
    }
    await_running(CLIENTS);
    for (int i = 0; i < CLIENTS; i += 3) assert_true(client_send(&all[i], "G", 1));
    for (int i = 0; i < CLIENTS; i++) {
        const struct linger at_once = {.l_onoff = 1};
        if (i % 2) setsockopt(all[i].fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once); /* a reset */
        client_close(&all[i]);
    }
    await_running(0);
    assert_int_equal(ask("POST", "/api/v1/schedule", SHORT), 200);
}

/* One thread answers: another question is answered when the search has ended. */
static void test_a_listener_that_goes(void **state) {
    (void)state;
    struct listener listener = {.status = 0};
    struct server_options options = usual();
    options.threads = 1;
    start_with(options);
    int64_t number = begin_long(&listener);
    listener_close(&listener);
    assert_int_equal(ask("POST", "/api/v1/schedule", SHORT), 200);
    for (int ms = 0; stop_ask(number) == 200 && ms < 300000; ms += 10) pause_ms(10);
    assert_int_equal(reply.status, 404);
}

/* Those that wait have a limit, and are answered in the end. */
static void test_too_many_wait(void **state) {
    (void)state;
    static struct client all[ASKS_WAITING_MAX];
    struct listener listener = {.status = 0};
    struct server_options options = usual();
    char room[16];
    options.threads = 1;
    start_with(options);
    int64_t number = begin_long(&listener);
    for (int i = 0; i < ASKS_WAITING_MAX; i++) {
        char *text = request_of("POST", "/api/v1/schedule", "", SHORT);
        client_open(&all[i], place.port);
        assert_true(client_send(&all[i], text, strlen(text)));
        free(text);
    }
    await_running(ASKS_WAITING_MAX);
    json_decref(mistake(503, "/api/v1/schedule", SHORT, "ask again"));
    assert_non_null(reply_header(&reply, "retry-after", room, sizeof room));
    assert_int_equal(ask("GET", "/api/v1/studies", NULL), 503);
    assert_int_equal(ask("GET", "/api/v1/jobs", NULL), 200); /* jobs never wait for a search */
    assert_int_equal(stop_ask(number), 200);
    await_event(&listener, "answer");
    expect_end(&listener);
    for (int i = 0; i < ASKS_WAITING_MAX; i++) {
        assert_true(client_read(&all[i], 0, &reply));
        assert_int_equal(reply.status, 200);
        client_close(&all[i]);
    }
}

/* ---- The end ------------------------------------------------------------------------------------------------- */

static void test_the_end(void **state) {
    (void)state;
    enum { LISTENERS = 5 };
    struct listener listeners[LISTENERS], asks[2];
    struct client plain, waits;
    memset(listeners, 0, sizeof listeners);
    memset(asks, 0, sizeof asks);
    for (int i = 0; i < LISTENERS; i++) {
        listen_to(&listeners[i], "GET", "/api/v1/events", NULL);
        await_event(&listeners[i], "hello");
    }
    begin_long(&asks[0]); /* one of two threads; the other is the plain question's */
    char *text = request_of("POST", "/api/v1/schedule", "", LONG);
    client_open(&plain, place.port);
    assert_true(client_send(&plain, text, strlen(text)));
    await_running(1);
    client_open(&waits, place.port);
    assert_true(client_send(&waits, text, strlen(text)));
    free(text);
    await_running(2);
    place_stop(&place);
    for (int i = 0; i < LISTENERS; i++) {
        while (next_event(&listeners[i])) { /* what was put goes out */
        }
        listener_close(&listeners[i]);
    }
    while (next_event(&asks[0])) {
    }
    listener_close(&asks[0]);
    assert_true(client_read(&plain, 0, &reply)); /* what was known, or nothing where it had not begun */
    assert_true(reply.status == 200 || reply.status == 503);
    assert_true(client_read(&waits, 0, &reply));
    assert_true(reply.status == 200 || reply.status == 503);
    client_close(&plain);
    client_close(&waits);
}

/* ---- Events -------------------------------------------------------------------------------------------------- */

static void write_study(const char *name, const char *text) {
    char path[160];
    mkdir(studies, 0700);
    snprintf(path, sizeof path, "%s/%s", studies, name);
    FILE *file = fopen(path, "ae");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int64_t await_version(struct listener *listener, const char *event) {
    await_event(listener, event);
    json_t *json = event_json(listener);
    assert_true(json_is_integer(json_object_get(json, "version")));
    int64_t version = json_integer_value(json_object_get(json, "version"));
    json_decref(json);
    return version;
}

static void test_events(void **state) {
    (void)state;
    struct listener listener = {.status = 0};
    listen_to(&listener, "GET", "/api/v1/events", NULL);
    assert_int_equal(listener.status, 200);
    await_event(&listener, "hello");
    write_study("a.jsonl", "{\n");
    int64_t before = await_version(&listener, "studies");
    write_study("a.jsonl", "{\n");
    assert_true(await_version(&listener, "studies") > before);
    if (place_options(&place, 0).addition) {
        assert_int_equal(register_job(&client, "a", "64,128", ""), 201);
        before = await_version(&listener, "jobs");
        assert_int_equal(register_job(&client, "b", "64,128", ""), 201);
        assert_true(await_version(&listener, "jobs") > before);
    }
    listener_close(&listener);
    assert_int_equal(ask("HEAD", "/api/v1/events", NULL), 405);
}

static int may_open(int files) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max >= (rlim_t)files;
}

/* None of them reads. The others are told and answered all the same, and who goes makes room. */
static void test_many_listen(void **state) {
    (void)state;
    enum { FILES = 2 * STREAMS_MAX + 512 };
    static struct listener all[STREAMS_MAX];
    struct listener more = {.status = 0};
    if (!may_open(FILES)) {
        print_message("left out: this process may not have %d files\n", FILES);
        skip();
    }
    for (int i = 0; i < STREAMS_MAX; i++) {
        listen_to(&all[i], "GET", "/api/v1/events", NULL);
        assert_int_equal(all[i].status, 200);
    }
    assert_int_equal(ask("GET", "/api/v1/events", NULL), 503);
    assert_non_null(strstr(reply.body, "{\"detail\":"));
    assert_int_equal(ask_with("POST", "/api/v1/schedule", "Accept: text/event-stream\r\n", SHORT), 503);
    assert_int_equal(ask("POST", "/api/v1/schedule", SHORT), 200);
    write_study("a.jsonl", "{\n");
    await_version(&all[STREAMS_MAX - 1], "studies");
    for (int i = 0; i < STREAMS_MAX - 1; i++) listener_close(&all[i]);
    for (int ms = 0; ms < 300000; ms += 100) { /* it hears of them when it says something */
        listen_to(&more, "GET", "/api/v1/events", NULL);
        if (more.status == 200) break;
        listener_close(&more);
        pause_ms(100);
    }
    assert_int_equal(more.status, 200);
    await_event(&more, "hello");
    listener_close(&more);
    write_study("a.jsonl", "{\n");
    await_version(&all[STREAMS_MAX - 1], "studies");
    listener_close(&all[STREAMS_MAX - 1]);
}

/* A large answer that is not read: it is given up after write_s. */
static void test_an_answer_that_is_not_read(void **state) {
    (void)state;
    struct listener listener = {.client.buffer_bytes = 4096};
    struct server_options options = usual();
    options.write_s = 1;
    start_with(options);
    listen_to(&listener, "POST", "/api/v1/schedule", "{\"schedule\":\"1f1b\",\"devices\":64,\"microbatches\":1500}");
    assert_int_equal(listener.status, 200);
    assert_int_equal(ask("POST", "/api/v1/schedule", SHORT), 200);
    client_await_metric(&client, "kerf_http_unread_total", 1);
    listener_close(&listener);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_answers_are_those_of_the_library, start, stop),
        cmocka_unit_test_setup_teardown(test_forms, start, stop),
        cmocka_unit_test_setup_teardown(test_mistakes, start, stop),
        cmocka_unit_test_setup_teardown(test_files_are_not_read, start, stop),
        cmocka_unit_test_setup_teardown(test_too_many_operations, start, stop),
        cmocka_unit_test_setup_teardown(test_a_stream, start, stop),
        cmocka_unit_test_setup_teardown(test_a_stream_is_stopped, start, stop),
        cmocka_unit_test_setup_teardown(test_a_limit_ends_it, make, stop),
        cmocka_unit_test_setup_teardown(test_clients_that_go, start, stop),
        cmocka_unit_test_setup_teardown(test_a_listener_that_goes, make, stop),
        cmocka_unit_test_setup_teardown(test_too_many_wait, make, stop),
        cmocka_unit_test_setup_teardown(test_the_end, start, stop),
        cmocka_unit_test_setup_teardown(test_events, start, stop),
        cmocka_unit_test_setup_teardown(test_many_listen, start, stop),
        cmocka_unit_test_setup_teardown(test_an_answer_that_is_not_read, make, stop),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
