/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a request: its target (target.c), the headers that the server looks at, and whether everybody on the way
 * here reads them alike (head.c). */
#ifndef KERF_SERVER_HEAD_H
#define KERF_SERVER_HEAD_H

#include <stddef.h>
#include "base/arena.h"

/* The target of a request, as it came: "/jobs/batch_size?job_id=a%20b", or behind a proxy "http://host/jobs". */
struct text_view {
    const char *bytes;
    size_t length;
};

/* The path and the query of a target, with their %-escapes; both are parts of it. */
void target_split(const char *target, struct text_view *ret_path, struct text_view *ret_query);

/* Decodes %-escapes; a NUL follows. bytes NULL: not enough memory. */
struct text_view target_decode(struct arena *arena, struct text_view escaped);

/* The value of a name in a query, decoded, where + is a space; the last one counts. NULL: it is not there. */
const char *target_query(struct arena *arena, struct text_view query, const char *name);

struct MHD_Connection;

/* NULL: it was not sent. They live until the answer is sent. */
struct head {
    const char *host, *origin, *fetch_site, *fetch_mode, *fetch_dest; /* who asks (origin.c) */
    const char *content_type, *content_length, *authorization;
    const char *cors_method; /* Access-Control-Request-Method */
    const char *accept, *accept_encoding, *if_none_match;
    const char *forwarded_proto; /* X-Forwarded-Proto: how the client came to a proxy before us */
};

/*
 * 1, or 0 when the request has to be refused with 400 and its connection ended, because two programs may not agree
 * where it ends or whom it asks: two Hosts, two Content-Lengths or one with chunks, a transfer encoding other than
 * chunked, a space in a header's name, a NUL, a line that continues the one before, a line that ends without CR.
 *
 * target, method and version are where libmicrohttpd has them: target as it gave it to its URI logger.
 */
int head_read(struct MHD_Connection *connection, const char *method, struct text_view target, const char *version,
              struct head *ret_head);

#endif
