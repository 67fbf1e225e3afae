/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every route in one table, in the order in which the reference has its own: the first one of a path is what `allow`
 * names after a wrong method. Parts in braces take one part of the path, decoded.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "server/server_parts.h"

static const struct route routes[] = {
    {"POST", "/jobs", zeus_register, 0, "Register a job, or find it registered"},
    {"DELETE", "/jobs", zeus_delete, 0, "Delete a job with all its trials"},
    {"GET", "/jobs/batch_size", zeus_predict, 0, "The batch size for the job's next run"},
    {"POST", "/report", zeus_report, 0, "Report time, energy and metric of a run so far; whether it goes on"},
    {"PATCH", "/trials", zeus_end, 0, "Give a run up"},
    {"GET", "/", page_home, ROUTE_OWN | ROUTE_NOT_COMPAT, "A list of the jobs for people"},
    {"GET", "/healthz", page_healthz, ROUTE_OWN | ROUTE_OPEN | ROUTE_QUICK, "Whether the process answers"},
    {"GET", "/readyz", page_readyz, ROUTE_OWN | ROUTE_OPEN, "Whether the store answers"},
    {"GET", "/metrics", page_metrics, ROUTE_OWN | ROUTE_QUICK, "Counters for Prometheus"},
    {"GET", "/api/v1/openapi.json", api_openapi, ROUTE_OWN | ROUTE_QUICK, "This document"},
    {"GET", "/openapi.json", api_openapi, ROUTE_OWN | ROUTE_QUICK, "This document"},
    {"GET", "/docs", page_docs, ROUTE_OWN | ROUTE_QUICK, "The routes for people"},
    {"GET", "/api/v1/policies", api_policies, ROUTE_OWN | ROUTE_QUICK, "The policies there are"},
    {"GET", "/api/v1/jobs", api_list_jobs, ROUTE_OWN, "Jobs by job_id"},
    {"GET", "/api/v1/jobs/{job_id}", api_job, ROUTE_OWN, "One job"},
    {"GET", "/api/v1/jobs/{job_id}/state", api_state, ROUTE_OWN, "Stage, cheapest run and arms, as they are stored"},
    {"GET", "/api/v1/jobs/{job_id}/arms", api_arms, ROUTE_OWN, "The sizes that the job picks from"},
    {"GET", "/api/v1/jobs/{job_id}/trials", api_trials, ROUTE_OWN,
     "Trials by number, each with the reason of its size"},
    {"GET", "/api/v1/jobs/{job_id}/trials/{trial_number}", api_trial, ROUTE_OWN, "One trial"},
};
enum { NUM_ROUTES = sizeof routes / sizeof *routes };

const struct route *router_routes(int32_t *ret_count) {
    *ret_count = NUM_ROUTES;
    return routes;
}

int32_t router_index(const struct route *route) { return route ? (int32_t)(route - routes) : NUM_ROUTES; }

/* ---- Targets -------------------------------------------------------------------------------------------------- */

/* Proxies ask for http://host/path. */
static char *behind_host(char *target) {
    size_t scheme = strncasecmp(target, "http://", 7) == 0 ? 7 : strncasecmp(target, "https://", 8) == 0 ? 8 : 0;
    return scheme ? target + scheme + strcspn(target + scheme, "/?#") : target;
}

void router_split(struct exchange *exchange) {
    char *path = behind_host(exchange->target);
    size_t length = strcspn(path, "#"), path_length = strcspn(path, "?#");
    exchange->path = (struct text_view){path, path_length};
    if (path_length < length) exchange->query = (struct text_view){path + path_length + 1, length - path_length - 1};
    if (path != exchange->target && path_length == 0) exchange->path = (struct text_view){"/", 1};
}

static int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Without %-escapes. No bytes: no memory. */
static struct text_view decode(struct arena *arena, struct text_view escaped) {
    const char *bytes = escaped.bytes;
    char *text = arena_copy(arena, bytes, escaped.length), *to = text;
    for (size_t i = 0; text && i < escaped.length; i++) {
        int high = bytes[i] == '%' && i + 2 < escaped.length ? hex(bytes[i + 1]) : -1;
        int low = high >= 0 ? hex(bytes[i + 2]) : -1;
        *to++ = low >= 0 ? (char)(high << 4 | low) : bytes[i];
        if (low >= 0) i += 2;
    }
    if (text) *to = 0;
    return (struct text_view){text, (size_t)(to - text)};
}

static size_t part_length(const char *path, size_t left) {
    const char *slash = memchr(path, '/', left);
    return slash ? (size_t)(slash - path) : left;
}

static int is(struct text_view text, const char *pattern, size_t length) {
    return text.length == length && memcmp(text.bytes, pattern, length) == 0;
}

/* Part by part, from the '/' on; a parameter may have '/' in it, escaped. */
static int takes_parts(struct exchange *exchange, const char *pattern, struct text_view path) {
    const char *at = path.bytes, *end = path.bytes + path.length;
    int taken = 0;
    while (at < end && *at == '/' && *pattern == '/') {
        at++, pattern++;
        size_t length = part_length(at, (size_t)(end - at)), wanted = part_length(pattern, strlen(pattern));
        struct text_view part = decode(&exchange->arena, (struct text_view){at, length});
        if (part.bytes == NULL) return 0;
        if (*pattern == '{') {
            if (length == 0 || taken == EXCHANGE_PARAMETERS) return 0;
            exchange->parameters[taken++] = part.bytes;
        } else if (!is(part, pattern, wanted)) {
            return 0;
        }
        at += length, pattern += wanted;
    }
    return at == end && *pattern == 0;
}

static int has_parameters(const struct route *route) { return strchr(route->pattern, '{') != NULL; }

static int matches(struct exchange *exchange, const struct route *route) {
    if (has_parameters(route)) return takes_parts(exchange, route->pattern, exchange->path);
    return is(exchange->plain, route->pattern, strlen(route->pattern));
}

int router_has(const struct server *server, const struct route *route) {
    return !(server->options.compat && route->flags & ROUTE_NOT_COMPAT);
}

/* Kerf's own routes answer HEAD as well. */
static int takes(const struct route *route, const char *method) {
    return strcmp(route->method, method) == 0 || (route->flags & ROUTE_OWN && strcmp(method, "HEAD") == 0);
}

static const struct route *find(struct exchange *exchange, const struct route **ret_first) {
    *ret_first = NULL;
    for (int i = 0; i < NUM_ROUTES; i++) {
        if (!router_has(exchange->server, &routes[i]) || !matches(exchange, &routes[i])) continue;
        if (*ret_first == NULL) *ret_first = &routes[i];
        if (takes(&routes[i], exchange->method)) return &routes[i];
    }
    return NULL;
}

/* ---- Where nothing is ---------------------------------------------------------------------------------------- */

static void strip_slashes(struct text_view *path) {
    while (path->length > 0 && path->bytes[path->length - 1] == '/') path->length--;
}

/* As Starlette writes a Location. */
static void write_escaped(struct kerf_text *out, const char *bytes, size_t length) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~:/%#?=@[]!$&'()*+,;";
    for (size_t i = 0; i < length; i++)
        if (bytes[i] && strchr(plain, bytes[i]))
            kerf_text_write(out, &bytes[i], 1);
        else
            kerf_text_printf(out, "%%%02X", (unsigned char)bytes[i]);
}

/* 307 to the same path without the slashes at its end, if something is there. */
static int redirect(struct exchange *exchange) {
    const struct route *first;
    struct kerf_text location = {0};
    size_t length = exchange->plain.length;
    strip_slashes(&exchange->path);
    strip_slashes(&exchange->plain);
    if (exchange->plain.length == length || exchange->plain.length == 0) return 0;
    if (find(exchange, &first) == NULL && first == NULL) return 0;
    const char *host = exchange->host ? exchange->host : exchange->server->address;
    struct text_view path =
        has_parameters(first) ? exchange->path : (struct text_view){first->pattern, strlen(first->pattern)};
    kerf_text_printf(&location, "%s://", exchange->scheme);
    write_escaped(&location, host, strlen(host));
    write_escaped(&location, path.bytes, path.length);
    if (exchange->query.length > 0) {
        kerf_text_add(&location, "?");
        write_escaped(&location, exchange->query.bytes, exchange->query.length);
    }
    kerf_text_clear(&exchange->answer);
    exchange_answer(exchange, 307);
    exchange->content_type = NULL;
    exchange->location = location.data;
    return 1;
}

void router_find(struct exchange *exchange) {
    const struct route *first = NULL, *route = NULL;
    exchange->plain = decode(&exchange->arena, exchange->path);
    if (exchange->plain.bytes) route = find(exchange, &first);
    if (route) {
        exchange->route = route;
        exchange->step = route->step;
    } else if (first) {
        exchange_detail(exchange, 405, "Method Not Allowed");
        exchange->allow = first->method;
    } else if (!redirect(exchange)) {
        exchange_detail(exchange, 404, "Not Found");
    }
}
