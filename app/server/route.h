/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be asked: routes, and the objects that they take and answer. Each part of the API is one struct api, from
 * which the router, the OpenAPI document and /docs take what they need.
 */
#ifndef KERF_SERVER_ROUTE_H
#define KERF_SERVER_ROUTE_H

#include <stddef.h>
#include <stdint.h>
#include "server/access.h"

struct exchange;

typedef void (*exchange_step)(struct exchange *exchange); /* exchange.h */

enum schema_flags {
    SCHEMA_REQUIRED = 1,
    SCHEMA_NULL = 2,                                /* null is a value */
    SCHEMA_NULLABLE = SCHEMA_REQUIRED | SCHEMA_NULL /* always there, and may be null */
};

/* A member of an object, or a parameter. type: "integer", "number", "boolean", "string"; "real", a number or one of
 * "inf", "-inf", "nan"; "any"; "[string]", a list; or the name of a schema, which begins with a capital; "[Trial]". */
struct schema_field {
    const char *name, *type;
    int32_t flags;     /* enum schema_flags */
    const char *words; /* "a,b": no others; NULL: any */
};

struct schema {
    const char *name;                  /* "Trial" */
    const struct schema_field *fields; /* the last has no name */
};

enum route_flags {
    ROUTE_NOT_COMPAT = 1, /* not with --compat zeus: Zeus's server has something else there */
    ROUTE_QUICK = 2,      /* never waits for a store that blocks, so that no worker is needed */
    ROUTE_HEAD = 4,       /* answers HEAD as well */
    ROUTE_PAGE = 8,       /* HTML, to which links of other sites may lead */
    ROUTE_CHANGES = 16,   /* a job, which those who listen are told */
    ROUTE_COMPUTES = 32   /* for a while, without the store: threads of its own answer */
};

struct route {
    const char *method, *pattern; /* "/api/v1/jobs/{job_id}" */
    exchange_step step;
    enum token_role needs; /* TOKEN_NONE: open to everybody, as it says nothing about anybody */
    int32_t flags;         /* enum route_flags */
    const char *summary;
    const struct schema_field *query; /* the last has no name; NULL: none */
    const char *body;                 /* a schema; "verb:plan": that of kerf_call_schema; NULL: none */
    const char *answer;               /* of 200: a schema, "null" or a content type */
    const char *statuses;             /* of its own beside 200, each with its answer: "404 Message,422 Mistakes" */
};

int32_t route_is_own(const struct route *route); /* under /api: refuses parameters that it does not have */

struct api {
    const struct route *routes;
    size_t num_routes;
    const struct schema *schemas;
    size_t num_schemas;
};

#define API(routes, schemas)                                                                                           \
    { (routes), sizeof(routes) / sizeof *(routes), (schemas), sizeof(schemas) / sizeof *(schemas) }

/* The server's own. */
extern const struct api jobs_api;    /* /api/v1/jobs: what is stored, to read (api_routes.c) */
extern const struct api health_api;  /* /healthz, /readyz, /metrics (health.c) */
extern const struct api openapi_api; /* /api/v1/openapi.json (openapi.c) */
extern const struct api pages_api;   /* the page's views and files, /docs (pages.c) */
extern const struct api asks_api;    /* /api/v1/plan and so on (ask_routes.c) */
extern const struct api events_api;  /* /api/v1/events (event_routes.c) */
extern const struct api studies_api; /* /api/v1/studies (study_routes.c) */

/* ---- The router -------------------------------------------------------------------------------------------------- */

/*
 * Every route of the server in one table. Where several have the same path, the first one is what `allow` names after
 * a wrong method. Parts in braces take one part of the path, decoded.
 */

struct router;

enum { ROUTER_ROUTES_MAX = 64, ROUTER_SCHEMAS_MAX = 64 };

/* Routes keep the order of the parts. is_compat: without those that Zeus's server does not have. NULL: no memory. */
struct router *router_new(const struct api *const *parts, size_t num_parts, int32_t is_compat);
struct router *router_free(struct router *router); /* always NULL */

/* Sets route and step of the exchange, or answers 404, 405 or 307. */
void router_find(const struct router *router, struct exchange *exchange);

const struct route *router_routes(const struct router *router, size_t *ret_count);
const struct schema *const *router_schemas(const struct router *router, size_t *ret_count);
size_t router_index(const struct router *router, const struct route *route); /* of NULL: the number of routes */

#endif
