/* SPDX-License-Identifier: Apache-2.0 */
/* For people: the page with its views, and the routes at /docs. They load nothing from elsewhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "server/exchange.h"
#include "server/page_files.h"
#include "server/route.h"
#include "server/service.h"

#define STYLE                                                                                                          \
    "<style>body{font:14px sans-serif;margin:2em}td,th{text-align:left;vertical-align:top;padding:.2em 1em .2em 0}"    \
    "</style>"

static void answer_page(struct exchange *exchange) {
    exchange_answer(exchange, 200);
    exchange->content_type = "text/html; charset=utf-8";
}

/* ---- The page ------------------------------------------------------------------------------------------------ */

static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static const char without_page[] =
    "<!doctype html><html lang=en><meta charset=utf-8><title>kerf</title>" STYLE "<main><h1>kerf serve</h1>\n"
    "<p>This kerf was built without its page. Node.js and npm make it: install them and build kerf again "
    "(<code>apt-get install nodejs npm</code>, then <code>make demo</code>).\n"
    "<p>The API works: <a href=\"/docs\">its routes</a>.</main>\n";

/* "gzip, br", "gzip;q=0.5"; not "gzip;q=0". */
static int takes_gzip(const char *accept_encoding) {
    const char *gzip = accept_encoding ? strstr(accept_encoding, "gzip") : NULL;
    const char *quality = gzip ? gzip + strlen("gzip") + strspn(gzip + strlen("gzip"), " ;") : "";
    return gzip && (strncmp(quality, "q=", 2) != 0 || strtod(quality + 2, NULL) > 0);
}

/* For clients that do not take gzip. */
static int inflate_into(struct kerf_text *out, const struct page_file *file) {
    char block[16384];
    z_stream z = {.next_in = (Bytef *)file->begin, .avail_in = (uInt)(file->end - file->begin)};
    int code = inflateInit2(&z, 15 + 16);
    while (code == Z_OK) {
        z.next_out = (Bytef *)block;
        z.avail_out = sizeof block;
        code = inflate(&z, Z_NO_FLUSH);
        kerf_text_write(out, block, sizeof block - z.avail_out);
    }
    inflateEnd(&z);
    return code == Z_STREAM_END;
}

static void answer_file(struct exchange *exchange, const char *path) {
    const struct page_file *file = page_file_find(path);
    struct kerf_text *out = &exchange->answer;
    kerf_text_clear(out);
    if (file == NULL && strcmp(path, "index.html") != 0) {
        exchange_detail(exchange, 404, "Not Found");
        return;
    }
    if (file == NULL) {
        kerf_text_add(out, without_page);
        answer_page(exchange);
        return;
    }
    size_t length = (size_t)(file->end - file->begin);
    int packed = takes_gzip(exchange->head.accept_encoding);
    snprintf(exchange->etag, sizeof exchange->etag, "\"%08lx%s\"", crc32(0, file->begin, (uInt)length),
             packed ? "" : "-plain");
    const char *known = exchange->head.if_none_match;
    if (known && strcmp(known, exchange->etag) == 0) {
        exchange_answer(exchange, 304);
    } else if (packed) {
        kerf_text_write(out, (const char *)file->begin, length);
        exchange->content_encoding = "gzip";
        exchange_answer(exchange, 200);
    } else if (inflate_into(out, file)) {
        exchange_answer(exchange, 200);
    } else {
        exchange_message(exchange, 500, "The page cannot be unpacked");
        return;
    }
    exchange->content_type = file->content_type;
    exchange->policy = page_policy;
}

static void page_view(struct exchange *exchange) { answer_file(exchange, "index.html"); }
static void page_script(struct exchange *exchange) { answer_file(exchange, "page.js"); }
static void page_style(struct exchange *exchange) { answer_file(exchange, "page.css"); }

/* ---- The routes ---------------------------------------------------------------------------------------------- */

static void put_fields(struct kerf_text *out, const struct schema_field *fields) {
    for (; fields && fields->name; fields++)
        kerf_text_printf(out, "<br><code>%s</code> %s %s", fields->name, fields->type,
                         fields->flags & SCHEMA_REQUIRED ? "" : "(optional)");
}

static void put_route(struct kerf_text *out, const struct route *route) {
    kerf_text_printf(out, "<tr><td>%s<td><code>%s</code>", route->method, route->pattern);
    put_fields(out, route->query);
    if (route->body) kerf_text_printf(out, "<br>body: %s", route->body);
    kerf_text_printf(out, "<td>%s<td>%s\n", route->summary, route->answer);
}

static void page_docs(struct exchange *exchange) {
    struct kerf_text *out = &exchange->answer;
    size_t count;
    const struct route *all = router_routes(exchange->service->router, &count);
    kerf_text_clear(out);
    kerf_text_add(out, "<!doctype html><meta charset=utf-8><title>kerf serve: routes</title>" STYLE "<h1>Routes</h1>\n"
                       "<p>Fields, statuses and answers: <a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>\n"
                       "<table><tr><th>method<th>path<th>what<th>answer\n");
    for (size_t i = 0; i < count; i++) put_route(out, &all[i]);
    kerf_text_add(out, "</table>\n");
    answer_page(exchange);
}

#define VIEW(path, what)                                                                                               \
    {                                                                                                                  \
        .method = "GET", .pattern = (path), .step = page_view, .needs = TOKEN_READ,                                    \
        .flags = ROUTE_HEAD | ROUTE_PAGE | ROUTE_NOT_COMPAT | ROUTE_QUICK, .summary = (what),                          \
        .answer = "text/html; charset=utf-8", .statuses = ""                                                           \
    }
#define FILE_OF_PAGE(path, make, what, type)                                                                           \
    {                                                                                                                  \
        .method = "GET", .pattern = (path), .step = (make), .needs = TOKEN_READ,                                       \
        .flags = ROUTE_HEAD | ROUTE_NOT_COMPAT | ROUTE_QUICK, .summary = (what), .answer = (type),                     \
        .statuses = "404 Detail"                                                                                       \
    }

static const struct route routes[] = {
    VIEW("/", "The page, with its first view"),
    VIEW("/schedule", "The page: schedules, drawn while one changes them"),
    VIEW("/plan", "The page: the best layouts of a model"),
    VIEW("/studies", "The page: what kerf tune measures"),
    VIEW("/jobs", "The page: recurring jobs"),
    FILE_OF_PAGE("/page.js", page_script, "The page's script", "text/javascript; charset=utf-8"),
    FILE_OF_PAGE("/page.css", page_style, "The page's style", "text/css; charset=utf-8"),
    {.method = "GET",
     .pattern = "/docs",
     .step = page_docs,
     .needs = TOKEN_READ,
     .flags = ROUTE_HEAD | ROUTE_PAGE | ROUTE_QUICK,
     .summary = "A page with the routes",
     .answer = "text/html; charset=utf-8",
     .statuses = ""},
};

const struct api pages_api = {.routes = routes, .num_routes = sizeof routes / sizeof *routes};
