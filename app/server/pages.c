/* SPDX-License-Identifier: Apache-2.0 */
/* The pages for people: the list of jobs at /, and the routes at /docs. They load nothing from elsewhere. */
#include <inttypes.h>
#include <string.h>
#include "kerf/jobs.h"
#include "server/exchange.h"
#include "server/route.h"
#include "server/service.h"
#include "store/store.h"

enum { ROWS = 200 };

#define STYLE                                                                                                          \
    "<style>body{font:14px sans-serif;margin:2em}td,th{text-align:left;vertical-align:top;padding:.2em 1em .2em 0}"    \
    "</style>"

static void answer_page(struct exchange *exchange) {
    exchange_answer(exchange, 200);
    exchange->content_type = "text/html; charset=utf-8";
}

/* ---- The list of jobs ---------------------------------------------------------------------------------------- */

static void escape(struct kerf_text *out, const char *text) {
    for (; *text; text++) switch (*text) {
        case '<': kerf_text_add(out, "&lt;"); break;
        case '>': kerf_text_add(out, "&gt;"); break;
        case '&': kerf_text_add(out, "&amp;"); break;
        case '"': kerf_text_add(out, "&quot;"); break;
        default: kerf_text_write(out, text, 1);
        }
}

static void escape_url(struct kerf_text *out, const char *text) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *text; text++)
        if (strchr(plain, *text))
            kerf_text_write(out, text, 1);
        else
            kerf_text_printf(out, "%%%02X", (unsigned char)*text);
}

struct rows {
    struct exchange *exchange;
    int32_t count;
    const char *last;
};

static int32_t visit(void *context, const struct store_job *job) {
    struct rows *rows = context;
    struct kerf_text *out = &rows->exchange->answer;
    if (rows->count++ == ROWS) return KERF_OK;
    kerf_text_add(out, "<tr><td><a href=\"/api/v1/jobs/");
    escape_url(out, job->spec->job_id);
    kerf_text_add(out, "\">");
    escape(out, job->spec->job_id);
    kerf_text_add(out, "</a><td>");
    escape(out, job->spec->gpu_model);
    kerf_text_printf(out, "<td>%s<td>%" PRId64 "<td>", kerf_job_stage_name(job->row->stage),
                     job->row->last_trial_number);
    if (job->row->has_min_cost) {
        kerf_text_printf(out, "%.6g<td>%" PRId64, job->row->min_cost, job->row->min_cost_batch_size);
    } else {
        kerf_text_add(out, "<td>");
    }
    kerf_text_add(out, "\n");
    rows->last = arena_copy(&rows->exchange->arena, job->spec->job_id, strlen(job->spec->job_id));
    return KERF_OK;
}

static void page_home(struct exchange *exchange) {
    struct store *store = exchange->service->store;
    struct kerf_text *out = &exchange->answer;
    struct rows rows = {.exchange = exchange};
    struct kerf_error err = {.code = KERF_OK};
    const struct store_page page = {.after_job_id = target_query(&exchange->arena, exchange->query, "after"),
                                    .limit = ROWS + 1};
    kerf_text_clear(out);
    kerf_text_add(out, "<!doctype html><meta charset=utf-8><title>kerf: jobs</title>" STYLE
                       "<h1>Jobs</h1>\n<table><tr><th>job<th>GPU<th>stage<th>trials<th>lowest cost (J)"
                       "<th>with batch size\n");
    int32_t code = store_list_jobs(store, &page, visit, &rows, &err);
    kerf_text_add(out, "</table>\n");
    if (rows.count > ROWS && rows.last) {
        kerf_text_add(out, "<p><a href=\"/?after=");
        escape_url(out, rows.last);
        kerf_text_add(out, "\">more</a>\n");
    }
    if (code != KERF_OK) {
        exchange_fail(exchange, code, &err);
        return;
    }
    answer_page(exchange);
}

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

static const struct schema_field ask_home[] = {{"after", "string", 0, NULL}, {0}};

static const struct route routes[] = {
    {.method = "GET",
     .pattern = "/",
     .step = page_home,
     .needs = TOKEN_READ,
     .flags = ROUTE_HEAD | ROUTE_PAGE | ROUTE_NOT_COMPAT,
     .summary = "A page with the list of the jobs",
     .query = ask_home,
     .answer = "text/html; charset=utf-8",
     .statuses = ""},
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
