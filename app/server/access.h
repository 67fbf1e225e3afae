/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may ask what. A token is a bearer token, or either half of Basic credentials, which is what clients make of
 * http://TOKEN@host and http://TOKEN:@host. Without `access` everybody may do everything.
 *
 *     nothing   /healthz, /readyz        read    what only looks       write    Zeus's routes       admin    DELETE
 */
#ifndef KERF_SERVER_ACCESS_H
#define KERF_SERVER_ACCESS_H

#include "server/log.h"
#include "server/token.h"
#include "store/store.h"

struct MHD_Connection;
struct access;
struct exchange;

/* Reads the tokens, now and about once a second from then on, so that `kerf token` needs no restart. */
int32_t access_open(struct store *store, const struct log *log, struct access **ret_access, struct kerf_error *err);
void access_close(struct access *access); /* NULL is fine */

/* What the request's credentials let it do. */
enum token_role access_role(struct access *access, struct MHD_Connection *connection);

/* 1, or 0 after the answer 401 or 403 in the place of what the router chose. */
int access_allows(struct exchange *exchange);

#endif
