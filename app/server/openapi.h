/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the OpenAPI document tell each other. */
#ifndef KERF_SERVER_OPENAPI_H
#define KERF_SERVER_OPENAPI_H

#include "kerf/json.h"
#include "server/server_parts.h"

enum openapi_flags { OPENAPI_REQUIRED = 1, OPENAPI_NULL = 2 };

/* A member of an object, or a parameter. type: "integer", "number", "boolean", "string"; "real", a number or one of
 * "inf", "-inf", "nan"; "any"; "[string]", a list; or the name of a schema, which begins with a capital; "[Trial]". */
struct openapi_field {
    const char *name, *type;
    int32_t flags;     /* enum openapi_flags */
    const char *words; /* "a,b": no others; NULL: any */
};

void openapi_put_type(struct kerf_json *json, const char *key, const struct openapi_field *field);
void openapi_put_schemas(struct kerf_json *json); /* all of them */

/* What a route is asked and answers. */
struct openapi_operation {
    exchange_step step;
    const struct openapi_field *query; /* NULL: none */
    const char *body;                  /* a schema; NULL: none */
    const char *answer;                /* of 200: a schema, "null" or a content type */
    const char *statuses;              /* of its own beside 200, each with the schema of its answer */
};
const struct openapi_operation *openapi_operation(exchange_step step);

#endif
