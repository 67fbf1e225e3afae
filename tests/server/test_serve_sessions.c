/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions.jsonl: requests to Zeus's own server with its answers, and snapshots of the posteriors. With compat every
 * status and byte is the same. Without it, only what docs/jobs.md names differs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

struct replay {
    struct client client;
    int compat, line, requests, states, deviations;
};

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
    if (!same && !replay->compat && (status == 500 || reply.status == 422)) {
        replay->deviations++; /* what was refused or mended; the sessions behind it go their own way */
    } else if (!same) {
        fail_msg("line %d: %s %s\nwant %d %s\n got %d %s", replay->line, method, text ? text : "", status, answer,
                 reply.status, reply.body);
    }
    allow = json_string_value(json_object_get(want, "allow"));
    char room[64];
    if (allow) assert_string_equal(reply_header(&reply, "allow", room, sizeof room), allow);
}

static void test_compat(void **state) {
    struct place place;
    struct replay replay = {.compat = 1};
    static char line[1 << 16];
    (void)state;
    place_make(&place);
    place_start(&place, 1);
    client_open(&replay.client, place.port);
    FILE *file = fopen(KERF_TEST_DIR "/server/sessions.jsonl", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        json_t *want = json_loads(line, 0, NULL);
        replay.line++;
        if (want == NULL) fail_msg("line %d is no JSON", replay.line);
        if (json_object_get(want, "state"))
            compare_state(&replay, want);
        else
            compare_answer(&replay, want);
        json_decref(want);
        if (replay.line % 500 == 0) { /* what is stored is all there is */
            place_stop(&place);
            place_start(&place, 1);
            client_close(&replay.client);
            client_open(&replay.client, place.port);
        }
    }
    fclose(file);
    client_close(&replay.client);
    print_message("%d answers and %d posteriors are the same\n", replay.requests, replay.states);
    assert_true(replay.requests > 2000 && replay.states > 100);
    place_clear(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compat)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
