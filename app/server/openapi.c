/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAPI 3.1 document, made from the table of routes (router.c) and what they take (openapi_schemas.c). */
#include "server/openapi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What a route is asked ---------------------------------------------------------------------------------- */

static void put_parameter(struct kerf_json *json, const struct openapi_field *field, const char *in) {
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "name", field->name);
    kerf_json_string(json, "in", in);
    kerf_json_boolean(json, "required", (field->flags & OPENAPI_REQUIRED) != 0);
    openapi_put_type(json, "schema", field);
    kerf_json_close(json, '}');
}

static void put_parameters(struct kerf_json *json, const struct route *route, const struct openapi_field *query) {
    kerf_json_open(json, "parameters", '[');
    for (const char *open = route->pattern; (open = strchr(open, '{')) != NULL; open++) {
        char name[32] = "";
        memcpy(name, open + 1, strcspn(open + 1, "}"));
        const struct openapi_field field = {name, strncmp(name, "trial", 5) == 0 ? "integer" : "string",
                                            OPENAPI_REQUIRED, NULL};
        put_parameter(json, &field, "path");
    }
    for (; query && query->name; query++) put_parameter(json, query, "query");
    kerf_json_close(json, ']');
}

/* ---- What it answers ---------------------------------------------------------------------------------------- */

static const char *describe(int status) {
    switch (status) {
    case 200: return "What was asked for";
    case 201: return "It is new";
    case 400: return "It means nothing here";
    case 401: return "A token is needed";
    case 403: return "The token's role is too small";
    case 404: return "There is none";
    case 408: return "The request took too long to come in";
    case 409: return "It is there already, with other settings";
    case 413: return "The body is over 1 MiB";
    case 422: return "Fields that are missing or wrong";
    case 429: return "This address asks too much; Retry-After says when to go on";
    case 500: return "It cannot be answered, now or ever; the message says why";
    default: return "The store cannot be reached for now";
    }
}

/* "Message", "Message|Detail", "null", or a content type. */
static void put_content(struct kerf_json *json, const char *answer) {
    const char *other = strchr(answer, '|');
    int is_text = strchr(answer, '/') != NULL, is_null = strcmp(answer, "null") == 0;
    char first[32] = "";
    const struct openapi_field types[] = {{NULL,
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
        for (int i = 0; i < 2; i++) openapi_put_type(json, NULL, &types[i]);
        kerf_json_close(json, ']');
        kerf_json_close(json, '}');
    } else {
        openapi_put_type(json, "schema", &types[0]);
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
        const struct openapi_field seconds = {NULL, "integer", 0, NULL};
        kerf_json_open(json, "headers", '{');
        kerf_json_open(json, "Retry-After", '{');
        openapi_put_type(json, "schema", &seconds);
        kerf_json_close(json, '}');
        kerf_json_close(json, '}');
    }
    put_content(json, answer);
    kerf_json_close(json, '}');
}

/* Those of the route, in the table's words "404 Message,422 Mistakes". */
static void put_own_answers(struct kerf_json *json, const char *statuses) {
    for (size_t length; *statuses; statuses += length + (statuses[length] == ',')) {
        char answer[32] = "";
        length = strcspn(statuses, ",");
        memcpy(answer, statuses + 4, length - 4);
        put_answer(json, atoi(statuses), answer);
    }
}

static void put_answers(struct kerf_json *json, const struct server *server, const struct route *route,
                        const struct openapi_operation *operation) {
    int asks_store = !(route->flags & ROUTE_QUICK), has_503 = strstr(operation->statuses, "503") != NULL;
    kerf_json_open(json, "responses", '{');
    put_answer(json, 200, operation->answer);
    put_own_answers(json, operation->statuses);
    if (!(route->flags & ROUTE_OPEN)) put_answer(json, 401, "Detail");
    if (!(route->flags & ROUTE_OWN)) put_answer(json, 403, "Detail");
    put_answer(json, 408, "Detail");
    put_answer(json, 429, "Detail");
    if (asks_store) put_answer(json, 500, "Message");
    if (asks_store && !has_503 && !server->options.compat) put_answer(json, 503, "Message");
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

static void put_route(struct kerf_json *json, const struct server *server, const struct route *route) {
    const struct openapi_operation *operation = openapi_operation(route->step);
    char method[16] = "";
    for (size_t i = 0; i < sizeof method - 1 && route->method[i]; i++) method[i] = (char)(route->method[i] | 32);
    kerf_json_open(json, method, '{');
    put_name(json, route);
    kerf_json_string(json, "summary", route->summary);
    put_parameters(json, route, operation->query);
    if (operation->body) {
        kerf_json_open(json, "requestBody", '{');
        kerf_json_boolean(json, "required", 1);
        put_content(json, operation->body);
        kerf_json_close(json, '}');
    }
    put_answers(json, server, route, operation);
    if (route->flags & ROUTE_OPEN && server->access) {
        kerf_json_open(json, "security", '[');
        kerf_json_close(json, ']');
    }
    kerf_json_close(json, '}');
}

static void put_paths(struct kerf_json *json, const struct server *server) {
    int32_t count;
    const struct route *routes = router_routes(&count);
    kerf_json_open(json, "paths", '{');
    for (int32_t i = 0; i < count; i++) {
        if (!router_has(server, &routes[i])) continue;
        int same = i > 0 && strcmp(routes[i].pattern, routes[i - 1].pattern) == 0;
        if (!same) kerf_json_open(json, routes[i].pattern, '{');
        put_route(json, server, &routes[i]);
        int goes_on = i + 1 < count && strcmp(routes[i].pattern, routes[i + 1].pattern) == 0;
        if (!goes_on) kerf_json_close(json, '}');
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

static void put_components(struct kerf_json *json) {
    static const char *const schemes[][2] = {{"bearer", "A token of `kerf token add`"},
                                             {"basic", "The token as the user's name, without a password"}};
    kerf_json_open(json, "components", '{');
    openapi_put_schemas(json);
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

void api_openapi(struct exchange *exchange) {
    const struct server *server = exchange->server;
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
    if (server->access) put_security(&json);
    put_paths(&json, server);
    put_components(&json);
    kerf_json_close(&json, '}');
    exchange_answer(exchange, 200);
}
