/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAPI 3.1 document, made from the routes and schemas of the router. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/call.h"
#include "kerf/json.h"
#include "server/exchange.h"
#include "server/route.h"
#include "server/service.h"

/* ---- Types --------------------------------------------------------------------------------------------------- */

static void put_words(struct kerf_json *json, const char *words, int or_null) {
    char word[32];
    kerf_json_open(json, "enum", '[');
    for (size_t length; *words; words += length + (words[length] == ',')) {
        length = strcspn(words, ",");
        if (length < sizeof word) kerf_json_string(json, NULL, memcpy(memset(word, 0, sizeof word), words, length));
    }
    if (or_null) kerf_json_null(json, NULL);
    kerf_json_close(json, ']');
}

static void put_simple(struct kerf_json *json, const char *type, int or_null) {
    int is_real = strcmp(type, "real") == 0;
    if (is_real || or_null) kerf_json_open(json, "type", '[');
    kerf_json_string(json, is_real || or_null ? NULL : "type", is_real ? "number" : type);
    if (is_real) kerf_json_string(json, NULL, "string");
    if (or_null) kerf_json_string(json, NULL, "null");
    if (is_real || or_null) kerf_json_close(json, ']');
}

static void put_type(struct kerf_json *json, const char *key, const struct schema_field *field) {
    char name[32] = "", reference[64];
    int is_list = field->type[0] == '[';
    memcpy(name, field->type + is_list, strcspn(field->type + is_list, "]"));
    kerf_json_open(json, key, '{');
    if (is_list) kerf_json_string(json, "type", "array");
    if (is_list) kerf_json_open(json, "items", '{');
    if (name[0] >= 'A' && name[0] <= 'Z') {
        snprintf(reference, sizeof reference, "#/components/schemas/%s", name);
        kerf_json_string(json, "$ref", reference);
    } else if (strcmp(name, "any") != 0) {
        put_simple(json, name, !is_list && field->flags & SCHEMA_NULL);
    }
    if (is_list) kerf_json_close(json, '}');
    if (field->words) put_words(json, field->words, field->flags & SCHEMA_NULL);
    kerf_json_close(json, '}');
}

static void put_schema(struct kerf_json *json, const struct schema *schema) {
    kerf_json_open(json, schema->name, '{');
    kerf_json_string(json, "type", "object");
    kerf_json_open(json, "required", '[');
    for (const struct schema_field *field = schema->fields; field->name; field++)
        if (field->flags & SCHEMA_REQUIRED) kerf_json_string(json, NULL, field->name);
    kerf_json_close(json, ']');
    kerf_json_open(json, "properties", '{');
    for (const struct schema_field *field = schema->fields; field->name; field++) put_type(json, field->name, field);
    kerf_json_close(json, '}');
    kerf_json_close(json, '}');
}

static void put_schemas(struct kerf_json *json, const struct service *service) {
    size_t count;
    const struct schema *const *schemas = router_schemas(service->router, &count);
    kerf_json_open(json, "schemas", '{');
    for (size_t i = 0; i < count; i++) put_schema(json, schemas[i]);
    kerf_json_close(json, '}');
}

/* ---- What a route is asked ---------------------------------------------------------------------------------- */

static void put_parameter(struct kerf_json *json, const struct schema_field *field, const char *in) {
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "name", field->name);
    kerf_json_string(json, "in", in);
    kerf_json_boolean(json, "required", (field->flags & SCHEMA_REQUIRED) != 0);
    put_type(json, "schema", field);
    kerf_json_close(json, '}');
}

static void put_parameters(struct kerf_json *json, const struct route *route) {
    kerf_json_open(json, "parameters", '[');
    for (const char *open = route->pattern; (open = strchr(open, '{')) != NULL; open++) {
        char name[32] = "";
        memcpy(name, open + 1, strcspn(open + 1, "}"));
        const struct schema_field field = {
            name, strncmp(name, "trial", 5) == 0 || strcmp(name, "ask") == 0 ? "integer" : "string", SCHEMA_REQUIRED,
            NULL};
        put_parameter(json, &field, "path");
    }
    for (const struct schema_field *field = route->query; field && field->name; field++)
        put_parameter(json, field, "query");
    kerf_json_close(json, ']');
}

/* ---- What it answers ---------------------------------------------------------------------------------------- */

static const char *describe(int status) {
    switch (status) {
    case 200: return "The answer";
    case 201: return "It was created";
    case 400: return "The request is not valid here; the message says why";
    case 401: return "A token is needed";
    case 403: return "The token's role does not allow it, or the request comes from a page of another site";
    case 404: return "It does not exist";
    case 408: return "The request did not arrive in time";
    case 409: return "It exists already, with other settings";
    case 413: return "The body is larger than 1 MiB";
    case 422: return "Fields are missing or wrong, or there is no answer";
    case 429: return "This address sent too many requests; Retry-After says when to try again";
    case 500: return "The server failed; the message says why";
    case 503: return "The store cannot be reached or written now, or too much is asked at a time";
    default: return "";
    }
}

/* "Message", "Message|Detail", "null", or a content type. */
static void put_content(struct kerf_json *json, const char *answer) {
    const char *other = strchr(answer, '|');
    int is_text = strchr(answer, '/') != NULL, is_null = strcmp(answer, "null") == 0;
    char first[32] = "";
    const struct schema_field types[] = {{NULL,
                                          is_text   ? "string"
                                          : is_null ? "null"
                                                    : first,
                                          0, NULL},
                                         {NULL, other ? other + 1 : "", 0, NULL}};
    if (!is_text) memcpy(first, answer, strcspn(answer, "|"));
    kerf_json_open(json, "content", '{');
    kerf_json_open(json, is_text ? answer : "application/json", '{');
    if (other) {
        kerf_json_open(json, "schema", '{');
        kerf_json_open(json, "anyOf", '[');
        for (int i = 0; i < 2; i++) put_type(json, NULL, &types[i]);
        kerf_json_close(json, ']');
        kerf_json_close(json, '}');
    } else {
        put_type(json, "schema", &types[0]);
    }
    kerf_json_close(json, '}');
    kerf_json_close(json, '}');
}

static void put_answer(struct kerf_json *json, int status, const char *answer) {
    char code[16];
    snprintf(code, sizeof code, "%d", status);
    kerf_json_open(json, code, '{');
    kerf_json_string(json, "description", describe(status));
    if (status == 429) {
        const struct schema_field seconds = {NULL, "integer", 0, NULL};
        kerf_json_open(json, "headers", '{');
        kerf_json_open(json, "Retry-After", '{');
        put_type(json, "schema", &seconds);
        kerf_json_close(json, '}');
        kerf_json_close(json, '}');
    }
    put_content(json, answer);
    kerf_json_close(json, '}');
}

/* The route's own statuses, as the table has them: "404 Message,422 Mistakes". */
static void put_own_answers(struct kerf_json *json, const char *statuses) {
    for (size_t length; *statuses; statuses += length + (statuses[length] == ',')) {
        char answer[32] = "";
        length = strcspn(statuses, ",");
        memcpy(answer, statuses + 4, length - 4);
        put_answer(json, atoi(statuses), answer);
    }
}

static void put_answers(struct kerf_json *json, const struct service *service, const struct route *route) {
    int asks_store = !(route->flags & ROUTE_QUICK), has_503 = strstr(route->statuses, "503") != NULL;
    kerf_json_open(json, "responses", '{');
    put_answer(json, 200, route->answer);
    put_own_answers(json, route->statuses);
    if (route_is_own(route) && strstr(route->statuses, "400") == NULL) put_answer(json, 400, "Detail");
    if (route->needs != TOKEN_NONE) put_answer(json, 401, "Detail");
    put_answer(json, 403, "Detail");
    put_answer(json, 408, "Detail");
    put_answer(json, 429, "Detail");
    if (asks_store) put_answer(json, 500, "Message");
    if (asks_store && !has_503 && !service->compat) put_answer(json, 503, "Message");
    kerf_json_close(json, '}');
}

/* ---- Routes ------------------------------------------------------------------------------------------------- */

/* "get_api_v1_jobs_job_id" */
static void put_name(struct kerf_json *json, const struct route *route) {
    char name[128];
    size_t length = 0;
    for (const char *c = route->method; *c; c++) name[length++] = (char)(*c | 32);
    for (const char *c = route->pattern; *c && length < sizeof name - 2; c++) {
        int is_word = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
        if (is_word && c > route->pattern && strchr("/{}._", c[-1]) && name[length - 1] != '_') name[length++] = '_';
        if (is_word) name[length++] = *c;
    }
    name[length] = 0;
    kerf_json_string(json, "operationId", name);
}

/* The body of a question: every option with its description, from the table of the command. */
static void put_verb(struct kerf_json *json, const char *verb) {
    struct kerf_error err;
    char *schema = NULL;
    kerf_json_open(json, "content", '{');
    kerf_json_open(json, "application/json", '{');
    if (kerf_call_schema(verb, &schema, &err) == KERF_OK) {
        kerf_text_add(json->out, "\"schema\":");
        kerf_text_add(json->out, schema);
        kerf_call_free(schema);
    }
    kerf_json_close(json, '}');
    kerf_json_close(json, '}');
}

static void put_route(struct kerf_json *json, const struct service *service, const struct route *route) {
    char method[16] = "";
    for (size_t i = 0; i < sizeof method - 1 && route->method[i]; i++) method[i] = (char)(route->method[i] | 32);
    kerf_json_open(json, method, '{');
    put_name(json, route);
    kerf_json_string(json, "summary", route->summary);
    put_parameters(json, route);
    if (route->body) {
        kerf_json_open(json, "requestBody", '{');
        kerf_json_boolean(json, "required", 1);
        if (strncmp(route->body, "verb:", 5) == 0)
            put_verb(json, route->body + 5);
        else
            put_content(json, route->body);
        kerf_json_close(json, '}');
    }
    put_answers(json, service, route);
    if (route->needs == TOKEN_NONE && service->access) {
        kerf_json_open(json, "security", '[');
        kerf_json_close(json, ']');
    }
    kerf_json_close(json, '}');
}

static int is_first_of_path(const struct route *all, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (strcmp(all[i].pattern, all[at].pattern) == 0) return 0;
    return 1;
}

static void put_paths(struct kerf_json *json, const struct service *service) {
    size_t count;
    const struct route *all = router_routes(service->router, &count);
    kerf_json_open(json, "paths", '{');
    for (size_t i = 0; i < count; i++) {
        if (!is_first_of_path(all, i)) continue;
        kerf_json_open(json, all[i].pattern, '{');
        for (size_t k = i; k < count; k++)
            if (strcmp(all[k].pattern, all[i].pattern) == 0) put_route(json, service, &all[k]);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, '}');
}

/* ---- The rest ----------------------------------------------------------------------------------------------- */

static void put_security(struct kerf_json *json) {
    static const char *const schemes[] = {"bearer", "basic"};
    kerf_json_open(json, "security", '[');
    for (int i = 0; i < 2; i++) {
        kerf_json_open(json, NULL, '{');
        kerf_json_open(json, schemes[i], '[');
        kerf_json_close(json, ']');
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
}

static void put_components(struct kerf_json *json, const struct service *service) {
    static const char *const schemes[][2] = {{"bearer", "A token of `kerf token add`"},
                                             {"basic", "The token as the user's name, without a password"}};
    kerf_json_open(json, "components", '{');
    put_schemas(json, service);
    kerf_json_open(json, "securitySchemes", '{');
    for (int i = 0; i < 2; i++) {
        kerf_json_open(json, schemes[i][0], '{');
        kerf_json_string(json, "type", "http");
        kerf_json_string(json, "scheme", schemes[i][0]);
        kerf_json_string(json, "description", schemes[i][1]);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, '}');
    kerf_json_close(json, '}');
}

static void answer_openapi(struct exchange *exchange) {
    const struct service *service = exchange->service;
    struct kerf_json json;
    kerf_text_clear(&exchange->answer);
    kerf_json_begin(&json, &exchange->answer);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "openapi", "3.1.0");
    kerf_json_open(&json, "info", '{');
    kerf_json_string(&json, "title", "kerf serve");
    kerf_json_string(&json, "description", "Which batch size the next run of a recurring training job uses");
    kerf_json_string(&json, "version", kerf_version());
    kerf_json_close(&json, '}');
    if (service->access) put_security(&json);
    put_paths(&json, service);
    put_components(&json, service);
    kerf_json_close(&json, '}');
    exchange_answer(exchange, 200);
}

/* ---- Routes -------------------------------------------------------------------------------------------------- */

static const struct schema_field document[] = {{"openapi", "string", SCHEMA_REQUIRED, NULL}, {0}};

static const struct schema_field message[] = {{"message", "string", SCHEMA_REQUIRED, NULL}, {0}};
static const struct schema_field detail[] = {{"detail", "string", SCHEMA_REQUIRED, NULL}, {0}};

/* Document, and the two forms of every refusal. */
static const struct schema schemas[] = {{"Document", document}, {"Message", message}, {"Detail", detail}};

#define ROUTE(path)                                                                                                    \
    {                                                                                                                  \
        .method = "GET", .pattern = (path), .step = answer_openapi, .needs = TOKEN_READ,                               \
        .flags = ROUTE_HEAD | ROUTE_QUICK, .summary = "This document", .answer = "Document", .statuses = ""            \
    }

static const struct route routes[] = {ROUTE("/api/v1/openapi.json"), ROUTE("/openapi.json")};

const struct api openapi_api = API(routes, schemas);
