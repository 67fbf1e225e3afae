/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every route of the server in one table. Where several have the same path, the first one is what `allow` names after
 * a wrong method. Parts in braces take one part of the path, decoded.
 */
#ifndef KERF_SERVER_ROUTER_H
#define KERF_SERVER_ROUTER_H

#include "server/exchange.h"

struct router;

enum { ROUTER_ROUTES_MAX = 32, ROUTER_SCHEMAS_MAX = 48 };

/* Routes keep the order of the parts. is_compat: without those that Zeus's server does not have. NULL: no memory. */
struct router *router_new(const struct api *const *parts, size_t num_parts, int32_t is_compat);
struct router *router_free(struct router *router); /* always NULL */

/* Sets route and step of the exchange, or answers 404, 405 or 307. */
void router_find(const struct router *router, struct exchange *exchange);

const struct route *router_routes(const struct router *router, size_t *ret_count);
const struct schema *const *router_schemas(const struct router *router, size_t *ret_count);
size_t router_index(const struct router *router, const struct route *route); /* of NULL: the number of routes */

#endif
