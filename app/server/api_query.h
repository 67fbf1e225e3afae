/* SPDX-License-Identifier: Apache-2.0 */
/* The query of kerf's own routes: ?limit=100&after=NAME&order=desc */
#ifndef KERF_SERVER_API_QUERY_H
#define KERF_SERVER_API_QUERY_H

#include "server/exchange.h"

/* The value of a name, decoded, or NULL; the last one counts. */
const char *query_text(struct exchange *exchange, const char *name);
/* 1, and the number or `otherwise`; 0 after it answered 400. */
int query_number(struct exchange *exchange, const char *name, int64_t least, int64_t most, int64_t otherwise,
                 int64_t *ret_number);
/* A whole number from a part of the path; 0 where it is none. */
int query_parse(const char *text, int64_t least, int64_t most, int64_t *ret_number);

#endif
