/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions.jsonl: requests to Zeus's own server with its answers, and snapshots of the posteriors. With compat every
 * status and byte is the same. Without it, each difference has the name that docs/jobs.md gives it, and each name a
 * difference. What a job is asked after such a request goes its own way and is not compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "database.h"
#include "serve_client.h"

static size_t from_base64(const char *text, char *to) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = 0;
    uint32_t bits = 0;
    int count = 0;
    for (; *text && *text != '='; text++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, *text) - digits);
        if ((count += 6) >= 8) to[length++] = (char)(bits >> (count -= 8));
    }
    return length;
}

/* What differs without compat: statuses, and words of the reference's answer and of kerf's. The names that no recorded
 * request can show (time, death, many clients at once) are in the tests that docs/jobs.md tells beside them. */
static struct deviation {
    const char *name;
    int status, got_status; /* 0: any */
    const char *words, *got_words;
    int seen;
} deviations[] = {
    {"invalid numbers", 0, 422, "", "not_finite_number", 0},
    {"invalid numbers", 0, 422, "", "not_ge\",\"ctx\":{\"limit_value\":0}", 0},
    {"values that no database can store", 0, 422, "", "\"limit_value\":9223372036854775807", 0},
    {"values that no database can store", 0, 422, "", "\"limit_value\":-9223372036854775808", 0},
    {"values that no database can store", 0, 422, "", "ensure this value has neither NUL nor lone surrogates", 0},
    {"batch sizes", 0, 422, "", "\"batch_sizes\",0],\"msg\":\"ensure this value is greater than 0", 0},
    {"unknown trials", 500, 404, "for ReadTrial", "Could not find the trial", 0},
    {"unknown trials", 500, 400, "for ReadTrial", "Unknown trial", 0},
    {"no rounds", 500, 200, "{\"message\":\"", "\"trial_number\":1}", 0},
    {"everything pruned", 500, 200, "No converged batch sizes has observed", "\"trial_number\":", 0},
    {"late results", 400, 200, "Cannot update an arm", "\"stop_train\":true", 0},
    {"own pages", 404, 200, "Not Found", "<!doctype html>", 0},
};
enum { DEVIATIONS = sizeof deviations / sizeof *deviations, TOUCHED_MAX = 256 };

struct replay {
    struct client client;
    int compat, line, requests, states, skipped;
    char touched[TOUCHED_MAX][128]; /* jobs that go their own way */
    int num_touched;
};

/* ---- Jobs that go their own way ----------------------------------------------------------------------------- */

/* The job_id that a request is about, as it is spelt in a body; "" where there is none. */
static void job_of(const json_t *want, char *ret_job, size_t size) {
    const char *body = json_string_value(json_object_get(want, "b")), *at = body ? strstr(body, "\"job_id\"") : NULL;
    const char *path = json_string_value(json_object_get(want, "p")), *query = strstr(path, "job_id=");
    size_t length = 0;
    if (at && (at = strchr(at + 8, '"'))) {
        for (at++; *at && *at != '"' && length + 1 < size; at++) ret_job[length++] = *at;
    } else if (query) {
        for (at = query + 7; *at && *at != '&' && *at != '#' && length + 1 < size; at++) {
            unsigned code;
            int escaped = at[0] == '%' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]) &&
                          sscanf(at + 1, "%2x", &code) == 1;
            ret_job[length++] = (char)(escaped ? code : *at == '+' ? ' ' : (unsigned char)*at);
            if (escaped) at += 2;
        }
    }
    ret_job[length] = 0;
}

static int is_touched(const struct replay *replay, const char *job) {
    for (int i = 0; i < replay->num_touched; i++)
        if (strcmp(replay->touched[i], job) == 0) return 1;
    return 0;
}

static void touch(struct replay *replay, const char *job) {
    if (job[0] == 0 || is_touched(replay, job)) return;
    assert_true(replay->num_touched < TOUCHED_MAX);
    strcpy(replay->touched[replay->num_touched++], job);
}

static int is_named(int status, const char *answer, const struct reply *reply) {
    int named = 0;
    for (struct deviation *deviation = deviations; deviation < deviations + DEVIATIONS; deviation++) {
        if ((deviation->status && deviation->status != status) || deviation->got_status != reply->status) continue;
        if (!strstr(answer, deviation->words) || !strstr(reply->body, deviation->got_words)) continue;
        deviation->seen++;
        named = 1;
    }
    return named;
}

/* ---- Comparing ---------------------------------------------------------------------------------------------- */

static void compare_number(const struct replay *replay, const json_t *want, const json_t *got, const char *what) {
    double a = json_is_string(want) ? strtod(json_string_value(want), NULL) : json_number_value(want);
    double b = json_is_string(got) ? strtod(json_string_value(got), NULL) : json_number_value(got);
    if (json_is_null(want) != json_is_null(got) || !(a == b || (isnan(a) && isnan(b))))
        fail_msg("line %d: %s is %a, not %a", replay->line, what, b, a);
}

static void compare_state(struct replay *replay, const json_t *want) {
    static const char *const names[] = {"batch_size", "num_observations", "param_mean", "param_precision",
                                        "reward_precision"};
    struct reply reply;
    char path[512] = "/api/v1/jobs/";
    if (is_touched(replay, json_string_value(json_object_get(want, "state")))) return;
    for (const char *c = json_string_value(json_object_get(want, "state")); *c; c++)
        sprintf(path + strlen(path), "%%%02x", (unsigned char)*c);
    strcat(path, "/state");
    assert_int_equal(client_ask(&replay->client, &reply, "GET", path, NULL), 200);
    json_t *got = json_loadb(reply.body, reply.length, 0, NULL), *arms = json_object_get(got, "arms");
    assert_non_null(got);
    const json_t *wanted = json_object_get(want, "arms");
    assert_string_equal(json_string_value(json_object_get(got, "stage")),
                        json_string_value(json_object_get(want, "stage")));
    compare_number(replay, json_object_get(want, "min_cost"), json_object_get(got, "min_cost"), "min_cost");
    compare_number(replay, json_object_get(want, "bs"), json_object_get(got, "min_cost_batch_size"), "its size");
    assert_int_equal(json_array_size(arms), json_array_size(wanted));
    for (size_t i = 0; i < json_array_size(arms); i++)
        for (size_t k = 0; k < 5; k++)
            compare_number(replay, json_array_get(json_array_get(wanted, i), k),
                           json_object_get(json_array_get(arms, i), names[k]), names[k]);
    json_decref(got);
    replay->states++;
}

/* The page's view of jobs, at a path that Zeus's server answers with 405. */
static int is_view(const char *method, int wanted, const struct reply *reply) {
    return (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0) && wanted == 405 && reply->status == 200 &&
           (reply->length == 0 || strncmp(reply->body, "<!doctype html>", 15) == 0);
}

static void compare_answer(struct replay *replay, const json_t *want) {
    static char bytes[1 << 16];
    struct reply reply;
    const char *method = json_string_value(json_object_get(want, "m")), *text = NULL, *allow;
    const json_t *body = json_object_get(want, "b"), *raw = json_object_get(want, "raw");
    const json_t *type = json_object_get(want, "t");
    size_t length = 0;
    if (body) text = json_string_value(body), length = strlen(text);
    if (raw) text = bytes, length = from_base64(json_string_value(raw), bytes);
    const char *content_type = type == NULL ? "application/json" : json_is_null(type) ? "" : json_string_value(type);
    if (!client_try(&replay->client, method, json_string_value(json_object_get(want, "p")), content_type, text, length,
                    &reply))
        fail_msg("line %d: no answer", replay->line);
    replay->requests++;
    int status = (int)json_integer_value(json_object_get(want, "s"));
    const char *answer = json_string_value(json_object_get(want, "r"));
    if (strcmp(method, "HEAD") == 0) answer = "";
    int same =
        reply.status == status && reply.length == strlen(answer) && memcmp(reply.body, answer, reply.length) == 0;
    char job[128];
    job_of(want, job, sizeof job);
    if (!same && is_touched(replay, job)) {
        replay->skipped++;
    } else if (!same && !replay->compat && is_named(status, answer, &reply)) {
        touch(replay, job);
    } else if (!same && !replay->compat && is_view(method, status, &reply)) {
        same = 0; /* a page where Zeus's server has none */
    } else if (!same) {
        fail_msg("line %d: %s %s\nwant %d %s\n got %d %s", replay->line, method, text ? text : "", status, answer,
                 reply.status, reply.body);
    }
    allow = json_string_value(json_object_get(want, "allow"));
    char room[64];
    if (allow && same) assert_string_equal(reply_header(&reply, "allow", room, sizeof room), allow);
}

static struct cluster cluster; /* with the argument postgresql */

static void replay_all(struct replay *replay) {
    struct place place;
    static char line[1 << 16];
    place_make(&place);
    if (cluster.is_up)
        cluster_database(&cluster, replay->compat ? "sessions" : "mended", place.store, sizeof place.store);
    place_start(&place, replay->compat);
    client_open(&replay->client, place.port);
    FILE *file = fopen(KERF_TEST_DIR "/server/sessions.jsonl", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        json_t *want = json_loads(line, 0, NULL);
        replay->line++;
        if (want == NULL) fail_msg("line %d is no JSON", replay->line);
        if (json_object_get(want, "state"))
            compare_state(replay, want);
        else
            compare_answer(replay, want);
        json_decref(want);
        if (replay->line % 500 == 0) { /* what is stored is all there is */
            place_stop(&place);
            place_start(&place, replay->compat);
            client_close(&replay->client);
            client_open(&replay->client, place.port);
        }
    }
    fclose(file);
    client_close(&replay->client);
    print_message("%d answers and %d posteriors compared, %d of jobs that went their own way\n", replay->requests,
                  replay->states, replay->skipped);
    place_clear(&place);
}

static void test_compat(void **state) {
    struct replay replay = {.compat = 1};
    (void)state;
    replay_all(&replay);
    assert_true(replay.requests > 2000 && replay.states > 100);
}

static int is_documented(const char *name) {
    char line[4096], row[128];
    int found = 0;
    FILE *file = fopen(KERF_SOURCE_DIR "/docs/jobs.md", "r");
    assert_non_null(file);
    snprintf(row, sizeof row, "| %s |", name);
    while (fgets(line, sizeof line, file)) found |= strncmp(line, row, strlen(row)) == 0;
    fclose(file);
    return found;
}

static void test_named(void **state) {
    struct replay replay = {.compat = 0};
    (void)state;
    replay_all(&replay);
    for (int i = 0; i < DEVIATIONS; i++) {
        const struct deviation *deviation = &deviations[i];
        if (deviation->seen == 0) fail_msg("no request differs by '%s': %s", deviation->name, deviation->got_words);
        if (!is_documented(deviation->name)) fail_msg("docs/jobs.md has no '%s'", deviation->name);
    }
    assert_true(replay.requests > 2000 && replay.states > 100 && replay.skipped < 100);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compat), cmocka_unit_test(test_named)};
    const char *why = "";
    if (argc > 1 && strcmp(argv[1], "postgresql") == 0 && !cluster_make(&cluster, &why)) {
        printf("skipped: %s\n", why);
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cluster_clear(&cluster);
    return failed;
}
