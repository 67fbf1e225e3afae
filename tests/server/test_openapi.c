/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenAPI document against the server: every route is in it and nothing else, references lead somewhere, and what
 * the server answers - statuses, types of content, bodies, member by member - is what the document says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "serve_client.h"
#include "server/exchange.h"
#include "zeus/zeus.h"
#include "store/store.h"

static struct place place;
static struct client client;
static struct reply reply;
static json_t *document;
static char authorization[128];

static void start_with(struct server_options options) {
    place_start_with(&place, &options);
    client_open(&client, place.port);
}

/* What is sent goes with the token, if there is one. */
static int ask(const char *method, const char *path, const char *body) {
    char *text = NULL;
    int length = asprintf(&text, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s%s%zu\r\n\r\n%s", method, path, authorization,
                          "Content-Length: ", body ? strlen(body) : 0, body ? body : "");
    assert_true(length > 0);
    assert_true(client_send(&client, text, (size_t)length) && client_read(&client, 0, &reply));
    free(text);
    return reply.status;
}

static void read_document(void) {
    json_error_t why;
    assert_int_equal(ask("GET", "/openapi.json", NULL), 200);
    json_decref(document);
    document = json_loadb(reply.body, reply.length, JSON_REJECT_DUPLICATES, &why);
    if (document == NULL) fail_msg("%s", why.text);
}

static int start(void **state) {
    (void)state;
    place_make(&place);
    authorization[0] = 0;
    start_with(place_options(&place, 0));
    read_document();
    return 0;
}

static int stop(void **state) {
    (void)state;
    client_close(&client);
    place_clear(&place);
    json_decref(document);
    document = NULL;
    return 0;
}

/* ---- The document by itself --------------------------------------------------------------------------------- */

static const json_t *resolve(const json_t *schema) {
    static const char begin[] = "#/components/schemas/";
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    if (reference == NULL) return schema;
    assert_int_equal(strncmp(reference, begin, sizeof begin - 1), 0);
    const json_t *schemas = json_object_get(json_object_get(document, "components"), "schemas");
    const json_t *found = json_object_get(schemas, reference + sizeof begin - 1);
    if (found == NULL) fail_msg("%s leads nowhere", reference);
    return found;
}

static int num_references;

static void follow_all(const json_t *value) {
    const char *key;
    json_t *member;
    size_t i;
    if (json_object_get(value, "$ref")) {
        assert_non_null(resolve(value));
        assert_int_equal(json_object_size(value), 1);
        num_references++;
    }
    json_object_foreach((json_t *)value, key, member) follow_all(member);
    if (json_is_array(value)) json_array_foreach(value, i, member) follow_all(member);
}

/* Those that a schema may name, and an "enum" only of what it allows. */
static void check_types(const json_t *schema) {
    static const char all[] = " integer number string boolean null array object ";
    const json_t *type = json_object_get(schema, "type");
    const char *key;
    json_t *member;
    for (size_t i = 0; i < (json_is_array(type) ? json_array_size(type) : type ? 1 : 0); i++) {
        char name[32];
        snprintf(name, sizeof name, " %s ", json_string_value(json_is_array(type) ? json_array_get(type, i) : type));
        if (strstr(all, name) == NULL) fail_msg("there is no type%s", name);
    }
    if (json_object_get(schema, "items")) check_types(json_object_get(schema, "items"));
    json_object_foreach(json_object_get(schema, "properties"), key, member) check_types(member);
}

static void test_the_document(void **state) {
    (void)state;
    const char *key;
    json_t *member;
    size_t i;
    num_references = 0;
    assert_string_equal(json_string_value(json_object_get(document, "openapi")), "3.1.0");
    assert_true(json_is_string(json_object_get(json_object_get(document, "info"), "title")));
    assert_true(json_is_string(json_object_get(json_object_get(document, "info"), "version")));
    follow_all(document);
    assert_true(num_references > 50);
    json_object_foreach(json_object_get(json_object_get(document, "components"), "schemas"), key, member) {
        json_t *properties = json_object_get(member, "properties"), *name;
        check_types(member);
        json_array_foreach(json_object_get(member, "required"), i, name)
            assert_non_null(json_object_get(properties, json_string_value(name)));
    }
}

/* Parameters are those of the path, in its order, and then the query's. */
static void check_parameters(const char *path, const json_t *operation) {
    size_t i, in_path = 0;
    json_t *parameter;
    json_array_foreach(json_object_get(operation, "parameters"), i, parameter) {
        const char *name = json_string_value(json_object_get(parameter, "name"));
        const char *in = json_string_value(json_object_get(parameter, "in"));
        char part[64];
        assert_non_null(json_object_get(parameter, "schema"));
        check_types(json_object_get(parameter, "schema"));
        if (strcmp(in, "path") != 0) {
            assert_string_equal(in, "query");
            continue;
        }
        snprintf(part, sizeof part, "{%s}", name);
        assert_non_null(strstr(path, part));
        assert_true(json_is_true(json_object_get(parameter, "required")));
        in_path++;
    }
    for (const char *open = path; (open = strchr(open, '{')) != NULL; open++) in_path--;
    assert_int_equal(in_path, 0);
}

static void check_routes(int is_compat) {
    json_t *paths = json_object_get(document, "paths"), *names = json_object();
    const char *path, *method, *status;
    json_t *item, *operation, *answer;
    int32_t expected = 0, found = 0;
    const struct api *const parts[] = {zeus_api.api, &pages_api, &health_api, &openapi_api,
                                       &jobs_api,    &asks_api,  &events_api, &studies_api};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t j = 0; j < parts[i]->num_routes; j++) {
            const struct route *route = &parts[i]->routes[j];
            char lower[16] = "";
            for (size_t k = 0; route->method[k]; k++) lower[k] = (char)(route->method[k] | 32);
            int there = json_object_get(json_object_get(paths, route->pattern), lower) != NULL;
            if (there == (is_compat && (route->flags & ROUTE_NOT_COMPAT) != 0))
                fail_msg("%s %s", route->method, route->pattern);
            expected += there;
        }
    json_object_foreach(paths, path, item) {
        json_object_foreach(item, method, operation) {
            found++;
            check_parameters(path, operation);
            assert_true(json_is_string(json_object_get(operation, "summary")));
            const char *name = json_string_value(json_object_get(operation, "operationId"));
            assert_non_null(name);
            if (json_object_get(names, name)) fail_msg("%s is there twice", name);
            json_object_set_new(names, name, json_true());
            assert_true(json_object_size(json_object_get(operation, "responses")) >= 3);
            json_object_foreach(json_object_get(operation, "responses"), status, answer) {
                assert_in_range(atoi(status), 200, 599);
                assert_true(json_is_string(json_object_get(answer, "description")));
                assert_int_equal(json_object_size(json_object_get(answer, "content")), 1);
            }
        }
    }
    assert_int_equal(found, expected);
    json_decref(names);
}

static void test_the_routes(void **state) {
    (void)state;
    check_routes(0);
    client_close(&client);
    place_stop(&place);
    start_with(place_options(&place, 1));
    read_document();
    check_routes(1);
    assert_null(json_object_get(json_object_get(document, "paths"), "/"));
    assert_int_equal(ask("GET", "/docs", NULL), 200);
    assert_int_equal(ask("GET", "/", NULL), 404);
}

/* ---- Answers against it ------------------------------------------------------------------------------------- */

static int has_type(const json_t *value, const char *type) {
    return (json_is_integer(value) && (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)) ||
           (json_is_real(value) && strcmp(type, "number") == 0) ||
           (json_is_string(value) && strcmp(type, "string") == 0) ||
           (json_is_boolean(value) && strcmp(type, "boolean") == 0) ||
           (json_is_null(value) && strcmp(type, "null") == 0) || (json_is_array(value) && strcmp(type, "array") == 0) ||
           (json_is_object(value) && strcmp(type, "object") == 0);
}

static int follows(const json_t *value, const json_t *schema);

static int has_members(const json_t *value, const json_t *schema) {
    const char *key;
    json_t *member, *properties = json_object_get(schema, "properties");
    size_t i;
    json_array_foreach(json_object_get(schema, "required"), i, member) {
        if (json_object_get(value, json_string_value(member)) != NULL) continue;
        print_message("%s is missing\n", json_string_value(member));
        return 0;
    }
    json_object_foreach((json_t *)value, key, member) {
        const json_t *of = json_object_get(properties, key);
        if (of && follows(member, of)) continue;
        print_message("%s is %s\n", key, of ? "something else" : "not in the document");
        return 0;
    }
    return 1;
}

static int follows(const json_t *value, const json_t *schema) {
    const json_t *type, *words, *items, *others;
    int fits = 0;
    schema = resolve(schema);
    if ((others = json_object_get(schema, "anyOf")) != NULL) {
        for (size_t i = 0; i < json_array_size(others) && !fits; i++) fits = follows(value, json_array_get(others, i));
        return fits;
    }
    type = json_object_get(schema, "type");
    if (type == NULL) return 1;
    for (size_t i = 0; json_is_array(type) && i < json_array_size(type); i++)
        fits |= has_type(value, json_string_value(json_array_get(type, i)));
    if (json_is_string(type)) fits = has_type(value, json_string_value(type));
    if (!fits) return 0;
    if ((words = json_object_get(schema, "enum")) != NULL) {
        int is_one = 0;
        for (size_t i = 0; i < json_array_size(words); i++) is_one |= json_equal(value, json_array_get(words, i));
        if (!is_one) return 0;
    }
    items = json_object_get(schema, "items");
    for (size_t i = 0; items && i < json_array_size(value); i++)
        if (!follows(json_array_get(value, i), items)) return 0;
    /* Without properties it is a document of its own, such as this one. */
    return !json_is_object(value) || has_members(value, schema);
}

/* Asks, and holds the answer against what stands under path and method. */
static void expect(int status, const char *path, const char *method, const char *target, const char *body) {
    char lower[16] = "", code[16], type[128];
    for (size_t i = 0; method[i]; i++) lower[i] = (char)(method[i] | 32);
    const json_t *operation = json_object_get(json_object_get(json_object_get(document, "paths"), path), lower);
    assert_non_null(operation);
    assert_int_equal(ask(method, target, body), status);
    snprintf(code, sizeof code, "%d", status);
    json_t *content = json_object_get(json_object_get(json_object_get(operation, "responses"), code), "content");
    if (content == NULL)
        fail_msg("%s %s may answer %d, says the server, and the document does not", method, path, status);
    assert_non_null(reply_header(&reply, "content-type", type, sizeof type));
    const json_t *media = json_object_get(content, type);
    if (media == NULL) fail_msg("%s %s answers with %s", method, path, type);
    if (strcmp(type, "application/json") != 0 || strcmp(path, "/api/v1/openapi.json") == 0) return;
    json_t *value = json_loadb(reply.body, reply.length, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    if (!follows(value, json_object_get(media, "schema"))) fail_msg("%s %s %d: %s", method, path, status, reply.body);
    json_decref(value);
}

#define JOB(more)                                                                                                      \
    "{\"job_id\":\"a\",\"job_id_prefix\":\"\",\"batch_sizes\":[64,128],\"default_batch_size\":64,\"max_power\":300,"   \
    "\"number_of_gpus\":1,\"gpu_model\":\"V100\",\"num_pruning_rounds\":0" more "}"
#define REPORT(number)                                                                                                 \
    "{\"job_id\":\"a\",\"batch_size\":64,\"trial_number\":" number                                                     \
    ",\"time\":1,\"energy\":2,\"metric\":0.9,\"current_epoch\":1}"
#define TRIAL(number) "{\"job_id\":\"a\",\"batch_size\":64,\"trial_number\":" number "}"

static void test_what_is_asked_of_jobs(void **state) {
    (void)state;
    expect(201, "/jobs", "POST", "/jobs", JOB(""));
    expect(200, "/jobs", "POST", "/jobs", JOB(",\"policy\":\"zeus\""));
    expect(409, "/jobs", "POST", "/jobs", JOB(",\"max_epochs\":3"));
    expect(422, "/jobs", "POST", "/jobs", "{}");
    expect(422, "/jobs", "POST", "/jobs", "{");
    expect(400, "/jobs", "POST", "/jobs", "\"\xff\"");
    expect(200, "/jobs/batch_size", "GET", "/jobs/batch_size?job_id=a", NULL);
    expect(200, "/jobs/batch_size", "GET", "/jobs/batch_size?job_id=a", NULL);
    expect(400, "/jobs/batch_size", "GET", "/jobs/batch_size?job_id=b", NULL);
    expect(422, "/jobs/batch_size", "GET", "/jobs/batch_size", NULL);
    expect(400, "/report", "POST", "/report", REPORT("9"));
    expect(400, "/report", "POST", "/report", "\"\xff\"");
    expect(422, "/report", "POST", "/report", "{}");
    expect(404, "/trials", "PATCH", "/trials", TRIAL("9"));
    expect(400, "/trials", "PATCH", "/trials", "\"\xff\"");
    expect(422, "/trials", "PATCH", "/trials", "[]");
    expect(404, "/jobs", "DELETE", "/jobs?job_id=b", NULL);
    expect(422, "/jobs", "DELETE", "/jobs", NULL);
    char *large = malloc(EXCHANGE_BODY_MAX + 2);
    assert_non_null(large);
    memset(large, ' ', EXCHANGE_BODY_MAX + 1);
    large[EXCHANGE_BODY_MAX + 1] = 0;
    expect(413, "/report", "POST", "/report", large);
    free(large);
}

static void test_a_run_and_what_is_read(void **state) {
    (void)state;
    int64_t size, trial;
    char body[256], path[64];
    assert_int_equal(ask("POST", "/jobs", JOB(",\"lease_s\":60")), 201);
    for (int i = 0; i < 4; i++) { /* two equal costs of a size: infinite precisions */
        assert_int_equal(predict(&client, "a", &size, &trial), 200);
        snprintf(body, sizeof body,
                 "{\"job_id\":\"a\",\"batch_size\":%d,\"trial_number\":%d,\"time\":1,\"energy\":2,\"metric\":0.9,"
                 "\"current_epoch\":1}",
                 (int)size, (int)trial);
        expect(200, "/report", "POST", "/report", body);
    }
    expect(200, "/api/v1/jobs/{job_id}/trials/{trial_number}", "GET", "/api/v1/jobs/a/trials/1", NULL);
    assert_int_equal(predict(&client, "a", &size, &trial), 200);
    snprintf(path, sizeof path, "/api/v1/jobs/a/trials/%d", (int)trial);
    expect(200, "/api/v1/jobs/{job_id}/trials/{trial_number}", "GET", path, NULL);
    expect(404, "/api/v1/jobs/{job_id}/trials/{trial_number}", "GET", "/api/v1/jobs/a/trials/x", NULL);
    snprintf(body, sizeof body, "{\"job_id\":\"a\",\"batch_size\":%d,\"trial_number\":%d}", (int)size, (int)trial);
    expect(200, "/trials", "PATCH", "/trials", body);
    expect(200, "/api/v1/jobs", "GET", "/api/v1/jobs?limit=1", NULL);
    expect(400, "/api/v1/jobs", "GET", "/api/v1/jobs?limit=x", NULL);
    expect(200, "/api/v1/jobs/{job_id}", "GET", "/api/v1/jobs/a", NULL);
    expect(404, "/api/v1/jobs/{job_id}", "GET", "/api/v1/jobs/b", NULL);
    expect(200, "/api/v1/jobs/{job_id}/state", "GET", "/api/v1/jobs/a/state", NULL);
    expect(404, "/api/v1/jobs/{job_id}/state", "GET", "/api/v1/jobs/b/state", NULL);
    expect(200, "/api/v1/jobs/{job_id}/arms", "GET", "/api/v1/jobs/a/arms", NULL);
    assert_non_null(strstr(reply.body, "\"inf\""));
    expect(404, "/api/v1/jobs/{job_id}/arms", "GET", "/api/v1/jobs/b/arms", NULL);
    expect(200, "/api/v1/jobs/{job_id}/trials", "GET", "/api/v1/jobs/a/trials?limit=2&order=desc", NULL);
    expect(200, "/api/v1/jobs/{job_id}/trials", "GET", "/api/v1/jobs/a/trials?after=2", NULL);
    expect(400, "/api/v1/jobs/{job_id}/trials", "GET", "/api/v1/jobs/a/trials?after=x", NULL);
    expect(404, "/api/v1/jobs/{job_id}/trials", "GET", "/api/v1/jobs/b/trials", NULL);
    expect(200, "/api/v1/policies", "GET", "/api/v1/policies", NULL);
    expect(200, "/api/v1/openapi.json", "GET", "/api/v1/openapi.json", NULL);
    expect(200, "/healthz", "GET", "/healthz", NULL);
    expect(200, "/readyz", "GET", "/readyz", NULL);
    expect(200, "/metrics", "GET", "/metrics", NULL);
    expect(200, "/", "GET", "/", NULL);
    expect(200, "/docs", "GET", "/docs", NULL);
    assert_non_null(strstr(reply.body, "/api/v1/jobs/{job_id}/trials"));
    assert_null(strstr(reply.body, "http")); /* all of it is here */
    expect(200, "/jobs", "DELETE", "/jobs?job_id=a", NULL);
}

/* A study without runs yet of one parameter, at whose journal the caller writes on. */
static FILE *begin_study(const char *name, const char *param, const char *word) {
    char path[112];
    snprintf(path, sizeof path, "%s/studies", place.folder);
    setenv("KERF_STUDIES", path, 1);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/studies/%s.jsonl", place.folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fprintf(
        file,
        "{\"kerf\":\"0.2.0\",\"journal\":1,\"study\":\"%s\",\"key\":\"0\",\"began\":\"2026-11-28T23:54:36Z\","
        "\"request\":"
        "{\"params\":[\"%s\"],\"wheres\":[],\"words\":[\"true\",\"%s\"],\"earlier\":[],\"key_env\":[],"
        "\"policy\":\"exhaustive\",\"objective\":\"wall\",\"protocol\":\"exit\",\"within\":0.03,\"margin\":0.05,"
        "\"confidence\":0.95,\"load_timeout_s\":0,\"trial_timeout_s\":0,\"memory_cap_bytes\":0,\"max_observations\":0,"
        "\"seed\":0,\"maximize\":0,\"slots\":1,\"warmups\":0,\"ignore_interference\":1,\"show_output\":0}}\n",
        name, param, word);
    return file;
}

static void test_studies(void **state) {
    (void)state;
    FILE *file = begin_study("flag", "map?=-m", "{map}");
    fputs("{\"n\":1,\"setting\":\"map=off\",\"outcome\":\"value\",\"value\":7}\n", file);
    assert_int_equal(fclose(file), 0);
    file = begin_study("broken", "", "");
    assert_int_equal(fclose(file), 0);
    expect(200, "/api/v1/studies", "GET", "/api/v1/studies", NULL);
    expect(200, "/api/v1/studies/{study}", "GET", "/api/v1/studies/flag", NULL);
    expect(422, "/api/v1/studies/{study}", "GET", "/api/v1/studies/broken", NULL);
    expect(404, "/api/v1/studies/{study}", "GET", "/api/v1/studies/none", NULL);
}

/* They would be ignored. */
static void test_unknown_parameters(void **state) {
    (void)state;
    expect(400, "/api/v1/jobs", "GET", "/api/v1/jobs?limit=1&limt=2", NULL);
    assert_non_null(strstr(reply.body, "unknown parameter 'limt'; /api/v1/jobs takes limit=, after="));
    expect(400, "/api/v1/jobs", "GET", "/api/v1/jobs?limit", NULL);
    expect(400, "/api/v1/studies", "GET", "/api/v1/studies?limit=1", NULL);
    assert_non_null(strstr(reply.body, "unknown parameter 'limit'; /api/v1/studies takes none"));
    expect(400, "/api/v1/jobs", "GET", "/api/v1/jobs?limit=2&after=a&limit=3", NULL);
    assert_non_null(strstr(reply.body, "the parameter 'limit' is given twice"));
    expect(400, "/api/v1/plan", "POST", "/api/v1/plan?formt=svg", "{}");
    expect(200, "/api/v1/jobs", "GET", "/api/v1/jobs?&limit=1&", NULL);
    expect(200, "/metrics", "GET", "/metrics?x=1", NULL);
}

static void test_nothing_converges(void **state) {
    (void)state;
    int64_t size, trial;
    assert_int_equal(register_job(&client, "a", "64", ",\"max_epochs\":1"), 201);
    assert_int_equal(predict(&client, "a", &size, &trial), 200);
    assert_int_equal(report(&client, &reply, "a", size, trial, 1, 0.1, 1), 200);
    expect(500, "/jobs/batch_size", "GET", "/jobs/batch_size?job_id=a", NULL);
}

static void add_token(const char *secret, const char *role) {
    struct kerf_error err;
    struct store *store;
    struct store_token token = {.name = role, .role = role, .created_s = 1};
    assert_int_equal(token_hash(secret, token.hash), KERF_OK);
    assert_int_equal(store_open(place.store, 0, &store, &err), KERF_OK);
    assert_int_equal(store_add_token(store, &token, &err), KERF_OK);
    store_close(store);
}

static void test_tokens_and_limits(void **state) {
    (void)state;
    struct server_options options = place_options(&place, 0);
    client_close(&client);
    place_stop(&place);
    add_token("kerf_reader", "read");
    options.tokens = 1;
    options.rate = 50;
    start_with(options);
    snprintf(authorization, sizeof authorization, "Authorization: Bearer kerf_reader\r\n");
    read_document();
    assert_int_equal(json_array_size(json_object_get(document, "security")), 2);
    expect(403, "/jobs", "POST", "/jobs", JOB(""));
    expect(403, "/jobs", "DELETE", "/jobs?job_id=a", NULL);
    expect(200, "/api/v1/jobs", "GET", "/api/v1/jobs", NULL);
    authorization[0] = 0;
    expect(401, "/api/v1/jobs", "GET", "/api/v1/jobs", NULL);
    expect(401, "/report", "POST", "/report", REPORT("1"));
    expect(200, "/healthz", "GET", "/healthz", NULL);
    for (int i = 0; i < 100000 && ask("GET", "/healthz", NULL) != 429; i++) {
    }
    json_t *paths = json_object_get(document, "paths"), *item, *operation;
    const char *path, *method;
    assert_int_equal(reply.status, 429);
    json_object_foreach(paths, path, item) json_object_foreach(item, method, operation)
        assert_non_null(json_object_get(json_object_get(operation, "responses"), "429"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_document, start, stop),
        cmocka_unit_test_setup_teardown(test_the_routes, start, stop),
        cmocka_unit_test_setup_teardown(test_what_is_asked_of_jobs, start, stop),
        cmocka_unit_test_setup_teardown(test_a_run_and_what_is_read, start, stop),
        cmocka_unit_test_setup_teardown(test_studies, start, stop),
        cmocka_unit_test_setup_teardown(test_unknown_parameters, start, stop),
        cmocka_unit_test_setup_teardown(test_nothing_converges, start, stop),
        cmocka_unit_test_setup_teardown(test_tokens_and_limits, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
