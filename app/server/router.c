/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "server/exchange.h"
#include "server/route.h"
#include "server/service.h"

struct router {
    const struct schema *schemas[ROUTER_SCHEMAS_MAX];
    size_t num_schemas;
    struct route routes[ROUTER_ROUTES_MAX];
    size_t num_routes;
};

static void add(struct router *router, const struct api *part, int32_t is_compat) {
    for (size_t i = 0; i < part->num_routes; i++) {
        if (is_compat && part->routes[i].flags & ROUTE_NOT_COMPAT) continue;
        assert(router->num_routes < ROUTER_ROUTES_MAX);
        router->routes[router->num_routes++] = part->routes[i];
    }
    for (size_t i = 0; i < part->num_schemas; i++) {
        assert(router->num_schemas < ROUTER_SCHEMAS_MAX);
        router->schemas[router->num_schemas++] = &part->schemas[i];
    }
}

struct router *router_new(const struct api *const *parts, size_t num_parts, int32_t is_compat) {
    struct router *router = calloc(1, sizeof *router);
    for (size_t i = 0; router && i < num_parts; i++) add(router, parts[i], is_compat);
    return router;
}

struct router *router_free(struct router *router) {
    free(router);
    return NULL;
}

const struct route *router_routes(const struct router *router, size_t *ret_count) {
    *ret_count = router->num_routes;
    return router->routes;
}

const struct schema *const *router_schemas(const struct router *router, size_t *ret_count) {
    *ret_count = router->num_schemas;
    return router->schemas;
}

size_t router_index(const struct router *router, const struct route *route) {
    size_t index = route ? (size_t)(route - router->routes) : router->num_routes;
    assert(index <= router->num_routes);
    return index;
}

int32_t route_is_own(const struct route *route) { return strncmp(route->pattern, "/api/", 5) == 0; }

/* ---- Matching ------------------------------------------------------------------------------------------------ */

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
        struct text_view part = target_decode(&exchange->arena, (struct text_view){at, length});
        if (part.bytes == NULL) return 0;
        if (*pattern == '{') {
            if (length == 0 || taken == EXCHANGE_PARAMETERS || strlen(part.bytes) != part.length) return 0;
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

static int takes(const struct route *route, const char *method) {
    return strcmp(route->method, method) == 0 || (route->flags & ROUTE_HEAD && strcmp(method, "HEAD") == 0);
}

/* ret_first: the first route of the path, whatever its method. */
static const struct route *find(const struct router *router, struct exchange *exchange,
                                const struct route **ret_first) {
    *ret_first = NULL;
    for (size_t i = 0; i < router->num_routes; i++) {
        const struct route *route = &router->routes[i];
        if (!matches(exchange, route)) continue;
        if (*ret_first == NULL) *ret_first = route;
        if (takes(route, exchange->method)) return route;
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
static int redirect(const struct router *router, struct exchange *exchange) {
    const struct route *first;
    struct kerf_text location = {0};
    size_t length = exchange->plain.length;
    strip_slashes(&exchange->path);
    strip_slashes(&exchange->plain);
    if (exchange->plain.length == length || exchange->plain.length == 0) return 0;
    if (find(router, exchange, &first) == NULL && first == NULL) return 0;
    const struct service *service = exchange->service;
    const char *host = exchange->head.host ? exchange->head.host : service->address;
    const char *forwarded = exchange->head.forwarded_proto;
    struct text_view path =
        has_parameters(first) ? exchange->path : (struct text_view){first->pattern, strlen(first->pattern)};
    kerf_text_printf(&location, "%s://", forwarded && strcmp(forwarded, "https") == 0 ? forwarded : service->scheme);
    write_escaped(&location, host, strlen(host));
    write_escaped(&location, path.bytes, path.length);
    if (exchange->query.length > 0) {
        kerf_text_add(&location, "?");
        write_escaped(&location, exchange->query.bytes, exchange->query.length);
    }
    kerf_text_clear(&exchange->answer);
    exchange_answer(exchange, 307);
    exchange->content_type = NULL;
    exchange->location = arena_copy(&exchange->arena, location.data ? location.data : "", location.length);
    kerf_text_free(&location);
    return 1;
}

/* ---- The query ------------------------------------------------------------------------------------------------- */

/* Which of the route's parameters it is; -1: none. */
static int find_parameter(const struct route *route, const char *name, size_t length) {
    for (int i = 0; route->query && route->query[i].name; i++)
        if (strlen(route->query[i].name) == length && memcmp(route->query[i].name, name, length) == 0) return i;
    return -1;
}

static void refuse_unknown(struct exchange *exchange, const struct route *route, const char *name, int length) {
    struct kerf_text why = {0};
    kerf_text_printf(&why, "unknown parameter '%.*s'; %s takes ", length, name, route->pattern);
    for (const struct schema_field *field = route->query; field && field->name; field++)
        kerf_text_printf(&why, "%s%s=", field == route->query ? "" : ", ", field->name);
    kerf_text_add(&why, route->query ? "" : "none");
    exchange_detail(exchange, 400, why.data ? why.data : "unknown parameter");
    kerf_text_free(&why);
}

/* A parameter that a route does not have, or that is given twice, would be ignored, and the answer not be what was asked
 * for. Only for kerf's own API: Zeus's server ignores them, and a page keeps its state there. 1: the request was
 * answered. */
static int refuses_query(struct exchange *exchange, const struct route *route) {
    const char *at = exchange->query.bytes, *end = at + exchange->query.length;
    uint64_t seen = 0;
    if (!route_is_own(route)) return 0;
    for (; at < end; at += at < end) {
        const char *next = memchr(at, '&', (size_t)(end - at));
        if (next == NULL) next = end;
        const char *name = at, *equals = memchr(at, '=', (size_t)(next - at));
        at = next;
        if (name == next) continue;
        int which = equals ? find_parameter(route, name, (size_t)(equals - name)) : -1;
        if (which < 0) {
            refuse_unknown(exchange, route, name, (int)((equals ? equals : next) - name));
            return 1;
        }
        if (seen >> which & 1) {
            exchange_detail(
                exchange, 400,
                arena_printf(&exchange->arena, "the parameter '%s' is given twice", route->query[which].name));
            return 1;
        }
        seen |= (uint64_t)1 << which;
    }
    return 0;
}

void router_find(const struct router *router, struct exchange *exchange) {
    const struct route *first = NULL, *route = NULL;
    exchange->plain = target_decode(&exchange->arena, exchange->path);
    if (exchange->plain.bytes) route = find(router, exchange, &first);
    if (route) {
        exchange->route = route;
        if (!refuses_query(exchange, route)) exchange->step = route->step;
    } else if (first) {
        exchange_detail(exchange, 405, "Method Not Allowed");
        exchange->allow = first->method;
    } else if (!redirect(router, exchange)) {
        exchange_detail(exchange, 404, "Not Found");
    }
}
