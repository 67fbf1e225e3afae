/* SPDX-License-Identifier: Apache-2.0 */
/* The API of Zeus's batch-size server, which `kerf serve` adds to its own. */
#ifndef KERF_ZEUS_ZEUS_API_H
#define KERF_ZEUS_ZEUS_API_H

#include "server/server.h"

struct exchange;

extern const struct server_addition zeus_api;

/* The steps of its routes (zeus_routes.c). */
void zeus_register(struct exchange *exchange);
void zeus_delete(struct exchange *exchange);
void zeus_predict(struct exchange *exchange);
void zeus_report(struct exchange *exchange);
void zeus_end(struct exchange *exchange);

#endif
