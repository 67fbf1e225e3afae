/* SPDX-License-Identifier: Apache-2.0 */
/* The page's files, the studies that it shows, and who may not ask for them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "serve_client.h"
#include "server/page_files.h"
#include "study/study_journal.h"

#define SHORT "{\"schedule\":\"1f1b\",\"devices\":4,\"microbatches\":8,\"no_ops\":true}"

static struct place place;
static struct client client;
static struct reply reply;
static char studies[80];

static int start(void **state) {
    (void)state;
    place_make(&place);
    snprintf(studies, sizeof studies, "%s/studies", place.folder);
    setenv("KERF_STUDIES", studies, 1);
    place_start(&place, 0);
    client_open(&client, place.port);
    return 0;
}

static int stop(void **state) {
    (void)state;
    client_close(&client);
    place_clear(&place);
    return 0;
}

/* more: header lines. */
static int ask_with(const char *method, const char *path, const char *more, const char *body) {
    char text[1024];
    int length = snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n%s",
                          method, path, more, body ? strlen(body) : 0, body ? body : "");
    assert_in_range(length, 1, sizeof text - 1);
    return client_ask_raw(&client, &reply, text);
}

static int ask(const char *method, const char *path, const char *body) { return ask_with(method, path, "", body); }

static void expect_type(const char *type) {
    char is[128] = "";
    assert_non_null(reply_header(&reply, "content-type", is, sizeof is));
    assert_string_equal(is, type);
}

/* ---- Studies ------------------------------------------------------------------------------------------------- */

static void write_study(const char *name, const char *text) {
    char path[160];
    mkdir(studies, 0700);
    snprintf(path, sizeof path, "%s/%s", studies, name);
    FILE *file = fopen(path, "ae");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void write_journal(char id[KERF_STUDY_ID_SIZE]) {
    const char *params[] = {"batch=16..128:x2"}, *words[] = {"./bench", "{batch}"};
    struct kerf_study_request request;
    struct kerf_study_entry entry = {.why = "it may be the best"};
    struct kerf_tune_space *space = NULL;
    struct study_journal *journal = NULL;
    struct kerf_error err;
    kerf_study_request_defaults(&request);
    request.params = (struct kerf_study_strings){params, 1};
    request.words = (struct kerf_study_strings){words, 2};
    assert_int_equal(kerf_study_request_space(&request, &space, &err), KERF_OK);
    assert_int_equal(study_journal_create(&request, id, &journal, &err), KERF_OK);
    entry.result.observation = (struct kerf_tune_observation){.setting = 1, .value = 2.5, .start_s = 1, .end_s = 3.5};
    entry.result.wall_s = 2.5;
    assert_int_equal(study_journal_add(journal, space, &entry, NAN, &err), KERF_OK);
    study_journal_close(journal);
    kerf_tune_space_free(space);
}

static void test_studies(void **state) {
    (void)state;
    char id[KERF_STUDY_ID_SIZE] = "", path[128];
    assert_int_equal(ask("GET", "/api/v1/studies", NULL), 200); /* the folder is not there */
    assert_non_null(strstr(reply.body, "\"studies\":[],\"more\":0}"));
    write_journal(id);
    write_study("broken.jsonl", "{\"journal\":1,\n");
    write_study("nothing.jsonl", "");
    write_study("other.txt", "x");
    assert_int_equal(ask("GET", "/api/v1/studies", NULL), 200);
    json_t *json = json_loadb(reply.body, reply.length, 0, NULL);
    const json_t *list = json_object_get(json, "studies"), *study;
    int invalid = 0, valid = 0;
    assert_int_equal(json_array_size(list), 3);
    for (size_t i = 0; i < json_array_size(list); i++) {
        study = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(study, "study"));
        if (json_object_get(study, "invalid")) {
            assert_true(strcmp(name, "broken") == 0 || strcmp(name, "nothing") == 0);
            assert_int_equal(json_object_size(study), 2);
            invalid++;
        } else {
            assert_string_equal(name, id);
            assert_int_equal(json_integer_value(json_object_get(study, "observations")), 1);
            assert_true(json_is_null(json_object_get(study, "stopped")));
            valid++;
        }
    }
    assert_true(invalid == 2 && valid == 1);
    json_decref(json);
    snprintf(path, sizeof path, "/api/v1/studies/%s", id);
    assert_int_equal(ask("GET", path, NULL), 200);
    json = json_loadb(reply.body, reply.length, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(json, "entries")), 1);
    study = json_array_get(json_object_get(json, "entries"), 0);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(study, "setting"), "batch")), 32);
    assert_int_equal(json_array_size(json_object_get(json, "params")), 1);
    assert_int_equal(json_array_size(json_object_get(json, "importance")), 1); /* one parameter, which has all of it */
    study = json_array_get(json_object_get(json, "importance"), 0);
    assert_string_equal(json_string_value(json_array_get(json_object_get(study, "parameters"), 0)), "batch");
    assert_true(fabs(json_number_value(json_object_get(study, "share")) - 1) < 1e-4);
    assert_true(json_is_false(json_object_get(json_object_get(json, "importance_of"), "sample")));
    json_decref(json);
    assert_int_equal(ask("GET", "/api/v1/studies/broken", NULL), 422);
    assert_non_null(strstr(reply.body, "{\"detail\":"));
}

static void test_studies_alone_are_read(void **state) {
    (void)state;
    char id[KERF_STUDY_ID_SIZE] = "", path[256];
    static const char *const names[] = {"..%2F..%2Fetc%2Fpasswd",
                                        "%2Fetc%2Fpasswd",
                                        "..",
                                        "%2e%2e%2fa",
                                        ".a",
                                        "x.jsonl",
                                        "a%2Fb",
                                        "unknown",
                                        "%00",
                                        "%2e"};
    write_journal(id);
    write_study("x.jsonl", "{\n");
    write_study(".a.jsonl", "{\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "/api/v1/studies/%s", names[i]);
        if (ask("GET", path, NULL) != 404) fail_msg("%s: %d %s", path, reply.status, reply.body);
        assert_null(strstr(reply.body, "root:"));
    }
    snprintf(path, sizeof path, "/api/v1/studies/%s.jsonl", id);
    assert_int_equal(ask("GET", path, NULL), 404);
    snprintf(path, sizeof path, "/api/v1/studies/%s%%2F%s.jsonl", strrchr(studies, '/') + 1, id);
    assert_int_equal(ask("GET", path, NULL), 404);
}

/* ---- The page ------------------------------------------------------------------------------------------------ */

static void check_policy(void) {
    char policy[512];
    assert_non_null(reply_header(&reply, "content-security-policy", policy, sizeof policy));
    assert_non_null(strstr(policy, "default-src 'none'"));
    assert_non_null(strstr(policy, "script-src 'self';"));
    assert_non_null(strstr(policy, "frame-ancestors 'none'"));
    assert_null(strstr(policy, "unsafe-inline"));
    assert_null(strstr(policy, "http"));
}

static void check_file(const char *path, const char *name) {
    const struct page_file *file = page_file_find(name);
    const size_t length = (size_t)(file->end - file->begin);
    char etag[64], more[128], room[64];
    assert_int_equal(ask_with("GET", path, "Accept-Encoding: br, gzip\r\n", NULL), 200);
    expect_type(file->content_type);
    check_policy();
    assert_string_equal(reply_header(&reply, "content-encoding", room, sizeof room), "gzip");
    assert_int_equal(reply.length, length);
    assert_memory_equal(reply.body, file->begin, length);
    assert_non_null(reply_header(&reply, "etag", etag, sizeof etag));
    assert_int_equal(ask("GET", path, NULL), 200);
    expect_type(file->content_type);
    check_policy();
    assert_null(reply_header(&reply, "content-encoding", room, sizeof room));
    assert_string_equal(reply_header(&reply, "vary", room, sizeof room), "Accept-Encoding");
    assert_true(reply.length > length);
    assert_non_null(reply_header(&reply, "etag", room, sizeof room));
    assert_string_not_equal(room, etag);
    assert_int_equal(ask_with("GET", path, "Accept-Encoding: gzip;q=0\r\n", NULL), 200);
    assert_null(reply_header(&reply, "content-encoding", more, sizeof more));
    assert_null(memchr(reply.body, 0, reply.length));
    if (strcmp(name, "index.html") == 0) assert_int_equal(strncasecmp(reply.body, "<!doctype html>", 15), 0);
    snprintf(more, sizeof more, "Accept-Encoding: gzip\r\nIf-None-Match: %s\r\n", etag);
    assert_int_equal(ask_with("GET", path, more, NULL), 304);
    assert_int_equal(reply.length, 0);
    check_policy();
    snprintf(more, sizeof more, "If-None-Match: %s\r\n", etag);
    assert_int_equal(ask_with("GET", path, more, NULL), 200);
    assert_int_equal(ask_with("GET", path, "If-None-Match: \"x\"\r\n", NULL), 200);
    assert_int_equal(ask("HEAD", path, NULL), 200);
}

static void test_the_page(void **state) {
    (void)state;
    static const char *const views[] = {"/", "/schedule", "/plan", "/studies", "/jobs"};
    if (page_file_find("index.html")) {
        for (size_t i = 0; i < sizeof views / sizeof *views; i++) check_file(views[i], "index.html");
        check_file("/page.js", "page.js");
        check_file("/page.css", "page.css");
        return;
    }
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        assert_int_equal(ask_with("GET", views[i], "Accept-Encoding: gzip\r\n", NULL), 200);
        expect_type("text/html; charset=utf-8");
        assert_non_null(strstr(reply.body, "built without its page"));
    }
    assert_int_equal(ask("GET", "/page.js", NULL), 404);
    assert_int_equal(ask("GET", "/page.css", NULL), 404);
}

/* ---- Other sites --------------------------------------------------------------------------------------------- */

static void test_other_sites(void **state) {
    (void)state;
    static const char *const routes[][3] = {
        {"POST", "/api/v1/schedule", SHORT},
        {"POST", "/api/v1/plan", "{}"},
        {"POST", "/api/v1/estimate", "{}"},
        {"POST", "/api/v1/launch", "{}"},
        {"POST", "/api/v1/score", "{}"},
        {"POST", "/api/v1/asks/1/stop", ""},
        {"GET", "/api/v1/names", NULL},
        {"GET", "/api/v1/events", NULL},
        {"GET", "/api/v1/studies", NULL},
        {"GET", "/api/v1/studies/x", NULL},
        {"GET", "/page.js", NULL},
        {"GET", "/page.css", NULL},
        {"GET", "/", NULL},
    };
    static const char *const heads[] = {
        "Host: evil.example\r\n",
        "Host: localhost\r\nOrigin: http://evil.example\r\n",
        "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
        "Host: localhost\r\nSec-Fetch-Site: same-site\r\nAccept: text/event-stream\r\n",
    };
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        for (size_t h = 0; h < sizeof heads / sizeof *heads; h++) {
            const char *body = routes[i][2] ? routes[i][2] : "";
            char text[1024];
            snprintf(text, sizeof text, "%s %s HTTP/1.1\r\n%sContent-Length: %zu\r\n\r\n%s", routes[i][0], routes[i][1],
                     heads[h], strlen(body), body);
            if (client_ask_raw(&client, &reply, text) != 403)
                fail_msg("%s %s with %s: %d", routes[i][0], routes[i][1], heads[h], reply.status);
        }
    /* a link to the page is no harm */
    assert_int_equal(ask_with("GET", "/plan", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", NULL), 200);
    assert_int_equal(ask_with("GET", "/page.js", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", NULL),
                     403);
    assert_int_equal(ask_with("POST", "/api/v1/schedule", "Sec-Fetch-Site: same-origin\r\n", SHORT), 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_studies, start, stop),
        cmocka_unit_test_setup_teardown(test_studies_alone_are_read, start, stop),
        cmocka_unit_test_setup_teardown(test_the_page, start, stop),
        cmocka_unit_test_setup_teardown(test_other_sites, start, stop),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
