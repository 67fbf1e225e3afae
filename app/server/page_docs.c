/* SPDX-License-Identifier: Apache-2.0 */
/* /docs: the routes for people, from what the OpenAPI document says. Nothing is loaded from elsewhere. */
#include <string.h>
#include "server/openapi.h"

static void put_fields(struct kerf_text *out, const struct openapi_field *fields) {
    for (; fields && fields->name; fields++)
        kerf_text_printf(out, "<br><code>%s</code> %s%s", fields->name, fields->type,
                         fields->flags & OPENAPI_REQUIRED ? "" : ", may be left out");
}

static void put_route(struct kerf_text *out, const struct route *route) {
    const struct openapi_operation *operation = openapi_operation(route->step);
    kerf_text_printf(out, "<tr><td>%s<td><code>%s</code>", route->method, route->pattern);
    put_fields(out, operation->query);
    if (operation->body) kerf_text_printf(out, "<br>body: %s", operation->body);
    kerf_text_printf(out, "<td>%s<td>%s\n", route->summary, operation->answer);
}

void page_docs(struct exchange *exchange) {
    struct kerf_text *out = &exchange->answer;
    int32_t count;
    const struct route *routes = router_routes(&count);
    kerf_text_clear(out);
    kerf_text_add(out, "<!doctype html><meta charset=utf-8><title>kerf serve: routes</title>"
                       "<style>body{font:14px sans-serif;margin:2em}td,th{text-align:left;vertical-align:top;"
                       "padding:.2em 1em .2em 0}</style><h1>Routes</h1>\n"
                       "<p>Fields, statuses and answers: <a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>\n"
                       "<table><tr><th>method<th>path<th>what<th>answer\n");
    for (int32_t i = 0; i < count; i++)
        if (router_has(exchange->server, &routes[i])) put_route(out, &routes[i]);
    kerf_text_add(out, "</table>\n");
    exchange_answer(exchange, 200);
    exchange->content_type = "text/html; charset=utf-8";
}
