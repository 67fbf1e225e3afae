/* SPDX-License-Identifier: Apache-2.0 */
/* The server without Zeus's API, as KERF_ZEUS=OFF builds it: this test is linked with no file of app/zeus. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "serve_client.h"

static struct place place;
static struct client client;
static struct reply reply;

static int stop(void **state) {
    (void)state;
    client_close(&client);
    place_clear(&place);
    return 0;
}

static void test_own_routes(void **state) {
    (void)state;
    place_make(&place);
    place_start(&place, 0);
    client_open(&client, place.port);
    assert_null(place_options(&place, 0).addition);
    assert_int_equal(client_ask(&client, &reply, "GET", "/healthz", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/readyz", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/metrics", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/docs", NULL), 200);
    assert_null(strstr(reply.body, "/report"));
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/policies", NULL), 200);
    assert_int_equal(client_ask(&client, &reply, "GET", "/api/v1/jobs", NULL), 200);
    assert_string_equal(reply.body, "{\"jobs\":[],\"next\":null}");
    assert_int_equal(client_ask(&client, &reply, "GET", "/openapi.json", NULL), 200);
    assert_null(strstr(reply.body, "/report"));
    assert_int_equal(client_ask(&client, &reply, "POST", "/jobs", "{}"), 405);
    assert_int_equal(client_ask(&client, &reply, "GET", "/jobs/batch_size?job_id=a", NULL), 404);
}

static void test_no_import(void **state) {
    (void)state;
    struct kerf_error err;
    place_make(&place);
    struct server_options options = place_options(&place, 0);
    options.import_zeus = "zeus.db";
    assert_int_equal(server_start(&options, &place.server, &err), KERF_EUNSUPPORTED);
    place.server = NULL;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_own_routes, stop),
        cmocka_unit_test_teardown(test_no_import, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
